"""Figures about groups of judges where nothing is the matter: how often is something found, and does 95 % hold 95 %?

    python benchmarks/group_figures.py --studies 1000 --seed 1

Judges are drawn for each study. They differ in leniency as persons, by query and by document; no group and no column
has an effect. With judges taken as they are (judges="fixed") the same figures tell what that costs. A study in which
`find_bias` cannot say (two judges on one side who did not label alike many) has found nothing.
"""

from __future__ import annotations

import argparse

import numpy as np
import polars as pl

from karat.errors import Undefined
from karat.judges import against_gold, distribution_tests, find_bias, gold_regression
from karat.judges.jackknife import Judges
from karat.labels import Panel

#: How much judges (as persons, by query), queries, documents and single labels vary, in grades.
SPREADS = {
    "habits": {"judge": 0.4, "judge_query": 0.15, "query": 0.15, "document": 0.25, "label": 0.6},
    "alike": {"judge": 0.15, "judge_query": 0.1, "query": 0.3, "document": 0.25, "label": 0.6},
}


def study(
    rng: np.random.Generator,
    judges: int,
    groups: int = 1,
    *,
    queries: int = 40,
    documents: int = 6,
    labels: int = 3,
    spread: dict[str, float] | None = None,
) -> Panel:
    """So many judges in each group, three labels of each document by each group, gold for all; a device a judge."""
    sd = spread or SPREADS["habits"]
    n = queries * documents
    grade, query = rng.integers(0, 4, n), np.arange(n) // documents
    common = rng.normal(0, sd["query"], queries)[query] + rng.normal(0, sd["document"], n)
    ids = {"query": query.astype(str), "doc": np.arange(n).astype(str)}
    frames = [pl.DataFrame({**ids, "label": grade.astype(float), "group": "gold", "judge": "nist"})]
    for group in range(groups):
        who = rng.random((n, judges)).argsort(axis=1)[:, :labels].ravel()
        rows = np.repeat(np.arange(n), labels)
        lean = rng.normal(0, sd["judge"], judges)[who]
        lean += rng.normal(0, sd["judge_query"], (queries, judges))[query[rows], who]
        error = np.round(lean + common[rows] + rng.normal(0, sd["label"], len(rows)))
        frames.append(
            pl.DataFrame(
                {name: values[rows] for name, values in ids.items()}
                | {"label": grade[rows] + error, "group": f"group{group}", "judge": who.astype(str)}
            ).with_columns(device=pl.Series(np.array(["phone", "desk"])[rng.permutation(judges)[who] % 2]))
        )
    return Panel.of(pl.concat(frames, how="diagonal"))


def figures(panel: Panel, two: Panel, judges: Judges) -> dict[str, bool]:
    """What is found in one study of one group, and in one of two groups of the same population."""
    error = against_gold(panel, judges=judges).frame.row(0, named=True)
    regression = gold_regression(panel, "device", judges=judges).frame.row(1, named=True)
    tests = distribution_tests(two, judges=judges).frame
    tests = tests.filter(pl.col("first") == "group0", pl.col("second") == "group1").row(0, named=True)
    apart = distribution_tests(panel, judges=judges).frame.row(0, named=True)
    return {
        "a column about judges is found by find_bias": _finds(panel, judges),
        "a column about judges is found by gold_regression": regression["p"] < 0.05,
        "two groups of one population differ (mean)": tests["p"] < 0.05,
        "two groups of one population differ (ordinal)": tests["p_ordinal"] < 0.05,
        "unbiased judges differ from gold (mean)": apart["p"] < 0.05,
        "unbiased judges differ from gold (ordinal)": apart["p_ordinal"] < 0.05,
        "a group of unbiased judges is biased": not error["low"] <= 0 <= error["high"],
    }


def _finds(panel: Panel, judges: Judges) -> bool:
    try:
        return bool(find_bias(panel, ["device"], judges=judges).frame["found"].any())
    except Undefined:
        return False


def rates(studies: int, seed: int, number: int, judges: Judges = "sample", spread: str = "habits") -> dict[str, float]:
    """The share of studies in which each thing is found, with so many judges in a group."""
    found = []
    for place in range(studies):
        rng = np.random.default_rng([seed, number, place])
        one, two = (study(rng, number, groups, spread=SPREADS[spread]) for groups in (1, 2))
        found.append(figures(one, two, judges))
    return {name: float(np.mean([row[name] for row in found])) for name in found[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--judges", choices=["sample", "fixed"], default="sample")
    parser.add_argument("--spread", choices=[*SPREADS], default="habits")
    parser.add_argument("--numbers", type=int, nargs="+", default=[5, 10, 20], help="how many judges in a group")
    given = parser.parse_args()
    for number in given.numbers:
        print(f"{number} judges, {given.studies} studies, judges {given.judges}, {given.spread}, seed {given.seed}")
        for name, rate in rates(given.studies, given.seed, number, given.judges, given.spread).items():
            print(f"  {rate:.3f}  {name}", flush=True)


if __name__ == "__main__":
    main()
