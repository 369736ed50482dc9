"""The round of gold labels in which a document was drawn.

Revision ID: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column; what was drawn before has none, which is the first round."""
    op.add_column("tasks", sa.Column("round", sa.Integer()))
