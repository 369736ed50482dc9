"""Canaries: documents that are not relevant, altered to look it. Does the LLM fall for them?

Reference: Alaofi et al., LLMs can be Fooled into Labelling a Document as Relevant (SIGIR-AP 2024), on the query's
words; Shi et al., Optimization-based Prompt Injection Attack to LLM-as-a-Judge (CCS 2024), on orders.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.judges.agreement import agreement
from karat.labels.selection import ITEM, LLM
from karat.llm.audit_labels import GRADED, PAIR, LLMJudge
from karat.llm.audit_statistics import Figure, mean
from karat.records import Documents, Judgments, Preferences, Queries
from karat.records.table import count
from karat.stats import FEWEST, Resampling

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


def _of(preferences: Preferences, judge: str) -> pl.DataFrame:
    """The judge's own preferences; without names, those of a group llm, or of a table that says in which order."""
    frame = preferences.frame
    if preferences.has("judge"):
        return frame.filter(pl.col("judge") == judge)
    if preferences.has("group"):
        return frame.filter(pl.col("group").str.contains(rf"(?i)\b{LLM}\b").fill_null(False))
    return frame if "order" in frame.columns else frame.clear()


def both_orders(preferences: Preferences, judge: str, notes: list[str], *, level: float) -> list[Figure]:
    """How often the preferred list changes with the sides, of pairs that were shown in both orders.

    A flip is the first side both times, or the second; it counts as equal wherever preferences are counted. Pairs
    with a tie in one order only stand apart. Of answers that name a side, half name the first where sides do not
    matter.
    """
    mine = _of(preferences, judge)
    subtopic = pl.col("subtopic") if "subtopic" in mine.columns else pl.lit(None, pl.String)
    mine = mine.with_columns(
        subtopic=subtopic, a=pl.min_horizontal("left", "right"), b=pl.max_horizontal("left", "right")
    )
    key = ["query", "subtopic", "a", "b"]
    once = mine.unique([*key, "left"], keep="first", maintain_order=True)
    both = once.filter(pl.len().over(key) == 2).sort(*key, "left")
    if both.height < once.height:
        notes.append(f"{count(once.height - both.height, 'preference')} of pairs shown in one order only left aside")
    if not both.height:
        return []
    a_side = both.with_columns(sided=pl.col("choice").is_in(["left", "right"]), first=pl.col("choice") == "left")
    pairs = a_side.group_by(key).agg(pl.col("sided").sum(), pl.col("first").sum()).sort(key)
    decided, named = pairs.filter(pl.col("sided") == 2), a_side.filter("sided")
    flips, half = (decided["first"] != 1).to_numpy(), (pairs["sided"] == 1).to_numpy()
    return [
        mean("orders", "flips", flips, decided["query"], "share", level=level),
        mean("orders", "a tie in one order only", half, pairs["query"], "share", level=level),
        mean("orders", "first side", named["first"].to_numpy(), named["query"], "share", level=level),
    ]


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


def outcomes(judge: LLMJudge, *, level: float) -> list[Figure]:
    """The share of first answers that are no grade, in all and by what they are instead; none where all are grades."""
    first = judge.first
    kinds = first["outcome"].unique().sort().to_list()
    if kinds == [GRADED] or not first.height:
        return []
    found = [
        mean(
            "outcomes", "no grade", (first["outcome"] == kind).to_numpy(), first["query"], "share", level=level, of=kind
        )
        for kind in kinds
        if kind != GRADED
    ]
    if len(found) == 1:
        return found
    none = (first["outcome"] != GRADED).to_numpy()
    return [mean("outcomes", "no grade", none, first["query"], "share", level=level), *found]


def costs(judge: LLMJudge, *, level: float) -> list[Figure]:
    """What a grade costs, in the unit of the column cost, and how many seconds an answer takes.

    Who pays for a refusal pays for a grade that is not there: what all first answers cost is shared by the grades.
    """
    found = []
    cost, seconds = (_numbers(judge.first, name) for name in ("cost", "seconds"))
    known = cost.is_not_null()
    graded = judge.first["label"].is_not_null().filter(known).cast(pl.Float64).to_numpy()
    if graded.any():
        spent = cost.filter(known).to_numpy()
        ratio = spent.sum() / graded.sum()
        # A mean of these is the ratio, and varies as it does: a query with refusals has costs and fewer grades.
        parts = ratio + (spent - ratio * graded) / graded.mean()
        found.append(mean("cost", "cost per grade", parts, _queries(judge, cost), "money", level=level))
    if seconds.count():
        taken = seconds.drop_nulls().to_numpy()
        found.append(mean("cost", "seconds per answer", taken, _queries(judge, seconds), "seconds", level=level))
    return found


def whole_cost(judge: LLMJudge) -> float:
    """What all answers cost, repeats and canaries too; NaN where nobody knows."""
    parts = [_numbers(frame, "cost") for frame in (judge.first, judge.again, judge.altered)]
    known = [float(part.sum()) for part in parts if part.count()]
    return sum(known) if known else np.nan


def _numbers(frame: pl.DataFrame, name: str) -> pl.Series:
    """A column of numbers, null where there is none."""
    return frame[name] if name in frame.columns else pl.Series(name, [None] * frame.height, dtype=pl.Float64)


def _queries(judge: LLMJudge, known: pl.Series) -> pl.Series:
    return judge.first["query"].filter(known.is_not_null())


#: So many mistakes are shown, and so many letters of a document.
SHOWN, LETTERS = 5, 160
#: Fewer documents in common do not tell whether judges err alike.
FEWEST_DOCUMENTS = 20


def mistakes(frame: pl.DataFrame, queries: Queries | None, documents: Documents | None) -> pl.DataFrame:
    """The grades furthest from gold, one of a query, those first that systems show high: with the documents.

    `frame` is what `graded_with_gold` gives.
    """
    wrong = frame.with_columns(error=pl.col("label") - pl.col("gold")).filter(pl.col("error") != 0)
    rank = pl.col("rank_shown").fill_null(10**9) if "rank_shown" in wrong.columns else pl.lit(0)
    wrong = wrong.with_columns(_rank=rank).sort(-pl.col("error").abs(), "_rank", "query", "doc")
    wrong = wrong.unique("query", keep="first", maintain_order=True).head(SHOWN)
    shown = wrong.select(*PAIR, "label", "gold", *(name for name in ("rank_shown",) if name in wrong.columns))
    if queries is not None and queries.has("text"):
        asked = queries.frame.select("query", query_text="text")
        shown = shown.join(asked, on="query", how="left", maintain_order="left")
    texts = [] if documents is None else [name for name in ("title", "snippet", "text") if documents.has(name)]
    if documents is not None and texts:
        # A title that is the id, or that the text begins with, would be read twice.
        title, body = pl.col(texts[0]), pl.col(texts[-1])
        again = (title == pl.col("doc")) | body.str.starts_with(title)
        both = pl.concat_str([title, body], separator=": ", ignore_nulls=True)
        words = pl.when(again.fill_null(False)).then(body).otherwise(both) if len(texts) > 1 else body
        begins = documents.frame.select("doc", document=words.str.replace_all(r"\s+", " ").str.slice(0, LETTERS))
        shown = shown.join(begins, on="doc", how="left", maintain_order="left")
    return shown


def err_alike(
    judges: Sequence[LLMJudge], gold: pl.DataFrame, resampling: Resampling
) -> tuple[float, float, float, int]:
    """The mean correlation of two judges' errors on the same documents, its interval, and how many documents.

    What the gold grade tells of an error is taken out first: all judges err downwards on the best documents. Judges
    who share a habit err on the same documents; then several of them are little better than one.
    """
    frame, names = gold.select(*PAIR, "gold"), [f"_{place}" for place in range(len(judges))]
    for name, judge in zip(names, judges, strict=True):
        frame = frame.join(judge.graded.select(*PAIR, pl.col("label").alias(name)), on=PAIR)
    frame = frame.sort(PAIR)
    if frame.height < FEWEST_DOCUMENTS or frame["query"].n_unique() < FEWEST:
        return np.nan, np.nan, np.nan, frame.height
    errors = frame.select(pl.col(name) - pl.col(name).mean().over("gold") for name in names).to_numpy()
    query = frame["query"].rank("dense").cast(pl.Int64).to_numpy() - 1
    queries, k = int(query.max()) + 1, len(names)
    products = np.zeros((queries, k, k))
    np.add.at(products, query, errors[:, :, None] * errors[:, None, :])
    flat = products.reshape(queries, -1)
    drawn = [_mean_correlation((times @ flat).reshape(-1, k, k)) for times in resampling.times(queries)]
    low, high = resampling.ends(np.concatenate(drawn), queries) if drawn else (np.nan, np.nan)
    return float(_mean_correlation(products.sum(axis=0)[None])[0]), low, high, frame.height


def _mean_correlation(products: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The mean correlation of every two, from sums of products (draws x judges x judges)."""
    size = np.sqrt(np.einsum("dkk->dk", products))
    above = np.triu_indices(products.shape[1], 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = products[:, above[0], above[1]] / (size[:, above[0]] * size[:, above[1]])
    return np.asarray(each.mean(axis=1))
