"""`karat disagree weights`: what is a level worth, when so many of so many users must say top?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from karat.cli import options
from karat.cli.disagree import levels
from karat.cli.inputs import Reading
from karat.cli.outputs import write_csv
from karat.cli.results import print_json, print_result, print_tsv
from karat.errors import BadInput
from karat.judges import disagreement
from karat.judges.disagreement import Disagreement
from karat.records import Result
from karat.records.result import rows_of

EXAMPLES = """\b
Examples:
  karat disagree weights crowd.csv --top 2 --at-least 1 --of 3
  karat disagree my-study
  karat disagree crowd.csv --of 3 --out weights.csv
  karat score labels.csv my.run -m "nDCG(gains=udm(1/3))@10" --weights weights.csv"""

#: The pairs M of N that are shown when none is asked for: the paper's Table 1.
USUAL = [(1, 2), (1, 3), (2, 3), (2, 4), (2, 5)]


@click.command(epilog=EXAMPLES)
@click.argument("labels")
@levels.top
@levels.at_least
@levels.of_users
@levels.min_labels
@levels.max_labels
@levels.all_labels
@click.option("--zero-lowest", is_flag=True, help="Fix the weights of levels up to 0 to 0 in what is written.")
@options.out
@options.resampling
@options.study
@options.form
def weights(
    labels: str,
    top: str | None,
    at_least: int | None,
    of_users: int | None,
    min_labels: int,
    max_labels: int | None,
    all_labels: bool,
    zero_lowest: bool,
    out: str | None,
    chance: dict[str, Any],
    reading: Reading,
    form: options.Form,
) -> None:
    """The probability that another user says the top level, and the weight of each level.

    A weight is P(at least M of N users say top): binomial as in the paper, beta-binomial, and counted. What --out
    writes, karat score --weights reads.
    """
    if zero_lowest and out is None:
        raise BadInput("--zero-lowest is about the weights that --out writes: give --out, or leave it out")
    read = levels.judged(reading, labels, out)
    pairs = _pairs(at_least, of_users)
    model = disagreement(
        read,
        levels.top_of(top, read),
        min_labels=min_labels,
        most_labels=max_labels,
        all_labels=all_labels,
        **chance,
    )
    if out is not None:
        write_csv(model.weights_for(pairs, zero_lowest), out)
    if form == "json":
        print_json(_document(model, pairs))
    elif form == "tsv":
        print_tsv({"Weights": model.table(pairs)})
    else:
        _print(model, pairs)


def _pairs(at_least: int | None, of_users: int | None) -> list[tuple[int, int]]:
    for name, value in (("--at-least", at_least), ("--of", of_users)):
        if value is not None and value < 1:
            raise BadInput.at(name, expected="1 user or more", found=str(value))
    if of_users is None:
        return USUAL if at_least is None else [(at_least, n) for n in range(max(at_least, 2), at_least + 4)]
    return [(at_least, of_users)] if at_least is not None else [(m, of_users) for m in range(1, of_users + 1)]


def _document(model: Disagreement, pairs: list[tuple[int, int]]) -> dict[str, Any]:
    named = {f"{row['level']:g}": row for row in rows_of(model.to_frame())}
    weights = model.table(pairs)
    return {
        "top": model.top,
        "p": {name: {key: row[key] for key in ("value", "low", "high", "n")} for name, row in named.items()},
        "weights": rows_of(weights.frame),
        "beta": {
            name: {"a": None if a != a else a, "b": None if b != b else b}
            for name, (a, b) in zip(named, model.opinions, strict=True)
        },
        "notes": list(weights.notes),
    }


def _print(model: Disagreement, pairs: list[tuple[int, int]]) -> None:
    told = model.to_frame().rename({"value": "p", "low": "p_low", "high": "p_high"})
    weights = model.table(pairs)
    print_result(Result(told, model.finding, scale=weights.scale))
    click.echo()
    print_result(replace(weights, finding="What a level is worth: P(at least M of N users say top)."))
