"""The tables: tasks and who holds them, people, and the log of events, which only ever grows."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.schema import SchemaItem

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

#: Slots of a task that never fills up: traps and practice.
ENDLESS = 1_000_000_000

studies = Table(
    "studies",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", String(80), nullable=False, unique=True),
    Column("title", Text, nullable=False),
    Column("made", Float(53), nullable=False),
)


def _of_study(name: str, *parts: SchemaItem) -> Table:
    """A table whose rows have numbers and belong to a study."""
    study: Column[int] = Column("study_id", ForeignKey("studies.id"), nullable=False)
    return Table(name, metadata, Column("id", Integer, primary_key=True), study, *parts)


leads = _of_study(
    "leads",
    Column("name", String(200), nullable=False),
    Column("password", Text, nullable=False),  # argon2's hash
    UniqueConstraint("study_id", "name"),
)

judges = _of_study(
    "judges",
    Column("name", String(200), nullable=False),
    Column("grp", String(200), nullable=False),
    Column("source", String(40), nullable=False),  # invite, prolific, mturk, import
    Column("external", String(300)),  # the platform's id of the person
    Column("token", String(64)),  # the personal link's, hashed
    Column("state", String(20), nullable=False),  # active, paused, rejected
    Column("why", Text),
    Column("lot", Integer, nullable=False),  # draws this judge's order and sides
    Column("completion", String(80)),
    Column("details", Text),  # the platform's parameters, as JSON
    Column("made", Float(53), nullable=False),
    UniqueConstraint("study_id", "name"),
    UniqueConstraint("study_id", "source", "external"),
    Index("ix_judges_token", "token"),
)

sessions = _of_study(
    "sessions",
    Column("token", String(64), nullable=False, unique=True),  # hashed
    Column("judge_id", ForeignKey("judges.id")),
    Column("lead_id", ForeignKey("leads.id")),
    Column("until", Float(53), nullable=False),
)

#: Tasks that one judge should do together: a block of pairs, a query's documents, the share of a planned judge.
bundles = _of_study(
    "bundles",
    Column("name", String(400), nullable=False),
    Column("owner_id", ForeignKey("judges.id")),
    Column("until", Float(53)),  # none: until the lead releases it
    UniqueConstraint("study_id", "name"),
    Index("ix_bundles_owner", "owner_id"),
)

tasks = _of_study(
    "tasks",
    Column("kind", String(10), nullable=False),
    Column("item", String(64), nullable=False),  # what is asked, whoever is asked: never twice to one judge
    Column("grp", String(200), nullable=False),
    Column("query", Text, nullable=False),
    Column("doc", Text),
    Column("context", Text),
    Column("subtopic", Text),
    Column("a", Text),  # the systems of a pair; sides are drawn for each judge
    Column("b", Text),
    Column("a_query", Text),
    Column("b_query", Text),
    Column("a_docs", Text),  # JSON, where the plan names them
    Column("b_docs", Text),
    Column("text", Text),  # the reason to code, or what the subtopic means
    Column("bundle_id", ForeignKey("bundles.id")),
    Column("session", Integer),
    Column("occurrence", Integer, nullable=False),  # the same question may be planned for several judges
    Column("place", Integer, nullable=False),
    Column("lot", Integer, nullable=False),
    Column("base", Integer, nullable=False),  # labels asked for
    Column("apart", Float(53)),  # one more when the first two differ by this
    Column("wanted", Integer, nullable=False),  # labels asked for now
    Column("filled", Integer, nullable=False),
    Column("held", Integer, nullable=False),
    Column("open", Boolean, nullable=False),  # wanted > filled + held
    Column("stage", String(10), nullable=False),  # task, practice, or trap (one that is in no bundle)
    Column("trap", Boolean, nullable=False),
    Column("expected", String(10)),
    Column("practice", Boolean, nullable=False),
    Column("gold", Float(53)),
    Column("note", Text),  # why the gold is what it is
    Column("probability", Float(53)),
    Column("repeat", Integer),  # asked again of judges who answered: for how many-th time
    Column("first_item", String(64)),  # what is asked again
    Column("round", Integer),  # of gold labels: in which draw the document came
    Column("drawn_for", String(16)),  # of gold labels: what the draw can speak for, scores or differences
    UniqueConstraint("study_id", "grp", "item", "occurrence"),
    Index("ix_tasks_queue", "study_id", "grp", "stage", "open", "place"),
    Index("ix_tasks_of_query", "study_id", "grp", "stage", "open", "query"),
    Index("ix_tasks_bundle", "bundle_id"),
    Index("ix_tasks_context", "study_id", "context"),
)

#: Kinds of tasks that a judge is given no more, because they failed a trap.
exclusions = _of_study(
    "exclusions",
    Column("judge_id", ForeignKey("judges.id"), nullable=False),
    Column("kind", String(10), nullable=False),
    Column("made", Float(53), nullable=False),
    UniqueConstraint("judge_id", "kind"),
)

reservations = _of_study(
    "reservations",
    Column("task_id", ForeignKey("tasks.id"), nullable=False),
    Column("judge_id", ForeignKey("judges.id"), nullable=False),
    Column("item", String(64), nullable=False),
    Column("state", String(20), nullable=False),  # held, answered, cant_tell, later, expired, rejected, released
    Column("made", Float(53), nullable=False),
    Column("until", Float(53), nullable=False),
    Column("turned", Boolean, nullable=False),  # b stands on the left
    Column("opened", Boolean, nullable=False),  # the context was read
    Column("changed", Float(53), nullable=False),
    UniqueConstraint("judge_id", "item"),
    Index("ix_reservations_judge", "judge_id", "state"),
    Index("ix_reservations_last", "judge_id", "changed"),
    Index("ix_reservations_due", "study_id", "state", "until"),
    Index("ix_reservations_task", "task_id"),
)

#: Append only: a trigger refuses changes. An undo or a rejection is a new row that names the row it takes back.
events = _of_study(
    "events",
    Column("kind", String(20), nullable=False),
    Column("at", Float(53), nullable=False),
    Column("judge_id", ForeignKey("judges.id")),
    Column("task_id", ForeignKey("tasks.id")),
    Column("target_id", ForeignKey("events.id")),
    Column("key", String(80)),  # the sender's: the same answer sent twice counts once
    Column("label", Float(53)),
    Column("choice", String(10)),
    Column("strength", Float(53)),
    Column("a", Text),  # the systems as shown: left
    Column("b", Text),  # right
    Column("reason", Text),
    Column("comment", Text),
    Column("surface", String(20)),
    Column("seconds", Float(53)),
    Column("away", Float(53)),
    Column("more", Text),  # aspects, classes, chips and what else there is, as JSON
    UniqueConstraint("judge_id", "key"),
    Index("ix_events_task", "task_id", "kind"),
    Index("ix_events_target", "target_id"),
    Index("ix_events_study", "study_id", "kind", "id"),
    Index("ix_events_judge", "judge_id", "id"),
)

#: A view over the log: answers that nothing took back.
answers = Table("answers", MetaData(), *(Column(column.name, column.type) for column in events.columns))
