"""Would another judge's labels have given the same score? The robustness of measures against disagreement."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from karat.errors import Undefined
from karat.estimate import Scorer
from karat.judges.disagreement import Disagreement
from karat.judges.votes import used, votes
from karat.measures import parse_measure
from karat.records import Judgments, Result, Runs
from karat.records.base import count


def robustness(
    judgments: Judgments,
    top: float | None = None,
    *,
    of: Sequence[int] = (2, 3, 4),
    all_labels: bool = False,
    repeats: int = 10,
    seed: int = 0,
) -> Result:
    """Scores of one judge's perfect ranking by another judge's labels, mean and sd over queries.

    For each query with two judges in common, the documents are ranked by the one's labels (ties at random, `repeats`
    times) and scored with the other's, both ways round. A measure is robust when the score is high and varies little.
    User disagreement weights are estimated from the other queries. (The paper's Table 2.) Where a further judge was
    asked only when the first two differed, these two count (unless `all_labels`).

    Reference: Demeester et al. (WSDM 2014), section 5.2.
    """
    judgments.need("judge", "paired judgments")
    grade = judgments.top if top is None else float(top)
    judgments, told = used(judgments, all_labels=all_labels)
    pairs = _paired(judgments)
    if grade is None or not pairs:
        raise Undefined("no query was judged by two judges: robustness cannot be told")
    rng = np.random.default_rng(seed)
    values: dict[str, list[float]] = {}
    lost = 0
    for query, (one, two) in pairs.items():
        others = Judgments(judgments.frame.filter(pl.col("query") != query), (), judgments.scale)
        try:
            model = Disagreement(votes(others, grade), level=0.95, draws=0, seed=seed)
        except Undefined:
            lost += 1
            continue
        # The user weights of the other queries, as a table that both measures take.
        tables = {n: _table(model.weights(1, n, zero_lowest=True)) for n in of}
        measures = {f"AP(rel={grade:g})": f"AP(rel={grade:g})"}
        measures |= {f"GAP(gains=udm(1/{n}))": f"GAP(gains={tables[n]})" for n in of}
        measures |= {"nDCG(gains='exp',discount='zipf')": "nDCG(gains='exp',discount='zipf')"}
        measures |= {"nDCG(gains='exp')": "nDCG(gains='exp')"}
        measures |= {f"nDCG(gains=udm(1/{n}))": f"nDCG(gains={tables[n]})" for n in of}
        for ranked, judged in ((one, two), (two, one)):
            run = pl.concat(
                ranked.select(
                    system=pl.lit(str(repeat)),
                    query="query",
                    doc="doc",
                    # Labels differ by more than the noise that orders equal ones.
                    score=pl.col("label").rank("dense") + pl.Series(rng.random(ranked.height) * 0.5),
                )
                for repeat in range(repeats)
            )
            labels = Judgments(judged.select("query", "doc", "label"), (), judgments.scale)
            found = Scorer(labels, list(measures.values()), draws=0).score(Runs.check(run)).means
            means = dict(found.group_by("measure").agg(pl.col("value").mean()).iter_rows())
            for name, measure in measures.items():  # equal weights make equal measures, which are scored once
                values.setdefault(name, []).append(means[str(parse_measure(measure))])
    if not values:
        raise Undefined("no two queries with two judges each: weights from other queries cannot be told")
    rows = [(name, float(np.mean(v)), float(np.std(v, ddof=1)), len(v)) for name, v in values.items()]
    table = pl.DataFrame(rows, schema=["measure", "mean", "sd", "n"], orient="row")
    best = table.sort("sd").row(0, named=True)
    finding = (
        f"{best['measure']} varies least between judges: mean {best['mean']:.3f}, sd {best['sd']:.3f} over "
        f"{count(len(pairs), 'query', 'queries')} ranked by one judge and scored by another."
    )
    notes = [*told, f"ties at random, {repeats} times, seed {seed}; the lowest level is worth nothing"]
    if lost:
        notes.append(f"{count(lost, 'query', 'queries')} left out: no weights without it")
    return Result(table, finding, tuple(notes))


def _paired(judgments: Judgments) -> dict[str, tuple[pl.DataFrame, pl.DataFrame]]:
    """For each query, the labels of the two judges who have most documents in common, on those documents."""
    frame = judgments.frame.drop_nulls("label").unique(["query", "doc", "judge"], keep="last", maintain_order=True)
    frame = frame.select("query", "doc", "judge", "label")
    both = frame.join(frame, on=["query", "doc"], suffix="_other").filter(pl.col("judge") < pl.col("judge_other"))
    common = both.group_by("query", "judge", "judge_other").len().filter(pl.col("len") >= 2)
    common = common.sort(["query", "len", "judge", "judge_other"], descending=[False, True, False, False])
    chosen = common.unique("query", keep="first", maintain_order=True)
    kept = both.join(chosen, on=["query", "judge", "judge_other"]).sort("query", "doc")
    return {
        str(query[0]): (
            part.select("query", "doc", "label"),
            part.select("query", "doc", label="label_other"),
        )
        for query, part in kept.group_by("query", maintain_order=True)
    }


def _table(weights: dict[float, float]) -> str:
    return "{" + ",".join(f"{grade!r}:{worth!r}" for grade, worth in weights.items()) + "}"
