"""Bad input: one clear line, the right exception, and a bandit that is exactly what it was."""

from __future__ import annotations

import decimal
import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import ocucb
from ocucb import (
    ArmError,
    Bandit,
    Bernoulli,
    Bounded,
    Exponential,
    Gaussian,
    Noise,
    OcucbError,
    OCUCBn,
    ParameterError,
    Poisson,
    RewardError,
)

Kind = type[OcucbError]
Call = Callable[[Bandit], object]


def busy(noise: Noise | None = None) -> Bandit:
    """Return a bandit with pulls, pending choices, an arm called "new" never pulled, and one called "grey" retired."""
    bandit = Bandit(OCUCBn(), ["red", "green", "blue", "grey"], noise, seed=7)
    for _ in range(24):
        bandit.learn(bandit.choose(), 1.0)
    bandit.choose()
    bandit.choose()
    bandit.retire_arm("grey")
    bandit.add_arm("new")
    return bandit


def play(bandit: Bandit, rounds: int) -> list[str | int]:
    choices = []
    for number in range(rounds):
        arm = bandit.choose()
        bandit.learn(arm, float(random.Random(f"{number}/{arm}").random() < 0.5))
        choices.append(arm)
    return choices


def refuses(bandit: Bandit, call: Call, kind: Kind, fragment: str) -> None:
    """Check that a call raises as it should, that nothing changed, and that the game goes on as if it had not been."""
    before, choice = bandit.to_dict(), bandit.peek()
    indices = bandit.indices()
    twin = Bandit.from_dict(before)
    with pytest.raises(OcucbError) as caught:
        call(bandit)
    assert type(caught.value) is kind
    assert fragment in str(caught.value)
    assert "\n" not in str(caught.value)
    assert bandit.to_dict() == before
    assert bandit.peek() == choice
    np.testing.assert_array_equal(bandit.indices(), indices)
    assert play(bandit, 20) == play(twin, 20)
    assert bandit.to_dict() == twin.to_dict()


# Rewards

BAD_REWARDS: list[tuple[Any, str]] = [
    (math.nan, "got nan"),
    (math.inf, "got inf"),
    (-math.inf, "got -inf"),
    (1e400, "got inf"),
    (10**400, "a reward must be"),
    (Fraction(10**400), "a reward must be"),
    (np.float64("nan"), "nan"),
    (np.float32("inf"), "inf"),
    (np.float32("-inf"), "-inf"),
    (None, "got None"),
    ("0.7", "got '0.7'"),
    ("", "got ''"),
    (b"1", "got b'1'"),
    (1 + 0j, "got (1+0j)"),
    (np.complex128(1), "1+0j"),
    ([1.0], "got [1.0]"),
    ((1.0,), "got (1.0,)"),
    ({}, "got {}"),
    (np.array([1.0, 2.0]), "array([1., 2.])"),
    (object, "got <class 'object'>"),
    (lambda: 1.0, "got <function"),
]
PLACES = pytest.mark.parametrize(
    "noise", [Gaussian(), Bernoulli(), Bounded(-1.0, 3.0), Poisson(), Exponential()], ids=str
)
REWARDS = pytest.mark.parametrize(("reward", "fragment"), BAD_REWARDS, ids=range(len(BAD_REWARDS)))


@PLACES
@REWARDS
def test_no_reward_at_all(noise: Noise, reward: Any, fragment: str) -> None:
    refuses(busy(noise), lambda bandit: bandit.learn("red", reward), RewardError, fragment)


@REWARDS
def test_no_reward_at_all_in_a_log(reward: Any, fragment: str) -> None:
    for place in range(3):
        rewards: list[Any] = [1.0, 1.0, 1.0]
        rewards[place] = reward
        refuses(busy(), lambda b, log=rewards: b.learn_many(["red", "new", "red"], log), RewardError, fragment)  # type: ignore[misc]


@pytest.mark.parametrize("arm", ["red", "new"])
def test_no_reward_at_all_for_an_arm_with_and_without_pulls(arm: str) -> None:
    refuses(
        busy(), lambda bandit: bandit.learn(arm, math.nan), RewardError, "a reward must be a finite number, got nan"
    )


OUT_OF_RANGE: list[tuple[Noise, Any, str]] = [
    (Bernoulli(), 0.5, "a reward must be 0 or 1 (use Bounded(0, 1) for rewards in between), got 0.5"),
    (Bernoulli(), 2, "0 or 1"),
    (Bernoulli(), -1, "0 or 1"),
    (Bernoulli(), math.nextafter(1.0, 2.0), "0 or 1"),
    (Bernoulli(), math.nextafter(1.0, 0.0), "0 or 1"),
    (Bernoulli(), 5e-324, "0 or 1"),
    (Bernoulli(), -5e-324, "0 or 1"),
    (Bernoulli(), np.float32(0.5), "0 or 1"),
    (Bernoulli(), Fraction(1, 2), "0 or 1"),
    (Poisson(), -1, "a reward must be a whole number, 0 or more, got -1"),
    (Poisson(), 1.5, "a whole number, 0 or more, got 1.5"),
    (Poisson(), 2.0**52 - 0.5, "a whole number"),
    (Poisson(), 5e-324, "a whole number"),
    (Poisson(), np.int64(-1), "a whole number"),
    (Exponential(), -0.1, "a reward must be a finite number, 0 or more, got -0.1"),
    (Exponential(), -5e-324, "0 or more"),
    (Exponential(), -1e308, "0 or more"),
    (Bounded(-1.0, 3.0), 3.1, "a reward must be a number between -1 and 3, got 3.1"),
    (Bounded(-1.0, 3.0), -1.1, "between -1 and 3, got -1.1"),
    (Bounded(-1.0, 3.0), math.nextafter(3.0, 4.0), "between -1 and 3"),
    (Bounded(-1.0, 3.0), math.nextafter(-1.0, -2.0), "between -1 and 3"),
    (Bounded(0.0, 1.0), True + 1, "between 0 and 1"),
]


@pytest.mark.parametrize(("noise", "reward", "fragment"), OUT_OF_RANGE, ids=range(len(OUT_OF_RANGE)))
def test_a_reward_that_the_family_cannot_give(noise: Noise, reward: Any, fragment: str) -> None:
    refuses(busy(noise), lambda bandit: bandit.learn("red", reward), RewardError, fragment)
    refuses(busy(noise), lambda bandit: bandit.learn("new", reward), RewardError, fragment)
    refuses(busy(noise), lambda bandit: bandit.learn_many(["red"] * 3, [1.0, reward, 1.0]), RewardError, fragment)


LEGAL: list[tuple[Noise, Any]] = [
    (Gaussian(), np.float32(0.5)),
    (Gaussian(), np.float16(0.5)),
    (Gaussian(), np.longdouble(0.5)),
    (Gaussian(), np.int64(-3)),
    (Gaussian(), np.uint8(255)),
    (Gaussian(), True),
    (Gaussian(), -0.0),
    (Gaussian(), 5e-324),
    (Gaussian(), 1.7976931348623157e308),
    (Gaussian(), -1.7976931348623157e308),
    (Gaussian(), Fraction(1, 3)),
    (Gaussian(), 2**60 + 1),
    (Bernoulli(), True),
    (Bernoulli(), False),
    (Bernoulli(), 0),
    (Bernoulli(), 1.0),
    (Bernoulli(), -0.0),
    (Bernoulli(), np.float32(1.0)),
    (Bernoulli(), np.int64(1)),
    (Bernoulli(), np.bool_(True)),
    (Bernoulli(), np.bool_(False)),
    (Poisson(), np.int64(7)),
    (Poisson(), np.float32(7.0)),
    (Poisson(), 10**300),
    (Poisson(), True),
    (Exponential(), 0),
    (Exponential(), 5e-324),
    (Exponential(), np.float32(0.25)),
    (Bounded(-1.0, 3.0), -1),
    (Bounded(-1.0, 3.0), 3),
    (Bounded(-1.0, 3.0), np.float64(3.0)),
    (Bounded(-1.0, 3.0), np.int64(-1)),
]


@pytest.mark.parametrize(("noise", "reward"), LEGAL, ids=range(len(LEGAL)))
def test_a_legal_reward_of_any_kind_of_number(noise: Noise, reward: Any) -> None:
    one, many = (Bandit(OCUCBn(), ["a", "b"], noise, seed=0) for _ in range(2))
    one.learn("a", reward)
    many.learn_many(["a"], [reward])
    assert one.means[0] == float(reward)
    assert one.to_dict() == many.to_dict()
    assert one.to_dict()["totals"] == [float(reward), 0.0]
    assert one.choose() == "b"


def test_a_log_of_boolean_clicks() -> None:
    bandit = Bandit(OCUCBn(), arms=2, noise=Bernoulli())
    clicked: Any = np.array([3, 1, 4, 1]) > 2
    bandit.learn_many([0, 1, 0, 1], clicked)
    assert bandit.means.tolist() == [1.0, 0.0]


def bandit_with(*log: Any) -> Bandit:
    arms, rewards = log[::2], log[1::2]
    bandit = Bandit(OCUCBn(), arms)
    bandit.learn_many(arms, rewards)
    return bandit


OVERFLOWS: dict[str, Callable[[Bandit, float], object]] = {
    "learn": lambda bandit, huge: bandit.learn("red", huge),
    "a log of one": lambda bandit, huge: bandit.learn_many(["red"], [huge]),
    "a log": lambda bandit, huge: bandit.learn_many(["green", "new", "red", "blue"], [1.0, huge, huge, 1.0]),
    "on the way": lambda bandit, huge: bandit.learn_many(["new"] * 3, [huge, huge, -huge]),  # as learn by learn would
    "merge": lambda bandit, huge: bandit.merge(bandit_with("red", huge)),
    "merge with a new arm": lambda bandit, huge: bandit.merge(bandit_with("red", huge, "stranger", 1.0)),
}


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("way", OVERFLOWS)
def test_a_sum_of_rewards_that_would_overflow(way: str, sign: float) -> None:
    bandit, huge = busy(), sign * 1e308
    bandit.learn("red", huge)
    refuses(bandit, lambda b: OVERFLOWS[way](b, huge), RewardError, "rescale the rewards")


def test_a_huge_sum_that_does_not_overflow_is_kept() -> None:
    bandit = Bandit(OCUCBn(), arms=2)
    bandit.learn_many([0, 0, 0, 1], [1e308, -1e308, 1e308, 0.0])
    assert bandit.means[0] == 1e308 / 3
    assert play(bandit, 10) == [0] * 10


# Arms

STRANGERS: list[tuple[Any, str]] = [
    ("yellow", "no arm 'yellow'; the arms are 'red', 'green', 'blue', 'new'"),
    ("RED", "no arm 'RED'"),
    ("", "no arm ''"),
    (0, "no arm 0"),
    (-1, "no arm -1"),
    (1.5, "1.5"),
    (None, "None"),
    (True, "True"),
    (b"red", "b'red'"),
    (math.nan, "nan"),
    (("red",), "('red',)"),
    ([], "[]"),
    (["red"], "['red']"),
    ({}, "{}"),
    (set(), "set()"),
    (np.array(["red"]), "red"),
]
TAKES_AN_ARM: dict[str, Callable[[Bandit, Any], object]] = {
    "learn": lambda bandit, arm: bandit.learn(arm, 1.0),
    "learn_many": lambda bandit, arm: bandit.learn_many(["red", arm, "new"], [1.0, 1.0, 1.0]),
    "count_pull": lambda bandit, arm: bandit.count_pull(arm),
    "forget": lambda bandit, arm: bandit.forget(arm),
    "is_retired": lambda bandit, arm: bandit.is_retired(arm),
    "retire_arm": lambda bandit, arm: bandit.retire_arm(arm),
    "explain": lambda bandit, arm: bandit.explain(arm),
    "revise": lambda bandit, arm: bandit.revise(arm, 1, 1.0),
    "learned": lambda bandit, arm: bandit.learned(arm),
}


@pytest.mark.parametrize("method", TAKES_AN_ARM)
@pytest.mark.parametrize(("arm", "fragment"), STRANGERS, ids=range(len(STRANGERS)))
def test_an_arm_that_is_not_there(method: str, arm: Any, fragment: str) -> None:
    refuses(busy(), lambda bandit: TAKES_AN_ARM[method](bandit, arm), ArmError, fragment)


def test_an_arm_retired_twice() -> None:
    twice = "arm 'grey' is retired; add_arm('grey') brings it back"
    refuses(busy(), lambda bandit: bandit.retire_arm("grey"), ArmError, twice)


def test_a_message_names_a_few_arms_of_many() -> None:
    bandit = Bandit(OCUCBn(), arms=1000)
    with pytest.raises(ArmError, match=r"no arm 1000; the arms are 0, 1, 2, 3, 4, \.\.\.$"):
        bandit.learn(1000, 1.0)


NEW_LABELS: list[tuple[Any, str]] = [
    ("red", "arm 'red' is already there; labels must be different"),
    ("new", "arm 'new' is already there"),
    (1.5, "a label must be a string or an integer, got 1.5"),
    (None, "got None"),
    (True, "got True"),
    (False, "got False"),
    (b"x", "got b'x'"),
    (("x",), "got ('x',)"),
    (math.nan, "got nan"),
    ([], "got []"),
    ({}, "got {}"),
]


@pytest.mark.parametrize(("label", "fragment"), NEW_LABELS, ids=range(len(NEW_LABELS)))
def test_an_arm_that_cannot_be_added(label: Any, fragment: str) -> None:
    refuses(busy(), lambda bandit: bandit.add_arm(label), ArmError, fragment)


def test_an_integer_of_numpy_is_a_label_here_as_at_the_start() -> None:
    labels: Any = [np.int64(3)]
    bandit = Bandit(OCUCBn(), labels)
    another: Any = np.int64(5)
    bandit.add_arm(another)
    assert list(bandit.arms) == [3, 5]
    assert [type(label) for label in bandit.arms] == [int, int]


def test_forgetting_what_was_never_chosen() -> None:
    quiet = busy()
    for label in quiet.arms:
        for _ in range(quiet.explain(label).pending):
            quiet.forget(label)
    for arm in (*quiet.arms, *quiet.retired_arms):
        twin = Bandit.from_dict(quiet.to_dict())
        refuses(twin, lambda bandit, arm=arm: bandit.forget(arm), ArmError, f"arm {arm!r} has no pending choice")  # type: ignore[misc]


def test_a_reward_learned_elsewhere_leaves_nothing_to_forget() -> None:
    bandit = Bandit(OCUCBn(), ["a", "b"])
    bandit.learn("a", 1.0)
    refuses(bandit, lambda b: b.forget("a"), ArmError, "each choose() or count_pull() makes one")


def test_the_last_arm_is_kept() -> None:
    bandit = Bandit(OCUCBn(), ["a", "b"])
    bandit.retire_arm("a")
    refuses(bandit, lambda b: b.retire_arm("b"), ArmError, "arm 'b' is the last one; add another before you retire it")


# Logs and merges

LOGS: list[tuple[Any, Any, str]] = [
    (["red", "new"], [1.0], "got 2 arms, 1 rewards"),
    (["red"], [1.0, 1.0], "got 1 arms, 2 rewards"),
    ([], [1.0], "got 0 arms, 1 rewards"),
    (["red"], [], "got 1 arms, 0 rewards"),
    ((arm for arm in ("red", "new")), iter([1.0]), "got 2 arms, 1 rewards"),
]


@pytest.mark.parametrize(("arms", "rewards", "fragment"), LOGS, ids=range(len(LOGS)))
def test_a_log_of_two_lengths(arms: Any, rewards: Any, fragment: str) -> None:
    refuses(busy(), lambda bandit: bandit.learn_many(arms, rewards), RewardError, fragment)


def test_one_bad_item_anywhere_spoils_a_log() -> None:
    for place in range(6):
        arms: list[Any] = ["red", "new", "green", "red", "blue", "new"]
        arms[place] = "gray"
        refuses(busy(), lambda b, log=arms: b.learn_many(log, [1.0] * 6), ArmError, "no arm 'gray'")  # type: ignore[misc]
        rewards = [1.0] * 6
        rewards[place] = math.nan
        refuses(busy(), lambda b, log=rewards: b.learn_many(["red", "new"] * 3, log), RewardError, "got nan")  # type: ignore[misc]


MERGES: list[tuple[Call, str]] = [
    (lambda bandit: bandit.merge(bandit), "a bandit cannot be merged with itself"),
    (
        lambda bandit: bandit.merge(Bandit(OCUCBn(), ["red", "x"], Bernoulli())),
        "the same noise, got Gaussian(scale=1.0) and Bernoulli()",
    ),
    (lambda bandit: bandit.merge(Bandit(OCUCBn(), 2, Gaussian(2.0))), "and Gaussian(scale=2.0)"),
    (lambda bandit: bandit.merge(OCUCBn()), "bandit"),  # type: ignore[arg-type]
    (lambda bandit: bandit.merge(None), "bandit"),  # type: ignore[arg-type]
    (lambda bandit: bandit.merge(bandit.to_dict()), "bandit"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "fragment"), MERGES, ids=range(len(MERGES)))
def test_a_merge_that_makes_no_sense(call: Call, fragment: str) -> None:
    refuses(busy(), call, ParameterError, fragment)


def test_a_refused_merge_leaves_the_other_alone() -> None:
    mine, other = busy(), Bandit(OCUCBn(), ["red", "x"], Bernoulli())
    other.learn("x", 1)
    before = other.to_dict()
    refuses(mine, lambda bandit: bandit.merge(other), ParameterError, "the same noise")
    assert other.to_dict() == before


# Construction

CONSTRUCTIONS: list[tuple[dict[str, Any], Kind, str]] = [
    ({"arms": []}, ParameterError, "arms must name at least one arm, got none"),
    ({"arms": ()}, ParameterError, "at least one arm"),
    ({"arms": {}}, ParameterError, "at least one arm"),
    ({"arms": iter(())}, ParameterError, "at least one arm"),
    ({"arms": np.array([])}, ParameterError, "at least one arm"),
    ({"arms": 0}, ParameterError, "arms must be 1 or more, got 0"),
    ({"arms": -1}, ParameterError, "arms must be 1 or more, got -1"),
    ({"arms": np.int64(0)}, ParameterError, "arms must be 1 or more, got 0"),
    ({"arms": 2.5}, ParameterError, "arms must be how many there are, or their labels, got 2.5"),
    ({"arms": 3.0}, ParameterError, "got 3.0"),
    ({"arms": np.float64(3.0)}, ParameterError, "3.0"),
    ({"arms": np.array(3)}, ParameterError, "array(3)"),
    ({"arms": math.nan}, ParameterError, "got nan"),
    ({"arms": True}, ParameterError, "got True"),
    ({"arms": False}, ParameterError, "got False"),
    ({"arms": "abc"}, ParameterError, "got 'abc'"),
    ({"arms": ""}, ParameterError, "got ''"),
    ({"arms": b"abc"}, ParameterError, "got b'abc'"),
    ({"arms": None}, ParameterError, "got None"),
    ({"arms": 1 + 0j}, ParameterError, "got (1+0j)"),
    ({"arms": ["a", "b", "a"]}, ArmError, "labels must be different, got 'a' twice"),
    ({"arms": [1, 2, 2]}, ArmError, "got 2 twice"),
    ({"arms": [np.int64(1), 1]}, ArmError, "got 1 twice"),
    ({"arms": ["a", 1.5]}, ArmError, "a label must be a string or an integer, got 1.5"),
    ({"arms": ["a", None]}, ArmError, "got None"),
    ({"arms": ["a", True]}, ArmError, "got True"),
    ({"arms": [0, np.bool_(True)]}, ArmError, "True"),
    ({"arms": ["a", b"b"]}, ArmError, "got b'b'"),
    ({"arms": ["a", []]}, ArmError, "got []"),
    ({"arms": [("a", "b")]}, ArmError, "got ('a', 'b')"),
    ({"arms": np.array([1.0, 2.0])}, ArmError, "1.0"),
    ({"arms": np.array([["a", "b"]])}, ParameterError, "arms must be how many there are, or their labels"),
    ({"policy": OCUCBn}, ParameterError, "policy must be a policy such as OCUCBn(), got <class"),
    ({"policy": "ocucb-n"}, ParameterError, "got 'ocucb-n'"),
    ({"policy": None}, ParameterError, "got None"),
    ({"policy": Gaussian()}, ParameterError, "got Gaussian(scale=1.0)"),
    ({"policy": OCUCBn().to_dict()}, ParameterError, "got {'name': 'ocucb-n'"),
    ({"noise": Gaussian}, ParameterError, "noise must be a noise family such as Gaussian(1.0), got <class"),
    ({"noise": "gaussian"}, ParameterError, "got 'gaussian'"),
    ({"noise": 1.0}, ParameterError, "got 1.0"),
    ({"noise": 0}, ParameterError, "got 0"),
    ({"noise": OCUCBn()}, ParameterError, "got OCUCBn("),
    ({"seed": -1}, ParameterError, "seed must be 0 or more, got -1"),
    ({"seed": 1.0}, ParameterError, "seed must be a whole number, got 1.0"),
    ({"seed": "1"}, ParameterError, "got '1'"),
    ({"seed": True}, ParameterError, "got True"),
    ({"seed": math.nan}, ParameterError, "got nan"),
    ({"seed": [1]}, ParameterError, "got [1]"),
    ({"seed": np.random.default_rng(0)}, ParameterError, "seed must be a whole number"),
    ({"seed": 2**63}, ParameterError, "seed must be below 2^63, got 9223372036854775808"),
    ({"seed": 10**400}, ParameterError, "seed must be below 2^63"),
]


@pytest.mark.parametrize(("changed", "kind", "fragment"), CONSTRUCTIONS, ids=range(len(CONSTRUCTIONS)))
def test_a_bandit_that_cannot_be_built(changed: dict[str, Any], kind: Kind, fragment: str) -> None:
    given: dict[str, Any] = {"policy": OCUCBn(), "arms": 3, "noise": Gaussian(), "seed": 1}
    assert play(Bandit(**given), 3) == [0, 1, 2]
    with pytest.raises(OcucbError) as caught:
        Bandit(**{**given, **changed})
    assert type(caught.value) is kind
    assert fragment in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1, np.int64(5), np.uint64(2**63 - 1)], ids=repr)
def test_the_seeds_that_are_taken(seed: Any) -> None:
    kept = Bandit(OCUCBn(), 3, seed=seed).to_dict()["seed"]
    assert type(kept) is int
    assert kept == seed


@pytest.mark.parametrize("value", [10**400, Fraction(10**400)], ids=["integer", "fraction"])
def test_parameters_beyond_any_float(value: Any) -> None:
    for build in (Gaussian, lambda scale: Bounded(0.0, scale), lambda eta: OCUCBn(eta=eta), ocucb.UCB):
        with pytest.raises(ParameterError):
            build(value)


@pytest.mark.parametrize("horizon", [2**63, 10**400], ids=["2^63", "10^400"])
@pytest.mark.parametrize(
    "policy", [ocucb.MOSS, ocucb.OCUCB, ocucb.AdaUCB, ocucb.KLUCBPlusPlus], ids=lambda p: p.__name__
)
def test_a_horizon_beyond_all_counting(policy: Any, horizon: int) -> None:
    with pytest.raises(ParameterError, match="horizon"):
        Bandit(policy(horizon), 3)


# The tree of exceptions


def test_every_error_is_also_the_built_in_one_a_caller_would_catch() -> None:
    bandit = Bandit(OCUCBn(), ["a", "b"])
    nothing: Any = None
    with pytest.raises(LookupError, match="no arm"):
        bandit.learn("x", 1.0)
    with pytest.raises(ValueError, match="finite number"):
        bandit.learn("a", math.nan)
    with pytest.raises(ValueError, match="policy must be"):
        Bandit(nothing, 3)
    short = Bandit(ocucb.MOSS(1), 3)
    short.choose()
    with pytest.raises(RuntimeError, match="they are over"):
        short.choose()


def test_a_decimal_is_no_real_number_to_python_and_none_here() -> None:
    tenth: Any = decimal.Decimal("0.1")
    refuses(busy(), lambda bandit: bandit.learn("red", tenth), RewardError, "got Decimal('0.1')")
