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


def _joined(texts: Sequence[str]) -> str | None:
    return ", ".join(texts) or None


Count = Annotated[int, Parameter(converter=_count, allow_leading_hyphen=True)]
Real = Annotated[float, Parameter(allow_leading_hyphen=True)]
Texts = Annotated[tuple[str, ...], Parameter(metavar="TEXT", show_default=_joined)]
Means = Annotated[
    str | None,
    Parameter(allow_leading_hyphen=True, metavar="NUMBERS", help="The mean of each arm, as in 0.5,0.4,0.4."),
]
Problems = Annotated[
    Texts,
    Parameter(
        help='A named problem, as in "worst_case(10, 0.3)"; repeat it for more. Without it and means: mixed_gaps.',
    ),
]
Spread = Annotated[
    str | None,
    Parameter(help='How rewards spread: bernoulli, "gaussian(scale=0.5)", "bounded(0, 2)", poisson, exponential.'),
]
Place = Annotated[
    str | None,
    Parameter(help="Where to play: threads, threads:4, processes:2, dask://host:8786, ray://host:10001."),
]
NoReport = Annotated[bool, Parameter(show_default=False, help="Make neither figures nor a report.")]
Overwrite = Annotated[bool, Parameter(show_default=False, help="Delete the results that are in the output folder.")]


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
