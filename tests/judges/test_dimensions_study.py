"""What is planted in a simulated study is found with its interval, and nothing is found where nothing is."""

from __future__ import annotations

from math import comb

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score

from karat.context.aspect_correlation import change_correlation, overall_correlation, predict_overall
from karat.context.aspect_statistics import aspect_coverage, aspect_distribution
from karat.context.grade_change import grade_change, mean_change
from karat.context.setting_agreement import setting_agreement
from karat.simulate import ContextStudy, context_study
from karat.stats.agreement_coefficients import cross_table
from karat.stats.paired_statistics import Cells, one_setting
from karat.stats.rank_correlation import spearman_from_tables as spearman
from simulated import THOROUGH, about, studies

SAME = dict.fromkeys(("topicality", "novelty", "freshness", "authority", "quality"), (0.8, 0.8))


@pytest.fixture(scope="module")
def study() -> ContextStudy:
    return context_study(seed=7, queries=300)


@pytest.fixture(scope="module")
def population() -> ContextStudy:
    """So large that its figures are the truth, to two decimals."""
    return context_study(seed=99, queries=len(studies(2000, 6000)))


def row(frame: pl.DataFrame, **chosen: str) -> dict[str, float]:
    found: dict[str, float] = frame.row(
        by_predicate=pl.all_horizontal(pl.col(name) == value for name, value in chosen.items()), named=True
    )
    return found


def test_near_copies_lose_and_detail_pages_gain(study: ContextStudy) -> None:
    found = mean_change(study.with_relations(), "relation")
    for relation in ("near copy", "detail", "other"):
        told = row(found.frame, aspect="overall", relation=relation)
        assert told["low"] <= study.truth[f"change {relation}"] <= told["high"]
    assert row(found.frame, aspect="overall", relation="near copy")["high"] < -0.8
    assert row(found.frame, aspect="overall", relation="detail")["low"] > 0.3
    assert found.finding.startswith("Relation near copy: overall falls by 1.")
    # Authority was not touched.
    assert row(found.frame, aspect="authority", relation="near copy")["p_holm"] > 0.05


def test_topicality_and_authority_drive_overall(study: ContextStudy, population: ContextStudy) -> None:
    wide = population.judgments.frame.pivot("aspect", index=["query", "doc", "context", "judge"], values="label")
    alone = wide.filter(pl.col("context").is_null()).drop("context").drop_nulls()
    found = overall_correlation(study.judgments)
    for aspect in ("topicality", "authority", "quality"):
        told = row(found.frame, aspect=aspect)
        assert told["alone_low"] <= spearmanr(alone[aspect], alone["overall"]).statistic <= told["alone_high"]
    assert found.finding.startswith("Alone, overall goes most with topicality: Spearman's rho 0.7")
    frame = predict_overall(study.judgments, [["topicality", "authority"], ["quality", "freshness"]]).frame
    both, rest, none = (row(frame, aspects=name) for name in ("topicality + authority", "quality + freshness", "none"))
    # The two tell as much as all do; the two that only follow them tell next to nothing.
    for setting in ("alone", "context"):
        assert both[f"less_{setting}"] < 0.05
        assert both[f"{setting}_low"] > rest[f"{setting}_high"]
        assert rest[setting] < none[setting] + 0.05
        assert rest[f"less_{setting}_low"] > 0.2


def test_judges_have_an_answer_to_novelty_in_context(study: ContextStudy) -> None:
    found = aspect_coverage(study.judgments)
    assert "more often above all on novelty" in found.finding
    for aspect in ("topicality", "novelty", "authority", "freshness", "quality"):
        told = row(found.frame, aspect=aspect)
        for setting in ("alone", "context"):
            planted = study.truth[f"covered {setting} {aspect}"]
            assert told[f"{setting}_low"] - 0.01 <= planted <= told[f"{setting}_high"] + 0.01
    assert row(found.frame, aspect="authority")["difference_high"] < 0


def test_aspects_change_in_two_clusters_as_planted(study: ContextStudy) -> None:
    frame = change_correlation(study.judgments).frame
    first = {"overall", "topicality", "novelty"}
    assert frame.height == comb(study.judgments.frame["aspect"].n_unique(), 2)
    for told in frame.iter_rows(named=True):
        inside = {told["first"], told["second"]}
        if inside <= first:
            assert told["rho_low"] > 0.3
        elif not inside & first:
            assert told["rho_low"] > 0
        else:
            assert abs(told["rho"]) < 0.2


def test_the_other_tables_of_the_paper_come_by_one_call_each(study: ContextStudy) -> None:
    change = grade_change(study.judgments).frame.filter(pl.col("aspect") == "overall")
    assert change["size"].to_list()[:3] == [0, 1, 2]
    assert 0.6 < change["share"][0] < 0.8
    assert change["share"].sum() == pytest.approx(1)
    shares = aspect_distribution(study.judgments, draws=0).frame
    sums = shares.group_by("documents", "aspect").agg(pl.col("alone", "context").sum())
    assert sums["alone"].to_list() == pytest.approx([1] * 12)
    assert sums["context"].to_list() == pytest.approx([1] * 12)


@pytest.mark.evidence
def test_intervals_of_agreement_hold_that_of_the_population(population: ContextStudy) -> None:
    frame = population.judgments.frame.filter((pl.col("aspect") == "overall") & pl.col("label").is_not_null())
    twice = frame.sort("judge").group_by("query", "doc", "context").agg("label").filter(pl.col("label").list.len() == 2)
    settings = {"alone": pl.col("context").is_null(), "context": pl.col("context").is_not_null()}
    truth = {
        name: cohen_kappa_score(*np.array(twice.filter(chosen)["label"].to_list()).T)
        for name, chosen in settings.items()
    }
    held: dict[str, list[bool]] = {name: [] for name in settings}
    seeds = studies(6, 150)
    for seed in seeds:
        study = context_study(seed=seed, queries=25, twice=1.0)
        told = row(setting_agreement(study.judgments, draws=200).frame, aspect="overall", figure="kappa")
        for name, kappa in truth.items():
            held[name].append(told[f"{name}_low"] <= kappa <= told[f"{name}_high"])
    assert [np.mean(some) for some in held.values()] == [about(0.95, len(seeds), off=0.02)] * 2


@pytest.mark.evidence
def test_where_nothing_is_planted_nothing_is_found_more_than_one_time_in_twenty() -> None:
    alarms, seeds = np.zeros(3), studies(6, 150)
    for seed in seeds:
        study = context_study(seed=seed, queries=40, redundancy=0, detail=0, contrast=0, coverage=SAME)
        found = [
            mean_change(study.with_relations(), "relation"),
            mean_change(study.judgments),
            aspect_coverage(study.judgments, draws=0),
        ]
        alarms += [bool((result.frame["p_holm"].fill_nan(1.0) <= 0.05).any()) for result in found]
    # Two and a half standard errors of 5 % over so many studies.
    assert (alarms / len(seeds)).max() <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / len(seeds))
    # Intervals for judges like these are wide where, as here, judges have no habits: fewer alarms, but still some.
    assert alarms.sum() > 0 or not THOROUGH


@pytest.mark.evidence
def test_intervals_hold_the_planted_change_and_coverage() -> None:
    held: dict[str, list[bool]] = {}
    seeds = studies(6, 150)
    for seed in seeds:
        study = context_study(seed=seed, queries=40)
        told = mean_change(study.with_relations(), "relation").frame.filter(pl.col("aspect") == "overall")
        for found in told.iter_rows(named=True):
            truth = study.truth[f"change {found['relation']}"]
            held.setdefault(found["relation"], []).append(found["low"] <= truth <= found["high"])
        novelty = row(aspect_coverage(study.judgments, draws=200).frame, aspect="novelty")
        for setting in ("alone", "context"):
            truth = study.truth[f"covered {setting} novelty"]
            held.setdefault(setting, []).append(novelty[f"{setting}_low"] <= truth <= novelty[f"{setting}_high"])
    assert {name: np.mean(some) for name, some in held.items()} == dict.fromkeys(
        held, about(0.95, len(seeds), off=0.02)
    )


@pytest.mark.evidence
def test_intervals_of_rank_correlations_hold_the_truth() -> None:
    """Grades of 40 queries with 6 documents each; documents of one query have something in common."""
    rng = np.random.default_rng(5)

    def grades(queries: int) -> tuple[np.ndarray, np.ndarray]:
        shared, own = rng.normal(size=(2, queries, 1)), rng.normal(size=(2, queries, 6))
        x = 0.6 * shared[0] + own[0]
        y = 0.7 * x + 0.4 * shared[1] + 0.6 * own[1]
        one, two = (np.clip(np.rint(v + 2), 0, 4).astype(int).ravel() for v in (x, y))
        return one, two

    truth = spearmanr(*grades(50_000)).statistic
    held = []
    seeds = studies(60, 2000)
    for _ in seeds:
        one, two = grades(40)
        tables = cross_table(np.repeat(np.arange(40), 6), one, two, 40, 5)[:, None]
        cells = Cells(np.arange(40))
        _, low, high, _ = one_setting(tables, spearman, cells, "rho", level=0.95, draws=300, seed=1)
        held.append(bool(low[0] <= truth <= high[0]))
    assert np.mean(held) == about(0.95, len(seeds), off=0.015)


def test_what_asking_twice_does_is_taken_off_the_change() -> None:
    """Where company changes nothing, grades change in context as often as when judges are asked again."""
    held = alarms = 0
    seeds = studies(12, 80)
    for seed in seeds:
        study = context_study(seed=seed, queries=40, again=1.0, redundancy=0, detail=0, contrast=0, coverage=SAME)
        same = grade_change(study.judgments, draws=200).frame.row(0, named=True)
        held += same["beyond_low"] <= 0 <= same["beyond_high"]
        study = context_study(seed=seed, queries=40, again=1.0, redundancy=2.0, detail=1.0, contrast=0.3)
        row = grade_change(study.judgments, draws=200).frame.row(0, named=True)
        alarms += row["beyond_high"] < 0
    assert held / len(seeds) == about(0.95, len(seeds), off=0.02)
    assert alarms / len(seeds) > 0.9
