"""`ocucb run`: a study from a file, or one of the package by name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ocucb.cli.answers import answer_comparison, answer_sweep
from ocucb.cli.options import NoReport, Overwrite, Place
from ocucb.cli.playing import STORE, Part, play
from ocucb.cli.screen import console, plain, titled
from ocucb.errors import ParameterError
from ocucb.lab.spec import closest
from ocucb.lab.study import SIZES, Study


def run(
    study: str | None = None,
    *,
    size: Literal["quick", "full"] = "quick",
    output: Path | None = None,
    executor: Place = None,
    no_report: NoReport = False,
    overwrite: Overwrite = False,
    list_: Annotated[bool, Parameter(name="--list", show_default=False)] = False,
) -> None:
    """Run a study: an experiment, or one for every value of something that is swept.

    Parameters
    ----------
    study
        A TOML file, or the name of a built-in study.
    size
        Few runs and values, about a minute; or many, hours.
    output
        The folder for results and files; ocucb-NAME-SIZE if not given.
    list_
        List the built-in studies.
    """
    if list_:
        _list()
        return
    found = _find(study)
    home = output or Path(f"ocucb-{found.name}-{size}")
    try:
        points = found.experiments(size)
    except ParameterError as problem:
        raise ParameterError(f"{study}: {problem}") from None
    sweep = found.sweep
    if sweep is None:
        part = Part(points[0][1], home / STORE)
        answer_comparison(part, home, play([part], home, executor, overwrite), report=not no_report)
        return
    values = sweep.values[size]
    titles = [f"{sweep.parameter}={sweep.text(value)}" for value in values]
    parts = [Part(points[i][1], home / "results" / f"{title}.zarr", title) for i, title in enumerate(titles)]
    answer_sweep(sweep, values, parts, home, play(parts, home, executor, overwrite), report=not no_report)


def _find(text: str | None) -> Study:
    """Return the study of a file or of a name."""
    if text is None:
        raise ParameterError("run needs a study, got none; give a TOML file, or a name from ocucb run --list")
    known = Study.built_in()
    if text in known:
        return known[text]
    if Path(text).suffix == ".toml" or Path(text).exists():
        return Study.read(text)
    raise ParameterError(f"study must be a TOML file or one of {', '.join(known)}, got {text!r}{closest(text, known)}")


def _list() -> None:
    table = plain()
    for column in ("name", "study", "swept", "quick", "full"):
        table.add_column(column, no_wrap=column == "name")
    for study in Study.built_in().values():
        sizes = [study.summary(size) for size in SIZES]
        table.add_row(study.name, study.title, study.sweep.parameter if study.sweep else "–", *sizes)
    console().print(titled("Studies of the package", table, "ocucb run NAME, or ocucb run NAME --size full"))
