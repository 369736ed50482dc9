"""`karat judges`: can I trust these judges, and where do they go wrong?"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from karat.cli import options
from karat.cli.disagree import with_kinds
from karat.cli.inputs import Reading, runs_in
from karat.errors import BadInput, KaratError

if TYPE_CHECKING:
    from karat.judges.population import Judges as Population
    from karat.labels import Panel
    from karat.records import ClickLog, Clicks, Documents, Judgments, Queries, Result, Scale

EXAMPLES = """\b
Examples:
  karat judges crowd.csv
  karat judges my-study
  karat judges agreement llm-judges/*.txt --gold gold.qrels
  karat judges bias crowd.csv --gold gold.csv --documents docs.jsonl --queries queries.csv
  karat judges bias llm.csv --gold gold.csv --run bm25.run --run neural.run
  karat judges distribution crowd.csv pro.csv --by wikipedia --documents docs.jsonl --json
  karat judges clicks crowd.csv --clicks clicks.csv --by wikipedia --documents docs.jsonl

JUDGMENTS may be a study's folder. A file without a column group is a group of its own, named by the file."""


@dataclass(frozen=True)
class Study:
    """What the parts of the report look at."""

    judgments: Judgments
    gold: Judgments | None
    clicks: Clicks | ClickLog | None
    by: tuple[str, ...]
    judges: Population
    draws: int
    seed: int

    @cached_property
    def panel(self) -> Panel:
        """All labels that count, gold among them."""
        from karat.labels import Panel

        return Panel.of(self.judgments, self.gold, apart=self.by)


@click.command(epilog=EXAMPLES)
@click.argument("judgments", metavar="[PART] JUDGMENTS...", nargs=-1, required=True)
@options.one_file("--gold", "Labels to trust, of the same documents or some of them.")
@click.option("--clicks", metavar="FILE", help="Click counts, or a log with a row per result shown.")
@click.option("--documents", metavar="FILE", help="Documents with url, title, text: for the features.")
@click.option("--queries", metavar="FILE", help="Queries with text and kind: for the features.")
@click.option("--run", "runs", metavar="FILE", multiple=True, help="A system's run, for the features; may be repeated.")
@click.option("--by", metavar="COLUMN", multiple=True, help="Report by a column or feature; may be repeated.")
@click.option(
    "--judges",
    "population",
    type=click.Choice(["sample", "fixed"]),
    default="sample",
    show_default=True,
    help="Whether intervals are for judges like these, or for these judges.",
)
@options.draws
@options.seed
@options.database
@options.labels
@options.as_json
def judges(
    judgments: tuple[str, ...],
    gold: str | None,
    clicks: str | None,
    documents: str | None,
    queries: str | None,
    runs: tuple[str, ...],
    by: tuple[str, ...],
    population: Population,
    draws: int,
    seed: int,
    database: str | None,
    reading: Reading,
    as_json: bool,
) -> None:
    """Agreement, errors and biases of judges, of any mix of groups.

    PART is agreement, error, gold, clicks, bias or distribution; without it, all that the data allows is reported.
    Features of query and document (see --by and bias): wikipedia, query_in_url, root_url, url_depth, domain,
    query_length, navigational, document_length, rank_shown, shown_by; any column of JUDGMENTS serves too.
    """
    named = len(judgments) > 1 and judgments[0] in PARTS and not Path(judgments[0]).exists()
    files = judgments[1:] if named else judgments
    if named:
        _refuse_idle(judgments[0])
    by = tuple(dict.fromkeys(by))
    beside = ("clicks", "documents", "queries")
    given = reading.study(
        files, database=database, only=beside, gold=gold, clicks=clicks, documents=documents, queries=queries
    )
    if not len(given.judged):
        raise BadInput.at(", ".join(files), expected="judgments", found="none")
    runs = runs or tuple(runs_in(files[0]))
    study = Study(
        _with_features(given.judged, given.documents, given.queries, runs, by),
        given.gold,
        given.clicks,
        by,
        population,
        draws,
        seed,
    )
    if named:
        _show(PARTS[judgments[0]](study), study.judgments.scale, as_json)
        return
    report: dict[str, dict[str, Result]] = {}
    left_out = []
    for name, part in PARTS.items():
        try:
            report[name] = part(study)
        except KaratError as error:
            left_out.append(f"{name}: {error}")
    if not report:
        raise BadInput("; ".join(left_out))
    if as_json:
        document: dict[str, Any] = {
            name: {key: r.to_dict() for key, r in part.items()} for name, part in report.items()
        }
        click.echo(json.dumps({**document, "left_out": left_out}, ensure_ascii=False, default=str))
        return
    for place, part_found in enumerate(report.values()):
        if place:
            click.echo()
        _show(part_found, study.judgments.scale, as_json=False)
    from karat.cli.tables import console, say

    for reason in left_out:
        say(console(), f"- left out: {reason}")


def _refuse_idle(part: str) -> None:
    """Options that were given and do nothing for this part of the report are refused."""
    context = click.get_current_context()
    given = [name for name in IDLE[part] if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if given:
        names = ", ".join("--" + OPTIONS.get(name, name) for name in given)
        raise BadInput.at(f"karat judges {part}", expected="options that it uses", found=names, remedy="leave it out")


def _show(found: dict[str, Result], scale: Scale | None, as_json: bool) -> None:
    from karat.cli.results import print_result

    if as_json:
        first, *rest = found.items()
        document = first[1].to_dict() | {key: result.to_dict() for key, result in rest}
        click.echo(json.dumps(document, ensure_ascii=False, default=str))
        return
    for place, (title, result) in enumerate(found.items()):
        if place:
            click.echo()
        kind, _, by = title.partition(" by ")
        columns = SHOWN.get(kind)
        if columns is not None:  # what a column means that only --json has is no help here
            result = replace(result, notes=tuple(note for note in result.notes if note.partition(" ")[0] not in HIDDEN))
        if "found" in result.frame.columns:  # what was looked at and is no finding of its own is in --json
            result = replace(result, frame=result.frame.filter(result.frame["found"]))
        print_result(replace(result, scale=scale), columns and [columns[0], *([by] if by else []), *columns[1:]], title)


def _with_features(
    judgments: Judgments, documents: Documents | None, queries: Queries | None, runs: Sequence[str], by: Sequence[str]
) -> Judgments:
    """The judgments with the features that documents, queries and runs allow; those asked for must be among them."""
    from karat.cli.runs import read_several
    from karat.judges import FEATURES, add_features
    from karat.records.runs import together

    judgments = with_kinds(judgments, queries)
    wanted = [name for name in by if name in FEATURES and not judgments.has(name)] or None
    if wanted is not None or documents is not None or queries is not None or runs:
        judgments = add_features(
            judgments,
            wanted,
            queries=queries,
            documents=documents,
            runs=together(read_several(runs)) if runs else None,
        )
    for name in by:
        judgments.need(name, "--by")
    return judgments


def _each(name: str, study: Study, made: Callable[[str | None], Result]) -> dict[str, Result]:
    """A result for each column to report by, or one over all."""
    return {f"{name} by {by}": made(by) for by in study.by} or {name: made(None)}


def _agreement(study: Study) -> dict[str, Result]:
    from karat.judges import agreement, agreement_tests

    labels, gold, judges = study.judgments, study.gold, study.judges
    found = _each(
        "Agreement",
        study,
        lambda by: agreement(labels, gold, by=by, judges=judges, draws=study.draws, seed=study.seed),
    )
    with suppress(KaratError):  # one group alone has nothing to differ from
        found |= _each("Differences", study, lambda by: agreement_tests(labels, gold, by=by, judges=judges))
    return {name: result for name, result in found.items() if result.frame.height or name.startswith("Agreement")}


def _error(study: Study) -> dict[str, Result]:
    from karat.judges import dawid_skene, judge_table

    model = dawid_skene(study.judgments, gold=study.gold)
    return {"Judges": judge_table(study.judgments, gold=study.gold, model=model)}


def _gold(study: Study) -> dict[str, Result]:
    from karat.judges import against_gold, error_distribution, gold_regression

    by, judges = study.by, study.judges
    found = {
        "Against gold": against_gold(study.panel, by=by, judges=judges),
        "Error distribution": error_distribution(study.panel, by=by, judges=judges),
    }
    # Features that split the documents in two, as the paper's; a domain or a length would fill the page.
    features = [name for name in SPLITS if study.judgments.has(name)]
    if features:
        found["Regression of the error"] = gold_regression(study.panel, features, "error", judges=judges)
    return found


def _clicks(study: Study) -> dict[str, Result]:
    from karat.judges import against_clicks, most_clicked

    clicks, draws, seed = study.clicks, study.draws, study.seed
    if clicks is None:
        raise BadInput("clicks are needed: give them with --clicks")
    found = _each(
        "Against clicks",
        study,
        lambda by: against_clicks(study.panel, clicks, by=by, pairs="both", draws=draws, seed=seed),
    )
    return found | {"Most clicked": most_clicked(study.panel, clicks, draws=draws, seed=seed)}


def _distribution(study: Study) -> dict[str, Result]:
    from karat.judges import distribution, distribution_tests

    for name in study.by:
        values = study.panel.feature(name)
        if not values.dtype.is_numeric() and values.n_unique() > MOST_VALUES:
            expected = f"a column of up to {MOST_VALUES} values"
            raise BadInput.at(f"--by {name}", expected=expected, found=f"{values.n_unique():,}")
    return {
        "Label distribution": distribution(study.panel, study.by, judges=study.judges),
        "Tests": distribution_tests(study.panel, study.by, judges=study.judges),
    }


def _bias(study: Study) -> dict[str, Result]:
    from karat.judges import find_bias
    from karat.records import Judgments

    if not any(study.judgments.has(name) for name in {*study.judgments.frame.columns} - {*Judgments.schema.names}):
        raise BadInput("features of query and document are needed: give --documents, --queries or --run")
    return {"Bias": find_bias(study.judgments, gold=study.gold, judges=study.judges)}


#: A text column with more values than this splits labels too finely.
MOST_VALUES = 50
#: Features of yes or no, which the regression of the errors is on.
SPLITS = ("wikipedia", "query_in_url", "root_url", "navigational")

#: Columns that notes explain and no table here has.
HIDDEN = ("jaccard",)
#: What of a wide table is printed; --json has the rest.
SHOWN = {
    "Agreement": [
        "group",
        "against",
        "labels",
        "value",
        "n_queries",
        "n_pairs",
        "raw",
        "cohen",
        "fleiss",
        "alpha_ordinal",
    ],
    "Judges": ["group", "judge", "n", "agreement", "accuracy", "leniency", "seconds", "drift_p", "likely_spammer"],
    "Against gold": ["group", "feature", "value", "n", "error", "under", "correct", "over"],
    "Regression of the error": ["group", "term", "coefficient", "p", "n", "n_queries"],
    "Error distribution": ["group", "feature", "value", "error", "n", "share"],
    "Label distribution": ["group", "feature", "value", "grade", "n", "share"],
    "Tests": [
        "group",
        "first",
        "second",
        "feature",
        "value",
        "mean_first",
        "mean_second",
        "difference",
        "p_holm",
        "p_ordinal_holm",
    ],
    "Bias": ["group", "against", "kind", "slice", "effect", "inside", "outside", "n_pairs", "p_bh"],
    "Against clicks": ["group", "pairs", "value", "correct", "incorrect", "insensitive", "n_pairs"],
}

#: The parts of the report, in the order in which they are told.
PARTS: dict[str, Callable[[Study], dict[str, Result]]] = {
    "agreement": _agreement,
    "error": _error,
    "gold": _gold,
    "clicks": _clicks,
    "distribution": _distribution,
    "bias": _bias,
}
#: What each part has no use for, by the names of the parameters; features serve a part that reports by them.
IDLE = {
    "agreement": ("clicks",),
    "error": ("clicks", "by", "population", "documents", "queries", "runs", "draws", "seed"),
    "gold": ("clicks", "draws", "seed"),
    "clicks": ("population",),
    "distribution": ("clicks", "draws", "seed"),
    "bias": ("clicks", "by", "draws", "seed"),
}
OPTIONS = {"population": "judges", "runs": "run"}
