"""Which labels count is one question in every analysis: names, order, labels of another kind change nothing."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import karat as kt
from karat import comparison, context, judges, plan, users
from labels.world import CHANGES, CLOCKS, World, iso, timed, world

Found = list[pl.DataFrame]
Analysis = Callable[[kt.Judgments, World], Any]

#: Columns that depend on how a sample is drawn, or that say how a figure was made.
DRAWN = ("_low", "_high", "low", "high", "_self", "iterations", "bootstrap_error")


#: Two judges side by side, for whom the figures are the same either way.
SIDES = (("judge", "against"), ("judge", "judge_other"))


def _gold_only(labels: kt.Judgments) -> kt.Judgments:
    return kt.Judgments(labels.frame.filter(pl.col("group") == "gold"), (), labels.scale)


def _crowd(labels: kt.Judgments) -> kt.Judgments:
    return kt.Judgments(labels.frame.filter(pl.col("group") != "gold"), (), labels.scale)


def _lists(labels: kt.Judgments, w: World) -> kt.Runs:
    return kt.Runs.of(w.runs)


def _gold_lists(labels: kt.Judgments, w: World) -> kt.Runs:
    """The documents of each list that have a gold label: most of the others have none."""
    return kt.Runs.of(w.runs.join(_gold_only(labels).frame, on=["query", "doc"], how="semi"))


def _two(w: World) -> kt.Runs:
    """The lists of the first two systems."""
    return kt.Runs.of(w.runs.filter(pl.col("system").is_in(["ant", "bee"])))


def _halves(w: World) -> pl.DataFrame:
    """Queries in two groups by when they come, whatever their names."""
    queries = w.runs["query"].unique(maintain_order=True)
    return pl.DataFrame({"query": queries, "group": ["early" if n < 7 else "late" for n in range(len(queries))]})


def _models(labels: kt.Judgments, w: World) -> kt.Judgments:
    """The labels with two of the staff taken for language models, without the others of the staff."""
    staff = pl.col("group").str.starts_with("staff")
    kept = labels.frame.filter(~staff | pl.col("judge").replace(w.back).is_in(["s0", "s1"]))
    group = pl.when(staff).then(pl.lit("llm")).otherwise("group")
    return kt.Judgments(kept.with_columns(group=group), (), labels.scale)


def _sheets(audit: Any) -> pl.DataFrame:
    """The figures of all models, but for those that are about repeats or altered documents, or of drawn folds."""
    frames = [sheet.frame.with_columns(pl.lit(sheet.judge).alias("judge")) for sheet in audit.sheets]
    figures = pl.concat(frames).filter(~pl.col("part").is_in(["again", "canaries", "worth"]))
    return figures.with_columns(pl.col("of").str.replace("crowd-too", "crowd"))


#: Every public analysis of labels. What is new joins this list, or is named below with the reason why it does not.
ANALYSES: dict[str, Analysis] = {
    "judges.agreement": lambda j, w: judges.agreement(j, by="wiki", draws=0),
    "judges.agreement_tests": lambda j, w: judges.agreement_tests(j, by="wiki"),
    "judges.dawid_skene": lambda j, w: judges.dawid_skene(j),
    "judges.one_coin": lambda j, w: judges.one_coin(j),
    "judges.ordinal": lambda j, w: judges.ordinal(j),
    "judges.majority_posterior": lambda j, w: judges.majority_posterior(j),
    "judges.judge_table": lambda j, w: judges.judge_table(j),
    "judges.against_gold": lambda j, w: judges.against_gold(j, by="wiki"),
    "judges.error_distribution": lambda j, w: judges.error_distribution(j),
    "judges.gold_regression": lambda j, w: judges.gold_regression(j, ["wiki"]),
    "judges.distribution": lambda j, w: judges.distribution(j, "wiki"),
    "judges.distribution_tests": lambda j, w: judges.distribution_tests(j, "wiki"),
    "judges.find_bias": lambda j, w: judges.find_bias(j, ["wiki"], min_pairs=5, min_queries=3, everything=True),
    "users.against_clicks": lambda j, w: users.against_clicks(j, kt.Clicks.of(w.clicks), pairs="both", draws=0),
    "users.most_clicked": lambda j, w: users.most_clicked(j, kt.Clicks.of(w.clicks), draws=0),
    "judges.disagreement": lambda j, w: judges.disagreement(_crowd(j), draws=0),
    "plan.plan_disagreement": lambda j, w: plan.plan_disagreement(_crowd(j)),
    "judges.disagreement_by": lambda j, w: judges.disagreement_by(_crowd(j), "wiki", draws=0),
    "judges.random_user": lambda j, w: judges.random_user(j, draws=0),
    "judges.one_users_weights": lambda j, w: judges.one_users_weights(judges.random_user(j, draws=0)),
    "judges.document_gains": lambda j, w: judges.document_gains(j),
    "judges.user_gains": lambda j, w: judges.user_gains(judges.random_user(j, draws=0), j),
    "judges.soft_relevance": lambda j, w: judges.soft_relevance(j, draws=0),
    "judges.opinions": lambda j, w: judges.opinions(j).frame.unpivot(index="doc", variable_name="judge"),
    "judges.overlap": lambda j, w: judges.overlap(j),
    "judges.order_effects": lambda j, w: judges.order_effects(j),
    "users.robustness": lambda j, w: users.robustness(_crowd(j)),
    "users.measure_correlation": lambda j, w: users.measure_correlation(j, _lists(j, w), ["nDCG@5", "P@3"]),
    "users.compare_rankings": lambda j, w: kt.compare_rankings(j, _gold_lists(j, w), ["nDCG@5"], draws=0).frame,
    "users.agreement": lambda j, w: users.agreement(w.preferences, j, _lists(j, w), ["nDCG@5"], draws=0).frame,
    "kt.consensus": lambda j, w: kt.consensus(j, apart=()),
    "kt.score": lambda j, w: kt.score(_crowd(j), kt.Runs.of(w.runs), ["nDCG@5", "AP", "P(rel=2)@3"], draws=0).means,
    "kt.confusion": lambda j, w: kt.confusion(j),
    "kt.corrected_runs": lambda j, w: kt.corrected_runs(_crowd(j), _two(w), "P@5", gold=_gold_only(j)),
    "kt.audit_llm": lambda j, w: _sheets(kt.audit_llm(_models(j, w), draws=0)),
    "comparison.compare": lambda j, w: kt.compare(_crowd(j), kt.Runs.of(w.runs), "P@5").methods,
    "comparison.by_group": lambda j, w: comparison.by_group(kt.compare(_crowd(j), _two(w), "P@5"), _halves(w)),
    "comparison.moved": lambda j, w: pl.DataFrame(
        {"query": one["query"], "difference": one["difference"], **document}
        for one in comparison.moved(kt.compare(_crowd(j), _two(w), "nDCG@5"), _crowd(j), _two(w), gold=_gold_only(j))
        for document in one["documents"]
    ),
    "comparison.compare with gold": lambda j, w: kt.compare(
        _crowd(j), kt.Runs.of(w.runs), "P@5", gold=_gold_only(j)
    ).methods.filter(pl.col("method") == "ppi"),
}
#: Public names that are no analysis of labels given by judges, and why; or whose question is another one.
NOT_HERE = {
    "judges.add_features": "adds columns and reads no label",
    "judges.combined_weights": "is about labels of several surfaces or aspects together",
    "judges.combined_gains": "is about labels of several surfaces or aspects together",
    "judges.consistency": "is about a judge's repeats",
    "judges.described": "puts a fit in words",
    "judges.register_error_model": "registers a model of one's own",
    "judges.fit_em": "fits a model to answers",
    "judges.tally": "counts answers",
    "judges.resampled_p": "draws at random; disagreement has the same votes",
    "context.aspect_coverage": "is about aspects",
    "context.aspect_distribution": "is about aspects",
    "context.change_correlation": "is about aspects in context",
    "context.grade_change": "is about labels in context",
    "context.mean_change": "is about labels in context",
    "context.overall_correlation": "is about aspects",
    "context.predict_overall": "is about aspects",
    "context.setting_agreement": "is about labels in context",
    "context.context_accuracy": "is about labels in context",
    "context.context_sources": "is about labels in context",
    "context.label_in_context": "is about labels in context",
    "users.against_click_rates": "takes scores by clicks",
    "users.against_ratings": "takes users' ratings",
    "users.agreement_tables": "is users.agreement, table by table",
    "users.click_labels": "takes clicks",
    "users.fit_measure": "searches by cross-validation over drawn folds",
    "users.learn_reasons": "takes coded reasons",
    "users.matrix": "shows measure_correlation",
    "users.preference_curves": "scores as users.agreement does",
    "users.preference_judges": "takes preferences",
    "users.preferred": "takes preferences",
    "users.rank_systems": "takes preferences",
    "users.reason_table": "takes reasons",
    "users.reasons_by_rules": "takes reasons",
    "users.reuse": "is about labels in context",
    "users.train": "trains on drawn folds; its labels are consensus' by group",
    "users.click_labels_by_rank": "takes a log of clicks",
    "users.interleave": "takes a log of clicks",
    "users.trusted": "takes preferences",
    "users.votes": "takes preferences",
    "users.human_ceiling": "takes preferences",
    "users.as_printed": "puts a table in a paper's layout",
    "users.document_agreement": "holds preferences against consensus' labels",
    "users.preference_work": "takes preferences",
    "users.preferred_documents": "takes preferences",
    "plan.next_pairs": "takes preferences",
    "plan.pairs_of_documents": "pairs documents by consensus' labels",
    "plan.plan_preferences": "takes no labels",
    "plan.comparison_tasks": "draws tasks",
    "plan.plan_gold": "draws documents",
    "plan.plan_gold_queries": "draws queries",
    "plan.plan_power": "takes a spread",
    "plan.select_pairs": "scores as score does",
    "plan.pilot_variance": "takes what compare takes, and is compare's variance",
    "comparison.by_measure": "takes comparisons",
    "comparison.compare_scores": "takes scores",
    "comparison.gate": "takes a comparison",
    "comparison.groups_of": "takes queries",
    "comparison.live_verdict": "is about the order in which gold labels came; at the end it is compare's",
    "kt.corrected_difference": "takes printed figures",
    "kt.corrected_score": "takes printed figures",
    "kt.of_aspect": "is about aspects",
    "kt.parse_measure": "reads no label",
    "kt.register_measure": "reads no label",
    "kt.udm": "reads no label",
    "kt.plan_context": "draws tasks",
}
#: Where analyses live: what reads, writes, asks or shows is none.
FOLDERS = {"labels", "judges", "llm", "context", "measures", "correction", "comparison", "users", "plan"}


def _functions(module: Any) -> dict[str, Any]:
    found = {name: getattr(module, name) for name in getattr(module, "__all__", dir(module))}
    return {name: value for name, value in found.items() if inspect.isfunction(value)}


def test_every_public_analysis_is_in_the_list_or_says_why_not() -> None:
    modules = {"judges": judges, "context": context, "users": users, "plan": plan, "comparison": comparison}
    public = {f"{name}.{n}": value for name, module in modules.items() for n, value in _functions(module).items()}
    # What `import karat as kt` offers beside the folders.
    beside = {name: value for name, value in _functions(kt).items() if value not in public.values()}
    public |= {f"kt.{name}": value for name, value in beside.items() if value.__module__.split(".")[1] in FOLDERS}
    assert {*public} - {*ANALYSES} - {*NOT_HERE} == set()
    assert {name.split(" ")[0] for name in (*ANALYSES, *NOT_HERE)} - {*public} == set()


def figures(found: Any, back: dict[str, str]) -> Found:
    """The tables of a result with the old names, without what is drawn, in one order."""
    if isinstance(found, pl.DataFrame):
        frames = [found]
    elif isinstance(found, judges.ErrorModel):
        frames = [found.posterior, found.judges, found.confusion]
    else:
        frames = [found.to_frame()]
    shown = []
    for frame in frames:
        kept = frame.select(name for name in frame.columns if not name.endswith(DRAWN))
        old = kept.with_columns(pl.col(pl.String).replace(back)).with_columns(pl.col(pl.Float64).round(9))
        for one, other in SIDES:
            if {one, other} <= {*old.columns}:  # in one order, whatever their names are
                sides = pl.min_horizontal(one, other).alias(one), pl.max_horizontal(one, other).alias(other)
                old = old.with_columns(sides)
        shown.append(old.select(sorted(old.columns)).sort(sorted(c for c in old.columns if old[c].dtype != pl.List)))
    return shown


def labels_of(study: World, clock: Callable[[int], str] = iso) -> kt.Judgments:
    return kt.Judgments.of(timed(study.rows, clock), kt.Scale.parse("0..3"))


def run(name: str, study: World, labels: kt.Judgments) -> Found:
    return figures(ANALYSES[name](labels, study), study.back)


@cache
def changed(change: str) -> tuple[World, kt.Judgments]:
    """The study with one change, and its labels: made once for all analyses, which change neither."""
    study = CHANGES[change](world())
    return study, labels_of(study)


def same(one: Found, other: Found) -> None:
    for before, after in zip(one, other, strict=True):
        assert_frame_equal(before, after, rel_tol=1e-5, abs_tol=1e-7)


@cache
def before(name: str) -> Found:
    return run(name, world(), labels_of(world()))


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ANALYSES)
def test_no_figure_changes_with_what_it_is_not_about(name: str, change: str) -> None:
    same(before(name), run(name, *changed(change)))


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("name", ["judges.judge_table", "kt.consensus", "judges.agreement", "judges.disagreement"])
def test_no_figure_changes_with_how_times_are_written(name: str, clock: str) -> None:
    shuffled = CHANGES["rows shuffled"](CHANGES["a judge's repeats added"](world()))
    same(before(name), run(name, shuffled, labels_of(shuffled, CLOCKS[clock])))


#: Analyses that the list above gives the labels as they are; the others take a part of them first.
AS_THEY_ARE = [
    name
    for name in ANALYSES
    if name.startswith(("judges.", "kt.consensus")) and name not in ("judges.disagreement", "judges.disagreement_by")
]


@pytest.mark.parametrize("name", AS_THEY_ARE)
def test_every_analysis_takes_plain_rows(name: str) -> None:
    study = world()
    found = ANALYSES[name](timed(study.rows, iso).to_dicts(), study)  # type: ignore[arg-type]
    assert figures(found, {})[0].height > 0
