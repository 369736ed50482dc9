"""More parts of `karat validate`: curves, fitted measures, clicks, ratings of whole searches, reasons."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from karat.cli.outputs import keep_inputs
from karat.cli.validate_options import typed

if TYPE_CHECKING:
    from karat.cli.validate import Given
    from karat.records import Result

EXAMPLES = """\
  karat validate preferences.csv --part curves --runs a.run b.run --labels context.csv -m CG@5 CCG@5
  karat validate preferences.csv --part fit --runs a.run b.run --labels qrels.txt -m "RBP(p=0.8)" --vary p
  karat validate clicks.csv --part clicks --runs a.run --labels qrels.txt -m DCG@5
  karat validate ratings.csv --part ratings --lists lists.csv --labels labels.csv -m nDCG@10 --rating satisfaction
  karat validate preferences.csv --part reasons --coded coded.csv
  karat validate coded.csv --part coders"""

#: Where the values of these options wait for the part that wants them.
KEPT = "karat.validate.users"


def _keep(context: click.Context, option: click.Parameter, value: Any) -> Any:
    context.meta.setdefault(KEPT, {})[option.name] = value
    return value


def _option(*names: str, **about: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(*names, expose_value=False, callback=_keep, **about)


OPTIONS = (
    _option(
        "--vary", multiple=True, metavar="NAME[=X,Y,...]", help="fit: parameters to choose, maybe from these values."
    ),
    _option(
        "--test",
        default="likelihood",
        show_default=True,
        type=click.Choice(["likelihood", "agreement"]),
        help="fit: the gain that decides, in the votes' likelihood or in how many agree.",
    ),
    _option(
        "--folds", default=5, show_default=True, type=click.IntRange(2, 50), help="fit, reasons: parts to leave out."
    ),
    _option(
        "--condition", multiple=True, metavar="NAME=SHARE", help="curves: a share of ties, or `users` for as theirs."
    ),
    _option("--context", default=0.5, show_default=True, help="curves: the context weight along the shares of ties."),
    _option("--strong-from", type=float, metavar="STRENGTH", help="curves: a strong preference has this strength."),
    _option("--cutoff", default=5, show_default=True, type=click.IntRange(1), help="clicks: documents of a list."),
    _option("--lists", metavar="FILE", help="ratings: the lists of each session (session, step, doc, rank)."),
    _option("--rating", default="rating", show_default=True, metavar="COLUMN", help="ratings: which rating."),
    _option(
        "--aggregate", multiple=True, metavar="NAME", help="ratings: mean, last, max, first, min, sum, discounted."
    ),
    _option("--resample", metavar="COLUMN", help="ratings: resample these instead of sessions, such as user."),
    _option("--coded", metavar="FILE", help="reasons: comments coded by hand, to learn from."),
    _option("--out", "suggested", metavar="FILE", help="reasons: write the suggested classes of each comment."),
)


def user_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of these parts to the command."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def _kept(name: str) -> Any:
    return click.get_current_context().meta.get(KEPT, {}).get(name)


def keep_what_is_read(inputs: list[str | None], picture: str | None) -> None:
    """Refuse to write --picture or --out over a file that is read, or both to one file."""
    read = [*inputs, _kept("lists"), _kept("coded")]
    keep_inputs("--picture", picture, read)
    keep_inputs("--out", _kept("suggested"), [*read, picture])


def _curves(given: Given) -> list[Result]:
    from karat.validity import preference_curves
    from karat.validity.curves import CONDITIONS

    return [
        preference_curves(
            given.preferences,
            given.labels,
            given.runs,
            given.measures or ("CG@5", "DCG@5", "ERR@5", "CCG@5"),
            conditions=_conditions(_kept("condition")) or CONDITIONS,
            context=_kept("context"),
            strong_from=_kept("strong_from"),
            by=given.by,
            how=given.how if typed("how") else "mode",
            depth=given.depth,
            draws=given.draws,
            seed=given.seed,
        )
    ]


def _conditions(texts: tuple[str, ...]) -> dict[str, float | None]:
    from karat.errors import BadInput

    found: dict[str, float | None] = {}
    for text in texts:
        name, _, share = text.partition("=")
        try:
            found[name] = None if share == "users" else float(share)
        except ValueError:
            raise BadInput.at("--condition", expected="NAME=SHARE, as few=0.1", found=f'"{text}"') from None
    return found


def _fit(given: Given) -> list[Result]:
    from karat.errors import BadInput
    from karat.validity import fit_measure
    from karat.validity.asked import shown_depth

    measures = given.measures or (f"RBP(p=0.8)@{shown_depth(given.preferences, given.depth)}",)
    if not _kept("vary"):
        raise BadInput.at("--vary", expected="parameters of the measure, such as p or discount", found="nothing")
    found: list[Result] = []
    for measure in measures:
        fitted = fit_measure(
            given.preferences,
            given.labels,
            given.runs,
            measure,
            _values(_kept("vary")),
            test=_kept("test"),
            folds=_kept("folds"),
            by=given.by,
            at_least=given.at_least,
            depth=given.depth,
            draws=given.draws,
            seed=given.seed,
        )
        found.append(fitted)
    return found


def _values(texts: tuple[str, ...]) -> dict[str, tuple[float, ...]]:
    from karat.errors import BadInput
    from karat.validity.variants import GRIDS

    found = {}
    for text in texts:
        name, _, values = text.partition("=")
        try:
            found[name] = tuple(float(value) for value in values.split(",")) if values else GRIDS.get(name, ())
        except ValueError:
            raise BadInput.at("--vary", expected="NAME or NAME=X,Y,..., as p=0.5,0.8", found=f'"{text}"') from None
    return found


def _clicks(given: Given) -> list[Result]:
    from karat.validity import against_click_rates

    return [
        against_click_rates(
            given.clicks,
            given.labels,
            given.runs,
            given.measures or ("CG@5", "DCG@5", "ERR@5", "CCG@5"),
            cutoff=_kept("cutoff"),
            draws=given.draws,
            seed=given.seed,
        )
    ]


def _ratings(given: Given) -> list[Result]:
    from karat.errors import BadInput
    from karat.formats import read_ratings, read_session_lists
    from karat.validity import against_ratings

    if not _kept("lists"):
        raise BadInput.at("--lists", expected="the lists that users saw in each session", found="nothing")
    return [
        against_ratings(
            read_ratings(given.preferences_path),
            given.labels,
            read_session_lists(_kept("lists")),
            given.measures or ("nDCG@10", "P@10", "ERR@10", "RBP"),
            rating=_kept("rating"),
            aggregates=_kept("aggregate") or ("mean", "last", "max"),
            by=_kept("resample"),
            draws=given.draws,
            seed=given.seed,
        )
    ]


def _reasons(given: Given) -> list[Result]:
    from karat.formats import read_comments
    from karat.formats.csv import write_csv
    from karat.formats.files import write_bytes
    from karat.validity import learn_reasons, reason_table, reasons_by_rules
    from karat.validity.reason_classes import NAMES

    comments = read_comments(given.preferences_path)
    coded = _kept("coded")
    found: list[Result] = []
    if coded is None:
        found.append(reason_table(comments))
        suggested = reasons_by_rules(comments)
    else:
        model = learn_reasons(read_comments(coded), folds=_kept("folds"), draws=given.draws, seed=given.seed)
        suggested = model.suggest(comments)
        found += [model, reason_table(comments.drop("codes", strict=False), suggested.select(NAMES).to_numpy())]
    if _kept("suggested"):
        write_bytes(_kept("suggested"), write_csv(suggested))
    return found


def _coders(given: Given) -> list[Result]:
    from karat.formats import read_comments
    from karat.validity import coder_agreement

    return [coder_agreement(read_comments(given.preferences_path), draws=given.draws, seed=given.seed)]


#: The parts by name.
USER_PARTS: dict[str, Callable[[Given], list[Result]]] = {
    "curves": _curves,
    "fit": _fit,
    "clicks": _clicks,
    "ratings": _ratings,
    "reasons": _reasons,
    "coders": _coders,
}


def for_terminal(result: Result) -> list[Result]:
    """What of these parts' results fits a terminal; --json has all of it."""
    import polars as pl

    from karat.records import Result
    from karat.validity import FittedMeasure, ReasonModel

    frame = result.frame
    if isinstance(result, FittedMeasure):
        held = result.held_out.drop("likelihood_gain_low", "likelihood_gain_high")
        return [result, Result(held, "On queries that were not fitted to:")]
    if isinstance(result, ReasonModel):
        return [Result(frame.filter(pl.col("coded") > 0), result.finding, result.notes)]
    if "curve" in frame.columns:
        rows = frame.filter((pl.col("curve") == "context") & ~pl.col("context").is_between(0.01, 0.49))
        rows = rows.filter(~pl.col("context").is_between(0.51, 0.99) | pl.col("context").is_nan())
        names = ["condition", "measure", "context", "preference", "ties", "jaccard", "jaccard_low", "jaccard_high"]
        more = "the curves along shares of ties and the other context weights: with --json"
        kept = rows.select(*names, "kappa", "kappa_low", "kappa_high", "n")
        return [Result(kept, result.finding, (*result.notes, more))]
    if {"lists", "rating"} <= {*frame.columns}:
        return [Result(frame.drop("rating"), result.finding, result.notes)]
    return [result]
