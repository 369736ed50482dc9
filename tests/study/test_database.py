"""The log only grows, the schema's history ends where the code is, and secrets are stored hashed."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import polars as pl
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import delete, select, text, update
from sqlalchemy.exc import DBAPIError

from karat.records import Scale, StudyDesign
from karat.study import migrations
from karat.study.answer_tables import tasks_frame
from karat.study.people import add_judge, end_session, session_of, start_session
from karat.study.store import Store
from karat.study.tables import events, judges, metadata, sessions
from karat.study.tasks import add_tasks


def open_store(database: str) -> Store:
    return Store.open(database, StudyDesign(uuid4().hex, "StudyDesign", Scale.parse("0..3")))


def test_the_log_refuses_changes(database: str) -> None:
    store = open_store(database)
    add_judge(store)
    for change in (update(events).values(kind="nothing"), delete(events)):
        with store.database.engine.connect() as connection, pytest.raises(DBAPIError, match="events only grow"):
            connection.execute(change)
    store.close()


def test_the_schemas_history_ends_at_the_tables_of_the_code(database: str) -> None:
    store = open_store(database)
    with store.database.engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), metadata)
    store.close()
    assert differences == []


def test_the_newest_step_by_the_names_of_files_is_alembics() -> None:
    """Where the database has it, Alembic is not asked."""
    assert ScriptDirectory(str(Path(migrations.__file__).parent)).get_current_head() == migrations.NEWEST


def test_a_database_of_the_first_schema_is_brought_up_to_date_with_all_that_is_in_it(tmp_path: Path) -> None:
    file = str(tmp_path / "karat.db")
    study = StudyDesign("s", "StudyDesign", Scale.parse("0..3"))
    store = Store.open(file, study)
    add_tasks(store, pl.DataFrame({"query": ["q"], "doc": ["d"], "probability": [0.5]}))
    with store.database.engine.begin() as connection:
        for name in ("round", "repeat", "first_item", "drawn_for"):
            connection.execute(text(f"ALTER TABLE tasks DROP COLUMN {name}"))
        connection.execute(text("DROP TABLE exclusions"))
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    store.close()
    store = Store.open(file, study)
    assert tasks_frame(store).select("doc", "probability", "round").rows() == [("d", 0.5, None)]
    store.close()


def test_opening_again_finds_the_same_study(database: str) -> None:
    study = StudyDesign(uuid4().hex, "StudyDesign", Scale.parse("0..3"))
    one, two = Store.open(database, study), Store.open(database, study)
    assert one.study_id == two.study_id
    one.close()
    two.close()


def test_tokens_are_not_in_the_database(database: str) -> None:
    store = open_store(database)
    judge, token = add_judge(store)
    session = start_session(store, judge_id=judge["id"])
    with store.database.read() as connection:
        kept = connection.execute(select(judges.c.token).where(judges.c.id == judge["id"])).scalar_one()
        mine = connection.execute(select(sessions.c.token).where(sessions.c.judge_id == judge["id"])).scalar_one()
    assert token not in kept
    assert session not in mine
    found = session_of(store, session)
    assert found is not None
    assert found["judge_id"] == judge["id"]
    end_session(store, session)
    assert session_of(store, session) is None
    store.close()


def test_a_session_ends_with_its_time(database: str) -> None:
    now = [0.0]
    store = Store.open(database, StudyDesign(uuid4().hex, "StudyDesign", Scale.parse("0..3")), clock=lambda: now[0])
    session = start_session(store, judge_id=add_judge(store)[0]["id"])
    now[0] = 15 * 24 * 3600.0
    assert session_of(store, session) is None
    store.close()
