"""An experiment as the page shows it: all that is computed from one look, once for all who watch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ocucb.labels import Label
from ocucb.policies import OCUCBn, Policy
from ocucb.service.definition import Definition
from ocucb.service.requests import View
from ocucb.service.web.page import past, regret
from ocucb.service.web.page.arms import Arms
from ocucb.service.web.page.charts import Band, Chart, Curve, draw_lines, draw_stack, slots
from ocucb.service.web.page.intervals import HOW
from ocucb.service.web.page.numbers import duration, figure, moment, percent, places, real, whole

COLOURS = 6
OTHERS = "others"
WAITING = "There is nothing to show before the first decision."


class Panel(NamedTuple):
    """A chart with what is to be said of it: `words` for those who cannot see it."""

    name: str
    heading: str
    chart: Chart | None
    words: str
    caption: str


class Glance:
    """One look at an experiment. Without arms it knows only what the list of experiments shows."""

    def __init__(self, view: View) -> None:
        spans = view.history
        self.view, self.name, self.status, self.seq = view, view.definition.name, view.status, view.seq
        self.size = len(view.arms)
        self.decisions = sum(span.decisions for span in spans)
        self.rewards = sum(span.rewards for span in spans)
        self.total = sum(span.total for span in spans)
        self.mean = self.total / self.rewards if self.rewards else math.nan
        self.mean_text = real(self.mean, places([self.mean]))
        self.leader = past.leader(spans)
        self.facts = _facts(view.definition)
        if self.size:
            self.arms = Arms(view)
            self.pending = int(self.arms.pending.sum())
            self.interval = HOW[view.definition.noise.name]
            self.styles: dict[Label, str] = {}
            self.panels = self._shares(), self._rewards(), self._regret()

    def _shares(self) -> Panel:
        heading = "Share of decisions"
        spans = self.view.history
        if not self.decisions:
            return Panel("shares", heading, None, "", WAITING)
        shares = past.shares(spans, COLOURS)
        place = {arm: number for number, arm in enumerate((*self.view.arms, *self.view.retired))}
        order = sorted(range(len(shares.arms)), key=lambda row: place.get(shares.arms[row], len(place)))
        colours = slots([place.get(shares.arms[row], len(place)) for row in order], COLOURS)
        self.styles = {shares.arms[row]: f"c{colour}" for row, colour in zip(order, colours, strict=True)}
        bands = [Band(shares.rows[row], str(shares.arms[row]), self.styles[shares.arms[row]]) for row in order]
        if shares.rows[-1].any():
            bands.append(Band(shares.rows[-1], OTHERS, OTHERS))
        leader = self.leader
        words = f"{leader.arm} has {percent(leader.share)} of the last {whole(leader.of)} decisions." if leader else ""
        caption = f"{whole(self.decisions)} decisions since {moment(spans[0].at)}."
        return Panel("shares", heading, draw_stack(heading, shares.edges, bands), words, caption)

    def _rewards(self) -> Panel:
        heading = "Cumulative reward"
        if not self.rewards:
            return Panel("rewards", heading, None, "", "There is nothing to show before the first reward.")
        curve = past.rewards(self.view.history)
        if not np.isfinite(curve.total).all() or not math.isfinite(float(np.ptp(curve.total))):
            return Panel("rewards", heading, None, "", "The sum of the rewards is too large to be drawn.")
        total = figure(self.total)
        chart = draw_lines(heading, [Curve(curve.at, curve.total, "sum", total, "accent")])
        caption = f"{whole(self.rewards)} rewards, {self.mean_text} on average."
        return Panel("rewards", heading, chart, f"{total} so far.", caption)

    def _regret(self) -> Panel:
        heading = "Estimated regret"
        policy, noise, arms = self.view.definition.policy, self.view.definition.noise, self.arms
        rho = float(policy.rho) if isinstance(policy, OCUCBn) else 0.5
        labels = (*arms.labels, *self.view.retired)
        pulls = np.concatenate([arms.pulls, np.asarray(self.view.retired_pulls, dtype=np.float64)])
        means = np.concatenate([arms.means, np.asarray(self.view.retired_means, dtype=np.float64)])
        found = regret.estimate(self.view.history, labels, pulls, means, noise, rho, len(arms.labels))
        if found is None:
            return Panel("regret", heading, None, "", "There is nothing to estimate before the first reward.")
        total = figure(found.total, 3)
        curves = [Curve(found.at, found.estimate, "estimate", total, "accent")]
        if found.shape.size:
            curves.insert(0, Curve(found.shape_at, found.shape, "Theorem 1", "shape", "theory"))
        caption = _regret_caption(policy, bool(found.shape.size))
        return Panel("regret", heading, draw_lines(heading, curves), f"About {total} so far.", caption)


def _regret_caption(policy: Policy, shape: bool) -> str:
    parts = ["Pulls times how far each mean is below the best, by the means as they are estimated today."]
    if shape:
        parts.append("Dashed: the shape of Theorem 1's sum for these means, scaled to meet the estimate; not a bound.")
    else:
        parts.append("The means are too close for Theorem 1 to give a shape.")
    if shape and not isinstance(policy, OCUCBn):
        parts.append(f"The theorem is about OCUCB-n, and this is {policy.name}.")
    return " ".join(parts)


def _facts(definition: Definition) -> tuple[tuple[str, str], ...]:
    """Return what the experiment is, as terms and their values."""
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
    return tuple(facts)


def describe(data: Mapping[str, Any]) -> str:
    """Return a policy or a noise family as text.

    >>> describe({"name": "ucb", "parameters": {"alpha": 2.0, "horizon": None}})
    'ucb, alpha 2'
    """
    given = [f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}" for name, value in _given(data)]
    return ", ".join([data["name"], *given]).lower()


def _given(data: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in data["parameters"].items() if value is not None]
