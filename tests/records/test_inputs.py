"""Frames of Polars, pandas, Arrow and plain rows are taken everywhere, and a dictionary of them is runs by system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import karat as kt

LABELS = [{"query": f"q{i}", "doc": doc, "label": label} for i in range(4) for doc, label in (("a", 1), ("b", 0))]
GOOD = [{"query": f"q{i}", "doc": doc, "score": score} for i in range(4) for doc, score in (("a", 2.0), ("b", 1.0))]
BAD = [{"query": f"q{i}", "doc": doc, "score": score} for i in range(4) for doc, score in (("a", 1.0), ("b", 2.0))]


class Arrow:
    """A table that hands its columns over by Arrow's interface, as pyarrow's and DuckDB's do."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.frame = pl.DataFrame(rows)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.frame.__arrow_c_stream__(requested_schema)


KINDS: dict[str, Any] = {
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "pandas": pd.DataFrame,
    "arrow": Arrow,
    "rows": list,
    "columns": lambda rows: {name: [row[name] for row in rows] for name in rows[0]},
}


@pytest.mark.parametrize("kind", KINDS)
def test_labels_and_a_run_of_any_kind_score_alike(kind: str) -> None:
    scores = kt.score(KINDS[kind](LABELS), KINDS[kind](BAD), "RR", draws=0)
    assert scores.means.select("system", "measure", "value", "n").rows() == [("run", "RR", 0.5, 4)]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "columns"])
def test_a_dictionary_of_frames_is_runs_by_the_names_of_systems(kind: str) -> None:
    runs = {"good": KINDS[kind](GOOD), "bad": KINDS[kind](BAD)}
    scores = kt.score(LABELS, runs, "RR", draws=0)
    assert dict(scores.means.select("system", "value").rows()) == {"good": 1.0, "bad": 0.5}
    assert kt.compare(LABELS, runs, "RR").systems == ("good", "bad")
    with pytest.raises(kt.BadInput, match="labels come first, then the runs"):
        kt.score(runs, LABELS, "RR")


def test_the_name_in_the_dictionary_is_the_systems_name() -> None:
    run = kt.Runs.of(GOOD, system="as it was")
    assert kt.Runs.of({"mine": run}).systems == ["mine"]
    both = kt.Runs.of({"x": GOOD, "y": BAD})
    with pytest.raises(kt.BadInput, match="the run mine: expected one system, found x, y"):
        kt.Runs.of({"mine": both})


def test_a_path_may_be_text_or_a_path(tmp_path: Path) -> None:
    for path in (tmp_path / "labels.csv", str(tmp_path / "labels.csv")):
        kt.write(kt.Judgments.of(LABELS), path)
        assert kt.read_judgments(path).frame.height == 8
    for path in (tmp_path / "mine.run", str(tmp_path / "mine.run")):
        kt.write(kt.Runs.of(GOOD), path)
        assert kt.read_runs(path).frame.height == 8
        assert kt.Study.load(labels=tmp_path / "labels.csv", runs=path).systems == ["run"]
