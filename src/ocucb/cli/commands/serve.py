"""`ocucb serve`: the decision service. Its flags are the rows of the settings."""

from __future__ import annotations

import inspect
import os
from typing import Annotated, Any

from cyclopts import Parameter

from ocucb.cli.options import Config
from ocucb.service.settings import SETTING_ROWS, SettingRow, load_settings, unknown_variables

METAVARS = {str: "TEXT", int: "INT", float: "FLOAT"}


def serve(*, config: Config = None, demo: Annotated[bool, Parameter(show_default=False)] = False, **flags: Any) -> None:
    """Serve decisions and rewards over HTTP, with a live page.

    Without options: an SQLite file in this folder, on 127.0.0.1:8000, and an admin key that is shown at the first
    start. A setting comes from its flag, else from the environment (OCUCB_PORT for --port), else from the file, where
    it is called as here, without dashes in front and with _ for -.

    Parameters
    ----------
    demo
        Play: two experiments with a simulated stream, in a temporary folder, until Ctrl-C.
    """
    if demo:
        from ocucb.cli.demo import serve_demo

        serve_demo(flags, config)
        return
    settings = load_settings(flags, os.environ, config)
    from ocucb.service.serve import serve  # after the settings: one that is wrong is told at once

    serve(settings, unknown_variables(os.environ))


def _parameter(row: SettingRow) -> inspect.Parameter:
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
_parameters = [*map(_parameter, SETTING_ROWS), *(_own.parameters[name] for name in ("config", "demo"))]
setattr(serve, "__signature__", _own.replace(parameters=_parameters))  # noqa: B010  # mypy knows of no such attribute
