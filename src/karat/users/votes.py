"""What users prefer: from single answers to two lists, through votes, to one preferred system for each pair."""

from __future__ import annotations

import math

import polars as pl

from karat.errors import BadInput, Undefined
from karat.labels.order import first_of_each, in_order
from karat.records import FrameLike, Preferences, Result
from karat.records.table import count

#: A mean of votes that differs from 0 by less than this does so by rounding only.
ROUNDING = 1e-9
HOW = ("votes", "mode")
BY = ("query", "subtopic")


def trusted(preferences: Preferences | FrameLike) -> Preferences:
    """The answers of judges who passed every trap they met, without the traps themselves.

    >>> pair = {"query": "q", "left": "a", "right": "b", "choice": "left", "trap": False, "expected": None}
    >>> trap = pair | {"trap": True, "expected": "left"}
    >>> said = Preferences.of([pair | {"judge": "ann"}, trap | {"judge": "ann"},
    ...                        pair | {"judge": "bob"}, trap | {"judge": "bob", "choice": "none"}])
    >>> trusted(said)
    1 preference between 2 systems for 1 query
    >>> trusted(said).notes
    ('1 judge of 2 failed a trap and is left out with 1 answer; 2 traps are no votes',)

    A judge who fails one trap is left out of every count, as in the paper; where the study's rules allow some
    (the column failed_allowed, which its export has), who fails more than these. A judge who met none is kept, and said
    so. So is how many judges were rejected while answers were collected (the column rejected): they are not here to
    fail.
    """
    preferences = Preferences.of(preferences)
    frame, notes = preferences.frame, [*preferences.notes, *rejected_judges(preferences)]
    if not frame.height:
        raise BadInput.at("the preferences", expected="answers", found="none: the table is empty")
    if "trap" not in frame.columns or not frame["trap"].any():
        return Preferences(frame, (*notes, "no traps among the answers: every judge is believed"))
    trap = pl.col("trap").fill_null(False)
    traps = frame.filter(trap)
    if "expected" not in frame.columns or traps["expected"].null_count():
        expected, found = "the right answer to every trap in the column expected", count(traps.height, "trap")
        remedy = "say left or right, whichever list belongs to the query"
        raise BadInput.at("the preferences", expected=expected, found=f"{found}, some without", remedy=remedy)
    if not preferences.has("judge"):
        raise BadInput.at("the preferences", expected="a column judge, to tell who failed a trap", found="none")
    # Traps that nobody signed say nothing about anybody.
    allowed = failures_allowed(preferences)
    wrong = traps.filter(pl.col("choice") != pl.col("expected")).drop_nulls("judge").group_by("judge").len()
    failed = wrong.filter(pl.col("len") > allowed)["judge"]
    met = traps["judge"].drop_nulls().unique()
    votes = frame.filter(~trap)
    kept = votes.filter(~pl.col("judge").is_in(failed.implode()).fill_null(False))
    judges = frame["judge"].drop_nulls().n_unique()
    limit = f"more than {count(allowed, 'trap')}" if allowed else "a trap"
    notes.append(
        f"{count(len(failed), 'judge')} of {judges:,} failed {limit} and "
        f"{'is' if len(failed) == 1 else 'are'} left out with {count(votes.height - kept.height, 'answer')}; "
        f"{count(traps.height, 'trap')} are no votes"
    )
    unmet = kept.filter(~pl.col("judge").is_in(met.implode()).fill_null(False))["judge"].n_unique()
    if unmet:
        notes.append(f"{count(unmet, 'judge')} met no trap and {'is' if unmet == 1 else 'are'} believed")
    return Preferences(kept, tuple(notes))


def failures_allowed(preferences: Preferences) -> int:
    """How many traps a judge may fail by the study's rules; none where it is not said."""
    if not preferences.has("failed_allowed"):
        return 0
    return int(preferences.frame["failed_allowed"].max() or 0)  # type: ignore[arg-type]


def rejected_judges(preferences: Preferences) -> list[str]:
    """A note on judges whom the app rejected: their answers never came here, nor did the traps that they failed."""
    number = int(preferences.frame["rejected"].max() or 0) if preferences.has("rejected") else 0  # type: ignore[arg-type]
    if not number:
        return []
    was, are = ("was", "is") if number == 1 else ("were", "are")
    return [f"{count(number, 'judge')} {was} rejected in the app and {are} not among these answers"]


def votes(preferences: Preferences | FrameLike, *, at_least: float | None = None) -> Result:
    """The votes on each pair of systems, by query and subtopic, traps and those who failed them left out.

    >>> said = [{"query": "q", "left": "a", "right": "b", "choice": c} for c in ("left", "left", "right", "none")]
    >>> votes(Preferences.of(said)).frame.select("a", "b", "for_a", "for_b", "equal", "none", "n", "value").row(0)
    ('a', 'b', 2, 1, 0, 1, 4, 0.25)

    `value` is (votes for a - votes for b) / all judges who saw the pair. Sides are turned so that a comes before b by
    name. With `at_least`, a preference of less strength counts as equal (a strong preference; without, a weak one).
    A judge who answered the same question twice has one vote, the first.
    """
    told = counted(trusted(preferences), at_least)
    key = ["query", "subtopic", "a", "b"]
    every = {
        "for_a": for_side("a"),
        "for_b": for_side("b"),
        "equal": pl.col("choice") == "equal",
        "none": pl.col("choice") == "none",
        "n": pl.lit(True),
    }
    asked = told.frame.select(*key, **every).group_by(key, maintain_order=True)
    table = asked.agg(pl.col(*every).sum().cast(pl.Int64)).sort(key)
    table = table.with_columns(value=(pl.col("for_a") - pl.col("for_b")) / pl.col("n"))
    questions, answers = table.height, len(told)
    said = {name: int(table[name].sum()) for name in every}
    finding = (
        f"{count(answers, 'answer')} to {count(questions, 'question')} ({answers / questions:.1f} each): "
        f"{said['for_a'] + said['for_b']:,} prefer a side, {said['equal']:,} find both equal, "
        f"{said['none']:,} find none relevant."
    )
    return Result(table, finding, told.notes)


def preferred(
    preferences: Preferences | FrameLike, *, by: str = "query", how: str = "votes", at_least: float | None = None
) -> Result:
    """Which system of each pair users prefer: `sign` is 1 for a, -1 for b, 0 for equal.

    >>> said = [{"query": "q", "subtopic": s, "left": "a", "right": "b", "choice": c}
    ...         for s, c in (("1", "left"), ("1", "left"), ("2", "right"), ("2", "equal"))]
    >>> preferred(Preferences.of(said)).frame.select("query", "a", "b", "value", "sign", "n").row(0)
    ('q', 'a', 'b', 0.25, 1, 4)

    By "query", the normalised majorities of the subtopics are averaged; by "subtopic", each subtopic is a query
    of its own. `how` "votes" takes the sign of the (mean) majority, "mode" the most frequent answer of a pair's
    judges, equal where two are equally frequent. `at_least` makes it a strong preference, see `votes`. Judges who find
    neither relevant prefer none.

    Reference: Sanderson et al. (SIGIR 2010), section 3.6; the mode as in section 5.2 of the paper on context.
    """
    if by not in BY or how not in HOW:
        expected = f"by {' or '.join(BY)}, how {' or '.join(HOW)}"
        raise BadInput.at("preferred", expected=expected, found=f'"{by}", "{how}"')
    preferences = Preferences.of(preferences)
    if by == "subtopic":
        preferences.need("subtopic", "preferences by subtopic")
    cast = votes(preferences, at_least=at_least)
    key = ["query", "subtopic", "a", "b"] if by == "subtopic" else ["query", "a", "b"]
    counts = [pl.col(name).sum() for name in ("for_a", "for_b", "equal", "none", "n")]
    frame = cast.frame.group_by(key, maintain_order=True).agg(*counts, pl.col("value").mean(), subtopics=pl.len())
    frame = frame.with_columns(sign=signs(how))
    decided = int((frame["sign"] != 0).sum())
    finding = (
        f"Users prefer one of the two systems in {decided:,} of {count(frame.height, 'pair')} "
        f"({100 * decided / frame.height:.0f} %) and find both equal in {frame.height - decided:,}; "
        f"{int(frame['n'].sum()) / frame.height:.1f} answers a pair."
    )
    return Result(frame, finding, cast.notes)


def signs(how: str) -> pl.Expr:
    """Which side a pair's answers prefer, 1 for a, -1 for b, 0 for equal, from their value or from their counts."""
    sign = pl.when(pl.col("value").abs() > ROUNDING).then(pl.col("value").sign()).otherwise(0)
    if how == "mode":
        often = pl.max_horizontal("for_a", "for_b") > pl.col("equal") + pl.col("none")
        sign = pl.when(often).then((pl.col("for_a") - pl.col("for_b")).sign()).otherwise(0)
    return sign.cast(pl.Int64)


def counted(kept: Preferences, at_least: float | None = None) -> Preferences:
    """The answers that count: weak ones turned into ties where asked for, and one a judge and question, the first.

    Two columns are new: a and b, the two systems by name.
    """
    frame, notes = kept.frame, list(kept.notes)
    if at_least is not None:
        if not 0 <= at_least < math.inf:
            raise BadInput.at("at_least", expected="a strength of 0 or more", found=str(at_least))
        preferring = frame.filter(pl.col("choice").is_in(["left", "right"]))
        if "strength" not in frame.columns or preferring["strength"].null_count():
            expected, remedy = "a strength with every preference", "leave out at_least: every preference then counts"
            raise BadInput.at("the preferences", expected=expected, found="none with some", remedy=remedy)
        weak = pl.col("choice").is_in(["left", "right"]) & (pl.col("strength") < at_least)
        slight = int(frame.select(weak.sum()).item())
        frame = frame.with_columns(choice=pl.when(weak).then(pl.lit("equal")).otherwise("choice"))
        notes.append(f"{count(slight, 'preference')} of a strength below {at_least:g} count as equal")
    if "subtopic" not in frame.columns:
        frame = frame.with_columns(subtopic=pl.lit(None, dtype=pl.String))
    frame = frame.with_columns(a=pl.min_horizontal("left", "right"), b=pl.max_horizontal("left", "right"))
    frame = _one_of_both_orders(frame, notes)
    # The first by time; the nameless are taken for different people.
    once = first_of_each(in_order(frame), ["query", "subtopic", "a", "b"])
    again = frame.height - once.height
    if again:
        frame = once
        notes.append(f"{count(again, 'answer')} of a judge who had answered the same question before: the first counts")
    if not frame.height:
        raise Undefined("no answer is left to count: every judge failed a trap, or there are traps only")
    return Preferences(frame, tuple(notes))


def _one_of_both_orders(frame: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """One answer for a pair that a judge was shown in both orders (column order): equal where the two differ.

    Whoever changes his mind with the sides, as language models do, has no preference.
    """
    if "order" not in frame.columns or "judge" not in frame.columns:
        return frame
    key = ["query", "subtopic", "a", "b", *(name for name in ("group", "judge") if name in frame.columns)]
    winner = pl.when(for_side("a")).then(pl.lit("a")).when(for_side("b")).then(pl.lit("b")).otherwise("choice")
    both = pl.col("left").n_unique().over(key) == 2
    frame = frame.with_columns(_both=both & pl.col("judge").is_not_null(), _split=winner.n_unique().over(key) > 1)
    twice, rest = frame.filter("_both"), frame.filter(~pl.col("_both"))
    if not twice.height:
        return rest.drop("_both", "_split")
    once = twice.unique(key, keep="first", maintain_order=True)
    split = int(once["_split"].sum())
    once = once.with_columns(choice=pl.when("_split").then(pl.lit("equal")).otherwise("choice"))
    notes.append(
        f"{count(once.height, 'pair')} shown to a judge in both orders: one vote each, {split:,} equal for differing"
    )
    return pl.concat([rest, once]).drop("_both", "_split")


def for_side(system: str) -> pl.Expr:
    """Whether an answer prefers a, or b, whichever side it was on."""
    return ((pl.col("choice") == "left") & (pl.col("left") == pl.col(system))) | (
        (pl.col("choice") == "right") & (pl.col("right") == pl.col(system))
    )
