"""The result store: what is written comes back; what is torn is missing; what is foreign is refused."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr

from lab.small_study import HORIZON, RUNS, assert_same, chunks, missing, small
from ocucb import UCB, StateError
from ocucb.lab.dataset import make_dataset
from ocucb.lab.experiment import Experiment, Key
from ocucb.lab.problem import worst_case
from ocucb.lab.runs import gather_runs
from ocucb.lab.shard import ShardResult
from ocucb.lab.store import ResultStore


def outcome(experiment: Experiment, key: Key) -> ShardResult:
    """Return made-up results that tell shards apart."""
    shard = experiment.shard(key)
    number = 100.0 * key[0] + 10.0 * key[1] + key[2]
    regret = number + np.arange(shard.runs)[:, None] / 1024 + np.arange(len(shard.checkpoints)) / 2**20
    pulls = np.full((shard.runs, shard.problem.arms), int(number), dtype=np.int64)
    return ShardResult(regret, pulls, np.empty((shard.runs, 0), dtype=np.int64))


def filled(path: Path, experiment: Experiment) -> ResultStore:
    store = ResultStore.create_or_open(path, experiment)
    for key, _ in experiment.shards(0, experiment.blocks):
        store.write(key, outcome(experiment, key))
    return store


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("original") / "store"
    filled(path, small())
    return path


@pytest.fixture
def copy(original: Path, tmp_path: Path) -> Path:
    """Return a full store to damage."""
    return shutil.copytree(original, tmp_path / "copy")


def in_memory(experiment: Experiment) -> xr.Dataset:
    outcomes = {key: outcome(experiment, key) for key, _ in experiment.shards(0, experiment.blocks)}
    coordinates: dict[str, Any] = {
        "problem": [problem.name for problem in experiment.problems],
        "policy": list(experiment.labels),
        "t": list(experiment.checkpoints),
        "arm": range(5),
    }
    return make_dataset(gather_runs(outcomes, experiment.block_size, coordinates, {}))


@pytest.mark.parametrize("on_disk", [True, False])
def test_what_is_written_comes_back(tmp_path: Path, on_disk: bool) -> None:
    experiment = small()
    found = filled(tmp_path / "store", experiment).dataset() if on_disk else in_memory(experiment)
    assert found.sizes == {"problem": 2, "policy": 3, "run": RUNS, "t": 50, "arm": 5}
    assert list(found.problem.values) == ["worst_case(5, 0.4)", "coins"]
    assert list(found.policy.values) == ["OCUCB-n", "MOSS", "random"]
    assert found.t.values.tolist() == list(experiment.checkpoints)
    assert found.regret.dtype == np.float64
    assert found.pulls.dtype == np.int64
    for key, shard in experiment.shards(0, experiment.blocks):
        cell = found.isel(problem=key[0], policy=key[1], run=slice(shard.first, shard.first + shard.runs))
        expected = outcome(experiment, key)
        np.testing.assert_array_equal(cell.regret.values, expected.regret)
        np.testing.assert_array_equal(cell.pulls.values[:, : shard.problem.arms], expected.pulls)
        assert (cell.pulls.values[:, shard.problem.arms :] == -1).all()
    assert (found.finished == RUNS).all()
    assert not on_disk or missing(ResultStore.open(tmp_path / "store")) == []


def test_one_shard_is_one_whole_chunk(original: Path) -> None:
    experiment = small()
    regret: Any = zarr.open_group(original, mode="r")["regret"]
    assert regret.chunks == (1, 1, experiment.block_size, 50)
    assert len(chunks(original)) == 2 * 2 * 3 * experiment.blocks
    assert not list(original.rglob("*.partial"))


def test_xarray_opens_it(original: Path) -> None:
    store = ResultStore.open(original)
    found = xr.open_zarr(original, chunks=None)
    np.testing.assert_array_equal(found.regret.values, store.dataset().regret.values)
    np.testing.assert_array_equal(found.pulls.values, store.dataset().pulls.values)
    assert list(found.policy.values) == ["OCUCB-n", "MOSS", "random"]


def test_provenance(original: Path) -> None:
    experiment = small()
    attributes = ResultStore.open(original).dataset().attrs
    assert Experiment.from_toml(attributes["experiment"]) == experiment
    made = json.loads(attributes["provenance"])
    assert set(made["versions"]) == {"python", "ocucb", "numpy", "numba", "xarray", "zarr"}
    assert made["seed"] == experiment.seed
    assert {"platform", "machine", "cpus", "started"} < set(made)
    again = ResultStore.create_or_open(original, experiment).dataset()
    assert again.attrs == attributes


def test_a_part_is_a_part(tmp_path: Path) -> None:
    experiment = small()
    store = ResultStore.create_or_open(tmp_path, experiment)
    assert store.dataset().sizes["run"] == 0
    assert len(missing(store)) == 18
    for key in [(0, 0, 0), (0, 1, 1), (1, 2, 0)]:
        store.write(key, outcome(experiment, key))
    for view in (store, ResultStore.create_or_open(tmp_path, experiment), ResultStore.open(tmp_path)):
        found = view.dataset()
        assert found.sizes["run"] == 512
        assert found.finished.values.tolist() == [[256, 256, 0], [0, 0, 256]]
        assert np.isnan(found.regret.values[0, 1, :256]).all()
        assert (found.pulls.values[0, 1, :256] == -1).all()
        assert not np.isnan(found.regret.values[0, 1, 256:]).any()
        assert missing(view, 0, 1) == [(0, 1, 0), (0, 2, 0), (1, 0, 0), (1, 1, 0)]
        assert [key for key in missing(view, 1, 2) if key[0] == 0] == [(0, 0, 1), (0, 2, 1)]


def truncate(chunk: Path) -> None:
    chunk.write_bytes(chunk.read_bytes()[:-7])


def cut_short(chunk: Path) -> None:
    chunk.write_bytes(chunk.read_bytes()[:3])


def flip(chunk: Path) -> None:
    content = bytearray(chunk.read_bytes())
    content[len(content) // 2] ^= 0x10
    chunk.write_bytes(content)


def flip_checksum(chunk: Path) -> None:
    content = bytearray(chunk.read_bytes())
    content[-1] ^= 0x01
    chunk.write_bytes(content)


def empty(chunk: Path) -> None:
    chunk.write_bytes(b"")


def zeros(chunk: Path) -> None:
    chunk.write_bytes(bytes(len(chunk.read_bytes())))


def remove(chunk: Path) -> None:
    chunk.unlink()


def leave_a_draft(chunk: Path) -> None:
    chunk.rename(chunk.with_suffix(".0123456789abcdef.partial"))


DAMAGE = [truncate, cut_short, flip, flip_checksum, empty, zeros, remove, leave_a_draft]


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("array", ["regret", "pulls"])
def test_torn_chunk_is_missing_until_it_is_written_again(original: Path, copy: Path, damage: Any, array: str) -> None:
    experiment = small()
    torn = [(0, 1, 1), (1, 2, 2)]  # a full block, and a last one, which is not
    for problem, policy, block in torn:
        damage(copy / f"{array}/c/{problem}/{policy}/{block}/0")
    store = ResultStore.create_or_open(copy, experiment)
    assert sorted(missing(store)) == torn
    found = store.dataset()
    assert found.finished.values.tolist() == [[RUNS, RUNS - 256, RUNS], [RUNS, RUNS, 512]]
    for problem, policy, block in torn:
        assert np.isnan(found.regret.values[problem, policy, 256 * block : 256 * (block + 1)]).all()
        assert (found.pulls.values[problem, policy, 256 * block : 256 * (block + 1)] == -1).all()
    for key in torn:
        store.write(key, outcome(experiment, key))
    assert missing(store) == []
    assert_same(ResultStore.open(copy).dataset(), ResultStore.open(original).dataset())


def test_some_blocks_are_read_alone(original: Path) -> None:
    store = ResultStore.open(original)
    found = store.read(1, 2, 1, 3)
    assert list(found) == [(1, 2, 1), (1, 2, 2)]
    runs = np.concatenate([outcome.regret for outcome in found.values()])
    np.testing.assert_array_equal(runs, store.dataset().regret.values[1, 2, 256:])


def test_room_for_precision_costs_nothing(tmp_path: Path) -> None:
    experiment = replace(small(), runs=None, precision=0.01, max_runs=10**9)
    store = ResultStore.create_or_open(tmp_path, experiment)
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) < 20_000
    store.write((0, 0, 0), outcome(experiment, (0, 0, 0)))
    assert store.dataset().sizes["run"] == 256


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seed": 8}, "seed is 7 there and 8 here"),
        ({"runs": 700}, "runs is 600 there and 700 here"),
        ({"runs": None, "precision": 0.1}, "precision is not given there and 0.1 here"),
        ({"checkpoints": (HORIZON,)}, r"checkpoints is not given there and \[300\] here"),
        ({"policies": (("UCB", UCB()),)}, "policies is .*ocucb-n.* there and .*ucb.* here"),
        ({"problems": (worst_case(5, 0.5),)}, r"problems is .* there and \['worst_case\(5, 0.5\)'\] here"),
    ],
)
def test_another_experiment_is_refused(original: Path, changes: dict[str, Any], words: str) -> None:
    before = ResultStore.open(original).dataset()
    with pytest.raises(StateError, match=words) as caught:
        ResultStore.create_or_open(original, replace(small(), **changes))
    assert "choose another folder" in str(caught.value)
    assert_same(ResultStore.open(original).dataset(), before)


def test_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = small()
    ResultStore.create_or_open(tmp_path, experiment)
    monkeypatch.setattr("ocucb.lab.store.version", lambda package: "99.0")
    with pytest.raises(StateError, match=r"the version that began it, ocucb .*, got 99\.0"):
        ResultStore.create_or_open(tmp_path, experiment)


def test_foreign_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("you")
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "zarr.json").write_text("{")
    zarr.create_group(tmp_path / "other", zarr_format=3, attributes={"format": "other"})
    for name in ("letters", "file", "broken", "other"):
        with pytest.raises(StateError, match="a new folder or hold results of ocucb"):
            ResultStore.create_or_open(tmp_path / name, small())
    assert (tmp_path / "letters" / "dear.txt").read_text() == "you"


def test_newer_format_is_refused(tmp_path: Path) -> None:
    ResultStore.create_or_open(tmp_path, small())
    zarr.open_group(tmp_path, mode="r+").attrs["version"] = 2
    with pytest.raises(StateError, match="format version 1, got 2"):
        ResultStore.create_or_open(tmp_path, small())


def test_nothing_to_open(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(StateError, match="must hold results, got nothing"):
            ResultStore.open(path)


def test_empty_folder_and_leftovers_will_do(tmp_path: Path) -> None:
    (tmp_path / "zarr.0123456789abcdef.partial").write_text("{")
    ResultStore.create_or_open(tmp_path, small())
    (tmp_path / "empty").mkdir()
    ResultStore.create_or_open(tmp_path / "empty", small())
    ResultStore.create_or_open(tmp_path / "new" / "deep", small())


@pytest.mark.parametrize("lost", ["regret", "pulls", "policy", "t/c", "t/zarr.json"])
def test_making_a_store_can_break_off(original: Path, tmp_path: Path, lost: str) -> None:
    experiment = small()
    ResultStore.create_or_open(tmp_path, experiment)
    root = json.loads((tmp_path / "zarr.json").read_text())
    del root["consolidated_metadata"]  # which is written last
    (tmp_path / "zarr.json").write_text(json.dumps(root))
    place = tmp_path / lost
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    assert_same(filled(tmp_path, experiment).dataset(), ResultStore.open(original).dataset())
