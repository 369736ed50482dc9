"""Judgments: what a judge said about a document for a query."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.advice import advise
from karat.errors import BadInput
from karat.records import column_names
from karat.records.mixed_scales import scale_notes, unjudged_note
from karat.records.scale import Scale
from karat.records.schema import OF_ANSWERS, Column, Schema, plain
from karat.records.source import Source
from karat.records.study_design import Rules
from karat.records.table import ORDER, Records, count, frame_of, from_nested, is_table, plain_data, repeats

#: TREC's grades for what is not judged and for junk: far from the others, and no slip.
JUNK = (-1.0, -2.0)
#: Grades in a row that are a scale by themselves: what follows them with a grade left out is out of place. With fewer,
#: the grade may be one that nobody gave, as where two of 0..3 are rare.
IN_A_ROW = 4
#: So many labels must be left before one of them can be out of place, and so few of them may be: one, or this share.
FEWEST, SHARE = 10, 0.01


def slip_note(labels: pl.Series, source: Source) -> str:
    """What to say of labels that may be slips; empty where none looks like one.

    >>> slip_note(pl.Series([0, 1, 2, 3] * 5 + [33]), Source("qrels.txt", first_line=1))
    'qrels.txt line 21: 1 label of 33, all others 0..3: a slip? scale="0..3" refuses it'
    >>> slip_note(pl.Series([0, 1, 2, 3] * 5 + [-2, 4]), Source("qrels.txt"))
    ''
    """
    counts = labels.drop_nulls().value_counts(name="n")
    value, n = (counts.sort(labels.name)[name].to_numpy() for name in (labels.name, "n"))
    junk = np.isin(value, JUNK)
    known, value, n = value[junk], value[~junk], n[~junk]
    if not len(value):
        return ""
    # Grades in runs of neighbours: the run with most labels is the scale, what lies outside may be slips.
    scale = _with_most(value, n, 1)
    scale = scale if scale.sum() >= IN_A_ROW else _with_most(value, n, 2)
    kept, lost = int(n[scale].sum()), int(n[~scale].sum())
    whole = bool((value[scale] == np.round(value[scale])).all())
    if not lost or scale.sum() < 2 or not whole or kept < FEWEST or lost > max(1, SHARE * kept):
        return ""
    low, high = min(*known, *value[scale]), value[scale][-1]
    row = int(labels.is_in(value[~scale].tolist()).arg_max() or 0)
    strange = ", ".join(f"{one:g}" for one in value[~scale][:3]) + (", ..." if (~scale).sum() > 3 else "")
    said = f"{count(lost, 'label')} of {strange}, all others {low:g}..{high:g}: "
    said += "a slip?" if lost == 1 else "slips?"
    option = advise(f"--scale {low:g}..{high:g}", f'scale="{low:g}..{high:g}"')
    return f"{source.at(row)}: {said} {option} refuses {'it' if lost == 1 else 'them'}"


def _with_most(value: npt.NDArray[np.float64], n: npt.NDArray[np.int64], apart: float) -> npt.NDArray[np.bool_]:
    """Which values are in the run with most labels; in a run no two neighbours are further apart than this."""
    run = np.cumsum(np.diff(value, prepend=value[0]) > apart)
    return np.asarray(run == np.bincount(run, n).argmax())


#: What a column `source` says of labels that no judge gave: they may lie between the grades of a scale.
MADE = ("predicted", "backed off", "alone")
#: As large as a label may be: what is larger is no grade, and its square no number.
MOST_LABEL = 1e15
#: The lowest and highest number that is taken for a grade where columns are named by judges.
POSSIBLE_GRADES = (-2, 10)
#: What people write for "can't tell".
NO_ANSWER = ("", "n/a", "na", "null", "none", "can't tell", "cant tell", "-")
#: What of a document a judge may have seen.
PAGE, SNIPPET = "page", "snippet"
SURFACES = (PAGE, SNIPPET)

#: Columns of clicks and of what else users did, which are no labels.
OF_CLICKS = (
    *("click", "clicks", "clicked", "impression", "impressions", "views", "satisfied", "satisfied_clicks", "ctr"),
    *("click_through_rate", "add_to_cart", "purchases", "orders", "conversions"),
)

#: Columns that runs have and judgments do not.
OF_RUNS = ("rank", "system", "run", "run_id", "runid", "tag")


@dataclass(frozen=True, eq=False, repr=False)
class Judgments(Records):
    """What judges said: `query, doc, label`, and whatever else is known (who, when, in which context).

    A label is a number, also a real one; none (null) means that the judge could not tell. A TREC qrels file is
    the special case of one nameless judge.

    >>> Judgments.of({"q1": {"d1": 2, "d2": 0}})
    2 judgments of 2 documents for 1 query, labels 0 and 2
    """

    scale: Scale | None = None
    #: How many labels were asked for, and when a further one, where a study says it.
    rules: Rules | None = None
    #: Whether no column says that these are labels: `{query: {doc: number}}`, or a table with a column `score`.
    is_unnamed: bool = False

    schema: ClassVar[Schema] = Schema(
        "judgments",
        (
            Column("query", pl.String, "the query's id", True, column_names.QUERY),
            Column("doc", pl.String, "the document's id", True, column_names.DOC),
            Column(
                "label",
                pl.Float64,
                "the grade given; none when the judge could not tell",
                True,
                column_names.LABEL,
                filled=False,
            ),
            Column("judge", pl.String, "who judged", aliases=column_names.JUDGE),
            Column("group", pl.String, "the kind of judge: gold, professional, crowd, llm, ..."),
            Column("aspect", pl.String, "the aspect of relevance; overall when absent"),
            Column("context", pl.String, "the document read just before; none when judged alone"),
            Column("subtopic", pl.String, "the subtopic of the query that was judged"),
            Column("surface", pl.String, "what was judged, where a study asks for both", among=SURFACES),
            Column("opened", pl.Boolean, "whether the judge opened the page"),
            Column("comment", pl.String, "what the judge added"),
            *OF_ANSWERS,
        ),
        beside=column_names.BESIDE_ANSWERS,
    )

    @classmethod
    def of(cls, data: Any, scale: Scale | str | None = None) -> Judgments:
        """Judgments from a frame, or from `{query: {doc: label}}` as pytrec_eval takes them.

        `scale` states the scale of the labels, as "0..3" or "bad,fair,good"; a label outside it is refused.

        >>> Judgments.of({"q1": {"d1": 1, "d2": 0}}, scale="0..3").top
        3.0
        """
        scale = Scale.parse(scale) if isinstance(scale, str) else scale
        data = plain_data(data, "the judgments")
        if isinstance(data, Judgments):
            if scale is None or data.scale == scale:
                return data
            checked = cls.check(data.frame, scale=scale)
            return replace(data, frame=checked.frame, scale=scale)
        if isinstance(data, Mapping) and any(is_table(given) for given in data.values()):
            expected = "a table or {query: {doc: label}}"
            raise BadInput.at("the judgments", expected=expected, found="runs by the names of systems", remedy=ORDER)
        columns = from_nested(data, "label")
        frame, judges = _one_row_a_label(_with_subtopics(frame_of(columns, "the judgments")))
        made = cls.check(frame, scale=scale)
        if judges:
            note = f"the judgments: a column for each judge, {', '.join(judges)}"
            return replace(made, notes=(*made.notes, note))
        return made if columns is data else replace(made, is_unnamed=True)

    @classmethod
    def check(
        cls,
        frame: pl.DataFrame,
        *,
        scale: Scale | None = None,
        source: Source | None = None,
        drop_bad_labels: bool = False,
        time_format: str | None = None,
        one_each: bool = False,
        is_trec: bool = False,
    ) -> Judgments:
        """Judgments from a frame; `BadInput` names the first row that breaks a rule.

        With `drop_bad_labels`, labels that are none are dropped, counted, and noted. `time_format` says how times are
        written that are not ISO 8601. Labels of one document without a judge are different people's, unless the
        format has one label for a document (`one_each`): then a second one is an error if it differs. In TREC's qrels
        (`is_trec`) a label of -1 is a grade, and nothing is said of it.
        """
        source = source or Source("the judgments")
        notes = [*source.notes]
        spelled = cls.schema.spelled(frame.columns, source.columns)
        header = cls.schema.chosen(frame.columns, source.columns).get("label", "")
        frame = cls.schema.named(frame, source, _is_run(frame, source), notes)
        if "label" in frame.columns:
            labels, bad = _read_labels(frame["label"], scale)
            if scale is not None and bad.any() and "source" in frame.columns:
                labels, between = _between_grades(frame, labels, bad, scale)
                if between.any():
                    bad = bad & ~between
                    made = count(int(between.sum()), "label")
                    notes.append(f"{source.name}: {made} between the grades of the scale, made by a model")
            if bad.any():
                row = int(bad.arg_max() or 0)
                if not drop_bad_labels:
                    raise _bad_label(frame["label"], bad, row, scale, source, spelled["label"])
                notes.append(
                    f"{source.name}: dropped {count(int(bad.sum()), 'bad label')}, the first "
                    f'"{frame["label"][row]}" ({source.at(row)})'
                )
                frame, labels, source = frame.filter(~bad), labels.filter(~bad), source.keep(~bad)
            frame = frame.with_columns(labels.alias("label"))
            if scale is None and (slip := slip_note(frame["label"], source)):
                notes.append(slip)
        frame = cls.schema.conform(frame, source, spelled=spelled, notes=[], time_format=time_format)
        if scale is None:
            notes += scale_notes(frame, source)
            notes += [note] if not is_trec and (note := unjudged_note(frame, source)) else []
        # Overall, OVERALL and "overall " are one aspect to everybody who writes them.
        for name in {"aspect", "context"} & {*frame.columns}:
            text = pl.col(name).str.strip_chars()
            text = text if name == "context" else text.str.to_lowercase()
            frame = frame.with_columns(pl.when(text != "").then(text).alias(name))
        is_unnamed = plain(header) == "score" and "label" not in source.columns
        return cls(_nameless(frame, source, notes, one_each), tuple(notes), scale, is_unnamed=is_unnamed)

    @property
    def top(self) -> float | None:
        """The highest grade there is: the scale's, or the highest label seen."""
        if self.scale is not None:
            return self.scale.top.grade
        highest = self.frame.select(pl.col("label").max()).item()
        return None if highest is None else float(highest)

    def __repr__(self) -> str:
        pairs = self.frame.select("query", "doc").unique()
        grades = self.frame["label"].drop_nulls().unique().sort().to_list()
        shown = [f"{grade:g}" for grade in grades]
        if len(shown) > 6:
            said = f"labels {shown[0]} to {shown[-1]}"
        elif len(shown) > 1:
            said = f"labels {', '.join(shown[:-1])} and {shown[-1]}"
        else:
            said = f"label {shown[0]}" if shown else "no label"
        text = (
            f"{count(len(self), 'judgment')} of {count(pairs.height, 'document')} for "
            f"{count(pairs['query'].n_unique(), 'query', 'queries')}, {said}"
        )
        if self.has("judge"):
            text += f", by {count(self.frame['judge'].n_unique(), 'judge')}"
        return text


def _with_subtopics(frame: pl.DataFrame) -> pl.DataFrame:
    """A table with the column `iteration` of qrels, which is the subtopic where it tells rows apart, as in files."""
    if "iteration" not in frame.columns or "subtopic" in frame.columns:
        return frame
    if frame["iteration"].n_unique() > 1:
        return frame.rename({"iteration": "subtopic"})
    return frame.drop("iteration")


def _one_row_a_label(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """A table with a column of grades for each judge as one row for each label, and the judges; another as it is.

    >>> wide = pl.DataFrame({"query": ["q", "q"], "doc": ["a", "b"], "GptA": [2.0, None], "anna": [1, 0]})
    >>> _one_row_a_label(wide)[0].rows()
    [('q', 'a', 'GptA', 2.0), ('q', 'a', 'anna', 1.0), ('q', 'b', 'anna', 0.0)]

    There are two judges or more, whose columns hold whole numbers that are grades, and gaps where a judge gave none.
    """
    chosen = Judgments.schema.chosen(frame.columns)
    if chosen.keys() != {"query", "doc"} or {"rank", "score", "system"} & {name.lower() for name in frame.columns}:
        return frame, []
    others = [name for name in frame.columns if name not in chosen.values()]
    judges = [name for name in others if plain(name) not in Judgments.schema.beside]
    if (
        {plain(name) for name in judges}.intersection(OF_CLICKS)
        or len(judges) < 2
        or not all(_are_grades(frame[name]) for name in judges)
    ):
        return frame, []
    index = [name for name in frame.columns if name not in judges]
    wide = frame.with_columns(pl.col(judges).cast(pl.Float64)).with_row_index("_row")
    long = wide.unpivot(judges, index=["_row", *index], variable_name="judge", value_name="label")
    long = long.filter(pl.col("label").is_not_null() & pl.col("label").is_not_nan())
    return long.sort("_row", maintain_order=True).drop("_row"), judges


def _are_grades(column: pl.Series) -> bool:
    """Whether a column holds numbers that can be grades, with gaps, and at least one."""
    if not column.dtype.is_numeric():
        return False
    given = column.cast(pl.Float64).fill_nan(None).drop_nulls()
    return bool(len(given)) and bool((given.is_between(*POSSIBLE_GRADES) & (given == given.round(0))).all())


def _read_labels(labels: pl.Series, scale: Scale | None) -> tuple[pl.Series, pl.Series]:
    """The labels as numbers, and which of them are none."""
    if scale is None:
        numbers = labels.cast(pl.Float64, strict=False)
        if not numbers.null_count() and (numbers.abs() <= MOST_LABEL).all():
            return numbers, pl.Series(np.zeros(len(labels), bool))
    if labels.dtype == pl.String:
        silent = labels.is_null() | labels.str.strip_chars().str.to_lowercase().is_in(list(NO_ANSWER))
        grades = labels.str.strip_chars().cast(pl.Float64, strict=False) if scale is None else scale.read(labels)
    else:
        numbers = labels.cast(pl.Float64, strict=False)
        silent = labels.is_null() | numbers.is_nan().fill_null(False)
        grades = numbers if scale is None else scale.read(numbers)
    bad = ~silent & ~(grades.abs() <= MOST_LABEL).fill_null(False)
    return grades.set(silent | bad, None), bad


def _between_grades(
    frame: pl.DataFrame, labels: pl.Series, bad: pl.Series, scale: Scale
) -> tuple[pl.Series, pl.Series]:
    """The labels with those that a model put between the scale's grades, and which they are."""
    numbers = frame["label"].cast(pl.Float64, strict=False)
    made = frame["source"].cast(pl.String, strict=False).is_in(list(MADE))
    within = numbers.is_between(scale.levels[0].grade, scale.top.grade)
    between = (bad & made & within).fill_null(False)
    return numbers.zip_with(between, labels), between


def _is_run(frame: pl.DataFrame, source: Source) -> str:
    """What to say when these are the columns of a run; scores of a run in place of labels are refused.

    Some call a label score. Beside the rank or the system, scores are those of a system.
    """
    headers = {name.strip().lower() for name in frame.columns}
    hint = f"is this a run? The {ORDER}" if headers & {*OF_RUNS} else ""
    if headers >= {"left", "right", "choice"}:
        hint = "are these preferences? " + advise(
            "Name them by --preferences beside labels, or give the folder that they are in",
            "Give them as preferences=, or read them with read_preferences",
        )
    column = Judgments.schema.chosen(frame.columns, source.columns).get("label", "")
    clicks = [name for name in frame.columns if plain(name) in OF_CLICKS]
    if clicks and not column:
        make = advise("karat clicks", "kt.click_labels_by_rank")
        hint = f"{', '.join(clicks)} are about clicks: make labels of a log with {make}, or leave these columns out"
    if hint and column.strip().lower() == "score" and "label" not in source.columns:
        raise BadInput.at(
            source.name,
            expected="judgments with the columns query, doc, label",
            found=", ".join(frame.columns),
            remedy=f"{hint}. If the scores are labels, name the column label",
        )
    return hint


def _bad_label(
    labels: pl.Series, bad: pl.Series, row: int, scale: Scale | None, source: Source, spelled: str
) -> BadInput:
    more = int(bad.sum()) - 1
    expected = f"a number as {spelled}" if scale is None else f"a grade of the scale {scale}"
    number = labels.cast(pl.Float64, strict=False)[row]
    large = scale is None and number is not None and math.isfinite(number)
    return BadInput.at(
        source.at(row),
        expected=f"a number up to {MOST_LABEL:g} as {spelled}" if large else expected,
        found=f'"{labels[row]}"' + (f" ({count(more, 'more row')} like it)" if more else ""),
        remedy=_about_bad_labels(scale is None, source),
    )


def _about_bad_labels(no_scale: bool, source: Source) -> str:
    """What to do about labels that are none: in Python, a table that is no file has no reader to tell it to."""
    if source.is_file:
        drop = advise("drop it with --drop-bad-labels", "drop it with drop_bad_labels=True")
        name = advise("name the levels, the worst first, with --scale", "name the levels, the worst first, with scale=")
    else:
        drop, name = "drop it", "give Judgments.of a scale with the names of its levels"
    return f"{drop} or {name if no_scale else 'extend the scale'}"


def _nameless(frame: pl.DataFrame, source: Source, notes: list[str], one_each: bool) -> pl.DataFrame:
    """Labels without a judge's name: several of one document are of different people, where a format has room for it.

    With `one_each` the same label again is noted, and another is an error.
    """
    if "judge" in frame.columns or "group" in frame.columns:
        return frame
    key = [c for c in ("query", "doc", "subtopic", "aspect", "context", "surface") if c in frame.columns]
    again = repeats(frame, key)
    if not again.any():
        return frame
    if not one_each:
        documents = count(frame.filter(again).select("query", "doc").n_unique(), "document")
        notes.append(f"{source.name}: several labels of {documents} without a judge's name, as of different people")
        return frame
    keyed = frame.select(*key, "label").with_row_index("row")
    first = keyed.group_by(key, maintain_order=True).agg(
        pl.col("label").n_unique().alias("labels"), pl.col("row").first().alias("first")
    )
    keyed = keyed.join(first, on=key, how="left", nulls_equal=True, maintain_order="left")
    clash = keyed.filter((pl.col("labels") > 1) & (pl.col("row") != pl.col("first")))
    if clash.height:
        row, one = clash.row(0, named=True), clash["first"][0]
        raise BadInput.at(
            source.at(row["row"]),
            expected=f"one label for document {row['doc']} of query {row['query']}",
            found=f'"{_grade(row["label"])}" after "{_grade(frame["label"][one])}" ({source.at(one)})',
            remedy="remove one, or add a column judge when two people said it",
        )
    rows = count(int(again.sum()), "row")
    notes.append(f"{source.name}: {rows} repeated an earlier label of the same document and counted once")
    return frame.filter(~again)


def _grade(label: float | None) -> str:
    return "no answer" if label is None else f"{label:g}"


#: Stands between the documents of a path, and in no id.
THEN = "\x1f"


def read_before(context: str | None) -> list[str]:
    """The documents that were read before, in order: one by its id, or several as a list in JSON.

    >>> read_before("a"), read_before('["a", "b"]'), read_before(None)
    (['a'], ['a', 'b'], [])
    """
    if context is None:
        return []
    if context.startswith("["):
        try:
            found = json.loads(context)
        except ValueError:
            return [context]
        if isinstance(found, list):
            return [str(doc) for doc in found]
    return [context]


def paths(contexts: pl.Series) -> pl.DataFrame:
    """What was read before, as one text (`path`), how many documents (`read`), and the last of them (`last`).

    >>> paths(pl.Series(["a", '["a", "b"]', None])).select("read", "last").rows()
    [(1, 'a'), (2, 'b'), (0, None)]
    """
    text = contexts.cast(pl.String).alias("context")
    several = text.unique().drop_nulls()
    several = several.filter(several.str.starts_with("["))
    read = {one: read_before(one) for one in several}
    known = pl.DataFrame(
        {
            "context": list(read),
            "path": [THEN.join(docs) for docs in read.values()],
            "read": [len(docs) for docs in read.values()],
            "last": [docs[-1] if docs else None for docs in read.values()],
        },
        schema={"context": pl.String, "path": pl.String, "read": pl.Int64, "last": pl.String},
    )
    found = pl.DataFrame({"context": text}).join(known, on="context", how="left", maintain_order="left")
    one = pl.when(pl.col("context").is_null()).then(0).otherwise(1).cast(pl.Int64)
    return found.select(
        path=pl.coalesce("path", "context"), read=pl.coalesce("read", one), last=pl.coalesce("last", "context")
    )
