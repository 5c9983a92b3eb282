"""The paper's quantities as pure functions.

Gaps, effective arms and bounds are named here. The objects of the proofs stand in their modules: `index`,
`concentration`, `line_crossing`, `confidence` (Lemma conc2), `peeling` (Lemma tech1), `optimists`, `stopping`
and `theorem_bound`; docs/paper.md maps the paper to them.
"""

from ocucb.theory.bounds import (
    Alternative,
    asymptotic_slope,
    finite_time_sum,
    klucb_plus_bernoulli_sum,
    klucb_plus_sum,
    lai_robbins_slope,
    lower_bound,
    lower_bound_alternative,
    lower_bound_condition,
    worst_case_rate,
)
from ocucb.theory.gaps import effective_arms, gaps
from ocucb.theory.identification import CharacteristicTime, characteristic_time
from ocucb.theory.regret_bound import RegretBound, regret_bound

__all__ = [
    "Alternative",
    "CharacteristicTime",
    "RegretBound",
    "asymptotic_slope",
    "characteristic_time",
    "effective_arms",
    "finite_time_sum",
    "gaps",
    "klucb_plus_bernoulli_sum",
    "klucb_plus_sum",
    "lai_robbins_slope",
    "lower_bound",
    "lower_bound_alternative",
    "lower_bound_condition",
    "regret_bound",
    "worst_case_rate",
]
