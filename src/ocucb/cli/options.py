"""What several commands take from the command line, and how it is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import Parameter

from ocucb.errors import ParameterError
from ocucb.lab.problem import Problem
from ocucb.lab.spec import read_problem

SHOWN = 6  # means in the name of a problem


def _count(_: object, tokens: Sequence[Any]) -> int:
    """Return a whole number: 100000, 100_000, 100,000 or 1e5."""
    text = str(tokens[0].value)
    digits = text.replace("_", "").replace(",", "")
    try:
        return int(digits)
    except ValueError:
        pass
    try:
        number = float(digits)
    except ValueError:
        number = math.nan
    if not number.is_integer():
        raise ValueError(f"must be a whole number such as 1000 or 1e5, got {text!r}")
    return int(number)


Count = Annotated[int, Parameter(converter=_count, allow_leading_hyphen=True)]
Real = Annotated[float, Parameter(allow_leading_hyphen=True)]
Means = Annotated[str, Parameter(allow_leading_hyphen=True, metavar="NUMBERS")]
Texts = Annotated[tuple[str, ...], Parameter(metavar="TEXT", show_default=lambda texts: ", ".join(texts) or None)]
Flag = Annotated[bool, Parameter(show_default=False)]


def read_problems(means: str | None, named: Sequence[str], noise: str | None) -> list[Problem]:
    """Return the problems that a command line names, by means, by name or both; under a noise family, if given."""
    entries: list[dict[str, object]] = [{"problem": text} for text in named]
    if means is not None:
        numbers = _means(means)
        entries.insert(0, {"means": numbers, "name": _name(numbers)})
    return [read_problem(entry if noise is None else {**entry, "noise": noise}) for entry in entries]


def _means(text: str) -> list[float]:
    try:
        return [float(number) for number in text.replace(",", " ").split()]
    except ValueError:
        raise ParameterError(f"means must be numbers as in 0.5,0.4,0.4, got {text!r}; give one per arm") from None


def _name(means: Sequence[float]) -> str:
    if len(means) > SHOWN:
        return f"{len(means)} means"
    return f"means {', '.join(f'{mean:g}' for mean in means)}"
