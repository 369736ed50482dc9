"""Judges are a sample: intervals hold for judges like these, and chance is rarely called a difference."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karat as kt
from crowds import slips, table_of
from karat.judges import agreement, agreement_tests
from karat.judges.agreement_sums import FIGURES, By, all_sums
from karat.judges.agreement_tests import agreement_with_tests
from karat.judges.jackknife import BOTH, JUDGE, _by_chance, left_out
from karat.labels import Panel
from simulated import about, studies
from varied_judges import varied_judges

NAMES = ("alpha_ordinal", "fleiss")


@pytest.fixture
def two_groups() -> pl.DataFrame:
    return varied_judges(3, judges=6, queries=12, groups=2)


@pytest.mark.parametrize("part", [0, 1])
def test_a_figure_without_a_judge_is_that_of_the_others_labels(two_groups: pl.DataFrame, part: int) -> None:
    """Within groups and between them, where the median of a document changes with the judge who is left out.

    So it is without a judge's labels of one query, though cells that are alike are looked at once.
    """
    panel = Panel.of(two_groups)
    sums = all_sums(panel, None, By.of_panel(panel, None))[part]
    found = left_out(panel, sums, panel.top, "sample")
    judges = np.flatnonzero((found.kind == JUDGE) & (found.row == 0))
    assert len(judges) == (12 if part else 6)
    queries = panel.frame.select("query", number=pl.Series(panel.query)).unique()
    for place in [*judges, *np.flatnonzero((found.kind == BOTH) & (found.row == 0))[::12]]:
        judge, query = np.divmod(found.key[place], found.width if found.kind[place] == BOTH else 1)
        without = pl.col("judge") == panel.judges["judge"][int(judge)]
        if found.kind[place] == BOTH:
            without &= pl.col("query") == queries.filter(pl.col("number") == query)["query"][0]
        rest = agreement(two_groups.filter(~without), draws=0).frame
        against = pl.col("against") == "group 1" if part else pl.col("against").is_null()
        expected = rest.filter(against, pl.col("group") == "group 0").select(*FIGURES).row(0)
        assert found.values[:, found.at[place]] == pytest.approx(np.array(expected), nan_ok=True, abs=1e-9)


def test_intervals_for_judges_like_these_are_wider_than_for_these(two_groups: pl.DataFrame) -> None:
    sample, fixed = agreement(two_groups), agreement(two_groups, judges="fixed")
    assert sample.frame["sample"].all()
    assert not fixed.frame["sample"].any()
    assert sample.frame["alpha_ordinal"].equals(fixed.frame["alpha_ordinal"])
    width = [result.frame["alpha_ordinal_high"] - result.frame["alpha_ordinal_low"] for result in (sample, fixed)]
    assert (width[0] > width[1]).all()
    assert "intervals are about judges like these and queries like these" in sample.notes
    assert "intervals are about these judges, whoever else might judge" in fixed.notes


def test_with_fewer_than_five_judges_or_none_named_it_is_said_what_cannot_be_told() -> None:
    four = varied_judges(1, judges=4)
    result = agreement(four)
    said = "intervals are about these judges: fewer than 5 with names do not tell what others like them do"
    assert said in result.notes
    assert not result.frame["sample"][0]
    assert result.frame.drop("sample").equals(agreement(four, judges="fixed").frame.drop("sample"))
    assert said in agreement(varied_judges(1, judges=9).drop("judge")).notes


def test_names_and_the_order_of_rows_change_no_interval(two_groups: pl.DataFrame) -> None:
    other = two_groups.with_columns(judge=pl.col("judge").str.reverse(), doc="x" + pl.col("doc"))
    one, two = (agreement(frame) for frame in (two_groups, other.sample(fraction=1, shuffle=True, seed=4)))
    ends = pl.selectors.ends_with("_low", "_high")
    assert one.frame.select(ends).to_numpy() == pytest.approx(two.frame.select(ends).to_numpy(), nan_ok=True)


@pytest.mark.parametrize("judges", [5, 10, 20])
@pytest.mark.evidence
def test_intervals_hold_for_judges_like_these(judges: int) -> None:
    """Judges differ by person, by query and by document. The truth is of 2,400 judges and 12,000 queries.

    1,000 studies each: docs/judges.md (`benchmarks/judges_sample.py`).
    """
    truth = np.array([0.490, 0.245])
    held, seeds = np.zeros(2), studies(8, 300)
    for seed in seeds:
        frame = agreement(varied_judges(seed, judges=judges), draws=1).frame
        low, high = (np.array(frame.select(f"{name}{end}" for name in NAMES).row(0)) for end in ("_low", "_high"))
        held += (low <= truth) & (truth <= high)
    assert list(held / len(seeds)) == [about(0.95, len(seeds), off=0.01)] * 2


@pytest.mark.parametrize("judges", [5, 20])
@pytest.mark.evidence
def test_intervals_between_groups_and_with_gold_hold_for_judges_like_these(judges: int) -> None:
    """Medians of three labels. The truth is of 8 x 3,000 queries, 200 judges a group: its own error is .002."""
    truth = {"gold": np.array([0.491, 0.781]), "group 1": np.array([0.365, 0.661])}
    held, seeds = {against: np.zeros(2) for against in truth}, studies(8, 300)
    for seed in seeds:
        frame = agreement(varied_judges(seed, judges=judges, groups=2, gold=True), draws=1).frame
        for against, true in truth.items():
            row = frame.row(by_predicate=(pl.col("group") == "group 0") & (pl.col("against") == against), named=True)
            low, high = (
                np.array([row[name + end] for name in ("cohen", "alpha_ordinal")]) for end in ("_low", "_high")
            )
            held[against] += (low <= true) & (true <= high)
    for against, number in held.items():
        assert list(number / len(seeds)) == [about(0.95, len(seeds), off=0.02)] * 2, against


@pytest.mark.parametrize(("judges", "by"), [(5, None), (20, None), (5, "split")])
@pytest.mark.evidence
def test_groups_of_one_population_and_like_documents_are_rarely_told_apart(judges: int, by: str | None) -> None:
    found, seeds = np.zeros(2), studies(8, 400)
    for seed in seeds:
        study = varied_judges(seed, judges=judges, groups=1 if by else 2)
        found += agreement_tests(study, by=by, figures=NAMES).frame["p"].to_numpy() <= 0.05
    # Documents of two kinds are judged by the same few: what these add to the error is never taken for less than 0.
    assert list(found / len(seeds)) == [about(0.05, len(seeds), off=0.03 if by else 0.02)] * 2


def test_judges_who_move_a_figure_alike_in_all_queries_do_not_so_by_chance() -> None:
    """Five judges, each with an effect of their own in all of ten queries: a tenth of it is single queries'."""
    judge, query = np.repeat(np.arange(5), 10), np.tile(np.arange(10), 5)
    effect = np.array([2.0, -1.0, 0.0, 3.0, -4.0])[judge]
    assert _by_chance(effect[None], judge, query, 5) == pytest.approx([0.1])


@pytest.mark.parametrize("together", [0.0, 3.0])
def test_judges_of_one_document_who_move_a_figure_together_or_apart_seem_no_habit(together: float) -> None:
    """Three of five judges share each of 40 queries; who they are says nothing, so all of their spread is by chance."""
    rng = np.random.default_rng(4)
    spread = np.zeros(2)
    for _ in range(400):
        judge = np.argsort(rng.random((40, 5)), axis=1)[:, :3]
        apart = rng.normal(size=(40, 3))
        moved = apart - apart.mean(axis=1, keepdims=True) + together * rng.normal(size=(40, 1))
        share = _by_chance(moved.reshape(1, -1), judge.ravel(), np.repeat(np.arange(40), 3), 5)[0]
        sums = np.bincount(judge.ravel(), moved.ravel(), 5)
        spread += np.array([share, 1.0]) * ((sums - sums.mean()) ** 2).sum()
    assert spread[0] / spread[1] == pytest.approx(1.0, abs=0.1)


def unlike() -> pl.DataFrame:
    """A careful group and a careless one; documents of odd numbers are hard for both."""
    rng = np.random.default_rng(5)
    frames = []
    for place, (group, right) in enumerate({"careful": 0.9, "careless": 0.5}.items()):
        easy, hard = slips(rng, 100, 6, right), slips(rng, 100, 6, right / 2)
        for kind, labels in (("easy", easy), ("hard", hard)):
            part = table_of(labels, group=group, first=10 * place)
            frames.append(part.with_columns(doc=kind + pl.col("doc"), kind=pl.lit(kind)))
    return pl.concat(frames)


def test_groups_that_differ_are_told_apart_with_the_size_of_the_difference() -> None:
    """Alpha of slips is the square of the share of careful labels: .81 and .25 on easy documents."""
    easy = unlike().filter(pl.col("kind") == "easy")
    result = agreement_tests(easy)
    alpha = result.frame.row(by_predicate=pl.col("figure") == "alpha_ordinal", named=True)
    assert (alpha["group"], alpha["against"], alpha["agreement"]) == ("careful", "careless", "within")
    assert alpha["difference"] == pytest.approx(0.81 - 0.25, abs=0.1)
    assert alpha["low"] < 0.56 < alpha["high"]
    assert alpha["p_holm"] < 0.001
    within = agreement(easy, draws=0).frame.filter(pl.col("against").is_null(), pl.col("group") != "all")
    assert [alpha["first"], alpha["second"]] == pytest.approx(within["alpha_ordinal"].to_list())


def test_kinds_of_documents_are_compared_within_each_group_and_all_together() -> None:
    result = agreement_tests(unlike(), by="kind", figures=["alpha_ordinal"])
    assert result.frame.select("group", "agreement", "kind", "kind_against").sort("group").rows() == [
        ("all", "within", "easy", "hard"),
        ("careful", "within", "easy", "hard"),
        ("careless", "within", "easy", "hard"),
    ]
    assert (result.frame["p_holm"] >= result.frame["p"]).all()
    careful = result.frame.filter(pl.col("group") == "careful")
    assert careful["difference"][0] == pytest.approx(0.81 - 0.2025, abs=0.12)
    assert careful["p_holm"][0] < 0.01


def test_with_gold_it_is_also_tested_who_is_closer_to_it() -> None:
    easy = unlike().filter(pl.col("kind") == "easy")
    gold = easy.filter(pl.col("group") == "careful").group_by("query", "doc").agg(pl.col("label").mode().first())
    frame = agreement_tests(easy, gold, figures=["cohen"]).frame
    assert frame["agreement"].to_list() == ["within", "with gold"]
    assert np.isnan(frame["p"][0]), "Cohen's kappa is of two sides"
    assert frame["difference"][1] > 0.1


def test_nothing_to_compare_and_bad_questions_are_named(two_groups: pl.DataFrame) -> None:
    with pytest.raises(kt.Undefined, match="no two groups with 5 queries"):
        agreement_tests(two_groups.filter(pl.col("group") == "group 0"))
    with pytest.raises(kt.BadInput, match="alpha_ordinal"):
        agreement_tests(two_groups, figures=["kappa"])
    with pytest.raises(kt.BadInput, match="up to 10 values"):
        agreement_tests(two_groups, by="query")


@pytest.mark.parametrize("draws", [0, 50])
def test_a_table_and_its_tests_made_together_are_those_made_one_by_one(two_groups: pl.DataFrame, draws: int) -> None:
    table, tests = agreement_with_tests(two_groups, draws=draws)
    alone = agreement(two_groups, draws=draws)
    assert (table.frame.equals(alone.frame), table.finding, table.notes) == (True, alone.finding, alone.notes)
    assert tests is not None
    assert tests.frame.equals(agreement_tests(two_groups).frame)
    one_group = two_groups.filter(pl.col("group") == "group 0")
    assert agreement_with_tests(one_group, draws=draws)[1] is None, "nothing to differ from"
