"""Two systems compared from summary figures, with the judges' errors allowed for: naive, independent, shared."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from karat.correction.error_rates import ROUGH, Accuracy
from karat.correction.published_scores import (
    FEWEST_DRAWS,
    ROUNDING,
    Corrected,
    Observed,
    bootstrap,
    corrected_score,
    drawn_accuracies,
)
from karat.errors import BadInput, Undefined
from karat.records import Result
from karat.records.number_format import decimals
from karat.records.result import ResultBase, rows_of
from karat.records.table import count
from karat.stats import Resampling
from karat.stats.rogan_gladen import corrected, corrected_parts, half_width, shared_parts, together, two_sided

WHY_INDEPENDENT_DIFFERS = (
    "independent is the paper's test: it adds the errors of both corrected scores as if each system had its own gold "
    "sample. Here one sample corrects both, so its error is common to both and cancels in the difference: read shared"
)
SAME_QUERIES = (
    "if both ran the same queries, give the standard deviation of their differences: the test is then sharper"
)
OWN = "each system has its own gold sample, so the errors of both corrected scores add up; there is no shared form"


@dataclass(frozen=True, eq=False, repr=False)
class CorrectedPair(ResultBase):
    """System B against system A: the difference by each method, and the verdict of the one that fits the data.

    `frame` has a row for each method: a, b, difference (b - a), standard_error, low, high, p (Student's t with
    Welch's degrees of freedom, df), p_normal and bootstrap_error.
    """

    a: Corrected
    b: Corrected
    frame: pl.DataFrame
    verdict: str
    method: str
    level: float
    draws: int
    seed: int
    notes: tuple[str, ...] = ()

    @property
    def finding(self) -> str:
        """The verdict in a sentence."""
        row = self.frame.row(by_predicate=pl.col("method") == self.method, named=True)
        places = decimals(row["low"], row["high"])
        interval = f"{100 * self.level:g} % interval {row['low']:.{places}f} to {row['high']:.{places}f}"
        size, p = abs(row["difference"]), "p < 0.001" if row["p"] < 0.001 else f"p = {row['p']:.3f}"
        if self.verdict == "cannot say":
            scores = " and ".join(f"{result.value:.2f}" for result in (self.a, self.b))
            return (
                f"Cannot say which is better: corrected scores of {scores} are impossible, so these judges are not as "
                "accurate on these systems as on the gold sample, or the sample is too small."
            )
        if self.verdict == "no difference shown":
            return (
                "No difference between B and A is shown once the judges' errors are allowed for: "
                f"{row['difference']:.{places}f} ({interval}, {p})."
            )
        return (
            f"B is {self.verdict} than A by {size:.{places}f} once the judges' errors are allowed for "
            f"(difference {row['difference']:.{places}f}, {interval}, {p})."
        )

    def to_frame(self) -> pl.DataFrame:
        """The difference by each method."""
        return self.frame

    def to_dict(self) -> dict[str, Any]:
        """The comparison as one document."""
        return {
            "finding": self.finding,
            "systems": [self.a.summary("A"), self.b.summary("B")],
            "methods": rows_of(self.frame),
            "verdict": self.verdict,
            "method": self.method,
            "accuracies": [of.accuracy.to_dict() for of in (self.a, self.b)],
            "level": self.level,
            "draws": self.draws,
            "seed": self.seed,
            "notes": list(self.notes),
        }


def corrected_difference(
    a: Observed,
    b: Observed,
    accuracy: Accuracy,
    accuracy_b: Accuracy | None = None,
    *,
    sd_difference: float | None = None,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> CorrectedPair:
    """Is B better than A, given that the judges err as a sample of gold labels shows?

    >>> a, b = Observed(0.6260, 10278, sd=0.414), Observed(0.6385, 20604, sd=0.402)
    >>> found = corrected_difference(a, b, Accuracy.of("43/59", "67/84"))
    >>> found.verdict, found.method
    ('better', 'shared')
    >>> found.frame.select("method", p=pl.col("p").round(3)).rows()
    [('naive', 0.012), ('independent', 0.854), ('shared', 0.017)]

    With one gold sample the answer is `shared`. Give `accuracy_b` when B's labels were checked with a gold sample of
    their own; then the answer is `independent`. Give `sd_difference`, the standard deviation of the per-query
    differences, when both systems ran the same queries: it is mostly much smaller than what the two spreads suggest.

    Reference: Goldberg et al., Drawing Sound Conclusions from Noisy Judgments (WWW 2017), equations (9) to (11) for
    naive and independent; `shared` is karat's.
    """
    Resampling(level, draws, seed, fewest=FEWEST_DRAWS)
    own = accuracy_b is not None
    second = accuracy if accuracy_b is None else accuracy_b
    for observed, rates, name in ((a, accuracy, "A"), (b, second, "B")):
        _refuse_with_score(observed, rates, f"the judges of {name}" if own else "the judges")
    apart = _variance_of_difference(a, b, sd_difference)
    if sum(part for part, _ in apart) <= 0:
        raise Undefined("all queries scored alike in both systems: there is no spread to judge a difference by")
    results = [
        corrected_score(observed, rates, level=level, draws=draws, seed=seed)
        for observed, rates in ((a, accuracy), (b, second))
    ]
    naive = _row("naive", a.score, b.score, [p for p, _ in apart], [df for _, df in apart], level)
    values = [result.value for result in results]
    parts, freedoms = _independent(a, b, accuracy, second, apart if own and sd_difference is not None else None)
    independent = _row("independent", values[0], values[1], parts, freedoms, level)
    if draws:
        # B's gold labels are drawn on their own, as the independent form has it.
        other = np.nanstd(bootstrap(b, second, draws, seed + 1), ddof=1)
        independent["bootstrap_error"] = math.hypot(results[0].bootstrap_error, other)
    rows = [naive, independent]
    if not own:
        total, freedom = together([p for p, _ in apart], [df for _, df in apart])
        by = shared_parts(b.score - a.score, float(total) ** 2, accuracy.d, *accuracy.variances)
        gold = [accuracy.n_relevant - 1.0, accuracy.n_nonrelevant - 1.0]
        shared = _row("shared", values[0], values[1], [float(part) for part in by], [float(freedom), *gold], level)
        if draws:
            shared["bootstrap_error"] = _shared_bootstrap(a, b, accuracy, float(total), draws, seed)
        rows.append(shared)
    frame = pl.DataFrame(rows, schema_overrides={"bootstrap_error": pl.Float64})
    best = rows[-1]
    verdict = "no difference shown"
    if best["p"] < 1 - level:
        verdict = "better" if best["difference"] > 0 else "worse"
    notes = [OWN if own else WHY_INDEPENDENT_DIFFERS, *_common(results[0].notes, results[1].notes)]
    if sd_difference is None and a.n == b.n:
        notes.append(SAME_QUERIES)
    if any(result.value != result.possible for result in results):
        verdict = "cannot say"
    return CorrectedPair(results[0], results[1], frame, verdict, best["method"], level, draws, seed, tuple(notes))


def _refuse_with_score(observed: Observed, accuracy: Accuracy, whose: str) -> None:
    """Refuse accuracies that cannot correct; what the correction would have said makes clear why."""
    try:
        accuracy.checked(whose)
    except Undefined as error:
        if accuracy.d <= 0:
            raise
        value = float(corrected(observed.score, accuracy.relevant, accuracy.nonrelevant))
        outside = "" if 0 <= value <= 1 else f" (the corrected score would be {value:.2f}, outside 0 to 1)"
        raise Undefined(f"{error}{outside}") from None


def _variance_of_difference(a: Observed, b: Observed, sd_difference: float | None) -> list[tuple[float, float]]:
    """The variance of b - a as judges see it, in parts with their degrees of freedom."""
    if sd_difference is None:
        return [(a.variance, a.n - 1.0), (b.variance, b.n - 1.0)]
    if a.n != b.n:
        raise BadInput.at(
            "the standard deviation of the differences",
            expected="both systems on the same queries",
            found=f"{a.n:,} and {b.n:,} queries",
        )
    if not math.isfinite(sd_difference) or sd_difference < 0:
        raise BadInput.at(
            "the standard deviation of the differences", expected="a number from 0", found=str(sd_difference)
        )
    least, most = abs(a.spread - b.spread), a.spread + b.spread
    if not least - ROUNDING <= sd_difference <= most + ROUNDING:
        raise BadInput.at(
            "the standard deviation of the differences",
            expected=f"{least:.3f} to {most:.3f}, as the two systems' own spreads allow",
            found=f"{sd_difference:g}",
        )
    return [(sd_difference**2 / a.n, a.n - 1.0)]


def _independent(
    a: Observed, b: Observed, first: Accuracy, second: Accuracy, paired: list[tuple[float, float]] | None
) -> tuple[list[float], list[float]]:
    """The parts of the variance when each score is corrected on its own; on the same queries they still covary."""
    parts, freedoms = list[float](), list[float]()
    for observed, rates in ((a, first), (b, second)):
        of = corrected_parts(observed.score, observed.variance, rates.relevant, rates.nonrelevant, *rates.variances)
        parts += [float(part) for part in of]
        freedoms += [observed.n - 1.0, rates.n_relevant - 1.0, rates.n_nonrelevant - 1.0]
    if paired is not None:
        common = (a.variance + b.variance - paired[0][0]) / 2
        queries = max(parts[0] + parts[3] - 2 * common / (first.d * second.d), 0.0)
        parts, freedoms = [queries, *parts[1:3], *parts[4:]], [freedoms[0], *freedoms[1:3], *freedoms[4:]]
    return parts, freedoms


def _row(
    method: str, a: float, b: float, parts: Sequence[float], freedoms: Sequence[float], level: float
) -> dict[str, Any]:
    error, df = (float(figure) for figure in together(parts, freedoms))
    half = float(half_width(error, level, df))
    return {
        "method": method,
        "a": a,
        "b": b,
        "difference": b - a,
        "standard_error": error,
        "low": b - a - half,
        "high": b - a + half,
        "p": float(two_sided(b - a, error, df)),
        "df": df,
        "p_normal": float(two_sided(b - a, error)),
        "bootstrap_error": math.nan,
    }


def _shared_bootstrap(a: Observed, b: Observed, accuracy: Accuracy, error: float, draws: int, seed: int) -> float:
    """The bootstrap error of the difference, both scores corrected with the same drawn accuracies."""
    rng = np.random.default_rng(seed)
    relevant, nonrelevant = drawn_accuracies(accuracy, draws, rng)
    d = relevant + nonrelevant - 1
    difference = rng.normal(b.score - a.score, error, draws)
    return float((difference[d > 0] / d[d > 0]).std(ddof=1))


def _common(a: tuple[str, ...], b: tuple[str, ...]) -> list[str]:
    """The notes on both systems, those that are the same for both said once."""
    both = [note for note in a if note in b]
    return both + [f"{name}: {note}" for name, notes in (("A", a), ("B", b)) for note in notes if note not in both]


#: More queries than anybody will ever run.
MOST = 10**12


def needed(
    difference: float,
    observed: Observed,
    accuracy: Accuracy,
    *,
    sd_difference: float | None = None,
    level: float = 0.95,
    power: float = 0.8,
) -> Result:
    """Queries and gold labels needed to see a true difference from a system with these figures.

    >>> plan = needed(0.02, Observed(0.6260, 10278, sd=0.414), Accuracy.of("43/59", "67/84"))
    >>> plan.frame.select("method", "queries").rows()
    [('naive', 24273), ('independent', None), ('shared', 25604)]

    A row for each test. `queries`: of each system, with the gold labels there are; none (null) if no number of
    queries is enough. `relevant` and `nonrelevant`: gold labels, in the proportion there is, for as many queries as
    were observed; none if more queries are needed first. `least_relevant` and `least_nonrelevant`: with any number of
    queries. The naive test uses no gold labels; it sees the difference times d, as judges' errors leave it.

    The independent test is right only where each system has its own gold sample (so many labels for each); on one
    sample for both it asks for far too many. Give `sd_difference` if both systems run the same queries.
    The power of `shared` is that of its own test: the gold sample does not blur whether there is a difference, it
    only has to show that the judges do better than guessing.
    """
    from scipy.special import stdtrit

    accuracy.checked()
    variance = _variance(difference, observed, sd_difference, level, power)
    size, d, of_accuracies = abs(difference), accuracy.d, accuracy.variances

    def quantiles(n: float) -> tuple[float, float]:
        """How many standard errors the test asks for, and how many more the power, with n queries a system."""
        df = max((1 if sd_difference is not None else 2) * (n - 1.0), 1.0)
        return float(stdtrit(df, 0.5 + level / 2)), float(stdtrit(df, power))

    def independent(n: float) -> float:
        """The variance that the gold samples may add to the difference with n queries."""
        return (size / sum(quantiles(n))) ** 2 - variance / (n * d**2)

    def shared(n: float) -> float:
        """The variance of d that leaves the power as asked; the test's own error grows with the difference it sees."""
        test, more = quantiles(n)
        # By how much the gold sample may lengthen the distance from 0 that the test asks for.
        stretch = (size * d / math.sqrt(variance / n) - more) / test
        return (d / test) ** 2 * (1 - 1 / stretch**2) if stretch > 1 else 0.0

    truth = _share(float(corrected(observed.score, accuracy.relevant, accuracy.nonrelevant)))
    ends = (truth, _share(truth + size))
    added = sum(of_accuracies[0] * end**2 + of_accuracies[1] * (1 - end) ** 2 for end in ends) / d**2
    rows = [
        # Without gold labels there is nothing to add.
        _needed_row("naive", independent, 0.0, observed.n, accuracy),
        _needed_row("independent", independent, added, observed.n, accuracy),
        # A smaller sample might do, but how far judges are from guessing is then too vague to plan with.
        _needed_row("shared", shared, sum(of_accuracies), observed.n, accuracy, most=(d / ROUGH) ** 2),
    ]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.Int64) | {"method": pl.String})
    queries = rows[2]["queries"]
    how = "of the same queries" if sd_difference is not None else "of each system"
    said = (
        f"A true difference of {difference:g} shows at {100 * level:g} % with power {power:g} from "
        f"{count(queries, 'query', 'queries')} ({how}) with the gold labels there are."
        if queries is not None
        else f"No number of queries shows a true difference of {difference:g}: the gold labels are too few."
    )
    notes = [f"judges' errors leave {d:.3f} of a difference in their labels", *accuracy.notes]
    if rows[1]["queries"] is None:
        notes.append(
            "independent: no number of queries is enough with these gold labels; "
            f"{rows[1]['least_relevant']:,} relevant and {rows[1]['least_nonrelevant']:,} others are the least"
        )
    return Result(frame, said, tuple(notes))


def _variance(difference: float, observed: Observed, sd_difference: float | None, level: float, power: float) -> float:
    """The variance of b - a over queries, if all that was asked for can be."""
    if not math.isfinite(difference) or not 0 < abs(difference) <= 1:
        raise BadInput.at("the difference", expected="a number up to 1, and not 0", found=str(difference))
    for name, value in (("the interval's level", level), ("the power", power)):
        if not 0 < value < 1:
            raise BadInput.at(name, expected="a share such as 0.8 or 0.95", found=str(value))
    if sd_difference is not None and not (math.isfinite(sd_difference) and sd_difference > 0):
        raise BadInput.at(
            "the standard deviation of the differences", expected="a number above 0", found=str(sd_difference)
        )
    variance = 2 * observed.variance * observed.n if sd_difference is None else sd_difference**2
    if variance == 0:
        raise BadInput.at("the standard deviation", expected="a number above 0", found="0")
    return variance


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _needed_row(
    method: str, room: Callable[[float], float], gold: float, n: int, accuracy: Accuracy, most: float = math.inf
) -> dict[str, Any]:
    """What a test needs whose gold sample has the variance `gold`, where n queries leave `room` for so much."""
    row: dict[str, Any] = {"method": method, "queries": _least(lambda n: room(n) >= gold)}
    for prefix, queries in (("", n), ("least_", MOST)):
        left = min(room(queries), most)
        for kind, _, labels in accuracy.counts:
            row[prefix + kind] = max(math.ceil(gold / left * labels), 2) if gold and left > 0 else None
    return row


def _least(enough: Callable[[int], bool]) -> int | None:
    """The least number of queries, 2 or more, that is enough; none if the most is not."""
    low, high = 1, 2
    while not enough(high):
        if high >= MOST:
            return None
        low, high = high, min(high * 4, MOST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
