"""The benchmark that makes many studies at once says of each what the public functions say of it alone."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
import pytest

import karat as kt
from karat.plan import plan_gold
from karat.records.runs import together
from karat.simulate.graded_pair import graded_pair

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from studies_at_once import studies_at_once

MEASURES = ("P@10", "nDCG@10", "RR@10")


@pytest.mark.thorough
def test_studies_at_once_are_those_one_by_one() -> None:
    studies = [graded_pair(30, seed=seed) for seed in (1, 2)]
    for place, name, _, ways in studies_at_once(studies, MEASURES, 90, (5, 6)):
        study = studies[place]
        plan = plan_gold(study.judgments(), together(study.runs()), "nDCG@10", 90, seed=5 + place).frame
        truth = study.judgments(study.truth).frame.select("query", "doc", "label")
        gold = plan.drop("label").join(truth, on=["query", "doc"])
        for queries in ("sample", "fixed"):
            alone = kt.compare(study.judgments(), study.runs(), name, gold=gold, queries=queries, draws=100).methods
            wanted = alone.filter(pl.col("method") == "ppi").row(0, named=True)
            found = ways["calibrated"](queries == "fixed").difference(0, 1)
            assert (found.low, found.high) == pytest.approx((wanted["low"], wanted["high"]), abs=1e-9)
