"""`ocucb run`: a study from a file, or one of the package by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from ocucb.cli.console import new_console, new_table, titled
from ocucb.cli.options import NoReport, Overwrite, Place
from ocucb.errors import ParameterError

if TYPE_CHECKING:
    from ocucb.lab import Study


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

    The same command again goes on where it was stopped, or shows what it has.

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
    from ocucb.cli.experiments import run_experiment, run_sweep

    if list_:
        _list_studies()
        return
    found = _find_study(study)
    try:
        experiments = [experiment for _, experiment in found.experiments(size)]
    except ParameterError as problem:
        raise ParameterError(f"{study}: {problem}") from None
    home, report = output or Path(f"ocucb-{found.name}-{size}"), not no_report
    if found.sweep is None:
        run_experiment(experiments[0], home, executor=executor, overwrite=overwrite, report=report)
    else:
        values = found.sweep.values[size]
        run_sweep(found.sweep, values, experiments, home, executor=executor, overwrite=overwrite, report=report)


def _find_study(text: str | None) -> Study:
    """Return the study of a file or of a name."""
    from ocucb.lab import Study
    from ocucb.lab.spec import suggest

    if text is None:
        raise ParameterError("run needs a study, got none; give a TOML file, or a name from ocucb run --list")
    known = Study.built_in()
    if text in known:
        return known[text]
    if Path(text).suffix == ".toml" or Path(text).exists():
        return Study.read(text)
    raise ParameterError(f"study must be a TOML file or one of {', '.join(known)}, got {text!r}{suggest(text, known)}")


def _list_studies() -> None:
    from ocucb.lab.study import SIZES, Study

    table = new_table()
    for column in ("name", "study", "swept", "quick", "full"):
        table.add_column(column, no_wrap=column == "name")
    for study in Study.built_in().values():
        sizes = [study.summary(size) for size in SIZES]
        table.add_row(study.name, study.title, study.sweep.parameter if study.sweep else "–", *sizes)
    new_console().print(titled("Studies of the package", table, "ocucb run NAME, or ocucb run NAME --size full"))
