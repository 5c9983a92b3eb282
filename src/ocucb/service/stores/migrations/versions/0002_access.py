"""API keys, and the age of idempotency keys."""

import secrets
import time

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what is new; idempotency keys that are there count as of now, for a retry may be on its way."""
    op.add_column("keys", sa.Column("at", sa.BigInteger, nullable=False, server_default="0"))
    op.execute(sa.text("UPDATE keys SET at = :now").bindparams(now=time.time_ns() // 1000))
    op.create_index("keys_at", "keys", ["at"])
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("roles", sa.Text, nullable=False),
        sa.Column("experiments", sa.Text),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("revoked", sa.BigInteger),
        sqlite_with_rowid=False,
    )
    access = op.create_table(
        "access",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("secret", sa.Text, nullable=False),
    )
    op.bulk_insert(access, [{"id": 1, "version": 0, "secret": secrets.token_hex(32)}])
