"""Options that several commands share: one name, one meaning, one line of help; docs/options.md lists them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial, wraps
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from karat.cli.inputs import Reading
from karat.cli.output_formats import Form as Form
from karat.cli.output_formats import as_json as as_json
from karat.cli.output_formats import form as form
from karat.cli.output_formats import out as out
from karat.cli.output_formats import undrawn as undrawn
from karat.errors import BadInput, MissingExtra

#: A command, or the function that one is made of.
Command = TypeVar("Command", bound=Callable[..., Any])
#: What an option gives to a name.
Value = TypeVar("Value")


class OneOf(click.Choice[str]):
    """A choice of names that stand elsewhere, as "karat.judges:MODELS": a command's definition loads nothing."""

    def __init__(self, *places: str) -> None:
        self.places, self.case_sensitive = places, True

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]  # click sets it once, this looks it up
        """The names there are now, those in a collection or those that a function returns."""
        try:
            found = [resolve_name(place) for place in self.places]
        except ImportError:
            raise MissingExtra.named("collect", "this command") from None
        return tuple(name for names in found for name in (names() if callable(names) else names))


class FormatName(OneOf):
    """A format's name, taken as it is: reading and writing say which there are, as they do in Python."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name as it is."""
        return value


def named(
    option: str, texts: Sequence[str], value: Callable[[str], Value], *, expected: str, bare: bool = False
) -> dict[str, Value]:
    """The values of an option that is repeated as NAME=VALUE; a `bare` name has the value of an empty text.

    >>> named("--condition", ["few=0.1"], float, expected="NAME=SHARE, as few=0.1")
    {'few': 0.1}
    >>> named("--condition", ["few"], float, expected="NAME=SHARE, as few=0.1")
    Traceback (most recent call last):
    karat.errors.BadInput: --condition: expected NAME=SHARE, as few=0.1, found "few"
    """
    found = {}
    for text in texts:
        name, equals, said = (text, "", "") if bare and "=" not in text else text.rpartition("=")
        try:
            if not name or not (equals or bare):
                raise ValueError(text)
            found[name] = value(said)
        except ValueError:
            raise BadInput.at(option, expected=expected, found=f'"{text}"') from None
    return found


def as_one(*wanted: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Options and arguments as one, in this order."""

    def decorated(command: Any) -> Any:
        for option in reversed(wanted):
            command = option(command)
        return command

    return decorated


def columns(command: Callable[..., Any]) -> Callable[..., Any]:
    """--columns, which holds for every table that the command reads."""

    @wraps(command)
    def with_columns(*, columns: str | None, **typed: Any) -> Any:
        if columns is None:
            return command(**typed)
        from karat.formats.column_mapping import Columns, said_of_all

        with said_of_all(Columns.of_files(columns, files_among(typed))):
            return command(**typed)

    option = click.option(
        "--columns",
        metavar="COLUMN=HEADER,...",
        help="Which column is which, e.g. doc=docno,label=rel or gold.label=grade.",
    )
    made: Callable[..., Any] = option(with_columns)
    return made


def files_among(typed: Mapping[str, Any]) -> dict[str, str]:
    """The files among what was typed, and those in the folders among it, with what each is read for where it is known.

    Labels may be typed without an option in many places, so that only other options tell for sure.
    """
    from karat.formats.column_mapping import ROLES, tables_in

    words = [
        (name, word) for name, given in typed.items() for word in (given if isinstance(given, tuple) else (given,))
    ]
    found = dict[str, str]()
    for name, word in words:
        if not isinstance(word, str) or not word:
            continue
        if word == "-" or Path(word).is_file():
            found.setdefault(word, name if name in ROLES else "")
        elif Path(word).is_dir():
            found |= tables_in(Path(word))
    return found


def reads(*wanted: Callable[[Any], Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Options that say how labels are read, which the command gets as one: `reading`, of type `Reading`."""

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_reading(**typed: Any) -> Any:
            how = {field.name: typed.pop(field.name) for field in fields(Reading) if field.name in typed}
            return command(reading=Reading(**how), **typed)

        made: Callable[..., Any] = as_one(*wanted, columns)(with_reading)
        return made

    return decorated


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


def concurrency(default: int) -> Callable[[Command], Command]:
    """How many calls are on their way."""
    return click.option(
        "--concurrency", default=default, type=click.IntRange(1, 256), help="Calls on their way at one time."
    )


def attempts(default: int) -> Callable[[Command], Command]:
    """How often what fails is tried."""
    return click.option(
        "--attempts", default=default, type=click.IntRange(1, 20), help="How often a call is tried that fails."
    )


def timeout(default: float) -> Callable[[Command], Command]:
    """How long an answer is waited for."""
    return click.option("--timeout", default=default, type=click.FloatRange(0.1), help="Seconds to wait for an answer.")


def _paths(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """Paths by the names of columns; `id` is what others call `doc`."""
    said = [part for text in texts for part in text.split(",")]
    found = named("--columns", said, str, expected="NAME=PATH, as doc=_source.sku,title=_source.name")
    return {"doc" if name == "id" else name: path for name, path in found.items()}


paths = click.option(
    "--columns",
    metavar="NAME=PATH,...",
    multiple=True,
    callback=_paths,
    help="Which column is which, e.g. doc=docno,label=rel or gold.label=grade.",
)
answers = click.option("--answers", metavar="FILE", help="Where answers are kept; else beside what is written.")
