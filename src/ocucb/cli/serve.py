"""`ocucb serve`: the decision service. Its flags are the rows of the settings."""

from __future__ import annotations

import importlib
import inspect
import os
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ocucb.service.settings import ROWS, Row, load_settings, unknown_variables

Config = Annotated[
    Path | None, Parameter(help="A TOML file with settings; else the one that the variable OCUCB_CONFIG names.")
]
METAVARS = {str: "TEXT", int: "INT", float: "FLOAT"}


def serve(*, config: Config = None, demo: Annotated[bool, Parameter(show_default=False)] = False, **flags: Any) -> None:
    """Serve decisions and rewards over HTTP, with a live page.

    Parameters
    ----------
    demo
        Play: two experiments with a simulated stream, in a temporary folder, until Ctrl-C.
    """
    if demo:  # both are loaded late: neither help nor a wrong flag needs them
        importlib.import_module("ocucb.cli.demo").demo(flags, config)
        return
    settings = load_settings(flags, os.environ, config)
    importlib.import_module("ocucb.service.serve").serve(settings, unknown_variables(os.environ))


def _parameter(row: Row) -> inspect.Parameter:
    """Return a row as a flag. It hands on text, for the row itself knows best what to make of it."""
    about = Parameter(help=row.help)
    if row.kind is not bool:
        about = Parameter(
            help=row.help,
            metavar=None if row.choices else METAVARS[row.kind],
            choices=row.choices or None,
            show_default=lambda _: row.shown_default,
            allow_leading_hyphen=True,
        )
    kind: Any = Annotated[(bool if row.kind is bool else str) | None, about]
    return inspect.Parameter(row.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)


_own = inspect.signature(serve)
_parameters = [*map(_parameter, ROWS), *(_own.parameters[name] for name in ("config", "demo"))]
setattr(serve, "__signature__", _own.replace(parameters=_parameters))  # noqa: B010  # mypy knows of no such attribute
