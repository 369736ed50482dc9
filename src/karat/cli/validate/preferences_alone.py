"""`karat validate votes`, `ranking` and `judges`: what preferences say without any labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import karat as kt
from karat.cli import options
from karat.cli.inputs import Reading, read_several, runs_in
from karat.cli.output_formats import keep_inputs
from karat.cli.results import Tables
from karat.cli.subcommand import part
from karat.cli.validate import users as of_users
from karat.cli.validate.users import Users
from karat.formats import read_preferences, write
from karat.formats.content_type import kind_of
from karat.records import Judgments, Result


@part(
    of_users.preferences,
    of_users.unit,
    of_users.how("votes"),
    of_users.min_strength,
    options.preferences,
    examples="karat validate votes preferences.csv --how mode",
)
def votes(users: str, by: str | None, how: str, at_least: float | None, reading: Reading) -> Tables:
    """What users answered, all in all and for each pair of systems."""
    given = Users(users, reading).preferences
    return {
        "Votes": kt.users.votes(given, at_least=at_least),
        "Preferred": kt.users.preferred(given, by=by or "query", how=how, at_least=at_least),
    }


@part(
    of_users.preferences,
    of_users.min_strength,
    options.resampling,
    options.preferences,
    examples="karat validate ranking preferences.csv",
)
def ranking(users: str, reading: Reading, **asked: Any) -> Tables:
    """A ranking of systems by what users prefer: Bradley and Terry's model with Davidson's ties."""
    return {"Ranking": kt.users.rank_systems(Users(users, reading).preferences, **asked)}


@part(
    of_users.scored("PREFERENCES"),
    options.depth(None, otherwise="all"),
    options.out,
    options.resampling,
    options.study,
    examples="""karat validate documents answers.pref
karat validate documents answers.pref qrels.txt a.run b.run --out preferred.qrels
karat score preferred.qrels a.run b.run -m Compat""",
)
def documents(
    users: str, files: tuple[str, ...], depth: int | None, out: str | None, reading: Reading, **asked: Any
) -> Tables:
    """Pairs of documents that users compared: their order, and how often labels and rankings agree with it.

    The sides of PREFERENCES are documents, as in TREC's .pref files. LABELS may be left out. --out writes the order as
    labels, which Compat takes; `karat score answers.pref` makes them itself.
    """
    keep_inputs("--out", out, [users, *files])
    given = read_preferences(users, time_format=reading.time_format)
    found: dict[str, Result] = {"Order": kt.users.preferred_documents(given)}
    if files:
        labelled = Path(files[0]).is_dir() or kind_of(files[0]) != "runs"
        lists = files[1:] if labelled else files
        found = {
            "Agreement": kt.users.document_agreement(
                given,
                reading.study(files[0]).judged if labelled else None,
                read_several([*lists] or runs_in(files[0])) if lists or runs_in(files[0]) else None,
                depth=depth,
                **asked,
            )
        } | found
    else:
        options.refuse("depth", *asked, why="there are no labels or runs to compare")
    if out is not None:
        order = found["Order"].frame
        write(Judgments.check(order.select("query", "doc", label="grade")), out)
    return found


@part(
    of_users.preferences,
    click.option("--block", default=5, type=click.IntRange(1), help="Comparisons a block, trap included."),
    options.resampling,
    options.preferences,
    examples="karat validate judges preferences.csv",
)
def judges(users: str, block: int, level: float, reading: Reading, **chance: Any) -> Tables:
    """A row for each judge of lists side by side: the share of left, pace, traps, and who looks careless.

    With it what the study took: judges rejected, minutes for a block, comments and their words.
    """
    given = Users(users, reading).preferences
    return {
        "Judges": kt.users.preference_judges(given, level=level),
        "Work": kt.users.preference_work(given, block=block, level=level, **chance),
    }
