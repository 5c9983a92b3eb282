"""`ocucb keys`: the API keys of a service, for whoever can open its database."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Annotated

from cyclopts import App, Parameter

from ocucb.cli.app import GROUPS
from ocucb.cli.database import Database, open_existing
from ocucb.cli.screen import console, plain
from ocucb.cli.serve import Config
from ocucb.service.access import ROLES, Access, ApiKey
from ocucb.service.records import SECOND

keys = App(name="keys", help=GROUPS["keys"])
PAGE = 100


@keys.command(sort_key=0)
def make(
    *,
    name: str,
    role: Annotated[tuple[str, ...], Parameter(metavar="ROLE", negative=())],
    experiment: Annotated[tuple[str, ...], Parameter(metavar="TEXT", negative=(), show_default=False)] = (),
    database: Database = None,
    config: Config = None,
) -> None:
    """Make a key and print it, once.

    Parameters
    ----------
    name
        What people call it.
    role
        What it may do: admin, decide, reward or read; repeat it for more.
    experiment
        The name of an experiment that it sees; repeat it for more. All of them if not given.
    """
    with open_existing(database, config) as store:
        key, text = Access(store).make(name, role, experiment or None)
    print(f"made key {key.id}, {key.name!r}, shown only this once:", file=sys.stderr, flush=True)
    print(text)


@keys.command(name="list", sort_key=1)
def show(*, database: Database = None, config: Config = None) -> None:
    """List all keys, also those that are revoked; never their secrets."""
    table = plain()
    table.add_column("id", no_wrap=True)
    for column in ("name", "roles", "experiments", "made", "revoked"):
        table.add_column(column)
    with open_existing(database, config) as store:
        access = Access(store)
        page = access.page(limit=PAGE)
        while page:
            for key in page:
                table.add_row(*_cells(key))
            page = access.page(page[-1].id, PAGE)
    console().print(table, markup=False)


@keys.command(sort_key=2)
def revoke(key: Annotated[str, Parameter(name="ID")], /, *, database: Database = None, config: Config = None) -> None:
    """Revoke a key: it is refused from now on, on every node.

    Parameters
    ----------
    key
        Its id, as `ocucb keys list` shows it.
    """
    with open_existing(database, config) as store:
        gone = Access(store).revoke(key)
    print(f"revoked key {gone.id}, {gone.name!r}")


def _cells(key: ApiKey) -> list[str]:
    experiments = "all" if key.experiments is None else ", ".join(sorted(key.experiments))
    roles = ", ".join(role for role in ROLES if role in key.roles)
    return [key.id, key.name, roles, experiments, _day(key.created), "" if key.revoked is None else _day(key.revoked)]


def _day(at: int) -> str:
    return datetime.fromtimestamp(at / SECOND, UTC).strftime("%Y-%m-%d %H:%M UTC")
