"""A selector in memory: arms in numbered slots, their statistics, and the next choice."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ocucb.compiled import BOUND, DIVERGENCE, LEVEL, SCORE, Floats, Integers, address
from ocucb.noise.noise import Family
from ocucb.policies.policy import Rule
from ocucb.selection import steps
from ocucb.selection.state import Memory


class Selector:
    """Chooses among numbered arms by a rule and a noise family. Trusts its callers, and only one of them at a time."""

    def __init__(self, rule: Rule, family: Family, seed: int, arms: int) -> None:
        bound = {"divergence": family.upper, "posterior": family.posterior, "switch": family.switch}[rule.bound]
        self._rule, self._family = rule, family
        self._constants = np.asarray(rule.parameters, dtype=float), np.asarray(family.parameters, dtype=float)
        self._settings: dict[str, Any] = {
            "ordered": bool(rule.rho),
            "rho": rule.rho or 0.0,
            "trend": int(rule.trend),
            "shared": rule.shared,
            "signed": rule.bound == "switch",
            "horizon": rule.horizon or 0,
            "seed": seed,
            "level": address(rule.level, LEVEL) if rule.level else 0,
            "score": address(rule.score, SCORE) if rule.score else 0,
            "bound": address(bound, BOUND),
            "divergence": address(family.divergence, DIVERGENCE),
            "posterior": address(family.posterior, BOUND),
            "parameters": self._constants[0].ctypes.data,
            "family": self._constants[1].ctypes.data,
        }
        self._why = np.empty(5)
        self._reserve(max(1, arms))
        self.add(arms)

    def _reserve(self, capacity: int) -> None:
        self._memory = Memory(capacity)
        self._state = self._memory.state
        for name, value in self._settings.items():
            self._state[name] = value
        self.address = self._memory.address

    def add(self, count: int = 1) -> None:
        """Add arms, never pulled, in the next slots."""
        slots = self.slots
        if slots + count > len(self._memory.arms):
            old = self._memory.arms[:slots], self.rounds
            self._reserve(max(2 * slots, slots + count))
            self._memory.arms[:slots], self._state["rounds"] = old
            self._memory.arms["bucket"] = -1
        self._memory.arms["active"][slots : slots + count] = 1
        self._state["slots"] = slots + count
        self._recount()

    def set_active(self, slots: int | npt.NDArray[np.intp], active: bool) -> None:
        """Take arms out of the game, or bring them back with what they had."""
        self._memory.arms["active"][slots] = active
        self._recount()

    def _recount(self) -> None:
        """Note that the set of arms or their statistics changed."""
        arms = self.arms
        self._state["active"] = np.count_nonzero(arms["active"])
        self._state["fresh"] = np.count_nonzero((arms["pulls"] == 0.0) & (arms["active"] == 1))
        self._state["cursor"], self._state["stale"] = 0, 1

    def _rebuild(self) -> None:
        if self._settings["ordered"]:
            members = np.flatnonzero(self.arms["active"])
            sorting = np.argsort(self.arms["pulls"][members], kind="stable")
            self._memory.arrays["order"][: len(members)] = members[sorting]
        steps.rebuild_at(self.address)

    def peek(self) -> int:
        """Return the slot to play next: -1 if the horizon has passed."""
        slot = steps.peek(self.address)
        if slot == steps.STALE:
            self._rebuild()
            slot = steps.peek(self.address)
        return slot

    def choose(self) -> int:
        """Return the slot to play next and count the pull: -1 if the horizon has passed."""
        slot = steps.choose(self.address)
        if slot == steps.STALE:
            self._rebuild()
            slot = steps.choose(self.address)
        return slot

    def decide(self) -> tuple[int, list[float]]:
        """Do as `choose`, and return also what was known of the arm before (see steps.decide)."""
        slot = steps.decide(self.address, self._why, self._rule.rho is not None)
        if slot == steps.STALE:
            self._rebuild()
            slot = steps.decide(self.address, self._why, self._rule.rho is not None)
        return slot, self._why.tolist()

    def learn(self, slot: int, reward: float) -> bool:
        """Take a reward; False, and no change, if the arm's sum would not be finite."""
        return steps.learn(self.address, slot, reward)

    def learn_many(self, slots: Integers, rewards: Floats) -> bool:
        """Take rewards one after another; False, and no change, if a sum would not be finite."""
        before = self.arms["total"].copy()
        if not steps.add_totals(self.address, slots, rewards):
            self.arms["total"] = before
            return False
        counts = np.bincount(slots, minlength=self.slots)
        pending = self.arms["pulls"] - self.arms["learned"]
        self._add(np.maximum(0, counts - pending), counts)
        return True

    def absorb(self, pulls: Integers, learned: Integers, totals: Floats) -> None:
        """Add statistics, one entry per slot."""
        self.arms["total"] += totals
        self._add(pulls, learned)

    def _add(self, pulls: npt.NDArray[Any], learned: Integers) -> None:
        arms = self.arms
        arms["pulls"] += pulls
        arms["learned"] += learned
        known = arms["learned"] > 0
        arms["mean"][known] = arms["total"][known] / arms["learned"][known]
        self._state["rounds"] += int(pulls.sum())
        self._recount()

    def forget(self, slot: int) -> bool:
        """Take back a pending pull; False if there is none."""
        return steps.forget(self.address, slot)

    def indices(self) -> Floats:
        """Return what each slot is compared by in the coming round."""
        if self._state["stale"][0]:
            self._rebuild()
        out = np.empty(self.slots)
        steps.indices(self.address, out)
        return out

    def index(self, slot: int) -> float:
        """Return what one slot is compared by in the coming round."""
        if self._state["stale"][0]:
            self._rebuild()
        return steps.index_of(self.address, slot)

    def effective(self) -> Floats:
        """Return the effective arms of each slot, at the rule's rho or else 1/2; nan if never pulled or retired."""
        if self._rule.rho is None:
            return self._with_rho().effective()
        if self._state["stale"][0]:
            self._rebuild()
        out = np.empty(self.slots)
        steps.effective(self.address, out)
        return out

    def effective_of(self, slot: int) -> float:
        """Return the effective arms of one slot."""
        if self._rule.rho is None:
            return float(self._with_rho().effective()[slot])
        if self._state["stale"][0]:
            self._rebuild()
        return steps.effective_of(self.address, slot)

    def _with_rho(self) -> Selector:
        """Return a twin that keeps its arms in order, to explain a rule that does not."""
        rule = self._rule._replace(rho=0.5)
        twin = Selector(rule, self._family, 0, self.slots)
        twin.set_active(np.flatnonzero(self.arms["active"] == 0), False)
        twin.absorb(self.arms["pulls"].astype(np.int64), self.arms["learned"], self.arms["total"])
        return twin

    @property
    def arms(self) -> npt.NDArray[Any]:
        """The records of the slots in use (a view)."""
        return self._memory.arms[: self.slots]

    @property
    def slots(self) -> int:
        """Arms ever added."""
        return int(self._state["slots"][0])

    @property
    def active(self) -> int:
        """Arms in play."""
        return int(self._state["active"][0])

    @property
    def rounds(self) -> int:
        """Pulls of all arms, the retired included."""
        return int(self._state["rounds"][0])

    @property
    def looks(self) -> int:
        """Indices and bounds computed so far."""
        return int(self._state["looks"][0])
