"""The probability with which the arm of a decision was chosen."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a column, null for all decisions made before. No row is touched, so it is quick, however long a log is."""
    op.add_column("log", sa.Column("probability", sa.Float(53)))
