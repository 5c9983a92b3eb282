"""The form for a new experiment: what it makes, and what it says when it cannot."""

from __future__ import annotations

import pytest

from ocucb import Discount, Window
from ocucb.memory import SERVED_MEMORIES
from ocucb.noise import NOISES
from ocucb.policies import POLICIES
from ocucb.service.web.page.forms import (
    DEFAULTS,
    MEMORIES_IN_WORDS,
    PARAMETER_HELP,
    FormError,
    Parameter,
    parameters_of,
    read_definition,
)
from ocucb.service.web.page.views import describe_noises

POLICY_PARAMETERS, NOISE_PARAMETERS = parameters_of(POLICIES), parameters_of(NOISES)
MEMORY_PARAMETERS = parameters_of(SERVED_MEMORIES)
FILLED = {**DEFAULTS, "name": "any", "arms": "a\nb"}


def problems(**what: str) -> dict[str, str]:
    with pytest.raises(FormError) as caught:
        read_definition({**FILLED, **{name.replace("__", "."): text for name, text in what.items()}})
    return caught.value.problems


def test_the_tables_are_covered() -> None:
    assert describe_noises() == {
        "bernoulli": "0 or 1 (bernoulli)",
        "gaussian": "around a mean, with a known scale (gaussian)",
        "bounded": "numbers in a known range (bounded)",
        "poisson": "counts (poisson)",
        "exponential": "waiting times (exponential)",
        "gaussian-unknown-scale": "numbers whose scale nobody knows in advance (gaussian-unknown-scale)",
    }
    assert {each.name for each in (*POLICY_PARAMETERS, *NOISE_PARAMETERS, *MEMORY_PARAMETERS)} == set(PARAMETER_HELP)
    assert list(MEMORIES_IN_WORDS) == ["everything", *SERVED_MEMORIES]


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_can_be_chosen(policy: str) -> None:
    needed = {f"policy.{each.name}": "1,000" for each in POLICY_PARAMETERS if each.defaults.get(policy) == "needed"}
    made = read_definition({**FILLED, "policy": policy, **needed})
    assert made.policy.name == policy


@pytest.mark.parametrize("noise", NOISES)
def test_every_noise_can_be_chosen(noise: str) -> None:
    assert read_definition({**FILLED, "noise": noise}).noise.name == noise


@pytest.mark.parametrize("each", [*POLICY_PARAMETERS, *NOISE_PARAMETERS], ids=lambda each: each.name)
def test_what_is_shown_as_a_default_is_one(each: Parameter) -> None:
    what = "policy" if each in POLICY_PARAMETERS else "noise"
    for name, default in each.defaults.items():
        needed = {f"policy.{one.name}": "1000" for one in POLICY_PARAMETERS if one.defaults.get(name) == "needed"}
        plain = {**FILLED, what: name, **needed}
        if default not in ("", "needed"):
            filled = {**plain, f"{what}.{each.name}": default}
            made, usual = read_definition(filled), read_definition(plain)
            assert (made.policy, made.noise) == (usual.policy, usual.noise)


def test_times_and_what_follows_them() -> None:
    times = {"window": "1.5", "window_unit": "minutes", "sticky": "2", "sticky_unit": "days"}
    made = read_definition({**FILLED, **times, "on_expiry": "default", "default": "1", "late": "accept"})
    assert (made.window, made.sticky, made.on_expiry, made.late) == (90.0, 172_800.0, 1.0, "accept")
    plain = read_definition(FILLED)
    assert (plain.window, plain.sticky, plain.on_expiry, plain.late) == (None, None, "forget", "refuse")


def test_shares_memory_and_parts() -> None:
    filled = {"shares": "a 10 %\nb: 0.25", "memory": "window", "memory.rounds": "5,000"}
    made = read_definition({**FILLED, **filled, "window": "1", "partial_rewards": "yes"})
    assert (made.shares, made.memory, made.partial_rewards) == ((("a", 0.1), ("b", 0.25)), Window(5000), True)
    faded = read_definition(
        {**FILLED, "memory": "discount", "memory.factor": "0.999", "arms": "a\nplan 5", "shares": "plan 5 = 5%"}
    )
    assert (faded.memory, faded.shares) == (Discount(0.999), (("plan 5", 0.05),))
    plain = read_definition(FILLED)
    assert (plain.shares, plain.memory, plain.partial_rewards) == ((), None, False)


@pytest.mark.parametrize("text", ["10000", "10,000", "10_000", "1e4", " 10 000 "])
def test_numbers_as_people_write_them(text: str) -> None:
    made = read_definition({**FILLED, "policy": "moss", "policy.horizon": text})
    assert made.policy.to_dict()["parameters"]["horizon"] == 10_000


@pytest.mark.parametrize(
    ("what", "field", "words"),
    [
        ({"shares": "a"}, "shares", "an arm and its share, as in “control 10 %”, got “a”"),
        ({"shares": "a 10"}, "shares", "an arm and its share"),
        ({"shares": "a 10 %\na 20 %"}, "shares", "name it once"),
        ({"shares": "c 10 %"}, "shares", "No arm 'c'"),
        ({"shares": "a 60 %\nb 40 %"}, "shares", "Shares must sum to less than 1"),
        ({"memory": "window"}, "memory.rounds", "This must be filled in for window"),
        ({"memory": "window", "memory__rounds": "1e7"}, "memory.rounds", "100000 rounds or less"),
        ({"memory": "discount", "memory__factor": "2"}, "memory.factor", "must be between 0 and 1"),
        ({"memory": "sieve"}, "memory", "Choose one of"),
        ({"memory__rounds": "10"}, "memory.rounds", "leave it empty"),
        ({"memory": "discount", "memory__factor": "0.9", "policy": "top-two"}, "memory", "there is none"),
        ({"policy": "imed", "noise": "gaussian-unknown-scale"}, "noise", "reads a divergence"),
        ({"policy": "ucb-v", "noise": "gaussian"}, "noise", "needs rewards in a known range"),
        ({"partial_rewards": "yes"}, "partial_rewards", "give one"),
        ({"name": " "}, "name", "needs a name"),
        ({"name": "a/b"}, "name", "no slashes"),
        ({"name": "x" * 201}, "name", "1 to 200"),
        ({"arms": "\n \n"}, "arms", "at least one arm"),
        ({"arms": "a\na"}, "arms", "'a' twice"),
        ({"arms": "x" * 201}, "arms", "1 to 200"),
        ({"policy": "nonsense"}, "policy", "Choose one of"),
        ({"policy__eta": "0.5"}, "policy.eta", "1 or more"),
        ({"policy__eta": "wide"}, "policy.eta", "finite number"),
        ({"policy__alpha": "2"}, "policy.alpha", "ocucb-n has no alpha"),
        ({"policy": "moss"}, "policy.horizon", "This must be filled in for moss"),
        ({"policy": "moss", "policy__horizon": "1.5"}, "policy.horizon", "whole number"),
        ({"policy": "gittins", "policy__horizon": "20000"}, "policy.horizon", "10000 or less"),
        ({"noise": "bounded", "noise__low": "2"}, "noise", "greater than 2"),
        ({"noise": "gaussian", "noise__scale": "1e999"}, "noise.scale", "finite number"),
        ({"window": "0"}, "window", "greater than 0"),
        ({"window": "soon"}, "window", "a number"),
        ({"window": "1", "window_unit": "fortnights"}, "window", "a number"),
        ({"window": "99999", "window_unit": "days"}, "window", "ten years"),
        ({"sticky": "-1"}, "sticky", "greater than 0"),
        ({"on_expiry": "default", "default": ""}, "default", "a number"),
        ({"on_expiry": "default", "default": "0.5"}, "default", "0 or 1"),
        ({"late": "maybe"}, "late", "'refuse', 'accept'"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(what: dict[str, str], field: str, words: str) -> None:
    found = problems(**what)
    assert list(found) == [field]
    assert words in found[field]
    assert found[field][-1] == "."


def test_all_that_is_wrong_is_said_at_once() -> None:
    assert set(problems(name="", arms="", policy="moss", window="x", sticky="y")) == {
        "name",
        "arms",
        "policy.horizon",
        "window",
        "sticky",
    }


def test_nothing_at_all() -> None:
    with pytest.raises(FormError) as caught:
        read_definition({})
    assert set(caught.value.problems) == {"name", "arms", "policy", "noise"}
