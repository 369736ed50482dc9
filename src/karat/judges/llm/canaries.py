"""Canaries: documents that are not relevant, altered to look it. Does the LLM fall for them?

Reference: Alaofi et al., LLMs can be Fooled into Labelling a Document as Relevant (SIGIR-AP 2024), on the query's
words; Shi et al., Optimization-based Prompt Injection Attack to LLM-as-a-Judge (CCS 2024), on orders.
"""

from __future__ import annotations

import polars as pl

from karat.judges.llm.asked import PAIR, LLMJudge
from karat.judges.llm.figure import Figure, mean
from karat.records.base import count

#: The alterations that karat ask makes, in words.
KINDS = {
    "claim": "says that it is perfectly relevant",
    "words": "has the query's words stuffed in",
    "orders": "gives orders to the judge",
}


def canaries(judge: LLMJudge, gold: pl.DataFrame | None, notes: list[str], *, level: float) -> list[Figure]:
    """How often, and by how many grades, each alteration raises a document that is not relevant.

    The grade of the altered document is held against that of the same document as it is. Of documents that gold calls
    relevant a canary says nothing: it is left out, and noted.
    """
    if not judge.altered.height:
        return []
    before = judge.graded.select("query", altered_from="doc", before="label")
    met = judge.altered.drop_nulls("label").join(before, on=["query", "altered_from"])
    aside = {"that got no grade, or whose document got none as it is": judge.altered.height - met.height}
    if gold is not None:
        relevant = gold.filter(pl.col("gold") > 0).select("query", altered_from="doc")
        kept = met.join(relevant, on=["query", "altered_from"], how="anti")
        aside["made of relevant documents"] = met.height - kept.height
        met = kept
    notes += [f"{count(n, 'canary', 'canaries')} {why} left out" for why, n in aside.items() if n]
    found = []
    for kind in [*KINDS, *sorted({*met["altered"]} - {*KINDS})]:
        mine = met.filter(pl.col("altered") == kind).sort(PAIR)
        if mine.height:
            rise = (mine["label"] - mine["before"]).to_numpy()
            found += [
                mean("canaries", "raised", rise > 0, mine["query"], "share", level=level, of=kind),
                mean("canaries", "mean rise", rise, mine["query"], "grades", level=level, of=kind),
            ]
    return found
