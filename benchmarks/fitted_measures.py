"""How often a fitted parameter's interval holds what was planted, and how often a fit is called better than it is.

    python benchmarks/fitted_measures.py --studies 200

Each study has 60 queries, two pairs of systems a query and five judges a pair, as `karat.simulate.preference_study`
makes them; study number n has the seed n.
"""

from __future__ import annotations

import argparse

import numpy as np

from karat.simulate import preference_study
from karat.users import fit_measure

#: What users go by (None: nothing), the measure to start from, what to vary, and what was planted.
CASES = [
    ("RBP(p=0.5)", "RBP(p=0.8)", "p", 0.5),
    ("RBP(p=0.8)", "RBP(p=0.8)", "p", 0.8),
    ("DCG(discount=1.5)@10", "DCG@10", "discount", 1.5),
    ("DCG(gains='exp')@10", "DCG@10", "gains", 2.0),
    (None, "RBP(p=0.8)", "p", np.nan),
    (None, "DCG@10", "discount", np.nan),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    studies = parser.parse_args().studies
    for users, default, name, truth in CASES:
        held = better = agreeing = 0
        values = []
        for seed in range(studies):
            made = preference_study(users, queries=60, pairs_per_query=2, judges=5, block=0, seed=seed)
            found = fit_measure(made.preferences, made.judgments, made.runs, default, [name], draws=200, seed=seed)
            row, held_out = found.frame.row(0, named=True), found.held_out.row(0, named=True)
            values.append(row["value"])
            held += row["low"] <= truth <= row["high"]
            better += found.better
            agreeing += held_out["p_agreement"] < 0.05
        covered = "" if np.isnan(truth) else f", interval holds {truth:g} in {held / studies:.1%}"
        print(
            f"users {users or 'at random'}, from {default}: {name} median {np.median(values):.2f}{covered}; called "
            f"better by likelihood {better / studies:.1%}, by agreement {agreeing / studies:.1%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
