"""`karat validate agreement`, `tables`, `curves`, `fit` and `correlation`: measures against what users prefer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

import karat as kt
from karat.cli import options
from karat.cli.inputs import Reading, measures_among, read_several, run_files
from karat.cli.options import named
from karat.cli.results import Tables, print_result, show_all, tell_as
from karat.cli.subcommand import part
from karat.cli.validate import users as of_users
from karat.cli.validate.users import Users
from karat.records import Result
from karat.users.measure_variants import GRIDS
from karat.users.pair_scores import OF_LISTS, OF_SNIPPETS, OWN

#: What is compared with users when no measure is asked for, down to what they saw.
AGREEMENT = ("nDCG", "RR", "P", "ERR")
CORRELATION = ("nDCG@10", "RR@10", "P@10", "ERR@10")
FIT = ("RBP(p=0.8)",)


def _with_tests(result: Result, title: str) -> None:
    """Print the agreement, that of judges with each other, and what is between measures and between parts."""
    print_result(result)
    assert isinstance(result, kt.users.Agreement)
    first = ("first", "second", "difference", "sign_p", "p_adjusted", "better")
    humans = ("judges", "agree", "equal", "disagree", "ties", "n", "agree_share", "credit")
    second = ("measure", "first", "second", "first_share", "second_share", "welch_p", "p_adjusted")
    tests = (
        Result(result.ceiling, "The human ceiling, one judge against the majority of the others:", columns=humans),
        Result(result.between_measures, "Between measures, on the same pairs:", columns=first),
        Result(result.between_splits, "Between parts:", columns=second),
    )
    for test in tests:
        if test.frame.height:
            click.echo()
            print_result(test)


@part(
    of_users.scored("PREFERENCES"),
    options.measure(several=True, otherwise="nDCG, RR, P and ERR at --depth"),
    of_users.unit,
    of_users.depth,
    click.option(
        "--split",
        multiple=True,
        metavar="NAME",
        help="difference, difference_all, zero, list_length, missing_snippets, snippet_length, or a column of the "
        "preferences or of --queries, such as kind; numbers are split at their mean.",
    ),
    options.queries,
    options.documents,
    click.option("--ties", default="out", type=click.Choice(["out", "in"]), help="Pairs that a measure ties."),
    of_users.how("votes"),
    of_users.min_strength,
    options.profile,
    options.resampling,
    options.scored,
    examples="""karat validate agreement preferences.csv qrels.txt a.run b.run -m nDCG@10,P@10
karat validate my-study
karat validate agreement preferences.csv diversity.qrels runs/*.run -m alpha_nDCG@10 --split difference
karat validate agreement preferences.csv diversity.qrels runs/*.run --unit subtopic --split zero --split kind
    --queries topics.xml --json""",
    show=_with_tests,
)
def agreement(
    users: str,
    files: tuple[str, ...],
    measure: tuple[str, ...],
    queries: str | None,
    documents: str | None,
    split: tuple[str, ...],
    reading: Reading,
    depth: int | None,
    **asked: Any,
) -> Tables:
    """How often a measure prefers the system that users prefer, over all pairs of systems that they compared.

    Tests are by query, and allow for the number of measures.
    """
    if not {*split} - {*OWN, *OF_LISTS, *OF_SNIPPETS}:
        options.refuse("queries", why="no --split names a column of it")
    of_snippets = bool({*split} & {*OF_SNIPPETS})
    if not of_snippets:
        options.refuse("documents", why="no --split is of their snippets")
    given = replace(Users.typed(reading, users, files, measure, queries), documents_path=documents)
    found = kt.users.agreement(
        *given.compared,
        given.measures_or(AGREEMENT, depth),
        queries=given.queries,
        documents=given.documents if of_snippets else None,
        split=split,
        depth=depth,
        **asked,
    )
    return {"Agreement": found}


@click.command(epilog="\b\nExamples:\n  karat validate tables preferences.csv diversity.qrels runs/*.run")
@of_users.scored("PREFERENCES")
@options.queries
@of_users.how("votes")
@of_users.min_strength
@options.resampling
@options.scored
@options.form
def tables(
    users: str, files: tuple[str, ...], queries: str | None, reading: Reading, form: options.Form, **asked: Any
) -> None:
    """The tables of Sanderson et al. (SIGIR 2010), from these preferences; in JSON each under its number.

    With --latex, and in files for people (.tex, .md, .html), all are in the paper's layout.
    """
    given = Users(users, reading, files, queries_path=queries)
    found = kt.users.agreement_tables(*given.compared, queries=given.queries, **asked)
    named = {name: replace(table, finding=f"{name}. {table.finding}") for name, table in found.items()}
    document = {name: table.to_dict() for name, table in found.items()}
    first, *others = named
    printed = {name: kt.users.as_printed(table) for name, table in named.items()}
    tell_as(form, document, named[first], lambda: show_all(named.items(), print_result), others, printed)


def _with_held_out(result: Result, title: str) -> None:
    print_result(result)
    assert isinstance(result, kt.users.FittedMeasure)
    click.echo()
    held = result.held_out.drop("likelihood_gain_low", "likelihood_gain_high")
    print_result(Result(held, "On queries that were not fitted to:"))


@part(
    of_users.scored("PREFERENCES"),
    options.measure(several=True, otherwise="RBP(p=0.8) at --depth"),
    of_users.unit,
    of_users.depth,
    of_users.min_strength,
    click.option(
        "--vary",
        multiple=True,
        required=True,
        metavar="NAME[=X,Y,...]",
        help="Parameters of the measure to choose, maybe from these values.",
    ),
    click.option(
        "--test",
        default="likelihood",
        type=click.Choice(["likelihood", "agreement"]),
        help="The gain that decides, in the votes' likelihood or in how many agree.",
    ),
    options.folds,
    options.resampling,
    options.scored,
    examples="""karat validate fit preferences.csv qrels.txt a.run b.run -m "RBP(p=0.8)" --vary p
karat validate fit preferences.csv qrels.txt runs/*.run -m DCG@10 --vary discount --vary gains""",
    show=_with_held_out,
)
def fit(
    users: str,
    files: tuple[str, ...],
    measure: tuple[str, ...],
    vary: tuple[str, ...],
    depth: int | None,
    reading: Reading,
    **asked: Any,
) -> Tables:
    """A measure's parameters fitted to what users prefer, and what that gains on queries left out."""
    given = Users.typed(reading, users, files, measure)
    grids = named("--vary", vary, _numbers, expected="NAME or NAME=X,Y,..., as p=0.5,0.8", bare=True)
    varied = {name: values or GRIDS.get(name, ()) for name, values in grids.items()}
    return {
        name: kt.users.fit_measure(*given.compared, name, varied, depth=depth, **asked)
        for name in given.measures_or(FIT, depth)
    }


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(value) for value in text.split(",")) if text else ()


@part(
    click.argument("labels"),
    click.argument("runs", metavar="[RUN...]", nargs=-1),
    options.measure(several=True, otherwise=", ".join(CORRELATION)),
    options.profile,
    options.common_queries,
    options.seed,
    options.scored,
    examples="""karat validate correlation qrels.txt runs/*.run -m nDCG@10,P@10,AP
karat validate correlation my-study --plot correlation.svg""",
)
def correlation(
    labels: str,
    runs: tuple[str, ...],
    measure: tuple[str, ...],
    reading: Reading,
    **asked: Any,
) -> Tables:
    """How alike measures rank systems: Kendall's tau_b for every two.

    A ranking that a run does not have counts 0 for every measure, and a note counts such rankings.
    """
    files, names = measures_among(runs, measure)
    lists = read_several(run_files(labels, files))
    found = kt.users.measure_correlation(reading.study(labels).judged, lists, names or list(CORRELATION), **asked)
    return {"Correlation": found}
