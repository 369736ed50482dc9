"""Whether an LLM's expected grades, from the probabilities of its answers, are to be taken at their word."""

from __future__ import annotations

import polars as pl

from karat.judges.llm.asked import PAIR, LLMJudge
from karat.judges.llm.figure import Figure, mean
from karat.stats import FEWEST
from karat.stats.regression import clustered_ols

#: One where expected grades are to be taken at their word.
GROWS = "gold grades per expected grade"


def expected_of(judge: LLMJudge) -> pl.DataFrame:
    """The expected grade of each document that has one: query, doc, expected_grade."""
    if "expected_grade" not in judge.first.columns:
        return judge.first.select(PAIR).clear().with_columns(expected_grade=pl.lit(None, pl.Float64))
    return judge.first.select(*PAIR, "expected_grade").drop_nulls()


def expected_grades(judge: LLMJudge, gold: pl.DataFrame, *, level: float) -> list[Figure]:
    """How far expected grades are off on average, how gold grows with them, and gold where they are about 0, 1, ...

    They are calibrated where gold grows by one grade with each expected grade, and the mean difference is none. The
    `mass` is the probability that the model gave to grades of the scale at all: little of it, and they say little.
    """
    met = expected_of(judge).join(gold, on=PAIR).sort(PAIR)
    if not met.height:
        return []
    query, weight, truth = met["query"], met["weight"].to_numpy(), met["gold"].to_numpy()
    off = (met["expected_grade"] - met["gold"]).to_numpy()
    found = [mean("expected", "expected grade less gold", off, query, "grades", weight=weight, level=level)]
    if met["expected_grade"].n_unique() > 1 and query.n_unique() >= FEWEST:
        fit = clustered_ols(
            truth, met.select("expected_grade").to_numpy(), query.rank("dense").to_numpy(), weight=weight
        )
        slope = [float(of[1]) for of in (fit.coefficients, *fit.intervals(level))]
        found.append(Figure("expected", GROWS, slope[0], slope[1], slope[2], fit.n, fit.clusters, "grades"))
    about = met["expected_grade"].round(0)
    for grade in about.unique().sort().to_list():
        mine = about == grade
        rows = mine.to_numpy()
        for name, values in (("mean expected grade", met["expected_grade"].to_numpy()), ("mean gold grade", truth)):
            of_slice = mean(
                "expected", name, values[rows], query.filter(mine), "grades",
                weight=weight[rows], level=level, of=f"expected about {grade:g}",
            )  # fmt: skip
            found.append(of_slice)
    if "mass" in judge.first.columns:
        mass = judge.first.select("query", "mass").drop_nulls()
        found += [mean("expected", "mass on the grades", mass["mass"], mass["query"], "share", level=level)]
    return found
