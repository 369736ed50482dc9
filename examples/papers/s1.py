"""All ten tables of Sanderson et al. (SIGIR 2010), in its layout, from a simulated study of the paper's size.

    python examples/papers/s1.py --out s1

30 topics of three subtopics, 19 runs of ten groups, three pairs a topic, eight judges for each question, some 340
judges of whom one in nine does not look; users want nDCG@10 and mind a list with nothing relevant. What is planted is
known: `truth` prints it beside what was found.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl
from paper import Paper

from karat import plan, users
from karat.records import Queries, Result
from karat.simulate import PreferenceStudy, preference_study, with_comments
from karat.simulate.comments import NONE, PHRASES, SEVERAL
from karat.simulate.preferences import SLIP
from karat.stats.hypothesis_tests import share_interval

CARELESS, EMPTY, COMMENTS, MINUTES = 0.11, 0.2, 0.96, 6.0
EACH, BLOCK = 6, 5


def main(out: str, queries: int = 30, systems: int = 19, draws: int = 1000, seed: int = 0) -> pl.DataFrame:
    """Make them all; returns what was planted beside what was found."""
    study, paper = simulated(queries, systems, seed), Paper(Path(out))
    said = with_comments(study.preferences, share=COMMENTS, minutes=MINUTES, block=BLOCK, seed=seed)
    how = {"draws": draws, "seed": seed}
    worth = plan.select_pairs(study.judgments, study.runs, relevant_gap=None, least={"nDCG@10": 0.01})
    paper.table("section-3.6-pairs", worth)
    work = users.preference_work(said, block=BLOCK, **how)
    paper.table("section-3.4-judges", work)
    tables = users.agreement_tables(said, study.judgments, study.runs, queries=kinds(study), **how)
    for name, table in tables.items():
        paper.table(name.lower().replace(" ", "-"), users.as_printed(table))
    paper.table("human-ceiling", users.human_ceiling(said, by="subtopic", **how))
    fitted = users.fit_measure(said, study.judgments, study.runs, "nDCG@10", ["empty"], by="subtopic", **how)
    paper.table("section-4.2-penalty", fitted)
    found = planted(work, tables["Table 10"], fitted)
    inside = found.filter(pl.col("inside")).height
    paper.table("truth", Result(found, f"{inside} of {found.height} planted figures lie within their 95 % interval."))
    return found


def simulated(queries: int, systems: int, seed: int) -> PreferenceStudy:
    """Systems, labels by subtopic, and users whose utility is known."""
    return preference_study(
        "nDCG@10",
        queries=queries,
        systems=systems,
        subtopics=3,
        relevant=0.06,
        levels=2,
        judges=8,
        careless=CARELESS,
        block=BLOCK,
        empty=EMPTY,
        each=EACH,
        seed=seed,
    )


def kinds(study: PreferenceStudy) -> Queries:
    """Informational and navigational topics in place of the study's kinds: one in fourteen is navigational."""
    names = study.queries.frame["query"]
    kind = ["navigational" if place % 14 == 0 else "informational" for place in range(len(names))]
    return Queries.of({"query": names, "kind": kind})


def planted(work: Result, reasons: Result, fitted: users.FittedMeasure) -> pl.DataFrame:
    """What was planted beside what was found: who is rejected, what a block takes, comments, reasons, the penalty."""
    # Who looks slips in one of fifty traps, and is then right by chance in a fourth; so is who does not look.
    traps = -(-EACH // (BLOCK - 1))
    slips = 1 - (1 - SLIP * 0.75) ** traps
    truth = {
        "judges rejected, share": CARELESS * (1 - 0.25**traps) + (1 - CARELESS) * slips,
        "minutes for a block, median": MINUTES,
        "answers with a comment, share": COMMENTS,
    }
    rows = [
        (row["figure"], truth[row["figure"]], row["value"], row["low"], row["high"])
        for row in work.frame.iter_rows(named=True)
        if row["figure"] in truth
    ]
    often = {name: number for name, (_, number) in PHRASES.items()}
    number = round(reasons.frame["n"][0] / reasons.frame["share"][0])
    one = np.array(list(often.values())) / sum(often.values())
    # Some comments give a second reason, another one, and none where either says nothing.
    nothing = np.array([name == NONE for name in often])
    both = one + np.where(nothing, 0.0, SEVERAL * one * (1 - one - one[nothing]))
    for name, share in zip(often, both, strict=True):
        n = int(reasons.frame.filter(pl.col("class") == name)["n"][0])
        if often[name] >= 50:  # a share of fewer has a rough interval
            rows.append((f"reason: {name}", float(share), n / number, *share_interval(n, number)))
    row = fitted.frame.row(0, named=True)
    rows.append(("taken off an empty list", EMPTY, row["value"], row["low"], row["high"]))
    frame = pl.DataFrame(rows, schema=["planted", "truth", "found", "found_low", "found_high"], orient="row")
    return frame.with_columns(inside=pl.col("truth").is_between("found_low", "found_high"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="s1", help="the folder to write to")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    main(asked.out, seed=asked.seed)
