"""Options that several commands share: one name, one meaning, one line of help; docs/options.md lists them all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import click
from click.core import ParameterSource

from karat.cli.forms import Form as Form
from karat.cli.forms import as_json as as_json
from karat.cli.forms import form as form
from karat.cli.forms import out as out
from karat.cli.forms import undrawn as undrawn
from karat.cli.option_values import Command, FormatName, OneOf, as_one
from karat.cli.reading_options import reads
from karat.errors import BadInput


def _only(context: click.Context, option: click.Parameter, files: tuple[str, ...]) -> str | None:
    """The file given, for an option that takes one; a second is refused, where click would forget the first."""
    if len(files) > 1:
        raise BadInput.at(
            option.opts[-1],
            expected="one file",
            found=", ".join(files),
            remedy="for gold labels of two rounds, karat plan gold --gold FIRST writes a file that holds both",
        )
    return files[0] if files else None


def formats_written() -> list[str]:
    """The formats that can be written."""
    from karat.formats import FORMATS

    return [name for name, form in FORMATS.items() if form.writes]


# What stands beside the labels.
gold = click.option(
    "--gold",
    metavar="FILE",
    multiple=True,
    callback=_only,
    help="Labels to trust; of a sample, with the probability of each to be drawn.",
)


def _columns(context: click.Context, option: click.Parameter, names: tuple[str, ...]) -> bool | tuple[str, ...]:
    """No names: calibrated by the labels alone; "none": not calibrated; else by these columns, too."""
    if "none" in names and len(names) > 1:
        raise click.BadParameter("none goes with no column")
    return names != ("none",) if names in ((), ("none",)) else names


calibrate = click.option(
    "--calibrate",
    metavar="COLUMN",
    multiple=True,
    callback=_columns,
    help="none: take labels as they are; a column of numbers of the labels: predict gold by it, too. May be repeated.",
)
documents = click.option(
    "--documents", metavar="FILE", help="Documents with url, site, title or text; karat fetch adds to it."
)
queries = click.option("--queries", metavar="FILE", help="Queries with text, kind or subtopics.")
clicks = click.option("--clicks", metavar="FILE", help="Click counts, or a log with a row per result shown.")
side_by_side = click.option("--preferences", metavar="FILE", help="What users, or an LLM, preferred, side by side.")
runs = click.option("--runs", metavar="FILE", multiple=True, help="Runs of systems; may be repeated.")

# How labels are read.
database = click.option(
    "--database", metavar="URL", help="postgresql://...; by default the file karat.db in the folder."
)
scale = click.option("--scale", metavar="LEVELS", help="The scale of the labels: 0..3, or bad,fair,good.")
gold_scale = click.option(
    "--gold-scale", metavar="LEVELS", help="The scale of the gold labels, where it is not that of the labels: 0..3."
)
drop_bad_labels = click.option(
    "--drop-bad-labels", is_flag=True, help="Drop labels outside the scale, and say how many."
)
time_format = click.option(
    "--time-format", metavar="FORMAT", help="How times are written, if not as ISO 8601: '%m/%d/%Y %H:%M'."
)


from_format = click.option(
    "--from",
    "from_format",
    type=FormatName("karat.formats:FORMATS"),
    help="The file's format, where name and first line do not tell.",
)


labels = reads(scale, drop_bad_labels, time_format)
study = reads(database, scale, drop_bad_labels, time_format, from_format)
aspect = click.option(
    "--aspect",
    metavar="NAME[=WEIGHT],...",
    show_default="overall",
    help="The aspect whose labels count, or several with weights: topicality=0.6,authority=0.4.",
)
#: As `study`, where runs are scored: by whichever aspect.
scored = reads(aspect, database, scale, drop_bad_labels, time_format, from_format)
#: As `scored`, with gold labels, which may be on another scale.
corrected = reads(aspect, database, scale, gold_scale, drop_bad_labels, time_format, from_format)
preferences = reads(database, time_format)

# Where all labels may be kept, there is none unless it is asked for, with or without a name.
_one_label = partial(
    click.option,
    "--consensus",
    type=OneOf("karat.labels.consensus:HOWS", "karat.judges:MODELS"),
    help="How several judges' labels of a document become one.",
)
consensus = _one_label(is_flag=False, flag_value="median")
always_consensus = _one_label(default="median")
to_format = click.option(
    "--to",
    "to_format",
    type=FormatName("karat.cli.options:formats_written"),
    help="The format to write, where the name does not tell.",
)


satisfied_after = click.option(
    "--satisfied-after",
    type=float,
    metavar="SECONDS",
    show_default="every click counts",
    help="Count a click only if the user stayed so long.",
)


# What is computed.
def measure(
    *, several: bool = False, default: str | None = None, otherwise: str | None = None
) -> Callable[[Command], Command]:
    """The measure, or several; `otherwise` says in words what is taken when none is named."""
    return click.option(
        "-m",
        "--measure",
        metavar="MEASURE..." if several else "MEASURE",
        multiple=several,
        default=default,
        show_default=otherwise,
        help="A measure, as nDCG@10; where several fit, with commas or repeated.",
    )


def _each_once(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    names = tuple(name.strip() for text in given for name in text.split(","))
    for name in names:
        if names.count(name) > 1:
            raise BadInput.at(option.opts[-1], expected="each column once", found=f"{name} {names.count(name)} times")
    return names


baseline = click.option("--baseline", metavar="SYSTEM", help="The system that the others are compared with.")
by = click.option(
    "--by",
    metavar="COLUMN...",
    multiple=True,
    callback=_each_once,
    help="Report by a column or feature; several with commas or repeated.",
)


predictor = click.option(
    "--predictor",
    "model",
    default="grades",
    help="What predicts labels in context: grades (the paper's) or features.",
)


def refuse_documents(model: str) -> None:
    """Refuse documents beside the predictor that does not look at them."""
    if model == "grades":
        refuse("documents", why="the predictor grades looks at the two grades alone")


def source(*, several: bool = False, otherwise: str = "labels as they are") -> Callable[[Command], Command]:
    """What may stand in for a judge in context; several are compared."""
    return click.option(
        "--source",
        metavar="SOURCE..." if several else "SOURCE",
        multiple=several,
        default=() if several else "predicted",
        callback=_each_once if several else None,
        show_default=otherwise if several else "predicted",
        help="The best that may stand in for a judge in context: predicted, backed-off, or judged for nothing.",
    )


def depth(default: int | None, *, otherwise: str | None = None) -> Callable[[Command], Command]:
    """How far down lists count."""
    return click.option(
        "--depth",
        type=click.IntRange(1),
        default=default,
        metavar="K",
        show_default=otherwise,
        help="How far down lists count: their first K documents.",
    )


judges_are = click.option(
    "--judges-are",
    type=click.Choice(["sample", "fixed"]),
    default="sample",
    help="Whether the judges stand for all judges like them, or for themselves only.",
)


def n_pairs(default: int | None) -> Callable[[Command], Command]:
    """How many pairs to ask next."""
    return click.option(
        "--n-pairs",
        "n",
        type=click.IntRange(1),
        default=default,
        show_default=True if default else "all",
        help="Pairs to ask next, those that tell most first.",
    )


queries_are = click.option(
    "--queries-are",
    type=click.Choice(["sample", "fixed"]),
    default="sample",
    help="Whether the queries stand for all that users ask, or for themselves only.",
)
folds = click.option(
    "--folds", default=5, type=click.IntRange(2, 50), help="Parts to cut the data into, each tested on in turn."
)
profile = click.option(
    "--profile",
    default="trec_eval",
    metavar="TOOL",
    help="Where tools differ, do as trec_eval, trec_eval9, ndeval or gdeval.",
)
complete = click.option("-c", "--complete", is_flag=True, help="Count judged queries that a run misses as empty lists.")
common_queries = click.option(
    "--common-queries", is_flag=True, help="Compare on the queries that all systems answer; otherwise a miss counts 0."
)
allow_unjudged = click.option(
    "--allow-unjudged", is_flag=True, help="Compare although most of a system's top documents have no label."
)
relevance_level = click.option(
    "-l",
    "--relevance-level",
    type=float,
    metavar="GRADE",
    show_default="1",
    help="The least grade that is relevant, for measures of relevant or not that name none.",
)
by_query = click.option("-q", "--by-query", is_flag=True, help="Show every query's scores.")


def difference(default: float | None = None) -> Callable[[Command], Command]:
    """The difference that a plan is made for; without a default the command asks for one."""
    return click.option(
        "--difference",
        type=float,
        default=default,
        help="The difference in the measure that is worth seeing.",
    )


def n_gold(default: int) -> Callable[[Command], Command]:
    """How many gold labels."""
    return click.option("-n", "--n-gold", default=default, type=click.IntRange(1), help="How many gold labels.")


# How sure it is.
level = click.option("--level", default=0.95, help="The level of the intervals.")


def _enough(context: click.Context, option: click.Parameter, value: int) -> int:
    """Refuse a handful of draws before any work is done: an interval of them would mislead."""
    if value != 0 and value < 100:
        raise BadInput.at("--draws", expected="0 draws, or 100 or more", found=str(value))
    return value


DRAWS = "Random draws, 100 or more; 0 for no intervals where only they are drawn."
draws = click.option("--draws", default=1000, callback=_enough, help=DRAWS)
test_draws = click.option("--draws", default=10_000, type=click.IntRange(100), help=DRAWS)
seed = click.option("--seed", default=0, type=click.IntRange(0), help="The seed of all that is drawn at random.")


resampling = as_one(level, draws, seed)


def kind(choices: click.Choice[str], **more: Any) -> Callable[[Command], Command]:
    """What a file of records holds."""
    return click.option("--kind", type=choices, help="What the file holds.", **more)


group = click.option("--group", metavar="NAME", help="The group of judges whose labels are taken.")


# What is printed and written.
out_folder = click.option("-o", "--out", metavar="FOLDER", help="Where to write what is made.")


def refuse(*names: str, why: str) -> None:
    """Refuse those of these options that were typed, because they would do nothing here.

    `names` are those of the command's parameters; what nobody typed is a default and does no harm.
    """
    context = click.get_current_context()
    for option in context.command.params:
        if option.name in names and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
            raise BadInput(f"{option.opts[-1]} would do nothing: {why}")
