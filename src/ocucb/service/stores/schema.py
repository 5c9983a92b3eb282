"""Brings a database to the newest schema, and refuses one from the future."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from ocucb.service.errors import SchemaError
from ocucb.service.stores.dialects import lock_schema

MIGRATIONS = Path(__file__).parent / "migrations"


def check_newest(connection: Connection) -> None:
    """Raise SchemaError unless the database has the newest schema. Changes nothing."""
    script = ScriptDirectory(str(MIGRATIONS))
    have = ", ".join(MigrationContext.configure(connection).get_current_heads()) or "none"
    if have != script.get_current_head():
        raise SchemaError(
            f"the database has schema {have}, but this ocucb needs {script.get_current_head()}; "
            "start the service once to bring an older one up to date, or upgrade ocucb for a newer one"
        )


def migrate(connection: Connection, to: str = "head") -> None:
    """Run what migrations are missing, up to the newest, inside the transaction of `connection`, one node at a time."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    lock_schema(connection)
    script = ScriptDirectory.from_config(config)
    known = {revision.revision for revision in script.walk_revisions()}
    have = MigrationContext.configure(connection).get_current_heads()
    foreign = [revision for revision in have if revision not in known]
    if foreign:
        raise SchemaError(
            f"the database has schema {', '.join(foreign)}, newer than this ocucb knows "
            f"(up to {script.get_current_head()}); upgrade ocucb, or use another database"
        )
    if list(have) != list(script.get_heads()):
        command.upgrade(config, to)
