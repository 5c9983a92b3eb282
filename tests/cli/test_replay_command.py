"""`ocucb replay`, as an operator uses it on the database of a service."""

from __future__ import annotations

import re
from pathlib import Path

from cli.command import error, ocucb, spoil
from ocucb.service.stores import Store


def test_replay(folder: Path) -> None:
    assert ocucb("replay", "colours", at=folder).stdout == ("colours: verified 43 entries, 21 decisions, 20 outcomes\n")
    done = ocucb("replay", "--all", "--database", f"sqlite:///{folder}/ocucb.db", at=Path("/"))
    assert done.stdout.splitlines() == [
        "colours: verified 43 entries, 21 decisions, 20 outcomes",
        "sizes: verified 41 entries, 20 decisions, 20 outcomes",
    ]
    assert done.stderr == ""


def test_replay_names_the_first_entry_that_is_wrong(folder: Path) -> None:
    spoil(folder, "UPDATE log SET arm = '\"red\"' WHERE experiment = 1 AND seq >= 10 AND kind = 'decision'")
    done = ocucb("replay", "--all", at=folder, code=1)
    wrong, right = done.stdout.splitlines()
    assert re.fullmatch(
        r"colours: WRONG after entry \d+: entry \d+ has arm 'red', but the policy's choice has .*"
        r"\(verified before: \d+ entries, \d+ decisions, \d+ outcomes\)",
        wrong,
    )
    assert right.startswith("sizes: verified 41 entries")
    assert ocucb("replay", "sizes", at=folder).stdout == f"{right}\n"
    spoil(folder, "DELETE FROM log WHERE experiment = 2 AND seq = 7")
    assert "sizes: WRONG after entry 6: " in ocucb("replay", "sizes", at=folder, code=1).stdout


def test_replay_of_what_is_not_there(folder: Path) -> None:
    assert error("replay", "shapes", at=folder).startswith("no experiment 'shapes'")
    for words in (["replay"], ["replay", "colours", "--all"]):
        assert error(*words, at=folder).startswith("replay needs the name of an experiment, --all, or files")


def test_replay_of_a_service_without_experiments(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'ocucb.db'}")
    store.migrate()
    store.close()
    assert ocucb("replay", "--all", at=tmp_path).stdout == "there are no experiments\n"


def test_a_unit_is_erased_from_a_log_and_from_its_archive(folder: Path) -> None:
    spoil(folder, "UPDATE log SET unit = 'Ada' WHERE experiment = 1 AND kind = 'decision'")
    moved = ocucb("archive", "colours", "--to", ".", "--days", "0", at=folder).stdout
    assert "rows were dropped" in moved
    assert ocucb("erase", "Ada", at=folder).stdout.splitlines() == [
        "erased from 1 decisions",
        "it may still be in archives; erase it there with --file: experiment-1-from-1.parquet",
    ]
    file = "experiment-1-from-1.parquet"
    assert ocucb("erase", "Ada", "--file", file, at=folder).stdout == f"{file}: erased from 21 decisions\n"
    assert "verified 43 entries" in ocucb("replay", "--file", file, at=folder).stdout
    assert error("erase", "Ada", "--file", file, "--experiment", "colours", at=folder).startswith(
        "erase takes the unit"
    )
    assert error("erase", "Ada", "--file", "none.parquet", at=folder).startswith("none.parquet cannot be read")
    assert error("erase", "Ada", "--experiment", "shapes", at=folder).startswith("no experiment 'shapes'")
