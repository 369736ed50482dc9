"""The judge table: figures by hand, planted spammers and habits found, and honest judges left alone."""

from __future__ import annotations

import gzip
import json
import os
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from karat.errors import BadInput, Undefined
from karat.judges.answers import Answers
from karat.judges.dawid_skene import dawid_skene
from karat.judges.error_model import majority_posterior, one_coin
from karat.judges.judge_table import judge_table
from karat.judges.ordinal import ordinal
from karat.judges.others import Others, reliability
from karat.judges.spammers import signals
from karat.records import Judgments

DATA = Path(os.environ.get("KARAT_DATA", Path(__file__).parents[3] / "shared" / "data"))
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@pytest.fixture
def rf10() -> Path:
    folder = DATA / "rf10"
    if not folder.is_dir():
        pytest.skip(f"no {folder}: set KARAT_DATA to the folder with the research data")
    return folder


def said(labels: dict[str, list[int | None]], queries: int = 1) -> Judgments:
    return Judgments.of([
        {"query": f"q{i % queries}", "doc": f"d{i}", "label": label, "judge": judge}
        for judge, given in labels.items()
        for i, label in enumerate(given)
    ])  # fmt: skip


def crowd(
    seed: int,
    *,
    judges: int = 25,
    per_judge: int = 100,
    per_item: int = 5,
    leniency: Floats | float = 0.0,
    spread: tuple[float, float] = (0.4, 1.0),
    random: int = 0,
    constant: int = 0,
    reversed_: int = 0,
    queries: int = 30,
    prior: tuple[float, ...] = (0.35, 0.25, 0.2, 0.12, 0.08),
    drift: Floats | float = 0.0,
    better: float = 0.0,
) -> tuple[Judgments, Judgments]:
    """Judges with a normal error and a leniency; the first ones answer at random, always the same, or upside down.

    `drift` is added to a judge's leniency from first to last label; `better` lets later documents be better.
    """
    rng = np.random.default_rng(seed)
    items, levels = judges * per_judge // per_item, len(prior)
    truth = rng.choice(levels, items, p=prior)
    if better:
        truth = truth[np.argsort(truth + rng.normal(0, 1 / better, items))]
    item = np.repeat(np.arange(items), per_item)
    judge = np.argsort(rng.random((items, judges)), axis=1)[:, :per_item].ravel()
    when = item / items - 0.5
    lean = np.broadcast_to(leniency, judges)[judge] + np.broadcast_to(drift, judges)[judge] * when
    noise = rng.normal(0, rng.uniform(*spread, judges)[judge])
    label = np.clip(np.rint(truth[item] + lean + noise), 0, levels - 1)
    label = np.where(judge < random, rng.integers(0, levels, len(label)), label)
    same = (judge >= random) & (judge < random + constant)
    label = np.where(same, judge % levels, label)
    upside = (judge >= random + constant) & (judge < random + constant + reversed_)
    label = np.where(upside, levels - 1 - label, label)
    query, doc = rng.permutation(items) % queries, np.arange(items)
    frame = pl.DataFrame({
        "query": pl.Series(query[item]).cast(pl.String),
        "doc": pl.Series(item).cast(pl.String),
        "label": label,
        "judge": pl.Series(judge).cast(pl.String).str.zfill(3),
        "time": pl.Series(item).cast(pl.String).str.zfill(8),
    })  # fmt: skip
    gold = pl.DataFrame({"query": pl.Series(query).cast(pl.String), "doc": pl.Series(doc).cast(pl.String)})
    return Judgments.of(frame), Judgments.of(gold.with_columns(pl.Series("label", truth)))


def row(frame: pl.DataFrame, judge: str) -> dict[str, object]:
    return frame.row(by_predicate=pl.col("judge") == judge, named=True)


# --- by hand ----------------------------------------------------------------------------------------------------


def test_a_judge_is_compared_with_the_others_not_with_themselves() -> None:
    table = judge_table(said({"ann": [0, 1, 2], "bob": [0, 1, 0], "eve": [0, 2, 1]})).frame
    # ann: d0 with 0, 0; d1 with 1 and 2, half right; d2 with 0 and 1, wrong.
    assert row(table, "ann")["agreement"] == pytest.approx(1.5 / 3)
    assert row(table, "bob")["agreement"] == pytest.approx(1.5 / 3)
    assert row(table, "eve")["agreement"] == pytest.approx(1 / 3)
    # ann - mean of others: 0, 1 - 1.5, 2 - 0.5.
    assert row(table, "ann")["leniency"] == pytest.approx(1.0 / 3)
    assert row(table, "ann")["leniency_against"] == "others"


def test_repeats_of_ones_own_are_not_agreement() -> None:
    twice = [("ann", 1), ("ann", 1), ("bob", 0)]
    table = judge_table(Judgments.of([{"query": "q", "doc": "d", "judge": j, "label": v} for j, v in twice])).frame
    ann = row(table, "ann")
    assert (ann["n"], ann["n_pairs"], ann["agreement"]) == (2, 1, 0.0)


def test_accuracy_against_gold_has_wilsons_interval() -> None:
    """Newcombe 1998: 81 of 263 gives .2553 to .3662 by Wilson's score method."""
    ann = [1] * 81 + [0] * 182
    judgments = said({"ann": ann, "bob": [1] * 263})
    gold = Judgments.of({"q0": {f"d{i}": 1 for i in range(263)}})
    ann_row = row(judge_table(judgments, gold=gold).frame, "ann")
    assert ann_row["n_gold"] == 263
    assert ann_row["accuracy"] == pytest.approx(81 / 263)
    assert ann_row["accuracy_low"] == pytest.approx(0.2553, abs=5e-5)
    assert ann_row["accuracy_high"] == pytest.approx(0.3662, abs=5e-5)
    assert ann_row["leniency"] == pytest.approx(-182 / 263)
    assert ann_row["leniency_against"] == "gold"
    # One query does not tell how sure that is.
    assert np.isnan(ann_row["leniency_low"])


def test_habits_speed_and_silence() -> None:
    rows = [
        {"query": "q", "doc": f"d{i}", "label": label, "judge": judge, "seconds": seconds}
        for judge, given in {
            "ann": [(0, 5.0), (0, 9.0), (1, 30.0), (2, None), (None, 4.0)],
            "bob": [(1, 2.0), (1, 2.0), (1, 2.0), (1, 2.0), (1, 2.0)],
            "mum": [(None, 1.0)],
        }.items()
        for i, (label, seconds) in enumerate(given)
    ]
    table = judge_table(Judgments.of(rows)).frame
    ann, bob, mum = (row(table, name) for name in ("ann", "bob", "mum"))
    assert (ann["n"], ann["cant_tell"], ann["seconds"]) == (4, 0.2, 9.0)
    assert ann["entropy"] == pytest.approx(1.5)
    assert (ann["most_used"], ann["most_used_share"]) == (0.0, 0.5)
    assert (bob["entropy"], bob["most_used_share"]) == (0.0, 1.0)
    assert (mum["n"], mum["cant_tell"], mum["agreement"], mum["likely_spammer"]) == (0, 1.0, None, None)


def test_information_is_raykar_and_yus_score() -> None:
    """Two grades: (sensitivity + specificity - 1) squared."""
    judgments, _ = crowd(1, judges=8, per_judge=60, prior=(0.6, 0.4))
    model = dawid_skene(judgments)
    table = judge_table(judgments, model=model).frame
    right = (
        model.confusion.filter(pl.col("truth") == pl.col("label")).group_by("judge").agg(pl.col("probability").sum())
    )
    both = table.join(right, on="judge")
    assert both["information"].to_numpy() == pytest.approx((both["probability"].to_numpy() - 1) ** 2)


def test_reliability_is_the_intraclass_correlation() -> None:
    """Shrout and Fleiss 1979: six targets, four judges, ICC(1,1) = .17."""
    ratings = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    judgments = said({f"j{j}": [target[j] for target in ratings] for j in range(4)})
    assert reliability(Answers.of(judgments)) == pytest.approx(0.17, abs=0.005)


# --- spammers ---------------------------------------------------------------------------------------------------


def called(judgments: Judgments) -> list[bool]:
    answers = Answers.of(judgments)
    return signals(answers, Others.of(answers), 10).spammer.tolist()


def test_planted_spammers_are_found_and_named() -> None:
    found = [called(crowd(seed, random=2, constant=1)[0]) for seed in range(10)]
    assert sum(sum(flags[:3]) for flags in found) >= 27
    assert not any(any(flags[3:]) for flags in found)
    judgments = crowd(1, random=2, constant=1, per_judge=200)[0]
    most = [row["judge"] for row in judgments.frame["judge"].value_counts().sort("count").iter_rows(named=True)]
    names = sorted(["000", "001", "002"], key=most.index, reverse=True)
    result = judge_table(judgments)
    assert result.finding == f"3 of 25 judges look like spammers: {names[0]}, {names[1]} and {names[2]}."
    assert result.frame["likely_spammer"].to_list()[:4] == [True, True, True, False]
    assert result.to_dict()["finding"] == result.finding


@pytest.mark.parametrize(
    "study",
    [
        {"judges": 60, "per_judge": 20},
        {"judges": 60, "per_judge": 40, "per_item": 2},
        {"judges": 60, "per_judge": 60, "spread": (0.3, 2.0)},
        {"judges": 60, "per_judge": 40, "prior": (0.8, 0.2)},
        {"judges": 60, "per_judge": 40, "prior": (0.85, 0.1, 0.05)},
        {"judges": 60, "per_judge": 60, "leniency": np.tile([-1.0, 0.0, 1.0], 20)},
    ],
)
def test_honest_judges_are_not_called_spammers(study: dict[str, object]) -> None:
    """Few labels, few others, poor judges, rare grades, lenient and strict ones: 600 honest judges each.

    The poorest of them are hardly better than chance, so one in two hundred may be taken for a spammer.
    """
    assert sum(sum(called(crowd(seed, **study)[0])) for seed in range(10)) <= 3  # type: ignore[arg-type]


def test_where_all_answer_at_random_nobody_is_singled_out() -> None:
    judgments, _ = crowd(3, random=25)
    result = judge_table(judgments)
    assert not result.frame["likely_spammer"].any()
    assert sum(flag is None for flag in result.frame["likely_spammer"]) >= 20


def test_a_handful_of_labels_is_too_few_to_tell() -> None:
    judgments, _ = crowd(4)
    extra = (
        judgments.frame.filter(pl.col("judge") == "000").head(6).with_columns(judge=pl.lit("new"), label=pl.lit(4.0))
    )
    result = judge_table(Judgments.of(pl.concat([judgments.frame, extra])))
    assert row(result.frame, "new")["likely_spammer"] is None
    assert any("too few" in note for note in result.notes)


def test_a_judge_with_the_scale_upside_down_is_flagged_as_that() -> None:
    result = judge_table(crowd(5, reversed_=1)[0])
    assert result.finding.startswith("1 of 25 judges looks like a spammer: 000")
    assert any(note.startswith("000: labels run against the others'") for note in result.notes)


def test_shuffled_labels_pass_as_better_than_chance_one_time_in_twenty() -> None:
    rng = np.random.default_rng(0)
    p = []
    for seed in range(20):
        judgments, _ = crowd(seed, judges=20, per_judge=40)
        mine = judgments.frame["judge"].to_numpy() < "010"
        label = judgments.frame["label"].to_numpy().copy()
        for name in sorted(set(judgments.frame["judge"].filter(pl.Series(mine)))):
            own = judgments.frame["judge"].to_numpy() == name
            label[own] = rng.permutation(label[own])
        answers = Answers.of(Judgments.of(judgments.frame.with_columns(label=pl.Series(label))))
        p += signals(answers, Others.of(answers), 10).chance_p[:10].tolist()
    assert 0.02 <= np.mean(np.array(p) <= 0.05) <= 0.09


# --- leniency and drift ----------------------------------------------------------------------------------------


def expected_error(leniency: float, spread: float, prior: tuple[float, ...]) -> float:
    """What a normal error and a leniency do to the mean label on a scale that ends."""
    grades = np.arange(len(prior))
    below = ndtr((grades[:-1][None, :] + 0.5 - (grades[:, None] + leniency)) / spread)
    labels = (1 - below).sum(axis=1)
    return float(np.dot(prior, labels - grades))


def test_a_lenient_judge_is_found_with_the_right_size() -> None:
    prior = (0.1, 0.2, 0.4, 0.2, 0.1)
    lean = np.zeros(25)
    lean[7] = 0.8
    judgments, gold = crowd(6, leniency=lean, spread=(0.6, 0.6), prior=prior, per_judge=200)
    by_gold, by_others = judge_table(judgments, gold=gold), judge_table(judgments)
    expected = expected_error(0.8, 0.6, prior)
    for result in (by_gold, by_others):
        found = row(result.frame, "007")
        assert found["leniency"] == pytest.approx(expected, abs=0.12)
        assert found["leniency_low"] > 0.3
        assert result.finding.startswith("None of 25 judges looks like a spammer; the most lenient is 007 (+0.")


def test_intervals_of_leniency_cover_about_95_percent() -> None:
    prior = (0.1, 0.2, 0.4, 0.2, 0.1)
    expected, held = expected_error(0.4, 0.7, prior), []
    for seed in range(12):
        judgments, gold = crowd(seed, leniency=0.4, spread=(0.7, 0.7), prior=prior, per_judge=60, queries=15)
        frame = judge_table(judgments, gold=gold, model=dawid_skene(judgments, max_iterations=1)).frame
        held += ((frame["leniency_low"] <= expected) & (expected <= frame["leniency_high"])).to_list()
    assert 0.91 <= np.mean(held) <= 0.985


def test_drift_is_found_with_its_size_and_rarely_where_there_is_none() -> None:
    lean = np.zeros(25)
    lean[3] = 1.2
    judgments, _ = crowd(8, drift=lean, per_judge=200, spread=(0.5, 0.5), prior=(0.1, 0.2, 0.4, 0.2, 0.1))
    result = judge_table(judgments)
    found = row(result.frame, "003")
    assert found["drift"] == pytest.approx(1.1, abs=0.35)
    assert found["drift_p"] < 0.001
    assert any("drifted by time (1 to higher grades): 003" in note for note in result.notes)
    quiet = np.concatenate([judge_table(crowd(s, per_judge=60, queries=12)[0]).frame["drift_p"] for s in range(12)])
    assert 0.02 <= np.mean(quiet <= 0.05) <= 0.09


def test_who_always_says_the_same_does_not_drift_when_documents_get_better() -> None:
    judgments, gold = crowd(9, constant=1, better=2.0)
    for result in (judge_table(judgments), judge_table(judgments, gold=gold)):
        constant = row(result.frame, "000")
        assert constant["drift"] == pytest.approx(0.0, abs=0.15)
        assert not constant["drift_p"] <= 0.001
        assert not any("drifted" in note and "000" in note for note in result.notes)


# --- edges ------------------------------------------------------------------------------------------------------


def test_one_judge_alone_has_a_row_and_nothing_is_claimed() -> None:
    result = judge_table(said({"ann": [0, 1, 2, 1]}))
    only = row(result.frame, "ann")
    assert only["n"] == 4
    assert np.isnan(only["agreement"])
    assert only["likely_spammer"] is None
    assert any("only one judge" in note for note in result.notes)
    assert result.finding == "Nothing shows whether 1 judge looked at the documents: too few labels to compare."


def test_perfect_agreement_is_no_reason_to_fail() -> None:
    result = judge_table(said({name: [0, 1, 2] * 10 for name in ("ann", "bob", "eve")}, queries=6))
    assert result.frame["agreement"].to_list() == [1.0] * 3
    assert result.frame["leniency"].to_list() == [0.0] * 3
    assert result.frame["leniency_low"].is_nan().all()
    assert result.frame["likely_spammer"].to_list() == [False] * 3


def test_groups_keep_judges_of_the_same_name_apart() -> None:
    rows = [
        {"query": "q", "doc": f"d{i}", "label": label, "judge": "ann", "group": group}
        for group, labels in {"crowd": [0, 1, 1], "llm": [0, 1, 0]}.items()
        for i, label in enumerate(labels)
    ]
    table = judge_table(Judgments.of(rows)).frame
    assert table.select("group", "judge", "n").rows() == [("crowd", "ann", 3), ("llm", "ann", 3)]


labels = st.lists(
    st.fixed_dictionaries(
        {
            "query": st.sampled_from(["q1", "q2"]),
            "doc": st.sampled_from(["d1", "d2", "d3"]),
            "label": st.sampled_from([None, 0, 1, 2]),
            "judge": st.sampled_from(["ann", "bob", "eve", None]),
            "group": st.sampled_from(["crowd", "llm", None]),
            "seconds": st.sampled_from([None, 1.0, 7.0]),
            "time": st.sampled_from([None, "2020-01-01", "2020-01-02"]),
        }
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=40)
@given(labels, st.booleans())
def test_any_judgments_give_a_row_per_judge_or_a_reason(rows: list[dict[str, object]], with_gold: bool) -> None:
    judgments = Judgments.of(pl.DataFrame(rows, schema_overrides={"label": pl.Float64, "group": pl.String}))
    gold = Judgments.of({"q1": {"d1": 1}}) if with_gold else None
    for model in (majority_posterior, one_coin, dawid_skene, ordinal):
        with suppress(BadInput, Undefined):
            json.dumps(model(judgments, gold=gold).to_dict(), allow_nan=False)
    with suppress(BadInput, Undefined):
        result = judge_table(judgments, gold=gold)
        who = [name for name in ("group", "judge") if judgments.has(name)]
        assert result.frame.height == judgments.frame.select(who).n_unique()
        assert result.frame["n"].sum() == judgments.frame["label"].count()
        assert result.finding.endswith(".")
        json.dumps(result.to_dict(), allow_nan=False)


def test_bad_settings_are_named() -> None:
    judgments, _ = crowd(0, judges=5, per_judge=10)
    with pytest.raises(BadInput, match="level"):
        judge_table(judgments, level=1.0)
    with pytest.raises(BadInput, match="fewest"):
        judge_table(judgments, fewest=1)


def test_a_real_crowd_has_its_spammers_found(rf10: Path) -> None:
    """766 workers, four of whom gave no label but broken links. Some gave the same answer thousands of times."""
    with gzip.open(rf10 / "trec-rf10-data.txt.gz") as file:
        frame = pl.read_csv(file.read(), separator="\t")
    frame = frame.rename({"topicID": "query", "docID": "doc", "workerID": "judge"})
    gold = frame.filter(pl.col("gold") >= 0).select("query", "doc", pl.col("gold").alias("label")).unique()
    result = judge_table(Judgments.of(frame.filter(pl.col("label") >= 0).drop("gold")), gold=Judgments.of(gold))
    table = result.frame
    assert table.height == 762
    assert table["n"].sum() == 91_783
    spammers = table.filter("likely_spammer")
    one_answer = table.filter((pl.col("n") >= 1000) & (pl.col("most_used_share") > 0.99))
    assert one_answer.height >= 4
    assert set(one_answer["judge"]) <= set(spammers["judge"])
    assert spammers.height < 0.05 * table.height
    assert f"{spammers.height} of 762 judges look like spammers" in result.finding
