"""How far the LLM agrees with gold, beside people: with gold, and with each other."""

from __future__ import annotations

from typing import Any

import polars as pl

from karat.judges.agreement import agreement
from karat.judges.llm.asked import PAIR, LLMJudge
from karat.judges.llm.figure import Figure, Unit
from karat.labels import ALL, GOLD
from karat.records import Judgments

#: The figures of agreement that the sheet has, with their names and units.
FIGURES: dict[str, tuple[str, Unit]] = {
    "alpha_ordinal": ("ordinal alpha with gold", "agreement"),
    "cohen": ("Cohen's kappa with gold", "agreement"),
    "cohen_quadratic": ("quadratic kappa with gold", "agreement"),
    "raw": ("same grade as gold", "share"),
}


def with_gold(judge: LLMJudge, gold: Judgments, **chance: Any) -> list[Figure]:
    """How far the judge's grades agree with gold, beyond chance; `chance` is level, draws and seed."""
    named = judge.graded.select(*PAIR, "label", group=pl.lit("judge"), judge=pl.lit(judge.name))
    found = agreement(Judgments.of(named), gold, judges="fixed", **chance).frame
    rows = found.filter((pl.col("against") == GOLD) & (pl.col("n_pairs") > 0))
    if not rows.height:
        return []
    row = rows.row(0, named=True)
    return [
        Figure("agreement", said, *_ends(row, figure), row["n_pairs"], row["n_queries"], unit)
        for figure, (said, unit) in FIGURES.items()
    ]


def of_people(people: Judgments, gold: Judgments | None, **chance: Any) -> list[Figure]:
    """How far people agree with each other, a label against a label, and with gold, by their median."""
    found = agreement(people, gold, **chance).frame
    found = found.filter(pl.col("alpha_ordinal").is_not_nan(), pl.col("n_pairs") > 0)
    # Where a third label was asked only of two that differed, the first two are the ones to read.
    found = found.sort("labels").unique(["group", "against"], keep="last", maintain_order=True)
    figures = list[Figure]()
    if found["group"].n_unique() > 1:  # each group for itself says more than all of them together
        found = found.filter(pl.col("group") != ALL)
    for row in found.sort("group", "against", nulls_last=False).iter_rows(named=True):
        if row["against"] in (None, GOLD):
            whose = "people" if row["group"] == ALL else row["group"]
            of = f"{whose} with gold" if row["against"] == GOLD else f"{whose} with each other"
            ends = _ends(row, "alpha_ordinal")
            figures.append(Figure("people", "ordinal alpha", *ends, row["n_pairs"], row["n_queries"], "agreement", of))
    return figures


def _ends(row: dict[str, Any], figure: str) -> tuple[float, float, float]:
    return row[figure], row[f"{figure}_low"], row[f"{figure}_high"]
