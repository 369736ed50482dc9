"""All tables and figures of Demeester et al. (WSDM 2014), from a simulated study of the paper's size.

    python examples/papers/s0.py --out s0

15 queries, each put to 108 engines, every page and snippet of their first ten judged by two assessors; a crowd with
eight labels on each of 2,740 documents. What is planted is known: `truth` prints it beside what was found.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl
from paper import Paper

from karat import judges, users
from karat.records import Result
from karat.simulate import DisagreementStudy, disagreement_study

PAGES, TOP = "page", 3


def main(out: str, engines: int = 108, crowd_queries: int = 548, draws: int = 1000, seed: int = 0) -> pl.DataFrame:
    """Make them all; returns what was planted beside what was found."""
    study, paper = disagreement_study(engines=engines, crowd_queries=crowd_queries, seed=seed), Paper(Path(out))
    how = {"draws": draws, "seed": seed}
    paper.both("figure-1", judges.resampled_p(study.crowd, 2, seed=seed))
    paper.both("section-3.3.1-overlap", judges.overlap(study.judgments, TOP, by="vertical"))
    paper.both("figures-2-and-3", judges.consistency(study.judgments, TOP, **how))
    paper.both("figure-4", judges.opinions(study.judgments, top=TOP))
    crowd = judges.disagreement(study.crowd, 2, **how)
    table = crowd.table([(1, 3), (2, 3), (2, 4), (2, 5)])
    paper.table("table-1", table)
    paper.figure("figure-5", table)
    paper.table("table-2", users.robustness(study.judgments, TOP))
    by_kind = judges.disagreement_by(study.judgments, "kind", TOP, **how)
    paper.both("table-3-kind", by_kind)
    paper.table("table-3-kind-tests", by_kind.tests)
    paper.both("table-3-quality", judges.disagreement_by(study.judgments, "list_has_top", TOP, **how))
    paper.both("table-3-quality-top5", judges.disagreement_by(study.judgments, ["top5", "list_has_top"], TOP, **how))
    other_labels = judges.disagreement_by(study.judgments, ["top5", "list_quality"], TOP, **how)
    paper.both("beyond-list-quality", other_labels)
    combined = judges.combined_weights(study.judgments, ["snippet", "page"], [3, 3], zero={"page": 0}, **how)
    paper.both("table-4", combined)
    people = pl.concat([study.llm.frame, study.judgments.frame], how="diagonal")
    paper.both("beyond-random-user", judges.random_user(study.judgments, 2, **how))
    paper.both("beyond-given-an-llm", judges.random_user(people, TOP, given="llm", group="assessor", **how))
    soft = judges.soft_relevance(study.crowd, 2, **how)
    assert soft.calibration is not None
    paper.both("beyond-calibration", soft.calibration)
    found = planted(study, how)
    inside = found.filter(pl.col("inside")).height
    paper.table("truth", Result(found, f"{inside} of {found.height} planted figures lie within their 95 % interval."))
    return found


def planted(study: DisagreementStudy, how: dict[str, int]) -> pl.DataFrame:
    """What was planted beside what was found: p by kind, across groups, of combined levels, of a crowd."""
    pages = judges.disagreement(study.judgments, TOP, **how).to_frame()
    rows = [(f"p_{row['level']:g}", row["value"], row["low"], row["high"]) for row in pages.to_dicts()]
    crowd = judges.disagreement(study.crowd, 2, **how).to_frame()
    rows += [(f"crowd_{row['level']:g}", row["value"], row["low"], row["high"]) for row in crowd.to_dicts()]
    kinds = judges.disagreement_by(study.judgments, "kind", TOP, **how).frame
    rows += [(f"p_{row['level']:g}_{row['kind']}", row["p"], row["p_low"], row["p_high"]) for row in kinds.to_dicts()]
    people = pl.concat([study.llm.frame, study.judgments.frame], how="diagonal")
    across = judges.random_user(people, TOP, given="llm", group="assessor", **how).frame
    ends = ("weight", "weight_low", "weight_high")
    rows += [(f"llm_{row['level']:g}", *(row[end] for end in ends)) for row in across.to_dicts()]
    combined = judges.combined_weights(study.judgments, ["snippet", "page"], [3, 3], **how).frame
    often = combined.filter(pl.col("told") >= 10).to_dicts()  # a share of fewer has a rough interval
    ends = ("p_top", "p_top_low", "p_top_high")
    rows += [(f"combined_{row['snippet']:g}_{row['page']:g}", *(row[end] for end in ends)) for row in often]
    frame = pl.DataFrame(rows, schema=["planted", "found", "found_low", "found_high"], orient="row").drop_nans()
    frame = frame.with_columns(truth=pl.Series([study.truth[name] for name in frame["planted"]]))
    return frame.with_columns(inside=pl.col("truth").is_between("found_low", "found_high"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="s0", help="the folder to write to")
    parser.add_argument("--engines", type=int, default=108)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    main(asked.out, engines=asked.engines, seed=asked.seed)
