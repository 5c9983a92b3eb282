"""Claim 15: the author's own experiments, which the lab has as studies: as figures, and as statements they decide."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ocucb.compiled import Floats, Parameters, kernel
from ocucb.errors import GuaranteeWarning
from ocucb.lab.chart import Chart, Line
from ocucb.lab.experiment import Experiment
from ocucb.lab.study import Study
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Table, Wrong
from ocucb.paper.claims.shrinking import level_squared
from ocucb.paper.evidence import ALARM, Interval, at_most, mean_interval
from ocucb.paper.paired import change, format_percent
from ocucb.paper.regrets import format_power, regrets, without_warning
from ocucb.policies import LevelPolicy, OCUCBn, Policy

# As the studies call them.
PRINTED, NO_LOGS, UCB = "OCUCB-n(1, 1/2)", "OCUCB-n, no logs", "UCB(2)"
TELLABLE = 2.0  # in units of √(K/n); smaller gaps can hardly be told from 0 in n rounds
FEWER = (4, 8)  # times fewer runs, quick and full, for policies that are shown and compared with nothing


@dataclass(frozen=True)
class Amount:
    """How much of a study to play: which of its points in a quick check, of all in a full one, and how many runs."""

    quick: tuple[int, ...]
    runs: tuple[int, int]


AMOUNTS = {
    "equal-gaps-2": Amount((7, 13, 19), (200, 12_000)),
    "equal-gaps-10": Amount((3, 8, 14), (80, 1_500)),
    "equal-gaps-100": Amount((3, 6, 9), (25, 300)),
    "mixed-gaps": Amount((0, 2, 3), (120, 1_000)),
}


@dataclass(frozen=True, eq=False)
class StudyPoint:
    """One point of a figure: the value swept, the experiment, and the regret of each policy, one value per run."""

    value: float
    experiment: Experiment
    regret: Mapping[str, Floats]

    @property
    def told(self) -> bool:
        """Whether the gaps can be told from 0 in these rounds, where all gaps are the same."""
        problem = self.experiment.problems[0]
        equal = len(set(problem.gaps)) == 2
        return not equal or max(problem.gaps) >= TELLABLE * math.sqrt(problem.arms / self.experiment.horizon)

    def __str__(self) -> str:
        return f"{self.experiment.problems[0].name}, n = {format_power(self.experiment.horizon)}"


def without_logs() -> Policy:
    """Return OCUCB-n as the author plays it: η = 1, ρ = 1/2, B = t/(T k)."""
    return without_warning(OCUCBn, 1.0, 0.5, "all")


@kernel
def level_undivided(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return math.log(max(math.e, t * math.log(t)))


def undivided() -> Policy:
    """Return the index with B = t log t, not divided by T k."""
    return LevelPolicy("ocucb-n, undivided", level_undivided, trend="rises")


def log_squared() -> Policy:
    """Return OCUCB-n with η = 1 and t log² t for t log t: one logarithm more, not none."""
    return LevelPolicy("ocucb-n with log² t", level_squared, {"eta": 1.0}, trend="rises", rho=0.5)


def check_rival(
    effort: Effort, *, rival: str, algorithm: Callable[[], Policy] = without_logs, figures: bool = True
) -> Finding:
    """Ask whether the algorithm has less mean regret than its rival at every point where gaps can be told.

    figures : play all policies of the studies and draw them, not these two only.
    """
    known = Study.built_in()
    studies = [known[name] for name in AMOUNTS]
    played = [_play(study, effort, algorithm, rival, figures) for study in studies]
    points = [point for row in played for point in row]
    asked = sum(point.told for point in points)
    changes = [change(point.regret[NO_LOGS], point.regret[rival], asked) for point in points]
    decisive = [k for k, point in enumerate(points) if point.told]
    conclusion = at_most([changes[k] for k in decisive], [0.0] * asked)
    worst = max(decisive, key=lambda k: changes[k].high)
    best = min(decisive, key=lambda k: changes[k].value)
    better = sum(changes[k].high <= 0.0 for k in decisive)
    case = f"{points[worst]}: {format_percent(changes[worst])}"
    return Finding(
        conclusion,
        f"Less regret than {rival}, with the whole interval, at {better} of {asked} points. Most: {points[best]}: "
        f"{format_percent(changes[best])}; least: {case}.",
        ALARM,
        f"Mean regret against {rival}, {case}." if conclusion is Conclusion.FAILS else "",
        (_table(points, changes, rival),),
        tuple(_chart(study, row) for study, row in zip(studies, played, strict=True)) if figures else (),
    )


def _play(study: Study, effort: Effort, algorithm: Callable[[], Policy], rival: str, figures: bool) -> list[StudyPoint]:
    """Play a study with the algorithm in the place of OCUCB-n without logarithms: it and its rival, or all policies."""
    with warnings.catch_warnings():  # the author plays η = 1, where nothing is guaranteed
        warnings.simplefilter("ignore", GuaranteeWarning)
        experiments = study.experiments("quick")
    amount = AMOUNTS[study.name]
    most, fewer = effort.pick(*amount.runs), effort.pick(*FEWER)
    points = []
    for value, experiment in effort.pick([experiments[k] for k in amount.quick], experiments):
        regret = {}
        for label, policy in experiment.policies:
            compared = label in (NO_LOGS, rival)
            if compared or figures:
                played, runs = algorithm() if label == NO_LOGS else policy, most if compared else most // fewer
                horizon = (experiment.horizon,)
                regret[label] = regrets(played, experiment.problems[0], horizon, runs, effort.seed)[:, 0]
        points.append(StudyPoint(float(value or 0.0), experiment, regret))
    return points


def _table(points: Sequence[StudyPoint], changes: Sequence[Interval], rival: str) -> Table:
    rows = []
    for point, moved in zip(points, changes, strict=True):
        means = (f"{point.regret[label].mean():.1f}" for label in (rival, NO_LOGS))
        runs = str(point.regret[rival].size)
        rows.append((str(point), runs, *means, format_percent(moved), "yes" if point.told else "no"))
    return Table(
        "Mean regret on the same rewards",
        ("problem", "runs", rival, NO_LOGS, "change", "asked"),
        tuple(rows),
    )


def _chart(study: Study, points: Sequence[StudyPoint]) -> Chart:
    lines = []
    for label in points[0].regret:
        low, value, high = zip(*(mean_interval(point.regret[label]) for point in points), strict=True)
        lines.append(Line(label, [point.value for point in points], value, low, high))
    label, scale = (study.sweep.label, study.sweep.scale) if study.sweep else ("", "linear")
    return Chart(study.title, label, "regret", tuple(lines), x_scale=scale)


_DONE = (
    "The lab's studies of the author's experiments: equal gaps with K = 2, 10 and 100 arms and n = 5000, against the "
    "gap; and gaps of 0.1, 0.5 and 1 together, against n. OCUCB-n has η = 1 and ρ = 1/2 there, outside Theorem 1. On "
    "the same rewards, asked is whether B = t/(T k) has less mean regret than {} at every point with a gap of at "
    "least 2 √(K/n); smaller gaps, which n rounds can hardly tell from 0, are shown and not asked about. {}"
)

CHECKS: tuple[Check, ...] = (
    Check(
        "against UCB",
        ("remarks after thm:main", "shrinking the confidence level"),
        "OCUCB-n significantly improves on UCB before n is large. That is said of the bound; no experiment is printed "
        "with it, and the author's own, which use the index without logarithms, are executed here.",
        _DONE.format("UCB with the level log t", "The charts show all policies of the studies."),
        check_rival,
        Wrong("B = t log t, not divided by T k.", {"algorithm": undivided}),
        {"rival": UCB},
    ),
    Check(
        "with and without logs",
        ("shrinking the confidence level",),
        "Without its logarithms the algorithm does better in experiments.",
        _DONE.format("equation (1)", ""),
        check_rival,
        Wrong("One more logarithm, t log² t for t log t, in place of none.", {"algorithm": log_squared}),
        {"rival": PRINTED, "figures": False},
    ),
)
