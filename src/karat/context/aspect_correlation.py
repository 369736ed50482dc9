"""Which aspects go with overall, and which aspects change together in context."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.context.aspect_sheets import Sheets
from karat.errors import BadInput, Undefined
from karat.labels.selection import OVERALL
from karat.records import LabelsLike, Result
from karat.records.table import count
from karat.stats import Resampling
from karat.stats.arrays import Bools, Counts, Floats, Ints, distinct
from karat.stats.paired_statistics import Cells, compared, in_words, interval_note, one_setting, share
from karat.stats.rank_correlation import spearman_from_tables as spearman

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression


#: The grade that a document got alone, set against its grade in context.
ALONE = "overall alone"


def overall_correlation(judgments: LabelsLike, *, level: float = 0.95, draws: int = 1000, seed: int = 0) -> Result:
    """Spearman's rank correlation of each aspect with overall, alone and in context.

    >>> grades = [(0, 0), (1, 2), (2, 1), (3, 3), (4, 4), (1, 0)]
    >>> rows = [{"query": f"q{i}", "doc": "d", "aspect": aspect, "label": label, "context": context}
    ...         for i, pair in enumerate(grades) for context in (None, "c")
    ...         for aspect, label in zip(("overall", "novelty"), pair)]
    >>> overall_correlation(rows, draws=0).frame.select("aspect", "alone", "context").rows()
    [('novelty', 0.8676470588235294, 0.8676470588235294), ('overall alone', nan, 1.0)]

    Only documents with a grade in every aspect count, so that all rows are about the same ones; in context the overall
    grade alone is set beside the aspects. That an aspect goes with overall does not say that it is why; judges may
    grade all aspects by one impression.

    Reference: Golbus et al. (WWW 2014), Table 2.
    """
    sheets = Sheets.of(judgments)
    if len(sheets.aspects) < 2:
        raise Undefined("Nothing was asked but overall: there is no aspect to correlate with it.")
    complete = sheets.complete
    if not complete.any():
        raise Undefined("No document has a grade in every aspect.")
    before = np.full(len(complete), np.nan)
    known = np.flatnonzero(~sheets.alone)[sheets.alone_row >= 0]
    before[known] = sheets.labels[sheets.alone_row[sheets.alone_row >= 0], 0]
    columns = [*sheets.labels[:, 1:].T, before]
    sums = [
        _tables(
            sheets.cell,
            [(column, sheets.labels[:, 0], rows & ~np.isnan(column)) for column in columns],
            sheets.grades,
            sheets,
        )
        for rows in (complete & sheets.alone, complete & ~sheets.alone)
    ]
    cells = sheets.cells(complete)
    found = compared(sums, spearman, cells, "rho", level=level, draws=draws, seed=seed)
    frame = found.frame({"aspect": [*sheets.aspects[1:], ALONE]}, [part.whole.sum(axis=(1, 2)) for part in sums])
    if not (~sheets.alone).any():
        frame = frame.filter(pl.col("aspect") != ALONE)
    last = "alone" if sheets.alone.any() and not frame["alone"].is_nan().all() else "context"
    frame = frame.sort(pl.col("aspect") == ALONE, pl.col(last).fill_nan(-2), descending=[False, True])
    notes = [*sheets.notes, *sheets.setting_notes, *interval_note(found.low, found.value, draws, cells)]
    left = int((sheets.rated & ~complete).sum())
    if left:
        notes.append(f"{count(left, 'document')} with N/A in some aspect left out")
    shown = ("aspect", "alone", "context", "difference", "n_alone", "n_context")
    return Result(frame, _finding(frame, last, level), tuple(notes), columns=shown)


def change_correlation(judgments: LabelsLike, *, level: float = 0.95, draws: int = 1000, seed: int = 0) -> Result:
    """Spearman's rank correlation between the changes of every two aspects, from alone to in context.

    >>> rows = [{"query": f"q{i}", "doc": "d", "aspect": aspect, "label": 2 + move * (context is not None),
    ...          "context": context} for i, move in enumerate([0, 1, -1, 1, 2]) for context in (None, "c")
    ...         for aspect in ("overall", "novelty")]
    >>> change_correlation(rows, draws=0).frame.select("first", "second", "rho", "n").rows()
    [('overall', 'novelty', 1.0, 5)]

    For each two aspects, all documents count that have these two grades and an overall grade in both settings, so that
    rows are not all about the same documents. Aspects that rise and fall together may be one thing to the judges.

    Reference: Golbus et al. (WWW 2014), Table 3.
    """
    sheets = Sheets.of(judgments)
    if len(sheets.aspects) < 2:
        raise Undefined("Nothing was asked but overall: there are no two aspects whose changes could be compared.")
    if sheets.alone.all():
        raise Undefined("No document was judged in context: there is no change to tell.")
    change = sheets.change
    rated = ~np.isnan(change[:, 0])
    if not rated.any():
        raise Undefined("No judge gave an overall grade to the same document both alone and in context.")
    levels = np.unique(change[~np.isnan(change)])
    cell, later = sheets.cell[~sheets.alone], np.flatnonzero(~sheets.alone)
    cells = sheets.cells(np.isin(np.arange(len(sheets.alone)), later[rated]))
    pairs = list(combinations(range(len(sheets.aspects)), 2))
    met = [(change[:, a], change[:, b], rated & ~np.isnan(change[:, [a, b]]).any(axis=1)) for a, b in pairs]
    sums = _tables(cell, met, levels, sheets)
    rho, low, high, queries = one_setting(sums, spearman, cells, "rho", level=level, draws=draws, seed=seed)
    frame = pl.DataFrame(
        {
            "first": [sheets.aspects[a] for a, _ in pairs],
            "second": [sheets.aspects[b] for _, b in pairs],
            "rho": rho,
            "rho_low": low,
            "rho_high": high,
            "n": sums.whole.sum(axis=(1, 2)).astype(np.int64),
            "n_queries": queries,
        }
    )
    notes = [*sheets.notes, *interval_note(low, rho, draws, cells)]
    still = frame.filter(pl.col("rho").is_nan() & (pl.col("n") > 0)).height
    if still:
        notes.append(f"no correlation for {count(still, 'pair')} of aspects of which one changes alike everywhere")
    return Result(frame, _change_said(frame, level), tuple(notes))


def _tables(
    cell: npt.NDArray[np.int64], met: Sequence[tuple[Floats, Floats, Bools]], levels: Floats, sheets: Sheets
) -> Counts:
    """How often every two levels met, by cell: pairs of columns x levels x levels."""
    shape, places, where = (len(met), len(levels), len(levels)), list[Ints](), list[Ints]()
    for pair, (first, second, rows) in enumerate(met):
        one, two = (np.searchsorted(levels, values[rows]) for values in (first, second))
        places.append((pair * len(levels) + one) * len(levels) + two)
        where.append(cell[rows])
    return Counts.of(np.concatenate(where), np.concatenate(places), int(sheets.cell.max()) + 1, shape)


def _finding(frame: pl.DataFrame, setting: str, level: float) -> str:
    aspects = frame.filter(pl.col("aspect") != ALONE).filter(pl.col(setting).is_not_nan())
    if not aspects.height:
        whole = int(frame.select((pl.col("n_alone") + pl.col("n_context")).max()).item())
        documents = count(whole, "document")
        return f"No correlation is defined: grades do not vary over {documents} with a grade in every aspect."
    best, worst = aspects.row(0, named=True), aspects.row(-1, named=True)
    where = "Alone" if setting == "alone" else "In context"
    rho = in_words(best[setting], best[f"{setting}_low"], best[f"{setting}_high"], level)
    said = f"{where}, overall goes most with {best['aspect']}: Spearman's rho {rho}"
    if aspects.height > 1:
        said += f"; least with {worst['aspect']} ({worst[setting]:.2f})"
    if setting == "alone" and not np.isnan(best["difference_low"]):
        change = in_words(best["difference"], best["difference_low"], best["difference_high"], level, signed=True)
        said += f". In context rho with {best['aspect']} is {best['context']:.2f}, a difference of {change}"
    return f"{said}."


def _change_said(frame: pl.DataFrame, level: float) -> str:
    known = frame.filter(pl.col("rho").is_not_nan()).sort("rho", descending=True)
    if not known.height:
        return "No two aspects have changes that could be compared."
    row = known.row(0, named=True)
    rho = in_words(row["rho"], row["rho_low"], row["rho_high"], level)
    said = f"{row['first']} and {row['second']} change together most: Spearman's rho {rho}"
    with_overall = known.filter(pl.col("first") == OVERALL)
    if with_overall.height > 1:
        last = with_overall.row(-1, named=True)
        said += f"; with overall, {last['second']} changes least ({last['rho']:.2f})"
    return f"{said[:1].upper()}{said[1:]}."


#: The rows of all aspects, and of no aspect: the grade given most often.
EVERY, NONE = "all aspects", "none"
FOLDS = 10
#: What is left out of the model that tells it: a tenth of the documents, or of the queries.
SPLITS = ("random", "queries")


def predict_overall(
    judgments: LabelsLike,
    subsets: Sequence[Sequence[str]] | None = None,
    *,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """How often a model that knows some aspects tells the right overall grade, N/A among them, alone and in context.

    >>> rows = [{"query": f"q{i}", "doc": "d", "aspect": aspect, "label": label, "context": context}
    ...         for i in range(40) for context in (None, "c")
    ...         for aspect, label in (("overall", i % 3), ("topicality", i % 3), ("quality", i % 2))]
    >>> found = predict_overall(rows, [["topicality"], ["quality"]], draws=0).frame
    >>> found.select("aspects", "alone").rows()[:2]
    [('all aspects', 1.0), ('topicality', 1.0)]

    The model is multinomial logistic regression on the grades of the aspects as levels, N/A being one, so that no
    document is left out. `alone` and `context` are shares of documents told right of queries that the model has not
    seen, a tenth at a time, which is what a new query will meet. `random_alone` and `random_context` are on random
    tenths of the documents, as in the paper (each tenth in turn, so that every document is tested once), which flatters
    where the documents of a query are alike. By default the subsets are every single aspect, every two, and all; `none`
    always says the grade given most often. `less_alone` and `less_context` are by how much a subset is right less often
    than all aspects are, on the same documents. Intervals are for these models, not for models
    fitted anew.

    Reference: Golbus et al. (WWW 2014), section 5.1 (predictive power).
    """
    Resampling(level, draws, seed)
    sheets = Sheets.of(judgments)
    if len(sheets.aspects) < 2:
        raise Undefined("Nothing was asked but overall: there is no aspect to predict it from.")
    chosen = _chosen(sheets.aspects[1:], subsets)
    notes = [*sheets.notes, *sheets.setting_notes]
    cells = sheets.cells(sheets.asked[:, 0])
    tables, told = [], list[tuple[Ints, Floats] | None]()
    for split in SPLITS:
        told = [_right(sheets, rows, list(chosen.values()), split, seed) for rows in (sheets.alone, ~sheets.alone)]
        if split == "random" and all(part is None for part in told):
            raise Undefined(f"Too few documents with an overall answer: {FOLDS} or more of one setting are needed.")
        tables.append(_table(sheets, list(chosen), told, cells, level, draws, seed))
    for name, part, rows in zip(("alone", "in context"), told, (sheets.alone, ~sheets.alone), strict=True):
        if part is None and rows.any():
            notes.append(f"too few documents or queries {name} to predict those of queries not seen")
    random = tables[0].select("aspects", pl.selectors.starts_with("alone", "context").name.prefix("random_"))
    frame = tables[1].join(random, on="aspects", how="left", maintain_order="left")
    order = next((name for name in ("alone", "context", "random_alone") if frame[name].is_not_nan().any()), "alone")
    frame = frame.sort(pl.col("aspects") == NONE, pl.col("aspects") != EVERY, -pl.col(order), maintain_order=True)
    figures = ("alone", "context", "random_alone", "random_context")
    ends, values = (frame.select(f"{name}{end}" for name in figures).to_numpy() for end in ("_low", ""))
    notes += interval_note(ends, values, draws, cells)
    notes.append("N/A counts as a grade, of aspects and of overall")
    return Result(frame, _prediction_finding(frame, level), tuple(notes), columns=("aspects", *figures))


def _chosen(aspects: Sequence[str], subsets: Sequence[Sequence[str]] | None) -> dict[str, tuple[int, ...]]:
    """The subsets by name, as places among all aspects (overall is 0), those of all and of none among them."""
    if subsets is None:
        asked = [*combinations(aspects, 1), *(combinations(aspects, 2) if len(aspects) > 2 else ())]
    else:
        asked = [tuple(dict.fromkeys([subset] if isinstance(subset, str) else subset)) for subset in subsets]
    for name in (name for subset in asked for name in subset):
        if name not in aspects:
            raise BadInput.at("the aspects to predict from", expected=f"some of {', '.join(aspects)}", found=name)
    found = {EVERY: tuple(range(1, len(aspects) + 1))}
    for subset in asked:
        if 0 < len(subset) < len(aspects):
            found[" + ".join(subset)] = tuple(1 + aspects.index(name) for name in subset)
    return {**found, NONE: ()}


def _right(
    sheets: Sheets, setting: npt.NDArray[np.bool_], subsets: list[tuple[int, ...]], split: str, seed: int
) -> tuple[Ints, Floats] | None:
    """The rows of a setting, and whether each subset told their overall grade when they were left out."""
    rows = np.flatnonzero(setting & sheets.asked[:, 0])
    query = sheets.query[rows]
    rng = np.random.default_rng(seed)
    if len(rows) < FOLDS or (split == "queries" and len(np.unique(query)) < 2):
        return None
    if split == "random":
        fold = rng.permutation(len(rows)) % FOLDS
    else:
        different, place, _ = distinct(query)
        fold = (rng.permutation(len(different)) % FOLDS)[place]
    # Levels by number, N/A the first.
    level = np.where(np.isnan(sheets.labels[rows]), 0, 1 + np.searchsorted(sheets.grades, sheets.labels[rows]))
    right = [_predicted(level[:, list(subset)], level[:, 0], fold, len(sheets.grades) + 1) for subset in subsets]
    return rows, (np.stack(right, axis=1) == level[:, :1]).astype(np.float64)


def _predicted(x: Ints, y: Ints, fold: Ints, levels: int) -> Ints:
    """The grade that each row would be given by a model of the other folds.

    Rows that are alike are counted together, which is what makes it fast: a few aspects have few different answers.
    """
    patterns, pattern = np.unique(x @ levels ** np.arange(x.shape[1]), return_inverse=True)
    first = np.zeros(len(patterns), np.int64)
    first[pattern] = np.arange(len(pattern))
    design = (x[first][:, :, None] == np.arange(levels)).reshape(len(patterns), -1).astype(np.float64)
    folds = int(fold.max()) + 1
    counts = np.zeros((folds, len(patterns), levels))
    np.add.at(counts, (fold, pattern, y), 1.0)
    whole = counts.sum(axis=0)
    predicted = np.zeros((folds, len(patterns)), np.int64)
    model = None
    for left_out in range(folds):
        predicted[left_out], model = _fitted(design, whole - counts[left_out], model)
    return predicted[fold, pattern]


def _fitted(
    design: Floats, counts: Floats, before: LogisticRegression | None
) -> tuple[Ints, LogisticRegression | None]:
    """The most probable level of each pattern, by a model of how often each pattern had each level; and the model.

    It begins where the model before ended, which was of nearly the same documents: the end is the same, but sooner.
    """
    there = np.flatnonzero(counts.sum(axis=0))
    most = int(counts.sum(axis=0).argmax())
    if len(there) < 2 or design.shape[1] == 0:
        return np.full(len(design), most), before
    from sklearn.linear_model import LogisticRegression

    pattern, level = np.nonzero(counts)
    model = before
    if model is None or not np.array_equal(model.classes_, there):
        model = LogisticRegression(C=1.0, solver="newton-cholesky", max_iter=100, warm_start=True)
    model.fit(design[pattern], level, sample_weight=counts[pattern, level])
    return np.asarray(model.predict(design), dtype=np.int64), model


def _table(
    sheets: Sheets,
    names: list[str],
    right: list[tuple[Ints, Floats] | None],
    cells: Cells,
    level: float,
    draws: int,
    seed: int,
) -> pl.DataFrame:
    """Shares of right predictions in both settings, and how many fewer they are than with all aspects."""
    sums, less = list[Floats](), list[Floats]()
    for part in right:
        rows, correct = part if part is not None else (np.zeros(0, np.int64), np.zeros((0, len(names))))
        one = np.ones_like(correct)
        sums.append(sheets.sums(rows, np.stack([correct, one], axis=2)))
        less.append(sheets.sums(rows, np.stack([correct[:, :1] - correct, one], axis=2)))
    found = compared(sums, share, cells, "share", level=level, draws=draws, seed=seed)
    gap = compared(less, share, cells, "plain", level=level, draws=draws, seed=seed)
    number = [part.sum(axis=0)[:, 1] for part in sums]
    return found.frame({"aspects": names}, number, **gap.columns(("less_alone", "less_context")))


def _prediction_finding(frame: pl.DataFrame, level: float) -> str:
    setting = next(
        name for name in ("alone", "context", "random_alone", "random_context") if frame[name].is_not_nan().any()
    )
    where = "in context" if setting.endswith("context") else "alone"

    def said(row: dict[str, float]) -> str:
        return in_words(row[setting], row[f"{setting}_low"], row[f"{setting}_high"], level, percent=True)

    every, none = (frame.filter(pl.col("aspects") == name).row(0, named=True) for name in (EVERY, NONE))
    text = f"From all aspects, the overall grade {where} is told right for {said(every)} of documents"
    rest = frame.filter(~pl.col("aspects").is_in([EVERY, NONE]))
    if rest.height:
        row = rest.sort(setting, descending=True, maintain_order=True).row(0, named=True)
        text += f"; from {row['aspects']} for {said(row)}"
    return f"{text}; the most frequent grade is right for {100 * none[setting]:.1f} %."
