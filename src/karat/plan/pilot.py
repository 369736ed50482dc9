"""How far two systems' scores differ from query to query, and what a missing gold label adds: what a plan rests on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat.advice import advise
from karat.comparison.prepared import Matrix
from karat.correction.calibration import FEWEST, Evidence, further_columns
from karat.correction.estimators import calibrated_gain
from karat.correction.gold_sample import Gold
from karat.correction.ndcg_correction import gold_changes
from karat.correction.pool import Pool, pool_for
from karat.correction.ppi import check_gold, never_wrong, weighed
from karat.errors import BadInput, Undefined
from karat.measures import Profile, as_measures, is_linear, profile_named
from karat.measures.scorer import Scorer
from karat.plan.simulated_power import FLOOR, PilotModel, sizes
from karat.records import Judgments, LabelsLike, Runs, RunsLike
from karat.records.runs import several, together
from karat.records.table import count
from karat.stats.arrays import Floats, Ints
from karat.stats.power import sampled_sd
from karat.stats.sampling import inclusion_probabilities


@dataclass(frozen=True, eq=False)
class GoldSpread:
    """What each gold document would add to the variance of a query's difference, had it been left out or drawn rarely.

    `size` is how differently the systems weigh each document that matters, `gold` the places among them of those with
    a gold label, and `squares` what a query's variance gains by these times (1/p - 1), p being the chance of each.
    `now` is what it has gained in the pilot.
    """

    size: Floats
    gold: Ints
    squares: Floats
    now: float
    labels: int

    @property
    def variance(self) -> float:
        """What the variance gains, times (1/share - 1), where all documents that matter are drawn alike."""
        return float(self.squares.sum())

    def adds(self, share: float) -> float:
        """What the variance gains where `plan_gold` draws this share of the documents that matter.

        >>> alike = GoldSpread(np.ones(4), np.array([0, 2]), np.array([0.01, 0.03]), 0.0, 2)
        >>> round(alike.adds(0.25), 3)
        0.12
        """
        if not 0 < share <= 1:
            raise BadInput.at("the share of gold labels", expected="above 0, at most 1", found=f"{share:g}")
        chance = inclusion_probabilities(self.size, share * len(self.size), floor=FLOOR * share)
        return float((self.squares * (1 / chance[self.gold] - 1)).sum())


def gold_spread(runs: Runs, scorer: Scorer, pool: Pool, evidence: Evidence | None) -> GoldSpread:
    """What the gold labels of a pilot show: how each changes the difference, as often as it stands for others.

    Without `evidence` the judge is not calibrated but weighed, so that its errors are smallest.
    """
    check_gold(pool)
    measure, drawn = scorer.measures[0], pool.drawn
    if evidence is not None and not is_linear(measure):
        change = gold_changes(runs, scorer, pool, evidence)
    elif is_linear(measure):
        # The plan draws by other chances than the pilot: each gold document is as heavy as it stands for others.
        learned = evidence and pool.with_predicted(calibrated_gain(pool, measure, evidence, scorer))
        predicted = weighed(learned, pool, pool.inverse) if learned else weighed(pool, None, pool.inverse)
        change = (pool.truth - predicted)[drawn, None] * pool.weight[drawn]
    else:
        raise Undefined(
            f"{measure} is no sum over documents: to plan with gold labels of single documents takes {FEWEST} or more "
            "of them, of more than one grade, and a calibrated judge; P, DCG and RBP can be planned without"
        )
    square = np.where(pool.matters[drawn], (change[:, 1] - change[:, 0]) ** 2 + _unseen(pool), 0.0)
    inverse, size = pool.inverse[drawn], sizes(pool, measure)
    here = size > 0
    place, kept = np.cumsum(here) - 1, here[drawn]
    squares = square * inverse / len(pool.queries)
    now = float((squares * (inverse - 1)).sum())
    labels = int((drawn & pool.matters).sum())
    return GoldSpread(size[here], place[drawn][kept].astype(np.int64), squares[kept], now, labels)


def _unseen(pool: Pool) -> Floats:
    """What each gold document might have changed, squared, where none contradicts the judge: one might have.

    As in `powered`, by the rule of succession.
    """
    if not never_wrong(pool):
        return np.zeros(int(pool.drawn.sum()))
    gains = np.concatenate([pool.predicted, pool.gold[pool.drawn], [0.0]])
    widest = float(np.ptp(gains)) * (pool.weight[pool.drawn, 1] - pool.weight[pool.drawn, 0])
    return np.asarray(widest**2 / (int((pool.drawn & pool.matters).sum()) + 2))


#: From fewer queries than this a standard deviation is a guess, and gets no interval.
FEW = 10
#: From fewer gold labels than this the judge's errors are a guess.
FEW_GOLD = 30


@dataclass(frozen=True)
class PilotVariance:
    """What a plan rests on: how far the differences of two systems vary over queries, and what gold labels mend.

    `sd` is the standard deviation of a query's difference, `low` and `high` its interval where it was estimated (from
    `queries` queries). `gold_variance` times (1/share - 1) is what the variance gains when only a share of the
    documents that matter, drawn uniformly, has a gold label; `gold` knows it for those that `plan_gold` draws. `pool`
    is how many documents of a query matter: count for one system more than for the other. `model` is there for measures
    that are no sums over documents (nDCG, RR, ERR): power is then simulated from it.
    """

    sd: float
    gold_variance: float | None = None
    pool: float | None = None
    measure: str = ""
    queries: int | None = None
    low: float = math.nan
    high: float = math.nan
    notes: tuple[str, ...] = ()
    gold: GoldSpread | None = None
    model: PilotModel | None = None

    def at(self, share: float) -> float:
        """The standard deviation of a query's corrected difference, a share of what matters having a gold label.

        >>> round(PilotVariance(0.2, gold_variance=0.005).at(0.1), 3)
        0.292
        """
        if self.gold is None:
            return sampled_sd(self.sd**2, self.gold_variance or 0.0, share)
        return math.sqrt(self.sd**2 + self.gold.adds(share))


def pilot_variance(
    labels: LabelsLike,
    runs: RunsLike,
    measure: object,
    *,
    gold: LabelsLike | None = None,
    calibrate: bool | Sequence[str] = True,
    profile: str | Profile = "trec_eval",
    common_queries: bool = False,
) -> PilotVariance:
    """The spread of the differences of two systems, by the labels there are and a pilot of gold labels.

    >>> labels = {f"q{i}": {"good": 1, "bad": 0} for i in range(12)}
    >>> a = {f"q{i}": {"good": 1.0, "bad": 2.0} if i % 4 else {"good": 2.0, "bad": 1.0} for i in range(12)}
    >>> b = {f"q{i}": {"good": 2.0, "bad": 1.0} for i in range(12)}
    >>> round(pilot_variance(labels, {"a": a, "b": b}, "P@1").sd, 3)
    0.452

    Without gold labels the standard deviation is by the labels as they are. A judge who errs makes it too large, or too
    small. With gold labels it is that of true differences, as the calibrated judge expects them where there is no gold
    label, and what a missing gold label costs is what `compare` leaves to chance with this judge, calibrated alike.
    As in `compare`, judged queries that a system misses count 0 unless `common_queries` leaves them out.
    """
    measures = as_measures(measure)
    if len(measures) != 1:
        raise BadInput.at("the plan", expected="one measure", found=str(len(measures)))
    if gold is None and not isinstance(calibrate, bool):
        raise BadInput.at(
            "calibrate",
            expected="gold labels to calibrate on",
            found="none",
            remedy=advise("give --gold", "give gold="),
        )
    lists, given = several(runs), Judgments.of(labels)
    scorer = Scorer(
        given, measures, profile=profile_named(profile), complete=not common_queries, draws=0, comparing=True
    )
    matrix = Matrix.of(scorer, lists, common_queries=common_queries)
    if len(matrix.systems) != 2:
        raise BadInput.at("the plan", expected="two systems", found=", ".join(matrix.systems))
    queries, notes = list(matrix.queries), list(matrix.notes)
    if len(queries) < FEW:
        notes.append(f"the spread is known from {count(len(queries), 'query', 'queries')} only: the plan is a guess")
    together_, golden = together(lists), None if gold is None else Gold.of(Judgments.of(gold))
    docs = pool_for(together_, queries, scorer.by(measures[0]), golden) if len(queries) > 1 else None
    known, model = None, None
    if golden is not None and docs is not None:
        columns = None if isinstance(calibrate, bool) else further_columns(given, calibrate)
        evidence = Evidence.of(together_, queries, scorer.topics, scorer.profile, golden, columns)
        learned = evidence if calibrate is not False and evidence.enough else None
        known = gold_spread(together_, scorer, docs, learned)
        model = PilotModel.of(together_, scorer, docs, evidence, calibrate) if evidence.enough else None
        notes += [*golden.notes, *(evidence.notes if learned else ()), *_on_gold(docs, model is not None)]
    elif gold is not None and len(queries) > 1:
        raise Undefined(
            f"{measures[0]} cannot be corrected from gold labels of single documents, so they do not tell how many are "
            "needed; plan with nDCG, P, DCG, RBP, RR or ERR, or without gold labels"
        )
    by_labels = (matrix.values[:, 1] - matrix.values[:, 0])[:, None]
    sd, low, high = _sd(by_labels if model is None else model.differences)
    return PilotVariance(
        sd,
        None if known is None else known.variance,
        None if docs is None else float(docs.matters.sum()) / len(queries),
        str(measures[0]),
        len(queries),
        low,
        high,
        tuple(notes),
        known,
        None if is_linear(measures[0]) else model,
    )


def _on_gold(pool: Pool, calibrated: bool) -> list[str]:
    """What a reader should know about the pilot."""
    notes, used = [], int((pool.drawn & pool.matters).sum())
    if not calibrated:
        notes.append("the standard deviation is by the labels as they are: the pilot is too small to mend it")
    if never_wrong(pool):
        notes.append(
            f"none of the {used:,} gold labels that count contradicts the judge: the plan allows for one error"
        )
    if used < FEW_GOLD:
        notes.append(f"the judge's errors are known from {count(used, 'gold label')} only: the plan is a guess")
    return notes


def _sd(differences: Floats) -> tuple[float, float, float]:
    """The standard deviation over queries (rows) with its 95 % interval, on the scale of logarithms.

    Several columns are as many ways in which the truth may be: their variances are averaged.

    The error is the larger of what the normal distribution and what the fourth moment say, because the latter is itself
    too small by chance with few queries.
    """
    from scipy.special import stdtrit

    n = len(differences)
    if n < 2:
        raise Undefined(f"the systems and the labels share {count(n, 'query', 'queries')}: their spread cannot be told")
    away = differences - differences.mean(axis=0)
    variance = float((away**2).sum(axis=0).mean()) / (n - 1)
    if variance <= 1e-24:
        raise Undefined(
            "the two systems differ by the same on every query: how far differences vary cannot be told; "
            + advise(
                "give --sd-difference from another comparison",
                "give a standard deviation from another comparison",
            )
        )
    sd = math.sqrt(variance)
    if n < FEW:
        return sd, math.nan, math.nan
    fourth = float((away**4).mean()) / variance**2
    error = math.sqrt(max(2 / (n - 1), (fourth - (n - 3) / (n - 1)) / n))
    reach = float(stdtrit(n - 1, 0.975)) * error / 2
    return sd, sd * math.exp(-reach), sd * math.exp(reach)
