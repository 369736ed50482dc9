"""MS MARCO's files without a first line of names, divided by tabs: runs `qid pid rank`, and texts `id text`.

Texts are queries (also TREC's RAG topics) or passages: the name of the file, or `--kind`, says which.
"""

from __future__ import annotations

import polars as pl

from karat.advice import advise
from karat.errors import AmbiguousFile
from karat.formats.csv import refuse_empty
from karat.formats.format_registry import Format, Narrow, Rows, add_format
from karat.formats.open_files import File
from karat.formats.whitespace_columns import read_columns
from karat.records import Documents, Queries, Runs, Source
from karat.records.column_names import DOC, QUERY_OF_QUERIES

RUN = ["query", "doc", "rank"]
#: What names of files say of texts.
NAMED = {"queries": ("quer", "topic"), "documents": ("collection", "corpus", "passage", "doc")}


def read_run(file: File, ranks: bool = True) -> Runs:
    """A run from lines of query, passage and rank."""
    frame, source = read_columns(file, RUN, RUN, hint="", table=Runs.schema.first_line())
    return Runs.check(frame, system=file.stem, source=source)


def read_queries(file: File) -> Queries:
    """Queries from lines of id and text."""
    frame, source = _texts(file)
    return Queries.check(frame.rename({"id": "query"}), source=source)


def read_passages(file: File) -> Documents:
    """Documents from lines of id and text."""
    frame, source = _texts(file)
    return Documents.check(frame.rename({"id": "doc"}), source=source)


def _texts(file: File) -> Rows:
    refuse_empty(file)
    lines = pl.Series("line", file.text.split("\n"), dtype=pl.String).str.strip_chars_end("\r").to_frame()
    lines = lines.with_row_index("number", offset=1).filter(pl.col("line").str.strip_chars() != "")
    parts = lines["line"].str.splitn("\t", 2).struct.unnest()
    frame = parts.rename({"field_0": "id", "field_1": "text"}).with_columns(pl.all().str.strip_chars())
    source = Source(file.name, lines["number"])
    source.refuse(
        frame["text"].is_null(),
        expected="an id, a tab and a text",
        found=lambda row: f'"{lines["line"][row][:60]}"',
    )
    return frame, source


def _first_lines(file: File) -> list[list[bytes]]:
    """The cells of the first lines, without the last, which may be cut."""
    lines = file.head.split(b"\n")
    whole = lines[:-1] if len(lines) > 1 else lines
    return [line.rstrip(b"\r").split(b"\t") for line in whole[:100] if line.strip()]


def is_run(file: File) -> bool:
    """Whether the first lines have three cells, the last a rank from 1."""
    lines = _first_lines(file)
    return bool(lines) and all(len(cells) == 3 and cells[2].strip().isdigit() for cells in lines)


def is_texts(file: File) -> bool:
    """Whether the first lines are an id and a text; a first line of names makes a table."""
    lines = _first_lines(file)
    if not lines or not all(len(cells) == 2 and not cells[0].strip().count(b" ") for cells in lines):
        return False
    ids = [cells[0].strip().decode(errors="replace").lower() for cells in lines]
    named = ids[0] in (*QUERY_OF_QUERIES, *DOC) or (
        len(ids) > 1 and not _numbered(ids[0]) and all(map(_numbered, ids[1:]))
    )
    return not named and any(b" " in cells[1].strip() for cells in lines)


def _numbered(name: str) -> bool:
    return any(letter.isdigit() for letter in name)


def _of_texts(file: File) -> str:
    stem = file.path.lower().rsplit("/", 1)[-1]
    kinds = [kind for kind, parts in NAMED.items() if any(part in stem for part in parts)]
    if len(kinds) == 1:
        return kinds[0]
    raise AmbiguousFile.at(
        file.name,
        expected="a name that tells what it holds",
        found="ids and texts, which could be queries or documents",
        remedy=advise("say it with --kind queries or --kind documents", "use read_queries or read_documents"),
    )


def _of_ranks(file: File) -> str:
    ranks = [int(cells[2]) for cells in _first_lines(file)]
    if 0 in ranks or max(ranks) < 4:
        raise AmbiguousFile.at(
            file.name,
            expected="columns that tell what it holds",
            found="three, of which the last could be ranks (runs) or labels (judgments)",
            remedy=advise("say --kind runs", "use read_runs") + ", or write labels with a first line query,doc,label",
        )
    return "runs"


add_format(
    Format(
        "msmarco-run",
        sniff=lambda file, schema: schema.name == Runs.schema.name and is_run(file),
        records={Runs: Narrow(read_run)},
        holds=_of_ranks,
        only="runs",
    ),
    __name__,
)
add_format(
    Format(
        "texts",
        sniff=lambda file, schema: is_texts(file),
        records={Queries: Narrow(read_queries), Documents: Narrow(read_passages)},
        holds=_of_texts,
        only="queries and documents",
    ),
    __name__,
)
