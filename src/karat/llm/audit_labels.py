"""What an LLM was asked: documents as they are, the same again, and documents altered to deceive it.

`karat ask` writes such a table, and other tools write parts of it: everything beside query, doc and label may be
missing. Whoever has no name is called by model and prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from karat.errors import BadInput, Undefined
from karat.labels.gold import GOLD
from karat.labels.order import in_order
from karat.labels.selection import ALTERED, LLM, select
from karat.records import Documents, Judgments, Queries
from karat.records.table import count

#: The outcome of an answer that is a grade.
GRADED = "graded"
#: What is said where a table has no outcomes and no label.
NO_LABEL = "no label"
#: A judge about whom nothing else is known.
NAMELESS = "the LLM"
PAIR = ["query", "doc"]
#: Columns of numbers, which a table of text may hold otherwise.
NUMBERS = ("repeat", "expected_grade", "mass", "cost", "seconds")


@dataclass(frozen=True, eq=False)
class LLMJudge:
    """One judge's answers, a row each: as first asked, asked again, and about altered documents.

    All have `query, doc, label` (null where there is no grade) and `outcome`; `altered` has `altered`, the kind of
    alteration, and `altered_from`, the document as it was.
    """

    name: str
    first: pl.DataFrame
    again: pl.DataFrame
    altered: pl.DataFrame

    @property
    def graded(self) -> pl.DataFrame:
        """The first answers that are grades."""
        return self.first.drop_nulls("label")


@dataclass(frozen=True, eq=False)
class AskedLLMs:
    """The judges of a table, by name, and the labels of people beside them."""

    judges: tuple[LLMJudge, ...]
    people: Judgments | None
    notes: tuple[str, ...]


def asked_llms(judgments: Judgments, group: str | None = None, names: Sequence[str] = ()) -> AskedLLMs:
    """The LLMs among these judges: those named, or of `group`, or of the group llm, or with a model; else all.

    >>> rows = [{"query": "q", "doc": "d", "label": 2, "model": "small", "repeat": 0},
    ...         {"query": "q", "doc": "d", "label": 1, "model": "small", "repeat": 1},
    ...         {"query": "q", "doc": "d+claim", "label": 3, "model": "small", "altered": "claim", "altered_from": "d"}]
    >>> judge = asked_llms(Judgments.of(rows)).judges[0]
    >>> judge.name, judge.first.height, judge.again.height, judge.altered.height
    ('small', 1, 1, 1)
    """
    frame, notes = judgments.frame, [*judgments.notes]
    mine = _named(judgments, names) if names else _whose(judgments, group)
    others = frame.filter(~mine)
    people = others.filter(pl.col("group").fill_null("") != GOLD) if "group" in others.columns else others
    frame = _with_numbers(_with_outcome(_with_names(frame.filter(mine)), notes), notes)
    deceived = pl.lit(False)
    if ALTERED in frame.columns:
        frame = frame.with_columns(_text(ALTERED))
        deceived = pl.col(ALTERED).is_not_null()
        if "altered_from" not in frame.columns:
            frame = frame.with_columns(altered_from=pl.lit(None, pl.String))
        frame = frame.with_columns(altered_from=pl.coalesce(_text("altered_from"), _before_alteration()))
    plain = select(replace(judgments, frame=frame.filter(~deceived).drop(ALTERED, strict=False)), strict=True)
    notes += plain.notes
    lies = frame.filter(deceived)
    if lies.height:
        kinds = lies[ALTERED]
        lies = select(replace(judgments, frame=lies.with_columns(_kind=kinds).drop(ALTERED)), strict=True).frame
        lies = lies.rename({"_kind": ALTERED})
    if not plain.frame.height and not lies.height:
        raise Undefined("there is no answer of an LLM")
    ordered = _numbered(plain.frame, list(plain.key))
    known = pl.concat([ordered["judge"], lies["judge"]] if lies.height else [ordered["judge"]]).unique().sort()
    judges = [
        LLMJudge(
            name,
            ordered.filter((pl.col("judge") == name) & (pl.col("_nth") == 0)).drop("_nth"),
            ordered.filter((pl.col("judge") == name) & (pl.col("_nth") > 0)).drop("_nth"),
            lies.filter(pl.col("judge") == name) if lies.height else lies,
        )
        for name in known
    ]
    return AskedLLMs(tuple(judges), replace(judgments, frame=people) if people.height else None, tuple(notes))


def _named(judgments: Judgments, names: Sequence[str]) -> pl.Series:
    """Which rows are of the judges of these names."""
    judges = judgments.need("judge", "the names of LLMs")
    known = judges.drop_nulls().unique().sort().to_list()
    for name in names:
        if name not in known:
            some = ", ".join(known[:6]) + (", ..." if len(known) > 6 else "")
            raise BadInput.at("the LLMs", expected=f"judges of these labels ({some})", found=f'"{name}"')
    return judges.is_in(list(names)).fill_null(False)


def _whose(judgments: Judgments, group: str | None) -> pl.Series:
    """Which rows are of LLMs."""
    frame = judgments.frame
    everybody = pl.repeat(True, frame.height, eager=True)
    groups = frame["group"] if judgments.has("group") else None
    if group is not None:
        known = [] if groups is None else groups.drop_nulls().unique().sort().to_list()
        if groups is None or group not in known:
            expected = f"one of {', '.join(known)}" if known else "labels with groups"
            raise BadInput.at("the group of LLMs", expected=expected, found=f'"{group}"')
        return (groups == group).fill_null(False)
    say_so = known_llms(judgments)
    if say_so.any():
        return say_so
    return everybody if groups is None else (groups != GOLD).fill_null(True)


def known_llms(judgments: Judgments) -> pl.Series:
    """Which rows say that they are of an LLM: by the word llm in their group or, where no group has it, by a model.

    >>> rows = [{"query": "q", "doc": "d", "label": 1, "judge": judge, "group": group}
    ...         for judge, group in (("ann", "crowd"), ("gpt", "simulated llm"))]
    >>> known_llms(Judgments.of(rows)).to_list()
    [False, True]
    """
    frame = judgments.frame
    if judgments.has("group"):
        named = frame["group"].str.contains(rf"(?i)\b{LLM}\b").fill_null(False)
        if named.any():
            return named
    if judgments.has("model"):
        return frame.select(_text("model").is_not_null()).to_series()
    return pl.repeat(False, frame.height, eager=True)


def _with_names(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with a judge each: by name, else model and, where it had several, prompt, else group."""
    names = []
    if "judge" in frame.columns:
        names.append(_text("judge"))
    if "model" in frame.columns:
        model = _text("model")
        if "prompt" in frame.columns:
            # A prompt may be its whole text, another one for every document: then it names nobody.
            several = frame.select(_text("prompt")).to_series().n_unique() <= max(1, frame.height // 20)
            prompts = _text("prompt").n_unique().over(model)
            model = pl.when(pl.lit(several) & (prompts > 1)).then(model + " " + _text("prompt")).otherwise(model)
        names.append(model)
    if "group" in frame.columns:
        names.append(_text("group"))
    return frame.with_columns(judge=pl.coalesce(*names, pl.lit(NAMELESS)))


def _with_outcome(frame: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """The rows with an outcome each; what is no grade has no label, whatever a tool wrote in its place."""
    found = pl.when(pl.col("label").is_null()).then(pl.lit(NO_LABEL)).otherwise(pl.lit(GRADED))
    if "outcome" in frame.columns:
        found = pl.coalesce(_text("outcome").str.to_lowercase(), found)
    frame = frame.with_columns(outcome=found)
    invented = (pl.col("outcome") != GRADED) & pl.col("label").is_not_null()
    number = int(frame.select(invented.sum()).item())
    if number:
        notes.append(f"{count(number, 'label')} beside an outcome other than graded: no grade of the model's, left out")
        frame = frame.with_columns(label=pl.when(invented).then(None).otherwise("label"))
    empty = (pl.col("outcome") == GRADED) & pl.col("label").is_null()
    return frame.with_columns(outcome=pl.when(empty).then(pl.lit(NO_LABEL)).otherwise("outcome"))


def _with_numbers(frame: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """The columns of numbers as numbers; what is none is counted."""
    for name in (name for name in NUMBERS if name in frame.columns):
        text = frame.select(_text(name)).to_series()
        numbers = text.cast(pl.Float64, strict=False)
        missing = text.is_null() | numbers.is_nan().fill_null(False)
        numbers = numbers.set(~numbers.is_finite().fill_null(True), None)
        bad = int((~missing & numbers.is_null()).sum())
        if bad:
            notes.append(f"{count(bad, 'answer')} whose {name} is no number: unknown there")
        frame = frame.with_columns(numbers.alias(name))
    return frame


def _numbered(frame: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    """The rows in order, numbered from 0 for each judge and item: by `repeat` where it is known."""
    frame = in_order(frame)
    if "repeat" in frame.columns:
        frame = frame.sort("repeat", nulls_last=False, maintain_order=True)
    return frame.with_columns(_nth=pl.int_range(pl.len()).over(*key, "judge"))


def _text(name: str) -> pl.Expr:
    """A column as text, null where it is empty."""
    text = pl.col(name).cast(pl.String).str.strip_chars()
    return pl.when(text != "").then(text).alias(name)


def _before_alteration() -> pl.Expr:
    """The document that DOC+claim was made of."""
    return pl.col("doc").str.replace(r"\+[^+]*$", "")


def known_by_text(
    judgments: Judgments, gold: Judgments | None, queries: Queries | None, documents: Documents | None
) -> Judgments:
    """The labels with ids in place of texts, where `queries` and `documents` tell whose texts they are.

    >>> labels = Judgments.of([{"query": "flea life", "doc": "A flea lives long.", "label": 3}])
    >>> queries, documents = [{"query": "q1", "text": "Flea life"}], [{"doc": "d1", "text": "A flea lives long."}]
    >>> gold = Judgments.of({"q1": {"d1": 2}})
    >>> found = known_by_text(labels, gold, Queries.of(queries), Documents.of(documents))
    >>> found.frame.select("query", "doc").row(0), found.notes[0]
    (('q1', 'd1'), '1 label known by the text of query and document')

    Upper and lower case and white space do not tell texts apart. What is known by its id already stays as it is.
    """
    if gold is None or judgments.frame.join(gold.frame, on=["query", "doc"], how="semi").height:
        return judgments
    frame, renamed = judgments.frame, list[str]()
    for name, known, text in (("query", queries, "text"), ("doc", documents, "text")):
        if known is None or not known.has(text) or frame.join(gold.frame, on=name, how="semi").height:
            continue
        ids = known.frame.select(_plain(text).alias("_text"), pl.col(name).alias("_id")).drop_nulls()
        ids = ids.unique("_text", keep="none")  # a text that two have tells neither
        frame = frame.with_columns(_plain(name).alias("_text")).join(ids, on="_text", how="left", maintain_order="left")
        frame = frame.with_columns(pl.coalesce("_id", name).alias(name)).drop("_text", "_id")
        renamed.append("query" if name == "query" else "document")
    if not renamed:
        here, there = (one.frame.select("query", "doc").head(1).rows() for one in (judgments, gold))
        if not here or not there:
            return judgments
        note = (
            f"no label is of a document with a gold label: {_short(here[0])} is none of those such as "
            f"{_short(there[0])}; where a tool knows them by their texts, queries and documents tell whose they are"
        )
        return replace(judgments, notes=(*judgments.notes, note))
    note = f"{count(frame.height, 'label')} known by the text of {' and '.join(renamed)}"
    return replace(judgments, frame=frame, notes=(*judgments.notes, note))


def _short(named: tuple[str, str]) -> str:
    """A query and a document by their names, the beginning of them where they are texts."""
    return " and ".join(f'"{one[:30]}..."' if len(one) > 30 else f'"{one}"' for one in named)


def _plain(name: str) -> pl.Expr:
    return pl.col(name).str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
