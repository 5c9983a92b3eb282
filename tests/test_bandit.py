"""The bandit as its users meet it: choices and rewards, looks inside, arms that come and go, logs and merges."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ocucb
from ocucb import (
    UCB,
    ArmError,
    ArmStatistics,
    Bandit,
    Bernoulli,
    Choice,
    Gaussian,
    Greedy,
    HorizonError,
    Noise,
    OCUCBn,
    Policy,
    ThompsonSampling,
    Uniform,
)
from samples import NOISE_SAMPLES, POLICY_SAMPLES, RANDOM, suits, with_horizon

Label = str | int

every_policy = pytest.mark.parametrize("policy", POLICY_SAMPLES, ids=str)
WITH_HORIZON = [policy for policy in POLICY_SAMPLES if getattr(policy, "horizon", None) is not None]


def draw(noise: Noise, *key: object) -> float:
    """Return a reward that the family can give, the same for the same key."""
    number = random.Random("/".join(map(str, key))).random()
    low, high = noise.support()
    return float(min(high, max(low, round(number) if noise.whole else number)))


def play(bandit: Bandit, rounds: int, seed: int = 0) -> list[Label]:
    """Choose and learn at once; the reward hangs on the round and the arm."""
    choices = []
    for _ in range(rounds):
        arm = bandit.choose()
        bandit.learn(arm, draw(bandit.noise, seed, bandit.rounds, arm))
        choices.append(arm)
    return choices


def twin(bandit: Bandit) -> Bandit:
    return Bandit.from_dict(bandit.to_dict(), bandit.policy)


def mixed(policy: Policy, noise: Noise | None = None) -> Bandit:
    """Return a bandit in the middle of things: seven arms, of them one retired, one waiting and one never pulled."""
    bandit = Bandit(policy, 5, noise, seed=5)
    play(bandit, 60)
    bandit.add_arm("waiting")
    assert bandit.choose() == "waiting"
    for _ in range(4):
        bandit.choose()
    bandit.retire_arm(1)
    bandit.add_arm("fresh")
    return bandit


# Labels


def test_the_first_lines_of_the_readme_work() -> None:
    bandit = Bandit(OCUCBn(), arms=["red", "green", "blue"])
    arm = bandit.choose()
    assert arm == "red"
    bandit.learn(arm, 0.7)
    assert list(bandit.arms) == ["red", "green", "blue"]
    assert bandit.pulls.tolist() == [1, 0, 0]
    assert bandit.noise == Gaussian(1.0)
    assert bandit.policy == OCUCBn()


def test_numbers_and_names_stand_side_by_side() -> None:
    cases: list[list[Label]] = [[0, 1, "a", 3], ["a", 1, 0], [1, 0, 2]]
    for labels in cases:
        bandit = Bandit(OCUCBn(), labels)
        for name in (len(labels) + 1, "late", len(labels) + 2):
            bandit.add_arm(name)
        every = [*labels, len(labels) + 1, "late", len(labels) + 2]
        played = []
        for _ in every:
            played.append(bandit.choose())
            bandit.learn(played[-1], float(len(played)))
        assert played == every
        assert bandit.means.tolist() == [float(place + 1) for place in range(len(every))]
        for unknown in (-1, len(labels) + 3, 2**70):
            with pytest.raises(ArmError, match="no arm"):
                bandit.learn(unknown, 0.0)


def test_numbers_that_are_added_in_turn_go_on_as_numbers() -> None:
    bandit = Bandit(OCUCBn(), 2)
    for label in (2, 3, "x", 5):
        bandit.add_arm(label)
    for place, arm in enumerate((0, 1, 2, 3, "x", 5)):
        assert bandit.choose() == arm
        bandit.learn(arm, float(place))
    assert bandit.choose(among=[3, 2]) == 3
    assert bandit.choose(among=[5, 0]) == 5
    assert bandit.arms == (0, 1, 2, 3, "x", 5)


@pytest.mark.parametrize("arms", [3, np.int64(3), np.uint8(3)], ids=repr)
def test_arms_by_number_are_labelled_from_0(arms: Any) -> None:
    bandit = Bandit(OCUCBn(), arms=arms)
    assert list(bandit.arms) == [0, 1, 2]
    assert all(type(label) is int for label in bandit.arms)
    assert play(bandit, 3) == [0, 1, 2]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["b", "a"], ("b", "a")),
        (("b", "a"), ("b", "a")),
        ((label for label in "ba"), ("b", "a")),
        ({"b": 1, "a": 2}, ("b", "a")),
        ({"b": 1, "a": 2}.keys(), ("b", "a")),
        (range(4, 7), (4, 5, 6)),
        ([-1, 0, 2**70], (-1, 0, 2**70)),
        ([1, "1", ""], (1, "1", "")),
        (np.array(["b", "a"]), ("b", "a")),
        (np.array([7, 5], dtype=np.int32), (7, 5)),
        (["only"], ("only",)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_labels_come_from_any_iterable(given: Iterable[Label], expected: tuple[Label, ...]) -> None:
    bandit = Bandit(OCUCBn(), arms=given)
    assert bandit.arms == expected
    assert [type(label) for label in bandit.arms] == [type(label) for label in expected]
    assert play(bandit, len(expected)) == list(expected)


def test_a_list_of_labels_changed_later_changes_nothing() -> None:
    labels: list[Label] = ["a", "b"]
    bandit = Bandit(OCUCBn(), labels)
    labels.append("c")
    bandit.add_arm("d")
    assert list(bandit.arms) == ["a", "b", "d"]
    assert labels == ["a", "b", "c"]


def test_labels_of_numpy_are_good_for_learning() -> None:
    bandit = Bandit(OCUCBn(), arms=2)
    name: Any = np.int64(1)
    bandit.learn(name, 1.0)
    named = Bandit(OCUCBn(), arms=["a", "b"])
    named.learn(np.str_("b"), 1.0)
    assert bandit.pulls.tolist() == named.pulls.tolist() == [0, 1]


def test_one_arm_is_a_game_too() -> None:
    bandit = Bandit(OCUCBn(), arms=["only"])
    assert play(bandit, 20) == ["only"] * 20
    assert bandit.effective_arms().tolist() == [1.0]


def test_a_seed_decides_every_random_choice_and_none_is_drawn_twice() -> None:
    games = [play(Bandit(Uniform(), 5, seed=seed), 100) for seed in (1, 1, 2)]
    assert games[0] == games[1] != games[2]
    assert len({Bandit(Uniform(), 5).to_dict()["seed"] for _ in range(5)}) == 5
    assert len({tuple(play(Bandit(Uniform(), 5), 100)) for _ in range(3)}) == 3


# Choosing, with rewards pending


@every_policy
def test_every_arm_is_played_once_first_in_order(policy: Policy) -> None:
    learning = Bandit(policy, ["c", "a", "b"], seed=1)
    assert play(learning, 3) == ["c", "a", "b"]
    waiting = Bandit(policy, ["c", "a", "b"], seed=1)
    assert [waiting.choose() for _ in range(3)] == ["c", "a", "b"]


@every_policy
def test_while_every_arm_waits_the_one_with_fewest_pulls_is_chosen(policy: Policy) -> None:
    bandit = Bandit(policy, 3, seed=1)
    assert [bandit.choose() for _ in range(8)] == [0, 1, 2, 0, 1, 2, 0, 1]
    bandit.forget(0)
    bandit.forget(0)
    assert bandit.pulls.tolist() == [1, 3, 2]
    assert [bandit.choose() for _ in range(5)] == [0, 0, 2, 0, 1]
    assert bandit.indices().tolist() == [-math.inf] * 3


@every_policy
def test_an_arm_waits_for_its_first_reward_while_another_has_one(policy: Policy) -> None:
    bandit = Bandit(policy, 3, seed=1)
    for _ in range(3):
        bandit.choose()
    bandit.learn(1, -100.0)
    assert [bandit.choose() for _ in range(20)] == [1] * 20
    indices = bandit.indices()
    assert indices[0] == indices[2] == -math.inf
    assert indices[1] > -math.inf
    bandit.learn(2, 1e6)
    seen = {bandit.choose() for _ in range(60)}
    assert 0 not in seen
    assert 2 in seen


def test_a_burst_of_choices_spreads_out() -> None:
    bandit = Bandit(OCUCBn(), arms=6)
    for arm in range(6):
        bandit.learn(arm, 0.5)
    burst = [bandit.choose() for _ in range(24)]
    assert Counter(burst) == dict.fromkeys(range(6), 4)
    assert bandit.pending.tolist() == [4] * 6
    assert bandit.means.tolist() == [0.5] * 6


@pytest.mark.parametrize("policy", [OCUCBn(), UCB(), ocucb.KLUCBPlus(), ocucb.AdaUCB()], ids=str)
def test_a_burst_leaves_the_best_arm_for_others(policy: Policy) -> None:
    bandit = Bandit(policy, arms=3)
    for arm, reward in enumerate([1.0, 0.9, 0.0]):
        for _ in range(10):
            bandit.learn(arm, reward)
    burst = Counter(bandit.choose() for _ in range(30))
    assert burst[0] > burst[1] > burst[2]
    assert burst[1] > 5


def test_without_confidence_intervals_nothing_spreads_a_burst() -> None:
    bandit = Bandit(Greedy(), arms=3)
    bandit.learn_many([0, 1, 2], [1.0, 2.0, 0.0])
    assert [bandit.choose() for _ in range(30)] == [1] * 30


def test_pulls_include_pending_ones_and_means_do_not() -> None:
    bandit = Bandit(OCUCBn(), arms=["a", "b"])
    assert [bandit.choose() for _ in range(2)] == ["a", "b"]
    bandit.learn("a", 3.0)
    assert bandit.choose() == "a"
    assert bandit.rounds == 3
    assert bandit.pulls.tolist() == [2, 1]
    assert bandit.pending.tolist() == [1, 1]
    assert bandit.means[0] == 3.0
    assert math.isnan(bandit.means[1])
    assert bandit.indices()[1] == -math.inf


@every_policy
def test_an_index_with_rewards_pending_is_that_of_more_pulls_of_the_same_mean(policy: Policy) -> None:
    """Pending pulls count as pulls, and an arm's mean is that of the rewards that came."""
    pending = Bandit(policy, 3, seed=3)
    learned = Bandit(policy, 3, seed=3)
    for bandit, learn in ((pending, False), (learned, True)):
        for arm, mean in enumerate([0.25, 0.5, 0.75]):
            bandit.learn(arm, mean)
        for _ in range(12):
            arm = int(bandit.choose())
            if learn:
                bandit.learn(arm, [0.25, 0.5, 0.75][arm])
    assert pending.pulls.tolist() == learned.pulls.tolist()
    assert pending.indices().tolist() == learned.indices().tolist()
    assert pending.pending.sum() == 12
    assert learned.pending.sum() == 0


def test_a_reward_settles_a_pending_choice_before_it_counts_as_a_pull() -> None:
    bandit = Bandit(OCUCBn(), arms=2)
    assert bandit.choose() == 0
    bandit.learn(0, 1.0)
    assert (bandit.rounds, bandit.pulls.tolist(), bandit.pending.tolist()) == (1, [1, 0], [0, 0])
    bandit.learn(0, 2.0)
    assert (bandit.rounds, bandit.pulls.tolist(), bandit.pending.tolist()) == (2, [2, 0], [0, 0])
    assert bandit.means[0] == 1.5


def test_rewards_may_come_in_any_order() -> None:
    bandits = [Bandit(OCUCBn(), arms=3) for _ in range(6)]
    for bandit, order in zip(bandits, itertools.permutations(range(3)), strict=True):
        for _ in range(3):
            bandit.choose()
        for arm in order:
            bandit.learn(arm, 0.25 * arm)
    assert len({tuple(play(bandit, 50)) for bandit in bandits}) == 1


@every_policy
def test_learning_an_arm_that_was_never_chosen_counts_as_its_first_pull(policy: Policy) -> None:
    bandit = Bandit(policy, 3, seed=2)
    bandit.learn(1, 0.5)
    assert bandit.rounds == 1
    assert bandit.pulls.tolist() == [0, 1, 0]
    assert bandit.pending.tolist() == [0, 0, 0]
    assert [bandit.choose() for _ in range(2)] == [0, 2]


# Forgetting


@every_policy
def test_a_forgotten_choice_was_never_made(policy: Policy) -> None:
    bandit = Bandit(policy, 4, seed=4)
    other = Bandit(policy, 4, seed=4)
    for step in range(60):
        burst = [bandit.choose() for _ in range(step % 4)]
        for arm in burst:
            bandit.forget(arm)
        assert bandit.to_dict() == other.to_dict()
        assert play(bandit, 1) == play(other, 1)
    assert bandit.to_dict() == other.to_dict()
    assert bandit.indices().tolist() == other.indices().tolist()


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_forgetting_back_to_no_pulls_makes_an_arm_new(order: tuple[int, ...]) -> None:
    bandit = Bandit(OCUCBn(), arms=3)
    start = bandit.to_dict()
    for _ in range(3):
        bandit.choose()
    for count, arm in enumerate(order, 1):
        bandit.forget(arm)
        forgotten = sorted(order[:count])
        assert bandit.peek() == forgotten[0]
        assert np.flatnonzero(np.isposinf(bandit.indices())).tolist() == forgotten
        assert np.flatnonzero(np.isnan(bandit.effective_arms())).tolist() == forgotten
    assert bandit.to_dict() == start
    assert [bandit.choose() for _ in range(3)] == [0, 1, 2]


@every_policy
def test_forgetting_the_first_pull_late_brings_the_arm_up_next(policy: Policy) -> None:
    bandit = Bandit(policy, 4, seed=4)
    for arm in range(4):
        assert bandit.choose() == arm
        if arm != 2:
            bandit.learn(arm, 0.5)
    play(bandit, 20)
    assert bandit.pulls[2] == 1
    bandit.forget(2)
    assert bandit.pulls[2] == 0
    assert bandit.choose() == 2
    bandit.learn(2, 0.5)
    assert math.isfinite(bandit.indices()[2])


def test_forget_takes_one_pending_choice_and_leaves_what_was_learned() -> None:
    bandit = Bandit(OCUCBn(), arms=["a"])
    for _ in range(3):
        bandit.choose()
    bandit.learn("a", 0.5)
    bandit.forget("a")
    assert (bandit.rounds, bandit.pulls.tolist(), bandit.pending.tolist()) == (2, [2], [1])
    bandit.forget("a")
    assert (bandit.rounds, bandit.pulls.tolist(), bandit.pending.tolist()) == (1, [1], [0])
    assert bandit.means.tolist() == [0.5]
    with pytest.raises(ArmError, match="no pending choice"):
        bandit.forget("a")


def test_a_random_choice_that_was_forgotten_is_drawn_again() -> None:
    bandit = Bandit(Uniform(), arms=50, seed=8)
    play(bandit, 60)
    arm = bandit.choose()
    for _ in range(5):
        bandit.forget(arm)
        assert bandit.choose() == arm


# Peeking


@every_policy
def test_peek_tells_the_choice_and_commits_to_nothing(policy: Policy) -> None:
    bandit, other = Bandit(policy, 5, seed=6), Bandit(policy, 5, seed=6)
    for step in range(80):
        before = bandit.to_dict()
        seen = [bandit.peek() for _ in range(3)]
        assert bandit.to_dict() == before
        chosen = bandit.choose()
        assert seen == [chosen] * 3
        assert other.choose() == chosen
        if step % 3:
            reward = draw(bandit.noise, step, chosen)
            bandit.learn(chosen, reward)
            other.learn(chosen, reward)


# Looking inside


def known(value: float) -> float | None:
    """Return a number of an array as a record of one arm has it."""
    return float(value) if math.isfinite(value) else None


@every_policy
def test_all_looks_inside_agree(policy: Policy) -> None:
    bandit = mixed(policy)
    pulls, pending, means = bandit.pulls, bandit.pending, bandit.means
    indices, effective = bandit.indices(), bandit.effective_arms()
    assert list(bandit.arms) == [0, 2, 3, 4, "waiting", "fresh"]
    assert all(len(column) == 6 for column in (pulls, pending, means, indices, effective))
    for place, arm in enumerate(bandit.arms):
        told = bandit.explain(arm)
        assert isinstance(told, ArmStatistics)
        assert (told.pulls, told.pending) == (pulls[place], pending[place])
        assert told.mean == known(means[place])
        assert told.index == known(indices[place])
        assert told.effective_arms == known(effective[place])
    every = bandit.statistics()
    assert every.arms == bandit.arms
    assert not every.retired.any()
    for got, want in zip(every[2:7], (pulls, pending, means, indices, effective), strict=True):
        np.testing.assert_array_equal(got, want)
    data = bandit.to_dict()
    assert bandit.rounds == sum(data["pulls"]) == 65
    assert bandit.rounds == pulls.sum() + data["pulls"][1]
    waiting, fresh = bandit.explain("waiting"), bandit.explain("fresh")
    assert indices[-2:].tolist() == [-math.inf, math.inf]
    assert (waiting.index, fresh.index) == (None, None)
    assert (waiting.mean, fresh.mean) == (None, None)
    assert waiting.effective_arms is not None
    assert fresh.effective_arms is None
    assert (waiting.pulls, fresh.pulls, fresh.pending) == (waiting.pending, 0, 0)


@every_policy
def test_a_decision_is_a_choice_with_its_reason(policy: Policy) -> None:
    bandit, twin = mixed(policy), mixed(policy)
    for _ in range(20):
        arm = twin.peek()
        why = twin.explain(arm)
        if policy.rule().rho is None:
            why = why._replace(effective_arms=None)
        decided = bandit.decide()
        assert decided == Choice(arm, why, decided.probability)
        assert twin.choose() == arm
        assert bandit.to_dict() == twin.to_dict()


@pytest.mark.parametrize("noise", [Gaussian(), Bernoulli()], ids=str)
@every_policy
def test_the_choice_is_the_first_arm_of_the_largest_index(policy: Policy, noise: Noise) -> None:
    bandit = Bandit(policy, 6, noise, seed=9)
    for step in range(100):
        best = int(np.argmax(bandit.indices()))
        arm = bandit.choose()
        assert arm == best
        if step % 5:
            bandit.learn(arm, draw(noise, step, arm))


def effective_by_definition(pulls: Iterable[int], rho: float) -> list[float]:
    """k = Σ_j min{1, (T_j/T)^ρ} of each arm; nan if it was never pulled."""
    counts = list(pulls)
    return [sum(min(1.0, (other / own) ** rho) for other in counts) if own else math.nan for own in counts]


@every_policy
def test_effective_arms_are_as_defined(policy: Policy) -> None:
    rho = policy.rule().rho
    bandit = mixed(policy)
    for _ in range(2):  # with an arm that was never pulled, then without
        expected = effective_by_definition(bandit.pulls.tolist(), 0.5 if rho is None else rho)
        np.testing.assert_allclose(bandit.effective_arms(), expected, rtol=1e-12)
        assert bandit.choose() == "fresh" or not np.isnan(expected).any()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    pulls=st.lists(st.integers(0, 60), min_size=1, max_size=40),
    rho=st.floats(0.5, 1.0),
    retired=st.sets(st.integers(0, 39)),
)
def test_effective_arms_are_as_defined_for_any_pulls(pulls: list[int], rho: float, retired: set[int]) -> None:
    bandit = Bandit(OCUCBn(rho=rho), arms=len(pulls))
    arms = [arm for arm, count in enumerate(pulls) for _ in range(count)]
    bandit.learn_many(arms, [0.0] * len(arms))
    gone = [arm for arm in sorted(retired) if arm < len(pulls)][: len(pulls) - 1]
    for arm in gone:
        bandit.retire_arm(arm)
    kept = [count for arm, count in enumerate(pulls) if arm not in gone]
    np.testing.assert_allclose(bandit.effective_arms(), effective_by_definition(kept, rho), rtol=1e-12)


def test_an_untouched_bandit_explains_itself() -> None:
    bandit = Bandit(OCUCBn(), arms=3)
    assert bandit.rounds == 0
    assert bandit.indices().tolist() == [math.inf] * 3
    assert np.isnan(bandit.means).all()
    assert np.isnan(bandit.effective_arms()).all()
    assert bandit.pulls.tolist() == bandit.pending.tolist() == [0, 0, 0]
    assert bandit.explain(1) == ArmStatistics(0, 0, None, None, None)
    assert bandit.decide() == Choice(0, ArmStatistics(0, 0, None, None, None), 1.0)


def test_an_explanation_is_of_plain_numbers_and_frozen() -> None:
    bandit = mixed(OCUCBn())
    told = bandit.explain(2)
    assert [type(value) for value in told] == [int, int, float, float, float]
    with pytest.raises(AttributeError):
        told.pulls = 7  # type: ignore[misc]
    assert type(bandit.rounds) is int


def test_arrays_given_out_are_the_users_own() -> None:
    bandit = mixed(OCUCBn())
    before, choice = bandit.to_dict(), bandit.peek()
    kinds: list[tuple[Callable[[], Any], str]] = [
        (lambda: bandit.pulls, "int64"),
        (lambda: bandit.pending, "int64"),
        (lambda: bandit.means, "float64"),
        (bandit.indices, "float64"),
        (bandit.effective_arms, "float64"),
    ]
    for look, kind in kinds:
        array = look()
        assert array.dtype == kind
        array[:] = 77
        assert not (look() == 77).any()
    bandit.to_dict()["labels"].append("stranger")
    bandit.to_dict()["pulls"][0] = 99
    assert bandit.to_dict() == before
    assert bandit.peek() == choice


def test_looking_changes_no_choice() -> None:
    watched, alone = Bandit(OCUCBn(), 6, seed=0), Bandit(OCUCBn(), 6, seed=0)
    for step in range(120):
        watched.indices()
        watched.effective_arms()
        for arm in watched.arms:
            watched.explain(arm)
        assert repr(watched)
        chosen = watched.choose()
        assert chosen == alone.choose()
        if step % 4:
            for bandit in (watched, alone):
                bandit.learn(chosen, draw(bandit.noise, step, chosen))


def test_repr_names_policy_arms_noise_and_rounds() -> None:
    bandit = Bandit(UCB(), arms=["a", "b", "c"], noise=Gaussian(0.5))
    assert repr(bandit) == f"Bandit({UCB()!r}, 3 arms, Gaussian(scale=0.5), 0 rounds)"
    play(bandit, 4)
    bandit.choose()
    bandit.retire_arm("b")
    assert repr(bandit) == f"Bandit({UCB()!r}, 2 arms, Gaussian(scale=0.5), 5 rounds)"


# Arms that come and go


@every_policy
def test_a_new_arm_is_played_next(policy: Policy) -> None:
    bandit = Bandit(policy, 3, seed=1)
    play(bandit, 40)
    bandit.add_arm("first")
    bandit.add_arm("second")
    assert list(bandit.arms) == [0, 1, 2, "first", "second"]
    assert bandit.peek() == "first"
    assert play(bandit, 2) == ["first", "second"]
    assert bandit.pulls[3:].tolist() == [1, 1]
    assert np.isfinite(bandit.indices()).all()


def test_a_new_arm_comes_before_the_first_round_too() -> None:
    bandit = Bandit(OCUCBn(), arms=["a"])
    bandit.add_arm("b")
    assert play(bandit, 2) == ["a", "b"]


def test_a_thousand_arms_added_one_by_one_disturb_nothing() -> None:
    bandit, whole = Bandit(OCUCBn(), arms=2), Bandit(OCUCBn(), arms=1002)
    play(bandit, 30)
    pulls, means = bandit.pulls, bandit.means
    for label in range(2, 1002):
        bandit.add_arm(label)
    assert bandit.arms == whole.arms
    assert bandit.pulls.tolist() == [*pulls.tolist(), *[0] * 1000]
    assert bandit.means[:2].tolist() == means.tolist()
    assert play(bandit, 1000) == list(range(2, 1002))
    assert bandit.rounds == 1030


@every_policy
def test_a_retired_arm_is_never_chosen(policy: Policy) -> None:
    bandit = Bandit(policy, 4, seed=3)
    for arm, reward in enumerate([0.0, 0.5, 9.0, 0.5]):
        bandit.learn(arm, reward)
    play(bandit, 20)
    best = int(np.argmax(bandit.pulls))
    rounds = bandit.rounds
    bandit.retire_arm(best)
    assert best not in bandit.arms
    assert best not in play(bandit, 150)
    assert bandit.rounds == rounds + 150


@every_policy
@pytest.mark.parametrize("noise", [Gaussian(), Bernoulli()], ids=str)
def test_a_retired_arm_still_learns_and_stays_retired(policy: Policy, noise: Noise) -> None:
    """As if it had been brought back for each reward and retired again, which is what the choices are held against."""
    bandit = mixed(policy, noise)
    other = twin(bandit)
    for step in range(60):
        act = ("learn", "count_pull", "learn", "count_pull", "forget")[step % 5]
        reward = draw(noise, step)
        arguments = (1, reward) if act == "learn" else (1,)
        getattr(bandit, act)(*arguments)
        other.add_arm(1)
        getattr(other, act)(*arguments)
        other.retire_arm(1)
        assert bandit.is_retired(1)
        assert bandit.to_dict() == other.to_dict()
        assert bandit.explain(1) == other.explain(1)._replace(index=None, effective_arms=None)
        chosen = bandit.choose()
        assert chosen == other.choose() != 1
        if step % 3:
            for each in (bandit, other):
                each.learn(chosen, draw(noise, step, chosen))
    bandit.learn_many([1, 0, 1], [1.0, 0.0, 1.0])
    assert bandit.is_retired(1)
    bandit.add_arm(1)
    np.testing.assert_array_equal(bandit.indices(), twin(bandit).indices())


def test_a_first_reward_that_comes_after_retirement() -> None:
    bandit = Bandit(OCUCBn(), arms=3)
    assert [bandit.choose() for _ in range(3)] == [0, 1, 2]
    bandit.retire_arm(1)
    bandit.learn(1, 9.0)
    assert bandit.explain(1) == ArmStatistics(1, 0, 9.0, None, None)
    assert [bandit.choose(), bandit.choose()] == [0, 2]  # both wait for their first reward
    bandit.add_arm(1)
    assert bandit.choose() == 1


def test_retired_arms_are_known_by_name() -> None:
    bandit = mixed(OCUCBn())
    bandit.retire_arm(0)
    assert bandit.retired_arms == (0, 1)
    assert [arm for arm in bandit.statistics(retired=True).arms if bandit.is_retired(arm)] == [0, 1]
    assert all(arm in bandit for arm in bandit.arms + bandit.retired_arms)
    strangers: list[object] = [5, "0", None, 1.5, [], {}]
    assert not any(arm in bandit for arm in strangers)
    with pytest.raises(ArmError, match=r"arm 1 is retired; add_arm\(1\) brings it back"):
        bandit.retire_arm(1)


@every_policy
def test_statistics_with_retired_arms(policy: Policy) -> None:
    bandit = mixed(policy)
    bandit.learn(1, 0.25)
    every = bandit.statistics(retired=True)
    assert list(every.arms) == [0, 1, 2, 3, 4, "waiting", "fresh"]
    assert every.retired.tolist() == [arm == 1 for arm in every.arms]
    for place, arm in enumerate(every.arms):
        told = bandit.explain(arm)
        assert (told.pulls, told.pending) == (every.pulls[place], every.pending[place])
        assert told.mean == known(every.means[place])
        assert told.index == known(every.indices[place])
        assert told.effective_arms == known(every.effective_arms[place])
    assert every.indices[1] == -math.inf
    assert math.isnan(every.effective_arms[1])
    for all_of_it, in_play in zip(every[2:7], bandit.statistics()[2:7], strict=True):
        np.testing.assert_array_equal(np.delete(all_of_it, 1), in_play)


@every_policy
def test_a_pull_that_was_decided_elsewhere(policy: Policy) -> None:
    """Counted, it is as if it had been chosen: by another bandit, if not by this one."""
    leader, follower = Bandit(policy, 4, seed=3), Bandit(policy, 4, seed=3)
    waiting: list[Label] = []
    for step in range(90):
        if step % 4:
            waiting.append(leader.choose())
        else:
            waiting.append(step % 3)
            leader.count_pull(step % 3)
        follower.count_pull(waiting[-1])
        assert follower.to_dict() == leader.to_dict()
        assert follower.peek() == leader.peek()
        while len(waiting) > 3:
            arm = waiting.pop(0)
            for bandit in (leader, follower):
                bandit.learn(arm, draw(bandit.noise, step, arm))
    assert leader.rounds == 90
    assert leader.pending.sum() == 3


@every_policy
def test_an_arm_brought_back_keeps_its_statistics_and_its_place(policy: Policy) -> None:
    bandit = Bandit(policy, ["a", "b", "c", "d"], seed=3)
    play(bandit, 50)
    before, indices = bandit.to_dict(), bandit.indices()
    told = {arm: bandit.explain(arm) for arm in bandit.arms}
    for label in ("b", "a"):
        bandit.retire_arm(label)
    assert list(bandit.arms) == ["c", "d"]
    for label in ("a", "b"):
        bandit.add_arm(label)
    assert bandit.to_dict() == before
    assert list(bandit.arms) == ["a", "b", "c", "d"]
    assert bandit.indices().tolist() == indices.tolist()
    assert {arm: bandit.explain(arm) for arm in bandit.arms} == told
    assert play(bandit, 50) == play(Bandit.from_dict(before), 50)


def test_labels_and_arrays_keep_one_order_when_arms_go_and_come_back() -> None:
    bandit = Bandit(OCUCBn(), arms=["a", "b", "c"])
    for count, label in enumerate(["a", "b", "c"], 1):
        bandit.learn_many([label] * count, [float(count)] * count)
    bandit.retire_arm("a")
    bandit.add_arm("a")
    assert dict(zip(bandit.arms, bandit.pulls.tolist(), strict=True)) == {"a": 1, "b": 2, "c": 3}
    assert dict(zip(bandit.arms, bandit.means.tolist(), strict=True)) == {"a": 1.0, "b": 2.0, "c": 3.0}
    best = bandit.arms[int(np.argmax(bandit.indices()))]
    assert bandit.peek() == best


def test_an_arm_retired_before_its_first_pull_is_next_when_it_comes_back() -> None:
    bandit = Bandit(OCUCBn(), arms=3)
    bandit.retire_arm(1)
    assert play(bandit, 12).count(1) == 0
    bandit.add_arm(1)
    assert bandit.choose() == 1


def test_a_pending_choice_outlives_retirement() -> None:
    bandit = Bandit(OCUCBn(), arms=3)
    play(bandit, 30)
    arm = bandit.choose()
    pending, rounds = bandit.explain(arm).pending, bandit.rounds
    bandit.retire_arm(arm)
    assert bandit.rounds == rounds
    assert bandit.pending.tolist() == [0, 0]
    bandit.add_arm(arm)
    assert bandit.explain(arm).pending == pending == 1
    bandit.learn(arm, 0.5)
    assert (bandit.rounds, bandit.pending.tolist()) == (rounds, [0, 0, 0])


def test_the_last_arm_cannot_be_retired() -> None:
    bandit = Bandit(OCUCBn(), arms=["a", "b", "c"])
    bandit.retire_arm("a")
    bandit.retire_arm("c")
    before = bandit.to_dict()
    with pytest.raises(ArmError, match="arm 'b' is the last one"):
        bandit.retire_arm("b")
    assert bandit.to_dict() == before
    assert play(bandit, 5) == ["b"] * 5
    bandit.add_arm("a")
    bandit.retire_arm("b")
    assert list(bandit.arms) == ["a"]


@every_policy
def test_when_the_arms_with_rewards_retire_the_waiting_ones_are_played(policy: Policy) -> None:
    bandit = Bandit(policy, 3, seed=1)
    for _ in range(3):
        bandit.choose()
    bandit.learn(0, 0.5)
    bandit.retire_arm(0)
    assert [bandit.choose() for _ in range(4)] == [1, 2, 1, 2]
    bandit.add_arm(0)
    assert bandit.choose() == 0


def test_two_arms_alike_but_for_time_retired_are_told_apart_by_time_passed_only() -> None:
    """Rounds played while an arm is away count as time for it too."""
    bandit = Bandit(UCB(), arms=2)
    bandit.learn_many([0, 1], [0.5, 0.5])
    bandit.retire_arm(1)
    for _ in range(98):
        bandit.learn(0, 0.5)
    bandit.add_arm(1)
    scale = math.sqrt(2 * math.log(101))
    assert bandit.indices().tolist() == pytest.approx([0.5 + scale / math.sqrt(99), 0.5 + scale])


# A model of the statistics: plain dictionaries


class Model:
    """What the bandit's statistics must be, in the slowest and plainest way."""

    def __init__(self, arms: int) -> None:
        self.rewards: dict[int, list[float]] = {arm: [] for arm in range(arms)}
        self.pending: dict[int, int] = dict.fromkeys(range(arms), 0)
        self.retired: set[int] = set()

    def playing(self) -> list[int]:
        return [arm for arm in self.rewards if arm not in self.retired]

    def pulls(self, arm: int) -> int:
        return len(self.rewards[arm]) + self.pending[arm]

    def learn(self, arm: int, reward: float) -> None:
        self.pending[arm] = max(0, self.pending[arm] - 1)
        self.rewards[arm].append(reward)

    def check(self, bandit: Bandit) -> None:
        arms = self.playing()
        assert bandit.arms == tuple(arms)
        assert bandit.pulls.tolist() == [self.pulls(arm) for arm in arms]
        assert bandit.pending.tolist() == [self.pending[arm] for arm in arms]
        assert bandit.rounds == sum(map(self.pulls, self.rewards))
        means = [sum(got) / len(got) if got else math.nan for got in (self.rewards[arm] for arm in arms)]
        np.testing.assert_array_equal(bandit.means, means)
        for arm, index in zip(arms, bandit.indices().tolist(), strict=True):
            if not self.pulls(arm):
                assert index == math.inf
            elif not self.rewards[arm]:
                assert index == -math.inf
            else:
                assert math.isfinite(index)


EVENTS = ["choose", "choose", "learn", "learn", "elsewhere", "many", "forget", "add", "retire", "bring back", "peek"]


@settings(max_examples=120, deadline=None, derandomize=True)
@given(
    policy=st.sampled_from(POLICY_SAMPLES),
    arms=st.integers(1, 5),
    events=st.lists(st.sampled_from(EVENTS), max_size=50),
    luck=st.randoms(use_true_random=False),
)
def test_any_history_keeps_the_books(policy: Policy, arms: int, events: list[str], luck: random.Random) -> None:
    bandit, model = Bandit(policy, arms, seed=1), Model(arms)
    for event in events:
        playing = model.playing()
        waiting = [arm for arm in playing if model.pending[arm]]
        reward = luck.choice([-1.0, 0.0, 0.3, 1e3])
        if event == "choose":
            arm = int(bandit.choose())
            assert arm in playing
            unpulled = [other for other in playing if not model.pulls(other)]
            assert arm == (unpulled or [arm])[0]
            model.pending[arm] += 1
        elif event == "elsewhere" or (event == "learn" and waiting):
            arm = luck.choice(playing if event == "elsewhere" else waiting)
            bandit.learn(arm, reward)
            model.learn(arm, reward)
        elif event == "many":
            log = luck.choices(playing, k=luck.randrange(6))
            bandit.learn_many(log, [reward] * len(log))
            for arm in log:
                model.learn(arm, reward)
        elif event == "forget" and waiting:
            arm = luck.choice(waiting)
            bandit.forget(arm)
            model.pending[arm] -= 1
        elif event == "add":
            arm = len(model.rewards)
            bandit.add_arm(arm)
            model.rewards[arm], model.pending[arm] = [], 0
        elif event == "retire" and len(playing) > 1:
            arm = luck.choice(playing)
            bandit.retire_arm(arm)
            model.retired.add(arm)
        elif event == "bring back" and model.retired:
            arm = luck.choice(sorted(model.retired))
            bandit.add_arm(arm)
            model.retired.remove(arm)
        elif event == "peek":
            assert bandit.peek() in playing
        model.check(bandit)


# Logs


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    policy=st.sampled_from(POLICY_SAMPLES),
    noise=st.sampled_from(NOISE_SAMPLES),
    choices=st.integers(0, 12),
    log=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 10**6)), max_size=40),
)
def test_learn_many_is_one_learn_after_another(
    policy: Policy, noise: Noise, choices: int, log: list[tuple[int, int]]
) -> None:
    assume(suits(policy, noise))
    at_once, one_by_one = (Bandit(policy, 4, noise, seed=1) for _ in range(2))
    for bandit in (at_once, one_by_one):
        for _ in range(choices):
            bandit.choose()
    arms, rewards = [arm for arm, _ in log], [draw(noise, key) for _, key in log]
    at_once.learn_many(arms, rewards)
    for arm, reward in zip(arms, rewards, strict=True):
        one_by_one.learn(arm, reward)
    assert at_once.to_dict() == one_by_one.to_dict()
    assert at_once.means.tolist() == pytest.approx(one_by_one.means.tolist(), rel=0, abs=0, nan_ok=True)
    assert play(at_once, 20) == play(one_by_one, 20)


def test_a_log_may_be_of_arrays_generators_or_nothing() -> None:
    lists, arrays, streams = (Bandit(OCUCBn(), arms=3) for _ in range(3))
    lists.learn_many([2, 0, 2], [0.25, 0.5, 1.0])
    arms: Any = np.array([2, 0, 2], dtype=np.int32)
    arrays.learn_many(arms, np.array([0.25, 0.5, 1.0], dtype=np.float32))
    streams.learn_many((arm for arm in (2, 0, 2)), (reward for reward in (0.25, 0.5, 1.0)))
    same = [{**bandit.to_dict(), "seed": 0} for bandit in (lists, arrays, streams)]
    assert same[0] == same[1] == same[2]
    assert same[0]["pulls"] == [1, 0, 2]
    lists.learn_many([], [])
    assert {**lists.to_dict(), "seed": 0} == same[0]


def test_a_log_settles_pending_choices_first() -> None:
    bandit = Bandit(OCUCBn(), arms=["a", "b"])
    for _ in range(4):
        bandit.choose()
    assert bandit.pending.tolist() == [2, 2]
    bandit.learn_many(["a", "a", "a", "b"], [1.0, 1.0, 4.0, 0.0])
    assert (bandit.rounds, bandit.pulls.tolist(), bandit.pending.tolist()) == (5, [3, 2], [0, 1])
    assert bandit.means.tolist() == [2.0, 0.0]


def test_a_warm_start_replaces_the_first_look_at_each_arm() -> None:
    bandit = Bandit(OCUCBn(), arms=["a", "b", "c"])
    bandit.learn_many(["a", "b"] * 50, [0.0, 1.0] * 50)
    assert play(bandit, 2)[0] == "c"
    assert bandit.rounds == 102


# Merging


def dyadic(seed: int, arms: int, size: int) -> list[tuple[int, float]]:
    """Return a log whose sums are exact in any order."""
    luck = random.Random(seed)
    return [(luck.randrange(arms), luck.randrange(-64, 64) / 16) for _ in range(size)]


@every_policy
def test_a_merge_is_both_logs_learned_by_one(policy: Policy) -> None:
    logs = [dyadic(seed, 4, 60) for seed in (1, 2)]
    mine, theirs, both = (Bandit(policy, 4, seed=seed) for seed in (1, 2, 1))
    for bandit, log in ((mine, logs[0]), (theirs, logs[1]), (both, logs[0] + logs[1])):
        bandit.learn_many(*zip(*log, strict=True))
    untouched = theirs.to_dict()
    mine.merge(theirs)
    assert theirs.to_dict() == untouched
    assert mine.to_dict() == both.to_dict()
    assert mine.indices().tolist() == both.indices().tolist()
    assert play(mine, 60) == play(both, 60)
    assert theirs.to_dict() == untouched


def test_a_merge_brings_the_arms_of_both_together() -> None:
    mine, theirs = Bandit(OCUCBn(), ["a", "b"]), Bandit(UCB(), ["c", "b", "d"])
    mine.learn_many(["a", "a", "b"], [1.0, 3.0, 5.0])
    theirs.learn_many(["c", "b", "b"], [2.0, 6.0, 7.0])
    mine.merge(theirs)
    assert mine.policy == OCUCBn()
    assert list(mine.arms) == ["a", "b", "c", "d"]
    assert mine.pulls.tolist() == [2, 3, 1, 0]
    np.testing.assert_array_equal(mine.means, [2.0, 6.0, 2.0, math.nan])
    assert mine.rounds == 6
    assert mine.choose() == "d"
    assert list(theirs.arms) == ["c", "b", "d"]
    theirs.merge(mine)
    assert list(theirs.arms) == ["c", "b", "d", "a"]
    assert theirs.pulls.tolist() == [2, 5, 0, 2]  # the choice of "d" is still pending, and mine


def test_labels_that_look_alike_are_not_merged() -> None:
    mine, theirs = Bandit(OCUCBn(), [1]), Bandit(OCUCBn(), ["1"])
    mine.learn(1, 1.0)
    theirs.learn("1", 3.0)
    mine.merge(theirs)
    assert list(mine.arms) == [1, "1"]
    assert mine.means.tolist() == [1.0, 3.0]


def test_a_merge_with_retired_arms_changes_who_plays_only_by_new_arms() -> None:
    mine, theirs = Bandit(OCUCBn(), ["a", "b", "c"]), Bandit(OCUCBn(), ["a", "b", "x", "y"])
    for bandit in (mine, theirs):
        bandit.learn_many(bandit.arms, [1.0] * len(bandit.arms))
    mine.retire_arm("a")
    theirs.retire_arm("b")
    theirs.retire_arm("x")
    mine.merge(theirs)
    assert list(mine.arms) == ["b", "c", "y"]
    assert mine.pulls.tolist() == [2, 1, 1]
    assert mine.rounds == 7
    assert mine.retired_arms == ("a", "x")
    for label in ("a", "x"):
        mine.add_arm(label)
    assert [mine.explain(label).pulls for label in ("a", "x")] == [2, 1]
    assert list(theirs.arms) == ["a", "y"]


def test_a_merge_leaves_pending_choices_where_they_are() -> None:
    """Their rewards will come to the bandit that made them; if they come here after all, they count as pulls."""
    mine, theirs = Bandit(OCUCBn(), ["a", "b"]), Bandit(OCUCBn(), ["a", "b"])
    mine.choose()
    for _ in range(3):
        theirs.choose()
    theirs.learn("a", 0.5)
    mine.merge(theirs)
    assert mine.rounds == 2
    assert mine.pulls.tolist() == [2, 0]
    assert mine.pending.tolist() == [1, 0]
    assert theirs.pending.tolist() == [1, 1]


def test_a_merge_of_nothing_changes_nothing() -> None:
    mine, theirs = mixed(OCUCBn()), Bandit(OCUCBn(), 5)
    before = mine.to_dict()
    mine.merge(theirs)
    assert mine.to_dict() == before
    assert play(mine, 30) == play(Bandit.from_dict(before), 30)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seeds=st.lists(st.integers(0, 10**6), min_size=2, max_size=5), luck=st.randoms(use_true_random=False))
def test_merges_in_any_order_end_alike(seeds: list[int], luck: random.Random) -> None:
    def worker(seed: int) -> Bandit:
        bandit = Bandit(OCUCBn(), arms=6, seed=0)
        bandit.learn_many(*zip(*dyadic(seed, 6, 20), strict=True))
        return bandit

    ends = []
    for _ in range(2):
        luck.shuffle(seeds)
        first, *others = map(worker, seeds)
        for other in others:
            first.merge(other)
        ends.append(first.to_dict())
    assert ends[0] == ends[1]


# Horizons


@pytest.mark.parametrize("policy", WITH_HORIZON, ids=str)
def test_past_its_horizon_a_policy_refuses_to_choose_and_still_learns(policy: Policy) -> None:
    bandit = Bandit(with_horizon(policy, 12), arms=3, seed=1)
    play(bandit, 11)
    last = bandit.choose()
    before = bandit.to_dict()
    for ask in (bandit.choose, bandit.peek):
        with pytest.raises(HorizonError, match="made for 12 rounds and they are over; build it with a larger horizon"):
            ask()
    assert bandit.to_dict() == before
    assert not np.isnan(bandit.indices()).any()
    bandit.learn(last, 0.5)
    bandit.learn_many([0, 1, 2], [0.5, 0.25, 0.0])
    assert bandit.rounds == 15
    assert bandit.pending.tolist() == [0, 0, 0]
    assert not np.isnan(bandit.indices()).any()
    assert bandit.explain(last).pulls == bandit.pulls[int(last)]
    bandit.add_arm("new")
    with pytest.raises(HorizonError):
        bandit.choose()


@pytest.mark.parametrize("policy", WITH_HORIZON, ids=str)
def test_a_forgotten_choice_gives_its_round_back(policy: Policy) -> None:
    bandit = Bandit(with_horizon(policy, 12), arms=3, seed=1)
    play(bandit, 11)
    last = bandit.choose()
    bandit.forget(last)
    assert bandit.choose() == last
    with pytest.raises(HorizonError):
        bandit.choose()


def test_pulls_made_elsewhere_use_up_the_horizon() -> None:
    bandit = Bandit(ocucb.MOSS(10), arms=2)
    bandit.learn_many([0, 1] * 5, [0.5] * 10)
    with pytest.raises(HorizonError):
        bandit.peek()
    other = Bandit(ocucb.MOSS(10), arms=2)
    other.merge(bandit)
    with pytest.raises(HorizonError):
        other.choose()


def test_an_anytime_policy_has_no_last_round() -> None:
    bandit = Bandit(OCUCBn(), arms=3)
    bandit.learn_many([0, 1, 2] * 100_000, [0.5] * 300_000)
    assert len(play(bandit, 10)) == 10


# The samples cover what the tests above rely on


def test_random_policies_are_among_the_samples() -> None:
    assert {policy.name for policy in POLICY_SAMPLES} >= set(RANDOM)
    assert len(WITH_HORIZON) >= 8
    thompson = Bandit(ThompsonSampling(), 3, seed=1)
    play(thompson, 10)
    first = thompson.indices().tolist()
    thompson.learn(0, 0.5)
    assert thompson.indices()[1] != first[1]
    assert twin(thompson).indices().tolist() == thompson.indices().tolist()
