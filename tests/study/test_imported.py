"""Labels collected elsewhere: one import leaves nothing for the next, and never more labels than asked for."""

from __future__ import annotations

from uuid import uuid4

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.records import Judgments, Scale, StudyDesign
from karat.records.study_design import Rules
from karat.study.answer_tables import tasks_frame
from karat.study.imports import import_records
from karat.study.store import Store
from karat.study.tasks import add_tasks
from simulated import studies

LABELS = st.lists(
    st.tuples(st.sampled_from("xy"), st.sampled_from("abcdef"), st.sampled_from([None, 0.0, 1.0, 2.0, 3.0])),
    min_size=1,
    max_size=14,
    unique_by=lambda row: row[:2],
)


def opened(url: str, rules: Rules) -> Store:
    study = StudyDesign(uuid4().hex, "Imported", Scale.parse("0..3"), rules=rules)
    return Store.open(url, study)


def labels_of(rows: list[tuple[str, str, float | None]]) -> Judgments:
    return Judgments.of(
        pl.DataFrame(
            [{"query": "q", "doc": doc, "judge": judge, "label": label} for doc, judge, label in rows],
            schema={"query": pl.String, "doc": pl.String, "judge": pl.String, "label": pl.Float64},
        )
    )


@settings(max_examples=len(studies(12, 90)))
@given(LABELS, st.integers(1, 4), st.sampled_from([0.0, 1.0, 2.0]), st.booleans())
def test_a_second_import_finds_nothing_to_do(
    rows: list[tuple[str, str, float | None]], asked: int, apart: float, alone: bool
) -> None:
    store = opened("sqlite://", Rules(labels=asked, apart=apart, one_judge_per_query=alone))
    add_tasks(store, pl.DataFrame({"query": ["q"], "doc": ["x"]}))
    first = import_records(store, labels_of(rows))
    second = import_records(store, labels_of(rows))
    assert (second.new, second.known, second.surplus) == (0, first.new, first.surplus)
    planned = tasks_frame(store).filter(pl.col("doc") == "x")
    assert (planned["filled"] <= planned["wanted"]).all()
    # Whatever was left out had no slot: all are full, or everybody's label is in.
    assert first.surplus == 0 or (planned["filled"] == planned["wanted"]).all()
    store.close()


def test_a_third_opinion_comes_in_at_once_on_each_database(database: str) -> None:
    store = opened(database, Rules(labels=2, apart=1.0))
    add_tasks(store, pl.DataFrame({"query": ["q"], "doc": ["x"]}))
    labels = labels_of([("x", judge, float(grade)) for grade, judge in enumerate("abcd")])
    assert (import_records(store, labels).new, import_records(store, labels).new) == (3, 0)
    store.close()
