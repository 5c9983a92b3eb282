"""A selector in memory: arms in numbered slots, their statistics, and the next choice."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ocucb.compiled import BOUND, DIVERGENCE, LEVEL, SCORE, Floats, Integers, address
from ocucb.noise.noise import Family
from ocucb.policies.policy import Chances, Rule, Trend
from ocucb.selection import changes, operations, subset
from ocucb.selection.by_address import addresses
from ocucb.selection.ceilings import may_have_ceilings
from ocucb.selection.leader import may_lead
from ocucb.selection.moments import merge_moments, plain_spreads, renew_spreads
from ocucb.selection.operations import STALE
from ocucb.selection.remembered import remembered_data, take_over
from ocucb.selection.state import DISCOUNT, EVERYTHING, GUARDED, NO_SPREADS, PLAIN, RESTART, WINDOW, Memory, set_means

# Memory for arms still to come: one more for so many, so that the first ones need no copy of everything.
SPARE = 256

_ALL = np.empty(0, np.int64)


class Selector:
    """Chooses among numbered arms by a rule and a noise family. Trusts its callers, and only one of them at a time.

    Unless `changing`, its arms stay as they are and no pull is forgotten: its bounds are then a little tighter, and
    a simulation may let the leader run.
    """

    def __init__(
        self,
        rule: Rule,
        family: Family,
        seed: int,
        arms: int,
        changing: bool = True,
    ) -> None:
        self._forgets = rule.forgets
        own_trend, ceilings = rule.trend, may_have_ceilings(rule, family)
        if self._forgets:  # every index can change in every round, so each round is a scan
            rule = rule._replace(trend=Trend.NEITHER, samples=False)
        bound = {"divergence": family.upper, "posterior": family.posterior, "switch": family.switch}[rule.bound]
        self._rule, self._family = rule, family
        spreads = GUARDED if family.spreads else NO_SPREADS if rule.variance_bound is None else PLAIN
        self._constants = np.asarray(rule.parameters, dtype=float), np.asarray(family.parameters, dtype=float)
        self._settings: dict[str, Any] = {
            "reads_effective": rule.rho is not None,
            "ordered": bool(rule.rho),
            "rho": rule.rho or 0.0,
            "trend": int(rule.trend),
            "own_trend": int(own_trend),
            "ceilings": ceilings,
            "with_arms": int(rule.with_arms),
            "shared": rule.shared,
            "samples": rule.samples,
            "signed": rule.bound == "switch",
            "changing": changing,
            "leads": may_lead(rule) and not changing and not spreads,
            "spreads": spreads,
            "memory": WINDOW if rule.window else DISCOUNT if rule.factor else RESTART if rule.restart else EVERYTHING,
            "window": rule.window,
            "factor": rule.factor,
            "delta": rule.restart,
            "exploration": rule.exploration,
            "horizon": rule.horizon or 0,
            "seed": seed,
            **addresses(rule, ceilings),
            "level": address(rule.level, LEVEL) if rule.level else 0,
            "score": address(rule.score, SCORE) if rule.score else 0,
            "bound": address(rule.variance_bound or bound, BOUND),
            "upper": address(family.upper, BOUND) if rule.score else 0,
            "divergence": address(family.divergence, DIVERGENCE) if rule.score or rule.restart else 0,
            "posterior": address(family.posterior, BOUND) if rule.score else 0,
            "parameters": self._constants[0].ctypes.data,
            "family": self._constants[1].ctypes.data,
        }
        self._known = np.empty(5)
        capacity = max(1, arms + arms // SPARE if changing else arms)
        self._use(Memory(capacity, rule.samples, bool(spreads), self._forgets))
        for name, value in self._settings.items():
            self._state[name] = value
        self._add_slots(arms)

    def _use(self, memory: Memory) -> None:
        self._memory, self._state, self.address = memory, memory.state, memory.address
        memory.arrays["moments"]["range"] = self._family.width * self._rule.range_weight

    def add(self, count: int = 1) -> None:
        """Add arms, never pulled, in the next slots."""
        slots = self.slots
        if slots + count > len(self._memory.arms):
            self._use(self._memory.with_capacity(max(2 * slots, slots + count)))
            changes.renew_trees(self.address)
        if count == 1:
            changes.add_arm(self.address)
        else:
            self._add_slots(count)

    def _add_slots(self, count: int) -> None:
        slots = self.slots
        self._memory.arms["active"][slots : slots + count] = 1
        self._state["slots"] = slots + count
        self._recount()

    def retire(self, slot: int) -> None:
        """Take an arm out of play; it must not be the last."""
        changes.retire(self.address, slot)

    def retire_many(self, slots: Integers) -> None:
        """Take arms out of play, at the cost of making order and bounds anew."""
        self._memory.arms["active"][slots] = 0
        self._recount()

    def bring_back(self, slot: int) -> None:
        """Take a retired arm into play again with what it had."""
        changes.bring_back(self.address, slot)

    def is_retired(self, slot: int) -> bool:
        """Return whether an arm is out of play."""
        return not self._memory.arms["active"][slot]

    def _recount(self) -> None:
        """Note that many arms or their statistics changed."""
        arms = self.arms
        self._state["active"] = np.count_nonzero(arms["active"])
        self._state["unpulled"] = np.count_nonzero((arms["pulls"] == 0.0) & (arms["active"] == 1))
        self._state["cursor"], self._state["stale"] = 0, 1

    def _rebuild(self) -> None:
        if self._settings["ordered"]:
            members = np.flatnonzero(self.arms["active"])
            sorting = np.argsort(self.arms["pulls"][members], kind="stable")
            self._memory.arrays["order"][: len(members)] = members[sorting]
        operations.rebuild_at(self.address)

    def peek(self) -> int:
        """Return the slot to play next: -1 if the horizon has passed."""
        slot = operations.peek(self.address)
        if slot == STALE:
            self._rebuild()
            slot = operations.peek(self.address)
        return slot

    def choose(self) -> int:
        """Return the slot to play next and count the pull: -1 if the horizon has passed."""
        if self._forgets:
            self._make_room()
        slot = operations.choose(self.address)
        if slot == STALE:
            self._rebuild()
            slot = operations.choose(self.address)
        return slot

    def decide(self) -> tuple[int, list[float]]:
        """Do as `choose`, and return also what was known of the arm before (see operations.decide)."""
        if self._forgets:
            self._make_room()
        slot = operations.decide(self.address, self._known, self._rule.rho is not None)
        if slot == STALE:
            self._rebuild()
            slot = operations.decide(self.address, self._known, self._rule.rho is not None)
        return slot, self._known.tolist()

    def peek_among(self, slots: Integers) -> int:
        """Return which of these slots to play next: -1 if the horizon has passed, subset.RETIRED if one is retired."""
        slot = subset.peek_among(self.address, slots)
        if slot == STALE:
            self._rebuild()
            slot = subset.peek_among(self.address, slots)
        return slot

    def choose_among(self, slots: Integers) -> int:
        """Do as `peek_among`, and count the pull."""
        if self._forgets:
            self._make_room()
        slot = subset.choose_among(self.address, slots)
        if slot == STALE:
            self._rebuild()
            slot = subset.choose_among(self.address, slots)
        return slot

    def decide_among(self, slots: Integers) -> tuple[int, list[float]]:
        """Do as `choose_among`, and return also what was known of the arm before."""
        if self._forgets:
            self._make_room()
        slot = subset.decide_among(self.address, slots, self._known, self._rule.rho is not None)
        if slot == STALE:
            self._rebuild()
            slot = subset.decide_among(self.address, slots, self._known, self._rule.rho is not None)
        return slot, self._known.tolist()

    def describe(self, slot: int, among: Integers | None) -> list[float]:
        """Return what is known of an arm, in a choice among some slots or all."""
        if self._state["stale"][0]:
            self._rebuild()
        slots = _ALL if among is None else among
        subset.describe_among(self.address, slot, slots, self._known, self._rule.rho is not None)
        return self._known.tolist()

    def describe_many(self, slots: Integers) -> Floats:
        """Return what is known of some arms, a row each: pulls, rewards, mean, index, effective arms."""
        if self._state["stale"][0]:
            self._rebuild()
        known = np.empty(5 * len(slots))
        operations.describe_many(self.address, slots, known, self._rule.rho is not None)
        return known.reshape(-1, 5)

    def chance(self, slot: int, among: Integers | None, chances: Chances) -> float:
        """Return how likely a score chooses a slot among some or all."""
        return subset.chance(self.address, slot, _ALL if among is None else among, *chances)

    def rank(self, count: int) -> list[int]:
        """Return so many different slots by falling index, at most those in play; none if the horizon would pass."""
        if self._state["stale"][0]:
            self._rebuild()
        chosen, tops = np.empty(count, np.int64), np.empty(count)
        found = subset.rank(self.address, chosen, tops)
        return [int(slot) for slot in chosen[: max(0, found)]]

    def learn(self, slot: int, reward: float) -> bool:
        """Take a reward; False, and no change, if the arm's sum would not be finite."""
        if self._forgets:
            self._make_room()
        return operations.learn(self.address, slot, reward)

    def learn_many(self, slots: Integers, rewards: Floats) -> bool:
        """Take rewards one after another; False, and no change, if a sum would not be finite."""
        if self._forgets:
            return self._learn_in_turn(slots, rewards)
        before, moments = self.arms["total"].copy(), self._memory.arrays["moments"].copy()
        if not operations.add_totals(self.address, slots, rewards):
            self.arms["total"] = before
            self._memory.arrays["moments"][:] = moments
            return False
        counts = np.bincount(slots, minlength=self.slots)
        pending = self.arms["pulls"] - self.arms["learned"]
        self._add(np.maximum(0, counts - pending), counts)
        return True

    def known_of(self, slot: int) -> tuple[float, float, float]:
        """Return pulls and rewards of all time of a slot, and the mean of those remembered, nan without one."""
        this = self.arms[slot]
        counts = self.ever[slot] if self._forgets else this
        return float(counts["pulls"]), float(counts["learned"]), float(this["mean"]) if this["learned"] > 0 else np.nan

    def remembered_pulls(self) -> Floats | None:
        """Return how many pulls of each slot are remembered, pending ones included; None if nothing is forgotten."""
        return np.multiply(self.arms["pulls"], self._state["unit"]) if self._forgets else None

    def remembered(self) -> dict[str, Any]:
        """Return what is remembered, as plain data."""
        return remembered_data(self._memory, self.slots)

    def remember(self, pulls: Integers, learned: Integers, totals: Floats, remembered: dict[str, Any]) -> None:
        """Take over all-time statistics and what is remembered, as `remembered` returned it."""
        ever = self.ever
        ever["pulls"], ever["learned"], ever["total"] = pulls, learned, totals
        self._state["rounds"] = int(pulls.sum())
        take_over(self._memory, self.slots, remembered)
        self._recount()

    def reserve_memory(self, rounds: int) -> None:
        """Make room for all that a window or a restart can remember in so many rounds."""
        if self._rule.window:
            self._memory.make_room_for_events(min(self._rule.window, rounds) + rounds + 2)
        if self._rule.restart:
            self._memory.make_room_for_corners(2 * rounds)

    def _make_room(self) -> None:
        """Make room for what one call adds: the events of a pull and a reward, or a corner on each side of a hull."""
        if self._rule.window:
            self._memory.make_room_for_events(int(self._state["events_count"][0]) + 2)
        elif self._rule.restart:
            self._memory.make_room_for_corners(int(self._state["corners_used"][0]) + 2)

    def _learn_in_turn(self, slots: Integers, rewards: Floats) -> bool:
        state, arrays = self._state.copy(), {name: array.copy() for name, array in self._memory.arrays.items()}
        for slot, reward in zip(slots.tolist(), rewards.tolist(), strict=True):
            if not self.learn(slot, reward):
                for name, array in arrays.items():
                    if name in ("events", "corners"):  # which may have become larger
                        self._memory.arrays[name] = array
                    else:
                        self._memory.arrays[name][:] = array
                self._state[:] = state
                for name in ("events", "corners"):
                    self._state[name] = self._memory.arrays[name].ctypes.data
                return False
        return True

    def absorb(
        self, pulls: npt.NDArray[Any], learned: Integers, totals: Floats, moments: npt.NDArray[Any] | None = None
    ) -> None:
        """Add statistics, one entry per slot; moments, if they are kept."""
        if moments is not None:
            merge_moments(self.moments, self.arms["total"], moments, totals)
        self.arms["total"] += totals
        self._add(pulls, learned)

    def _add(self, pulls: npt.NDArray[Any], learned: Integers) -> None:
        arms = self.arms
        arms["pulls"] += pulls
        arms["learned"] += learned
        set_means(arms, arms["total"], arms["learned"])
        self._state["rounds"] += int(pulls.sum())
        if self.keeps_moments:
            renew_spreads(self.address)
        self._recount()

    def revise(self, slot: int, learned: int, total: float) -> None:
        """Replace the rewards of an arm and the pulls that had them, at the cost of making order and bounds anew."""
        arm = self.arms[slot : slot + 1]
        more = learned - int(arm["learned"][0])
        arm["pulls"] += more
        arm["learned"], arm["total"], arm["mean"] = learned, total, total / learned if learned else 0.0
        self._state["rounds"] += more
        self._recount()

    def count_pull(self, slot: int) -> None:
        """Count a pull; its reward is pending."""
        if self._forgets:
            self._make_room()
        operations.count_pull(self.address, slot)

    def forget(self, slot: int) -> bool:
        """Take back a pending pull; False if there is none."""
        return changes.forget(self.address, slot)

    def indices(self) -> Floats:
        """Return what each slot is compared by in the coming round."""
        if self._state["stale"][0]:
            self._rebuild()
        out = np.empty(self.slots)
        operations.indices(self.address, out)
        return out

    def index(self, slot: int) -> float:
        """Return what one slot is compared by in the coming round."""
        if self._state["stale"][0]:
            self._rebuild()
        return operations.index_of(self.address, slot)

    def effective(self) -> Floats:
        """Return the effective arms of each slot, at the rule's rho or else 1/2; nan if never pulled or retired."""
        if self._rule.rho is None:
            return self._with_rho().effective()
        if self._state["stale"][0]:
            self._rebuild()
        out = np.empty(self.slots)
        operations.effective(self.address, out)
        return out

    def effective_of(self, slot: int) -> float:
        """Return the effective arms of one slot."""
        if self._rule.rho is None:
            return float(self._with_rho().effective()[slot])
        if self._state["stale"][0]:
            self._rebuild()
        return operations.effective_of(self.address, slot)

    def _with_rho(self) -> Selector:
        """Return a twin that keeps its arms in order, to explain a rule that does not."""
        rule = self._rule._replace(rho=0.5, window=0, factor=0.0, restart=0.0, variance_bound=None)
        twin = Selector(rule, self._family, 0, self.slots)
        twin.retire_many(np.flatnonzero(self.arms["active"] == 0))
        moments = self.moments if self._family.spreads else None
        twin.absorb(self.arms["pulls"] * self._state["unit"], self.arms["learned"], self.arms["total"], moments)
        return twin

    @property
    def arms(self) -> npt.NDArray[Any]:
        """The records of the slots in use (a view)."""
        return self._memory.arms[: self.slots]

    @property
    def pulls(self) -> Integers:
        """Pulls of the slots in use, of all time."""
        return (self.ever["pulls"] if self._forgets else self.arms["pulls"]).astype(np.int64)

    @property
    def learned(self) -> Integers:
        """Rewards of the slots in use, of all time."""
        return np.asarray((self.ever if self._forgets else self.arms)["learned"])

    @property
    def totals(self) -> Floats:
        """Sums of the rewards of the slots in use, of all time."""
        return np.asarray((self.ever if self._forgets else self.arms)["total"])

    @property
    def means(self) -> Floats:
        """Means of the remembered rewards of the slots in use; nan without one."""
        return np.where(self.arms["learned"] > 0, self.arms["mean"], np.nan)

    @property
    def ever(self) -> npt.NDArray[Any]:
        """The all-time records of the slots in use (a view); none, unless something forgets."""
        return self._memory.arrays["ever"][: self.slots]

    @property
    def moments(self) -> npt.NDArray[Any]:
        """The moments of the slots in use (a view); none, unless they are kept."""
        return self._memory.arrays["moments"][: self.slots]

    @property
    def keeps_moments(self) -> bool:
        """Whether the family or the rule reads the spread of each arm's rewards."""
        return bool(self._state["spreads"][0])

    def spreads(self) -> Floats | None:
        """Return the spread of each slot's rewards, 0 while they are all equal; None if the family has no spreads."""
        if not self._family.spreads:
            return None
        out = np.empty(self.slots)
        plain_spreads(self.address, out)
        return out

    @property
    def slots(self) -> int:
        """Arms ever added."""
        return int(self._state["slots"][0])

    @property
    def active(self) -> int:
        """Arms in play."""
        return int(self._state["active"][0])

    @property
    def restarts(self) -> int:
        """How often all was forgotten because of a change."""
        return int(self._state["restarts"][0])

    @property
    def rounds(self) -> int:
        """Pulls of all arms, the retired included."""
        return int(self._state["rounds"][0])

    @property
    def evaluations(self) -> int:
        """Indices and bounds computed so far."""
        return int(self._state["evaluations"][0])
