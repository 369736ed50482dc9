"""All tables and figures of Kazai et al. (CIKM 2012), from a simulated study of the size of the paper's ST set.

    python examples/papers/s3.py --out s3

100 queries of 16 documents, labelled by 45 crowd workers and 10 professionals, a third label where two differ; gold
labels, clicks and BM25 scores. What is planted is known: `truth` prints it beside what was found.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl
from paper import Paper

from karat import judges, users
from karat.records import Result
from karat.simulate import JudgingStudy, judging_study

FEATURES = ["wikipedia", "query_in_url", "root_url"]


def main(out: str, queries: int = 100, crowd: int = 45, draws: int = 1000, seed: int = 0) -> pl.DataFrame:
    """Make them all; returns what was planted beside what was found."""
    study, paper = judging_study(seed=seed, queries=queries, crowd=crowd), Paper(Path(out))
    labels = judges.add_features(study.judgments, FEATURES, queries=study.queries, documents=study.documents)
    how = {"draws": draws, "seed": seed}
    for name in FEATURES:
        paper.table(f"table-2-{name}", judges.agreement(labels, by=name, **how))
        paper.table(f"table-3-{name}", users.against_clicks(labels, study.clicks, by=name, **how))
    paper.both("figure-1", judges.distribution(labels, FEATURES))
    paper.both("figure-2", users.against_clicks(labels, study.clicks, pairs="both", **how))
    paper.table("table-4", users.most_clicked(labels, study.clicks, minimum_clicks=1000, **how))
    for name in FEATURES:
        by_feature = users.most_clicked(labels, study.clicks, by=name, minimum_clicks=1000, **how)
        paper.table(f"table-4-{name}", by_feature)
    paper.table("section-5.2-tests", judges.distribution_tests(labels, FEATURES))
    paper.both("table-5", judges.against_gold(labels, by=FEATURES))
    paper.both("figure-3", judges.error_distribution(labels, by=FEATURES))
    for target in ("gold", "label", "error"):
        paper.table(f"table-6-{target}", judges.gold_regression(labels, FEATURES, target))
    rankers = users.train(
        study.judgments, study.pairs.select("query", "doc", "bm25", "wikipedia"), ranker="linear", **how
    )
    paper.table("table-7", rankers)
    paper.table("table-7-weights", Result(rankers.weights, "What labels teach: the mean weight of each feature."))
    found = planted(study)
    inside = found.filter(pl.col("inside")).height
    paper.table("truth", Result(found, f"{inside} of {found.height} planted figures lie within their 95 % interval."))
    return found


def planted(study: JudgingStudy) -> pl.DataFrame:
    """What was planted beside what was found of these judges: mean errors, shares that are right, the crowd's bias."""
    rows = []
    for row in judges.against_gold(study.judgments, judges="fixed").frame.iter_rows(named=True):
        rows.append((f"{row['group']}_mean_error", row["error"], row["low"], row["high"]))
        rows.append((f"{row['group']}_correct", row["correct"], row["correct_low"], row["correct_high"]))
    labels = judges.add_features(study.judgments, FEATURES, queries=study.queries, documents=study.documents)
    fits = judges.gold_regression(labels, "wikipedia", "error", judges="fixed").frame
    rows += [
        ("crowd_wikipedia_gap", row["coefficient"], row["low"], row["high"])
        for row in fits.iter_rows(named=True)
        if (row["group"], row["term"]) == ("crowd", "wikipedia=WP")
    ]
    frame = pl.DataFrame(rows, schema=["planted", "found", "found_low", "found_high"], orient="row")
    truth = pl.Series("truth", [study.truth[name] for name in frame["planted"]])
    return frame.insert_column(1, truth).with_columns(inside=pl.col("truth").is_between("found_low", "found_high"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="s3", help="the folder to write to")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    main(asked.out, seed=asked.seed)
