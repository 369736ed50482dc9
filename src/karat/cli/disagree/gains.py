"""`karat disagree users` and `gains`: what a random user would say, and what each document is worth, as labels."""

from __future__ import annotations

from typing import Any

import click

from karat import judges as analysis
from karat.cli import options
from karat.cli.disagree import levels
from karat.cli.inputs import Reading
from karat.cli.outputs import keep_inputs, write_csv
from karat.cli.part import part
from karat.cli.results import Tables
from karat.errors import BadInput
from karat.formats import write
from karat.records import Judgments


@part(
    levels.labels,
    levels.top,
    click.option("--given", "seen", metavar="GROUP", help="The group whose label is seen, as llm."),
    options.group,
    levels.all_labels,
    click.option(
        "--weights-out",
        "weights",
        metavar="FILE",
        help="Where to write the weights, for udm(user) gains of karat score.",
    ),
    options.out,
    options.to_format,
    options.resampling,
    options.study,
    examples="""karat disagree users crowd.csv --top 1 --weights-out weights.csv
karat score labels.csv my.run -m "nDCG(gains=udm(user))@10" --weights weights.csv
karat disagree users crowd.csv --top 1 --out weighted.csv
karat disagree users llm.csv people.csv --given llm --group people --top 2""",
)
def users(
    labels: tuple[str, ...],
    top: str | None,
    seen: str | None,
    group: str | None,
    weights: str | None,
    out: str | None,
    to_format: str | None,
    reading: Reading,
    **how: Any,
) -> Tables:
    """What a random user says, who is not the judge: the chance of --top or higher after each label.

    With --given and --group, across groups: what people say when an LLM said this. What --weights-out writes, score,
    compare and report read as gains, nDCG(gains=udm(user))@10, and intervals hold the weights' error; the note has them
    as gains={...}, which every command takes; --out writes each document's weight as its label.
    """
    read = levels.judged(reading, labels, out)
    keep_inputs("--weights-out", weights, labels)
    found = analysis.random_user(read, levels.level_named(top, read), given=seen, group=group, **how)
    if weights is not None:
        write_csv(analysis.one_users_weights(found), weights)
    if out is not None:
        gains = analysis.user_gains(found, read, given=seen)
        write(Judgments.of(gains.frame.select("query", "doc", label="gain")), out, to_format)
    elif to_format is not None:
        options.refuse("to_format", why="nothing is written without --out")
    return {"Random user": found}


@part(
    levels.labels,
    levels.top,
    levels.at_least,
    levels.of_users,
    click.option("--parts", metavar="NAMES", help="Surfaces or aspects to combine, as snippet,page."),
    levels.zero,
    click.option("--soft", is_flag=True, help="By all labels of a document together, with a check on labels held out."),
    options.out,
    options.to_format,
    options.resampling,
    options.study,
    examples="""karat disagree gains crowd.csv --of 3 --out weighted.csv
karat disagree gains fedweb.csv --parts snippet,page --top 3,3 --zero page=0 --out weighted.csv
karat disagree gains crowd.csv --soft --out soft.csv
karat compare weighted.csv a.run b.run -m nDCG@10""",
)
def gains(
    labels: tuple[str, ...],
    top: str | None,
    at_least: int | None,
    of_users: int | None,
    parts: str | None,
    zero: tuple[str, ...],
    soft: bool,
    out: str | None,
    to_format: str | None,
    reading: Reading,
    **chance: Any,
) -> Tables:
    """What each document is worth to users who disagree, written as labels: gains for score, compare, report, validate.

    A label is worth P(at least M of N users say top); with --parts, by what a judge said of snippet and page together;
    with --soft, the document is worth the chance that a random user calls it top, given all its labels.
    """
    read = levels.judged(reading, labels, out)
    if soft and parts is not None:
        raise BadInput("--soft and --parts are two ways to weigh a document: choose one")
    if parts is None:
        options.refuse("zero", why="it is about combined levels, which --parts names")
    if parts is not None:
        weights, column = levels.combined(read, parts, top, at_least, of_users, zero, **chance)
        found = analysis.combined_gains(weights, read, column=column)
    elif soft:
        options.refuse("at_least", "of_users", why="--soft is about one random user")
        found = analysis.soft_relevance(read, levels.level_named(top, read), **chance)
    else:
        options.refuse("level", "draws", "seed", why="nothing is drawn; karat disagree weights has the intervals")
        how = {"at_least": at_least or 1, "of": of_users or max(3, at_least or 1)}
        found = analysis.document_gains(read, levels.level_named(top, read), **how)
    if out is not None:
        write(Judgments.of(found.frame.select("query", "doc", label="gain")), out, to_format)
    elif to_format is not None:
        options.refuse("to_format", why="nothing is written without --out")
    return {"Gains": found} | ({} if found.calibration is None else {"Calibration": found.calibration})
