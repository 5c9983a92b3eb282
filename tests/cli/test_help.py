"""`ocucb --help`, `ocucb --version` and the help of every command."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cli.command import lines, ocucb
from ocucb import __version__, cli
from ocucb.cli.app import COMMANDS, app, command_names


def test_version(tmp_path: Path) -> None:
    assert ocucb("--version", at=tmp_path).stdout == f"{__version__}\n"


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["--help"]):
        assert cli.exit_code(words) == 0
        found = lines(capsys.readouterr().out.replace("│", ""))
        assert all(name in found for name in command_names())
    for name in command_names():
        assert cli.exit_code([name, "--help"]) == 0
        assert ("Commands" if name == "keys" else "Parameters") in capsys.readouterr().out


def test_help_loads_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys, ocucb.cli; ocucb.cli.exit_code(['--help']); "
        "print([name for name in ('matplotlib', 'xarray', 'zarr', 'plotly') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_the_command_says(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    first = (COMMANDS[name].__doc__ or "").splitlines()[0]
    for words in (["--help"], [name, "--help"]):
        assert cli.exit_code(words) == 0
        assert first in " ".join(capsys.readouterr().out.replace("│", " ").split())


def test_help_lists_commands_and_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.exit_code(["--help"]) == 0
    printed = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for name in command_names():
        assert f" {name} {app[name].help.splitlines()[0]}" in printed
    assert cli.exit_code(["keys"]) == 0
    printed = capsys.readouterr().out
    for name in ("make", "list", "revoke"):
        assert re.search(rf"│ {name} +[A-Z]", printed)
        assert cli.exit_code(["keys", name, "--help"]) == 0
        assert "--database" in capsys.readouterr().out
