"""The simulated LLM has the faults that were planted."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest

from karat.errors import BadInput
from karat.simulate import Faults, LLMStudy, llm_study


@cache
def large() -> LLMStudy:
    return llm_study(queries=2000, documents=10, seed=7)


def test_each_doubling_of_the_length_adds_what_was_planted() -> None:
    frame = large().everything
    left = (frame["impression"] - frame["grade"]).to_numpy()
    slope, level = np.polyfit(np.log2(frame["length"].to_numpy() / 150), left, 1)
    assert slope == pytest.approx(0.25, abs=0.01)
    assert level == pytest.approx(0.2, abs=0.02)


def test_sides_refusals_and_canaries_are_as_often_as_planted() -> None:
    frame, faults = large().labels.frame, Faults()
    first = frame.filter(pl.col("altered").is_null(), pl.col("repeat") == 0)
    assert (first["outcome"] == "refused").mean() == pytest.approx(faults.refused, abs=0.01)
    shown = large().preferences.frame
    pair = pl.min_horizontal("left", "right").alias("pair")
    both = shown.group_by("query", pair).agg(left=(pl.col("choice") == "left").sum())
    assert (both["left"] != 1).mean() == pytest.approx(faults.flips, abs=0.02)
    for kind, chance in faults.raised.items():
        lies = frame.filter(pl.col("altered") == kind)
        before = first.select("query", altered_from="doc", before="label")
        rise = lies.join(before, on=["query", "altered_from"]).select(pl.col("label") - pl.col("before")).to_series()
        assert rise.min() == 0
        # A document that has the highest grade already cannot be raised.
        assert (rise > 0).mean() == pytest.approx(chance, abs=0.03)


def test_canaries_are_of_documents_that_are_not_relevant_and_got_a_grade() -> None:
    lies = large().labels.frame.filter(pl.col("altered").is_not_null())
    known = lies.join(large().everything, left_on=["query", "altered_from"], right_on=["query", "doc"])
    assert known.height == lies.height
    assert known["grade"].max() == 0
    assert (lies["doc"] == lies["altered_from"] + "+" + lies["altered"]).all()


def test_the_same_seed_makes_the_same_study_and_sizes_are_checked() -> None:
    assert llm_study(queries=5, seed=3).labels.frame.equals(llm_study(queries=5, seed=3).labels.frame)
    with pytest.raises(BadInput, match="two documents or more each"):
        llm_study(documents=1)
