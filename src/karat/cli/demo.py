"""`karat demo`: which of four search engines over Python's own documentation is best?"""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import click

from karat.cli import options
from karat.cli.results import console, print_json, say
from karat.comparison.query_deltas import moved
from karat.demo import DemoStudy, demo_study, write_demo
from karat.demo.demo_study import MEASURE
from karat.demo.simulated_people import LLM

EXAMPLES = """\b
Examples:
  karat demo
  karat demo my-demo --seed 3
  karat demo --json"""


@click.command(epilog=EXAMPLES, short_help="A whole study to try karat on, made in under a minute.")
@click.argument("folder", default="karat-demo")
@click.option("--report/--no-report", default=True, help="Write the report of the study, too.")
@options.seed
@options.as_json
@click.pass_context
def demo(context: click.Context, folder: str, report: bool, seed: int, as_json: bool) -> None:
    """A whole study, made on this machine in under a minute and written to FOLDER (karat-demo unless named).

    Four small engines search the documentation that came with your Python; what they find was graded by hand. Judges,
    clicks and preferences are simulated from the grades: an LLM-like judge who overrates what one engine shows, a
    crowd with a spammer, professionals. Nothing is fetched from the network.
    """
    if not as_json:
        click.echo("Reading the documentation of this Python and searching it with four engines ...")
    study = demo_study(seed)
    files = write_demo(study, folder)
    if not as_json:
        _print(study)
    if report:
        if not as_json:
            click.echo("Writing the report ...")
        files.append(_report(context, folder, seed))
    if as_json:
        print_json(_document(study, folder, files))
    else:
        _next(folder, files)


def _report(context: click.Context, folder: str, seed: int) -> str:
    """Writes the page beside the study, by the labels that mislead; its own words are on the page."""
    from karat.cli.report import report  # with all that it draws, only where it is wanted

    name = "report.html"
    with redirect_stdout(StringIO()):
        context.invoke(
            report,
            labels=folder,
            runs=(),
            out=(str(Path(folder) / name),),
            group=f"simulated {LLM.name}",
            measure=MEASURE,
            gold=None,  # click would hand on the empty list of files, not what its callback makes of it
            seed=seed,
        )
    return name


def _document(study: DemoStudy, folder: str, files: list[str]) -> dict[str, Any]:
    return {
        "naive": study.naive.to_dict(),
        "corrected": study.corrected.to_dict(),
        "truth": study.truth,
        "found_out": study.found_out,
        "documents": study.indexed,
        "queries": len(study.queries.frame),
        "graded": len(study.hand.frame),
        "simulated": ["judgments", "clicks", "preferences"],
        "seed": study.seed,
        "folder": folder,
        "files": files,
        "notes": list(study.notes),
    }


def _print(study: DemoStudy) -> None:
    out = console()
    gold = len(study.gold.frame)
    say(
        out,
        f"Four engines (bm25, tfidf, title, hybrid) searched {study.indexed:,} pages for {len(study.queries.frame)} "
        f"questions; {len(study.hand.frame)} results were graded by hand. Judges, clicks and preferences are "
        "simulated.",
    )
    out.print()
    say(out, "Is the hybrid better than BM25? By the labels of the simulated LLM, taken as they are:")
    say(out, f"  {study.naive.finding}")
    say(out, f"With {gold} gold labels drawn by karat plan gold for all four engines (those of these two count):")
    say(out, f"  {study.corrected.finding}")
    say(out, f"The truth, by the grades of all {len(study.hand.frame)} results, is {study.truth:+z.3f}.")
    if study.found_out:
        say(
            out,
            "It lies outside the first interval and inside the second: the judge was made to overrate what only the "
            "hybrid shows, and the gold labels found it out.",
        )
    for note in study.notes:
        say(out, f"- {note}")
    out.print()
    say(out, "The same gold labels of single documents correct nDCG@10, too:")
    say(out, f"  {study.by_ndcg.finding}")
    changed = moved(study.by_ndcg, study.judgments[LLM.name], study.two, number=1, queries=study.queries)
    for query in [one for one in changed if one["difference"] < 0]:
        say(out, f'The hybrid lost most on "{query["text"]}", {query["difference"]:+.2f} by the labels.')
    say(out, "Can this judge be trusted?")
    say(out, f"  {study.audit.finding}")
    out.print()


def _next(folder: str, files: list[str]) -> None:
    """What to type next."""
    one, two = f"{folder}/runs/bm25.run", f"{folder}/runs/hybrid.run"
    page = f", its report in {folder}/report.html (open it in a browser)" if "report.html" in files else ""
    click.echo(
        f"""Done: the study is in {folder}{page}. Try next:
  karat compare {folder}/judgments-llm.csv {one} {two} -m P@10 --gold {folder}/gold.csv
  karat compare {folder}/judgments-llm.csv {one} {two} --gold {folder}/gold.csv --moved 3 --fail-if-worse 0.01
  karat score {folder}/hand.csv {folder}/runs/*.run
  karat judges all {folder}/judgments-crowd.csv --gold {folder}/gold.csv
  karat judges bias {folder}/judgments-llm.csv --gold {folder}/gold.csv --runs {one} --runs {two}
  karat report {folder} --group "simulated llm" -o tables.tex
  karat serve {folder}"""
    )
