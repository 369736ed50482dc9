"""`karat report`: a study on one page, for a search lead with five minutes."""

from __future__ import annotations

from pathlib import Path

import click

from karat.cli import options
from karat.cli.inputs import Reading
from karat.cli.results import console, print_json, say
from karat.cli.terminal import progress
from karat.errors import BadInput
from karat.formats import read_user_weights
from karat.formats.open_files import write_bytes
from karat.records.number_format import uncapitalized
from karat.reports import report as make_report
from karat.reports.report import BESIDE
from karat.study.study import BESIDE as BESIDE_LABELS

EXAMPLES = """\b
Examples:
  karat report my-study -o report.html
  karat report my-study -o report.html --group llm -m P@10 --charts pictures
  karat report my-study -o report.html -o tables.tex
  karat report qrels.txt bm25.run neural.run -o report.html
  karat report llm.csv a.run b.run --gold gold.csv --preferences preferences.csv
  karat report my-study --by kind --by length
  karat report llm.csv a.run b.run --labels crowd.csv --labels pro.csv

A study's folder may hold judgments*, gold.*, runs/, queries.*, subtopics.*, documents.*, preferences.*, clicks.*,
study.toml and, where it is simulated, truth.json. A file that is named stands for the folder's own. What karat serve
collected in the folder's karat.db is used where there are no files of it."""


@click.command(epilog=EXAMPLES, short_help="One page: which system is better, and how far to trust it.")
@click.argument("labels")
@click.argument("runs", metavar="[RUN...]", nargs=-1)
@click.option("-o", "--out", multiple=True, metavar="FILE", help="Where to write what is made.")
@click.option("--charts", metavar="FOLDER", help="Write every chart as SVG and PNG with its numbers as CSV.")
@click.option("--labels", "more_labels", multiple=True, metavar="FILE", help="More labels, a group each; repeatable.")
@options.gold
@options.queries
@options.documents
@options.side_by_side
@options.clicks
@options.group
@options.by
@options.baseline
@options.measure(otherwise="nDCG@10")
@click.option("--also", multiple=True, metavar="MEASURE", help="A measure to score beside it; may be repeated.")
@click.option("--weights", metavar="FILE", help="Weights for udm gains, as karat disagree --out writes them.")
@options.difference(0.02)
@options.n_gold(300)
@click.option("--title", help="The study's title, as judges and readers see it.")
@options.common_queries
@options.allow_unjudged
@options.draws
@options.seed
@options.study
@options.as_json
def report(
    labels: str,
    runs: tuple[str, ...],
    out: tuple[str, ...],
    charts: str | None,
    more_labels: tuple[str, ...],
    gold: str | None,
    queries: str | None,
    documents: str | None,
    preferences: str | None,
    clicks: str | None,
    group: str | None,
    by: tuple[str, ...],
    baseline: str | None,
    measure: str | None,
    also: tuple[str, ...],
    weights: str | None,
    difference: float,
    n_gold: int,
    title: str | None,
    common_queries: bool,
    allow_unjudged: bool,
    draws: int,
    seed: int,
    reading: Reading,
    as_json: bool,
) -> None:
    """One page that says which system is better, and how far the judges and measures can be trusted.

    LABELS are a file or a study's folder, which stands for the runs and all else. The page is one file that needs no
    network, report.html unless --out names another: the verdict first, then scores, judges, what a grade is
    worth, context, users, and what to do next; --out tables.tex has the tables of scores and comparisons for a paper.
    A section that the data does not allow says so in one line. With --group, systems are scored by that group's
    labels, not by the median of all judges.
    """
    if not difference > 0:
        raise BadInput.at("--difference", expected="a number above 0", found=str(difference))
    if weights is not None and not any("udm(" in name for name in (measure or "", *also)):
        options.refuse("weights", why='no measure has gains of users who disagree, as "nDCG(gains=udm(1/3))@10"')
    loaded = reading.study(
        labels,
        only=BESIDE_LABELS,
        more_labels=more_labels,
        runs=runs,
        gold=gold,
        queries=queries,
        documents=documents,
        preferences=preferences,
        clicks=clicks,
        title=title,
    )
    files = [Path(name) for name in out or ["report.html"]]
    for path in files:
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise BadInput.at(
                str(path), expected="a file in a folder that is there", found="no such folder, or a folder"
            )
    found = make_report(
        loaded,
        measure=measure,
        measures=also or BESIDE,
        group=group,
        by=by,
        baseline=baseline,
        difference=difference,
        n_gold=n_gold,
        draws=draws,
        seed=seed,
        user_weights=None if weights is None else read_user_weights(weights),
        common_queries=common_queries,
        allow_unjudged=allow_unjudged,
        progress=lambda names: progress(names, "Reporting"),
    )
    written = []
    for path in files:
        text = found.latex() if path.suffix.lower() == ".tex" else found.html()
        write_bytes(str(path), text.encode())
        written.append(str(path))
    if charts is not None:
        written += [str(path) for path in found.write_charts(charts)]
    if as_json:
        document = {
            "finding": found.verdict,
            "reason": found.reason,
            "warnings": list(found.warnings),
            "sections": {s.name: {"said": list(s.said), "notes": list(s.notes)} for s in found.sections},
            "comparison": found.comparison.to_dict() if found.comparison is not None else None,
            "written": written,
        }
        print_json(document)
        return
    out_to = console()
    say(out_to, repr(found))
    for warning in found.warnings:
        say(out_to, f"Beware: {warning}")
    for section in found.sections:
        if section.missing:
            say(out_to, f"- {section.title.rstrip('?')}: {uncapitalized(section.said[0])}")
    say(out_to, f"Wrote {', '.join(written[:4])}{f' and {len(written) - 4} more files' if len(written) > 4 else ''}")
