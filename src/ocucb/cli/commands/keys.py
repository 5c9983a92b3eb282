"""`ocucb keys`: the API keys of a service, for whoever can open its database."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from ocucb.cli.console import new_console, new_table
from ocucb.cli.options import Config, Database, open_database

if TYPE_CHECKING:
    from ocucb.service.access import ApiKey

keys = App(
    name="keys",
    help="Make, list and revoke the API keys of a service, where its database can be opened.",
    sort_key=100,  # below the other commands
)
DAY = 86_400.0  # seconds
KEYS_AT_ONCE = 100  # read from the database


@keys.command(sort_key=0)
def make(
    *,
    name: str,
    role: Annotated[tuple[str, ...], Parameter(metavar="ROLE", negative=())],
    experiment: Annotated[tuple[str, ...], Parameter(metavar="TEXT", negative=(), show_default=False)] = (),
    days: float | None = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """Make a key and print it, once.

    Parameters
    ----------
    name
        What people call it.
    role
        What it may do: admin, decide, reward, correct or read; repeat it for more.
    experiment
        The name of an experiment that it sees; repeat it for more. All of them if not given.
    days
        After how many days it expires; never, if not given.
    """
    from ocucb.service.access import Access

    with open_database(database, config) as store:
        key, text = Access(store).make(name, role, experiment or None, None if days is None else days * DAY)
    print(f"made key {key.id}, {key.name!r}, shown only this once:", file=sys.stderr, flush=True)
    print(text)


@keys.command(name="list", sort_key=1)
def show(*, database: Database = None, config: Config = None) -> None:
    """List all keys, also those that are revoked; never their secrets."""
    from ocucb.service.access import Access

    table = new_table()
    table.add_column("id", no_wrap=True)
    for column in ("name", "roles", "experiments", "made", "expires", "revoked"):
        table.add_column(column)
    with open_database(database, config) as store:
        access = Access(store)
        page = access.list_keys(limit=KEYS_AT_ONCE)
        while page:
            for key in page:
                table.add_row(*_cells(key))
            page = access.list_keys(page[-1].id, KEYS_AT_ONCE)
    new_console().print(table, markup=False)


@keys.command(sort_key=2)
def revoke(key: Annotated[str, Parameter(name="ID")], /, *, database: Database = None, config: Config = None) -> None:
    """Revoke a key: it is refused from now on, on every node.

    Parameters
    ----------
    key
        Its id, as `ocucb keys list` shows it.
    """
    from ocucb.service.access import Access

    with open_database(database, config) as store:
        gone = Access(store).revoke(key)
    print(f"revoked key {gone.id}, {gone.name!r}")


def _cells(key: ApiKey) -> list[str]:
    from ocucb.service.access import ROLES

    experiments = "all" if key.experiments is None else ", ".join(sorted(key.experiments))
    roles = ", ".join(role for role in ROLES if role in key.roles)
    ends = ["" if at is None else _day(at) for at in (key.expires, key.revoked)]
    return [key.id, key.name, roles, experiments, _day(key.created), *ends]


def _day(at: int) -> str:
    from ocucb.service.records import SECOND

    return datetime.fromtimestamp(at / SECOND, UTC).strftime("%Y-%m-%d %H:%M UTC")
