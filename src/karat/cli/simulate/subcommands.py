"""The kinds of studies of `karat simulate`: judges, users and an LLM whose faults are planted."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import click
import polars as pl

from karat.cli import options
from karat.cli.options import as_one, refuse
from karat.cli.results import console, print_result, say, side_by_side, tell_as
from karat.errors import BadInput
from karat.formats.write import runs_by_system, write_folder
from karat.records import Records, Result
from karat.records.number_format import figure
from karat.records.table import count
from karat.simulate import (
    Faults,
    bronze_scores,
    context_study,
    disagreement_study,
    judging_study,
    llm_study,
    preference_study,
    with_comments,
)
from karat.simulate import two_systems as simulated
from karat.simulate.click_log import position_log, team_draft_log

#: What a study's folder gets, by the names of files.
Files = Mapping[str, Records | pl.DataFrame | str]
#: What was simulated in a sentence, or as a table; the planted truth; and the files.
Made = tuple[str | Result, Mapping[str, Any], Files]


def study(*planted: Callable[[Any], Any], examples: str) -> Callable[[Callable[..., Made]], click.Command]:
    """The command of a kind of study, from the function that makes it and what can be planted in it."""

    def made_of(make: Callable[..., Made]) -> click.Command:
        @wraps(make)
        def told(seed: int, out: str | None, form: options.Form, **asked: Any) -> None:
            said, truth, files = make(seed=seed, **asked)
            truth = {
                name: None if isinstance(value, float) and value != value else value for name, value in truth.items()
            }
            known = json.dumps({"simulated": "All of this study is simulated.", "seed": seed, **truth}, indent=2)
            written = [] if out is None else write_folder(out, {**files, "truth.json": known + "\n"})
            _tell(said, truth, seed, out, written, form)

        asked = as_one(*planted, options.seed, options.out_folder, options.form)(told)
        return click.command(epilog=f"\b\nExamples:\n  {examples}")(asked)

    return made_of


def _tell(
    said: str | Result, truth: Mapping[str, Any], seed: int, out: str | None, written: list[str], form: options.Form
) -> None:
    """What was made: its table, or else the planted truth as one."""
    rows = {"planted": [*truth], "truth": [None if isinstance(x, Mapping) else str(x) for x in truth.values()]}
    table = Result(pl.DataFrame(rows).drop_nulls(), said) if isinstance(said, str) else said
    found = {"finding": said} if isinstance(said, str) else said.to_dict()

    def show() -> None:
        if isinstance(said, Result):
            print_result(said)
            return
        printed = console()
        say(printed, said)
        cells = [
            [name.replace("_", " "), figure(float(value), 3) if isinstance(value, int | float) else str(value or "-")]
            for name, value in truth.items()
            if not isinstance(value, Mapping)
        ]
        for part in side_by_side(["planted", "truth"], cells, printed.width):
            printed.print(part)

    tell_as(form, {**found, "truth": truth, "seed": seed, "files": written}, table, show)
    if form.printed != "json":
        where = "Nothing written: name a folder with --out." if out is None else f"Wrote {', '.join(written)} in {out}."
        click.echo(where, err=form.printed != "table")


def number(name: str, default: float, meaning: str, *words: str, least: int | None = None) -> Callable[[Any], Any]:
    """An option for a number: a whole one, from `least` on, where that is given."""
    kind = None if least is None else click.IntRange(least)
    return click.option(name, *words, default=default, type=kind, help=meaning)


def n_queries(default: int, least: int = 1) -> Callable[[Any], Any]:
    """The option for how many queries there are."""
    return number("--n-queries", default, "How many queries.", "queries", least=least)


#: More noise than this drowns everything.
MOST = 100.0


@study(
    n_queries(20),
    number("--n-docs", 10, "Documents for a query.", "documents", least=1),
    number("--n-searches", 2000, "How many searches.", "pages", least=1),
    number("--shuffle", 2.0, "By how many ranks a document's place varies; 0: never."),
    click.option("--best-first", is_flag=True, help="The usual order is that of attractiveness."),
    number("--unlike", 0.0, "How much users differ in how readily they click."),
    examples="karat simulate clicks --best-first --out shop",
)
def clicks(shuffle: float, unlike: float, **asked: Any) -> Made:
    """A log of results shown and clicked: each rank is looked at with a chance, each document attractive with one."""
    for option, value in (("--shuffle", shuffle), ("--unlike", unlike)):
        if not 0 <= value <= MOST:
            raise BadInput.at(option, expected=f"a number from 0 to {MOST:g}", found=f"{value:g}")
    made = position_log(shuffle=shuffle, unlike=unlike, **asked)
    looked = {f"rank_{place}": float(chance) for place, chance in enumerate(made.examination, start=1)}
    files: Files = {"log.csv": made.log, "attractiveness.csv": made.truth}
    return f"A simulated log: {made.log!r}.", looked, files


@study(
    n_queries(200),
    number("--n-searches", 1000, "How many searches.", "searches", least=1),
    number("--n-users", 300, "How many users.", "users", least=1),
    number("--better", 0.1, "How much less noise A's ranking has than B's, from -0.2 to 0.2."),
    number("--habit", 0.0, "How much users lean to a team, whatever the query."),
    examples="karat simulate interleaving --better 0 --out shop",
)
def interleaving(better: float, habit: float, **asked: Any) -> Made:
    """A log of lists that two systems share by team draft, and its clicks."""
    if not -0.2 <= better <= 0.2:
        raise BadInput.at("--better", expected="a number from -0.2 to 0.2", found=f"{better:g}")
    if not 0 <= habit <= MOST:
        raise BadInput.at("--habit", expected=f"a number from 0 to {MOST:g}", found=f"{habit:g}")
    log = team_draft_log(better=better, habit=habit, **asked)
    return f"A simulated log: {log!r}.", {"better": better, "habit": habit}, {"log.csv": log}


#: What is said of judges who err in these ways.
JUDGES = {"fair": "fair to both", "lenient": "lenient to B", "by document": "wrong more often on some documents"}


@study(
    number("--sensitivity", 0.9, "The chance that judges call relevant what is.", "relevant"),
    number("--specificity", 0.8, "The chance that judges call not relevant what is not.", "nonrelevant"),
    number("--n-relevant", 250, "Relevant gold labels.", least=2),
    number("--n-nonrelevant", 250, "Other gold labels.", least=2),
    n_queries(50, least=2),
    number("--n-studies", 10_000, "How many studies.", "studies", least=1),
    click.option(
        "--precision",
        metavar="P,...",
        show_default="the paper's, 0.49 to 0.31 at ranks 1 to 10",
        help="The true precision at ranks 1, 2, ... k.",
    ),
    examples="karat simulate bronze --plot figure2.svg\n"
    "  karat simulate bronze --sensitivity 0.7 --n-queries 200 --precision 0.9,0.7,0.5",
)
def bronze(relevant: float, nonrelevant: float, precision: str | None, **asked: Any) -> Made:
    """One system whose true P@10 is 0.4, by judges who err: how often do intervals hold the truth?

    Algorithm 2 of Goldberg et al., with its sizes and ranks unless others are named; --plot draws its Figure 2.
    """
    if precision is not None:
        try:
            asked["precision"] = [float(chance) for chance in precision.split(",")]
        except ValueError:
            expected = "the precision at each rank, as 0.9,0.7,0.5"
            raise BadInput.at("--precision", expected=expected, found=f'"{precision}"') from None
    found = bronze_scores(relevant=relevant, nonrelevant=nonrelevant, **asked)
    truth = {"score": found.truth, "relevant": relevant, "nonrelevant": nonrelevant}
    return found.summary(), truth, {"studies.csv": found.frame}


@study(
    n_queries(100, least=2),
    number("--true-difference", 0.0, "The true difference in P@10, B less A.", "difference"),
    click.option(
        "--judge",
        default="fair",
        type=click.Choice([*JUDGES]),
        help="How the judge errs: alike, in favour of B, or more on some documents.",
    ),
    number("--leniency", 0.1, "How much a lenient judge favours B's documents."),
    options.n_gold(300),
    examples="karat simulate two-systems --judge lenient --out study",
)
def two_systems(queries: int, difference: float, judge: Any, n_gold: int, seed: int, leniency: float) -> Made:
    """Two systems with a known difference, seen by a judge who errs, with gold labels of some documents."""
    if judge != "lenient":
        refuse("leniency", why=f"the judge is {JUDGES[judge]}; --judge lenient takes it")
    made = simulated(queries, difference=difference, judge=judge, leniency=leniency, seed=seed)
    size = len(made.truth)
    if n_gold > size:
        raise BadInput.at("--n-gold", expected=f"at most the {size:,} documents there are", found=str(n_gold))
    # On average 40 % of what a system shows is relevant, more of B's own documents and less of A's.
    scores = {"A": 0.4 - difference / 2, "B": 0.4 + difference / 2}
    files = {
        "labels.csv": made.judgments(),
        "gold.csv": made.gold(made.draw_gold(n_gold, seed), n_gold / size),
        **runs_by_system(made.runs()),
    }
    said = f"Two systems, {count(queries, 'query', 'queries')}, {size:,} documents, a judge who is {JUDGES[judge]}."
    return said, {"difference": difference, "measure": "P@10", "scores": scores}, files


@study(
    n_queries(100),
    number("--n-docs", 16, "Documents for a query.", "docs", least=1),
    number("--gold-share", 1.0, "Share of documents with a gold label.", "gold"),
    number("--wikipedia", 0.5, "By how much the crowd overrates Wikipedia pages."),
    number("--squeeze", 0.35, "How far professionals shun the scale's ends."),
    number("--n-spammers", 1, "Judges who do not read.", "spammers", least=0),
    number("--fatigued", 0.0, "Careless answers after 100 judgments, as a share."),
    click.option("--llm", is_flag=True, help="Add an LLM-like judge, a little too kind."),
    examples="karat simulate judging --wikipedia 0.5 --out study",
)
def judging(**asked: Any) -> Made:
    """Gold labels, professionals with habits, a crowd with a bias and spammers, clicks, three runs."""
    made = judging_study(**asked)
    files: Files = {
        # As in a study's folder, gold labels have a file of their own.
        "judgments.csv": made.judgments.frame.filter(pl.col("group") != "gold"),
        "gold.csv": made.gold,
        "queries.csv": made.queries,
        "documents.jsonl": made.documents,
        "clicks.csv": made.clicks,
        **runs_by_system(made.runs),
    }
    return repr(made), made.truth, files


@study(
    n_queries(100),
    number("--n-docs", 10, "Documents for a query.", "docs", least=2),
    number("--redundancy", 1.0, "Grades lost after a near copy."),
    number("--detail", 0.5, "Grades that a detail page gains after an overview."),
    number("--contrast", 0.1, "Grades lost for each grade the page before is better."),
    number("--twice", 0.2, "The share of queries that a second judge repeats."),
    number("--again", 0.0, "The share of queries whose judge is asked alone once more."),
    number("--priming", 0.0, "Grades gained for each grade that the page judged just before is better."),
    examples="karat simulate context --redundancy 1 --out study",
)
def context(**asked: Any) -> Made:
    """Pages judged alone and after another one, aspect by aspect."""
    made = context_study(**asked)
    files: Files = {
        "judgments.csv": made.judgments,
        "queries.csv": made.queries,
        "documents.jsonl": made.documents,
        "pairs.csv": made.pairs,
        "preferences.csv": made.preferences,
        "clicks.csv": made.clicks,
        **runs_by_system(made.runs),
    }
    return repr(made), made.truth, files


@study(
    n_queries(15),
    number("--n-engines", 12, "Engines whose lists are judged.", "engines", least=2),
    number("--n-docs", 10, "Documents for a query.", "docs", least=1),
    number("--crowd-queries", 60, "Queries of the crowd.", least=1),
    number("--labels-each", 8, "Labels of each of the crowd's documents.", "labels", least=2),
    number("--n-spammers", 0, "Judges who do not read.", "spammers", least=0),
    number("--slips", 0.06, "How often an assessor slips to the next level."),
    examples="karat simulate disagreement --n-engines 108 --out study",
)
def disagreement(**asked: Any) -> Made:
    """Engines' lists, snippet and page, judged by two assessors a query, and a crowd with many labels a document."""
    made = disagreement_study(**asked)
    files: Files = {
        "judgments.csv": made.judgments,
        "llm.csv": made.llm,
        "crowd.csv": made.crowd,
        "queries.csv": made.queries,
        **runs_by_system(made.runs),
    }
    return f"{made!r}.", made.truth, files


@study(
    n_queries(60),
    number("--n-docs", 20, "Documents for a query.", "docs", least=2),
    number("--gold-share", 0.25, "Share of documents with a gold label.", "gold"),
    number("--error", 0.6, "How far the LLM misjudges a document, in grades."),
    number("--per-doubling", 0.25, "Grades that it adds with each doubling of a document's length."),
    number("--obeys", 0.2, "The chance that orders in a document raise its grade."),
    number("--flips", 0.25, "The chance that it goes by the side, of two lists."),
    number("--refused", 0.05, "The chance of an answer without a grade."),
    examples="karat simulate llm-judge --obeys 0.9 --out study",
)
def llm_judge(
    queries: int, docs: int, gold: float, error: float, per_doubling: float, obeys: float, flips: float,
    refused: float, seed: int,
) -> Made:  # fmt: skip
    """An LLM's answers to an audit: documents, repeats, canaries and both orders of pairs, with its faults planted."""
    chances = {"--obeys": obeys, "--flips": flips, "--refused": refused}
    for option, chance in chances.items():
        if not 0 <= chance <= 1:
            raise BadInput.at(option, expected="a chance from 0 to 1", found=f"{chance:g}")
    raised = {"claim": obeys / 2, "words": obeys / 4, "orders": obeys}
    faults = Faults(noise=error, per_doubling=per_doubling, raised=raised, flips=flips, refused=refused)
    made = llm_study(queries=queries, documents=docs, gold_share=gold, faults=faults, texts=True, seed=seed)
    files: Files = {
        "judgments.csv": made.labels,
        "gold.csv": made.gold,
        "preferences.csv": made.preferences,
        "queries.csv": made.queries,
        "documents.jsonl": made.documents,
        **runs_by_system(made.runs),
    }
    truth = {"per_doubling": per_doubling, "orders": obeys, "claim": obeys / 2, "words": obeys / 4}
    return f"{made!r}.", truth | {"flips": flips, "refused": refused}, files


@study(
    click.option("--utility", default="nDCG@10", metavar="MEASURE", help="What a list is worth to users."),
    n_queries(50),
    number("--n-systems", 6, "How many systems.", "systems", least=2),
    number("--n-subtopics", 1, "Subtopics of a query, each asked about and labelled apart.", "subtopics", least=1),
    click.option(
        "--relevant-share",
        "relevant",
        default=0.3,
        type=click.FloatRange(0, 1, min_open=True),
        help="The share of a query's documents that are relevant, to each subtopic.",
    ),
    number("--judges-each", 8, "Judges who see each pair.", "judges", least=1),
    number("--noise", 1.0, "Their error, in spreads of the true differences."),
    number("--careless", 0.0, "The share of judges who answer at random."),
    number("--empty-penalty", 0.0, "What a list without anything relevant is worth less than nothing.", "empty"),
    click.option(
        "--comments", default=0.0, type=click.FloatRange(0, 1), help="The share of answers with a reason, in words."
    ),
    examples="""karat simulate preferences --utility "RBP(p=0.8)" --out study
  karat simulate preferences --n-queries 30 --n-subtopics 3 --relevant-share 0.1 --out study""",
)
def preferences(
    utility: str, noise: float, careless: float, empty: float, comments: float, seed: int, **asked: Any
) -> Made:
    """Users who see two systems' lists side by side, and for whom a list is worth the value of a measure."""
    made = preference_study(utility, noise=noise, careless=careless, empty=empty, seed=seed, **asked)
    files = {
        "preferences.csv": with_comments(made.preferences, share=comments, seed=seed) if comments else made.preferences,
        "labels.csv": made.judgments,
        "queries.csv": made.queries,
        **runs_by_system(made.runs),
    }
    truth = {"utility": utility, "noise": noise, "careless": careless, "empty": empty, "comments": comments}
    return f"A simulated study: {made.preferences!r}.", truth, files
