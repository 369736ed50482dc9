"""Asked the same again, does the LLM give the same grade?"""

from __future__ import annotations

from typing import Any

import polars as pl

from karat.judges.agreement import agreement
from karat.judges.llm.asked import LLMJudge
from karat.judges.llm.figure import Figure, mean
from karat.labels.selection import ITEM
from karat.records import Judgments


def asked_again(judge: LLMJudge, *, level: float, **chance: Any) -> list[Figure]:
    """How often two answers about a document are the same grade, how far apart they are, and the agreement of them.

    Every two answers of a document count, and documents alike. Agreement is ordinal alpha: two answers are alike
    often enough by chance where most documents have one grade. `chance` is draws and seed.
    """
    given = pl.concat([judge.first, judge.again], how="diagonal_relaxed").drop_nulls("label")
    key = [name for name in ITEM if name in given.columns]
    several = given.filter(pl.len().over(key) > 1)
    if not several.height:
        return []
    answers = several.select(*key, "label", nth=pl.int_range(pl.len()).over(key))
    met = answers.join(answers, on=key, nulls_equal=True, suffix="_other").filter(pl.col("nth") < pl.col("nth_other"))
    apart = (pl.col("label") - pl.col("label_other")).abs()
    docs = met.group_by(key).agg(same=(apart == 0).cast(pl.Float64).mean(), apart=apart.mean()).sort(key)
    as_judges = answers.with_columns(judge=pl.col("nth").cast(pl.String)).drop("nth")
    found = agreement(Judgments.of(as_judges), judges="fixed", level=level, **chance).frame.row(0, named=True)
    alpha = [float(found["alpha_ordinal" + end]) for end in ("", "_low", "_high")]
    return [
        mean("again", "same grade when asked again", docs["same"], docs["query"], "share", level=level),
        mean("again", "grades apart when asked again", docs["apart"], docs["query"], "grades", level=level),
        Figure(
            "again", "ordinal alpha with itself", alpha[0], alpha[1], alpha[2], found["n_pairs"], found["n_queries"],
            "agreement",
        ),
    ]  # fmt: skip
