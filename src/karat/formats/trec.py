"""TREC's files: qrels and runs."""

from __future__ import annotations

import polars as pl

from karat.errors import BadInput
from karat.formats.csv import MOST_WHOLE, read_csv
from karat.formats.format_registry import Format, Narrow, Rows, add_format
from karat.formats.open_files import File
from karat.formats.whitespace_columns import first_line, read_columns
from karat.records import Judgments, Runs, Scale

QRELS = ["query", "subtopic", "doc", "label"]
#: The columns with names that people choose.
IDS = ("query", "subtopic", "doc", "system")
RUN = ["query", "Q0", "doc", "rank", "score", "system"]


def read_qrels(file: File, scale: Scale | None = None, drop_bad_labels: bool = False) -> Judgments:
    """Judgments from lines of `query iteration doc label`.

    The second column is ignored when it is the same in all lines, as in ad hoc qrels; when it differs, it is the
    subtopic, as in the Web Track's diversity qrels.
    """
    frame, source = rows_of_qrels(file, numbers=scale is None)
    if (frame["subtopic"] == frame["subtopic"][0]).all():
        frame = frame.drop("subtopic")
    return Judgments.check(
        frame, scale=scale, source=source, drop_bad_labels=drop_bad_labels, one_each=True, is_trec=True
    )


def rows_of_qrels(file: File, *, numbers: bool = False) -> Rows:
    """The lines of qrels, and where they stand; with `numbers`, labels are no text where all of them are numbers."""
    hint = "is this a run? The labels come first, then the runs" if _width(file) == len(RUN) else ""
    mostly = "label" if numbers else ""
    return read_columns(file, QRELS, QRELS, hint=hint, table=Judgments.schema.first_line(), mostly_numbers=mostly)


def read_run(file: File, ranks: bool = True) -> Runs:
    """Runs from lines of `query Q0 doc rank score system`; a file with several systems gives several.

    Scores order the lists, as in trec_eval, which ignores ranks. A list whose scores are all equal is ordered by rank;
    without `ranks` it is ordered by document id, as in trec_eval.
    """
    hint = "is this a qrels file? The labels come first, then the runs" if _width(file) == len(QRELS) else ""
    keep = ["query", "doc", "score", "system"] + (["rank"] if ranks else [])
    frame, source = read_columns(
        file,
        RUN,
        keep,
        numbers=("score",),
        hint=hint,
        table=Runs.schema.first_line(),
        mostly_whole="rank" if ranks else "",
    )
    system = frame["system"][0]
    if (frame["system"] == system).all():
        frame = frame.drop("system")
    if ranks:
        rank = frame["rank"].cast(pl.Int64, strict=False)
        frame = frame.with_columns(rank) if not rank.null_count() else frame.drop("rank")
    return Runs.check(frame, system=system, source=source, follow_scores=True)


def write_qrels(judgments: Judgments, name: str) -> bytes:
    """Judgments as qrels lines."""
    frame = judgments.frame.drop_nulls("label")
    subtopic = pl.col("subtopic") if judgments.has("subtopic") else pl.lit("0")
    return _lines(frame.select("query", subtopic, "doc", plain_number("label")))


def write_run(runs: Runs, name: str) -> bytes:
    """Runs as TREC lines, each list in its order."""
    place = pl.col("score").rank("ordinal", descending=True).over("system", "query")
    rank = pl.col("rank") if runs.has("rank") else place.alias("rank")
    return _lines(runs.frame.select("query", pl.lit("Q0"), "doc", rank, "score", "system"))


def plain_number(name: str) -> pl.Expr:
    """A column of numbers as text: whole ones without a point."""
    value = pl.col(name)
    whole = (value == value.round(0)) & (value.abs() < MOST_WHOLE)
    return pl.when(whole).then(value.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(value.cast(pl.String))


def _lines(frame: pl.DataFrame) -> bytes:
    text = [pl.col(name).cast(pl.String) for name in frame.columns]
    if (spaced := spaced_id(frame)) is not None:
        raise BadInput.at("TREC's format", expected="ids without white space", found=spaced, remedy="write CSV instead")
    lines = frame.select(pl.concat_str(text, separator=" "))
    return ("\n".join(lines.to_series().to_list()) + "\n").encode() if frame.height else b""


def spaced_id(frame: pl.DataFrame) -> str | None:
    """The first id or name that TREC's lines cannot hold, with its column; None where there is none."""
    for name in frame.columns:
        if name in IDS:
            spaced = frame[name].str.contains(r"\s|^$").fill_null(False)
            if spaced.any():
                return f'{name} "{frame[name][int(spaced.arg_max() or 0)]}"'
    return None


def _width(file: File) -> int:
    return len(first_line(file).split())


def _holds(file: File) -> str | None:
    kinds = {len(QRELS): "judgments", len(RUN): "runs"}
    return None if b"," in first_line(file) else kinds.get(_width(file))


# Other records have no TREC format: what is not recognised is taken for a table and says what it lacks.
add_format(
    Format(
        "trec",
        read_csv,
        records={
            Judgments: Narrow(
                read_qrels, write_qrels, frozenset({"query", "doc", "label", "subtopic"}), skips_blank_lines=True
            ),
            Runs: Narrow(
                read_run, write_run, frozenset({"system", "query", "doc", "rank", "score"}), skips_blank_lines=True
            ),
        },
        holds=_holds,
    ),
    __name__,
)
