"""The first schema.

Revision ID: 0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.schema import SchemaItem

revision = "0001"
down_revision = None

VIEW = """
CREATE VIEW answers AS SELECT * FROM events e WHERE e.kind = 'answer'
AND NOT EXISTS (SELECT 1 FROM events t WHERE t.target_id = e.id AND t.kind IN ('undo', 'reject'))
"""

SQLITE = "CREATE TRIGGER events_no_{what} BEFORE {what} ON events BEGIN SELECT RAISE(ABORT, 'events only grow'); END"
POSTGRESQL = (
    "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'events only grow'; END $$",
    "CREATE TRIGGER events_no_change BEFORE UPDATE OR DELETE ON events FOR EACH ROW EXECUTE FUNCTION refuse_change()",
    "CREATE TRIGGER events_no_truncate BEFORE TRUNCATE ON events EXECUTE FUNCTION refuse_change()",
)


def upgrade() -> None:
    """Make the tables, the view of current answers, and the guard of the log."""
    op.create_table(
        "studies",
        sa.Column("id", sa.Integer()),
        sa.Column("key", sa.String(80), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("made", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_studies"),
        sa.UniqueConstraint("key", name="uq_studies_key"),
    )
    _of_study(
        "judges",
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("grp", sa.String(200), nullable=False),
        sa.Column("source", sa.String(40), nullable=False),
        sa.Column("external", sa.String(300)),
        sa.Column("token", sa.String(64)),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("why", sa.Text()),
        sa.Column("lot", sa.Integer(), nullable=False),
        sa.Column("completion", sa.String(80)),
        sa.Column("details", sa.Text()),
        sa.Column("made", sa.Float(53), nullable=False),
        sa.UniqueConstraint("study_id", "name", name="uq_judges_study_id_name"),
        sa.UniqueConstraint("study_id", "source", "external", name="uq_judges_study_id_source_external"),
    )
    op.create_index("ix_judges_token", "judges", ["token"])
    _of_study(
        "leads",
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("password", sa.Text(), nullable=False),
        sa.UniqueConstraint("study_id", "name", name="uq_leads_study_id_name"),
    )
    _of_study(
        "bundles",
        sa.Column("name", sa.String(400), nullable=False),
        sa.Column("owner_id", sa.Integer(), sa.ForeignKey("judges.id", name="fk_bundles_owner_id")),
        sa.Column("until", sa.Float(53)),
        sa.UniqueConstraint("study_id", "name", name="uq_bundles_study_id_name"),
    )
    op.create_index("ix_bundles_owner", "bundles", ["owner_id"])
    _of_study(
        "sessions",
        sa.Column("token", sa.String(64), nullable=False),
        sa.Column("judge_id", sa.Integer(), sa.ForeignKey("judges.id", name="fk_sessions_judge_id")),
        sa.Column("lead_id", sa.Integer(), sa.ForeignKey("leads.id", name="fk_sessions_lead_id")),
        sa.Column("until", sa.Float(53), nullable=False),
        sa.UniqueConstraint("token", name="uq_sessions_token"),
    )
    _of_study(
        "tasks",
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("item", sa.String(64), nullable=False),
        sa.Column("grp", sa.String(200), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("doc", sa.Text()),
        sa.Column("context", sa.Text()),
        sa.Column("subtopic", sa.Text()),
        sa.Column("a", sa.Text()),
        sa.Column("b", sa.Text()),
        sa.Column("a_query", sa.Text()),
        sa.Column("b_query", sa.Text()),
        sa.Column("a_docs", sa.Text()),
        sa.Column("b_docs", sa.Text()),
        sa.Column("text", sa.Text()),
        sa.Column("bundle_id", sa.Integer(), sa.ForeignKey("bundles.id", name="fk_tasks_bundle_id")),
        sa.Column("session", sa.Integer()),
        sa.Column("occurrence", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("lot", sa.Integer(), nullable=False),
        sa.Column("base", sa.Integer(), nullable=False),
        sa.Column("apart", sa.Float(53)),
        sa.Column("wanted", sa.Integer(), nullable=False),
        sa.Column("filled", sa.Integer(), nullable=False),
        sa.Column("held", sa.Integer(), nullable=False),
        sa.Column("open", sa.Boolean(), nullable=False),
        sa.Column("stage", sa.String(10), nullable=False),
        sa.Column("trap", sa.Boolean(), nullable=False),
        sa.Column("expected", sa.String(10)),
        sa.Column("practice", sa.Boolean(), nullable=False),
        sa.Column("gold", sa.Float(53)),
        sa.Column("note", sa.Text()),
        sa.Column("probability", sa.Float(53)),
        sa.UniqueConstraint("study_id", "grp", "item", "occurrence", name="uq_tasks_study_id_grp_item_occurrence"),
    )
    op.create_index("ix_tasks_bundle", "tasks", ["bundle_id"])
    op.create_index("ix_tasks_context", "tasks", ["study_id", "context"])
    op.create_index("ix_tasks_of_query", "tasks", ["study_id", "grp", "stage", "open", "query"])
    op.create_index("ix_tasks_queue", "tasks", ["study_id", "grp", "stage", "open", "place"])
    _of_study(
        "events",
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("at", sa.Float(53), nullable=False),
        sa.Column("judge_id", sa.Integer(), sa.ForeignKey("judges.id", name="fk_events_judge_id")),
        sa.Column("task_id", sa.Integer(), sa.ForeignKey("tasks.id", name="fk_events_task_id")),
        sa.Column("target_id", sa.Integer(), sa.ForeignKey("events.id", name="fk_events_target_id")),
        sa.Column("key", sa.String(80)),
        sa.Column("label", sa.Float(53)),
        sa.Column("choice", sa.String(10)),
        sa.Column("strength", sa.Float(53)),
        sa.Column("a", sa.Text()),
        sa.Column("b", sa.Text()),
        sa.Column("reason", sa.Text()),
        sa.Column("comment", sa.Text()),
        sa.Column("surface", sa.String(20)),
        sa.Column("seconds", sa.Float(53)),
        sa.Column("away", sa.Float(53)),
        sa.Column("more", sa.Text()),
        sa.UniqueConstraint("judge_id", "key", name="uq_events_judge_id_key"),
    )
    op.create_index("ix_events_judge", "events", ["judge_id", "id"])
    op.create_index("ix_events_study", "events", ["study_id", "kind", "id"])
    op.create_index("ix_events_target", "events", ["target_id"])
    op.create_index("ix_events_task", "events", ["task_id", "kind"])
    _of_study(
        "reservations",
        sa.Column("task_id", sa.Integer(), sa.ForeignKey("tasks.id", name="fk_reservations_task_id"), nullable=False),
        sa.Column(
            "judge_id", sa.Integer(), sa.ForeignKey("judges.id", name="fk_reservations_judge_id"), nullable=False
        ),
        sa.Column("item", sa.String(64), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("made", sa.Float(53), nullable=False),
        sa.Column("until", sa.Float(53), nullable=False),
        sa.Column("turned", sa.Boolean(), nullable=False),
        sa.Column("opened", sa.Boolean(), nullable=False),
        sa.Column("changed", sa.Float(53), nullable=False),
        sa.UniqueConstraint("judge_id", "item", name="uq_reservations_judge_id_item"),
    )
    op.create_index("ix_reservations_due", "reservations", ["study_id", "state", "until"])
    op.create_index("ix_reservations_judge", "reservations", ["judge_id", "state"])
    op.create_index("ix_reservations_last", "reservations", ["judge_id", "changed"])
    op.create_index("ix_reservations_task", "reservations", ["task_id"])
    op.execute(VIEW)
    if op.get_bind().dialect.name == "sqlite":
        for what in ("UPDATE", "DELETE"):
            op.execute(SQLITE.format(what=what))
    else:
        for statement in POSTGRESQL:
            op.execute(statement)


def _of_study(name: str, *parts: SchemaItem) -> None:
    """Make a table whose rows have numbers and belong to a study."""
    study = sa.ForeignKey("studies.id", name=f"fk_{name}_study_id")
    op.create_table(
        name,
        sa.Column("id", sa.Integer()),
        sa.Column("study_id", sa.Integer(), study, nullable=False),
        *parts,
        sa.PrimaryKeyConstraint("id", name=f"pk_{name}"),
    )
