"""A machine of its own for every test of the guide: with SQLite, or with a PostgreSQL that is there already."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from service.guide.machine import Machine, blocks
from service.postgresql import PostgreSQL


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path)
    yield made
    made.kill()


@pytest.fixture
def cluster(postgres: PostgreSQL, tmp_path: Path) -> Iterator[Machine]:
    """A machine whose service uses the guide's role and database, on a PostgreSQL that is there already."""
    place = {name: str(value) for name, value in conninfo_to_dict(postgres.address).items()}
    shell = {"PGHOST": place["host"], "PGPORT": place.get("port", "5432"), "PGUSER": place["user"]}
    address = f"postgresql://ocucb:PASSWORD@/ocucb?host={place['host']}&port={shell['PGPORT']}"
    with psycopg.connect(postgres.address, autocommit=True) as connection:
        for statement in blocks("sql")["role and database"].split(";\n"):
            connection.execute(statement)
        shell["PATH"] = f"{postgres.programs}:{os.environ['PATH']}"  # pg_dump must not be older than the server
        machine = Machine(tmp_path, address, shell)
        yield machine
        machine.kill()
        for name in ("ocucb", "ocucb_before_restore"):
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute("DROP ROLE ocucb")
