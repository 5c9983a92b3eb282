"""The output folder: files are made once and whole, and nothing foreign is deleted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ocucb import UCB
from ocucb.cli import output_folder
from ocucb.cli.output_folder import OutputFolder, StoredResult, delete_results, make_folder
from ocucb.errors import ParameterError, StateError
from ocucb.lab import Experiment, Summary, mixed_gaps, worst_case


def stored(home: Path, runs: int = 4, title: str = "") -> StoredResult:
    experiment = Experiment((mixed_gaps(),), (("ucb", UCB()),), horizon=100, runs=runs)
    return StoredResult(experiment, home / "results.zarr", title, Summary(), None)


class Writer:
    """Writes files, and counts how often it was asked to."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names, self.calls = names, 0

    def __call__(self, draft: Path) -> None:
        self.calls += 1
        for name in self.names:
            (draft / name).write_text(f"{name} {self.calls}")


@pytest.fixture
def writer() -> Writer:
    return Writer(["a", "b"])


def test_a_file_is_made_once_for_the_same_experiments(tmp_path: Path, writer: Writer) -> None:
    for _ in range(3):
        folder = OutputFolder(tmp_path, [stored(tmp_path)], anew=False)
        folder.add(writer.names, writer)
        assert folder.paths == [tmp_path / name for name in ("results.zarr", "a", "b")]
    assert writer.calls == 1
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b", ".made"}


@pytest.mark.parametrize(
    ("other", "anew"),
    [
        (lambda home: [stored(home)], True),
        (lambda home: [stored(home, runs=5)], False),
        (lambda home: [stored(home, title="gap=1")], False),
        (lambda home: [stored(home), stored(home)], False),
    ],
)
def test_a_file_is_made_again_for_others(
    other: Callable[[Path], list[StoredResult]], anew: bool, tmp_path: Path, writer: Writer
) -> None:
    OutputFolder(tmp_path, [stored(tmp_path)], anew=False).add(writer.names, writer)
    OutputFolder(tmp_path, other(tmp_path), anew=anew).add(writer.names, writer)
    assert writer.calls == 2
    assert (tmp_path / "b").read_text() == "b 2"


def test_a_file_that_is_gone_is_made_again(tmp_path: Path, writer: Writer) -> None:
    OutputFolder(tmp_path, [stored(tmp_path)], anew=False).add(writer.names, writer)
    (tmp_path / "b").unlink()
    OutputFolder(tmp_path, [stored(tmp_path)], anew=False).add(writer.names, writer)
    assert writer.calls == 2


def test_what_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    def break_off(draft: Path) -> None:
        (draft / "a").write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        OutputFolder(tmp_path, [stored(tmp_path)], anew=False).add(["a"], break_off)
    assert list(tmp_path.iterdir()) == []


def test_only_results_are_deleted(tmp_path: Path) -> None:
    store = tmp_path / "results.zarr"
    store.mkdir()
    delete_results(store)
    assert not store.exists()
    store.mkdir()
    (store / "zarr.json").write_text('{"attributes": {"format": "ocucb lab results"}}')
    (store / "regret").mkdir()
    delete_results(store)
    assert not store.exists()
    store.mkdir()
    for name in ("diary.txt", "zarr.json"):
        (store / name).write_text("dear")
        with pytest.raises(StateError, match="must hold results of ocucb to be overwritten"):
            delete_results(store)
        assert (store / name).read_text() == "dear"


def test_a_folder_is_made_with_those_above_it(tmp_path: Path) -> None:
    for _ in range(2):
        make_folder(tmp_path / "a" / "b")
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ParameterError, match="output must be a folder"):
            make_folder(path)


@pytest.mark.parametrize(("size", "shown"), [(1, "0"), (2, "03"), (3, "024"), (4, "024"), (5, "01234"), (9, "01234")])
def test_a_report_shows_as_many_values_as_memory_holds(
    size: int,
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Five results, and room for some of them."""

    class Joined:
        def __init__(self, titles: list[str]) -> None:
            self.titles = titles

        def report(self, path: Path) -> None:
            path.write_text("".join(self.titles))

    monkeypatch.setattr(output_folder, "join_results", Joined)
    monkeypatch.setattr(StoredResult, "result", lambda one: one.title)
    every = [stored(tmp_path, title=str(place)) for place in range(5)]
    bytes_of_one = 8 * 4 * (len(every[0].experiment.checkpoints) + 10)
    monkeypatch.setattr(output_folder, "REPORT_BYTES", size * bytes_of_one)
    output_folder._write_report(every, "report.html", tmp_path)
    assert (tmp_path / "report.html").read_text() == shown
    note = f"note: report.html shows {len(shown)} of 5 values, so as not to fill memory\n"
    assert capsys.readouterr().err == (note if len(shown) < 5 else "")


def test_one_report_for_experiments_that_differ_in_their_problems_alone(tmp_path: Path) -> None:
    def at(gap: float, horizon: int = 100) -> StoredResult:
        experiment = Experiment((worst_case(3, gap),), (("ucb", UCB()),), horizon=horizon, runs=4)
        return StoredResult(experiment, tmp_path / "s", f"gap={gap}", Summary(), None)

    def names(*together: StoredResult) -> list[str]:
        return [name for name, _ in output_folder._reports(together)]

    assert names(at(0.1), at(0.2)) == ["report.html"]
    assert names(at(0.1), at(0.2, horizon=200)) == ["report-gap=0.1.html", "report-gap=0.2.html"]
    assert names(at(0.1), at(0.1)) == ["report-gap=0.1.html", "report-gap=0.1.html"]
