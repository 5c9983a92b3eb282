"""OCUCB-n: the anytime Optimally Confident UCB algorithm, with every variant of its paper."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from ocucb.checks import at_least, one_of, warn_of_lost_guarantee, within
from ocucb.compiled import Parameters, kernel
from ocucb.policies.policy import Policy, Rule, Trend, WithArms

Shrink: TypeAlias = Literal["none", "t", "log-plus", "all"]


@kernel
def inflation(t: float, parameters: Parameters) -> float:
    """Return eta, or for 0 the annealed 1 + 3 log log t / log t, held at its largest value, 1 + 3/e, up to t = e^e."""
    if parameters[0] > 0.0:
        return parameters[0]
    log_t = max(math.e, math.log(t))
    return 1.0 + 3.0 * math.log(log_t) / log_t


@kernel
def level(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    log_t = math.log(t)
    return inflation(t, parameters) * math.log(max(math.e, log_t, t * log_t / (pulls * effective)))


@kernel
def level_t(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return inflation(t, parameters) * math.log(max(math.e, math.log(t), t / (pulls * effective)))


@kernel
def level_log_plus(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    x = t / (pulls * effective)
    log_plus = max(1.0, math.log(x))
    return inflation(t, parameters) * math.log(max(math.e, log_plus, x * log_plus))


@kernel
def level_all(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return inflation(t, parameters) * math.log(max(1.0, t / (pulls * effective)))


LEVELS = {"none": level, "t": level_t, "log-plus": level_log_plus, "all": level_all}


@dataclass(frozen=True)
class OCUCBn(Policy):
    """Anytime Optimally Confident UCB: no horizon, and the strongest finite-time guarantee of such algorithms.

    L = η log max{ e, log t, t log t / (T k) },  k = Σ_j min{1, (T_j/T)^ρ}

    Parameters
    ----------
    eta : width of the confidence interval, 1 or more; Theorem 1 needs more than 1.
        "annealed" lets it fall to 1 as 1 + 3 log log t / log t.
    rho : exponent of the effective arms k, in [0, 1]; Theorem 1's finite-time bound needs [1/2, 1].
    shrink : which logarithms of the level to drop, as in the paper's Discussion.
        "t": t for t log t; its guarantee is stronger (docs/theorem.md).
        "log-plus": log₊(t/(T k)) for log t, where log₊ x = max{1, log x}.
        "all": L = η log max{1, t/(T k)}, as in the author's experiments.

    T. Lattimore, "Regret Analysis of the Anytime Optimally Confident UCB Algorithm", eq. (1) and Discussion.
    """

    name: ClassVar[str] = "ocucb-n"
    formula: ClassVar[str] = "η log max{e, log t, t log t / (T k)},  k = Σ_j min{1, (T_j/T)^ρ}"
    source: ClassVar[str] = "Lattimore 2016, eq. (1)"

    eta: float | Literal["annealed"] = 1.1
    rho: float = 0.5
    shrink: Shrink = "none"

    def __post_init__(self) -> None:
        annealed = self.eta == "annealed"
        if not annealed:
            at_least("eta", self.eta, 1.0, 'use eta=1.1, or eta="annealed" to let it fall to 1')
        within("rho", self.rho, 0.0, 1.0, "use rho=0.5, the paper's canonical choice")
        one_of("shrink", self.shrink, tuple(LEVELS))
        lost = self._lost_guarantee()
        if lost:
            warn_of_lost_guarantee(lost)

    def _lost_guarantee(self) -> str:
        """Say which guarantee of the paper does not cover these parameters."""
        if self.eta == "annealed":
            return 'eta="annealed": no theorem covers it; Theorem 1 needs a fixed eta > 1'
        if self.eta == 1.0:
            return "eta = 1: Theorem 1 needs eta > 1, so neither its finite-time nor its asymptotic bound is guaranteed"
        if self.shrink in ("log-plus", "all"):
            return f'shrink="{self.shrink}": the paper recommends it but proves no bound for it'
        if self.rho < 0.5:
            return f"rho = {self.rho:g}: below 1/2 Theorem 1's finite-time bound is lost; its asymptotic bound holds"
        return ""

    def rule(self) -> Rule:
        annealed = self.eta == "annealed"
        # Annealing lets eta fall, yet the level still rises with t, but for log-plus where the level is eta itself.
        return Rule(
            parameters=(0.0 if self.eta == "annealed" else self.eta,),
            level=LEVELS[self.shrink],
            rho=self.rho,
            trend=Trend.NEITHER if annealed and self.shrink == "log-plus" else Trend.RISES,
            with_arms=WithArms.UNREAD,
        )
