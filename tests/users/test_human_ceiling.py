"""The human ceiling: one judge against the majority of the others, by hand and in simulated studies."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

from karat.errors import BadInput
from karat.records import Preferences
from karat.simulate import preference_study
from karat.users import agreement, agreement_tables, human_ceiling
from simulated import about, studies

WORDS = {"A": "left", "B": "right", "=": "equal", "0": "none"}


def said(answers: dict[str, str], judges: str = "vwxyz") -> list[dict[str, object]]:
    """Rows from a string of answers a question, one letter a judge; a dot for a judge who was not asked."""
    return [
        {"query": name.split("/")[0], "subtopic": (name + "/").split("/")[1] or None, "left": "a", "right": "b"}
        | {"judge": judge, "choice": WORDS[letter]}
        for name, letters in answers.items()
        for judge, letter in zip(judges, letters, strict=False)
        if letter != "."
    ]


def counts(rows: list[dict[str, object]], **asked: object) -> tuple[object, ...]:
    row = human_ceiling(rows, draws=0, **asked).frame.row(0, named=True)  # type: ignore[arg-type]
    return tuple(row[name] for name in ("agree", "equal", "disagree", "ties", "n"))


def test_an_answer_agrees_disagrees_or_meets_others_who_are_tied() -> None:
    # AAB: each A sees one A and one B, a tie; the B sees two A. AAA: three agree. A=: the A meets no side; = is a tie.
    found = human_ceiling(said({"q1": "AAB", "q2": "AAA", "q3": "A="}), draws=0).frame.row(0, named=True)
    assert [found[name] for name in ("agree", "equal", "disagree", "ties", "n")] == [3, 3, 1, 1, 7]
    assert found["agree_share"] == pytest.approx(3 / 7)
    # The others prefer a side for the B of q1, the three of q2, and the = of q3: 0, 1, 1, 1 and a half.
    assert found["credit"] == pytest.approx(3.5 / 5)


def test_a_judge_alone_with_a_pair_has_no_others() -> None:
    assert counts(said({"q1": "A", "q2": "AB"})) == (0, 0, 2, 0, 2)
    alone = human_ceiling(said({"q1": "A"}), draws=0)
    assert alone.frame.is_empty()
    assert "cannot be told" in alone.finding


def test_by_query_the_majorities_of_subtopics_are_averaged_without_the_judge() -> None:
    # Of q, v says A to subtopic 1 and x, y, z say B to 2, w A to 1.
    # v: others (1 + -1) / 2 = 0; w the same; x, y, z: others of 1 are +1, of 2 -1: 0. All meet a tie.
    rows = said({"q/1": "AA...", "q/2": "..BBB"})
    assert counts(rows) == (0, 5, 0, 0, 5)
    # By subtopic everybody agrees with the others.
    assert counts(rows, by="subtopic") == (5, 0, 0, 0, 5)
    # A judge who stands alone for a subtopic leaves it out: v sees -1 of 2 only.
    assert counts(said({"q/1": "A....", "q/2": "..BB."})) == (0, 2, 1, 0, 3)


def test_the_most_frequent_answer_of_the_others_may_count_instead() -> None:
    # The A sees A, =, =, =: by votes a majority for a, by mode equal.
    assert counts(said({"q": "AA==="}))[:2] == (2, 0)
    assert counts(said({"q": "AA==="}), how="mode")[:2] == (0, 2)


def test_the_nameless_are_different_people_and_have_no_best() -> None:
    rows = [row | {"judge": None} for row in said({"q": "AAB"})]
    assert counts(rows) == (0, 2, 1, 0, 3)
    assert human_ceiling(rows, draws=0).frame["judges"].to_list() == ["all"]


def test_best_median_and_worst_are_of_judges_with_ten_answers() -> None:
    """Of ten pairs v goes alone in none, w in one, x in two, y in three, z in four; ann was asked twice only."""
    alone = "wxxyyyzzzz"
    rows = said({f"q{n}": "".join("B" if judge == who else "A" for judge in "vwxyz") for n, who in enumerate(alone)})
    rows += [row | {"judge": "ann", "choice": "right"} for row in rows if row["judge"] == "v"][:2]
    frame = human_ceiling(rows, draws=0).frame
    assert frame["judges"].to_list() == ["all", "best", "median", "worst"]
    assert frame["agree_share"].to_list()[1:] == [1.0, 0.8, 0.6]
    assert any("5 of 6 judges" in note for note in human_ceiling(rows, draws=0).notes)


def test_wrong_words_are_refused() -> None:
    with pytest.raises(BadInput):
        human_ceiling(said({"q": "AB"}), how="loudest")


def test_every_table_of_all_pairs_has_the_ceiling_of_its_unit() -> None:
    study = preference_study(queries=12, subtopics=2, relevant=0.15, seed=2)
    given = study.preferences, study.judgments, study.runs
    by_subtopic = human_ceiling(study.preferences, by="subtopic", draws=0).frame
    found = agreement(*given, ["nDCG@10"], draws=0)
    assert found.ceiling.equals(by_subtopic)
    assert any(note.startswith("one judge agrees") for note in found.notes)
    tables = agreement_tables(*given, draws=0)
    assert tables["Table 4"].ceiling.equals(by_subtopic)  # type: ignore[attr-defined]
    assert tables["Table 2"].ceiling.equals(human_ceiling(study.preferences, draws=0).frame)  # type: ignore[attr-defined]


@pytest.mark.evidence
def test_the_interval_holds_the_agreement_that_was_planted() -> None:
    """Five judges, each right with chance 0.7: one agrees with the four others in .7 P(3 or 4) + .3 P(0 or 1)."""
    right, others = 0.7, binom(4, 0.7)
    truth = right * others.sf(2) + (1 - right) * others.cdf(1)
    held = []
    for seed in studies(20, 500):
        votes = np.random.default_rng(seed).random((60, 5)) < right
        query, judge = (place.ravel() for place in np.indices(votes.shape))
        frame = pl.DataFrame({"query": query, "judge": judge}).cast(pl.String)
        choice = pl.Series(np.where(votes.ravel(), "left", "right"))
        rows = frame.with_columns(left=pl.lit("a"), right=pl.lit("b"), choice=choice)
        low, high = human_ceiling(Preferences.of(rows), draws=300, seed=seed).frame.select("low", "high").row(0)
        held.append(low <= truth <= high)
    assert np.mean(held) == about(0.95, len(held), off=0.02)
