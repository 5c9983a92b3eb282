"""`ocucb policies`: the table, and each policy alone."""

from __future__ import annotations

import re

import pytest

from cli.command import lines
from ocucb import cli
from ocucb.policies import POLICIES


def test_policies(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.exit_code(["policies"]) == 0
    found = lines(capsys.readouterr().out)
    assert set(POLICIES) <= set(found)
    assert found["thompson-sampling"][-1] == "scan"
    assert found["ocucb"][-2:] == ["horizon", "lazy"]
    assert found["ocucb-n"][-3:] == ["effective", "arms", "lazy"]
    assert "eta=1.1" in found


@pytest.mark.parametrize("name", POLICIES)
def test_one_policy(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.exit_code(["policies", name]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{name}  ocucb.{POLICIES[name].__name__}\n")
    use = re.search(r'ocucb compare --policy "(.*)"', out)
    assert use is not None
    assert use[1].startswith(name)
