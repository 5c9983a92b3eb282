"""The past of an experiment as curves over its decisions, from the few spans that the service keeps of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ocucb.compiled import Floats
from ocucb.labels import Label
from ocucb.service.history import Span

MAX_CHART_BUCKETS = 60
MIN_DECISIONS_PER_BUCKET = 10
RECENT_DECISIONS = 100
MIN_VISIBLE_SHARE = 0.03


class Leader(NamedTuple):
    """The arm that had most of the latest decisions: its share of them, and how many they are."""

    arm: Label
    share: float
    of: int


class ShareCurves(NamedTuple):
    """Shares of decisions: one column per bucket of the past, one row per arm, and last a row for all others.

    `edges` are decisions: bucket j reaches from edges[j] to edges[j + 1].
    """

    edges: Floats
    arms: tuple[Label, ...]
    rows: Floats


class RewardCurve(NamedTuple):
    """The sum of rewards after so many decisions."""

    at: Floats
    total: Floats


def leader(spans: Sequence[Span]) -> Leader | None:
    """Return who leads in the latest spans that hold enough decisions; None before the first."""
    counts: Counter[Label] = Counter()
    decisions = 0
    for span in reversed(spans):
        counts.update(span.pulls)
        decisions += span.decisions
        if decisions >= RECENT_DECISIONS:
            break
    if not counts:
        return None
    arm, count = counts.most_common(1)[0]
    return Leader(arm, count / decisions, decisions)


def shares(spans: Sequence[Span], most: int) -> ShareCurves:
    """Return the shares of the arms with most decisions in all and of late, in buckets that hold several."""
    buckets = _buckets(spans)
    pulls = [_count(bucket) for bucket in buckets]
    arms = _arms_to_name(pulls, most)
    sizes = np.array([sum(span.decisions for span in bucket) for bucket in buckets], dtype=np.float64)
    named = np.array([[count[arm] for count in pulls] for arm in arms], dtype=np.float64).reshape(len(arms), len(sizes))
    rows = np.vstack([named, sizes - named.sum(axis=0)]) / np.maximum(sizes, 1.0)
    return ShareCurves(np.concatenate([[0.0], np.cumsum(sizes)]), arms, rows)


def rewards(spans: Sequence[Span]) -> RewardCurve:
    """Return how the rewards added up."""
    at = np.cumsum([0, *(span.decisions for span in spans)], dtype=np.float64)
    with np.errstate(over="ignore"):
        return RewardCurve(at, np.cumsum([0.0, *(span.total for span in spans)]))


def _buckets(spans: Sequence[Span]) -> list[Sequence[Span]]:
    """Return neighbours together; a last bucket that is less than half full joins the one before."""
    if not spans:
        return []
    size = max(math.ceil(len(spans) / MAX_CHART_BUCKETS), math.ceil(MIN_DECISIONS_PER_BUCKET / spans[0].decisions))
    buckets = [spans[start : start + size] for start in range(0, len(spans), size)]
    if len(buckets) > 1 and 2 * sum(span.decisions for span in buckets[-1]) < size * spans[0].decisions:
        buckets[-2:] = [[*buckets[-2], *buckets[-1]]]
    return buckets


def _count(bucket: Sequence[Span]) -> Counter[Label]:
    count: Counter[Label] = Counter()
    for span in bucket:
        count.update(span.pulls)
    return count


def _arms_to_name(pulls: Sequence[Counter[Label]], most: int) -> tuple[Label, ...]:
    """Return arms in the order in which they first appeared, so that a change of ranks moves nothing."""
    whole: Counter[Label] = Counter()
    for count in pulls:
        whole.update(count)
    if len(whole) <= most:
        return tuple(whole)
    weight = whole.copy()
    for count in pulls[-max(1, len(pulls) // 10) :]:  # who leads now is shown, however little it led before
        for arm, number in count.items():
            weight[arm] += 10 * number
    sizes = [max(1, sum(count.values())) for count in pulls]
    kept = {
        arm
        for arm, _ in weight.most_common(most)
        if any(count[arm] >= MIN_VISIBLE_SHARE * size for count, size in zip(pulls, sizes, strict=True))
    }
    return tuple(arm for arm in whole if arm in kept)
