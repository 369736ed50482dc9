"""Can you trust this judge? An LLM's sheet in the report: the sentence, then charts of what it rests on."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from karat.llm.audit import audit_llm
from karat.llm.audit_sheet import LLMSheet, main_figures, name, where_it_errs
from karat.records import Scale
from karat.reports import charts
from karat.reports.figure import Figure
from karat.reports.section import Section, Table
from karat.study import Study

#: More judges than these have their sentences here, and their figures in karat judges llm.
MOST_JUDGES = 3

#: Of a text so many letters are shown.
MOST_LETTERS = 120


def llm_section(study: Study, measure: str, difference: float, draws: int, seed: int) -> Section:
    """A sentence for each LLM, and charts of the first few."""
    found = audit_llm(
        study.with_audit,
        list(study.runs) if len(study.systems) > 1 else None,
        gold=study.gold,
        preferences=study.preferences,
        queries=study.queries,
        documents=study.documents,
        measure=measure,
        difference=difference,
        draws=draws,
        seed=seed,
    )
    figures, tables = list[Figure](), list[Table]()
    several = len(found.sheets) > 1
    for place, sheet in enumerate(found.sheets[:MOST_JUDGES], 1):
        mine = [figure for figure in sheet_figures(sheet) if figure is not None]
        figures += [replace(one, name=f"{one.name}-{place}") if several else one for one in mine]
        tables += _tables(sheet, f" of {sheet.judge}" if several else "")
    notes = dict.fromkeys(note for sheet in found.sheets for note in sheet.notes)
    if len(found.sheets) > MOST_JUDGES:
        notes[f"figures of the first {MOST_JUDGES} judges; karat judges llm has all"] = None
    said = tuple(sheet.finding for sheet in found.sheets)
    return Section(said, tuple(figures), tuple(tables), (*notes, *found.notes))


def sheet_figures(sheet: LLMSheet) -> list[Figure | None]:
    """The charts of a sheet: agreement, leniency, confusion, what should change nothing, expected grades."""
    return [_agreement(sheet), _leniency(sheet), _confusion(sheet), _tried(sheet), _expected(sheet)]


def _rows(frame: pl.DataFrame, *parts: str, unit: str) -> pl.DataFrame:
    """The figures of some parts in one unit that have a value, with a name to stand before each."""
    mine = frame.filter(pl.col("part").is_in(parts), pl.col("unit") == unit, pl.col("value").is_not_nan())
    named = pl.Series("row", [name(row) for row in mine.iter_rows(named=True)], dtype=pl.String)
    return mine.select(named, "value", "low", "high", "n", queries="n_queries", of="of", part="part")


def _agreement(sheet: LLMSheet) -> Figure | None:
    rows = _rows(sheet.frame, "agreement", "people", "again", unit="agreement")
    rows = rows.with_columns(look_at=pl.col("row") == "ordinal alpha with gold").drop("of", "part")
    golden = rows.filter("look_at")
    if not golden.height:
        return None
    return Figure(
        "llm-agreement",
        f"{sheet.judge} agrees with gold by an ordinal alpha of {golden['value'][0]:.2f}",
        "Agreement beyond chance (1: always, 0: as chance would) with 95 % intervals over queries.",
        charts.dots(rows, value="value", x_title="agreement", line=0.0, places=2),
        rows.drop("look_at"),
    )


def _leniency(sheet: LLMSheet) -> Figure | None:
    rows = sheet.frame.filter(pl.col("part").is_in(["errors", "leniency"]), pl.col("value").is_not_nan())
    if not rows.height:
        return None
    whole = rows.row(0, named=True)
    kind = "high" if whole["value"] > 0 else "low"
    of = pl.when(pl.col("of") == "").then(pl.lit("all documents")).otherwise("of")
    shown = rows.select(
        row=of, value="value", low="low", high="high", documents="n", look_at=pl.col("part") == "leniency"
    )
    return Figure(
        "llm-leniency",
        f"{sheet.judge} grades {abs(whole['value']):.2f} of a grade too {kind} on average",
        "Mean of grade less gold with 95 % intervals; gold dots: what is added while the gold grade stays.",
        charts.dots(shown, value="value", x_title="grades above gold", line=0.0, places=2),
        shown.drop("look_at"),
    )


def _confusion(sheet: LLMSheet) -> Figure | None:
    if sheet.confusion is None:
        return None
    frame = sheet.confusion.frame
    cells = frame.select(
        first=_words(frame["grade"], sheet.scale), second=_words(frame["label"], sheet.scale),
        value="share", low="low", high="high", n="n",
    )  # fmt: skip
    return Figure(
        "llm-confusion",
        sheet.confusion.finding.rstrip("."),
        "The share of documents of each gold grade (down) that get each grade (across).",
        charts.cells(cells.drop_nans("value"), x_title="grade given", y_title="gold grade"),
        frame,
    )


def _words(grades: pl.Series, scale: Scale | None) -> pl.Series:
    said = [f"{grade:g}" if scale is None else scale.name(grade) for grade in grades.to_list()]
    return pl.Series(said, dtype=pl.String)


def _tried(sheet: LLMSheet) -> Figure | None:
    rows = _rows(sheet.frame, "again", "orders", "canaries", "outcomes", unit="share").drop("of", "part")
    if not rows.height:
        return None
    first = rows.row(0, named=True)
    rows = rows.with_columns(pl.col("row").str.replace(": ", ", "))  # in two lines, so that a narrow page shows both
    return Figure(
        "llm-tried",
        f"{sheet.judge}, when nothing should change its mind: {first['row']} {first['value']:.0%}",
        "Asked the same again, sides exchanged (half should be the first), documents altered to look relevant: shares "
        "with 95 % intervals.",
        charts.dots(rows, value="value", x_title="share", percent=True),
        rows,
    )


def _expected(sheet: LLMSheet) -> Figure | None:
    rows = sheet.frame.filter(pl.col("part") == "expected", pl.col("of") != "", pl.col("value").is_not_nan())
    promised = rows.filter(pl.col("figure") == "mean expected grade").select("of", truth="value")
    rows = rows.filter(pl.col("figure") == "mean gold grade").join(promised, on="of", maintain_order="left")
    grown = sheet.frame.filter(pl.col("figure") == "gold grades per expected grade")
    if not rows.height or not grown.height:
        return None
    shown = rows.select(row="of", value="value", low="low", high="high", truth="truth", documents="n")
    return Figure(
        "llm-expected",
        f"Gold grows by {grown['value'][0]:.2f} of a grade with each expected grade",
        "Mean gold grade where the expected grade is about 0, 1, ... with 95 % intervals; diamonds: as promised.",
        charts.dots(shown, value="value", x_title="mean gold grade", places=2),
        shown.rename({"truth": "expected"}),
    )


def _tables(sheet: LLMSheet, whose: str) -> list[Table]:
    tables = [Table(f"All figures{whose}", main_figures(sheet.frame).drop("part"), True)]
    errs = where_it_errs(sheet.frame)
    if errs.height:
        tables.append(Table(f"Where it errs{whose}", errs.drop("part"), True))
    if sheet.mistakes.height:
        worst = sheet.mistakes.with_columns(
            _words(sheet.mistakes[of], sheet.scale).alias(of) for of in ("label", "gold")
        )
        named = worst.drop("query").rename({"query_text": "query"}) if "query_text" in worst.columns else worst
        # Whole texts of documents would fill pages.
        text = pl.col(pl.String)
        cut = text.str.slice(0, MOST_LETTERS) + " ..."
        named = named.with_columns(pl.when(text.str.len_chars() > MOST_LETTERS).then(cut).otherwise(text).name.keep())
        tables.append(Table(f"Most telling mistakes{whose}", named.select("query", pl.exclude("query"))))
    return tables
