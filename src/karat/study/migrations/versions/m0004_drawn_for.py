"""What gold labels were drawn for: systems' own scores, or differences between systems alone.

Revision ID: 0004
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the column; of what was drawn before nobody knows it."""
    op.add_column("tasks", sa.Column("drawn_for", sa.String(16)))
