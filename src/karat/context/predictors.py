"""Models that tell a grade in context from what is known of the two documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import polars as pl

from karat.context.pair_features import Features
from karat.errors import BadInput
from karat.stats.arrays import Bools, Floats, Ints

#: Slopes on standardised features are held down by half their squares, once for all labels, as scikit-learn does.
RIDGE = 1.0
#: Two slopes need little of it: at full strength small studies would be told too often that nothing is extreme.
WEAK_RIDGE = 0.01
#: Into so many parts queries are cut to see how sure a model may be of itself.
INNER_FOLDS = 3
#: A probability below this is taken for this, so that one surprise does not decide about a whole model.
SMALLEST = 1e-4
#: So many times grades are made as frequent as they are; a few suffice.
FITTINGS = 50


@dataclass(frozen=True)
class Predictor:
    """A way to tell a grade in context, by multinomial logistic regression: what it looks at."""

    name: str
    about: str
    #: Whether it looks at all there is, or at the two grades alone.
    rich: bool
    ridge: float = RIDGE

    def columns(self, features: Features) -> Floats:
        """What the model looks at, as numbers."""
        return features.rich if self.rich else features.grades


#: The predictors by name; the first is the paper's.
PREDICTORS: Mapping[str, Predictor] = MappingProxyType(
    {
        predictor.name: predictor
        for predictor in (
            Predictor("grades", "the two grades alone, as in the paper,", rich=False, ridge=WEAK_RIDGE),
            Predictor("features", "grades, aspects, texts, sites and ranks", rich=True),
        )
    }
)


def predictor_named(name: str) -> Predictor:
    """The predictor of this name.

    >>> predictor_named("grades").rich
    False
    """
    if name not in PREDICTORS:
        raise BadInput.at("the model", expected=" or ".join(PREDICTORS), found=f'"{name}"')
    return PREDICTORS[name]


@dataclass(frozen=True, eq=False)
class Calibration:
    """Probabilities of a model made less sure, without making any grade more or less frequent than it was."""

    #: Above 1, probabilities are drawn towards each other: the model was too sure of itself on held-out queries.
    temperature: float
    #: What each grade's probability is multiplied by, so that on the rows learnt from all are as frequent as they are.
    factors: Floats

    @classmethod
    def of_rows(cls, told: Floats, y: Ints, times: Floats, temperature: float) -> Calibration:
        """The factors for rows that come so often and whose grades are known, by proportional fitting."""
        levels = told.shape[1]
        share = np.bincount(y, times, levels) / times.sum()
        factors = np.ones(levels)
        for _ in range(FITTINGS if temperature != 1 else 0):
            mean = times @ cls(temperature, factors).of(told) / times.sum()
            step = np.divide(share, mean, out=np.ones(levels), where=mean > 0)
            factors = factors * step
            if np.abs(step - 1).max() < 1e-6:
                break
        return cls(temperature, factors)

    def of(self, told: Floats) -> Floats:
        """The probabilities that a model tells, calibrated."""
        raised = np.maximum(told, 1e-300) ** (1 / self.temperature) * (told > 0) * self.factors
        calibrated: Floats = raised / raised.sum(axis=1, keepdims=True)
        return calibrated


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model that has learnt: probabilities of the grades 0 .. levels - 1, by number."""

    mean: Floats
    spread: Floats
    model: Callable[[Floats], Floats]
    calibration: Calibration

    def probabilities(self, x: Floats) -> Floats:
        """The probability of each grade (columns) for each row."""
        return self.calibration.of(self.model((x - self.mean) / self.spread))

    def likeliest(self, x: Floats) -> Ints:
        """The likeliest grade of each row, for which it does not matter how sure the model is."""
        found: Ints = self.model((x - self.mean) / self.spread).argmax(axis=1)
        return found


@dataclass(frozen=True, eq=False)
class Examples:
    """What there is to learn from: columns and a grade by number for each row.

    Rows that are alike are counted together, which is what makes it fast: two grades have few different ones.

    >>> made = Examples.of(np.array([[1.0], [0.0], [1.0]]), np.array([2, 0, 2]))
    >>> made.x.tolist(), made.y.tolist(), made.alike.tolist(), made.counts(np.arange(3)).tolist()
    ([[1.0], [0.0]], [2, 0], [0, 1, 0], [[2.0, 1.0]])
    """

    #: The different rows, and which of them each row is.
    x: Floats
    y: Ints
    alike: Ints

    @classmethod
    def of(cls, x: Floats, y: Ints) -> Examples:
        """Count rows that are alike together."""
        rows = np.column_stack([x, y])
        hashes = pl.DataFrame(rows).hash_rows().to_numpy()
        first, alike = np.unique(hashes, return_index=True, return_inverse=True)[1:]
        if not np.array_equal(rows[first][alike], rows):  # two different rows with one hash
            return cls(x, y, np.arange(len(y)))
        place = np.argsort(np.argsort(first))  # in the order in which they come
        first = np.sort(first)
        return cls(x[first], y[first], place[alike])

    def counts(self, rows: Bools | Ints, part: Ints | None = None) -> Floats:
        """How often each different row comes among these, part by part (of each row that is asked for)."""
        n, alike = len(self.y), self.alike[rows]
        place, number = (alike, 1) if part is None else (part * n + alike, int(part.max(initial=0)) + 1)
        return np.bincount(place, minlength=number * n).reshape(number, n).astype(np.float64)


def fit(
    predictor: Predictor,
    x: Floats,
    y: Ints,
    query: Ints,
    levels: int,
    *,
    temperature: float | None = None,
    seed: int = 0,
) -> Fitted:
    """Let a predictor learn grades (by number) from columns, and how sure of itself it may be, from held-out queries.

    Slopes are shrunk by one number, the temperature, chosen so that the grades of held-out queries have the highest
    likelihood, unless it is given; intercepts are then fitted again. Without that all grades would be drawn towards
    equal shares, and expected grades towards the middle of the scale.

    Reference: van Houwelingen and le Cessie, Predictive value of statistical models (Statistics in Medicine 1990).
    """
    examples = Examples.of(x, y)
    part = parts(query, INNER_FOLDS, seed) if temperature is None else None
    return _counted(predictor, examples, examples.counts(np.arange(len(y)), part), levels, temperature or 1.0)


def _counted(predictor: Predictor, examples: Examples, counts: Floats, levels: int, temperature: float = 1.0) -> Fitted:
    """The predictor that has learnt from examples that come so often, in parts of which each is held out in turn.

    Without parts, or with too few, the temperature is as given.
    """
    from scipy.optimize import minimize_scalar

    there = counts.sum(axis=0) > 0
    x, y, counts = examples.x[there], examples.y[there], counts[:, there]
    times: Floats = counts.sum(axis=0)
    mean = np.average(x, axis=0, weights=times)
    spread = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=times))
    spread = np.where(spread > 1e-9, spread, 1.0)
    scaled = (x - mean) / spread
    if len(counts) == INNER_FOLDS:
        # Each held out by a model of the others.
        held_out = [_learnt(predictor, scaled, y, times - mine, levels)(scaled) for mine in counts]

        def loss(log_temperature: float) -> float:
            found = 0.0
            for mine, told in zip(counts, held_out, strict=True):
                calibrated = Calibration.of_rows(told, y, times - mine, float(np.exp(log_temperature))).of(told)
                found -= float(mine @ np.log(np.maximum(calibrated[np.arange(len(y)), y], SMALLEST)))
            return found

        temperature = float(np.exp(minimize_scalar(loss, bounds=(-1.5, 1.5), method="bounded").x))
    model = _learnt(predictor, scaled, y, times, levels)
    return Fitted(mean, spread, model, Calibration.of_rows(model(scaled), y, times, temperature))


def out_of_fold(predictor: Predictor, x: Floats, y: Ints, fold: Ints, levels: int) -> Floats:
    """The probabilities of each row's grades, by a model that saw no row of its fold."""
    told = np.zeros((len(y), levels))
    examples = Examples.of(x, y)
    for number in np.unique(fold):
        test = fold == number
        model = _counted(predictor, examples, examples.counts(~test), levels)
        different, place = np.unique(examples.alike[test], return_inverse=True)
        told[test] = model.probabilities(examples.x[different])[place]
    return told


def redrawn(
    predictor: Predictor,
    x: Floats,
    y: Ints,
    query: Ints,
    wanted: Floats,
    grades: Floats,
    temperature: float,
    times: int,
    seed: int,
) -> list[Floats]:
    """Grades of the wanted rows as they may have been, by models that learn from queries drawn with replacement.

    They come in pairs, the first with the second, the third with the fourth, ...: what a judge happens to say where
    several grades are probable is the same in both, so that they differ by the queries learnt from alone.
    """
    rng = np.random.default_rng([seed, 2])
    queries, code = np.unique(query, return_inverse=True)
    examples, found = Examples.of(x, y), []
    start = rng.random((len(wanted), 1))
    for number in range(times):
        # Lucks of a row are spread evenly over the pairs, so that a few of them have its mean.
        luck = (start + number // 2 * 2 / times) % 1
        often = np.bincount(rng.integers(len(queries), size=len(queries)), minlength=len(queries))
        drawn = np.bincount(examples.alike, often[code], len(examples.y)).astype(np.float64)
        chances = _counted(predictor, examples, drawn[None], len(grades), temperature).probabilities(wanted)
        place = (chances.cumsum(axis=1) < luck).sum(axis=1).clip(max=len(grades) - 1)
        found.append(grades[place])
    return found


def parts(query: Ints, folds: int, seed: int) -> Ints:
    """A part for each row, whole queries in one part; fewer parts than asked where there are fewer queries."""
    queries, code = np.unique(query, return_inverse=True)
    part: Ints = np.random.default_rng(seed).permutation(len(queries))[code] % folds
    return part


def _learnt(predictor: Predictor, x: Floats, y: Ints, times: Floats, levels: int) -> Callable[[Floats], Floats]:
    """A model as a function from columns to probabilities, of rows that come so often; grades never seen have none."""
    there = times > 0
    x, y, times = x[there], y[there], times[there]
    seen = np.unique(y)
    if len(seen) == 1:
        only = np.zeros(levels)
        only[seen] = 1.0
        return lambda columns: np.tile(only, (len(columns), 1))
    from sklearn.linear_model import LogisticRegression

    tell = LogisticRegression(C=1 / predictor.ridge, max_iter=2000).fit(x, y, sample_weight=times).predict_proba

    def whole(columns: Floats) -> Floats:
        told = np.zeros((len(columns), levels))
        if len(columns):
            told[:, seen] = tell(columns)
        return told

    return whole
