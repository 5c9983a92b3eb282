"""The oracle itself: against the golden traces, against numbers worked out by hand, and against identities."""

import itertools
import math
import random
from typing import Any

import pytest

import reference
from golden_traces import FOLDER, TRACES, GoldenTrace
from reference import Arm

CLOSE = 1e-13

# Three arms, T = 4, 1, 9, means 1/2, 1/4, 1, round 15 (14 pulls done): log t = 2.70805, t log t = 40.62075.
# T_i k_i at rho = 1/2: 2 + 4 + 4 = 10 of arm 0, 1 + 1 + 1 = 3 of arm 1, 6 + 3 + 9 = 18 of arm 2.
# At rho = 1: 9, 3, 14. At rho = 0: 12, 3, 27.
ARMS = [Arm(4, 0.5), Arm(1, 0.25), Arm(9, 1.0)]
ROUND = 15
UNIT: dict[str, float] = {"scale": 1.0}

# (policy, parameters, scale, indices of the three arms)
GAUSSIAN_BY_HAND: list[tuple[str, dict[str, Any], float, list[float]]] = [
    # levels 2 log 4.062075, 2 log 13.54025, 2 log e (2.256709 lies below e)
    ("ocucb-n", {"eta": 2, "rho": 0.5}, 1, [1.683931586308753, 3.478415589967001, 1 + 2 / 3]),
    ("ocucb-n", {"eta": 2, "rho": 0.5}, 2, [2.867863172617505, 6.706831179934003, 1 + 4 / 3]),
    ("ocucb-n", {"eta": 2, "rho": 1}, 1, [1.727621487559331, 3.478415589967001, 1.688063874437491]),
    ("ocucb-n", {"eta": 2, "rho": 0}, 1, [1.604251984044224, 3.478415589967001, 1 + 2 / 3]),
    # t / (T k) = 1.5, 5, 0.8333: levels 2, 2 log 5, 2
    ("ocucb-n", {"eta": 2, "rho": 0.5, "shrink": "t"}, 1, [1.5, 2.787272482359039, 1 + 2 / 3]),
    # 5 log 5 = 8.047190
    ("ocucb-n", {"eta": 2, "rho": 0.5, "shrink": "log-plus"}, 1, [1.5, 3.138129434607259, 1 + 2 / 3]),
    # levels 2 log 1.5, 2 log 5, 0
    ("ocucb-n", {"eta": 2, "rho": 0.5, "shrink": "all"}, 1, [1.136761421655053, 2.787272482359039, 1.0]),
    # 15 < e^e = 15.154: eta_t = 1 + 3/e = 2.103638
    ("ocucb-n", {"eta": "annealed", "rho": 0.5}, 1, [1.714219341484277, 3.561006055602459, 1.683721568332595]),
    # levels 1.1 log 3.75, 1.1 log 15, 1.1 log 1.6667
    ("kl-ucb+", {"eta": 1.1}, 1, [1.352622842756559, 2.690842158441398, 1.353367352495196]),
    # level 2.70805 + 3 * 0.996229 = 5.696736
    ("kl-ucb", {"c": 3}, 1, [2.187711006060634, 3.625422012121268, 2.125140670707089]),
    ("kl-ucb", {"c": 0}, 1, [1.663625842163668, 2.577251684327336, 1.775750561442445]),
    ("ucb", {"alpha": 2}, 1, [1.663625842163668, 2.577251684327336, 1.775750561442445]),
    ("ucb", {"alpha": 4}, 1, [2.145615447515673, 3.541230895031347, 2.097076965010449]),
    # level log(1 + 15 * 7.333536) = 4.709649
    ("ucb-asymptotic", {}, 1, [2.034528848488775, 3.31905769697755, 2.02301923232585]),
    # level 1.5 log(200/15) = 3.885400
    ("ocucb", {"horizon": 100, "alpha": 3, "psi": 2}, 1, [1.893807868425333, 3.037615736850666, 1.929205245616889]),
    # 2 n = 14 < t: the level would be negative
    ("ocucb", {"horizon": 7, "alpha": 3, "psi": 2}, 1, [0.5, 0.25, 1.0]),
    # n/(K T) = 8.3333, 33.333, 3.7037
    ("moss", {"horizon": 100, "c": 4}, 1, [1.956112473746479, 3.995161089897192, 1.762840691096629]),
    ("kl-ucb-h+", {"horizon": 100}, 1, [1.76863624117952, 3.284854258770293, 1.731504630296255]),
    ("kl-ucb++", {"horizon": 100}, 1, [1.882786369870944, 3.741136561660007, 1.716145114550414]),
    # MOSS with c = 2
    ("kl-ucb-switch", {"horizon": 100}, 1, [1.529627004356454, 2.898228803302306, 1.539409825639459]),
    # x = 10, 33.333, 5.5556 with n = 100, and 1.5, 5, 0.8333 with t for n
    ("ada-ucb", {"horizon": 100}, 1, [1.726727490760878, 3.156311807758138, 1.743441856130106]),
    ("ada-ucb", {"horizon": None}, 1, [1.400430665128544, 2.441322087607581, 1.554954899188225]),
    # m = 86: 86 / (4 log^{3/2} 86) = 2.286980 against 3.068648, 10.18700, 1.590078
    (
        "gittins",
        {"horizon": 100, "approximate": True},
        1,
        [1.143129895674742, 1.536259791349484, 1.321034066495487],
    ),
    # m = 1: greedy
    ("gittins", {"horizon": 15, "approximate": True}, 1, [0.5, 0.25, 1.0]),
    # the normal quantile at 14/15 is 1.501085946
    ("bayes-ucb", {"horizon": None, "c": 0}, 1, [1.250542973022012, 1.751085946044025, 1.500361982014675]),
    # 4/8 + log 4, 0.5625/2, log 9
    ("imed", {}, 1, [-1.886294361119891, -0.28125, -2.197224577336219]),
    ("greedy", {}, 1, [0.5, 0.25, 1.0]),
]


def choices_and_margins(trace: GoldenTrace) -> tuple[list[int], list[float]]:
    """Play a trace, and the gap between the best and the second index in every round after the first K."""
    arms = [Arm(0, None) for _ in trace.tape]
    choices, margins = [], []
    for t in range(1, trace.rounds + 1):
        i, values = reference.choose(trace.policy, trace.parameters, trace.noise, trace.noise_parameters, arms, t)
        choices.append(i)
        if t > len(arms):
            best, second = sorted(values, reverse=True)[:2]
            margins.append(best - second)
        arms[i].pulls += 1
        arms[i].mean = reference.added(trace.tape[i][: arms[i].pulls]) / arms[i].pulls
    return choices, margins


def test_every_golden_file_is_read() -> None:
    assert len(TRACES) == len(list(FOLDER.glob("*.json"))) == 19


@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: trace.name)
def test_golden_trace(trace: GoldenTrace) -> None:
    played = reference.play(
        trace.policy, trace.parameters, trace.noise, trace.noise_parameters, trace.tape, trace.rounds
    )
    choices, margins = choices_and_margins(trace)
    assert played == choices == trace.choices
    assert min(gap for gap in margins if gap > 0) == pytest.approx(trace.smallest_margin, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize(("policy", "parameters", "scale", "expected"), GAUSSIAN_BY_HAND)
def test_gaussian_by_hand(policy: str, parameters: dict[str, Any], scale: float, expected: list[float]) -> None:
    chosen, values = reference.choose(policy, parameters, "gaussian", {"scale": scale}, ARMS, ROUND)
    assert values == pytest.approx(expected, rel=CLOSE, abs=0)
    assert chosen == expected.index(max(expected))


@pytest.mark.parametrize(
    ("t", "expected"),
    [
        (1, 1 + 3 / math.e),
        (15, 1 + 3 / math.e),
        (16, 2.103425220291327),
        (100, 1.994868526545167),
        (10**6, 1.570183469541553),
    ],
)
def test_annealed_eta(t: int, expected: float) -> None:
    assert reference.annealed_eta(t) == pytest.approx(expected, rel=CLOSE, abs=0)


@pytest.mark.parametrize(
    ("noise", "noise_parameters", "mean", "pulls", "level", "expected"),
    [
        ("bernoulli", {}, 0.25, 3, 3 * 0.130812035941137, 0.5),  # log(1/2)/4 + 3 log(3/2)/4
        ("bernoulli", {}, 0.5, 4, math.log(15), 0.9306393822715355),  # (1 + sqrt(1 - e^(-2L/T)))/2
        ("bernoulli", {}, 0.5, 1, 1e-12, 0.5 + math.sqrt(1e-12 / 2)),  # flat enough to be Gaussian
        ("bernoulli", {}, 0.0, 1, math.log(15), 14 / 15),  # 1 - e^(-L/T)
        ("bernoulli", {}, 1.0, 7, 5.0, 1.0),
        ("bernoulli", {}, 0.3, 7, 0.0, 0.3),
        ("bernoulli", {}, 0.1, 1, 100.0, 1.0),  # 1 - q is about e^(-111)
        ("bounded", {"low": -2.0, "high": 6.0}, 0.0, 3, 3 * 0.130812035941137, 2.0),
        ("bounded", {"low": -2.0, "high": 6.0}, 6.0, 3, 1.0, 6.0),
        ("bounded", {"low": 0.1, "high": 0.7}, 0.7, 3, 1.0, 0.7),
        ("poisson", {}, 1.0, 5, 5 * (1 - math.log(2)), 2.0),
        ("poisson", {}, 0.0, 5, 2.0, 0.4),
        ("poisson", {}, 3.0, 5, 0.0, 3.0),
        ("exponential", {}, 1.0, 5, 5 * (math.log(2) - 1 / 2), 2.0),
        ("exponential", {}, 10.0, 5, 5 * (math.log(2) - 1 / 2), 20.0),
        ("exponential", {}, 0.0, 5, 2.0, 0.0),
        ("exponential", {}, 3.0, 5, 0.0, 3.0),
        ("gaussian", {"scale": 3.0}, 1.0, 2, 4.0, 7.0),
    ],
)
def test_upper_inverse_by_hand(
    noise: str, noise_parameters: dict[str, float], mean: float, pulls: int, level: float, expected: float
) -> None:
    found = reference.upper_inverse(noise, noise_parameters, mean, pulls, level)
    assert found == pytest.approx(expected, rel=1e-14, abs=0)


@pytest.mark.parametrize(
    ("noise", "noise_parameters", "mean", "pulls", "t", "parameters", "expected"),
    [
        ("gaussian", {"scale": 3.0}, 1.0, 9, 40, {}, 1 + 1.959963984540054),
        # t (log n)^c = 10 * 1.945910² = 37.865663
        ("gaussian", UNIT, 0.0, 1, 10, {"horizon": 7, "c": 2}, 1.936403499193983),
        ("gaussian", UNIT, 0.0, 1, 10, {"horizon": 7, "c": 0}, 1.2815515655446004),
        ("bernoulli", {}, 0.0, 3, 16, {}, 0.5),  # Beta(1, 4): 1 - 16^(-1/4)
        ("bernoulli", {}, 1.0, 3, 16, {}, 0.9839948356327152),  # Beta(4, 1): (15/16)^(1/4)
        ("bounded", {"low": -1.0, "high": 3.0}, -1.0, 3, 16, {}, 1.0),
        ("poisson", {}, 0.0, 3, 16, {}, math.log(16) / 3),  # Gamma(1, rate 3)
        ("exponential", {}, 3.0, 1, 20, {}, 8.442107289846388),  # (1 + x) e^(-x) = 19/20 at x = 0.35536151
        ("exponential", {}, 0.0, 4, 20, {}, 0.0),
    ],
)
def test_posterior_quantile_by_hand(
    noise: str,
    noise_parameters: dict[str, float],
    mean: float,
    pulls: int,
    t: int,
    parameters: dict[str, Any],
    expected: float,
) -> None:
    (value,) = reference.indices("bayes-ucb", parameters, noise, noise_parameters, [Arm(pulls, mean)], t)
    assert value == pytest.approx(expected, rel=CLOSE, abs=0)


@pytest.mark.parametrize(
    ("noise", "noise_parameters", "pulls", "expected"),
    [
        # n = 729, K = 3: (n/K)^(1/5) = 3, and 81 = n/(K T) at T = 3
        ("bernoulli", {}, 3, (1 + math.sqrt(1 - math.exp(-2 * math.log(81) / 3))) / 2),
        ("bernoulli", {}, 4, 0.5 + math.sqrt(math.log(60.75) / 8)),
        ("bounded", {"low": 0.0, "high": 1.0}, 4, 0.5 + math.sqrt(math.log(60.75) / 8)),
        ("bounded", {"low": -1.5, "high": 2.5}, 4, 0.5 + 4 * math.sqrt(math.log(60.75) / 8)),
        ("gaussian", UNIT, 4, 0.5 + math.sqrt(2 * math.log(60.75) / 4)),
    ],
)
def test_switch_by_hand(noise: str, noise_parameters: dict[str, float], pulls: int, expected: float) -> None:
    arms = [Arm(pulls, 0.5), Arm(1, 0.5), Arm(1, 0.5)]
    value = reference.indices("kl-ucb-switch", {"horizon": 729}, noise, noise_parameters, arms, 100)[0]
    assert value == pytest.approx(expected, rel=CLOSE, abs=0)


def test_switch_never_comes_without_a_range() -> None:
    arms = [Arm(4, 1.0), Arm(1, 0.5), Arm(1, 0.5)]
    for noise in ("poisson", "exponential"):
        value = reference.indices("kl-ucb-switch", {"horizon": 729}, noise, {}, arms, 100)[0]
        assert 4 * reference.divergence(noise, {}, 1.0, value) == pytest.approx(math.log(60.75), rel=CLOSE, abs=0)


def test_imed_by_hand_under_bernoulli() -> None:
    arms = [Arm(4, 0.25), Arm(2, 0.5), Arm(3, 0.0)]
    expected = [-(4 * 0.130812035941137 + math.log(4)), -math.log(2), -(3 * math.log(2) + math.log(3))]
    assert reference.indices("imed", {}, "bernoulli", {}, arms, 10) == pytest.approx(expected, rel=CLOSE, abs=0)
    assert reference.indices("imed", {}, "bernoulli", {}, [Arm(2, 0.5), Arm(2, 1.0)], 5) == [-math.inf, -math.log(2)]


def test_kl_ucb_level_is_clamped_where_log_log_is_negative() -> None:
    assert reference.level_kl_ucb(1, [1], 1, c=3) == 0
    assert reference.level_kl_ucb(1, [1], 2, c=3) == 0
    assert reference.level_kl_ucb(1, [1], 2, c=1) == pytest.approx(
        0.693147180559945 - 0.366512920581664, rel=CLOSE, abs=0
    )


# The rules of choosing


def test_arms_never_pulled_come_first_in_order() -> None:
    arms = [Arm(0, None, retired=True), Arm(5, 9.0), Arm(0, None), Arm(0, None)]
    chosen, values = reference.choose("ucb", {"alpha": 2}, "gaussian", UNIT, arms, 6)
    assert chosen == 2
    assert values[0] == -math.inf
    assert values[2:] == [math.inf, math.inf]


def test_ties_go_to_the_lowest_arm() -> None:
    arms = [Arm(3, 0.1), Arm(2, 0.7), Arm(2, 0.7), Arm(3, 0.1)]
    for policy, parameters in (("ocucb-n", {"eta": 1.1, "rho": 0.5}), ("imed", {}), ("ada-ucb", {"horizon": None})):
        chosen, values = reference.choose(policy, parameters, "gaussian", UNIT, arms, 11)
        assert chosen == 1
        assert values[1] == values[2]
        assert values[0] == values[3]


def test_a_waiting_arm_counts_but_is_not_chosen() -> None:
    arms = [Arm(4, 0.5), Arm(1, None), Arm(9, 1.0)]
    parameters = {"eta": 2, "rho": 0.5}
    chosen, values = reference.choose("ocucb-n", parameters, "gaussian", UNIT, arms, ROUND)
    assert chosen == 0
    assert values == pytest.approx([1.683931586308753, -math.inf, 1 + 2 / 3], rel=CLOSE, abs=0)


def test_when_all_wait_the_fewest_pulls_are_chosen() -> None:
    arms = [Arm(1, None, retired=True), Arm(3, None), Arm(2, None), Arm(2, None)]
    assert reference.choose("ucb", {"alpha": 2}, "gaussian", UNIT, arms, 9) == (2, [-math.inf] * 4)


@pytest.mark.parametrize(
    ("policy", "parameters"),
    [
        ("ocucb-n", {"eta": 1.1, "rho": 0.5}),
        ("ada-ucb", {"horizon": 100}),
        ("moss", {"horizon": 100, "c": 4}),
        ("kl-ucb++", {"horizon": 100}),
        ("imed", {}),
    ],
)
def test_a_retired_arm_is_as_if_it_were_not_there(policy: str, parameters: dict[str, Any]) -> None:
    retired = [ARMS[0], Arm(20, 7.0, retired=True), *ARMS[1:]]
    chosen, values = reference.choose(policy, parameters, "gaussian", UNIT, ARMS, ROUND)
    chosen_beside, values_beside = reference.choose(policy, parameters, "gaussian", UNIT, retired, ROUND)
    assert values_beside == [values[0], -math.inf, *values[1:]]
    assert chosen_beside == chosen + (chosen > 0)


# Effective arms


def count_lists() -> list[list[int]]:
    """Pull counts of 1 to 30 arms, some equal, spread over six orders of magnitude; always the same ones."""
    source = random.Random(7)
    return [[int(10 ** source.uniform(0, 6)) for _ in range(size)] for size in range(1, 31)] + [[5] * 8, [1]]


@pytest.mark.parametrize("rho", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_the_sum_is_pulls_times_effective_arms(rho: float) -> None:
    for counts in count_lists():
        for pulls in counts:
            effective = sum(min(1.0, (other / pulls) ** rho) for other in counts)
            assert 1 <= effective <= len(counts)
            assert reference.effective_sum(pulls, counts, rho) == pytest.approx(pulls * effective, rel=1e-12, abs=0)
            powers = sum(min(pulls, other) ** rho for other in counts)
            assert reference.effective_sum(pulls, counts, rho) == pytest.approx(
                pulls ** (1 - rho) * powers, rel=1e-12, abs=0
            )


def test_the_sum_at_the_ends_of_rho() -> None:
    for counts in count_lists():
        for pulls in counts:
            assert reference.effective_sum(pulls, counts, 0.0) == pulls * len(counts)
            assert reference.effective_sum(pulls, counts, 1.0) == sum(min(pulls, other) for other in counts)


def test_effective_arms_never_grow_with_rho() -> None:
    for counts in count_lists():
        for pulls in counts:
            sums = [reference.effective_sum(pulls, counts, rho / 10) for rho in range(11)]
            assert all(later <= earlier * (1 + 1e-12) for earlier, later in itertools.pairwise(sums))


def test_equal_counts_make_every_arm_effective() -> None:
    for rho in (0.0, 0.3, 0.5, 1.0):
        assert reference.effective_sum(9, [9] * 7, rho) == pytest.approx(63, rel=CLOSE, abs=0)


def test_rho_zero_is_the_moss_type_level() -> None:
    counts = [4, 1, 9]
    for pulls in counts:
        expected = 1.5 * math.log(max(math.e, math.log(15), 15 * math.log(15) / (3 * pulls)))
        assert reference.level_ocucb_n(pulls, counts, 15, eta=1.5, rho=0.0) == pytest.approx(expected, rel=CLOSE, abs=0)


def test_a_pull_of_another_arm_never_lowers_the_sum() -> None:
    for counts in count_lists()[1:]:
        grown = [*counts[:-1], counts[-1] + 1]
        for pulls in counts[:-1]:
            before, after = (reference.effective_sum(pulls, c, 0.5) for c in (counts, grown))
            assert after >= before * (1 - 1e-12)
