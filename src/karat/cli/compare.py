"""`karat compare`: which system is better, given that the labels are wrong sometimes?"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import click
import polars as pl
from click.core import ParameterSource

from karat.cli import options
from karat.cli.inputs import Reading, measures_among, read_several, run_files
from karat.cli.query_filter import only as only_queries
from karat.cli.query_filter import only_of
from karat.cli.results import console, print_result, read_or_not, say, side_by_side, tell_as
from karat.cli.terminal import tell_notes
from karat.comparison import Comparison, GroupComparison, by_group, by_measure, gate, groups_of
from karat.comparison import moved as moved_most
from karat.comparison.comparer import Comparer, Method
from karat.comparison.gate import check_rule
from karat.comparison.live_verdict import Live, Memo, live_verdict
from karat.comparison.query_deltas import moved_table
from karat.errors import BadInput
from karat.formats import read_user_weights
from karat.formats.study_folder import read_study
from karat.labels.consensus import HOWS, How
from karat.records import Queries, Result, Runs
from karat.records.number_format import figure
from karat.records.result import ResultBase
from karat.records.study_design import Compared
from karat.records.table import count
from karat.study.live_inputs import two_of

#: The name of the table of queries that lost and won most.
MOVED = "queries that moved"
#: As many letters of a title as a line has room for.
TITLE = 44

#: The methods of the table in a few words each; inversion-independent goes with inversion.
ABOUT = {
    "plain": "plain, the labels as they are",
    "ppi": "ppi, corrected with gold labels",
    "inversion": "inversion, right for a judge who errs alike on all systems (-independent: each system apart)",
}


@dataclass(frozen=True)
class Extras:
    """What is told beside the verdict, where it was asked for."""

    measures: Result | None = None
    groups: tuple[GroupComparison, ...] = ()
    moved: list[dict[str, Any]] | None = None
    #: The comparisons whose scores of every query are wanted, one for each measure.
    by_query: tuple[Comparison, ...] = ()
    #: What the rule for continuous integration says, for each measure.
    gate: tuple[str, ...] = ()

    def tables(self, found: Comparison) -> dict[str, Result]:
        """All tables by name, what was asked for first."""
        every = {f"by {part.column}": Result(part.to_frame(), part.finding, part.notes) for part in self.groups}
        if self.measures is not None:
            every["by measure"] = self.measures
        if self.by_query:
            every["by query"] = Result(self.scores_by_query(), found.finding, found.notes)
        if self.moved is not None:
            every[MOVED] = moved_table(found, self.moved)
        every["methods"] = Result(found.methods, found.finding, found.notes)
        if len(found.systems) > 2:
            every["pairs"] = every["ranks"] = every["methods"]
        return every

    def scores_by_query(self) -> pl.DataFrame:
        """Every query's scores by the labels, of several measures one below the other."""
        if len(self.by_query) == 1:
            return self.by_query[0].by_query
        parts = [
            one.by_query.select("query", pl.lit(one.measure).alias("measure"), pl.exclude("query"))
            for one in self.by_query
        ]
        return pl.concat(parts, how="diagonal_relaxed")

    def drawn(self, found: Comparison) -> dict[str, ResultBase]:
        """What charts are of: what was asked for beside the verdict, or else the verdict."""
        every: dict[str, ResultBase] = {f"by {part.column}": part for part in self.groups}
        if self.measures is not None:
            every["by measure"] = self.measures
        if self.moved is not None:
            every[MOVED] = moved_table(found, self.moved)
        return every or {"": found}

    def papers(self, found: Comparison) -> dict[str, ResultBase]:
        """The tables for people: the outcome of the gate, the systems, and what was asked for beside them."""
        tables: dict[str, ResultBase] = {"Gate": self._gate_table()} if self.gate else {}
        tables["Comparison"] = found
        if self.measures is not None:
            tables["By measure"] = self.measures
        tables |= {f"By {part.column}": part for part in self.groups}
        if self.by_query:
            tables["By query"] = Result(self.scores_by_query(), "Every query's scores by the labels.")
        if self.moved is not None:
            tables["Queries that moved"] = moved_table(found, self.moved)
        return tables

    def _gate_table(self) -> Result:
        """Whether the second system passes the rule, with a row for each measure."""
        rows = [said.partition(": ")[::2] for said in self.gate]
        frame = pl.DataFrame(rows, schema=["outcome", "reason"], orient="row")
        failed = frame.filter(pl.col("outcome") == "failed")
        first = (failed if failed.height else frame).row(0, named=True)
        return Result(frame, f"{first['outcome'].capitalize()}: {first['reason']}.")

    def to_dict(self) -> dict[str, Any]:
        """The parts that are there, for one document."""
        found: dict[str, Any] = {} if self.measures is None else {"measures": self.measures.to_dict()}
        if self.groups:
            found["groups"] = [table.to_dict() for table in self.groups]
        if self.by_query:
            found["by_query"] = self.scores_by_query().to_dicts()
        return found | ({} if self.moved is None else {"moved": self.moved})


def print_comparison(found: Comparison, more: Extras) -> None:
    """The verdict, what each method says, what was asked for beside it, and the notes."""
    out = console()
    many = len(found.systems) > 2
    say(out, found.finding)
    for warning in found.warnings:
        say(out, f"Warning: {warning}.")
    methods = found.methods.drop("system_a", "system_b") if not many else found.methods.drop("system_a")
    names = {"n_queries": "queries", "n_gold": "gold"} | ({"system_b": "system"} if many else {})
    heads = {"a": found.systems[0], "b": "score" if many else found.systems[1]}
    print_result(Result(methods.rename(names), ""), heads=heads)
    if found.pairs.height:
        out.print()
    if many and found.ranks.height:
        every = "Every pair" if found.baseline is None else f"Every system against {found.baseline}"
        print_result(Result(found.ranks.rename({"best_rank": "from", "worst_rank": "to"}), "Places each may have:"))
        out.print()
        print_result(Result(found.pairs.drop("effect"), f"{every}, b - a:"))
    elif found.pairs.height:
        row = found.pairs.row(0, named=True)
        said = f"By the labels {found.systems[1]} wins {row['wins']}, ties {row['ties']}, loses "
        said += count(row["losses"], "query", "queries")
        if found.method in ("plain", "inversion") and found.tests is not None:
            effect = "" if math.isnan(row["effect"]) else f"; effect size {row['effect']:.2f}"
            print_result(Result(found.tests, f"{said}{effect}."))
        else:
            say(out, f"{said}.")
    if found.judge is not None:
        out.print()
        print_result(Result(found.judge, "The judge's error, gain by label less gain by gold label:"))
    if (beside := more.measures) is not None:
        out.print()
        print_result(Result(beside.to_frame(), beside.finding, beside.notes, columns=beside.columns))
    for part in more.groups:
        out.print()
        left = ("with_gold",) if found.method == "plain" else ()
        columns = tuple(name for name in part.columns if name not in left)
        groups = Result(part.to_frame().drop(left), part.finding, part.notes, columns=columns)
        print_result(groups, heads=dict(zip("ab", found.systems, strict=True)))
    for one in more.moved or ():
        out.print()
        _print_moved(found, one)
    for one_measure in more.by_query:
        if not one_measure.by_query.height:
            continue
        rows = [[row["query"], *(figure(row[s], 4) for s in found.systems)] for row in one_measure.by_query.to_dicts()]
        out.print()
        what = "scores" if len(more.by_query) == 1 else one_measure.measure
        say(out, f"Every query's {what} by the labels:")
        for table in side_by_side(["query", *found.systems], rows, out.width):
            out.print(table)
    for note in found.notes:
        if note not in found.warnings:
            say(out, f"- {note}")
    shown = [ABOUT[name] for name in found.methods["method"].unique(maintain_order=True) if name in ABOUT]
    if len(shown) > 1:
        say(out, f"Methods: {'; '.join(shown)}. More: docs/compare.md")


def _print_moved(found: Comparison, one: dict[str, Any]) -> None:
    """A query that lost or won: both lists side by side, by the best rank of each document."""
    a, b = found.systems
    called = f"{one['query']} ({one['text']})" if one["text"] else str(one["query"])
    said = f"{called}: {one['difference']:+z.3f} by the labels ({a} {one['a']:.3f}, {b} {one['b']:.3f})"
    # A grade by gold, not a number of gold labels: written as labels are.
    frame = pl.DataFrame(one["documents"], infer_schema_length=None).rename({"gold": "grade"}, strict=False)
    if "title" in frame.columns:
        cut = pl.col("title").str.slice(0, TITLE - 3) + "..."
        frame = frame.with_columns(
            title=pl.when(pl.col("title").str.len_chars() > TITLE).then(cut).otherwise(pl.col("title").fill_null("-"))
        )
    print_result(Result(frame, said), heads={"rank a": a, "rank b": b, "grade": "gold"})


#: Options of `karat compare` that do nothing with --live.
NOT_LIVE = (
    "method",
    "baseline",
    "by",
    "queries",
    "only",
    "documents",
    "moved",
    "fail_if_worse",
    "fail_unless_better",
    "weights",
    "peek",
    "by_query",
    "draws",
    "seed",
)
#: How many of the latest looks are shown.
SHOWN = 8


def live_state(
    labels: str,
    files: Sequence[str],
    names: Sequence[object],
    gold: str | None,
    reading: Reading,
    form: options.Form,
    watch: float | None,
    asked: dict[str, Any],
) -> None:
    """Tell it once, or again and again until it is clear, every `watch` seconds."""
    if len(names) > 1:
        raise BadInput.at("--live", expected="one measure", found=str(len(names)))
    if watch is not None and form.printed != "table":
        options.refuse("watch", why="it is for reading; --json, --tsv and --latex are told once")
    design = _design(labels)
    source = click.get_current_context().get_parameter_source
    if source("queries_are") is ParameterSource.DEFAULT:
        asked |= {"queries": design.queries}
    if asked["margin"] is None:
        asked |= {"margin": design.margin}
    lists = read_several(run_files(labels, files))
    runs = two_of(lists, () if files else design.systems)
    memo: Memo = {}
    while True:
        found = _now(labels, gold, reading, runs, names[0] if names else design.measure, asked, memo)
        tell_as(form, found.to_dict(), _rows(found), lambda found=found: _print(found))  # type: ignore[misc]
        if watch is None or found.state == "stop":
            break
        time.sleep(watch)
        if console().is_terminal:
            click.clear()
    if found.state == "cannot say":
        sys.exit(1)


def _design(labels: str) -> Compared:
    """What study.toml says of the live verdict, where there is one."""
    folder = Path(labels)
    return read_study(folder).live if (folder / "study.toml").is_file() else Compared()


def _now(
    labels: str,
    gold: str | None,
    reading: Reading,
    runs: list[Runs],
    measure: object,
    asked: dict[str, Any],
    memo: Memo,
) -> Live:
    study = reading.study(labels, gold=gold)
    if study.gold is None:
        raise BadInput.at(
            "the live verdict",
            expected="gold labels of documents that karat plan gold drew",
            found="none yet",
            remedy="karat plan gold draws documents, karat import STUDY gold.csv has them asked for in the judging app",
        )
    return live_verdict(study.judged, runs, measure, gold=study.gold, memo=memo, **asked)


def _rows(found: Live) -> Result:
    return Result(found.to_frame(), found.finding, found.notes)


def _print(found: Live) -> None:
    out = console()
    say(out, found.finding)
    looks = found.looks.tail(SHOWN)
    if looks.height:
        left = found.looks.height - looks.height
        more = f" ({left} earlier with --json)" if left else ""
        a, b = found.systems
        print_result(Result(looks, f"The looks so far{more}, {b} - {a}:"))
    for note in found.notes:
        say(out, f"- {note}")


EXAMPLES = """\b
Examples:
  karat compare qrels.txt bm25.run neural.run -m nDCG@10
  karat compare llm.csv bm25.run neural.run --gold gold.csv
  karat compare llm.csv bm25.run neural.run --gold gold.csv --by kind --by length --queries queries.csv
  karat compare qrels.txt bm25.run neural.run -m nDCG@10 -m AP -m RR --moved 3
  karat compare qrels.txt bm25.run neural.run --only kind=head --queries queries.csv
  karat compare qrels.txt live.run new.run --fail-if-worse 0.01
  karat compare qrels.txt *.run --baseline bm25
  karat compare llm.csv a.run b.run c.run d.run -m "DCG@10" --gold gold.csv --json
  karat compare crowd.csv a.run b.run -m P@10 --consensus dawid-skene --gold gold.csv
  karat compare qrels.txt a.run b.run -m P@10 --peek 400
  karat compare my-study --live --watch 30

karat plan gold draws the documents worth a gold label and writes the file for --gold."""


@click.command(epilog=EXAMPLES)
@click.argument("labels")
@click.argument("runs", metavar="RUN_A RUN_B [RUN...]", nargs=-1)
@options.measure(several=True, otherwise="nDCG@10")
@options.gold
@options.calibrate
@click.option(
    "--method",
    default="auto",
    type=click.Choice(["auto", "plain", "inversion", "inversion-independent", "ppi"]),
    help="The method that decides: auto is ppi with gold labels, plain without.",
)
@options.queries_are
@options.always_consensus
@options.baseline
@click.option("--margin", type=float, metavar="X", help="A difference that does not matter: equivalence may be shown.")
@options.by
@options.queries
@options.documents
@only_queries
@click.option("--moved", type=click.IntRange(1), metavar="N", help="Show the N queries that lost and won most.")
@click.option("--fail-if-worse", type=float, metavar="X", help="Exit with 3 if B is shown worse than A by more than X.")
@click.option(
    "--fail-unless-better", type=float, metavar="X", help="Exit with 3 unless B is shown better by more than X."
)
@click.option("--weights", metavar="FILE", help="Weights for udm gains, as karat disagree --out writes them.")
@click.option("--peek", type=int, metavar="N", help="Intervals for looking again and again; N queries are planned.")
@click.option("--live", is_flag=True, help="The verdict while gold labels come in: stop, or how many more it takes.")
@click.option("--watch", type=click.FloatRange(1), metavar="SECONDS", help="With --live: look again every so often.")
@options.by_query
@options.profile
@options.common_queries
@options.allow_unjudged
@options.level
@options.test_draws
@options.seed
@options.corrected
@options.form
def compare(
    labels: str,
    runs: tuple[str, ...],
    measure: tuple[str, ...],
    gold: str | None,
    method: Method,
    queries_are: Literal["sample", "fixed"],
    by: tuple[str, ...],
    queries: str | None,
    documents: str | None,
    only: str | None,
    moved: int | None,
    fail_if_worse: float | None,
    fail_unless_better: float | None,
    weights: str | None,
    live: bool,
    watch: float | None,
    by_query: bool,
    profile: str,
    reading: Reading,
    form: options.Form,
    **asked: Any,
) -> None:
    """Say which system is better, and how sure that is.

    The verdict is about RUN_B against RUN_A; with more runs, about the best against all others, or with --baseline
    against that system, which is the first of two, too. LABELS may be wrong
    sometimes: with --gold, the labels of a trusted judge for a sample of documents, the verdict is corrected:
    for P, CG, DCG and RBP whatever the errors; nDCG, RR and ERR also rest on a model of unlabelled documents.
    LABELS may be a study's folder: then labels, gold labels and runs are the study's, unless they are named. With
    several measures the first decides, and p values allow for all of them.
    With --live the gold labels may still be coming in: the interval then holds at every look, so that one may stop as
    soon as it is clear. What it is about is said by the study's study.toml, [live], unless it is typed.
    Exit code 1: the data cannot say; 3: --fail-if-worse or --fail-unless-better is not met.
    """
    if [labels, *runs, gold].count("-") > 1:
        raise BadInput("standard input (-) can be read once only")
    files, names = measures_among(runs, measure)
    names = list(dict.fromkeys(names))
    if live:
        options.refuse(*NOT_LIVE, why="--live tells how far one difference is")
        kept = {
            name: asked[name]
            for name in ("calibrate", "consensus", "margin", "common_queries", "allow_unjudged", "level")
        }
        live_state(
            labels, files, names, gold, reading, form, watch, kept | {"queries": queries_are, "profile": profile}
        )
        return
    options.refuse("watch", why="it goes with --live")
    lists = read_several(run_files(labels, files))
    check_rule(sum(len(run.systems) for run in lists), fail_if_worse, fail_unless_better)
    if not by and moved is None and (only is None or "=" not in only):
        why = "queries are read for --by, --moved and --only COLUMN=VALUE"
        options.refuse("queries", why=f"{why}; for a verdict on the queries of this file alone: --only {queries}")
    if moved is None:
        options.refuse("documents", why="documents are read for their titles beside --moved")
    wanted = ("queries", "documents") if moved is not None else ("queries",)
    study = reading.study(labels, only=wanted, gold=gold, queries=queries, documents=documents)
    study, of_these = only_of(study, only)
    lists = of_these.all_runs(lists)
    if weights is not None and not any("udm(" in str(name) for name in names):
        options.refuse("weights", why='no measure has gains of users who disagree, as "nDCG(gains=udm(1/3))@10"')
    comparer = Comparer(
        study.judged,
        lists,
        gold=study.gold,
        method=method,
        queries=queries_are,
        profile=profile,
        user_weights=None if weights is None else read_user_weights(weights),
        **asked,
    )
    every = [comparer.by(name) for name in names or ["nDCG@10"]]
    found, more = every[0], Extras()
    if len(every) > 1:
        more = replace(more, measures=by_measure(every))
    if by and found.verdict != "cannot say":
        known = study.queries if study.queries is not None else Queries.of({"query": found.by_query["query"]})
        more = replace(more, groups=tuple(by_group(found, groups_of(known, column), column) for column in by))
    if moved is not None and found.refusal != "unjudged documents":
        how: How = asked["consensus"] if asked["consensus"] in HOWS else "median"
        shown = moved_most(
            found,
            study.judged,
            lists,
            number=moved,
            gold=study.gold,
            queries=study.queries,
            documents=study.documents,
            how=how,
        )
        more = replace(more, moved=shown)
    has_rule = fail_if_worse is not None or fail_unless_better is not None
    ruled = every if has_rule else [found]
    unclear = [one for one in ruled if one.verdict == "cannot say"]
    told = [] if unclear else [said for one in ruled if (said := gate(one, fail_if_worse, fail_unless_better))]
    failed = [said for said in told if said.startswith("failed")]
    undecided = [f"no verdict: by {one.measure}: {one.reason}" for one in unclear] if has_rule else []
    more = replace(more, by_query=tuple(every) if by_query else (), gate=tuple(told or undecided))
    document = found.to_dict() | {"failed": failed[0] if failed else None} | more.to_dict()
    (_, rows), *others = more.tables(found).items()
    show = partial(print_comparison, found, more)
    tell_as(form, document, rows, show, [name for name, _ in others], more.papers(found), more.drawn(found))
    with read_or_not(sys.stderr):
        if unclear:
            tell_notes(
                f"no verdict by {one.measure}, so none by the rule: {one.reason}" for one in unclear if one != found
            )
            if by:
                tell_notes([f"no verdict by {', '.join(by)}: there is none over all queries"])
            if moved is not None and found.refusal == "unjudged documents":
                tell_notes(["no queries that moved: there is no verdict"])
        else:
            tell_notes(failed[:1] or told)
    if unclear or failed:
        sys.exit(1 if unclear else 3)
