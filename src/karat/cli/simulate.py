"""`karat simulate`: studies whose truth is known."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import click
import polars as pl

from karat.cli import options
from karat.cli.results import print_result
from karat.cli.tables import console, say, side_by_side
from karat.errors import BadInput
from karat.formats.write_folder import runs_by_system, write_folder
from karat.records import Records
from karat.records.number_format import figure
from karat.simulate import bronze_scores, context_study, judging_study, preference_study
from karat.simulate import two_systems as simulated
from karat.simulate.two_systems import JudgeKind

#: What a study's folder gets, by the names of files.
Files = Mapping[str, Records | pl.DataFrame | str]

EXAMPLES = """\b
Examples:
  karat simulate bronze --n-studies 10000
  karat simulate two-systems --judge lenient --out study
  karat simulate judging --wikipedia 0.5 --n-spammers 2 --out study
  karat simulate context --out study
  karat simulate preferences --utility "RBP(p=0.8)" --out study"""


def n_queries(default: int, *, least: int = 1) -> Callable[[options.Command], options.Command]:
    """How many queries a study has."""
    return click.option(
        "--n-queries",
        "queries",
        default=default,
        type=click.IntRange(least),
        help="How many queries.",
    )


@click.group(epilog=EXAMPLES, short_help="Studies with known truth, to try analyses on.")
def simulate() -> None:
    """Studies with planted effects: does an analysis find them, and stay silent where there is nothing?"""


@simulate.command(
    epilog="\b\nExamples:\n  karat simulate bronze\n  karat simulate bronze --sensitivity 0.7 --n-queries 200",
    short_help="One system, judges who err: do intervals hold the truth?",
)
@click.option(
    "--sensitivity",
    "relevant",
    default=0.9,
    help="The chance that judges call relevant what is.",
)
@click.option(
    "--specificity",
    "nonrelevant",
    default=0.8,
    help="The chance that judges call not relevant what is not.",
)
@click.option("--n-relevant", default=250, type=click.IntRange(2), help="Relevant gold labels.")
@click.option("--n-nonrelevant", default=250, type=click.IntRange(2), help="Other gold labels.")
@n_queries(50, least=2)
@click.option("--n-studies", "studies", default=10_000, type=click.IntRange(1), help="How many studies.")
@options.seed
@options.out_folder
@options.as_json
def bronze(
    relevant: float,
    nonrelevant: float,
    n_relevant: int,
    n_nonrelevant: int,
    queries: int,
    studies: int,
    seed: int,
    out: str | None,
    as_json: bool,
) -> None:
    """One system whose true P@10 is 0.4, by judges who err: how often do intervals hold the truth?

    Algorithm 2 of Goldberg et al., with its sizes unless others are named.
    """
    found = bronze_scores(
        relevant=relevant,
        nonrelevant=nonrelevant,
        n_relevant=n_relevant,
        n_nonrelevant=n_nonrelevant,
        queries=queries,
        studies=studies,
        seed=seed,
    )
    summary = found.summary()
    truth = {"score": found.truth, "relevant": relevant, "nonrelevant": nonrelevant}
    files = _written(out, {"studies.csv": found.frame}, truth, seed)
    if as_json:
        click.echo(json.dumps({**summary.to_dict(), "truth": truth, "seed": seed, "files": files}, ensure_ascii=False))
        return
    print_result(summary)
    _tell_files(out, files)


@simulate.command(
    "two-systems",
    epilog="\b\nExamples:\n  karat simulate two-systems --judge lenient --out study",
    short_help="Two systems, a judge who errs, some gold labels.",
)
@n_queries(100, least=2)
@click.option("--true-difference", "difference", default=0.0, help="The true difference in P@10, B less A.")
@click.option(
    "--judge",
    default="fair",
    type=click.Choice(["fair", "lenient", "by document"]),
    help="How the judge errs: alike, in favour of B, or more on some documents.",
)
@click.option("--leniency", default=0.1, help="How much a lenient judge favours B's documents.")
@options.n_gold(300)
@options.seed
@options.out_folder
@options.as_json
def two_systems(
    queries: int,
    difference: float,
    judge: JudgeKind,
    leniency: float,
    n_gold: int,
    seed: int,
    out: str | None,
    as_json: bool,
) -> None:
    """Two systems with a known difference, seen by a judge who errs, with gold labels of some documents."""
    study = simulated(queries, difference=difference, judge=judge, leniency=leniency, seed=seed)
    size = len(study.truth)
    if n_gold > size:
        raise BadInput.at("--n-gold", expected=f"at most the {size:,} documents there are", found=str(n_gold))
    files: Files = {
        "labels.csv": study.judgments(),
        "gold.csv": study.gold(study.draw_gold(n_gold, seed), n_gold / size),
        **runs_by_system(study.runs()),
    }
    said = f"Two systems, {queries:,} queries, {size:,} documents, a judge who is {_kind(judge)}."
    # On average 40 % of what a system shows is relevant, more of B's own documents and less of A's.
    scores = {"A": 0.4 - difference / 2, "B": 0.4 + difference / 2}
    _tell(said, {"difference": difference, "measure": "P@10", "scores": scores}, files, seed, out, as_json)


@simulate.command(
    epilog="\b\nExamples:\n  karat simulate judging --wikipedia 0.5 --out study",
    short_help="Gold labels, professionals, a biased crowd, clicks, runs.",
)
@n_queries(100)
@click.option("--n-docs", "docs", default=16, type=click.IntRange(1), help="Documents for a query.")
@click.option("--gold-share", "gold", default=1.0, help="The share of documents with a gold label.")
@click.option("--wikipedia", default=0.5, help="By how much the crowd overrates Wikipedia pages.")
@click.option("--squeeze", default=0.35, help="How far professionals shun the scale's ends.")
@click.option("--n-spammers", "spammers", default=1, type=click.IntRange(0), help="Judges who do not read.")
@click.option("--fatigued", default=0.0, help="Careless answers after 100 judgments, as a share.")
@click.option("--llm", is_flag=True, help="Add an LLM-like judge, a little too kind.")
@options.seed
@options.out_folder
@options.as_json
def judging(
    queries: int,
    docs: int,
    gold: float,
    wikipedia: float,
    squeeze: float,
    spammers: int,
    fatigued: float,
    llm: bool,
    seed: int,
    out: str | None,
    as_json: bool,
) -> None:
    """Gold labels, professionals with habits, a crowd with a bias and spammers, clicks, three runs."""
    study = judging_study(
        seed,
        queries,
        docs,
        gold=gold,
        wikipedia=wikipedia,
        squeeze=squeeze,
        spammers=spammers,
        fatigued=fatigued,
        llm=llm,
    )
    # As in a study's folder, gold labels have a file of their own.
    judged = study.judgments.frame.filter(pl.col("group") != "gold")
    files: Files = {
        "judgments.csv": judged,
        "gold.csv": study.gold,
        "queries.csv": study.queries,
        "documents.jsonl": study.documents,
        "clicks.csv": study.clicks,
        **runs_by_system(study.runs),
    }
    _tell(repr(study), dict(study.truth), files, seed, out, as_json)


@simulate.command(epilog="\b\nExamples:\n  karat simulate context --redundancy 1 --out study")
@n_queries(100)
@click.option("--n-docs", "docs", default=10, type=click.IntRange(2), help="Documents for a query.")
@click.option("--redundancy", default=1.0, help="Grades lost after a near copy.")
@click.option("--detail", default=0.5, help="Grades that a detail page gains after an overview.")
@click.option("--contrast", default=0.1, help="Grades lost for each grade the page before is better.")
@options.seed
@options.out_folder
@options.as_json
def context(
    queries: int,
    docs: int,
    redundancy: float,
    detail: float,
    contrast: float,
    seed: int,
    out: str | None,
    as_json: bool,
) -> None:
    """Pages judged alone and after another one, aspect by aspect."""
    study = context_study(seed, queries, docs, redundancy=redundancy, detail=detail, contrast=contrast)
    files: Files = {
        "judgments.csv": study.judgments,
        "queries.csv": study.queries,
        "documents.jsonl": study.documents,
        "pairs.csv": study.pairs,
        **runs_by_system(study.runs),
    }
    _tell(repr(study), dict(study.truth), files, seed, out, as_json)


@simulate.command(
    epilog='\b\nExamples:\n  karat simulate preferences --utility "RBP(p=0.8)" --out study',
    short_help="Users who choose between two lists side by side.",
)
@click.option("--utility", default="nDCG@10", metavar="MEASURE", help="What a list is worth to users.")
@n_queries(50)
@click.option("--n-systems", "systems", default=6, type=click.IntRange(2), help="How many systems.")
@click.option("--judges-each", "judges", default=8, type=click.IntRange(1), help="Judges who see each pair.")
@click.option("--noise", default=1.0, help="Their error, in spreads of the true differences.")
@click.option("--careless", default=0.0, help="The share of judges who answer at random.")
@options.seed
@options.out_folder
@options.as_json
def preferences(
    utility: str,
    queries: int,
    systems: int,
    judges: int,
    noise: float,
    careless: float,
    seed: int,
    out: str | None,
    as_json: bool,
) -> None:
    """Users who see two systems' lists side by side, and for whom a list is worth the value of a measure."""
    study = preference_study(
        utility, queries=queries, systems=systems, judges=judges, noise=noise, careless=careless, seed=seed
    )
    files: Files = {
        "preferences.csv": study.preferences,
        "labels.csv": study.judgments,
        "queries.csv": study.queries,
        **runs_by_system(study.runs),
    }
    truth = {"utility": utility, "noise": noise, "careless": careless}
    _tell(f"A simulated study: {study.preferences!r}.", truth, files, seed, out, as_json)


def _kind(judge: str) -> str:
    return {"fair": "fair to both", "lenient": "lenient to B", "by document": "wrong more often on some documents"}[
        judge
    ]


def _written(out: str | None, files: Files, truth: Mapping[str, Any], seed: int) -> list[str]:

    if out is None:
        return []
    known = json.dumps({"simulated": "All of this study is simulated.", "seed": seed, **_plain(truth)}, indent=2)
    return write_folder(out, {**files, "truth.json": known + "\n"})


def _plain(truth: Mapping[str, Any]) -> dict[str, Any]:
    """The truth without figures that are undefined, for which JSON has no word but null."""
    return {name: None if isinstance(value, float) and value != value else value for name, value in truth.items()}


def _tell(said: str, truth: Mapping[str, Any], files: Files, seed: int, out: str | None, as_json: bool) -> None:

    written = _written(out, files, truth, seed)
    if as_json:
        told = {"finding": said, "truth": _plain(truth), "seed": seed, "files": written}
        click.echo(json.dumps(told, ensure_ascii=False))
        return
    printed = console()
    say(printed, said)
    rows = [
        [name.replace("_", " "), figure(float(value), 3) if isinstance(value, int | float) else str(value)]
        for name, value in truth.items()
        if not isinstance(value, Mapping)
    ]
    for table in side_by_side(["planted", "truth"], rows, printed.width):
        printed.print(table)
    _tell_files(out, written)


def _tell_files(out: str | None, files: list[str]) -> None:
    click.echo("Nothing written: name a folder with --out." if out is None else f"Wrote {', '.join(files)} in {out}.")
