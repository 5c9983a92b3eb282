"""The API held against its own OpenAPI: whatever fits it, and whatever does not, is answered as it says."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from ocucb.service.web.docs import describe
from ocucb.service.web.route_table import ROUTE_POLICIES
from service.web.api import Api

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
RIGHT, WRONG = GenerationMode.POSITIVE, GenerationMode.NEGATIVE
HEALTH = ["GET /healthz", "GET /readyz"]  # they take nothing, so nothing can be wrong
ROUTES = [(name, mode) for name, policy in ROUTE_POLICIES.items() if policy.role is not None for mode in (RIGHT, WRONG)]
EXAMPLES = 15


@pytest.fixture(scope="module")
def schema(lasting: Api) -> Any:
    return schemathesis.openapi.from_dict(describe(lasting.app))


@pytest.mark.parametrize(("route", "mode"), [*ROUTES, *((name, RIGHT) for name in HEALTH)])
def test_every_route_answers_as_documented(lasting: Api, schema: Any, route: str, mode: GenerationMode) -> None:
    experiment = f"{route.replace('/', ' ')} {mode.value}"
    lasting.create(experiment)
    decision = lasting.decide(experiment)["id"]
    method, _, path = route.partition(" ")
    operation = schema[path][method]

    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        database=None,
        deadline=None,
    )
    @given(case=operation.as_strategy(generation_mode=mode), real=...)
    def ask(case: Any, real: bool) -> None:
        if real:
            _make_real(case, experiment, decision)
        answer = case.call(base_url=lasting.url, headers={"Authorization": f"Bearer {lasting.admin}"})
        case.validate_response(answer, checks=CHECKS)

    ask()
    if not route.endswith("/archive"):
        lasting.verify()


def _make_real(case: Any, experiment: str, decision: str) -> None:
    """Let a request be about something that is there."""
    if "name" in (case.path_parameters or {}):
        case.path_parameters["name"] = experiment
    if isinstance(case.body, dict) and isinstance(case.body.get("decision"), str):
        case.body["decision"] = decision
