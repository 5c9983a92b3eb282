"""What one bandit has learned, added to another."""

from __future__ import annotations

import numpy as np

from ocucb.arms import Arms
from ocucb.saving import SavedBandit
from ocucb.selection.moments import no_moments


def add_learned(arms: Arms, theirs: SavedBandit) -> bool:
    """Add rewards and their pulls, and the arms that are missing; False, and no change, if a sum would not be finite.

    Pending choices stay where they are. A missing arm that is retired there is retired here.
    """
    selector, count = arms.selector, len(arms.labels)
    missing = [label for label in theirs.labels if label not in arms.slots]
    slots = np.array([arms.slots.get(label, -1) for label in theirs.labels], dtype=np.int64)
    new = slots < 0
    slots[new] = count + np.arange(len(missing))
    totals = np.zeros(count + len(missing))
    totals[:count] = selector.arms["total"]
    with np.errstate(over="ignore"):
        totals[slots] += theirs.totals
    moments = None
    if theirs.moments is not None:
        moments = no_moments(len(totals))
        moments[slots] = theirs.moments
        with np.errstate(over="ignore"):
            totals[:count] += np.add(selector.moments["squares"], moments["squares"][:count])  # must be finite, too
    if not np.isfinite(totals).all():
        return False
    arms.add(missing)
    learned, added = np.zeros(len(totals), np.int64), np.zeros(len(totals))
    learned[slots], added[slots] = theirs.learned, theirs.totals
    selector.absorb(learned, learned, added, moments)
    selector.retire_many(slots[new & theirs.retired])
    return True
