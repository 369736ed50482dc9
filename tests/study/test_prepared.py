"""Questions whose SQL is written once answer as SQLAlchemy's do, and fail as SQLAlchemy's do."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pytest
from sqlalchemy import bindparam, select, update
from sqlalchemy.exc import IntegrityError

from karat.study.database import Prepared, rows_of
from karat.study.people import add_judge, judge_named
from karat.study.store import Store
from karat.study.tables import judges, tasks
from karat.study.tasks import add_tasks
from queues import place


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    here = place(database)
    add_tasks(here.store, pl.DataFrame({"query": ["q"] * 4, "doc": ["a", "b", "c", "d"]}))
    return here.store


@pytest.mark.parametrize("docs", [[], ["a"], ["a", "d"], ["a", "b", "d"]])
def test_lists_of_any_length(store: Store, docs: list[str]) -> None:
    listed = bindparam("docs", expanding=True)
    mine = (tasks.c.study_id == bindparam("study"), ~tasks.c.trap)
    for question in (
        select(tasks).where(*mine, tasks.c.doc.in_(listed)),
        select(tasks).where(*mine, tasks.c.doc.not_in(listed)),
    ):
        ordered = question.order_by(tasks.c.id)
        names = {"study": store.study_id, "docs": docs}
        with store.database.read() as connection:
            assert store.rows(Prepared(ordered), **names) == rows_of(connection, ordered, names)


def test_a_change_says_how_many_rows_it_changed(store: Store) -> None:
    change = Prepared(
        update(tasks).where(tasks.c.study_id == bindparam("study"), tasks.c.doc < bindparam("to")).values(note=None)
    )
    values = {"study": store.study_id, "to": "c", "note": "so"}
    assert store.database.write(lambda to: change.change(to, values)) == 2
    assert [row["note"] for row in store.rows(select(tasks).order_by(tasks.c.id))][-4:] == ["so", "so", None, None]


def test_what_the_database_refuses_is_told_as_sqlalchemy_tells_it_without_the_values(store: Store) -> None:
    add_judge(store, name="secret name")
    row = judge_named(store, "secret name")
    with pytest.raises(IntegrityError) as caught:
        store.database.write(lambda to: Prepared.new_row(judges).add(to, row))
    assert "secret" not in str(caught.value).split("[SQL")[1]
    assert judge_named(store, "secret name") is not None, "the connection goes on"
