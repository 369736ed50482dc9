"""All tables and figures of Goldberg et al. (WWW 2017), from printed figures and simulated studies of the paper's size.

    python examples/papers/s2.py --out s2

Fig. 2 is 10,000 studies of Algorithm 2; section 6 is from the printed figures; Table 1 and DCG are of a simulated study
of two systems whose true difference is known.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl
from paper import Paper

import karat as kt
from karat.records import Result
from karat.simulate import bronze_scores, two_systems


def main(out: str, studies: int = 10_000, queries: int = 400, difference: float = 0.06, seed: int = 0) -> pl.DataFrame:
    """Make them all; returns what was planted beside what was found."""
    paper = Paper(Path(out))
    made = two_systems(queries, difference=difference, seed=seed)
    gold = made.gold(made.draw_gold(300, seed), 300 / len(made.truth))
    paper.both("table-1", kt.confusion(made.judgments(), gold))
    accuracy = kt.Accuracy(43, 59, 67, 84)
    a, b = kt.Observed(0.6260, 10278, 0.414), kt.Observed(0.6385, 20604, 0.402)
    paper.both("section-6-one-score", kt.corrected_score(a, accuracy, seed=seed))
    pair = kt.corrected_difference(a, b, accuracy, seed=seed)
    paper.both("section-6-two-scores", pair)
    # Table 2: each run with a gold sample of its own. Its spread over queries is not printed: 0.3 is taken.
    first, second = kt.Accuracy(17, 38, 216, 262), kt.Accuracy(14, 50, 230, 285)
    try:
        runs = kt.Observed(0.527, 33, 0.3), kt.Observed(0.513, 33, 0.3)
        paper.both("table-2-pair", kt.corrected_difference(*runs, first, second, seed=seed))
    except kt.Undefined as reason:
        print(f"table-2-pair: {reason}")
    scores = kt.corrected_runs(made.judgments(), made.runs(), "P@10", gold=gold, seed=seed)
    paper.table("corrected-runs", scores)
    paper.table("equation-18", kt.corrected_runs(made.judgments(), made.runs(), "DCG@10", gold=gold, seed=seed))
    bronze = bronze_scores(studies=studies, seed=seed)
    paper.both("figure-2", bronze.summary())
    row = scores.to_frame().row(-1, named=True)
    # A share of so many studies is known to within three standard errors, and the interval is good to a point.
    near = 0.01 + 3 * (0.95 * 0.05 / studies) ** 0.5
    found = [
        ("difference in P@10", difference, row["difference"], row["low"], row["high"]),
        ("corrected intervals that hold the truth", 0.95, bronze.covered(), 0.95 - near, 0.95 + near),
    ]
    frame = pl.DataFrame(found, schema=["planted", "truth", "found", "found_low", "found_high"], orient="row")
    inside = pl.col("truth").is_between("found_low", "found_high") & pl.col("found").is_between(
        "found_low", "found_high"
    )
    frame = frame.with_columns(inside=inside)
    said = f"{frame['inside'].sum()} of {frame.height} planted figures lie within their interval."
    paper.table("truth", Result(frame, said))
    return frame


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="s2", help="the folder to write to")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    main(asked.out, seed=asked.seed)
