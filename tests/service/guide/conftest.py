"""A machine of its own for every test of the guide: with SQLite, or with a PostgreSQL that is there already."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from service.guide.machine import Machine, blocks


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path)
    yield made
    made.kill()


def programs_of(connection: psycopg.Connection[Any]) -> Path:
    """Return the folder of a server's own programs: pg_dump must not be older than the server."""
    row = connection.execute("SHOW data_directory").fetchone()
    assert row is not None
    return Path((Path(row[0]) / "postmaster.opts").read_text(encoding="utf-8").split()[0]).parent


@pytest.fixture
def cluster(postgres: Any, tmp_path: Path) -> Iterator[Machine]:
    """A machine whose service uses the guide's role and database, on a PostgreSQL that is there already."""
    place = {name: str(value) for name, value in conninfo_to_dict(postgres.get_uri()).items()}
    shell = {"PGHOST": place["host"], "PGPORT": place.get("port", "5432"), "PGUSER": place["user"]}
    address = f"postgresql://ocucb:PASSWORD@/ocucb?host={place['host']}&port={shell['PGPORT']}"
    with psycopg.connect(postgres.get_uri(), autocommit=True) as connection:
        for statement in blocks("sql")["role and database"].split(";\n"):
            connection.execute(statement)
        shell["PATH"] = f"{programs_of(connection)}:{os.environ['PATH']}"
        machine = Machine(tmp_path, address, shell)
        yield machine
        machine.kill()
        for name in ("ocucb", "ocucb_before_restore"):
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute("DROP ROLE ocucb")
