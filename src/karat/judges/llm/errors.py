"""Where the LLM is lenient: grade less gold, by gold grade, length, the query's words, and who shows the document."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.judges.llm.asked import PAIR, LLMJudge
from karat.judges.llm.figure import Figure, mean
from karat.judges.slices import sliced
from karat.stats import FEWEST
from karat.stats.regression import clustered_ols

#: The features along which a judge may be lenient, and what a slope is per.
ALONG = {
    "document_length": "each doubling of the length",
    "query_words": "all of the query's words, against none",
}
#: How the slices of a feature are called.
SLICES = {"gold": "gold grade", "document_length": "words in it:", "query_words": "of the query's words:"}
#: How the feature shown_by marks documents that one system alone retrieves.
ALONE = " alone"
#: Fewer labels tell nothing of several features at a time.
FEWEST_LABELS = 20


def graded_with_gold(judge: LLMJudge, gold: pl.DataFrame, features: pl.DataFrame) -> pl.DataFrame:
    """The judge's grades of documents that have a gold label, with what is known of them, in one order.

    `gold` has `query, doc, gold` and `weight`, for how many documents each stands.
    """
    frame = judge.graded.select(*PAIR, "label").join(gold, on=PAIR)
    return frame.join(features, on=PAIR, how="left").sort(PAIR)


def errors(frame: pl.DataFrame, *, level: float) -> list[Figure]:
    """The mean of grade less gold, over all and by slices, and what length, words and systems add to it.

    The means of slices are as they are seen. A slope holds the gold grade and the other features fixed: a judge who
    errs towards the middle of the scale would else seem to like whatever goes with low grades.
    """
    if not frame.height:
        return []
    weight, error = frame["weight"].to_numpy(), (frame["label"] - frame["gold"]).to_numpy()
    found = [mean("errors", "grade less gold", error, frame["query"], "grades", weight=weight, level=level)]
    for name in ("gold", *ALONG, "shown_by"):
        if name not in frame.columns:
            continue
        slices = frame["gold"].map_elements(lambda grade: f"{grade:g}", pl.String) if name == "gold" else None
        slices = sliced(frame[name]) if slices is None else slices
        for value in slices.drop_nulls().unique().sort().to_list():
            mine = (slices == value).fill_null(False)
            said = f"shown by {value}" if name == "shown_by" else f"{SLICES[name]} {value}"
            rows = mine.to_numpy()
            of_slice = mean(
                "errors", "grade less gold", error[rows], frame["query"].filter(mine), "grades",
                weight=weight[rows], level=level, of=said,
            )  # fmt: skip
            found.append(of_slice)
    return [*found, *_slopes(frame, error, level)]


def _slopes(frame: pl.DataFrame, error: np.ndarray, level: float) -> list[Figure]:
    """What each feature adds to the error while gold grade and the other features stay as they are."""
    names = [name for name in (*ALONG, "shown_by") if name in frame.columns and frame[name].count()]
    known = frame.with_columns(_error=pl.Series(error))
    if "shown_by" in names:  # what no list has among its first ten is of the rest, too
        known = known.with_columns(pl.col("shown_by").fill_null("none"))
    known = known.drop_nulls(names)
    if not names or known["query"].n_unique() < FEWEST or known.height < FEWEST_LABELS:
        return []
    columns = {f"gold {grade:g}": known["gold"] == grade for grade in known["gold"].unique().sort().to_list()[1:]}
    held, systems = len(columns), dict[str, str]()
    for name in names:
        if name == "shown_by":
            alone = [value for value in known[name].unique().sort().to_list() if value.endswith(ALONE)]
            columns |= {f"shown by {value}, against the rest": known[name] == value for value in alone}
            systems = {f"shown by {value}, against the rest": value.removesuffix(ALONE) for value in alone}
        else:
            values = known[name].cast(pl.Float64)
            columns[ALONG[name]] = values.clip(1).log(2) if name == "document_length" else values
    terms = list(columns)
    fit = clustered_ols(
        known["_error"].to_numpy(),
        np.column_stack([column.cast(pl.Float64).to_numpy() for column in columns.values()]),
        known["query"].rank("dense").to_numpy(),
        terms,
        weight=known["weight"].to_numpy(),
    )
    low, high = fit.intervals(level)
    ends = {name: (float(fit.coefficients[at]), float(low[at]), float(high[at])) for at, name in enumerate(fit.names)}
    return [
        Figure(
            "leniency",
            "adds to grade less gold",
            *ends[name],
            fit.n,
            fit.clusters,
            "grades",
            name,
            systems.get(name, ""),
        )
        for name in terms[held:]
        if np.isfinite(ends[name][0])
    ]
