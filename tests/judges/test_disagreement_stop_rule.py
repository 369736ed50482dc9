"""A third label only where the first two differed: the rule is seen, and what users would say is told without it."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.errors import Undefined
from karat.judges import combined_weights, consistency, disagreement, disagreement_by, overlap, resampled_p
from karat.labels import Panel
from karat.users import robustness
from simulated import about, studies

DATA = Path(os.environ.get("KARAT_DATA", Path(__file__).parents[3] / "shared" / "data")) / "rf10"

#: What a judge says of documents of true grade 0, 1, 2 (rows), and how many of each there are.
SAYS = np.array([[0.85, 0.10, 0.05], [0.25, 0.60, 0.15], [0.10, 0.25, 0.65]])
TRUE = np.array([0.5, 0.3, 0.2])
#: p(2|i) of two judges who say so: over true grades, P(says i) P(says 2) by P(says i).
TRUTH = (TRUE[:, None] * SAYS * SAYS[:, [2]]).sum(axis=0) / (TRUE[:, None] * SAYS).sum(axis=0)


def panel(seed: int, queries: int = 40, docs: int = 15, *, rule: bool = True, judges: int = 6) -> pl.DataFrame:
    """Two labels of each document in the order given, and a third: where these differ (`rule`), or everywhere."""
    rng = np.random.default_rng(seed)
    n = queries * docs
    grade = rng.choice(3, n, p=TRUE)
    label = (rng.random((3, n, 1)) > np.cumsum(SAYS, axis=1)[grade]).sum(axis=2)
    who = (rng.integers(0, judges, n) + np.arange(3)[:, None]) % judges
    number = np.arange(n)
    frame = pl.concat(
        pl.DataFrame(
            {
                "query": [f"q{q:02d}" for q in number // docs],
                "doc": [f"d{d:02d}" for d in number % docs],
                "label": label[turn].astype(float),
                "judge": [f"j{j}" for j in who[turn]],
                "time": f"2024-05-0{turn + 1}",
            }
        ).filter(pl.Series((label[0] != label[1]) | (turn < 2) | (not rule)))
        for turn in range(3)
    )
    return frame.sort("query", "doc", "time")


def labels(frame: pl.DataFrame) -> kt.Judgments:
    return kt.Judgments.of(frame)


@pytest.mark.evidence
def test_the_truth_is_held_by_the_first_two_labels_and_missed_by_all() -> None:
    held = {"first two": np.zeros(3), "all": np.zeros(3)}
    seeds = studies(25, 400)
    for seed in seeds:
        study = labels(panel(seed).drop("time"))
        for name, found in (
            ("first two", disagreement(study, draws=300, seed=seed)),
            ("all", disagreement(study, all_labels=True, draws=300, seed=seed)),
        ):
            low, high = found.intervals
            held[name] += (low <= TRUTH) & (high >= TRUTH)
    assert list(held["first two"] / len(seeds)) == [about(0.95, len(seeds))] * 3
    assert held["all"][2] / len(seeds) <= 0.1, held
    large = labels(panel(1, 400, 30))
    assert disagreement(large, draws=0).p == pytest.approx(TRUTH, abs=0.015)
    assert disagreement(large, all_labels=True, draws=0).p[2] > TRUTH[2] + 0.08


def test_labels_left_aside_are_counted_and_an_argument_takes_them_in() -> None:
    frame = panel(2)
    third = frame.filter(pl.col("time") == "2024-05-03").height
    found = disagreement(labels(frame), draws=0)
    assert found.votes.size.max() == 2
    assert any(f"{third} labels left aside" in note for note in found.notes)
    every = disagreement(labels(frame), all_labels=True, draws=0)
    assert every.votes.size.max() == 3
    assert any("contested documents count for too much" in note for note in every.notes)
    asked = disagreement(labels(frame), most_labels=2, draws=0)
    assert asked.p == pytest.approx(found.p)
    assert any("contested" in note for note in disagreement(labels(frame), most_labels=3, draws=0).notes)
    with pytest.raises(kt.BadInput, match="all of them or the first so many"):
        disagreement(labels(frame), all_labels=True, most_labels=2)


def test_first_is_by_time_wherever_it_is_known() -> None:
    frame = panel(3)
    mixed = frame.sample(fraction=1.0, shuffle=True, seed=3)
    right = disagreement(labels(frame.drop("time")), draws=0).p
    assert disagreement(labels(mixed), draws=0).p == pytest.approx(right)
    assert disagreement(labels(mixed), most_labels=2, draws=0).p == pytest.approx(right)


def test_three_labels_of_every_document_are_no_rule() -> None:
    frame = panel(4, rule=False)
    found = disagreement(labels(frame), draws=0)
    assert found.votes.size.min() == 3
    assert not any("left aside" in note for note in found.notes)
    assert found.table([(1, 3)]).frame["n_counted"].to_list() == found.n.tolist()


def test_what_takes_three_labels_is_not_told_from_contested_documents() -> None:
    study = labels(panel(5))
    found = disagreement(study, draws=0)
    assert np.isnan(found.experimental(1, 3)).all()
    assert np.isnan(found.beta_binomial(1, 3)[:2]).all()
    assert found.beta_binomial(1, 3)[2] == 1.0  # one of three, and one said so
    assert found.beta_binomial(1, 2) == pytest.approx(found.binomial(1, 2))
    table = found.table([(1, 2), (1, 3)])
    assert any("nothing can be counted for 3 users or more" in note for note in table.notes)
    assert any("no beta-binomial" in note for note in table.notes)
    assert not any("furthest" in note for note in table.notes)
    for ask in (disagreement, resampled_p):
        with pytest.raises(Undefined, match="asked only where the first two differed"):
            ask(study, min_labels=3)
    assert resampled_p(study, min_labels=3, all_labels=True, repeats=3).frame.height == 6


def test_groups_that_followed_the_rule_are_told_from_those_that_did_not() -> None:
    crowd, experts = panel(6).with_columns(group=pl.lit("crowd")), panel(7, rule=False).drop("time")
    experts = experts.with_columns(group=pl.lit("experts"), judge="e" + pl.col("judge"), time=pl.lit("2024-01-01"))
    found = disagreement(labels(pl.concat([crowd, experts.select(crowd.columns)])), draws=0)
    kept = found.votes.panel.frame
    sizes = dict(kept.group_by("group", "query", "doc").len().group_by("group").agg(pl.col("len").max()).rows())
    assert sizes == {"crowd": 2, "experts": 3}
    assert any(note.startswith("crowd: more than two labels only where") for note in found.notes)


def test_figures_of_conditions_judges_and_measures_follow() -> None:
    frame = panel(8, judges=3).with_columns(
        kind=pl.when(pl.col("query") < "q20").then(pl.lit("a")).otherwise(pl.lit("b"))
    )
    study, two = labels(frame), labels(frame.filter(pl.col("time") < "2024-05-03"))
    by = disagreement_by(study, "kind", draws=0)
    assert by.frame["p"].to_list() == pytest.approx(disagreement_by(two, "kind", draws=0).frame["p"].to_list())
    assert any("left aside" in note for note in by.notes)
    assert disagreement_by(study, "kind", all_labels=True, draws=0).frame["n"].sum() == frame.height
    assert overlap(study).frame["documents"].sum() == 600
    assert any("left aside" in note for note in overlap(study).notes)
    few = [query for query in frame["query"].unique().sort() if query < "q10"]
    small, small_two = (labels(s.frame.filter(pl.col("query").is_in(few))) for s in (study, two))
    assert robustness(small).frame.equals(robustness(small_two).frame)


def test_a_judge_who_repeated_himself_keeps_his_labels_if_he_was_among_the_first() -> None:
    frame = panel(9, judges=3)
    twice = labels(pl.concat([frame, frame.with_columns(time=pl.lit("2024-06-01"))]))
    found = consistency(twice, draws=100)
    assert any("left aside" in note for note in found.notes)
    assert any("1,200 times a judge judged a document twice" in note for note in found.notes)
    every = consistency(twice, all_labels=True, draws=100)
    p = {row["level"]: row["p"] for row in found.frame.filter(pl.col("kind") == "cross").iter_rows(named=True)}
    assert p[2.0] == pytest.approx(TRUTH[2], abs=0.1)
    assert every.frame.filter((pl.col("kind") == "cross") & (pl.col("level") == 2))["p"][0] != p[2.0]


def test_combined_levels_take_the_first_two_judges() -> None:
    frame = panel(10)
    both = pl.concat(frame.with_columns(surface=pl.lit(surface)) for surface in ("snippet", "page"))
    found = combined_weights(labels(both), ["snippet", "page"], [2, 2])
    p = {row["page"]: row["p_top"] for row in found.frame.iter_rows(named=True)}
    assert list(p.values()) == pytest.approx([disagreement(labels(frame), draws=0).p[int(g)] for g in p])
    assert any("left aside" in note for note in found.notes)


def test_too_many_grades_or_no_label_are_said() -> None:
    rng = np.random.default_rng(0)
    real = [{"query": "q", "doc": f"d{i}", "label": float(rng.random()), "judge": "x"} for i in range(200)]
    with pytest.raises(kt.BadInput, match="at most 101 different grades"):
        disagreement(real)
    with pytest.raises(Undefined, match="there is no label"):
        disagreement([{"query": "q", "doc": "d", "label": None, "judge": "x"}])


def test_the_papers_data_follow_no_such_rule() -> None:
    path = DATA / "trec-rf10-data.txt.gz"
    if not path.exists():
        pytest.skip(f"no {path}: set KARAT_DATA to the folder with the research data")
    raw = pl.read_csv(gzip.decompress(path.read_bytes()), separator="\t", infer_schema=False)
    crowd = raw.select(query="topicID", doc="docID", label=pl.col("label").cast(float), judge="workerID")
    assert Panel.of(crowd.filter(pl.col("label") >= 0)).third_rules == []
