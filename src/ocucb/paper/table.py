"""The claims of the paper, in the order of reading, and then those of this project; each check with its formula."""

from __future__ import annotations

import importlib.resources
import tomllib
from dataclasses import replace

from ocucb.paper.claim import Claim
from ocucb.paper.claims import (
    asymptotic_times,
    asymptotics,
    chase,
    confidence,
    decomposition,
    effective_arms,
    experiments,
    explicit_bound,
    finite_time,
    index,
    informational,
    intuition,
    iterated_logarithm,
    klucb_plus,
    klucb_plus_expectations,
    klucb_plus_times,
    lower_bound,
    maximal,
    moss_trap,
    peeling,
    proved,
    rho,
    rho_one,
    second_term,
    shrinking,
    stopping,
    stopping_terms,
    stronger_theorem,
    tail,
    worst_case,
)


def _with_formulas(claims: tuple[Claim, ...]) -> tuple[Claim, ...]:
    text = importlib.resources.files("ocucb.paper").joinpath("formulas.toml").read_text(encoding="utf-8")
    formulas = tomllib.loads(text)
    return tuple(
        replace(
            claim, checks=tuple(replace(one, formula=formulas[str(claim.number)][one.name]) for one in claim.checks)
        )
        for claim in claims
    )


_CLAIMS = (
    Claim(1, "The index", index.CHECKS),
    Claim(2, "Theorem 1 at finite time", finite_time.CHECKS),
    Claim(3, "Theorem 1 without end", asymptotics.CHECKS + asymptotic_times.CHECKS),
    Claim(4, "Effective arms", effective_arms.CHECKS),
    Claim(5, "Not sensitive to rho", rho_one.CHECKS + rho.CHECKS),
    Claim(6, "The worst case", worst_case.CHECKS),
    Claim(7, "Where MOSS suffers", moss_trap.CHECKS),
    Claim(8, "KL-UCB+", klucb_plus.CHECKS + klucb_plus_times.CHECKS + klucb_plus_expectations.CHECKS),
    Claim(9, "Concentration", maximal.CHECKS + iterated_logarithm.CHECKS + tail.CHECKS + confidence.CHECKS),
    Claim(10, "The technical lemma", peeling.CHECKS),
    Claim(
        11,
        "The proof of Theorem 1, on simulated runs",
        chase.CHECKS + stopping.CHECKS + decomposition.CHECKS + stopping_terms.CHECKS + second_term.CHECKS,
    ),
    Claim(12, "Intuition for the index", intuition.CHECKS),
    Claim(13, "The lower bound", lower_bound.CHECKS),
    Claim(14, "Discussion", shrinking.CHECKS + informational.CHECKS),
    Claim(15, "The author's experiments", experiments.CHECKS),
    Claim(16, "A stronger theorem", stronger_theorem.CHECKS, ours=True),
    Claim(17, "A bound with every constant", explicit_bound.CHECKS, ours=True),
    Claim(18, "Proved by interval arithmetic", proved.CHECKS, ours=True),
)

CLAIMS = _with_formulas(_CLAIMS)
