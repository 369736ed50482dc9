"""Kinds of tasks that a judge is given no more.

Revision ID: 0005
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the table; before, whoever failed a trap was rejected altogether."""
    op.create_table(
        "exclusions",
        sa.Column("id", sa.Integer()),
        sa.Column("study_id", sa.Integer(), sa.ForeignKey("studies.id", name="fk_exclusions_study_id"), nullable=False),
        sa.Column("judge_id", sa.Integer(), sa.ForeignKey("judges.id", name="fk_exclusions_judge_id"), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("made", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_exclusions"),
        sa.UniqueConstraint("judge_id", "kind", name="uq_exclusions_judge_id_kind"),
    )
