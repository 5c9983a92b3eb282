"""The log, and what finds things in it."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create all tables."""
    op.create_table(
        "experiments",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
    )
    _create_log()
    op.create_table(
        "keys",
        _experiment(),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("asked", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "due",
        _experiment(),
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("deadline", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("due_deadline", "due", ["deadline", "experiment"])
    op.create_table(
        "snapshots",
        _experiment(),
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )


def _experiment() -> sa.Column[int]:
    return sa.Column("experiment", sa.Integer, sa.ForeignKey("experiments.id"), primary_key=True, autoincrement=False)


def _create_log() -> None:
    op.create_table(
        "log",
        _experiment(),
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("arm", sa.Text),
        sa.Column("decision", sa.BigInteger),
        sa.Column("reward", sa.Float(53)),
        sa.Column("token", sa.Text),
        sa.Column("unit", sa.Text),
        sa.Column("deadline", sa.BigInteger),
        sa.Column("pulls", sa.BigInteger),
        sa.Column("mean", sa.Float(53)),
        sa.Column("index_value", sa.Float(53)),
        sa.Column("effective", sa.Float(53)),
        sa.Column("data", sa.Text),
    )
    has_decision, has_unit = sa.text("decision IS NOT NULL"), sa.text("unit IS NOT NULL")
    op.create_index(
        "log_one_outcome",
        "log",
        ["experiment", "decision"],
        unique=True,
        sqlite_where=has_decision,
        postgresql_where=has_decision,
    )
    op.create_index("log_unit", "log", ["experiment", "unit", "seq"], sqlite_where=has_unit, postgresql_where=has_unit)
