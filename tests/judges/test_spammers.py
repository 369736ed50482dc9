"""Spammers: planted ones are found, honest judges are left alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from crowds import crowd, rf10_crowd
from karat.judges.em import named
from karat.judges.jackknife import Others
from karat.judges.judge_table import judge_table
from karat.judges.spammers import Signal, signals
from karat.labels import Panel
from karat.records import Judgments
from simulated import studies


def row(frame: pl.DataFrame, judge: str) -> dict[str, object]:
    return frame.row(by_predicate=pl.col("judge") == judge, named=True)


def signal_of(judgments: Judgments, gold: Judgments | None = None) -> Signal:
    panel = Panel.of(judgments, gold).of_judges()
    judges, who = named(panel)
    return signals(panel, who, judges.height, Others.of(panel), 10)


def called(judgments: Judgments, gold: Judgments | None = None) -> list[bool]:
    return signal_of(judgments, gold).spammer.tolist()


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
        p += signal_of(Judgments.of(judgments.frame.with_columns(label=pl.Series(label)))).chance_p[:10].tolist()
    assert 0.02 <= np.mean(np.array(p) <= 0.05) <= 0.09


def test_a_real_crowd_has_its_spammers_found(rf10: Path) -> None:
    """766 workers, four of whom gave no label but broken links. Some gave the same answer thousands of times."""
    judgments, gold = rf10_crowd(rf10)
    result = judge_table(judgments, gold=gold)
    table = result.frame
    assert table.height == 762
    # Of 91,783 labels 1,345 are a worker's second or later ones of the same document.
    assert table["n"].sum() == 91_783 - 1_345
    spammers = table.filter("likely_spammer")
    one_answer = table.filter((pl.col("n") >= 1000) & (pl.col("most_used_share") > 0.99))
    assert one_answer.height >= 4
    assert set(one_answer["judge"]) <= set(spammers["judge"])
    assert spammers.height < 0.05 * table.height
    assert f"{spammers.height} of 762 judges look like spammers" in result.finding


@pytest.mark.evidence
@pytest.mark.parametrize("bad", [0, 5, 15, 22])
def test_gold_finds_spammers_also_where_most_judges_are_bad(bad: int) -> None:
    """Of 25 judges so many answer at random; the typical one is then no yardstick, but gold is."""
    found = [called(*crowd(seed, random=bad)) for seed in studies(8, 40)]
    if bad:
        assert sum(sum(flags[:bad]) for flags in found) >= 0.9 * len(found) * bad
    assert sum(sum(flags[bad:]) for flags in found) <= 0.05 * len(found) * (25 - bad)


@pytest.mark.parametrize(
    "study",
    [
        {"judges": 60, "per_judge": 20},
        {"judges": 60, "per_judge": 60, "spread": (0.3, 2.0)},
        {"judges": 60, "per_judge": 40, "prior": (0.85, 0.1, 0.05)},
        {"judges": 60, "per_judge": 60, "leniency": np.tile([-1.0, 0.0, 1.0], 20)},
    ],
)
def test_honest_judges_are_not_called_spammers_by_gold(study: dict[str, object]) -> None:
    assert sum(sum(called(*crowd(seed, **study))) for seed in range(10)) <= 6  # type: ignore[arg-type]


def test_where_all_answer_at_random_gold_says_so_of_most() -> None:
    """Nobody shows what a judge does who looks, so the yardstick is low: half a grade of label for a grade of gold."""
    found = [called(*crowd(seed, random=25)) for seed in range(5)]
    assert sum(map(sum, found)) >= 0.7 * 125


def test_one_grade_for_everything_is_said_whatever_else_is_known() -> None:
    """One of 53 gave one grade to 100 of 100 documents, where all others scatter so much that little shows."""
    judgments, _ = crowd(11, judges=53, per_judge=100, spread=(2.5, 3.5))
    same = judgments.frame.with_columns(label=pl.when(pl.col("judge") == "052").then(2.0).otherwise("label"))
    result = judge_table(Judgments.of(same))
    assert result.frame.filter("one_grade")["judge"].to_list() == ["052"]
    assert not result.finding.startswith("None")
    assert "052" in result.finding


def test_who_says_what_nearly_all_say_is_not_flagged_for_one_grade() -> None:
    """Of documents that are nearly all 0, the grade 0 for all of them is what everybody gives."""
    judgments, _ = crowd(12, prior=(0.97, 0.02, 0.01), spread=(0.3, 0.4))
    result = judge_table(judgments)
    assert (result.frame["most_used_share"] >= 0.95).any()
    assert not result.frame["one_grade"].any()


def test_without_gold_a_bad_majority_goes_unseen_and_a_note_says_so() -> None:
    """22 of 25 answer at random: nobody is called a spammer, and the output says why that proves nothing."""
    judgments, gold = crowd(0, random=22)
    found = judge_table(judgments)
    assert not found.frame["likely_spammer"].fill_null(False).any()
    (note,) = [note for note in found.notes if note.startswith("no gold labels")]
    assert note == (
        "no gold labels: judges are compared with each other, so if most of them answer at random, none of them is "
        "found; give gold="
    )
    some = judge_table(judgments, gold=gold.frame.head(250))
    assert (
        "gold labels for 50% of the documents: if most judges answer at random, some of them are missed"
    ) in some.notes
    assert not any("answer at random" in note for note in judge_table(judgments, gold=gold).notes)


def test_half_of_the_gold_labels_miss_some_of_a_bad_majority() -> None:
    judgments = [crowd(seed, random=22) for seed in range(10)]
    half = [called(one, Judgments.of(gold.frame.sample(fraction=0.5, seed=0))) for one, gold in judgments]
    assert 0.7 <= sum(sum(flags[:22]) for flags in half) / 220 <= 0.97
