"""Labels of arms: strings or integers, all different."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from ocucb.checks import whole
from ocucb.errors import ArmError, ParameterError

Label: TypeAlias = str | int


def clean_label(label: object) -> Label:
    """Return a label as a plain string or integer."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, bool) or not isinstance(label, str | int):
        raise ArmError(f"a label must be a string or an integer, got {label!r}")
    return str.__str__(label) if isinstance(label, str) else int(label)  # a member of an enumeration becomes plain


def clean_labels(arms: object) -> list[Label]:
    """Return the labels of so many arms, or the labels given, all different."""
    if isinstance(arms, np.ndarray) and arms.ndim == 1:
        arms = arms.tolist()
    if isinstance(arms, bool | str | bytes | np.ndarray) or not isinstance(arms, int | np.integer | Iterable):
        raise ParameterError(f"arms must be how many there are, or their labels, got {arms!r}")
    if isinstance(arms, int | np.integer):
        return list(range(whole("arms", arms, 1, "a bandit needs at least one arm")))
    labels = [clean_label(label) for label in arms]
    if not labels:
        raise ParameterError("arms must name at least one arm, got none")
    if len(set(labels)) < len(labels):
        twice = Counter(labels).most_common(1)[0][0]
        raise ArmError(f"labels must be different, got {twice!r} twice")
    return labels
