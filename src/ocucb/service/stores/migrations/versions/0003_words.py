"""Idempotency keys in a table that says so, and columns of the log named as what they hold."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Rename what was called by words with two meanings. No row is touched, so it is quick, however long a log is."""
    op.drop_index("keys_at", "keys")
    op.rename_table("keys", "idempotency_keys")
    for old, new in (("key", "idempotency_key"), ("asked", "fingerprint"), ("size", "entry_count")):
        op.alter_column("idempotency_keys", old, new_column_name=new)
    op.create_index("idempotency_keys_at", "idempotency_keys", ["at"])
    for old, new in (("index_value", "index"), ("effective", "effective_arms")):
        op.alter_column("log", old, new_column_name=new)
    op.add_column("log", sa.Column("pending", sa.BigInteger))
