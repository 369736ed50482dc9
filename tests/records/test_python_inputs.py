"""What people have in a notebook goes in as it is: pandas, ranx, Hugging Face, a table with a column for each judge."""

from __future__ import annotations

from typing import Any

import ir_measures as irm
import pandas as pd
import polars as pl
import pytest

import karat as kt
from karat.records import Documents, Judgments, Queries, Runs

LABELS = {"q1": {"a": 2, "b": 0}, "q2": {"a": 1, "b": 2}}
RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
OTHER = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"b": 2.0, "a": 1.0}}
WIDE = {"query": ["q1", "q1", "q2"], "doc": ["a", "b", "a"], "GptA": [2, 0, 1], "anna": [1, None, 2]}
LONG = [("q1", "a", 2.0, "GptA"), ("q1", "a", 1.0, "anna"), ("q1", "b", 0.0, "GptA")]
LONG += [("q2", "a", 1.0, "GptA"), ("q2", "a", 2.0, "anna")]


def rows(labels: Judgments) -> list[tuple[Any, ...]]:
    return labels.frame.select("query", "doc", "label", "judge").rows()


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(WIDE),  # the gap makes floats of anna's grades: 1.0, NaN, 2.0
        pd.DataFrame(WIDE).astype({"GptA": "Int64", "anna": "Int64"}),
        pd.DataFrame(WIDE).convert_dtypes(),
        pl.DataFrame(WIDE),
        pl.DataFrame(WIDE).with_columns(pl.col("anna").cast(pl.Float64).fill_null(float("nan"))),
        WIDE,
    ],
    ids=["pandas", "Int64", "nullable", "polars", "NaN", "columns"],
)
def test_a_wide_frame_has_a_label_for_each_judge(frame: Any) -> None:
    labels = Judgments.of(frame)
    assert rows(labels) == LONG
    assert labels.notes == ("the judgments: a column for each judge, GptA, anna",)


def test_a_wide_frame_is_read_by_its_scale() -> None:
    assert rows(Judgments.of(pd.DataFrame(WIDE), scale="0..2")) == LONG
    with pytest.raises(kt.BadInput, match="a grade of the scale"):
        Judgments.of(pd.DataFrame(WIDE), scale="0..1")


def test_a_wide_file_that_pandas_wrote_has_its_grades(tmp_path: Any) -> None:
    pd.DataFrame(WIDE).to_csv(tmp_path / "wide.csv", index=False)
    assert "2.0" in (tmp_path / "wide.csv").read_text()
    assert rows(kt.read_judgments(tmp_path / "wide.csv")) == LONG


def test_counts_of_clicks_are_no_judges() -> None:
    with pytest.raises(kt.BadInput, match="no label"):
        Judgments.of(pd.DataFrame({"query": ["q"], "doc": ["d"], "clicks": [1], "impressions": [2]}))


def test_nullable_pandas_columns_have_missing_values() -> None:
    frame = pd.DataFrame({"query": ["q"] * 3, "doc": list("abc"), "label": pd.array([2, None, 0], dtype="Int64")})
    assert Judgments.of(frame).frame["label"].to_list() == [2.0, None, 0.0]
    run = pd.DataFrame({"query": ["q"] * 2, "doc": list("ab"), "rank": pd.array([2, 1], dtype="Int64")})
    assert Runs.of(run).frame["score"].to_list() == [-2.0, -1.0]


def test_two_pandas_columns_of_one_name_are_refused() -> None:
    frame = pd.DataFrame([["q", "d", 1, 2]], columns=["query", "doc", "label", "label"])
    with pytest.raises(kt.BadInput, match="two columns label"):
        Judgments.of(frame)


def test_features_are_added_to_data_frames() -> None:
    labels = pd.DataFrame({"query": ["gps"], "doc": ["d1"], "label": [2]})
    queries = pd.DataFrame({"query": ["gps"], "text": ["gps maps"]})
    documents = pd.DataFrame({"doc": ["d1"], "url": ["https://en.wikipedia.org/wiki/GPS"]})
    runs = {"mine": {"gps": {"d1": 1.0}}, "other": {"gps": {"d2": 1.0}}}
    added = kt.judges.add_features(labels, queries=queries, documents=documents, runs=runs)
    row = added.frame.select("wikipedia", "query_length", "rank_shown", "shown_by").row(0)
    assert row == ("WP", 2, 1, "mine alone")
    records = Judgments.of(labels), Queries.of(queries), Documents.of(documents), Runs.of(runs)
    same = kt.judges.add_features(records[0], queries=records[1], documents=records[2], runs=records[3])
    assert added.frame.equals(same.frame)


def test_clicks_and_queries_are_taken_as_frames() -> None:
    clicks = pd.DataFrame({"query": ["q1", "q1"], "doc": ["a", "b"], "clicks": [90, 20]})
    assert kt.users.against_clicks(LABELS, clicks).frame["correct"].to_list() == [1.0]
    found = kt.compare(LABELS, {"one": RUN, "two": OTHER}, "P@1")
    told = kt.comparison.moved(
        found,
        LABELS,
        {"one": RUN, "two": OTHER},
        queries=pd.DataFrame({"query": ["q1"], "text": ["one word"]}),
        documents=pd.DataFrame({"doc": ["a"], "title": ["A title"]}),
    )
    assert told[0]["text"] == "one word"


def test_rows_of_ir_measures_are_labels_and_runs() -> None:
    labels = [irm.Qrel("q1", "a", 2, "0"), irm.Qrel("q1", "b", 0, "0")]
    run = [irm.ScoredDoc("q1", "a", 2.0), irm.ScoredDoc("q1", "b", 1.0)]
    scores = kt.score(labels, {"mine": run, "other": RUN}, "P@1", draws=0)
    assert scores.means.select("system", "value").rows() == [("mine", 1.0), ("other", 1.0)]
    assert kt.score(labels, [run, run], "P@1", draws=0).systems == ["run1", "run2"]
    assert not [note for note in scores.notes if "iteration" in note]


def test_iterations_that_differ_are_subtopics_as_in_qrels() -> None:
    labels = [irm.Qrel("q1", "a", 1, "1"), irm.Qrel("q1", "a", 0, "2"), irm.Qrel("q1", "b", 1, "2")]
    run = [irm.ScoredDoc("q1", "a", 2.0), irm.ScoredDoc("q1", "b", 1.0)]
    assert kt.score(labels, run, "StRecall@1, StRecall@2", draws=0).means["value"].to_list() == [0.5, 1.0]


def test_groups_of_queries_are_taken_from_a_data_frame() -> None:
    groups = kt.comparison.groups_of(pd.DataFrame({"query": ["q1"], "text": ["two words"]}), "length")
    assert groups["group"].to_list() == ["2 words"]


class Stand:
    """A stand-in for an object of a library that need not be installed."""

    def __init__(self, data: Any, name: str | None = None) -> None:
        self.data, self.name = data, name

    def to_dict(self) -> Any:
        return self.data

    def to_polars(self) -> pl.DataFrame:
        return pl.DataFrame(self.data)


def stand_in(library: str, data: Any, name: str | None = None) -> Any:
    return type("Stand", (Stand,), {"__module__": f"{library}.data"})(data, name)


def test_a_ranx_run_has_its_name() -> None:
    qrels, run = stand_in("ranx", LABELS), stand_in("ranx", RUN, "bm25")
    assert Runs.of(run).systems == ["bm25"]
    assert kt.score(qrels, [run, stand_in("ranx", OTHER, "dense")], "P@1", draws=0).systems == ["bm25", "dense"]
    assert kt.compare(qrels, {"one": run, "two": stand_in("ranx", OTHER)}, "P@1").systems == ("one", "two")


def test_a_hugging_face_split_is_a_table() -> None:
    labels = stand_in("datasets", {"query": ["q1", "q2"], "doc": ["a", "b"], "label": [1, 2]})
    run = stand_in("datasets", {"query": ["q1", "q2"], "doc": ["a", "b"], "score": [1.0, 2.0]})
    assert kt.score(labels, run, "P@1", draws=0).means["value"][0] == 1.0
    assert kt.score(labels, {"mine": run}, "P@1", draws=0).systems == ["mine"]


@pytest.mark.filterwarnings("ignore")  # of Numba
def test_a_real_ranx_run_is_scored_as_ranx_does() -> None:
    ranx = pytest.importorskip("ranx")
    qrels, run = ranx.Qrels(LABELS), ranx.Run(RUN, name="bm25")
    scores = kt.score(qrels, run, "nDCG@10", draws=0)
    assert scores.systems == ["bm25"]
    assert scores.means["value"][0] == pytest.approx(ranx.evaluate(qrels, run, "ndcg@10"))


def test_a_real_dataset_is_read_and_a_dict_of_splits_refused() -> None:
    datasets = pytest.importorskip("datasets")
    test = datasets.Dataset.from_dict({"query": ["q1", "q1"], "doc": ["a", "b"], "label": [1, 0]})
    assert Judgments.of(test.select([0])).frame.rows() == [("q1", "a", 1.0)]
    assert len(Judgments.of(test.to_iterable_dataset())) == 2
    with pytest.raises(kt.BadInput, match=r"one split of a dataset, found DatasetDict with train, test"):
        Judgments.of(datasets.DatasetDict({"train": test, "test": test}))


def test_a_pandas_series_is_refused_with_advice() -> None:
    pd = pytest.importorskip("pandas")
    series = pd.DataFrame({"query": ["q"], "doc": ["d"], "label": [1]}).set_index(["query", "doc"])["label"]
    with pytest.raises(kt.BadInput, match=r"expected a data frame, found a Series; give reset_index\(\) of it"):
        kt.Judgments.of(series)
