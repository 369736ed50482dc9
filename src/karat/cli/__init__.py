"""Commands: parse arguments, call the public API, print the result."""

from __future__ import annotations

import gc
import io
import os
import sys

import click

# Before NumPy is loaded: its linear algebra would start a thread for each core, and karat's matrices are small.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from karat import __version__
from karat.cli.lazy_group import LazyGroup
from karat.cli.terminal import visible
from karat.errors import BadInput, KaratError, MissingExtra

#: What people want, and the commands for it with a line of help.
SECTIONS = {
    "Score and compare": {
        "score": "Score runs against labels, with intervals over queries.",
        "compare": "Say which system is better, and how sure that is.",
        "correct": "A score without the judges' errors, from summary figures.",
        "measures": "List the measures, their parameters and what they mean.",
    },
    "Judges": {
        "judges": "Agreement, errors and biases of judges, of any mix of groups.",
        "train": "Train and test rankers on each group's labels.",
    },
    "Users": {
        "disagree": "What a grade is worth to users who disagree.",
        "context": "Relevance by aspect, alone and in context.",
        "validate": "Check measures against what users prefer, side by side.",
        "clicks": "Labels from clicks, freed of the rank they were shown at.",
        "interleave": "Which of two interleaved systems users click more.",
    },
    "Collect": {
        "init": "Start a study: its scale, guidelines, groups and rules.",
        "fetch": "Fetch rankings from live search engines.",
        "ask": "Ask language models for labels, and audit them as judges.",
        "serve": "Serve a study: judges judge in a browser, the lead watches.",
        "leads": "Who may lead a study: list, add or remove.",
        "import": "Bring tasks, judgments or preferences into a study.",
        "export": "Write a study's judgments, preferences or tasks to a file.",
        "copy": "Copy a whole study to another folder or database.",
        "backup": "Write a study, folder and database, into one file.",
        "restore": "Put a study that was backed up into a new folder.",
        "convert": "Convert judgments, runs and other records between formats.",
    },
    "Plan and try": {
        "plan": "What to have judged next, and what it costs.",
        "simulate": "Studies with known truth, to try analyses on.",
        "demo": "A whole study to try karat on, made in under a minute.",
    },
    "Report": {
        "report": "One page: which system is better, and how far to trust it.",
        "help": "A word of the papers: what it means, which command it leads to.",
    },
}

#: The modules of commands that share one.
FILES = {
    "backup": "maintenance",
    "copy": "maintenance",
    "restore": "maintenance",
    "leads": "maintenance",
    "interleave": "clicks",
    "export": "convert",
}

karat = click.version_option(__version__, message="karat %(version)s")(
    LazyGroup(
        "karat.cli",
        SECTIONS,
        name="karat",
        files=FILES,
        help="How much gold is in your relevance labels, and which search engine is better once you know.",
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True},
    )
)


def main() -> None:
    """Run the command line: exit 0 when done, 1 when the data cannot answer, 2 on bad input."""
    # A command lives for seconds and keeps what it loads: the collector would look through it for nothing.
    gc.set_threshold(100_000)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that cannot show a letter shows its number
    out = sys.stdout
    try:
        karat()
    except (BadInput, MissingExtra) as error:
        _fail(error, 2)
    except KaratError as error:
        _fail(error, 1)
    except SystemExit:
        if sys.stdout is not out:
            # The reader has seen enough (karat score ... | head): click silences the output and exits 1.
            sys.exit(0)
        raise
    except OSError as error:
        click.echo(visible(f"karat: {error.strerror or error}"), err=True)
        sys.exit(2)
    except BaseException as error:
        # A panic of Polars is no Exception, though it should be.
        panic = type(error).__name__ == "PanicException"
        if os.environ.get("KARAT_DEBUG") or not (isinstance(error, Exception) or panic):
            raise
        said = f"karat: this is a fault in karat, not in your data ({type(error).__name__}: {error}); "
        click.echo(visible(f"{said}please report it with what KARAT_DEBUG=1 prints"), err=True)
        sys.exit(70)


def _fail(error: KaratError, code: int) -> None:
    click.echo(visible(f"karat: {error}"), err=True)
    sys.exit(code)
