"""Partial rewards of open decisions."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a table."""
    op.create_table(
        "partial_rewards",
        sa.Column("experiment", sa.Integer, sa.ForeignKey("experiments.id"), primary_key=True, autoincrement=False),
        sa.Column("decision", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("part", sa.Text, primary_key=True),
        sa.Column("reward", sa.Float(53), nullable=False),
        sqlite_with_rowid=False,
    )
