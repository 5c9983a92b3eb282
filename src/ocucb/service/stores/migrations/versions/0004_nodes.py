"""Idempotency keys that belong to an API key, and the nodes that serve."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Note whose an idempotency key is; of those that are there it is not known. A primary key cannot be changed."""
    op.create_table(
        "scoped_keys",
        sa.Column("experiment", sa.Integer, sa.ForeignKey("experiments.id"), primary_key=True, autoincrement=False),
        sa.Column("idempotency_key", sa.Text, primary_key=True),
        sa.Column("api_key", sa.Text, primary_key=True, server_default=""),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("entry_count", sa.Integer, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False, server_default="0"),
        sqlite_with_rowid=False,
    )
    columns = "experiment, idempotency_key, fingerprint, seq, entry_count, at"
    op.execute(f"INSERT INTO scoped_keys ({columns}) SELECT {columns} FROM idempotency_keys")  # noqa: S608
    op.drop_table("idempotency_keys")
    op.rename_table("scoped_keys", "idempotency_keys")
    op.create_index("idempotency_keys_at", "idempotency_keys", ["at"])
    op.create_table(
        "nodes",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("heartbeat", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
