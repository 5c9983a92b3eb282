"""Choices equal those of the naive reference at every step, ties, delays and changing arms included."""

import functools
import random
from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golden_traces import TRACES, GoldenTrace
from ocucb import UCB, Bandit, BayesUCB, Bernoulli, KLUCBSwitch, Noise, OCUCBn, Policy
from ocucb.noise import NOISES
from ocucb.policies import POLICIES
from samples import NOISE_SAMPLES, POLICY_SAMPLES, VARIANCE_SAMPLES, in_reference, suits
from side_by_side import SideBySide, Tape

KNOWN = [policy for policy in [*POLICY_SAMPLES, *VARIANCE_SAMPLES] if in_reference(policy)]
PAIRS = [(policy, noise) for policy in KNOWN for noise in NOISE_SAMPLES if suits(policy, noise)]


def tape_of(noise: Noise, seed: int, coarse: bool) -> Tape:
    """Rewards the family can give; coarse ones take few values, so that arms tie again and again."""

    def reward(arm: int, s: int) -> float:
        draw = random.Random(f"{seed}/{arm}/{s}").random()
        if noise.whole:
            return float(draw < 0.3 + 0.1 * (arm % 5))
        low, high = noise.support()
        value = round(draw) if coarse else draw + 0.1 * (arm % 5)
        return float(min(high, max(low, value)))

    return reward


@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: trace.name)
@pytest.mark.filterwarnings("ignore::ocucb.GuaranteeWarning")
def test_golden_traces(trace: GoldenTrace) -> None:
    policy = UCB(alpha="asymptotic") if trace.policy == "ucb-asymptotic" else POLICIES[trace.policy](**trace.parameters)
    bandit = Bandit(policy, len(trace.tape), NOISES[trace.noise](**trace.noise_parameters))
    taken = [0] * len(trace.tape)
    for expected in trace.choices:
        arm = bandit.choose()
        assert arm == expected
        bandit.learn(expected, trace.tape[expected][taken[expected]])
        taken[expected] += 1


@pytest.mark.parametrize(("policy", "noise"), PAIRS, ids=str)
def test_every_policy_under_every_noise(policy: Policy, noise: Noise) -> None:
    game = SideBySide(policy, noise, 5, tape_of(noise, 1, coarse=False))
    for _ in range(120):
        game.step()
    game.check_explanations()


EVENTS = ["step"] * 12 + [
    "burst",
    "add",
    "retire",
    "bring back",
    "forget",
    "elsewhere",
    "pulled elsewhere",
    "late",
    "among",
    "many",
]


@settings(max_examples=200, deadline=None)
@given(
    pair=st.sampled_from(PAIRS),
    arms=st.integers(1, 8),
    seed=st.integers(0, 2**32),
    coarse=st.booleans(),
    events=st.lists(st.sampled_from(EVENTS), min_size=20, max_size=60),
    data=st.data(),
)
def test_any_game(
    pair: tuple[Policy, Noise], arms: int, seed: int, coarse: bool, events: list[str], data: st.DataObject
) -> None:
    policy, noise = pair
    game = SideBySide(policy, noise, arms, tape_of(noise, seed, coarse))
    for event in events:
        playing = [arm for arm, gone in enumerate(game.retired) if not gone]
        gone = [arm for arm, gone in enumerate(game.retired) if gone]
        waiting = [arm for arm, count in enumerate(game.pending) if count]
        if event == "step":
            game.step()
        elif event == "burst":
            chosen = [game.choose() for _ in range(data.draw(st.integers(1, 12)))]
            for arm in data.draw(st.permutations(chosen))[: data.draw(st.integers(0, len(chosen)))]:
                game.learn(arm)
        elif event == "add":
            game.add()
        elif event == "retire" and len(playing) > 1:
            game.retire(data.draw(st.sampled_from(playing)))
        elif event == "bring back" and gone:
            game.bring_back(data.draw(st.sampled_from(gone)))
        elif event == "forget" and waiting:
            game.forget(data.draw(st.sampled_from(waiting)))
        elif event == "elsewhere":
            game.learn(data.draw(st.sampled_from(playing)))
        elif event == "pulled elsewhere":
            game.count_pull(data.draw(st.integers(0, len(game.rewards) - 1)))
        elif event == "late" and gone:
            game.learn(data.draw(st.sampled_from(gone)))
        elif event == "among":
            game.choose_among(data.draw(st.lists(st.sampled_from(playing), min_size=1)))
        elif event == "many":
            for arm in game.choose_many(data.draw(st.integers(1, len(playing)))):
                game.learn(arm)
    game.check_explanations()


@pytest.mark.parametrize("horizon", [300, 32 * 20, 3**5 * 12, 4**5 * 8])
@pytest.mark.parametrize("seed", range(4))
def test_kl_ucb_switch_while_arms_come_and_go(horizon: int, seed: int) -> None:
    """As many arms as move the switch: arms of 2 pulls at 20 of them, of 3 at 12, of 4 at 8."""
    draw, noise = random.Random(seed), Bernoulli()
    game = SideBySide(KLUCBSwitch(horizon), noise, 12, tape_of(noise, seed, coarse=False))
    while game.rounds < 290:
        playing = [arm for arm, gone in enumerate(game.retired) if not gone]
        gone = [arm for arm, gone in enumerate(game.retired) if gone]
        luck = draw.random()
        if luck < 0.4:
            game.step()
        elif luck < 0.6 and len(playing) > 5:
            game.retire(draw.choice(playing))
        elif luck < 0.8 and gone and len(playing) < 25:
            game.bring_back(draw.choice(gone))
        elif luck < 0.85 and len(game.retired) < 40:
            game.add()
        elif luck < 0.95:
            game.forget(game.choose())
        else:
            game.choose()
    game.check_explanations()


@settings(max_examples=60, deadline=None)
@given(
    arms=st.integers(1, 12),
    eta=st.floats(1.01, 4.0),
    rho=st.floats(0.5, 1.0),
    seed=st.integers(0, 2**32),
    coarse=st.booleans(),
)
def test_ocucb_n_over_its_parameters(arms: int, eta: float, rho: float, seed: int, coarse: bool) -> None:
    noise = NOISE_SAMPLES[0]
    game = SideBySide(OCUCBn(eta=eta, rho=rho), noise, arms, tape_of(noise, seed, coarse))
    for _ in range(150):
        game.step()
    game.check_explanations()


def test_arms_in_the_same_state_are_played_in_order() -> None:
    bandit = Bandit(OCUCBn(), arms=7)
    choices = []
    for _ in range(70):
        arm = bandit.choose()
        bandit.learn(arm, 0.5)
        choices.append(arm)
    assert choices == list(range(7)) * 10


def _always(reward: float, arm: int, s: int) -> float:
    return reward


def test_bayes_ucb_in_the_second_round_asks_for_a_median() -> None:
    """Where the tails on both sides are equal, and a sign could be lost."""
    for noise in NOISE_SAMPLES:
        for reward in (0.0, 1.0):
            game = SideBySide(BayesUCB(), noise, 1, functools.partial(_always, reward))
            game.step()
            game.check_explanations()


def test_the_comparison_can_fail() -> None:
    """A bandit with a slightly different eta is found out."""
    game = SideBySide(OCUCBn(eta=1.1), NOISE_SAMPLES[0], 5, tape_of(NOISE_SAMPLES[0], 3, coarse=False))
    game.bandit = Bandit(OCUCBn(eta=1.15), arms=5)
    with pytest.raises(AssertionError, match="chose"):
        deque((game.step() for _ in range(300)), maxlen=0)
