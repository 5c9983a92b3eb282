"""What the client shows of itself: its names, its errors, and twins that do not differ."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from typing import Any, assert_type

import pytest

import ocucb_client
from ocucb_client import AsyncClient, Client, ClientError, Decision, RewardResult, UndeliveredError, errors

NAMES = [
    "AnswerError",
    "ApiKey",
    "Arm",
    "ArmStatistics",
    "AsyncClient",
    "AuditEntry",
    "BackgroundCounts",
    "Client",
    "ClientError",
    "ClosedError",
    "ConflictError",
    "Decision",
    "DeniedError",
    "Experiment",
    "ExperimentStatus",
    "ExperimentSummary",
    "ExportedDecision",
    "InvalidError",
    "NewApiKey",
    "NotFoundError",
    "QueueFullError",
    "RefusedReward",
    "RewardOutcome",
    "RewardResult",
    "SpoolError",
    "TooLateError",
    "UnavailableError",
    "UndeliveredError",
    "Verdict",
]
METHODS = [
    "add_arm",
    "api_keys",
    "archive",
    "arms",
    "audit",
    "background",
    "close",
    "correct_rewards",
    "create",
    "create_api_key",
    "decide",
    "decide_for_units",
    "delete",
    "erase_unit",
    "experiment",
    "experiments",
    "export",
    "flush",
    "import_log",
    "pause",
    "play_winner",
    "resume",
    "retire_arm",
    "revoke_api_key",
    "reward",
    "reward_later",
    "rewards",
    "set_shares",
    "verdict",
]
ERRORS = [name for name in NAMES if name.endswith("Error")]


def types_in_threads(client: Client) -> None:
    """Never called: mypy checks what it says."""
    assert_type(client.decide("x"), Decision)
    assert_type(client.decide("x", "unit", idempotency_key="y"), Decision)
    assert_type(client.decide("x", count=2), list[Decision])
    assert_type(client.rewards([("x", 1.0), (client.decide("x"), 1)]), list[RewardResult])


async def types_in_loops(client: AsyncClient) -> None:
    """Never called: mypy checks what it says."""
    assert_type(await client.decide("x"), Decision)
    assert_type(await client.decide("x", count=2), list[Decision])
    assert_type([row.arm async for row in client.export("x")], list[str | int])


def test_exactly_these_names_are_public() -> None:
    assert ocucb_client.__all__ == [*NAMES, "__version__"]
    for name in NAMES:
        assert getattr(ocucb_client, name).__doc__.strip().splitlines()[0].endswith((".", ":"))


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
        kind = getattr(ocucb_client, name)
        assert issubclass(kind, ClientError)
        assert any(name in line.replace("─", " ").replace("(", " ").split() for line in tree), name
    found = [value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, ClientError)]
    assert sorted(kind.__name__ for kind in found) == ERRORS


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_can_be_sent_to_another_process(name: str) -> None:
    kind = getattr(ocucb_client, name)
    error = kind("words") if kind is UndeliveredError else kind("words", code="c", status=409, request_id="r")
    if kind is UndeliveredError:
        error.rewards = (("d", 1.0),)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (str(again), vars(again)) == (str(error), vars(error))


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)


def test_it_loads_httpx_and_nothing_of_ocucb() -> None:
    done = python("import sys, ocucb_client; print(*sorted(sys.modules))")
    assert done.stderr == ""
    loaded = done.stdout.split()
    assert {"httpx", "ocucb_client.client"} <= set(loaded)
    for name in ("ocucb", "numpy", "numba", "fastapi", "sqlalchemy", "pydantic", "scipy", "multiprocessing"):
        assert name not in loaded, name
