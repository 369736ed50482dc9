"""The LLM's most telling mistakes, with their documents, and whether several LLMs make the same ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.judges.llm.asked import PAIR, LLMJudge
from karat.records import Documents, Queries
from karat.stats import FEWEST, Resampling

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
