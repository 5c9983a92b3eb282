"""The oracle: the paper's and policies.md's formulas read literally, one function each, sharing no code with ocucb.

Nothing here is clever: the effective arms are the paper's O(K²) double sum, the upper inverse is bisection, and
every index is computed anew at every round. Notation as in policies.md: `t` is the round about to be played,
`pulls` is T_i, `counts` holds T_j of every arm j that is not retired, so that K = len(counts).
"""

import importlib
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

# scipy publishes no types; a module fetched by name is typed as Any without an ignore.
_special = importlib.import_module("scipy.special")

Parameters = Mapping[str, Any]
Counts = Sequence[int]
Tape = Sequence[Sequence[float]]
Divergence = Callable[[float, float], float]


@dataclass
class Arm:
    """What is known of one arm: pulls (pending ones included), the mean of the learned rewards, retirement, spread.

    Variance is the mean of (reward - mean)², as it is.
    """

    pulls: int
    mean: float | None
    retired: bool = False
    spread: float | None = None
    variance: float | None = None


def variance(rewards: Sequence[float]) -> float | None:
    """V = Σ (reward - mean)² / n, in fractions."""
    if not rewards:
        return None
    exact = [Fraction(reward) for reward in rewards]
    mean = sum(exact) / len(exact)
    return float(sum((reward - mean) ** 2 for reward in exact) / len(exact))


def spread(rewards: Sequence[float], of_all: Sequence[float]) -> float | None:
    """S, with S² = Σ (reward - mean)² / n in fractions.

    If the least or the largest of n rewards came twice, or is the only one, that of one more at a distance of R, the
    range of all rewards (1 if there is none).
    """
    if not rewards:
        return None
    count = len(rewards)
    exact = [Fraction(reward) for reward in rewards]
    mean = sum(exact) / count
    squares = sum((reward - mean) ** 2 for reward in exact)
    if count > 1 and rewards.count(min(rewards)) == rewards.count(max(rewards)) == 1:
        return math.sqrt(squares / count)
    distance = Fraction(max(of_all)) - Fraction(min(of_all)) or Fraction(1)
    return math.sqrt((squares + distance**2 * count / (count + 1)) / (count + 1))


def log_clipped(x: float) -> float:
    """log⁺ x = max(0, log x)."""
    return math.log(x) if x > 1 else 0.0


def log_at_least_one(x: float) -> float:
    """log₊ x = max(1, log x): the paper's \\logp."""
    return math.log(x) if x > math.e else 1.0


# Levels L_i(t), in the order of the table "One index, two ingredients"


def added(numbers: Iterable[float]) -> float:
    """The sum, one number after another. Python's own `sum` carries the rounding errors along since 3.12."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def effective_sum(pulls: int, counts: Counts, rho: float) -> float:
    """Σ_j min{T_i, T_j^rho T_i^(1-rho)}: the denominator of eq. (1), as printed."""
    return added(min(pulls, math.pow(other, rho) * math.pow(pulls, 1 - rho)) for other in counts)


def annealed_eta(t: int) -> float:
    """eta_t = 1 + 3 log log t / log t, held at its largest value 1 + 3/e for t <= e^e."""
    if t <= math.exp(math.e):
        return 1 + 3 / math.e
    return 1 + 3 * math.log(math.log(t)) / math.log(t)


def level_ocucb_n(pulls: int, counts: Counts, t: int, *, eta: float | str, rho: float, shrink: str = "none") -> float:
    """OCUCB-n: eta log B_i(t-1), eq. (1), and the shrinks of the Discussion."""
    if isinstance(eta, str):
        if eta != "annealed":
            raise ValueError(f"unknown eta {eta!r}")
        eta = annealed_eta(t)
    total = effective_sum(pulls, counts, rho)
    if shrink == "none":
        return eta * math.log(max(math.e, math.log(t), t * math.log(t) / total))
    x = t / total
    if shrink == "t":
        return eta * math.log(max(math.e, math.log(t), x))
    if shrink == "log-plus":
        return eta * math.log(max(math.e, log_at_least_one(x), x * log_at_least_one(x)))
    if shrink == "all":
        return eta * math.log(max(1, x))
    raise ValueError(f"unknown shrink {shrink!r}")


def level_kl_ucb_plus(pulls: int, counts: Counts, t: int, *, eta: float) -> float:
    """KL-UCB+: eta log⁺(t/T), eq. (ucb+)."""
    return eta * log_clipped(t / pulls)


def level_kl_ucb(pulls: int, counts: Counts, t: int, *, c: float = 0) -> float:
    """KL-UCB: log t + c log log t, from 0 up; nothing at t = 1, where log log t is not defined."""
    return max(0.0, math.log(t) + c * math.log(math.log(t))) if t >= 2 else 0.0


def level_ucb(pulls: int, counts: Counts, t: int, *, alpha: float = 2) -> float:
    """UCB: (alpha/2) log t."""
    return alpha / 2 * math.log(t)


def level_ucb_asymptotic(pulls: int, counts: Counts, t: int) -> float:
    """UCB, asymptotically optimal: log(1 + t log² t)."""
    return math.log(1 + t * math.log(t) ** 2)


def level_ocucb(pulls: int, counts: Counts, t: int, *, horizon: int, alpha: float = 3, psi: float = 2) -> float:
    """OCUCB: (alpha/2) log(psi n / t), clamped at 0."""
    return alpha / 2 * log_clipped(psi * horizon / t)


def level_moss(pulls: int, counts: Counts, t: int, *, horizon: int, c: float = 4) -> float:
    """MOSS: (c/2) log⁺(n / (K T))."""
    return c / 2 * log_clipped(horizon / (len(counts) * pulls))


def level_moss_anytime(pulls: int, counts: Counts, t: int, *, alpha: float = 1.35) -> float:
    """MOSS-anytime: (1 + alpha) log⁺(t / (K T))."""
    return (1 + alpha) * log_clipped(t / (len(counts) * pulls))


def level_kl_ucb_h_plus(pulls: int, counts: Counts, t: int, *, horizon: int) -> float:
    """KL-UCB-H+: log⁺(n/T)."""
    return log_clipped(horizon / pulls)


def level_kl_ucb_plus_plus(pulls: int, counts: Counts, t: int, *, horizon: int) -> float:
    """KL-UCB++: y = n/(K T): log⁺(y (1 + (log⁺ y)²))."""
    y = horizon / (len(counts) * pulls)
    return log_clipped(y * (1 + log_clipped(y) ** 2))


def level_kl_ucb_switch(pulls: int, counts: Counts, t: int, *, horizon: int) -> float:
    """KL-UCB-switch: log⁺(n/(K T)), before the switch and after."""
    return log_clipped(horizon / (len(counts) * pulls))


def level_ada_ucb(pulls: int, counts: Counts, t: int, *, horizon: int | None = None) -> float:
    """AdaUCB: log((x + e) sqrt(log(x + e))), x = n/(T k) at rho = 1/2; without a horizon, t for n."""
    x = (t if horizon is None else horizon) / effective_sum(pulls, counts, 0.5)
    return math.log((x + math.e) * math.sqrt(math.log(x + math.e)))


def level_gittins(pulls: int, counts: Counts, t: int, *, horizon: int, approximate: bool) -> float:
    """Gittins, approximation: log beta, beta = max{1, min{m/(4 log^{3/2} m), m/(4 T sqrt(log(m/T)))}}, m = n - t + 1.

    Each term is taken as it stands to the right of its minimum (m = e^{3/2}, m/T = e^{1/2}) and as under 1 elsewhere.
    """
    if not approximate:
        raise ValueError("the reference knows the approximation only")
    m = horizon - t + 1
    if m <= math.exp(3 / 2) or m / pulls <= math.exp(1 / 2):
        return 0.0
    first = m / (4 * math.log(m) ** (3 / 2))
    second = m / (4 * pulls * math.sqrt(math.log(m / pulls)))
    return math.log(max(1, min(first, second)))


LEVELS: dict[str, Callable[..., float]] = {
    "ocucb-n": level_ocucb_n,
    "kl-ucb+": level_kl_ucb_plus,
    "kl-ucb": level_kl_ucb,
    "ucb": level_ucb,
    "ucb-asymptotic": level_ucb_asymptotic,
    "ocucb": level_ocucb,
    "moss": level_moss,
    "moss-anytime": level_moss_anytime,
    "kl-ucb-h+": level_kl_ucb_h_plus,
    "kl-ucb++": level_kl_ucb_plus_plus,
    "kl-ucb-switch": level_kl_ucb_switch,
    "ada-ucb": level_ada_ucb,
    "gittins": level_gittins,
}


# Divergences, as d(p, p + delta): written with log1p, the difference of near equals is not lost in rounding


def divergence_bernoulli(p: float, delta: float) -> float:
    """p log(p/q) + (1-p) log((1-p)/(1-q)), with 0 log 0 = 0."""
    if delta == 0:
        return 0.0
    if delta >= 1 - p:
        return math.inf
    success = -p * math.log1p(delta / p) if p > 0 else 0.0
    return success - (1 - p) * math.log1p(-delta / (1 - p))


def divergence_poisson(p: float, delta: float) -> float:
    """q - p + p log(p/q), with 0 log 0 = 0."""
    return delta - p * math.log1p(delta / p) if p > 0 else delta


def divergence_exponential(p: float, delta: float) -> float:
    """p/q - 1 - log(p/q)."""
    if p == 0:
        return 0.0 if delta == 0 else math.inf
    return math.log1p(delta / p) - delta / (p + delta)


def unit_mean(noise: str, noise_parameters: Parameters, mean: float) -> float:
    """The mean on the scale of the divergence: bounded rewards are moved to [0, 1]."""
    if noise == "bounded":
        low, high = noise_parameters["low"], noise_parameters["high"]
        return float(min(1.0, max(0.0, (mean - low) / (high - low))))
    return mean


def from_unit(noise: str, noise_parameters: Parameters, value: float) -> float:
    """Undo unit_mean."""
    if noise == "bounded":
        low, high = noise_parameters["low"], noise_parameters["high"]
        return float(min(high, low + (high - low) * value))
    return value


def divergence(noise: str, noise_parameters: Parameters, p: float, q: float) -> float:
    """d(p, q) for p <= q; Gaussian: (q - p)² / (2 sigma²)."""
    p, q = unit_mean(noise, noise_parameters, p), unit_mean(noise, noise_parameters, q)
    if noise == "gaussian":
        return float((q - p) ** 2 / (2 * noise_parameters.get("scale", 1.0) ** 2))
    return DIVERGENCES[noise](p, q - p)


DIVERGENCES: dict[str, Divergence] = {
    "bernoulli": divergence_bernoulli,
    "bounded": divergence_bernoulli,
    "poisson": divergence_poisson,
    "exponential": divergence_exponential,
}


# The upper inverse


def bisect(d: Divergence, p: float, bound: float, highest: float) -> float:
    """p + the largest delta < highest with d(p, p + delta) <= bound < d(p, p + highest), to the last bit."""
    low, high = 0.0, highest
    while low < (middle := low + (high - low) / 2) < high:
        if d(p, middle) <= bound:
            low = middle
        else:
            high = middle
    return p + (low if high < highest else highest)  # no float below highest is too large: round up to it


def upper_inverse(noise: str, noise_parameters: Parameters, mean: float, pulls: int, level: float) -> float:
    """The largest q >= mean with T d(mean, q) <= L; Gaussian: mean + sqrt(2 sigma² L / T)."""
    if noise == "gaussian":
        return float(mean + math.sqrt(2 * noise_parameters.get("scale", 1.0) ** 2 * level / pulls))
    if noise == "gaussian-unknown-scale":  # (T - 2)/2 log(1 + (q - mean)²/S²) <= L
        if level <= 0:
            return mean
        return (
            float(mean + noise_parameters["spread"] * math.sqrt(math.expm1(2 * level / (pulls - 2))))
            if pulls > 2
            else math.inf
        )
    p, bound, d = unit_mean(noise, noise_parameters, mean), level / pulls, DIVERGENCES[noise]
    if bound == 0 or (p == 1 and d is divergence_bernoulli) or (p == 0 and d is divergence_exponential):
        return mean
    highest = 1 - p
    if noise in ("poisson", "exponential"):
        highest = 1.0
        while d(p, highest) <= bound:
            highest *= 2
            if math.isinf(highest):
                return math.inf
    return max(mean, from_unit(noise, noise_parameters, bisect(d, p, bound, highest)))


# Rules not of that form


def index_hoeffding(noise: str, noise_parameters: Parameters, mean: float, pulls: int, level: float) -> float:
    """KL-UCB-switch after the switch: mean + range sqrt(L / (2 T))."""
    width = noise_parameters["high"] - noise_parameters["low"] if noise == "bounded" else 1
    return float(mean + width * math.sqrt(level / (2 * pulls)))


def switched(pulls: int, counts: Counts, horizon: int) -> bool:
    """Whether T > floor((n/K)^(1/5)), in whole numbers: K T⁵ > n."""
    return len(counts) * pulls**5 > horizon


def index_bayes_ucb(
    noise: str, noise_parameters: Parameters, mean: float, pulls: int, t: int, horizon: int | None = None, c: float = 0
) -> float:
    """Bayes-UCB: the posterior quantile at 1 - 1/(t (log n)^c), the lowest value where that is not positive."""
    if horizon is None and c != 0:
        raise ValueError("c needs a horizon")
    scale = t if horizon is None or c == 0 else t * math.log(horizon) ** c
    if scale <= 1:
        return -math.inf if noise.startswith("gaussian") else from_unit(noise, noise_parameters, 0.0)
    return posterior_quantile(noise, noise_parameters, mean, pulls, 1 / scale)


def posterior_quantile(noise: str, noise_parameters: Parameters, mean: float, pulls: int, tail: float) -> float:
    """The value that a draw from the posterior exceeds with probability `tail`.

    scipy's quantiles, against mpmath: within 5e-14 relative up to T = 10⁵; beyond, Beta is off by up to 2e-11 and the
    exponential's lower Gamma tail, at a tail below 1/(3·10⁵), by 1e-10 at T = 8·10⁵ and 6e-8 at T = 3·10⁶.
    """
    if (
        noise == "gaussian-unknown-scale"
    ):  # sqrt(T - 3) (q - mean)/S follows Student's law with T - 3 degrees of freedom
        if pulls <= 3:
            return math.inf
        return float(mean - noise_parameters["spread"] / math.sqrt(pulls - 3) * _special.stdtrit(pulls - 3, tail))
    p = unit_mean(noise, noise_parameters, mean)
    total = p * pulls
    if noise == "gaussian":  # N(mean, sigma²/T)
        deviation = noise_parameters.get("scale", 1.0) / math.sqrt(pulls)
        return float(mean - deviation * NormalDist().inv_cdf(tail))
    if noise in ("bernoulli", "bounded"):  # Beta(1 + S, 1 + F)
        quantile = float(_special.betainccinv(1 + total, 1 + (pulls - total), tail))
        return from_unit(noise, noise_parameters, quantile)
    if noise == "poisson":  # Gamma(1 + S, rate T)
        return float(_special.gammainccinv(1 + total, tail)) / pulls
    if noise == "exponential":  # rate ~ Gamma(1 + T, rate S): the mean is large where the rate is small
        return total / float(_special.gammaincinv(1 + pulls, tail))
    raise ValueError(f"unknown noise {noise!r}")


def index_ucb_v(mean: float, variance: float, width: float, pulls: int, t: int, *, zeta: float, c: float) -> float:
    """UCB-V: mean + sqrt(2 V E/s) + c 3 b E/s, E = zeta log t (Audibert, Munos, Szepesvári 2009, eq. 1)."""
    exploration = zeta * math.log(t)
    return mean + math.sqrt(2 * variance * exploration / pulls) + c * 3 * width * exploration / pulls


def index_ucb_tuned(mean: float, variance: float, width: float, pulls: int, t: int) -> float:
    """UCB-Tuned: mean + sqrt(log t / s min{1/4, V + sqrt(2 log t / s)}) of rewards divided by their range."""
    unit_variance = variance / width**2 + math.sqrt(2 * math.log(t) / pulls)
    return mean + width * math.sqrt(math.log(t) / pulls * min(1 / 4, unit_variance))


def index_imed(noise: str, noise_parameters: Parameters, mean: float, pulls: int, best: float) -> float:
    """IMED: minus T d(mean, best mean) + log T."""
    return -(pulls * divergence(noise, noise_parameters, mean, best) + math.log(pulls))


def two_sided_divergence(noise: str, noise_parameters: Parameters, p: float, q: float) -> float:
    """d(p, q) for any p and q, with 0 log 0 = 0."""
    p, q = unit_mean(noise, noise_parameters, p), unit_mean(noise, noise_parameters, q)
    if p == q:
        return 0.0
    if noise == "gaussian":
        return float((q - p) ** 2 / (2 * noise_parameters.get("scale", 1.0) ** 2))
    if noise == "poisson":
        return q - p + (p * math.log(p / q) if p > 0 else 0.0)
    if noise == "exponential":
        return p / q - 1 - math.log(p / q) if p > 0 else math.inf
    success = p * math.log(p / q) if p > 0 else 0.0
    return success + ((1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0.0)


def leader_of(arms: Sequence[Arm], named: Sequence[int]) -> int:
    """The lowest of the arms named with the largest mean."""
    known = [j for j in sorted(named) if not arms[j].retired and arms[j].mean is not None]
    return max(known, key=lambda j: arms[j].mean or 0.0)


def index_top_two(
    noise: str,
    noise_parameters: Parameters,
    arms: Sequence[Arm],
    i: int,
    t: int,
    named: Sequence[int],
    *,
    beta: float,
    seed: int,
) -> float:
    """TopTwo: with probability beta the leader; else the smallest T' d(mean', m) + T d(mean, m) + log T, m pooled."""
    leader = leader_of(arms, named)
    if i == leader:
        coin = ((splitmix64(splitmix64(seed, t), 0) >> 12) + 0.5) / 2**52
        return 1.0 if coin < beta else -sys.float_info.max
    best, arm = arms[leader], arms[i]
    assert best.mean is not None
    assert arm.mean is not None
    pooled = (best.pulls * best.mean + arm.pulls * arm.mean) / (best.pulls + arm.pulls)
    evidence = best.pulls * two_sided_divergence(noise, noise_parameters, best.mean, pooled)
    evidence += arm.pulls * two_sided_divergence(noise, noise_parameters, arm.mean, pooled)
    return -((evidence if arm.mean != best.mean else 0.0) + math.log(arm.pulls))


def index_kl_lucb(
    noise: str,
    noise_parameters: Parameters,
    arms: Sequence[Arm],
    i: int,
    t: int,
    named: Sequence[int],
    *,
    delta: float,
    alpha: float,
) -> float:
    """KL-LUCB: by turns the leader, and of the others the largest upper bound at log(k K t^alpha / delta)."""
    if i == leader_of(arms, named):
        return sys.float_info.max if t % 2 else -sys.float_info.max
    k = 2 * math.e + 1 + math.e / (alpha - 1) + (math.e + 1) / (alpha - 1) ** 2
    level = math.log(k * sum(not arm.retired for arm in arms) * t**alpha / delta)
    mean = arms[i].mean
    assert mean is not None
    return upper_inverse(noise, noise_parameters, mean, arms[i].pulls, level)


# Random rules: the uniform of an arm in a round is a function of seed, round and arm


def uniform_of(seed: int, t: int, i: int) -> float:
    """The uniform number of arm i in round t."""
    return ((splitmix64(splitmix64(seed, t), i + 1) >> 12) + 0.5) / 2**52


def lower_inverse(noise: str, noise_parameters: Parameters, mean: float, pulls: int, level: float) -> float:
    """The smallest q <= mean with T d(mean, q) <= L."""
    if noise == "gaussian":
        return float(mean - math.sqrt(2 * noise_parameters.get("scale", 1.0) ** 2 * level / pulls))
    p = unit_mean(noise, noise_parameters, mean)
    low, high = 0.0, p  # no mean of these families is below 0
    while low < (middle := (low + high) / 2) < high:
        here = from_unit(noise, noise_parameters, middle)
        if pulls * two_sided_divergence(noise, noise_parameters, mean, here) <= level:
            high = middle
        else:
            low = middle
    return from_unit(noise, noise_parameters, high)


def draw_exp_ts(noise: str, noise_parameters: Parameters, mean: float, pulls: int, tail: float) -> float:
    """ExpTS: the value that a draw exceeds with probability `tail`; with one pull, as far out as can be."""
    if pulls == 1:
        return 1e300 if tail < 1 / 2 else -1e300
    if tail < 1 / 2:
        return upper_inverse(noise, noise_parameters, mean, pulls - 1, -math.log(2 * tail))
    return lower_inverse(noise, noise_parameters, mean, pulls - 1, -math.log(2 * (1 - tail)))


def index_maillard(
    noise: str, noise_parameters: Parameters, arm: Arm, best: Arm, uniform: float, *, subtracted: int
) -> float:
    """Maillard sampling: the logarithm of exp(-(T - s) d(mean, best mean)), and a Gumbel variable."""
    assert arm.mean is not None
    assert best.mean is not None
    counted = arm.pulls - subtracted
    evidence = counted * divergence(noise, noise_parameters, arm.mean, best.mean) if counted else 0.0
    return -evidence - math.log(-math.log(uniform))


def index_random(
    policy: str,
    parameters: Parameters,
    noise: str,
    noise_parameters: Parameters,
    arms: Sequence[Arm],
    i: int,
    t: int,
    named: Sequence[int],
) -> float:
    """The rules that draw: Maillard sampling, ExpTS, ExpTS+ and ε-exploring Thompson sampling."""
    arm, uniform = arms[i], uniform_of(parameters["seed"], t, i)
    assert arm.mean is not None
    playing = sum(not one.retired for one in arms)
    if policy == "maillard-sampling":
        best = arms[leader_of(arms, named)]
        return index_maillard(noise, noise_parameters, arm, best, uniform, subtracted=parameters["subtracted"])
    if policy == "exp-ts":
        return draw_exp_ts(noise, noise_parameters, arm.mean, arm.pulls, uniform)
    share = 1 / playing if policy == "exp-ts+" else (parameters["epsilon"] or 1 / playing)
    if uniform >= share:
        return arm.mean
    if policy == "exp-ts+":
        return draw_exp_ts(noise, noise_parameters, arm.mean, arm.pulls, uniform / share)
    return posterior_quantile(noise, noise_parameters, arm.mean, arm.pulls, uniform / share)


RANDOM = ("maillard-sampling", "exp-ts", "exp-ts+", "epsilon-thompson")


# Choosing


def index(
    policy: str,
    parameters: Parameters,
    noise: str,
    noise_parameters: Parameters,
    arms: Sequence[Arm],
    i: int,
    t: int,
    named: Sequence[int],
) -> float:
    """The index of arm i in round t: +inf if never pulled, -inf if retired or still waiting for a reward.

    Policies that compare an arm with the best one take the best of those named.
    """
    arm = arms[i]
    if arm.pulls == 0 and not arm.retired:
        return math.inf
    if arm.retired or arm.mean is None:
        return -math.inf
    if policy == "greedy":
        return arm.mean
    if noise == "gaussian-unknown-scale":
        noise_parameters = {"spread": arm.spread}
    if policy == "imed":
        best = arms[leader_of(arms, named)].mean
        assert best is not None
        return index_imed(noise, noise_parameters, arm.mean, arm.pulls, best)
    if policy == "top-two":
        return index_top_two(noise, noise_parameters, arms, i, t, named, **parameters)
    if policy == "kl-lucb":
        return index_kl_lucb(noise, noise_parameters, arms, i, t, named, **parameters)
    if policy in RANDOM:
        return index_random(policy, parameters, noise, noise_parameters, arms, i, t, named)
    if policy in ("ucb-v", "ucb-tuned"):
        assert arm.variance is not None
        width = 1 if noise == "bernoulli" else noise_parameters["high"] - noise_parameters["low"]
        rule = index_ucb_v if policy == "ucb-v" else index_ucb_tuned
        return rule(arm.mean, arm.variance, width, arm.pulls, t, **parameters)
    if policy == "bayes-ucb":
        return index_bayes_ucb(noise, noise_parameters, arm.mean, arm.pulls, t, **parameters)
    counts = [other.pulls for other in arms if not other.retired]
    level = LEVELS[policy](arm.pulls, counts, t, **parameters)
    if policy == "kl-ucb-switch" and noise in ("bernoulli", "bounded") and switched(arm.pulls, counts, **parameters):
        return index_hoeffding(noise, noise_parameters, arm.mean, arm.pulls, level)
    return upper_inverse(noise, noise_parameters, arm.mean, arm.pulls, level)


def indices(
    policy: str,
    parameters: Parameters,
    noise: str,
    noise_parameters: Parameters,
    arms: Sequence[Arm],
    t: int,
    named: Sequence[int] | None = None,
) -> list[float]:
    """The index of every arm in round t; -inf for those that are not named, if some are."""
    every = range(len(arms))
    chosen = every if named is None else named
    return [
        index(policy, parameters, noise, noise_parameters, arms, i, t, chosen) if i in chosen else -math.inf
        for i in every
    ]


def choose(
    policy: str, parameters: Parameters, noise: str, noise_parameters: Parameters, arms: Sequence[Arm], t: int
) -> tuple[int, list[float]]:
    """Return the arm to play in round t, and every index.

    The lowest arm never pulled; else the largest index among arms with a mean; else the fewest pulls. Ties: lowest.
    """
    values = indices(policy, parameters, noise, noise_parameters, arms, t)
    live = [i for i, arm in enumerate(arms) if not arm.retired]
    fresh = [i for i in live if arms[i].pulls == 0]
    if fresh:
        return fresh[0], values
    known = [i for i in live if arms[i].mean is not None]
    if known:
        return max(known, key=lambda i: values[i]), values
    return min(live, key=lambda i: arms[i].pulls), values


def ranked(
    policy: str,
    parameters: Parameters,
    noise: str,
    noise_parameters: Parameters,
    arms: Sequence[Arm],
    t: int,
    named: Sequence[int],
) -> list[int]:
    """Return the arms named: never pulled ones, the others by falling index, those that wait by rising pulls."""
    values = indices(policy, parameters, noise, noise_parameters, arms, t, named)
    live = sorted(set(named))
    fresh = [i for i in live if arms[i].pulls == 0]
    known = [i for i in live if arms[i].mean is not None]
    waiting = [i for i in live if arms[i].pulls > 0 and arms[i].mean is None]
    known.sort(key=lambda i: -values[i])
    waiting.sort(key=lambda i: arms[i].pulls)
    return fresh + known + waiting


# Changes


def change_found(noise: str, noise_parameters: Parameters, rewards: Sequence[float], delta: float) -> bool:
    """Whether the generalised likelihood ratio of a change after some s of n rewards reaches log(3 n^{3/2} / delta)."""
    n = len(rewards)
    for s in range(1, n):
        mean, before, after = sum(rewards) / n, sum(rewards[:s]) / s, sum(rewards[s:]) / (n - s)
        ratio = s * two_sided_divergence(noise, noise_parameters, before, mean)
        ratio += (n - s) * two_sided_divergence(noise, noise_parameters, after, mean)
        if ratio >= math.log(3 * n**1.5 / delta):
            return True
    return False


def explored_arm(playing: Sequence[int], rounds: int, exploration: float) -> int | None:
    """The arm that must be played after so many rounds since a start: the first K of each floor(K/exploration)."""
    if exploration == 0:
        return None
    place = rounds % math.floor(len(playing) / exploration)
    return playing[place] if place < len(playing) else None


# Shares


def splitmix64(key: int, number: int) -> int:
    """The number after the state key + number Weyl steps, as Steele, Lea and Flood print it (2014)."""
    mixed = (key + 0x9E3779B97F4A7C15 * (number + 1)) % 2**64
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB % 2**64
    return mixed ^ (mixed >> 31)


def drawn_by_share(shares: Mapping[int, float], seed: int, t: int) -> int | None:
    """The arm that has round t by its share, or None if the policy has it: a pure function of seed and round."""
    uniform = ((splitmix64(splitmix64(seed, 2**62), t) >> 12) + 0.5) / 2**52
    below = 0.0
    for arm in sorted(shares):
        below += shares[arm]
        if uniform < below:
            return arm
    return None


def play(
    policy: str, parameters: Parameters, noise: str, noise_parameters: Parameters, tape: Tape, rounds: int
) -> list[int]:
    """Play `rounds` rounds from scratch; the s-th reward of arm i is tape[i][s-1]."""
    arms = [Arm(0, None) for _ in tape]
    choices = []
    for t in range(1, rounds + 1):
        i, _ = choose(policy, parameters, noise, noise_parameters, arms, t)
        choices.append(i)
        arms[i].pulls += 1
        arms[i].mean = added(tape[i][: arms[i].pulls]) / arms[i].pulls
    return choices
