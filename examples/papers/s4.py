"""The tables and figures of Golbus et al. (WWW 2014), from a simulated study of the paper's size.

    python examples/papers/s4.py --out s4

457 queries, judged alone and in context by the paper's scheme, six aspects each. What is planted is known: `truth`
prints it beside what was found.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl
from paper import Paper

import karat as kt
from karat import context, judges, users
from karat.records import Result
from karat.simulate import context_study

#: The figures of agreement with users, and which of the curves each is.
FIGURES = {
    "figure-6": "Ties, predicted",
    "figure-7": "Context, weak, predicted",
    "figure-8": "Context, strong, predicted",
    "figure-9": "Context, both, predicted",
    "figure-10": "Context, both, backed off",
}


def main(out: str, queries: int = 457, seed: int = 0, draws: int = 300) -> pl.DataFrame:
    """Make them all; returns what was planted beside what was found."""
    study, paper = context_study(seed=seed, queries=queries, again=0.2, priming=0.2), Paper(Path(out))
    coverage = context.aspect_coverage(study.judgments)
    paper.both("table-1", coverage)
    paper.both("figure-2", context.aspect_distribution(study.judgments))
    paper.both("figure-3", context.grade_change(study.judgments))
    paper.table("table-2", context.overall_correlation(study.judgments))
    paper.table("table-3", context.change_correlation(study.judgments))
    paper.table("section-5.1-prediction", context.predict_overall(study.judgments))
    paper.table("section-4.1-agreement", context.setting_agreement(study.judgments))
    paper.table("section-5.3-labels", kt.context_accuracy(study.judgments, runs=study.runs, documents=study.documents))
    rates = users.against_click_rates(study.clicks, study.judgments, study.runs, draws=draws)
    for title, chart in rates.charts.items():
        paper.figure(f"figures-4-and-5-{title.split(', ')[-1]}", chart)
    curves = users.preference_curves(
        study.preferences, study.judgments, study.runs, sources=["backed off", "predicted"], draws=draws
    )
    paper.table("figures-6-to-10", curves)
    for name, title in FIGURES.items():
        paper.figure(name, curves.charts[title])
    paper.table("section-6-reuse", users.reuse(study.judgments, study.runs))
    gold = study.pages.filter(~pl.col("spam")).select("query", "doc", label="worth")
    primed = judges.order_effects(study.judgments, gold)
    paper.both("section-5.1-priming", primed)
    changes = context.mean_change(study.with_relations(), "relation")
    paper.both("section-5.1-conditioning", changes)
    rows = [
        (f"change {row['relation']}", row["change"], row["low"], row["high"])
        for row in changes.frame.filter(pl.col("aspect") == "overall").iter_rows(named=True)
    ]
    rows += [
        (f"covered {setting} {row['aspect']}", row[setting], row[f"{setting}_low"], row[f"{setting}_high"])
        for row in coverage.frame.filter(pl.col("aspect") != "all aspects").iter_rows(named=True)
        for setting in ("alone", "context")
    ]
    rows += [("priming", *primed.frame.select("change", "low", "high").row(0))]
    found = pl.DataFrame(rows, schema=["planted", "found", "found_low", "found_high"], orient="row")
    found = found.insert_column(1, pl.Series("truth", [study.truth[name] for name in found["planted"]]))
    found = found.with_columns(inside=pl.col("truth").is_between("found_low", "found_high"))
    said = f"{found['inside'].sum()} of {found.height} planted figures lie within their 95 % interval."
    paper.table("truth", Result(found, said))
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="s4", help="the folder to write to")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    main(asked.out, seed=asked.seed)
