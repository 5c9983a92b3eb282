"""The arms of a bandit: their labels, and the slots of its selector."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from ocucb.compiled import Integers
from ocucb.errors import ArmError, ParameterError
from ocucb.labels import Label, clean_label
from ocucb.selection import Selector


class Arms:
    """Labels, each with the slot in which a selector keeps its arm. Only the holder of the bandit's lock may ask."""

    def __init__(self, labels: list[Label], selector: Selector) -> None:
        self.labels, self.selector = labels, selector
        self.first = len(labels)  # how many were there at the start
        self.numbers = self._count_numbers()
        # Numbers are their own slots: the same objects, which saves 32 bytes an arm.
        slots: Any = labels if self.numbers == len(labels) else range(len(labels))
        self.slots: dict[Label, int] = dict(zip(labels, slots, strict=True))

    def _count_numbers(self, numbers: int = 0) -> int:
        """Return how many of the first labels are their slots, as all are unless somebody named the arms."""
        while numbers < len(self.labels) and self.labels[numbers] == numbers:
            numbers += 1
        return numbers

    def slot(self, label: Label) -> int:
        """Return the slot of an arm, retired or not."""
        try:
            return self.slots[label]
        except (KeyError, TypeError):  # not there, or no label at all
            raise self._unknown(label) from None

    def slots_among(self, labels: Iterable[Label]) -> Integers:
        """Return the slots of one or more arms, of which some may be retired."""
        if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
            raise ParameterError(f"among must be a list of labels of arms, got {labels!r}; for one arm, a list of it")
        labels = labels if isinstance(labels, list | tuple) else list(labels)
        if not labels:
            raise ArmError("among must name at least one arm, got none")
        if isinstance(labels[0], bool | np.bool_):  # which would count as the arms 0 and 1
            raise ParameterError("among must be a list of labels of arms, got truth values; name the arms that may be")
        if self.numbers and type(labels[0]) is int:
            slots = np.array(labels)
            if slots.dtype == np.int64 and slots.ndim == 1 and slots.min() >= 0 and slots.max() < self.numbers:
                return slots
        try:
            return np.fromiter(map(self.slots.__getitem__, labels), np.int64, len(labels))
        except (KeyError, TypeError):
            return np.array([self.slot(label) for label in labels], dtype=np.int64)

    def add(self, labels: list[Label]) -> None:
        """Add arms, none of them there yet."""
        self.slots.update((label, len(self.labels) + i) for i, label in enumerate(labels))
        self.labels += labels
        self.numbers = self._count_numbers(self.numbers)
        self.selector.add(len(labels))

    def playing(self) -> npt.NDArray[np.intp]:
        """Return the slots of the arms in play."""
        return np.flatnonzero(self.selector.arms["active"])

    def retired(self) -> npt.NDArray[np.intp]:
        """Return the slots of the retired arms."""
        return np.flatnonzero(self.selector.arms["active"] == 0)

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return one column of the records of the arms in play."""
        return self.selector.arms[name][self.playing()]

    def check_playing(self, slots: Iterable[int]) -> None:
        """Raise ArmError for the first retired arm."""
        for slot in slots:
            if self.selector.is_retired(slot):
                label = self.labels[slot]
                raise ArmError(f"arm {label!r} is retired; add_arm({label!r}) brings it back")

    def _unknown(self, label: object) -> ArmError:
        clean_label(label)
        in_play = (known for known, slot in self.slots.items() if not self.selector.is_retired(slot))
        some = ", ".join(map(repr, islice(in_play, 5))) + (", ..." if self.selector.active > 5 else "")
        return ArmError(f"no arm {label!r}; the arms are {some}")
