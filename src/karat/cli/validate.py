"""`karat validate`: do measures agree with users? One part after another, each a function of what was given."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli import options
from karat.cli.inputs import Reading, runs_in
from karat.cli.validate_options import refuse_untaken
from karat.cli.validate_show import document, show
from karat.cli.validate_users import EXAMPLES as USER_EXAMPLES
from karat.cli.validate_users import USER_PARTS, for_terminal, keep_what_is_read, user_options

if TYPE_CHECKING:
    from karat.records import ClickLog, Clicks, Judgments, Preferences, Queries, Result, Runs
    from karat.study import Study

#: What is compared with users when no measure is asked for, down to what they saw.
DEFAULT = ("nDCG", "RR", "P", "ERR")

EXAMPLES = """\b
Examples:
  karat validate preferences.csv --runs a.run b.run --labels qrels.txt -m nDCG@10 P@10
  karat validate preferences.csv --runs runs/*.run --labels diversity.qrels -m alpha_nDCG@10 --split difference
  karat validate preferences.csv --runs runs/*.run --labels diversity.qrels --by subtopic --split zero --split kind
      --queries topics.xml --json
  karat validate preferences.csv --part judges --part ranking
{more}

A preference has query, left, right (systems), choice (left, equal, right, none), and maybe subtopic, strength, judge,
trap and expected (the right answer to a trap).""".replace("{more}", USER_EXAMPLES)


@dataclass(frozen=True, eq=False)
class Given:
    """What was typed; files are read when a part asks for them."""

    preferences_path: str
    run_paths: tuple[str, ...]
    labels_path: str | None
    queries_path: str | None
    database: str | None
    measures: tuple[str, ...]
    by: str | None
    depth: int | None
    how: str
    at_least: float | None
    split: tuple[str, ...]
    ties: str
    profile: str
    reliability: bool
    picture: str | None
    draws: int
    seed: int
    reading: Reading

    @property
    def of_what_was_shown(self) -> list[str]:
        """The measures that were asked for, or some down to what users saw."""
        from karat.validity.asked import shown_depth

        return list(self.measures) or [f"{name}@{shown_depth(self.preferences, self.depth)}" for name in DEFAULT]

    @cached_property
    def preferences(self) -> Preferences:
        """What users answered."""
        from karat.errors import BadInput
        from karat.formats import read_preferences

        if self.study is None:
            return read_preferences(self.preferences_path, time_format=self.reading.time_format)
        if self.study.preferences is None:
            raise BadInput("; ".join(["there are no preferences", *self.study.notes]))
        return self.study.preferences

    @cached_property
    def clicks(self) -> Clicks | ClickLog:
        """What users clicked."""
        from karat.errors import BadInput
        from karat.formats import read_clicks

        if self.study is None:
            return read_clicks(self.preferences_path)
        if self.study.clicks is None:
            raise BadInput("; ".join(["there are no clicks", *self.study.notes]))
        return self.study.clicks

    @cached_property
    def study(self) -> Study | None:
        """The study, where its folder was named in place of preferences."""
        if not Path(self.preferences_path).is_dir():
            return None
        return self.reading.study(
            self.preferences_path,
            database=self.database,
            only=["preferences", "queries", "clicks"],
            queries=self.queries_path,
        )

    @cached_property
    def runs(self) -> list[Runs]:
        """The runs of the systems that users compared."""
        from karat.cli.runs import read_several

        paths = self.run_paths or runs_in(self.preferences_path)
        self._need(paths, "--runs", "the runs of the systems that users compared")
        return read_several(paths)

    @cached_property
    def labels(self) -> Judgments:
        """The labels to score the runs with."""
        if self.study is not None and self.labels_path is None:
            return self.study.judged
        self._need(self.labels_path, "--labels", "labels to score the runs with")
        return self.reading.study(str(self.labels_path)).judged

    @cached_property
    def queries(self) -> Queries | None:
        """The queries with their kinds, where a file tells them."""
        from karat.formats import read_queries

        if self.study is not None:
            return self.study.queries
        return None if self.queries_path is None else read_queries(self.queries_path)

    @staticmethod
    def _need(value: object, option: str, what: str) -> None:
        from karat.errors import BadInput

        if not value:
            raise BadInput.at(option, expected=what, found="nothing")


def _agreement(given: Given) -> list[Result]:
    from karat.validity import agreement

    return [
        agreement(
            given.preferences,
            given.labels,
            given.runs,
            given.of_what_was_shown,
            by=given.by,
            how=given.how,
            at_least=given.at_least,
            split=given.split,
            ties=given.ties,
            queries=given.queries,
            profile=given.profile,
            depth=given.depth,
            draws=given.draws,
            seed=given.seed,
        )
    ]


def _tables(given: Given) -> list[Result]:
    from dataclasses import replace

    from karat.validity import agreement_tables

    found = agreement_tables(
        given.preferences,
        given.labels,
        given.runs,
        how=given.how,
        at_least=given.at_least,
        queries=given.queries,
        draws=given.draws,
        seed=given.seed,
    )
    return [replace(table, finding=f"{name}. {table.finding}") for name, table in found.items()]


def _votes(given: Given) -> list[Result]:
    from karat.validity import preferred, votes

    return [
        votes(given.preferences, at_least=given.at_least),
        preferred(given.preferences, by=given.by or "query", how=given.how, at_least=given.at_least),
    ]


def _judges(given: Given) -> list[Result]:
    from karat.validity import preference_judges

    return [preference_judges(given.preferences)]


def _ranking(given: Given) -> list[Result]:
    from karat.validity import rank_systems

    return [
        rank_systems(
            given.preferences,
            at_least=given.at_least,
            reliability=given.reliability,
            draws=given.draws,
            seed=given.seed,
        )
    ]


def _correlation(given: Given) -> list[Result]:
    from karat.formats.files import write_bytes
    from karat.reports import heat_map
    from karat.validity import matrix, measure_correlation

    measures = given.of_what_was_shown
    found = measure_correlation(given.labels, given.runs, measures, profile=given.profile, seed=given.seed)
    if given.picture is not None:
        subtitle = f"Kendall's tau_b over {found.frame['systems'][0]} systems and {found.frame['queries'][0]} queries"
        write_bytes(
            given.picture, heat_map(matrix(found), title=found.finding.partition(";")[0], subtitle=subtitle).encode()
        )
    return [found]


#: The parts by name; what a part needs that was not given is an error of its own.
PARTS: dict[str, Callable[[Given], list[Result]]] = {
    "agreement": _agreement,
    "tables": _tables,
    "votes": _votes,
    "judges": _judges,
    "ranking": _ranking,
    "correlation": _correlation,
    **USER_PARTS,
}


@click.command(epilog=EXAMPLES)
@click.argument("preferences")
@click.argument("more", metavar="", nargs=-1)
@click.option("--runs", multiple=True, metavar="RUN...", help="The runs of the systems that users compared.")
@click.option("--labels", metavar="FILE", help="Labels to score the runs with.")
@click.option("-m", "--measure", multiple=True, metavar="MEASURE...", help="Measures, with commas or repeated.")
@click.option(
    "--part",
    "parts",
    multiple=True,
    type=click.Choice(list(PARTS)),
    help="What to report: agreement (the default), the paper's tables, votes, the judges, a ranking of systems, the"
    " measures' correlation; curves along ties and context, a measure fitted to users; with their file in the place of"
    " PREFERENCES: clicks, ratings, reasons, coders.",
)
@click.option(
    "--by",
    type=click.Choice(["query", "subtopic"]),
    help="What a pair is of.  [default: a subtopic with its own labels where users were asked about one, else a query]",
)
@click.option(
    "--depth",
    type=click.IntRange(1),
    metavar="N",
    help="How many results of a list users saw.  [default: as in left_docs and right_docs, or 10]",
)
@click.option("--split", multiple=True, metavar="NAME", help="difference, zero, or a column of --queries such as kind.")
@click.option("--queries", metavar="FILE", help="Queries with their kinds and subtopics, for --split.")
@click.option(
    "--ties", default="out", show_default=True, type=click.Choice(["out", "in"]), help="Pairs that a measure ties."
)
@click.option(
    "--how",
    default="votes",
    show_default=True,
    type=click.Choice(["votes", "mode"]),
    help="From judges to a preference.",
)
@click.option("--at-least", type=float, metavar="STRENGTH", help="Weaker preferences count as equal.")
@click.option("--reliability", is_flag=True, help="Let judges differ in reliability, for --part ranking.")
@click.option("--picture", metavar="FILE", help="Write the correlations as an SVG picture.")
@click.option("--profile", default="trec_eval", show_default=True, metavar="TOOL", help="Score as this tool does.")
@user_options
@options.draws
@options.seed
@options.database
@options.labels
@options.as_json
def validate(
    preferences: str,
    more: tuple[str, ...],
    runs: tuple[str, ...],
    labels: str | None,
    measure: tuple[str, ...],
    parts: tuple[str, ...],
    by: str | None,
    depth: int | None,
    split: tuple[str, ...],
    queries: str | None,
    ties: str,
    how: str,
    at_least: float | None,
    reliability: bool,
    picture: str | None,
    profile: str,
    draws: int,
    seed: int,
    database: str | None,
    reading: Reading,
    as_json: bool,
) -> None:
    """Check measures against what users prefer, side by side.

    For every pair of systems that users compared: does the measure prefer the one that users prefer? Judges who failed
    a trap are left out. Tests are by query, and allow for the number of measures.
    """
    from karat.cli.score import measures_among

    asked = parts or ("agreement",)
    refuse_untaken(asked)
    files, names = list(runs), list(measure)
    if more:
        files, names = measures_among((*runs, *more), measure)
    elif measure:
        names = measures_among(("-",), measure)[1]
    given = Given(
        preferences_path=preferences,
        run_paths=tuple(files),
        labels_path=labels,
        queries_path=queries,
        database=database,
        measures=tuple(names),
        by=by,
        depth=depth,
        how=how,
        at_least=at_least,
        split=split,
        ties=ties,
        profile=profile,
        reliability=reliability,
        picture=picture,
        draws=draws,
        seed=seed,
        reading=reading,
    )
    keep_what_is_read([preferences, *files, labels, queries], picture)
    found = [result for part in asked for result in PARTS[part](given)]
    if as_json:
        documents = [document(result) for result in found]
        click.echo(json.dumps(documents[0] if len(documents) == 1 else documents, ensure_ascii=False))
        return
    for place, table in enumerate(table for result in found for table in for_terminal(result)):
        if place:
            click.echo()
        show(table)
