"""What several commands take from the command line, and how it is read."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ocucb.errors import ParameterError
from ocucb.service.settings import Settings, load_settings

if TYPE_CHECKING:
    from ocucb.lab import Problem
    from ocucb.service.stores import Store

MEANS_IN_NAME = 6  # of a problem


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
Assumed = Annotated[
    str | None, Parameter(help="The noise that policies assume, if it is not the one that rewards have.")
]
Late = Annotated[
    str | None,
    Parameter(help='How many rounds late rewards come: "fixed(100)", "uniform(0, 200)", "geometric(50, lost=0.1)".'),
]
Data = Annotated[
    tuple[Path, ...],
    Parameter(help="A CSV or Parquet file of arm, reward and count, from which rewards are drawn; repeat it for more."),
]
Place = Annotated[
    str | None,
    Parameter(
        help="Where to play: threads, threads:4, processes:2, cuda, dask://host:8786, dask://local, ray://host:10001, "
        "ray://local; cuda+dask://host:8786 for the GPUs of a cluster."
    ),
]
NoReport = Annotated[bool, Parameter(show_default=False, help="Make neither figures nor a report.")]
Overwrite = Annotated[bool, Parameter(show_default=False, help="Delete the results that are in the output folder.")]
Config = Annotated[
    Path | None, Parameter(help="A TOML file with settings; else the one that the variable OCUCB_CONFIG names.")
]
Database = Annotated[
    str | None,
    Parameter(
        metavar="TEXT",
        show_default=lambda _: Settings.database,
        help="The database of the service: sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME.",
    ),
]


def read_problems(
    means: str | None,
    named: Sequence[str],
    noise: str | None,
    *,
    data: Sequence[Path] = (),
    assumed: str | None = None,
    delay: str | None = None,
) -> list[Problem]:
    """Return the problems that a command line names, by means, by name, by data or all; under what else it says."""
    from ocucb.lab.problem_spec import read_problem

    entries: list[dict[str, object]] = [{"problem": text} for text in named]
    entries += [{"data": str(path)} for path in data]
    if means is not None:
        numbers = _means(means)
        entries.insert(0, {"means": numbers, "name": _name(numbers)})
    settings = {"noise": noise, "assumed": assumed, "delay": delay}
    given = {name: value for name, value in settings.items() if value is not None}
    return [read_problem({**entry, **given}) for entry in entries]


def _means(text: str) -> list[float]:
    try:
        return [float(number) for number in text.replace(",", " ").split()]
    except ValueError:
        raise ParameterError(f"means must be numbers as in 0.5,0.4,0.4, got {text!r}; give one per arm") from None


def _name(means: Sequence[float]) -> str:
    if len(means) > MEANS_IN_NAME:
        return f"{len(means)} means"
    return f"means {', '.join(f'{mean:g}' for mean in means)}"


def open_database(database: str | None, config: Path | None) -> AbstractContextManager[Store]:
    """Open the database that `ocucb serve`, called in the same place with these flags, would open; it must exist."""
    from ocucb.service.open_store import open_existing_store

    return open_existing_store(load_settings({"database": database}, os.environ, config).database)
