"""How figures are written in tables: with as many decimals as their intervals support, a dash where there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from karat.records.scale import Scale

#: Columns whose values are grades: written without decimals, and by the names of the scale where it has some.
GRADES = ("level", "grade", "label", "truth", "most_used", "top", "predicted")
#: Columns with a figure for each grade, called so before the grade: p_3.
BY_GRADE = "p_"
#: Columns of whole numbers, in grades or people, which are written as they are.
WHOLE = (*GRADES, "error", "size", "at_least", "of")
#: Columns of p values, and of what something costs, which are written as such.
PROBABILITIES = ("p", "p_adjusted", "p_holm", "p_paired", "p_welch", "holm", "bh", "max_t", "q")
COSTS = ("cost",)


def decimals(low: float, high: float) -> int:
    """As many decimals as the interval supports: two digits of half its width, four where there is none.

    >>> decimals(0.31, 0.45), decimals(0.412, 0.418), decimals(math.nan, math.nan)
    (3, 4, 4)
    """
    half = (high - low) / 2
    if not math.isfinite(half) or half <= 0:
        return 4
    return min(max(1 - math.floor(math.log10(half)), 2), 6)


def interval_said(low: float, high: float, level: float, places: int = 2) -> str:
    """An interval as it stands behind its figure in a sentence, nothing where there is none.

    >>> interval_said(0.31, 0.45, 0.95), interval_said(math.nan, math.nan, 0.95)
    (' (95 % interval 0.31 to 0.45)', '')
    """
    return "" if math.isnan(low) else f" ({level * 100:g} % interval {low:.{places}f} to {high:.{places}f})"


def p_said(p: float) -> str:
    """A p value as it stands in a sentence.

    >>> p_said(0.0213), p_said(0.0002)
    ('p = 0.021', 'p < 0.001')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def capitalized(text: str) -> str:
    """The text with a capital at its beginning, unless a name seems to come first, as in "bm25: 3 ties".

    >>> capitalized("few queries"), capitalized("hybrid: 3 ties"), capitalized("gptA errs")
    ('Few queries', 'hybrid: 3 ties', 'gptA errs')
    """
    first = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text


def uncapitalized(text: str) -> str:
    """The text with a small letter at its beginning, for use inside a sentence, unless a name seems to come first.

    >>> uncapitalized("No labels"), uncapitalized("GptA errs"), uncapitalized("LLMs err")
    ('no labels', 'GptA errs', 'LLMs err')
    """
    first = text.partition(" ")[0]
    return text[:1].lower() + text[1:] if first[1:].islower() or len(first) == 1 else text


def percent(share: float) -> str:
    """A share as people write it.

    >>> percent(0.314)
    '31 %'
    """
    return f"{100 * share:.0f} %"


def column_decimals(frame: pl.DataFrame, name: str) -> int:
    """The decimals of a column: what its widest interval supports, three where there is none.

    >>> column_decimals(pl.DataFrame({"raw": [0.4], "raw_low": [0.1], "raw_high": [0.7]}), "raw")
    2
    """
    if f"{name}_low" not in frame.columns or f"{name}_high" not in frame.columns:
        return 3
    ends = zip(frame[f"{name}_low"].to_list(), frame[f"{name}_high"].to_list(), strict=True)
    known = [decimals(low, high) for low, high in ends if low is not None and high is not None and low < high]
    return min(known, default=3)


def figure(value: float, places: int) -> str:
    """A number with so many decimals, a dash where there is none.

    >>> figure(0.4567, 2), figure(-0.001, 2), figure(math.nan, 2)
    ('0.46', '0.00', '-')
    """
    if math.isnan(value):
        return "-"
    said = f"{value:.{places}f}"
    return said.lstrip("-") if not said.strip("-0.") else said  # no minus before a zero


def in_words(frame: pl.DataFrame, scale: Scale | None) -> pl.DataFrame:
    """The figures with the scale's names in place of grades, in cells and in the names of columns, for people to read.

    >>> frame = pl.DataFrame({"level": [0.0, 2.0], "p_2": [0.1, 0.9]})
    >>> in_words(frame, Scale.parse("Non, Rel, Key")).to_dict(as_series=False)
    {'level': ['Non', 'Key'], 'p_Key': [0.1, 0.9]}

    A scale whose levels have no names of their own changes nothing.
    """
    if scale is None or not scale.named:
        return frame
    words = {f"{level.grade:g}": level.name for level in scale}
    named = [name for name in GRADES if name in frame.columns and frame[name].dtype != pl.List]
    frame = frame.with_columns(
        pl.Series(name, [_in_words(value, words) for value in frame[name].to_list()], dtype=pl.String) for name in named
    )
    heads = {f"{BY_GRADE}{grade}": f"{BY_GRADE}{word}" for grade, word in words.items()}
    return frame.rename({old: new for old, new in heads.items() if old in frame.columns})


def _in_words(value: Any, words: Mapping[str, str]) -> str | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    said = value if isinstance(value, str) else f"{value:zg}"
    return words.get(said, said)


def cell(row: Mapping[str, Any], name: str, places: int) -> tuple[str, str]:
    """A row's value in a column and its interval, empty where it has none.

    >>> cell({"raw": 0.4, "raw_low": 0.1, "raw_high": 0.7}, "raw", 2), cell({"p": 0.0004}, "p", 3)
    (('0.40', '[0.10, 0.70]'), ('<0.001', ''))
    """
    value = row[name]
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-", ""
    if isinstance(value, bool):
        return "yes" if value else "no", ""
    if isinstance(value, int):
        return f"{value:,}", ""
    if not isinstance(value, float):
        return str(value), ""
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    if low is not None and high is not None and not math.isnan(low) and not math.isnan(high):
        return figure(value, places), f"[{figure(low, places)}, {figure(high, places)}]"
    if low is None and (name in PROBABILITIES or name.endswith(("_p", "_holm", "_bh"))):
        return "<0.001" if value < 0.001 else f"{value:.3f}", ""
    if name in COSTS:
        return f"{value:,.10g}", ""
    return f"{value:zg}" if name in WHOLE else figure(value, places), ""


@dataclass(frozen=True)
class Written:
    """A table as people read it: heads and cells as text, the first `lead` columns words that tell the rows apart."""

    heads: list[str]
    rows: list[list[str]]
    lead: int
    #: The columns' names in the frame.
    names: list[str] = field(default_factory=list, repr=False)


def with_named_ends(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with `low` and `high` called after the figure before them, whose interval they are.

    >>> with_named_ends(pl.DataFrame({"kappa": [0.4], "low": [0.1], "high": [0.7]})).columns
    ['kappa', 'kappa_low', 'kappa_high']
    """
    if not {"low", "high"} <= {*frame.columns}:
        return frame
    before = frame.columns[: frame.columns.index("low")]
    of = [name for name in before if name != "standard_error"][-1]
    return frame.rename({"low": f"{of}_low", "high": f"{of}_high"})


def with_ends(name: str, value: Any, low: Any, high: Any) -> dict[str, Any]:
    """A figure and the ends of its interval by the names of their columns.

    >>> with_ends("kappa", 0.4, 0.1, 0.7)
    {'kappa': 0.4, 'kappa_low': 0.1, 'kappa_high': 0.7}
    """
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def written(frame: pl.DataFrame, columns: Sequence[str] = ()) -> Written:
    """Some columns of a frame, or all, as text: words first, intervals beside their figures, empty columns left out.

    >>> frame = pl.DataFrame({"kappa": [0.4], "low": [0.1], "high": [0.7], "group": ["crowd"], "p": [0.0004]})
    >>> written(frame)
    Written(heads=['group', 'kappa', 'p'], rows=[['crowd', '0.40 [0.10, 0.70]', '<0.001']], lead=1)
    """
    frame = with_named_ends(frame)
    names = [name for name in columns or frame.columns if name in frame.columns]
    ends = {f"{name}_{end}" for name in frame.columns for end in ("low", "high")}
    names = [name for name in names if name not in ends and frame[name].null_count() < frame.height]
    places = {name: column_decimals(frame, name) for name in names}
    cells = {name: [" ".join(cell(row, name, places[name])).strip() for row in frame.to_dicts()] for name in names}
    kept = [name for name in names if any(text != "-" for text in cells[name])]
    words = [name for name in kept if frame[name].dtype == pl.String]
    order = [*words, *(name for name in kept if name not in words)]
    rows = [[cells[name][place] for name in order] for place in range(frame.height)]
    return Written([name.replace("_", " ") for name in order], rows, len(words) or 1, order)
