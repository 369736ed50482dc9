"""`karat compare`: which system is better, given that the labels are wrong sometimes?"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import click

from karat.cli import options
from karat.cli.compare_outputs import Extras, print_comparison
from karat.cli.inputs import Reading, run_files
from karat.cli.live import NOT_LIVE, live_state
from karat.cli.messages import tell_notes
from karat.cli.named_measures import measures_among
from karat.cli.only import only as only_queries
from karat.cli.only import only_of
from karat.cli.results import read_or_not, tell_as
from karat.cli.runs import read_several
from karat.comparison import by_group, by_measure, gate, groups_of
from karat.comparison import moved as moved_most
from karat.comparison.comparer import Comparer, Method
from karat.comparison.gate import check_rule
from karat.errors import BadInput
from karat.formats import read_user_weights
from karat.labels.consensus import HOWS, How
from karat.records import Queries

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
