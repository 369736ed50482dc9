"""Judgments that the tests of several files share: simulated judges whose truth is known, and a real crowd."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.records import Judgments

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def rf10_crowd(path: Path) -> tuple[Judgments, Judgments]:
    """The labels of the Relevance Feedback track's crowd without broken links, and NIST's."""
    with gzip.open(path / "trec-rf10-data.txt.gz") as file:
        frame = pl.read_csv(file.read(), separator="\t")
    frame = frame.rename({"topicID": "query", "docID": "doc", "workerID": "judge"})
    gold = frame.filter(pl.col("gold") >= 0).select("query", "doc", pl.col("gold").alias("label")).unique()
    return Judgments.of(frame.filter(pl.col("label") >= 0).drop("gold")), Judgments.of(gold)


def judged(item: Ints, judge: Ints, label: Ints) -> Judgments:
    return Judgments.of(
        pl.DataFrame(
            {
                "query": pl.Series(item % 20).cast(pl.String),
                "doc": pl.Series(item).cast(pl.String),
                "label": label,
                "judge": pl.Series(judge).cast(pl.String).str.zfill(4),
            }
        )
    )


def draw(chances: Floats, rng: np.random.Generator) -> Ints:
    labels: Ints = (rng.random(len(chances))[:, None] > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1)
    return labels


def planted(
    seed: int, *, items: int, judges: int, per_item: int, confusion: Floats, prior: Floats
) -> tuple[Judgments, Ints]:
    """Labels by judges with these matrices (judges x truth x label), and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(len(prior), items, p=prior)
    item = np.repeat(np.arange(items), per_item)
    judge = np.argsort(rng.random((items, judges)), axis=1)[:, :per_item].ravel()
    return judged(item, judge, draw(confusion[judge, truth[item]], rng)), truth


def lenient_and_scattered(seed: int, judges: int, per_judge: int, levels: int = 5) -> tuple[Judgments, Ints]:
    """Judges who see the true grade with a normal error of their own and add their leniency."""
    from scipy.special import ndtr

    rng = np.random.default_rng(seed)
    grades = np.arange(levels)
    mean = grades[None, :] + rng.normal(0, 0.6, judges)[:, None]
    borders = (np.arange(levels - 1) + 0.5)[None, None, :]
    below = ndtr((borders - mean[:, :, None]) / rng.uniform(0.4, 1.0, judges)[:, None, None])
    confusion = np.diff(np.concatenate([np.zeros_like(below[..., :1]), below, np.ones_like(below[..., :1])], -1))
    return planted(
        seed,
        items=judges * per_judge // 5,
        judges=judges,
        per_item=5,
        confusion=confusion,
        prior=np.array([0.35, 0.25, 0.2, 0.12, 0.08]),
    )


def crowd(
    seed: int,
    *,
    judges: int = 25,
    per_judge: int = 100,
    per_item: int = 5,
    leniency: Floats | float = 0.0,
    spread: tuple[float, float] = (0.4, 1.0),
    random: int = 0,
    constant: int = 0,
    reversed_: int = 0,
    queries: int = 30,
    prior: tuple[float, ...] = (0.35, 0.25, 0.2, 0.12, 0.08),
    drift: Floats | float = 0.0,
    better: float = 0.0,
) -> tuple[Judgments, Judgments]:
    """Judges with a normal error and a leniency; the first ones answer at random, always the same, or upside down.

    `drift` is added to a judge's leniency from first to last label; `better` lets later documents be better.
    """
    rng = np.random.default_rng(seed)
    items, levels = judges * per_judge // per_item, len(prior)
    truth = rng.choice(levels, items, p=prior)
    if better:
        truth = truth[np.argsort(truth + rng.normal(0, 1 / better, items))]
    item = np.repeat(np.arange(items), per_item)
    judge = np.argsort(rng.random((items, judges)), axis=1)[:, :per_item].ravel()
    when = item / items - 0.5
    lean = np.broadcast_to(leniency, judges)[judge] + np.broadcast_to(drift, judges)[judge] * when
    noise = rng.normal(0, rng.uniform(*spread, judges)[judge])
    label = np.clip(np.rint(truth[item] + lean + noise), 0, levels - 1)
    label = np.where(judge < random, rng.integers(0, levels, len(label)), label)
    same = (judge >= random) & (judge < random + constant)
    label = np.where(same, judge % levels, label)
    upside = (judge >= random + constant) & (judge < random + constant + reversed_)
    label = np.where(upside, levels - 1 - label, label)
    query, doc = rng.permutation(items) % queries, np.arange(items)
    frame = pl.DataFrame({
        "query": pl.Series(query[item]).cast(pl.String),
        "doc": pl.Series(item).cast(pl.String),
        "label": label,
        "judge": pl.Series(judge).cast(pl.String).str.zfill(3),
        "time": pl.Series(item).cast(pl.String).str.zfill(8),
    })  # fmt: skip
    gold = pl.DataFrame({"query": pl.Series(query).cast(pl.String), "doc": pl.Series(doc).cast(pl.String)})
    return Judgments.of(frame), Judgments.of(gold.with_columns(pl.Series("label", truth)))


def slips(rng: np.random.Generator, docs: int, judges: int, right: float, grades: int = 4) -> Ints:
    """Judges who say the true grade with probability `right` and any grade otherwise: alpha is `right` squared."""
    truth = rng.integers(0, grades, (docs, 1))
    return np.where(rng.random((docs, judges)) < right, truth, rng.integers(0, grades, (docs, judges)))


def table_of(labels: Ints, per_query: int = 5, group: str | None = None, first: int = 0) -> pl.DataFrame:
    """Judgments from documents x judges, -1 for none, judge after judge."""
    docs, judges = labels.shape
    frame = pl.DataFrame(
        {
            "query": np.tile([f"q{i // per_query:03}" for i in range(docs)], judges),
            "doc": np.tile([f"d{i}" for i in range(docs)], judges),
            "label": labels.T.ravel().astype(float),
            "judge": np.repeat([f"j{i + first:02}" for i in range(judges)], docs),
        }
    ).filter(pl.col("label") >= 0)
    return frame if group is None else frame.with_columns(group=pl.lit(group))
