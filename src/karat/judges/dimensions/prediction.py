"""How well the aspects tell the overall grade."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.dimensions.sheets import Sheets
from karat.records import LabelsLike, Result
from karat.stats import Resampling
from karat.stats.arrays import Floats, Ints
from karat.stats.distinct import distinct
from karat.stats.paired_figures import Cells, compared, in_words, interval_note, share

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression


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
    return Result(frame, _finding(frame, level), tuple(notes), columns=("aspects", *figures))


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


def _finding(frame: pl.DataFrame, level: float) -> str:
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
