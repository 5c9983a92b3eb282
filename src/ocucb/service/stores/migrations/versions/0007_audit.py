"""Who changed what, and API keys that expire."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a table, and a column that is null for keys that never expire."""
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("api_key", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("experiment", sa.Text),
        sa.Column("details", sa.Text, nullable=False),
    )
    op.create_index("audit_experiment", "audit", ["experiment", "id"])
    op.add_column("api_keys", sa.Column("expires", sa.BigInteger))
