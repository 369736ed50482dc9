"""By Spark Connect, where nothing but DataFrames can be had, figures and errors are those of one machine."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import karat as kt
import karat.spark
from karat.errors import BadInput
from karat.judges import dawid_skene
from karat.simulate.click_log import position_log
from spark_frames import in_spark

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")

LABELS = pl.DataFrame({"query": ["q", "q", "r"], "doc": ["a", "b", "a"], "label": [2, 0, 1]})
RUN = pl.DataFrame({"query": ["q", "q", "r"], "doc": ["b", "a", "a"], "score": [2.0, 1.0, 3.0], "system": ["mine"] * 3})


def test_scores_and_what_is_refused(connected: Any) -> None:
    found = karat.spark.score(in_spark(connected, LABELS), in_spark(connected, RUN), ["nDCG@10", "AP"], buckets=2)
    assert "connect" in type(found.queries).__module__
    wanted = kt.score(LABELS, RUN, ["nDCG@10", "AP"], draws=0).queries.sort("query")
    assert found.collect(draws=0).queries.sort("query").equals(wanted)
    twice = pl.concat([RUN, RUN])
    with pytest.raises(BadInput) as here:
        kt.score(LABELS, twice, ["AP"])
    with pytest.raises(BadInput) as there:
        karat.spark.score(in_spark(connected, LABELS), in_spark(connected, twice), ["AP"], buckets=2).collect()
    assert str(here.value).partition(";")[0] in str(there.value)
    with pytest.raises(BadInput, match="a DataFrame of Spark"):
        kt.score(in_spark(connected, LABELS), RUN)


def test_clicks_and_judges(connected: Any) -> None:
    log = position_log(queries=2, pages=60, seed=3).frame
    found = karat.spark.clicks(in_spark(connected, log), buckets=2).collect()
    wanted = kt.click_labels_by_rank(log)
    shown = [part.frame.sort("query", "doc")["attractiveness"].to_list() for part in (found, wanted)]
    assert shown[0] == pytest.approx(shown[1], abs=1e-9, nan_ok=True)
    said = pl.DataFrame(
        {"query": "q", "doc": doc, "label": label, "judge": judge}
        for doc, labels in {"a": (1, 1, 0), "b": (0, 0, 0), "c": (1, 0, 1)}.items()
        for judge, label in zip(("ann", "bob", "eve"), labels, strict=True)
    )
    model = karat.spark.judges(in_spark(connected, said), max_iterations=2, tolerance=0.0, buckets=2)
    alone = dawid_skene(said, max_iterations=2, tolerance=0.0)
    assert list(model.prior.values()) == pytest.approx(list(alone.prior.values()), abs=1e-9)
