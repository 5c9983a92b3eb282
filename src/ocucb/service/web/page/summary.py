"""An experiment as the page shows it: all that is computed from one view, once for all viewers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ocucb.labels import Label
from ocucb.memory import Memory, Restart, Window
from ocucb.policies import OCUCBn, Policy
from ocucb.service.replies import View
from ocucb.service.web.page import history_charts, regret
from ocucb.service.web.page.arms import ArmsTable
from ocucb.service.web.page.charts import ChartBand, ChartLine, PageChart, assign_colours, draw_lines, draw_stack
from ocucb.service.web.page.latest import LatestDecision
from ocucb.service.web.page.numbers import counted, date_and_time, duration, figure, percent, places, real, whole

COLOURS = 6
MAX_SHARES_LISTED = 4
OTHERS = "others"
WAITING = "There is nothing to show before the first decision."


class Panel(NamedTuple):
    """A chart with what is to be said of it: `words` for those who cannot see it."""

    name: str
    heading: str
    chart: PageChart | None
    words: str
    caption: str


class ExperimentSummary:
    """A summary of an experiment. Without arms it knows only what the list of experiments shows."""

    def __init__(self, view: View) -> None:
        spans = view.history
        self.view, self.name, self.status, self.seq = view, view.definition.name, view.status, view.seq
        self.size = len(view.arms)
        self.decisions = sum(span.decisions for span in spans)
        self.rewards = sum(span.rewards for span in spans)
        self.total = sum(span.total for span in spans)
        self.mean = self.total / self.rewards if self.rewards else math.nan
        self.mean_text = real(self.mean, places([self.mean]))
        self.leader = history_charts.leader(spans)
        self.facts = _facts(view)
        self.shares = {arm: percent(share) for arm, share in view.shares}
        self.latest: tuple[LatestDecision, ...] | None = None  # read when somebody looks
        if self.size:
            self.arms = ArmsTable(view)
            self.pending = int(self.arms.pending.sum())
            self.intervals_note = _intervals_note(view)
            self.verdict = _verdict_lines(view)
            self.open_arms = set() if view.verdict is None else set(view.verdict.contenders)
            self.styles: dict[Label, str] = {}
            self.panels = self._shares(), self._rewards(), self._regret()

    def _shares(self) -> Panel:
        heading = "Share of decisions"
        spans = self.view.history
        if not self.decisions:
            return Panel("shares", heading, None, "", WAITING)
        shares = history_charts.shares(spans, COLOURS)
        place = {arm: number for number, arm in enumerate((*self.view.arms, *self.view.retired))}
        order = sorted(range(len(shares.arms)), key=lambda row: place.get(shares.arms[row], len(place)))
        colours = assign_colours([place.get(shares.arms[row], len(place)) for row in order], COLOURS)
        self.styles = {shares.arms[row]: f"c{colour}" for row, colour in zip(order, colours, strict=True)}
        bands = [ChartBand(shares.rows[row], str(shares.arms[row]), self.styles[shares.arms[row]]) for row in order]
        if shares.rows[-1].any():
            bands.append(ChartBand(shares.rows[-1], OTHERS, OTHERS))
        leader = self.leader
        words = f"{leader.arm} has {percent(leader.share)} of the last {whole(leader.of)} decisions." if leader else ""
        caption = f"{counted(self.decisions, 'decision')} since {date_and_time(spans[0].at)}."
        return Panel("shares", heading, draw_stack(heading, shares.edges, bands), words, caption)

    def _rewards(self) -> Panel:
        heading = "Cumulative reward"
        if not self.rewards:
            return Panel("rewards", heading, None, "", "There is nothing to show before the first reward.")
        curve = history_charts.rewards(self.view.history)
        if not np.isfinite(curve.total).all() or not math.isfinite(float(np.ptp(curve.total))):
            return Panel("rewards", heading, None, "", "The sum of the rewards is too large to be drawn.")
        total = figure(self.total)
        chart = draw_lines(heading, [ChartLine(curve.at, curve.total, "sum", total, "accent")])
        caption = f"{counted(self.rewards, 'reward')}, {self.mean_text} on average."
        return Panel("rewards", heading, chart, f"{total} so far.", caption)

    def _regret(self) -> Panel:
        heading = "Estimated regret"
        policy, noise, arms = self.view.definition.policy, self.view.definition.noise, self.arms
        if self.view.definition.memory is not None:
            caption = "There is no estimate: means that drift are not what they were when most decisions were made."
            return Panel("regret", heading, None, "", caption)
        rho = float(policy.rho) if isinstance(policy, OCUCBn) else 0.5
        labels = (*arms.labels, *self.view.retired)
        pulls = np.concatenate([arms.pulls, np.asarray(self.view.retired_pulls, dtype=np.float64)])
        means = np.concatenate([arms.means, np.asarray(self.view.retired_means, dtype=np.float64)])
        found = regret.estimate(self.view.history, labels, pulls, means, noise, rho, len(arms.labels))
        if found is None:
            return Panel("regret", heading, None, "", "There is nothing to estimate before the first reward.")
        total = figure(found.total, 3)
        curves = [ChartLine(found.at, found.estimate, "estimate", total, "accent")]
        if found.shape.size:
            curves.insert(0, ChartLine(found.shape_at, found.shape, "Theorem 1", "shape", "theory"))
        caption = _regret_caption(policy, bool(found.shape.size))
        return Panel("regret", heading, draw_lines(heading, curves), f"About {total} so far.", caption)


def _regret_caption(policy: Policy, shape: bool) -> str:
    parts = ["Pulls times how far each mean is below the best, by the means as they are estimated today."]
    if shape:
        parts.append("Dashed: the shape of Theorem 1's sum for these means, scaled to meet the estimate; not a bound.")
    else:
        parts.append("Theorem 1 gives no shape: the means are too close, or the scale of rewards is unknown.")
    if shape and not isinstance(policy, OCUCBn):
        parts.append(f"The theorem is about OCUCB-n, and this is {policy.name}.")
    return " ".join(parts)


def _verdict_lines(view: View) -> tuple[str, ...]:
    """Return what can be said of which arm is best: the main line first."""
    found, memory = view.verdict, view.definition.memory
    if memory is not None:
        return ("No verdict.", "What drifts has no one mean to be sure of; the policy sees only what it remembers.")
    if found is None:
        return ()
    sure = percent(found.confidence)
    if view.winner is not None:
        sure = percent(view.winner_confidence or found.confidence)
        return (f"{view.winner} has won and is the only arm played.", f"It was certain at {sure}.")
    if found.best is not None:
        return (f"{found.best} is the best arm.", f"Certain at {sure}, however often one looks.")
    out = len(found.ruled_out)
    left = f"{whole(len(found.contenders))} arms may be the best" + (f"; {whole(out)} ruled out." if out else ".")
    if found.rounds_needed is None:
        return ("No winner yet.", left)
    more = f"About {whole(found.rounds_needed)} more decisions, if means and shares stay as they are."
    return ("No winner yet.", f"{left} {more}")


def _facts(view: View) -> tuple[tuple[str, str], ...]:
    """Return what the experiment is, as terms and their values."""
    definition = view.definition
    facts = [("Policy", describe(definition.policy.to_dict())), ("Noise", describe(definition.noise.to_dict()))]
    if definition.window is None:
        facts.append(("Rewards", "awaited without end"))
    else:
        default = definition.on_expiry
        then = "the decision is forgotten" if default == "forget" else f"it is {default:g}"
        late = "accepted and not counted" if definition.late == "accept" else "refused"
        facts.append(("Rewards", f"awaited for {duration(definition.window)}, then {then}; later ones are {late}"))
    if definition.sticky is not None:
        facts.append(("Sticky", f"a unit keeps its arm for {duration(definition.sticky)}"))
    if definition.partial_rewards:
        facts.append(("Parts", "summed when the time has passed"))
    if definition.memory is not None:
        facts.append(("Memory", describe_memory(definition.memory)))
    if view.shares:
        some = ", ".join(f"{arm} {percent(share)}" for arm, share in view.shares[:MAX_SHARES_LISTED])
        facts.append(("Shares", some + (", …" if len(view.shares) > MAX_SHARES_LISTED else "")))
    if view.winner_confidence is not None and view.winner is None:
        facts.append(("Winner", f"alone is played once it is certain at {percent(view.winner_confidence)}"))
    return tuple(facts)


def _intervals_note(view: View) -> str:
    noise = view.definition.noise
    if view.definition.memory is not None:
        return "Means are of the rewards that are remembered. What drifts has no one mean, so there are no intervals."
    if noise.evidence() is not None:
        return "Intervals are right at all times at once, at 95 %, whatever the policy and however often one looks."
    return (
        f"Intervals are pointwise, at 95 %: {noise.interval_method}. They do not allow for arms being sampled "
        "adaptively, so they are a guide and no test."
    )


def describe_memory(memory: Memory) -> str:
    """Return a memory in words.

    >>> describe_memory(Window(5000))
    'the last 5,000 decisions'
    """
    if isinstance(memory, Window):
        return f"the last {whole(memory.rounds)} decisions"
    if isinstance(memory, Restart):
        return "all since a change was seen"
    return f"fades by {memory.factor:g} per decision, about {whole(1.0 / (1.0 - memory.factor))}"


def describe(data: Mapping[str, Any]) -> str:
    """Return a policy or a noise family as text.

    >>> describe({"name": "ucb", "parameters": {"alpha": 2.0, "horizon": None}})
    'ucb, alpha 2'
    """
    given = [f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}" for name, value in _given(data)]
    return ", ".join([data["name"], *given]).lower()


def _given(data: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in data["parameters"].items() if value is not None]
