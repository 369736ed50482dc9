"""Which system is better? The verdict, and what the labels taken as they are would have said."""

from __future__ import annotations

import polars as pl

from karat.comparison import Comparison
from karat.comparison import compare as compared
from karat.errors import KaratError, Undefined
from karat.estimate import score
from karat.records import Judgments, Runs
from karat.reports.headline_pair import Told
from karat.reports.section import Section, Table
from karat.reports.verdict_figures import by_group, by_query, methods_figure
from karat.study import Study


def comparison(study: Study, measure: str, group: str | None, seed: int) -> Comparison:
    """The comparison of the study's systems: of two the better one is B, of more the best is first.

    Better is what decides: with gold labels, the corrected scores. The figures are those that `compare` has of the
    same files and seed.
    """
    if len(study.systems) < 2:
        found = "one system" if study.systems else "no run"
        raise Undefined(f"there is {found}, and a comparison takes two")
    labels = study.of_group(group)
    if not len(labels):
        raise Undefined("there are no labels to score the systems with")
    runs = [run for runs_of in study.runs for run in each_system(runs_of)]
    order = _best_first(labels, runs, study.gold, measure, seed)
    runs.sort(key=lambda run: order.index(run.systems[0]), reverse=len(order) == 2)
    return compared(labels, runs, measure, gold=study.gold, seed=seed)


def _best_first(labels: Judgments, runs: list[Runs], gold: Judgments | None, measure: str, seed: int) -> list[str]:
    means = score(labels, runs, measure, draws=0).best_first()
    if gold is None:
        return means
    ranks = compared(labels, runs, measure, gold=gold, draws=100, seed=seed).ranks
    return ranks["system"].to_list() if ranks.height else means


def each_system(runs: Runs) -> list[Runs]:
    """A run for each system."""
    return [Runs(runs.frame.filter(pl.col("system") == name), runs.notes) for name in runs.systems]


def verdict_section(found: Comparison, study: Study, seed: int) -> Section:
    """The verdict with its interval, and what the labels taken as they are would have said."""
    told = Told.of(found)
    said = [told.naive_against_corrected()]
    truth = None if study.truth is None else study.truth.difference(found.measure, told.a, told.b)
    if truth is not None:
        said.append(told.against_truth(truth))
    figures = [methods_figure(found, study.truth)] if found.methods.height else []
    notes = found.notes
    if len(study.groups) > 1:
        pair = [run for runs in study.runs for run in each_system(runs) if run.systems[0] in (told.a, told.b)]
        pair.sort(key=lambda run: run.systems[0] != told.a)
        try:
            figures.append(by_group(found, told, pair, study, truth, seed))
        except KaratError as error:
            notes = (*notes, f"no comparison by group: {error}")
    if found.by_query.height:
        figures.append(by_query(found, told))
    # By the labels as they are, whatever method decides.
    counts = {name: f"{name}_as_labelled" for name in ("wins", "ties", "losses")}
    pairs = found.pairs.rename(counts, strict=False)
    tables = [Table("Every pair of systems, b less a, by the method that decides", pairs, True)]
    tables.append(Table("What each method says", found.methods, True))
    if found.judge is not None:
        tables.append(Table("The judge's error: gain by label less gain by gold label", found.judge, True))
    if found.tests is not None:
        tables.append(Table("Other tests of the same difference", found.tests, True))
    said = [text for text in said if text] or [found.finding]
    return Section(tuple(said), tuple(figures), tuple(tables), notes)
