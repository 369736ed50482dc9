"""`karat validate curves`: agreement with users along shares of ties, weights of context and sources of labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click
import polars as pl

import karat as kt
from karat.cli import options
from karat.cli.inputs import Reading
from karat.cli.options import named
from karat.cli.results import Tables, print_result
from karat.cli.subcommand import part
from karat.cli.validate import users as of_users
from karat.cli.validate.users import Users
from karat.records import Result
from karat.users.agreement_curves import CONDITIONS, MEASURES, Share

#: The context weights that are shown in the terminal.
SHOWN = (0.0, 0.5, 1.0)


def _ends_and_middle(result: Result, title: str, *, ends: bool = True) -> Result:
    """The kappas at the ends and in the middle of the curves along context, which fit a page; the rest is a figure."""
    if not isinstance(result, kt.users.PreferenceCurves):
        return result
    rows = result.frame.filter(pl.col("curve") == "context")
    about = [*(["source"] if "source" in result.columns else []), "condition", "measure", "preference"]
    at = pl.col("context").is_in(SHOWN) | pl.col("context").is_nan()
    table = rows.filter(at).group_by(about, maintain_order=True).agg(pl.col("ties").mean())
    for weight in (*SHOWN, None):
        name = "kappa" if weight is None else f"kappa {weight:g}"
        mine = rows.filter(pl.col("context").is_nan() if weight is None else pl.col("context") == weight)
        if mine.height:
            figures = {f"{name}{end}": f"kappa{end}" for end in (("", "_low", "_high") if ends else ("",))}
            table = table.join(mine.select(*about, **figures), on=about, how="left", maintain_order="left")
    return replace(result, frame=table, columns=())


def _printed(result: Result, title: str) -> None:
    if isinstance(result, kt.users.PreferenceCurves):
        more = "intervals, Jaccard coefficients, the curves along shares of ties and the other context weights:"
        result = replace(result, notes=(*result.notes, f"{more} with --json"))
    print_result(_ends_and_middle(result, title, ends=False))


@part(
    of_users.scored("PREFERENCES"),
    options.measure(several=True, otherwise=", ".join(MEASURES)),
    of_users.unit,
    of_users.depth,
    of_users.how("mode"),
    click.option(
        "--condition",
        multiple=True,
        metavar="NAME=SHARE",
        show_default="weak=weak, strong=strong, both=both",
        help="A share of ties; weak, strong or users for as theirs; both for what serves both best on other queries.",
    ),
    click.option("--context", default=0.5, help="The context weight along the shares of ties."),
    click.option("--strong-from", type=float, metavar="STRENGTH", help="A strong preference has this strength."),
    options.source(several=True),
    options.predictor,
    options.documents,
    options.resampling,
    options.scored,
    examples="""karat validate curves preferences.csv context.csv a.run b.run -m CG@5,CCG@5
karat validate curves my-study --source judged,backed-off,predicted --plot curves.svg
karat validate curves my-study --condition both=both --condition paper=0.25""",
    show=_printed,
    seen=_ends_and_middle,
)
def curves(
    users: str,
    files: tuple[str, ...],
    measure: tuple[str, ...],
    condition: tuple[str, ...],
    source: tuple[str, ...],
    model: str,
    documents: str | None,
    reading: Reading,
    **asked: Any,
) -> Tables:
    """Agreement of measures with users along shares of ties and weights of context.

    With --source, labels in context that nobody gave are made, source by source, and the sources compared.
    """
    if "predicted" not in source:
        options.refuse("model", "documents", why="nothing is predicted without --source predicted")
    options.refuse_documents(model)
    given = replace(Users.typed(reading, users, files, measure), documents_path=documents)
    conditions = named("--condition", condition, _share, expected="NAME=SHARE, as few=0.1") or CONDITIONS
    found = kt.users.preference_curves(
        *given.compared,
        given.measures or MEASURES,
        conditions=conditions,
        sources=source,
        model=model,
        documents=given.documents if "predicted" in source else None,
        **asked,
    )
    between = found.between_sources
    if not between.height:
        return {"Curves": found}
    shown = ("first", "second", "condition", "measure", "preference", "difference")
    said = "Between sources of labels, the second's kappa less the first's:"
    return {"Curves": found, "Between sources": Result(between, said, columns=shown)}


def _share(text: str) -> Share:
    return None if text == "users" else text if text in CONDITIONS else float(text)
