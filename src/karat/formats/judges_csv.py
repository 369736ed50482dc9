"""A spreadsheet with a column of grades for each judge: `query,doc,anna,ben`.

Quepid exports a book so, as `query,docid` and a column for each judge, people and AI judges alike. It knows queries by
their text, so the text is the query's id here.
"""

from __future__ import annotations

import csv
from difflib import get_close_matches

import polars as pl

from karat.errors import BadInput
from karat.formats.csv import names_of, read_csv, separator_of
from karat.formats.format_registry import Format, Narrow, add_format
from karat.formats.open_files import File
from karat.records import Judgments, Scale, Source
from karat.records.column_names import LABEL
from karat.records.judgments import OF_CLICKS
from karat.records.schema import plain
from karat.records.table import count

#: How Quepid's export begins, and what a grade may be in a table that another tool or a person made.
QUEPID = ["query", "docid"]
GRADES = {"", *(str(grade) for grade in range(-2, 11)), *(f"{grade}.0" for grade in range(-2, 11))}
#: What a sheet shows judges of a query or a document, and no judge is called.
SHOWN = ("query_text", "title", "snippet", "url", "text")


def read_judges(file: File, scale: Scale | None = None, drop_bad_labels: bool = False) -> Judgments:
    """Judgments from a column for each judge; documents that a judge did not rate are no rows."""
    frame, source = read_csv(file)
    chosen = Judgments.schema.chosen(frame.columns, source.columns)
    if not {"query", "doc"} <= chosen.keys() or len(frame.columns) < 3:
        raise BadInput.at(
            file.name, expected="a query, a document and a column for each judge", found=", ".join(frame.columns)
        )
    query, doc = chosen["query"], chosen["doc"]
    judges = [name for name in frame.columns if name not in (query, doc) and plain(name) not in SHOWN]
    named = frame.rename({query: "query", doc: "doc"}).with_row_index("_row")
    long = named.unpivot(judges, index=["_row", "query", "doc"], variable_name="judge", value_name="label")
    rated = long.filter(pl.col("label").fill_null("").str.strip_chars() != "").sort("_row", maintain_order=True)
    judgments = Judgments.check(
        rated.select("query", "doc", "label", pl.col("judge").str.strip_chars()),
        scale=scale,
        source=Source(file.name, None if source.lines is None else source.lines.gather(rated["_row"])),
        drop_bad_labels=drop_bad_labels,
    )
    open_ = named.height - rated["_row"].n_unique()
    notes = [f"{file.name}: a column for each judge, {', '.join(judges)}"]
    notes += [f"{file.name}: {count(open_, 'pair')} not judged yet"] if open_ else []
    return Judgments(judgments.frame, (*judgments.notes, *notes), scale)


def has_judges(file: File) -> bool:
    """Whether the first line is a query, a document and two names or more, none of which karat knows.

    One such name may be a column of labels that is misspelt: that is for the reader of tables to say. Two may be
    features of documents, so they must hold grades; in Quepid's own `query,docid` they always do. A book of Quepid has
    but one judge often: one name beside `query,docid` is that judge's where it looks like a person's name or address.
    """
    names = [name for name in names_of(file) if plain(name) not in SHOWN]
    quepid = names[:2] == QUEPID
    if file.ending not in (".csv", ".tsv") or len(names) < (3 if quepid else 4):
        return False
    known = Judgments.schema.chosen(names)
    if (
        known.keys() != {"query", "doc"}
        or {"rank", "score", "system"} & {*names}
        or {*map(plain, names)} & {*OF_CLICKS}
    ):
        return False
    return (quepid and (len(names) > 3 or _is_person(file.first_line))) or (len(names) > 3 and _hold_grades(file))


def _is_person(header: bytes) -> bool:
    """Whether the last name of a header is what Quepid calls a judge: a full name, an address, or anonymous."""
    name = header.decode(errors="replace").strip().rpartition(",")[2].strip('"')
    slip = get_close_matches(name.lower(), ("label", *LABEL))
    return not slip and (name == "anonymous" or "@" in name or " " in name.strip() or name[:1].isupper())


def _hold_grades(file: File) -> bool:
    """Whether the cells of judges in the first lines are small whole numbers, or empty."""
    first, *rows = file.head[len(file.blank) :].decode("utf-8", "replace").splitlines()
    separator, names = separator_of(first.encode()), names_of(file)
    known = [names.index(header) for header in Judgments.schema.chosen(names).values()]
    known += [place for place, name in enumerate(names) if plain(name) in SHOWN]
    cells = [*csv.reader(rows[:100], delimiter=separator)]  # texts may hold the separator
    whole = [row for row in cells if len(row) == len(names)]
    grades = [cell.strip().strip('"') for row in whole for n, cell in enumerate(row) if n not in known]
    return any(grades) and all(grade in GRADES for grade in grades)


add_format(
    Format(
        "judges-csv",
        read_csv,
        read_from=(".csv",),
        sniff=lambda file, schema: schema.name == Judgments.schema.name and has_judges(file),
        records={Judgments: Narrow(read_judges, several=True)},
        holds=lambda file: "judgments",
    ),
    __name__,
)
