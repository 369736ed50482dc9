"""One figure of the sheet: what it is, its value with an interval over queries, and what it rests on."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.judges.agreement import agreement
from karat.judges.slices import cell_means, sliced
from karat.labels import ALL, GOLD
from karat.llm.audit_labels import PAIR, LLMJudge
from karat.records import Judgments
from karat.stats import FEWEST
from karat.stats.cluster_robust import clustered_ols

Unit = Literal["share", "grades", "agreement", "slope", "times", "money", "seconds", "tokens", "answers"]


@dataclass(frozen=True)
class Figure:
    """A figure: of which `part` of the sheet, its name, of which slice it is, in which unit, and about which system."""

    part: str
    figure: str
    value: float
    low: float
    high: float
    n: int
    n_queries: int
    unit: Unit
    of: str = ""
    system: str = ""


def table(figures: list[Figure]) -> pl.DataFrame:
    """The figures as a frame, a row each."""
    types = {
        "part": pl.String,
        "figure": pl.String,
        "of": pl.String,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "n": pl.Int64,
        "n_queries": pl.Int64,
        "unit": pl.String,
    }
    return pl.DataFrame([asdict(one) for one in figures], schema=types | {"system": pl.String}).drop("system")


def mean(
    part: str,
    figure: str,
    values: npt.ArrayLike,
    query: pl.Series,
    unit: Unit,
    *,
    weight: npt.ArrayLike | None = None,
    level: float = 0.95,
    of: str = "",
) -> Figure:
    """A mean over answers, those of a query kept together; shares have Wilson's interval for what they amount to.

    >>> found = mean("again", "same", [1, 0, 1, 1, 1, 1], pl.Series(["a", "b", "c", "d", "e", "f"]), "share")
    >>> round(found.value, 2), found.n
    (0.83, 6)

    The queries stand for others like them, and the judge for itself. With fewer than five queries there is no interval.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if not len(numbers):
        return Figure(part, figure, np.nan, np.nan, np.nan, 0, 0, unit, of)
    frame = pl.DataFrame(
        {
            "_group": ["judge"] * len(numbers),
            "value": ["all"] * len(numbers),
            "_query": query.rank("dense").cast(pl.Int64) - 1,
            "_judge": np.zeros(len(numbers), np.int64),
            "_weight": np.ones(len(numbers)) if weight is None else np.asarray(weight, dtype=np.float64),
            "_figure": numbers,
        }
    )
    size, found = cell_means(frame, ["_figure"], [unit == "share"], (), level=level)
    low, high = float(found["_low"][0, 0]), float(found["_high"][0, 0])
    return Figure(part, figure, float(found[""][0, 0]), low, high, len(numbers), int(size["n_queries"][0]), unit, of)


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
