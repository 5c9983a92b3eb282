"""The commands beside `ocucb serve`, as an operator uses them on the database of a service."""

from __future__ import annotations

import re
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ocucb import cli
from ocucb.cli.app import COMMANDS, GROUPS
from ocucb.client import Client
from ocucb.service.access import Access
from ocucb.service.requests import RetireArm
from ocucb.service.stores import Store
from service.helpers import Node, wait_until
from service.server import COMMAND, environment


def ocucb(*words: str, at: Path, code: int = 0, **variables: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*COMMAND, *words], cwd=at, env=environment(**variables), capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == code, done.stderr
    return done


def error(*words: str, at: Path, **variables: str) -> str:
    done = ocucb(*words, at=at, code=2, **variables)
    assert done.stdout == ""
    found = re.fullmatch(r"ocucb: error: ([^\n]+)\n", done.stderr)
    assert found is not None, done.stderr
    return found[1]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with the database of a service in it: two experiments, and a first key."""
    node = Node(f"sqlite:///{tmp_path / 'ocucb.db'}")
    try:
        Access(node.store).first_key()
        for name in ("colours", "sizes"):
            node.create(name)
            node.play(20, name)
        node.decide("colours")
        node.ask(RetireArm("colours", "blue"))
        yield tmp_path
    finally:
        node.close()


def spoil(folder: Path, change: str) -> None:
    with closing(sqlite3.connect(folder / "ocucb.db")) as database, database:
        database.execute(change)


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
        assert error(*words, at=folder).startswith("replay needs the name of an experiment, or --all, and not both")


@pytest.mark.parametrize("words", [["replay", "--all"], ["keys", "list"], ["keys", "revoke", "abc"]])
def test_a_database_that_is_none(words: list[str], tmp_path: Path) -> None:
    absent = "there is no database sqlite:///ocucb.db; name that of a service with --database"
    assert error(*words, at=tmp_path) == absent
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "ocucb.db").touch()
    assert error(*words, at=tmp_path) == absent
    assert (tmp_path / "ocucb.db").stat().st_size == 0
    (tmp_path / "ocucb.db").write_text("my notes\n" * 1000, encoding="utf-8")
    assert error(*words, at=tmp_path).startswith(
        "the database sqlite:///ocucb.db cannot be used: file is not a database;"
    )
    (tmp_path / "ocucb.db").unlink()
    spoil(tmp_path, "CREATE TABLE other (a)")
    assert error(*words, at=tmp_path).startswith("the database has schema none, but this ocucb needs 0")
    far = f"postgresql://me:hunter2@/name?host={tmp_path}/absent"
    assert error(*words, at=tmp_path, OCUCB_DATABASE=far).startswith(
        f"the database postgresql://me:***@/name?host={tmp_path}/absent cannot be used: "
    )


def test_replay_of_a_service_without_experiments(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'ocucb.db'}")
    store.migrate()
    store.close()
    assert ocucb("replay", "--all", at=tmp_path).stdout == "there are no experiments\n"


def test_keys(folder: Path) -> None:
    made = ocucb(
        "keys", "make", "--name", "the [web] shop", "--role", "decide", "--role", "reward", "--experiment", "colours",
        at=folder,
    )  # fmt: skip
    text = made.stdout.strip()
    store = Store(f"sqlite:///{folder / 'ocucb.db'}")
    try:
        access = Access(store)
        key = access.identify(text)
        assert key is not None
        assert (key.name, key.roles, key.experiments) == (
            "the [web] shop",
            frozenset({"decide", "reward"}),
            frozenset({"colours"}),
        )
        assert made.stderr == f"made key {key.id}, 'the [web] shop', shown only this once:\n"
        shown = ocucb("keys", "list", at=folder).stdout
        (line,) = [line for line in shown.splitlines() if line.startswith(key.id)]
        assert re.fullmatch(
            rf"{key.id} +the \[web\] shop +decide, reward +colours +\d{{4}}-\d\d-\d\d \d\d:\d\d UTC", line.rstrip()
        )
        assert re.search(r"^\w{12} +first +admin +all +\d{4}-\d\d-\d\d", shown, flags=re.MULTILINE)
        assert text.split("_", 2)[2] not in shown
        for _ in range(2):
            done = ocucb("keys", "revoke", key.id, at=folder)
            assert done.stdout == f"revoked key {key.id}, 'the [web] shop'\n"
        access.refresh()
        assert access.identify(text) is None
    finally:
        store.close()
    (line,) = [line for line in ocucb("keys", "list", at=folder).stdout.splitlines() if line.startswith(key.id)]
    assert line.count("UTC") == 2


def test_an_admin_key_for_whoever_lost_it(folder: Path) -> None:
    text = ocucb("keys", "make", "--name", "admin", "--role", "admin", at=folder).stdout.strip()
    store = Store(f"sqlite:///{folder / 'ocucb.db'}")
    try:
        key = Access(store).identify(text)
        assert key is not None
        assert key.may("admin")
    finally:
        store.close()


def test_keys_that_make_no_sense(folder: Path) -> None:
    make = ("keys", "make", "--name")
    assert "role must be one of 'admin', 'decide', 'reward', 'read', got 'all'" in error(
        *make, "x", "--role", "all", at=folder
    )
    assert "--role requires an argument" in error(*make, "x", at=folder)
    assert "the name of a key must be text" in error(*make, "", "--role", "read", at=folder)
    assert "an admin key sees all experiments" in error(
        *make, "x", "--role", "admin", "--experiment", "colours", at=folder
    )
    assert "nobody" in error("keys", "revoke", "nobody", at=folder)
    assert 'Unknown command "mke". Did you mean "make"?' in error("keys", "mke", at=folder)


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.exit_code(["--help"]) == 0
    printed = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for name, summary in {**COMMANDS, **GROUPS}.items():
        assert f"{name} {summary}" in printed
    assert cli.exit_code(["keys"]) == 0
    printed = capsys.readouterr().out
    for name in ("make", "list", "revoke"):
        assert re.search(rf"│ {name} +[A-Z]", printed)
        assert cli.exit_code(["keys", name, "--help"]) == 0
        assert "--database" in capsys.readouterr().out


def test_the_demo_moves(tmp_path: Path) -> None:
    """On another port, if its own is taken; Ctrl-C ends it, and leaves nothing."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = str(other.getsockname()[1])
        with (tmp_path / "out").open("wb") as out:
            child = subprocess.Popen(
                [*COMMAND, "serve", "--demo"],
                cwd=tmp_path,
                env=environment(OCUCB_PORT=taken, TMPDIR=str(tmp_path)),
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        try:
            wait_until(lambda: b"Ctrl-C ends the demo" in (tmp_path / "out").read_bytes(), "the demo to begin")
            text = (tmp_path / "out").read_text(encoding="utf-8")
            url, key = re.findall(r"^  (?:Open|Key) +(\S+)$", text, flags=re.MULTILINE)
            assert not url.endswith(f":{taken}")
            with Client(url, key) as client:
                wait_until(lambda: len(list(client.experiments())) == 2, "the experiments")
                for name, size in (("button colours", 6), ("fifty headlines", 50)):
                    wait_for_pulls(client, name, 100)
                    assert len(list(client.arms(name))) == size
                client.pause("button colours")
                wait_for_pulls(client, "fifty headlines", 20)
            child.send_signal(signal.SIGINT)
            assert child.wait(60) == 0
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
    assert (tmp_path / "out").read_text(
        encoding="utf-8"
    ) == f"{text}\nThe demo has ended, and its database is deleted.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def wait_for_pulls(client: Client, name: str, more: int) -> None:
    def pulls() -> int:
        return sum(arm.pulls or 0 for arm in client.arms(name))

    before = pulls()
    wait_until(lambda: pulls() > before + more, f"{more} decisions of {name}")


def test_the_demo_has_a_database_of_its_own(tmp_path: Path) -> None:
    line = error("serve", "--demo", "--database", "sqlite:///x.db", at=tmp_path)
    assert line == "--demo makes a database of its own, got --database too; leave out one of the two"


MISSING = [
    (["serve"], "cyclopts", "service"),
    (["serve"], "uvicorn", "service"),
    (["serve"], "fastapi", "service"),
    (["serve", "--demo"], "httpx", "client"),
    (["replay", "x"], "sqlalchemy", "service"),
    (["keys", "list"], "rich", "service"),
    (["policies"], "rich", "lab"),
    ([], "cyclopts", "lab"),
]


@pytest.mark.parametrize(("words", "package", "extra"), MISSING)
def test_without_the_extra(words: list[str], package: str, extra: str, tmp_path: Path) -> None:
    code = f"import sys; sys.modules[{package!r}] = None; from ocucb.cli import main; main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == (
        f'ocucb: error: this command needs {package}, which is not installed; pip install "ocucb[{extra}]"\n'
    )


def test_the_service_needs_nothing_of_the_lab(folder: Path) -> None:
    lab = sorted(cli.EXTRAS["lab"] - cli.EXTRAS["service"])
    code = f"import sys; sys.modules.update(dict.fromkeys({lab})); from ocucb.cli import main; main(sys.argv[1:])"
    for words in (["replay", "--all"], ["keys", "list"], ["serve", "--help"]):
        subprocess.run(
            [sys.executable, "-c", code, *words], cwd=folder, env=environment(), stdout=subprocess.DEVNULL, check=True
        )
