"""What the client shows of itself: its names, its errors, and twins that do not differ."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from typing import Any, assert_type

import pytest

import ocucb.client
from ocucb import OcucbError
from ocucb.client import AsyncClient, Client, ClientError, Decision, Result, UndeliveredError, errors

NAMES = [
    "AnswerError",
    "Arm",
    "AsyncClient",
    "Changed",
    "Client",
    "ClientError",
    "ClosedError",
    "ConflictError",
    "Counts",
    "Decision",
    "DeniedError",
    "Experiment",
    "InvalidError",
    "Key",
    "Listed",
    "NewKey",
    "NotFoundError",
    "QueueFullError",
    "Refused",
    "Result",
    "Rewarded",
    "Row",
    "SpoolError",
    "TooLateError",
    "UnavailableError",
    "UndeliveredError",
]
METHODS = [
    "add_arm",
    "archive",
    "arms",
    "background",
    "close",
    "create",
    "decide",
    "experiment",
    "experiments",
    "export",
    "flush",
    "import_log",
    "keys",
    "make_key",
    "pause",
    "resume",
    "retire_arm",
    "revoke_key",
    "reward",
    "reward_later",
    "rewards",
]
ERRORS = [name for name in NAMES if name.endswith("Error")]


def types_in_threads(client: Client) -> None:
    """Never called: mypy checks what it says."""
    assert_type(client.decide("x"), Decision)
    assert_type(client.decide("x", "unit", idempotency_key="y"), Decision)
    assert_type(client.decide("x", count=2), list[Decision])
    assert_type(client.rewards([("x", 1.0), (client.decide("x"), 1)]), list[Result])


async def types_in_loops(client: AsyncClient) -> None:
    """Never called: mypy checks what it says."""
    assert_type(await client.decide("x"), Decision)
    assert_type(await client.decide("x", count=2), list[Decision])
    assert_type([row.arm async for row in client.export("x")], list[str | int])


def test_exactly_these_names_are_public() -> None:
    assert ocucb.client.__all__ == NAMES
    for name in NAMES:
        assert getattr(ocucb.client, name).__doc__.strip().splitlines()[0].endswith((".", ":"))


def public(kind: type[Any]) -> dict[str, Any]:
    return {name: value for name, value in vars(kind).items() if not name.startswith("_")}


def test_the_twins_do_not_differ() -> None:
    assert sorted(public(Client)) == sorted(public(AsyncClient)) == METHODS
    assert inspect.signature(Client) == inspect.signature(AsyncClient)
    for name in METHODS:
        mine, other = getattr(Client, name), getattr(AsyncClient, name)
        assert inspect.getdoc(mine), name
        assert inspect.getdoc(other), name
        if name != "background":
            assert inspect.signature(mine).parameters == inspect.signature(other).parameters, name


def test_errors_are_one_tree_and_it_is_drawn() -> None:
    tree = (errors.__doc__ or "").splitlines()
    for name in ERRORS:
        kind = getattr(ocucb.client, name)
        assert issubclass(kind, ClientError)
        assert issubclass(kind, OcucbError)
        assert any(name in line.replace("─", " ").replace("(", " ").split() for line in tree), name
    found = [value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, ClientError)]
    assert sorted(kind.__name__ for kind in found) == ERRORS


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_can_be_sent_to_another_process(name: str) -> None:
    kind = getattr(ocucb.client, name)
    error = kind("words") if kind is UndeliveredError else kind("words", code="c", status=409, request_id="r")
    if kind is UndeliveredError:
        error.rewards = (("d", 1.0),)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (str(again), vars(again)) == (str(error), vars(error))


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)


def test_without_httpx_one_line_says_what_to_install() -> None:
    done = python("import sys; sys.modules['httpx'] = None; import ocucb.client")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        'ModuleNotFoundError: ocucb.client needs httpx, which is not installed; pip install "ocucb[client]"'
    )
    broken = python("import sys; sys.modules['idna'] = None; import ocucb.client")
    assert "idna" in broken.stderr.splitlines()[-1]


def test_it_loads_neither_the_service_nor_the_lab() -> None:
    done = python("import sys, ocucb.client; print(*sorted(sys.modules))")
    assert done.stderr == ""
    loaded = done.stdout.split()
    assert "ocucb.client.sync" in loaded
    for name in ("ocucb.service", "ocucb.lab", "fastapi", "sqlalchemy", "pydantic", "scipy.optimize"):
        assert name not in loaded
