"""Questions that are asked again of the judges who answered them.

Revision ID: 0003
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add which repetition a task is, and of which question; what was asked before is none."""
    op.add_column("tasks", sa.Column("repeat", sa.Integer()))
    op.add_column("tasks", sa.Column("first_item", sa.String(64)))
