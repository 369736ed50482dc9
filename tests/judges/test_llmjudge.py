"""Thirty-three language models as judges: agreement with gold as published for the LLMJudge challenge.

Rahmani et al., LLMJudge: LLMs for Relevance Judgments (2024), Table 3, to its four decimals.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import karat as kt
from karat.judges import agreement
from karat.records import Result

#: The one judge whose published figures are not those of its file: it holds two labels of 5 on a scale of 0 to 3.
EXCEPTION = "RMITIR-llama70B"


@pytest.fixture(scope="module")
def judged(llmjudge: Path) -> tuple[kt.Judgments, kt.Judgments]:
    """All judges, each a group of its own, and gold."""
    frames = []
    for file in sorted((llmjudge / "submissions").glob("*.txt.gz")):
        name = file.name.removesuffix(".txt.gz")
        frames.append(kt.read_judgments(str(file)).frame.with_columns(group=pl.lit(name), judge=pl.lit(name)))
    return kt.Judgments.of(pl.concat(frames)), kt.read_judgments(str(llmjudge / "gold.qrels"))


@pytest.fixture(scope="module")
def agreed(judged: tuple[kt.Judgments, kt.Judgments]) -> Result:
    """How all of them agree with each other and with gold."""
    return agreement(*judged, draws=0)


@pytest.mark.thorough
def test_kappa_and_alpha_are_the_published_ones(llmjudge: Path, agreed: Result) -> None:
    found = agreed.frame.filter(pl.col("against") == "gold")
    both = pl.read_csv(llmjudge / "table3_transcribed.csv").join(found, left_on="submission", right_on="group")
    assert both.height == 33
    assert (both["n_pairs"] == 4423).all()
    off = pl.max_horizontal(
        (pl.col("cohen") - pl.col("kappa")).abs(), (pl.col("alpha_ordinal") - pl.col("alpha")).abs()
    )
    assert both.filter(off > 0.51e-4)["submission"].to_list() == [EXCEPTION]


def test_the_exception_took_the_labels_off_the_scale_for_its_top(
    llmjudge: Path, judged: tuple[kt.Judgments, kt.Judgments]
) -> None:
    """With 5 (and the 10 of h2oloo-zeroshot2) read as 3, all 33 are as published."""
    judges, gold = judged
    assert judges.frame.filter(pl.col("label") > 3).select("group", "label").rows() == [
        (EXCEPTION, 5.0),
        (EXCEPTION, 5.0),
        ("h2oloo-zeroshot2", 10.0),
    ]
    # The two judges concerned are enough: the others are as they were.
    odd = judges.frame.filter(pl.col("group").is_in([EXCEPTION, "h2oloo-zeroshot2"]))
    clipped = kt.Judgments.of(odd.with_columns(pl.col("label").clip(upper_bound=3)))
    found = agreement(clipped, gold, draws=0).frame.filter(pl.col("against") == "gold")
    both = pl.read_csv(llmjudge / "table3_transcribed.csv").join(found, left_on="submission", right_on="group")
    assert both.height == 2
    assert (both["cohen"] - both["kappa"]).abs().max() < 0.51e-4
    assert (both["alpha_ordinal"] - both["alpha"]).abs().max() < 0.51e-4


@pytest.mark.thorough
def test_groups_of_one_are_compared_with_each_other_and_within_all(
    judged: tuple[kt.Judgments, kt.Judgments], agreed: Result
) -> None:
    result = agreed
    within = result.frame.filter(pl.col("against").is_null())
    assert result.frame.height == 1 + 34 + 34 * 33 / 2
    assert within["group"][0] == "all"
    assert within["n_judges"][0] == 33
    assert within["n_labels"][0] == 33 * 4423
    assert within["alpha_ordinal"][1:].is_nan().all()
    assert result.finding.startswith("Closest to gold is willia-umbrela1: Cohen's kappa 0.29")
