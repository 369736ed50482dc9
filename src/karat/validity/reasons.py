"""Why users prefer one list: the fifteen classes of reasons, suggestions by rules, and their counts with examples."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.records import Preferences, Result
from karat.records.base import count, frame_of
from karat.stats.arrays import Bools
from karat.validity.reason_classes import NAMES, REASONS, UNCLASSIFIABLE
from karat.validity.votes import counted, trusted

#: What stands between the classes of one comment in a table.
SEPARATORS = r"[;|,]"
#: How many examples a table shows, and how long each may be: with more, a terminal has no room for the shares.
EXAMPLES, LONGEST = 1, 64
#: Whether a comment has a word in it.
WORDS = pl.col("reason").str.len_chars() > 0


def comments_of(data: Any) -> pl.DataFrame:
    """Comments as a frame with `reason` and whatever else is known of them, blanks left out.

    >>> comments_of(["more relevant", " "]).rows()
    [('more relevant',)]
    """
    return _answers(data).filter(WORDS)


def _answers(data: Any) -> pl.DataFrame:
    """The same with the blanks: an answer without a word, to a trap perhaps, still tells of its judge."""
    if isinstance(data, Preferences):
        frame = data.frame
    elif isinstance(data, pl.Series) or (isinstance(data, list | tuple) and all(isinstance(d, str) for d in data)):
        frame = pl.DataFrame({"reason": list(data)}, schema={"reason": pl.String})
    else:
        frame = frame_of(data, "the comments")
    if "reason" not in frame.columns and "comment" in frame.columns:
        frame = frame.rename({"comment": "reason"})
    if "reason" not in frame.columns:
        raise BadInput.at("the comments", expected="a column reason", found=", ".join(frame.columns))
    return frame.with_columns(pl.col("reason").cast(pl.String).str.strip_chars())


def reasons_by_rules(comments: Any) -> pl.DataFrame:
    """The classes that words in each comment suggest: `reason` and a column of true or false for each class.

    >>> found = reasons_by_rules(["the left one has more useful results higher in the search"])
    >>> [name for name in NAMES if found[name][0]]
    ['number', 'position']

    Several classes may be suggested; where none is, the comment is not classifiable. Rules look at words, not at sense:
    they are a start for coding by hand, and `learn_reasons` does better once some two hundred comments are coded.

    Reference: Sanderson, Paramita, Clough and Kanoulas (SIGIR 2010), section 4.3, Table 10.
    """
    frame = comments_of(comments)
    texts = frame["reason"].str.to_lowercase().str.replace_all("\u2019", "'")
    found = {name: _any_of(words, texts) for name, words in REASONS.items()}
    # More relevant results are better ones, not necessarily more of them.
    plain = texts.str.replace_all(r"\bmore (?:\w+ )?(?:ir|non[- ]?)?relevant (?:results?|links?|sites?|pages?)\b", " ")
    found["number"] &= _any_of(REASONS["number"], plain)
    # Who says "not relevant" has not said "relevant".
    found["more relevant"] &= ~(found["irrelevant"] & ~texts.str.contains(r"\bmore relevan"))
    found[UNCLASSIFIABLE] = ~pl.DataFrame(found).select(pl.any_horizontal(pl.all())).to_series()
    return frame.select("reason").with_columns(found[name].alias(name) for name in NAMES)


def rule_flags(comments: Any) -> Bools:
    """What the rules say as comments x classes."""
    return reasons_by_rules(comments).select(NAMES).to_numpy()


def _any_of(words: Sequence[str], texts: pl.Series) -> pl.Series:
    """Which of these lower-case texts have one of the words."""
    if not words:
        return pl.repeat(False, len(texts), dtype=pl.Boolean, eager=True)
    return texts.str.contains("|".join(f"(?:{word})" for word in words)).fill_null(False)


def codes_of(coded: Any) -> tuple[pl.DataFrame, Bools]:
    """Hand-coded comments, and which classes each has: from a column with names such as `position; number`.

    >>> codes_of([{"reason": "higher up", "codes": "Position; number"}])[1].sum()
    np.int64(2)

    The codes may also be lists. A name that is none of the fifteen is an error that says which.
    """
    frame = comments_of(coded)
    if "codes" not in frame.columns:
        raise BadInput.at("the coded comments", expected="a column codes", found=", ".join(frame.columns))
    codes = frame["codes"]
    if codes.dtype != pl.List:
        codes = codes.cast(pl.String).str.replace_all(SEPARATORS, ";").str.split(";")
    tidy = codes.list.eval(pl.element().cast(pl.String).str.strip_chars().str.to_lowercase())
    tidy = tidy.list.eval(pl.element().filter(pl.element().str.len_chars() > 0))
    known = frame.with_columns(tidy.alias("codes")).filter(pl.col("codes").list.len() > 0)
    strange = sorted({*known["codes"].explode().drop_nulls()} - {*NAMES})
    if strange:
        raise BadInput.at("the codes", expected=f"classes such as {', '.join(NAMES[:3])}", found=f'"{strange[0]}"')
    if not known.height:
        raise Undefined("no comment has a code")
    flags = np.column_stack([known["codes"].list.contains(name).to_numpy() for name in NAMES])
    return known, flags.astype(bool)


def reason_table(comments: Any, flags: Bools | None = None) -> Result:
    """How many comments give each reason, most frequent first, with examples (the paper's Table 10).

    >>> reason_table(["more relevant results", "dead links"]).frame.filter(pl.col("n") > 0).select("class", "n").rows()
    [('more relevant', 1), ('dead links', 1)]

    Comments with a column `codes` are counted as coded; others, by rules. `flags` (comments x classes) counts what
    another coder or a model says. Shares are of comments and add up to more than 1: a comment may give several.

    Where comments come with what was answered, the paper's are counted: those of a preference for one of the two lists,
    by judges who failed no trap, a judge's first answer to a question, and none to a trap.
    """
    every = _answers(comments).with_columns(_row=(WORDS.fill_null(False).cum_sum() - 1).cast(pl.Int64))
    written = every.filter(WORDS).height
    frame, notes = _of_a_preference(every)
    if flags is not None:
        if len(flags) != written:
            raise BadInput.at("the flags", expected=f"a row for each of {written:,} comments", found=str(len(flags)))
        flags, how = flags[frame["_row"].to_numpy()], "as suggested"
    elif "codes" in frame.columns:
        (frame, flags), how = codes_of(frame), "as coded by hand"
    else:
        flags, how = rule_flags(frame), "by rules: suggestions to check, not codes"
    if not frame.height:
        raise Undefined("no comment has any words" if not written else "no comment is of a preference")
    texts = frame["reason"].to_list()
    rows = []
    for name, said in zip(NAMES, flags.T, strict=True):
        mine = [texts[row] for row in np.flatnonzero(said)]
        rows.append((name, len(mine), len(mine) / len(texts), " / ".join(_short(text) for text in _telling(mine))))
    table = pl.DataFrame(rows, schema=["class", "n", "share", "example"], orient="row")
    table = table.sort("n", descending=True, maintain_order=True)
    several = int((flags.sum(axis=1) > 1).sum())
    top = table.row(0, named=True)
    finding = (
        f"The most frequent reason is {top['class']}: {top['n']:,} of {count(len(texts), 'comment')} "
        f"({top['share']:.0%}), {how}."
    )
    notes.append(f"{count(several, 'comment')} with several reasons, {count(int(flags.sum()), 'reason')} in all")
    return Result(table, finding, tuple(notes), columns=("class", "n", "share", "example"))


def _of_a_preference(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The comments that say why one list is preferred, by judges who are believed, as far as that is known."""
    notes: list[str] = []
    if frame.height and {"query", "left", "right", "choice"} <= {*frame.columns}:
        kept = counted(trusted(frame))
        frame, notes = kept.frame, [note for note in kept.notes if "_row" not in note]
    frame = sided = frame.filter(WORDS)
    if "choice" in frame.columns:
        sided = frame.filter(pl.col("choice").cast(pl.String).str.to_lowercase().is_in(["left", "right"]))
    if sided.height < frame.height:
        left = count(frame.height - sided.height, "comment")
        notes.append(f"{left} of answers that prefer no list left out, as in the paper")
    return sided, notes


def _telling(texts: Sequence[str]) -> list[str]:
    """The examples to show: short ones tell most, very short ones nothing."""
    return sorted(dict.fromkeys(texts), key=lambda text: (abs(len(text) - 45), text))[:EXAMPLES]


def _short(text: str) -> str:
    text = re.sub(r"\s+", " ", text)
    return f'"{text}"' if len(text) <= LONGEST else f'"{text[: LONGEST - 3].rstrip()}..."'
