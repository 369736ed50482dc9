"""Which documents are worth a gold label? Those that tell the systems apart and whose label may be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from karat.advice import advise
from karat.correction.calibration import Evidence, further_columns
from karat.correction.gold_sample import Gold
from karat.correction.pool import Pool, pool_for, shown, stand_in
from karat.correction.ppi import out_of_reach
from karat.correction.whole_queries import FEWEST as FEWEST_QUERIES
from karat.errors import BadInput, Undefined
from karat.labels import split_gold
from karat.measures import Measure, Profile, as_measures, is_linear, nDCG, profile_named
from karat.measures.scorer import Scorer
from karat.plan.gold_plan import GoldPlan as GoldPlan
from karat.plan.simulated_power import FLOOR, sizes
from karat.records import Judgments, LabelsLike, Runs, RunsLike
from karat.records.runs import joined
from karat.records.schema import DIFFERENCES, SCORES
from karat.records.swapped import refuse_swapped
from karat.records.table import count
from karat.stats import totals
from karat.stats.arrays import Bools, Floats
from karat.stats.sampling import draw, inclusion_probabilities

#: A document without a label was not sure to get one, whatever the guess is.
MOST = 0.95


def guessed_chances(pool: Pool, size: Floats) -> Floats:
    """A guess of the chance that each document had in the first round: as of drawn ones like it, in proportion to size.

    Its own draw plays no part in a document's guess, for the shares must not depend on it. Documents that count alike
    for all systems are like each other; of the rest, those that one system alone shows, and those of several. Where
    nobody was drawn the guess is 0: the first round says nothing there.
    """
    shown = np.count_nonzero(pool.weight, axis=1)
    cell = np.where(shown == 1, np.argmax(pool.weight != 0, axis=1), len(pool.systems))
    cell = np.where(size > 0, cell, len(pool.systems) + 1)
    size = np.where(size > 0, size, 1.0)
    drawn, stands_for = pool.drawn.astype(np.float64), size * pool.inverse
    number, total = (totals(cell, part, len(pool.systems) + 2)[cell] - part for part in (drawn, stands_for))
    ratio = np.divide(number, total, out=np.zeros(len(size)), where=total > 0)
    return np.minimum(ratio * size, MOST)


def chances(size: Floats, guessed: Floats, least: Floats, n: int, open_: Bools) -> Floats:
    """The chance of each open document in the next draw, n in all; for the others, what it would be if they were open.

    What counts is the chance to be drawn in either round: that shall be in proportion to size, so that a document which
    probably had its chance before has less of one now.
    """
    if not guessed.any() and open_.all():
        return inclusion_probabilities(size, n, floor=least)

    def at(rate: float) -> Floats:
        wanted = np.where(guessed < 1, (rate * size - guessed) / np.maximum(1 - guessed, 1e-12), 0.0)
        return np.clip(wanted, least, 1.0)

    low, high = 0.0, 1 / float(size[size > 0].min())  # everything that has a size is drawn at the latter
    if n >= float(at(high)[open_].sum()):
        return at(high)
    for _ in range(100):  # halved until nothing changes any more
        rate = (low + high) / 2
        low, high = (rate, high) if at(rate)[open_].sum() < n else (low, rate)
    return at(high)


def joint_probabilities(pool: Pool, guessed: Floats, chance: Floats) -> Floats:
    """What goes for the probability of each document in a file with the labels of both rounds.

    For earlier labels one by their weight, for the others the chance that they are drawn in one of the rounds, as far
    as it is known; `chance` is that of the second round, also for documents that are out of it for having a label.
    """
    first = guessed * (1 - chance)
    either = chance + first
    share = np.divide(first, either, out=np.ones(len(either)), where=either > 0)
    earlier = 1 / np.where(pool.drawn, share * pool.inverse + 1 - share, 1.0)
    return np.where(pool.drawn, earlier, either)


def as_many_uniform(worth: Floats, guessed: Floats, chance: Floats, open_: Bools) -> float:
    """How many of the open documents, all as likely, would leave as much to chance in the difference."""
    left = float((worth**2 * (1 / np.where(worth > 0, guessed + (1 - guessed) * chance, 1.0) - 1)).sum())
    low, high = 0.0, 1.0
    for _ in range(60):  # halved until nothing changes any more
        share = (low + high) / 2
        uniform = float((worth**2 * (1 / (guessed + (1 - guessed) * share) - 1)).sum())
        low, high = (share, high) if uniform > left else (low, share)
    return high * int(open_.sum())


#: The share of the gold labels that is drawn from all documents alike, for later comparisons with other systems.
UNIFORM = 0.0
#: Of documents that a system does not show, so many gold labels tell what its best list may hold.
ENOUGH_HIDDEN = 25
#: What a pilot says of one label is tempered by so many labels of the average kind.
FEW = 5


def plan_gold(
    labels: LabelsLike,
    runs: RunsLike,
    measure: object = "nDCG@10",
    n: int = 300,
    *,
    pilot: Any = None,
    calibrate: bool | Sequence[str] = True,
    uniform: float = UNIFORM,
    floor: float = FLOOR,
    profile: str | Profile = "trec_eval",
    common_queries: bool = False,
    seed: int = 0,
) -> GoldPlan:
    """Draw `n` documents for gold labels, the likelier the more they tell the systems apart.

    >>> labels = {f"q{i}": {"x": 1, "y": 0, "z": 1} for i in range(9)}
    >>> a = {f"q{i}": {"x": 2.0, "y": 1.0} for i in range(9)}
    >>> b = {f"q{i}": {"x": 2.0, "z": 1.0} for i in range(9)}
    >>> plan = plan_gold(labels, {"a": a, "b": b}, "P@2", 6, uniform=0.0)
    >>> plan.frame.height, sorted(set(plan.frame["doc"]))
    (6, ['y', 'z'])

    The probability of a document is in proportion to how differently the systems weigh it times how far its label may
    be off: as calibrated on the `pilot`, earlier gold labels (`calibrate` is as in `compare`); alike for all without
    one. It is capped at 1, and not below `floor` times the average wherever the systems differ. The share `uniform`
    goes to all documents alike, so that the labels can serve other comparisons. One system alone is for its own score:
    what it shows counts by its rank. Measures such as AP, which gold labels of single documents cannot correct, need
    `plan_gold_queries`. As in `compare`, queries that some system misses count unless `common_queries` leaves them out.

    With a pilot, `n` new documents are drawn among those without a gold label, and `to_frame` has the labels of both
    rounds with probabilities that go for both together: use it alone.

    Reference: Neyman's allocation (JRSS 1934) for the difference of two systems.
    """
    one = _one(measure)
    _check_number(n)
    for name, share in (("uniform", uniform), ("floor", floor)):
        if not 0 <= share <= 1:
            raise BadInput.at(name, expected="a share from 0 to 1", found=str(share))
    if pilot is None and not isinstance(calibrate, bool):
        raise BadInput.at("calibrate", expected="a pilot of gold labels to calibrate on", found="none")
    lists, scorer, queries = _study(labels, runs, one, profile, common_queries)
    known = None
    if pilot is not None:
        trusted = split_gold(labels, pilot, given_stands=True, any_scale=True)[1]
        known = None if trusted is None else Gold.of(trusted)
    pool = pool_for(lists, queries, scorer, known, ideal=uniform > 0 or len(lists.systems) == 1)
    if pool is None:
        raise BadInput.at(
            "the measure",
            expected="one that gold labels of single documents can correct: nDCG, P, DCG, RBP, RR, ERR",
            found=str(one),
            remedy=f"others need whole queries ({advise('--whole-queries', 'plan_gold_queries')})",
        )
    size = sizes(pool, one)
    if not size.any():
        raise Undefined("the systems show the same documents with the same weights: no gold label can tell them apart")
    error, notes = _error_size(pool, lists, queries, scorer, known, calibrate)
    worth, open_ = size * error, ~pool.drawn
    counting = open_ & (size > 0)
    if not counting.any():
        raise Undefined("every document that tells the systems apart has a gold label: nothing is left to draw")
    told = known is not None and _fits(pool, notes)
    guessed = guessed_chances(pool, size) if told else np.zeros(len(worth))
    share_of_draw = (1 - uniform) * worth / worth[open_].sum() + uniform / int(open_.sum())
    least = np.where(size > 0, floor * min(n / int(counting.sum()), 1.0), 0.0)
    chance = chances(share_of_draw, guessed, least, n, open_)
    drawable = np.where(open_, chance, 0.0)
    hidden = ~pool.weight.any(axis=1)
    if len(pool.systems) == 1 and isinstance(one, nDCG) and hidden.any() and drawable[hidden].sum() < ENOUGH_HIDDEN:
        there = float(drawable[hidden].sum())
        notes.append(
            f"about {there:.0f} of them are documents that {pool.systems[0]} does not show, too few to learn what its "
            f"best list may hold: ask for {n * ENOUGH_HIDDEN / max(there, 1.0):.0f} or more"
        )
    reachable = int((drawable > 0).sum())
    if n > reachable:
        notes.append(f"{count(reachable, 'document')} in all to choose from: every one of them is to be labelled")
    probability, earlier = joint_probabilities(pool, guessed, chance), None
    if known is not None:
        earlier = _earlier(pool, known, probability, told | (chance > 0), pilot, notes)
    frame = pool.docs.select("query", "doc").with_columns(
        pl.lit(None, dtype=pl.Float64).alias("label"), pl.Series("probability", probability)
    )
    return GoldPlan(
        # In random order: those with a label are a random part of the draw at any time.
        frame.filter(pl.Series(draw(drawable, seed=seed))).sample(fraction=1.0, shuffle=True, seed=seed),
        str(one),
        pool.systems,
        len(worth),
        int(counting.sum()),
        # Earlier labels that speak for themselves alone leave nothing to chance.
        as_many_uniform(worth if told else np.where(open_, worth, 0.0), guessed, chance, open_),
        seed,
        tuple(notes),
        labelled=int(pool.drawn.sum()),
        earlier=earlier,
        drawn_for=SCORES if uniform > 0 or len(pool.systems) == 1 else DIFFERENCES,
    )


def plan_gold_queries(
    labels: LabelsLike,
    runs: RunsLike,
    measure: object,
    n: int = 300,
    *,
    profile: str | Profile = "trec_eval",
    common_queries: bool = False,
    seed: int = 0,
) -> GoldPlan:
    """Draw whole queries for gold labels, as many as `n` labels allow: all that the systems show of them.

    >>> labels = {f"q{i}": {"x": 1, "y": 0} for i in range(30)}
    >>> run = {f"q{i}": {"x": 2.0, "y": 1.0} for i in range(30)}
    >>> plan_gold_queries(labels, {"a": run, "b": run}, "nDCG@10", 40).frame["query"].n_unique()
    20

    For measures that are no sums over documents: nDCG, AP, RR, ERR. All queries are as likely as each other. Without a
    cutoff, documents that nobody labelled are left out: they count as not relevant. The column `order` keeps the
    documents of a query together in the judging app.
    """
    one = _one(measure)
    _check_number(n)
    lists, scorer, queries = _study(labels, runs, one, profile, common_queries)
    docs = shown(lists, queries, scorer.profile, one.cutoff).select("query", "doc").unique().sort("query", "doc")
    if one.cutoff is None:
        docs = docs.join(scorer.topics.judged.select("query", "doc"), on=["query", "doc"], how="semi")
    each = docs.height / len(queries)
    chosen = min(int(n / each + 1e-9), len(queries))
    fewest = min(FEWEST_QUERIES, len(queries))
    if chosen < fewest:
        raise Undefined(
            f"{n} gold labels are less than {fewest} queries need (about {each:.0f} documents each): ask for "
            f"{fewest * each:.0f} or more"
        )
    taken = np.random.default_rng(seed).choice(len(queries), chosen, replace=False)
    names = [queries[place] for place in sorted(taken)]
    frame = docs.filter(pl.col("query").is_in(names)).with_columns(
        pl.lit(None, dtype=pl.Float64).alias("label"), pl.lit(chosen / len(queries)).alias("probability")
    )
    systems = tuple(lists.systems)
    frame = (
        _queries_shuffled(frame, seed).with_row_index("order", 1).select(*frame.columns, pl.col("order").cast(pl.Int64))
    )
    return GoldPlan(frame, str(one), systems, docs.height, docs.height, np.nan, seed, (), len(queries))


def _queries_shuffled(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Queries in random order, each one's documents together: queries labelled so far are then a random part."""
    order = frame.select(pl.col("query").unique().sort().shuffle(seed=seed)).with_row_index("place")
    return frame.join(order, on="query", maintain_order="left").sort("place", maintain_order=True).drop("place")


def _one(measure: object) -> Measure:
    measures = as_measures(measure)
    if len(measures) != 1:
        raise BadInput.at("the measure", expected="one", found=str(len(measures)))
    if measures[0].diverse:
        raise BadInput.at("the measure", expected="one without subtopics", found=str(measures[0]))
    return measures[0]


def _check_number(n: int) -> None:
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise BadInput.at("the gold labels to draw", expected="1 or more", found=str(n))


def _study(
    labels: LabelsLike, runs: RunsLike, measure: Measure, profile: str | Profile, common_queries: bool
) -> tuple[Runs, Scorer, list[str]]:
    """The runs as one, a scorer for the labels, and the judged queries that any (or all) of them answer."""
    lists = joined(runs)
    judged = Judgments.of(labels)
    refuse_swapped(judged, lists)
    scorer = Scorer(judged, [measure], profile=profile_named(profile), draws=0)
    keys = lists.blocks.keys.join(scorer.topics.queries, on="query", how="semi")
    everywhere = keys.group_by("query").len().filter(pl.col("len") >= (len(lists.systems) if common_queries else 1))
    queries = everywhere["query"].sort().to_list()
    if len(queries) < 2:
        raise Undefined("the runs and the labels share fewer than two queries: nothing to plan")
    return lists, scorer, queries


def _error_size(
    pool: Pool,
    runs: Runs,
    queries: list[str],
    scorer: Scorer,
    known: Gold | None,
    calibrate: bool | Sequence[str],
) -> tuple[Floats, list[str]]:
    """How far a document's gain may be off: as the judge calibrated on the pilot has it, or labels like its own."""
    if known is None or not pool.drawn.any():
        return np.ones(len(pool.gold)), ["no pilot: every label is taken to be as likely wrong as any other"]
    columns = None if isinstance(calibrate, bool) else further_columns(scorer.given, calibrate)
    evidence = Evidence.of(runs, queries, scorer.topics, scorer.profile, known, columns)
    if calibrate is not False and evidence.enough:
        learned = count(int(pool.drawn.sum()), "gold label")
        notes = [f"how far each label may be off is learned from {learned} of the pilot", *evidence.notes]
        return _calibrated_size(pool, evidence, scorer), notes
    squares = (pool.predicted - pool.truth) ** 2 * pool.inverse
    overall = float(squares[pool.drawn].sum() / pool.inverse.sum())
    if overall == 0:
        return np.ones(len(pool.gold)), ["the pilot has no wrong label: all are taken to be as likely wrong"]
    few = FEW * float(pool.inverse.sum()) / int(pool.drawn.sum())
    size = np.empty(len(pool.gold))
    for gain in np.unique(pool.predicted):
        mine = pool.predicted == gain
        size[mine] = np.sqrt((squares[mine].sum() + few * overall) / (pool.inverse[mine].sum() + few))
    pilot = count(int(pool.drawn.sum()), "gold label")
    return size, [f"how far each label may be off is taken from {pilot} of the pilot"]


def _calibrated_size(pool: Pool, evidence: Evidence, scorer: Scorer) -> Floats:
    """The standard deviation of each document's gain, given what is known of it; not below a tenth of the average."""
    measure, calibration = scorer.measures[0], evidence.calibration
    sums = measure if is_linear(measure) else stand_in(measure)
    assert sums is not None
    gains = sums.worth(calibration.grades, scorer.topics, scorer.profile)
    variance = calibration.expected(gains**2) - calibration.expected(gains) ** 2
    sd = np.sqrt(np.maximum(variance, 0.0))
    rows = evidence.rows(pool.docs)
    return np.asarray(np.maximum(np.where(rows >= 0, sd[rows], sd.mean()), 0.1 * sd.mean() + 1e-9))


def _fits(pool: Pool, notes: list[str]) -> bool:
    """Whether the pilot's probabilities go for these documents; otherwise its labels speak for themselves alone."""
    if not pool.drawn.any():
        return False
    strange = "the pilot does not say with which probability its labels were drawn"
    if not pool.assumed_uniform:
        strange = "the pilot was not drawn for these runs and this measure" if out_of_reach(pool) else ""
    if strange:
        notes.append(f"{strange}: its labels count for themselves alone, and the new ones for all the others")
    return not strange


def _earlier(
    pool: Pool, known: Gold, probability: Floats, kept: Bools, pilot: Any, notes: list[str]
) -> pl.DataFrame | None:
    """The labels of the pilot with the probabilities that go for both rounds, and how they were come by."""
    frame = pool.docs.select("query", "doc").with_columns(pl.Series("probability", probability))
    frame = frame.filter(pl.Series(pool.drawn & kept))
    frame = frame.join(known.frame.select("query", "doc", "label"), on=["query", "doc"], maintain_order="left")
    rounds = Judgments.of(pilot).frame
    turn = pl.col("round").cast(pl.Int32, strict=False).fill_null(1) if "round" in rounds.columns else pl.lit(1)
    rounds = rounds.select("query", "doc", round=turn).unique(["query", "doc"], keep="first")
    frame = frame.join(rounds, on=["query", "doc"], maintain_order="left")
    hidden, alike = known.frame.height - int(pool.drawn.sum()), int((pool.drawn & ~kept).sum())
    for number, which in ((hidden, "that these systems do not show"), (alike, "that count alike for all systems")):
        if number:
            notes.append(f"{count(number, 'gold label')} of the pilot on documents {which} left out")
    if not frame.height:
        return None
    notes.append(
        f"with the {count(frame.height, 'earlier gold label')}, and probabilities for both rounds together: use the "
        "new file alone"
    )
    return frame.select("query", "doc", "label", "probability", "round")
