"""A score corrected for the judges' errors, from summary figures: what it would be with gold labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from karat.correction.error_rates import Accuracy
from karat.errors import BadInput
from karat.records.number_format import decimals
from karat.records.result import ResultBase, rows_of
from karat.records.table import count
from karat.stats import Resampling
from karat.stats.arrays import Floats
from karat.stats.rogan_gladen import corrected, corrected_parts, half_width, lang_reiczigel, wilson

#: Figures in papers are rounded: a spread may be so much larger than the score allows.
ROUNDING = 0.005


@dataclass(frozen=True, repr=False)
class Observed:
    """A system's P@k as judges see it: the mean over n queries and the standard deviation between queries.

    >>> Observed(0.626, 10278, sd=0.414)
    A score of 0.626 over 10,278 queries, with a standard deviation of 0.414 between them.

    Without `sd` the score is a share of yes-or-no answers, as P@1 is. For another measure that is the most that its
    scores can vary.
    """

    score: float
    n: int
    sd: float | None = None

    def __post_init__(self) -> None:
        if not _real(self.score) or not 0 <= self.score <= 1:
            raise BadInput.at("the score", expected="a number from 0 to 1, such as 0.626", found=str(self.score))
        if not isinstance(self.n, int) or isinstance(self.n, bool) or self.n < 2:
            raise BadInput.at("the number of queries", expected="a whole number, 2 or more", found=str(self.n))
        if self.sd is None:
            return
        if not _real(self.sd) or self.sd < 0:
            raise BadInput.at("the standard deviation", expected="a number from 0", found=str(self.sd))
        most = math.sqrt(self.score * (1 - self.score) * self.n / (self.n - 1))
        if self.sd > most + ROUNDING:
            raise BadInput.at(
                "the standard deviation",
                expected=f"at most {most:.3f}, as scores from 0 to 1 with mean {self.score:g} have",
                found=f"{self.sd:g}",
                remedy="give the spread of the queries' scores",
            )

    @property
    def spread(self) -> float:
        """The standard deviation between queries: the one given, or that of yes-or-no answers."""
        return math.sqrt(self.score * (1 - self.score)) if self.sd is None else self.sd

    @property
    def variance(self) -> float:
        """The variance of the mean.

        Where all queries scored 0, or all 1, as if two of each had been added: that all were alike so far does not
        mean that all are. Where they are alike otherwise, it is 0.
        """
        if self.score in (0, 1):
            share = (self.n * self.score + 2) / (self.n + 4)
            return share * (1 - share) / (self.n + 4)
        return self.spread**2 / self.n

    @property
    def yes_or_no(self) -> float:
        """How many yes-or-no answers would tell as much as these queries: n itself for P@1."""
        if self.sd is None or self.score in (0, 1):
            return float(self.n)
        return self.score * (1 - self.score) / self.variance if self.variance > 0 else math.nan

    def interval(self, level: float) -> tuple[float, float]:
        """The naive interval: Wilson's for yes-or-no answers, otherwise Student's t; NaN where nothing varies."""
        if self.sd is None or self.score in (0, 1):
            low, high = wilson(self.score, self.n, level)
            return float(low), float(high)
        half = float(half_width(math.sqrt(self.variance), level, self.n - 1.0)) or math.nan
        return self.score - half, self.score + half

    def drawn(self, draws: int, rng: np.random.Generator) -> Floats:
        """Scores as they might have come out with other queries of the same kind."""
        if self.sd is None or self.score in (0, 1):
            share = (self.n * self.score + 2) / (self.n + 4) if self.score in (0, 1) else self.score
            return rng.binomial(self.n, share, draws) / self.n
        return rng.normal(self.score, math.sqrt(self.variance), draws)

    def __repr__(self) -> str:
        spread = "" if self.sd is None else f", with a standard deviation of {self.sd:g} between them"
        return f"A score of {self.score:g} over {count(self.n, 'query', 'queries')}{spread}."


def _real(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


#: A bootstrap of fewer draws would mislead.
FEWEST_DRAWS = 100
#: The bootstrap's error and the closed form's differ by more than this share: worth a note.
APART = 0.25


@dataclass(frozen=True, eq=False, repr=False)
class Corrected(ResultBase):
    """One system's score as gold labels would have it, with its error, next to the score as judges see it.

    `low` and `high` are Lang and Reiczigel's interval, cut at 0 and 1; `frame` has the naive score, this, the closed
    form and the bootstrap one under the other. `value` may lie outside 0 to 1, which a note says; `possible` is the
    nearest score that there can be.
    """

    observed: Observed
    accuracy: Accuracy
    value: float
    standard_error: float
    low: float
    high: float
    bootstrap_error: float
    frame: pl.DataFrame
    level: float
    draws: int
    seed: int
    notes: tuple[str, ...] = ()

    @property
    def possible(self) -> float:
        """The corrected score, or 0 or 1 where it lies outside."""
        return min(max(self.value, 0.0), 1.0)

    @property
    def finding(self) -> str:
        """The result in a sentence."""
        places = decimals(self.low, self.high)
        seen = f"judges see {self.observed.score:.{max(places, 3)}f}"
        interval = (
            "no interval"
            if math.isnan(self.low)
            else f"{100 * self.level:g} % interval {self.low:.{places}f} to {self.high:.{places}f}"
        )
        value = f"is {self.value:.{places}f}"
        if self.value != self.possible:
            value = f"comes out at {self.value:.{places}f}, which no score can be"
        return (
            f"Corrected for the judges' errors the score {value} ({interval}); {seen} over "
            f"{count(self.observed.n, 'query', 'queries')}."
        )

    def to_frame(self) -> pl.DataFrame:
        """The score by each method: naive, corrected, closed form, bootstrap."""
        return self.frame

    def to_dict(self) -> dict[str, Any]:
        """The result as one document."""
        return {
            "finding": self.finding,
            "systems": [self.summary()],
            "methods": rows_of(self.frame),
            "accuracy": self.accuracy.to_dict(),
            "level": self.level,
            "draws": self.draws,
            "seed": self.seed,
            "notes": list(self.notes),
        }

    def summary(self, name: str = "A") -> dict[str, Any]:
        """The figures of this system, as one row of a document."""
        return {
            "system": name,
            "score": self.observed.score,
            "sd": self.observed.sd,
            "n": self.observed.n,
            "corrected": self.value,
            "possible": self.possible,
            "standard_error": self.standard_error,
            "low": None if math.isnan(self.low) else self.low,
            "high": None if math.isnan(self.high) else self.high,
        }


def corrected_score(
    observed: Observed, accuracy: Accuracy, *, level: float = 0.95, draws: int = 1000, seed: int = 0
) -> Corrected:
    """What a system's P@k would be if the judges made no errors, from its score and a sample of gold labels.

    >>> corrected_score(Observed(0.4, 500), Accuracy.of("90/100", "80/100"), draws=0)
    Corrected for the judges' errors the score is 0.29 (95 % interval 0.17 to 0.38); judges see 0.400 over 500 queries.
    - no standard deviation given: taken as P@1, a share of queries

    The standard error is the paper's equation (7), and with `draws` its parametric bootstrap (Algorithm 1). The
    interval is Lang and Reiczigel's, for P@k with as many yes-or-no answers as would have the same variance: with few
    gold labels the plain normal interval holds the truth too rarely. All this rests on judges whose errors depend on
    nothing but whether a document is relevant; judges who err more on one system's documents need gold labels for
    those. Refused (`Undefined`) when the judges cannot be told from guessing.

    Reference: Goldberg et al., Drawing Sound Conclusions from Noisy Judgments (WWW 2017), equations (5) and (7).
    """
    resampling = Resampling(level, draws, seed, fewest=FEWEST_DRAWS)
    accuracy.checked()
    parts = corrected_parts(
        observed.score, observed.variance, accuracy.relevant, accuracy.nonrelevant, *accuracy.variances
    )
    value = float(corrected(observed.score, accuracy.relevant, accuracy.nonrelevant))
    error = math.sqrt(sum(float(part) for part in parts))
    ends = lang_reiczigel(
        observed.score,
        observed.yes_or_no,
        accuracy.relevant,
        accuracy.n_relevant,
        accuracy.nonrelevant,
        accuracy.n_nonrelevant,
        level,
    )
    half = float(half_width(error, level))
    low, high, notes = _possible(value, float(ends[0]), float(ends[1]))
    notes += accuracy.notes
    drawn = bootstrap(observed, accuracy, draws, seed)
    bootstrap_error = float(np.nanstd(drawn, ddof=1)) if draws else math.nan
    few = int(np.isnan(drawn).sum())
    if few:
        notes.append(f"{few:,} of {draws:,} bootstrap draws have judges who guess: left out")
    if draws and abs(bootstrap_error / error - 1) > APART:
        notes.append(
            f"bootstrap and closed form disagree on the standard error ({bootstrap_error:.3g} and {error:.3g}): too "
            "few gold labels for either; the interval stands"
        )
    if observed.sd is None:
        notes.append("no standard deviation given: taken as P@1, a share of queries")
    rows = [
        ("naive", observed.score, math.sqrt(observed.variance) or math.nan, *observed.interval(level)),
        ("corrected", value, error, low, high),
        ("closed form", value, error, value - half, value + half),
    ]
    if draws:
        rows.append(("bootstrap", value, bootstrap_error, *resampling.ends(drawn, observed.n)))
    frame = pl.DataFrame(rows, schema=["method", "score", "standard_error", "low", "high"], orient="row")
    return Corrected(
        observed, accuracy, value, error, low, high, bootstrap_error, frame, level, draws, seed, tuple(notes)
    )


def bootstrap(observed: Observed, accuracy: Accuracy, draws: int, seed: int) -> Floats:
    """Algorithm 1: corrected scores of studies like this one; NaN where the draw's judges guess.

    >>> drawn = bootstrap(Observed(0.6260, 10278, sd=0.414), Accuracy.of("43/59", "67/84"), 100_000, seed=1)
    >>> bool(0.0903 < drawn.std() < 0.1)
    True
    """
    rng = np.random.default_rng(seed)
    relevant, nonrelevant = drawn_accuracies(accuracy, draws, rng)
    score = observed.drawn(draws, rng)
    guess = relevant + nonrelevant <= 1
    relevant[guess] = np.nan
    return np.asarray(corrected(score, relevant, nonrelevant))


def drawn_accuracies(accuracy: Accuracy, draws: int, rng: np.random.Generator) -> list[Floats]:
    """The two accuracies as other gold samples of the same size would show them."""
    drawn = []
    for _, agreed, n in accuracy.counts:
        share = (agreed + 1) / (n + 2) if agreed in (0, n) else agreed / n
        drawn.append(rng.binomial(n, share, draws) / n)
    return drawn


def _possible(value: float, low: float, high: float) -> tuple[float, float, list[str]]:
    """The interval cut at 0 and 1, and what to say of a score or an interval outside."""
    notes = []
    if not 0 <= value <= 1:
        notes.append(
            f"the corrected score {value:.2f} lies outside 0 to 1: these judges are not as accurate on this system as "
            f"on the gold sample, or the sample is too small; the nearest possible score is {min(max(value, 0), 1):.0f}"
        )
    if math.isnan(low):
        notes.append("all queries scored alike: no interval")
    elif high <= 0 or low >= 1:
        notes.append("no score from 0 to 1 fits these figures: no interval")
        low = high = math.nan
    elif low < 0 or high > 1:
        notes.append(f"the interval of the corrected score, {low:.2f} to {high:.2f}, is cut at 0 and 1")
        low, high = max(low, 0.0), min(high, 1.0)
    return low, high, notes
