"""Quepid's export of a book as CSV: `query,docid` and a column of ratings for each judge, people and AI judges alike.

Quepid knows queries by their text, so the text is the query's id here.
"""

from __future__ import annotations

import polars as pl

from karat.formats.csv import names_of, read_csv
from karat.formats.format import Format, Narrow, add_format
from karat.formats.open_files import File
from karat.records import Judgments, Scale, Source
from karat.records.base import count


def read_judges(file: File, scale: Scale | None = None, drop_bad_labels: bool = False) -> Judgments:
    """Judgments from a column for each judge; documents that a judge did not rate are no rows."""
    frame, source = read_csv(file)
    query, doc, *judges = frame.columns
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
    """Whether the first line is query, docid and two names or more, none of which karat knows.

    One such name may be a column of labels that is misspelt: that is for the reader of tables to say.
    """
    names = names_of(file)
    return (
        file.ending == ".csv"
        and names[:2] == ["query", "docid"]
        and len(names) > 3
        and not Judgments.schema.rename([*names[2:]])
        and not {*names[2:]} & {*Judgments.schema.names, "rank", "score", "system"}
    )


add_format(
    Format(
        "quepid-judges-csv",
        read_csv,
        read_from=(".csv",),
        sniff=lambda file, schema: schema.name == Judgments.schema.name and has_judges(file),
        records={Judgments: Narrow(read_judges, several=True)},
        holds=lambda file: "judgments",
    ),
    __name__,
)
