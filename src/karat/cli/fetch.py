"""`karat fetch`: rankings from live search engines."""

from __future__ import annotations

import math
import os
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from karat.cli import options
from karat.cli.output_formats import keep_inputs
from karat.cli.terminal import tell_notes, visible, waiting
from karat.errors import BadInput, KaratError, Undefined

if TYPE_CHECKING:
    from karat.engines.engine import Engine
    from karat.engines.fetched import Fetched
    from karat.records import Queries

EXAMPLES = """\b
Examples:
  karat fetch http://localhost:9200/docs/_search queries.csv --template body.json --depth 20
      --system new --out new.run --documents docs.jsonl
  karat fetch "http://localhost:8983/solr/docs/select?q={{query}}&rows={{depth}}&fl=id,score,title"
      queries.csv --system solr --out solr.run
  karat fetch http://localhost:9200/docs/_search queries.csv --template old.json --template new.json
      --out runs/                                 (two systems: runs/old.run, runs/new.run)
  karat fetch engines.toml queries.csv --out runs/    (engines of several servers)
  karat fetch postgresql://me@localhost/shop queries.csv --sql search.sql --out sql.run
  karat fetch URL queries.csv --template body.json --show-request     (nothing is sent)"""


@click.command(epilog=EXAMPLES, short_help="Fetch rankings from live search engines.")
@click.argument("engine", metavar="URL|ENGINES")
@click.argument("queries")
@click.option(
    "--template", "templates", metavar="FILE", multiple=True, help="What is sent, with {{query}}; several are systems."
)
@click.option("--sql", metavar="FILE|SELECT", help="What PostgreSQL is asked, with the parameter :query.")
@click.option("--system", "systems", metavar="NAME", multiple=True, help="The system's name, one for each template.")
@options.depth(10)
@click.option("--hits", metavar="PATH", help="Where the hits stand in the answer, as hits.hits; else told by its form.")
@options.paths
@click.option("--header", "headers", metavar="'NAME: VALUE'", multiple=True, help="A header; env:NAME is a variable.")
@click.option(
    "--request", type=click.Choice(["GET", "POST"]), help="How it is asked; by POST where there is a template."
)
@click.option("--rate", type=click.FloatRange(0, min_open=True), help="The most calls a second.")
@options.concurrency(4)
@options.attempts(5)
@options.timeout(30.0)
@click.option("--ca", metavar="FILE", help="Certificates of those who vouch for the server, in a PEM file.")
@click.option("--insecure", is_flag=True, help="Take any certificate: for servers of your own only.")
@options.answers
@click.option("--fresh", is_flag=True, help="Ask everything anew, whatever an earlier try has got.")
@click.option("--show-request", is_flag=True, help="Print the first request of each system, and send nothing.")
@options.documents
@click.option("-o", "--out", metavar="FILE|FOLDER", help="Where to write what is made.")
@options.undrawn
def fetch(engine: str, queries: str, out: Any, form: options.Form, **typed: Any) -> None:
    """Put queries to live search engines, and write the lists they give as runs, in the engines' own order.

    Elasticsearch, OpenSearch, Solr, Vespa, Groonga, or whatever answers in JSON. The query's text, escaped, stands for
    {{query}} in the URL or in a template, --depth for {{depth}}, a column of the queries' file for its name; with
    {{from}} or {{page}} lists come page by page. Secrets come from the environment, and are neither stored nor shown.
    Redirects are not followed. A query that fails is named, has no rows, and makes the exit code 1; the same command
    again asks only for what is missing, until all is there.
    """
    from karat.engines.client import Manners
    from karat.engines.fetching import fetch_all
    from karat.engines.response_cache import KeptAnswers
    from karat.formats import read_queries

    engines = _engines(engine, typed)
    asked = read_queries(queries)
    tell_notes(asked.notes)
    names = ("concurrency", "rate", "attempts", "timeout", "ca", "insecure")
    manners = Manners(**{name: typed[name] for name in names})
    if typed["show_request"]:
        _show(engines, asked, typed["depth"], manners)
        return
    documents = typed["documents"]
    _check(engines, out, documents, [queries, *typed["templates"], typed["sql"], typed["ca"], engine], typed["rate"])
    if _is_folder(out):
        Path(out).mkdir(parents=True, exist_ok=True)
    answers = Path(typed["answers"] or _beside(out))
    with ExitStack() as stack:
        stack.enter_context(alone_fetching(answers))
        if typed["fresh"]:
            KeptAnswers(answers).forget(lock=False)
        kept = KeptAnswers(answers)
        stack.callback(kept.close)
        try:
            total = len(asked) * len(engines)
            with waiting(f"Fetching from {', '.join(one.system for one in engines)}", total) as told:
                found = fetch_all(engines, asked, typed["depth"], manners, kept, told)
        except KeyboardInterrupt:
            raise Undefined("stopped; what came is kept, and the same command goes on from there") from None
        except KaratError:
            if not len(kept):  # nothing came: nothing is left behind
                kept.forget()
            raise
        written = _write(found, out, documents)
        missing = found.failed.height
        if not len(kept) or (not missing and typed["answers"] is None):
            kept.forget()
    _tell(found, written, form)
    if missing == total:
        raise Undefined(f"no query has an answer, the first for this reason: {found.failed['why'][0]}")
    if missing:
        raise Undefined(f"{missing} of {total} queries without an answer; the same command asks for these again")


def alone_fetching(answers: Path) -> Any:
    """Hold the answers until the end of the block: two processes would ask for the same."""
    from karat.cli.open_study import alone_asking

    return alone_asking(answers, f"process {os.getpid()}", "karat fetch")


def _engines(engine: str, typed: dict[str, Any]) -> list[Engine]:
    """The engines that the words and options are about."""
    from karat.engines.engine import Engine, read_engines

    if engine.endswith(".toml"):
        names = ("templates", "sql", "systems", "hits", "columns", "headers", "request")
        options.refuse(*names, why=f"{engine} says it of each engine")
        return read_engines(engine)
    if typed["sql"] is not None:
        options.refuse("templates", "headers", "request", "hits", "ca", "insecure", why="--sql asks PostgreSQL")
    headers = {}
    for text in typed["headers"]:
        name, colon, value = text.partition(":")
        if not colon:
            raise BadInput.at("--header", expected="NAME: VALUE, as 'Accept: application/json'", found="no colon")
        headers[name.strip()] = value.strip()
    templates = typed["templates"] or (None,)
    systems = typed["systems"] or ("",) * len(templates)
    if len(systems) != len(templates):
        raise BadInput.at("--system", expected=f"one for each of {len(templates)}", found=f"{len(systems)}")
    rest = (headers, typed["request"], typed["hits"], typed["columns"])
    return [Engine(engine, system, one, typed["sql"], *rest) for one, system in zip(templates, systems, strict=True)]


def _check(engines: list[Engine], out: str | None, documents: str | None, read: list[str | None], rate: Any) -> None:
    """Refuse what could only fail once everything is fetched."""
    from karat.formats.write import format_of

    if rate is not None and math.isnan(rate):
        raise BadInput.at("--rate", expected="a number", found="nan")
    if out is None or out == "-":
        raise BadInput.at("--out", expected="a file or folder for the runs", found="none" if out is None else "-")
    if _is_folder(out):
        for engine in engines:
            if engine.system in (".", "..") or "/" in engine.system or "\\" in engine.system:
                raise BadInput.at("--system", expected="a name that a file can have", found=engine.system)
    else:
        format_of(out)
        keep_inputs("--out", out, [*read, documents])
        if not Path(out).parent.is_dir():
            raise BadInput.at("--out", expected="a folder that is there", found=str(Path(out).parent))
    if documents is not None:
        if format_of(documents) == "trec":
            raise BadInput.at("--documents", expected="a table, as docs.jsonl", found=documents)
        keep_inputs("--documents", documents, read)


def _is_folder(out: str) -> bool:
    return out.endswith("/") or Path(out).is_dir()


def _beside(out: str) -> Path:
    """Where answers are kept: beside the run, or beside the folder of runs, in which all files are runs."""
    path = Path(out).resolve() if _is_folder(out) else Path(out)
    return path.with_name(f"{path.name}.answers.db") if _is_folder(out) else path.with_suffix(".answers.db")


def _write(found: Fetched, out: str, documents: str | None) -> list[str]:
    """The runs in a file, or one each in a folder, and the documents added to theirs; what was written, in words."""
    import polars as pl

    from karat.formats import read_documents, write
    from karat.records import Documents, Runs
    from karat.records.table import count

    said = []
    if _is_folder(out):
        parts = {str(Path(out) / f"{name}.run"): name for name in found.runs.systems}
        runs = {path: Runs.of(found.runs.frame.filter(pl.col("system") == name)) for path, name in parts.items()}
    else:
        runs = {out: found.runs} if len(found.runs) else {}
    for path, run in runs.items():
        tell_notes(write(run, path))
        said.append(f"{count(len(run), 'row')} to {path}")
    if documents is not None and len(found.documents):
        new = found.documents.frame
        if Path(documents).exists():
            known = read_documents(documents).frame
            new = new.join(known, on="doc", how="anti", maintain_order="left")
            if new.height:
                write(Documents.of(pl.concat([known, new], how="diagonal_relaxed")), documents)
            said.append(f"{count(new.height, 'new document')} to {documents}, where {known.height:,} were")
        else:
            write(found.documents, documents)
            said.append(f"{count(new.height, 'document')} to {documents}")
    return said


def _tell(found: Fetched, written: list[str], form: options.Form) -> None:
    from karat.cli.results import print_result, tell_as

    def show() -> None:
        print_result(found)
        for line in written:
            click.echo(visible(f"Wrote {line}."))

    tell_as(form, found.to_dict() | {"files": written}, found, show, beside=("failed", "files"))


def _show(engines: list[Engine], queries: Queries, depth: int, manners: Any) -> None:
    """What would be sent for the first query."""
    from karat.engines.fetching import values_of
    from karat.engines.response_cache import KeptAnswers
    from karat.engines.sql import SqlClient

    values = next(iter(values_of(queries, depth).values()))
    for place, engine in enumerate(engines):
        if place or len(engines) > 1:
            click.echo(f"{chr(10) if place else ''}# {visible(engine.system)}")
        if engine.sql is None:
            click.echo(visible(engine.request_for(values).shown))
        else:
            with closing(KeptAnswers(":memory:")) as empty:
                click.echo(visible(SqlClient(engine, manners, empty).shown(values)))
