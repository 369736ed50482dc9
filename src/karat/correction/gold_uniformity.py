"""Are gold labels without sampling probabilities a uniform sample, and are blank gold rows a random part of it?"""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.advice import advise
from karat.correction.gold_sample import Gold
from karat.correction.pool import Pool
from karat.errors import Undefined
from karat.records.number_format import p_said
from karat.records.result import VerdictWarning
from karat.stats.arrays import Bools, Floats
from karat.stats.multiple_testing import holm
from karat.stats.stratified_ranks import probability_of_none, stratified_rank_test

#: A sample is called not uniform, or blanks not random, where so small an adjusted p value says so.
MAX_P = 0.01
#: A kind of documents could not have been sampled, if that it was missed by chance is less probable than this.
MAX_P_OF_NONE = 1e-4
#: The code of a refusal: documents that count for the difference could not have been sampled.
OUT_OF_REACH = "gold out of reach"


def refuse_out_of_reach(pool: Pool) -> None:
    """Refuse a sample of unknown probabilities that leaves out a whole kind of documents that count.

    The kinds are documents below a rank, documents that one system alone retrieves, and documents with a label. They
    are taken among all documents that count for some system, so that measures with the same cutoff agree.
    """
    if not pool.assumed_uniform or not pool.drawn.any():
        return
    counts = pool.counts
    for name, kind in _kinds(pool):
        mine = kind & counts
        if pool.drawn[mine].any() or not (mine & pool.matters).any():
            continue
        if probability_of_none(kind[counts], pool.drawn[counts], pool.query[counts]) < MAX_P_OF_NONE:
            raise Undefined(
                f"the gold labels have no sampling probabilities and none of them is on {name} ({int(mine.sum()):,} "
                "that count), so these could not have been sampled; "
                + advise(
                    "sample with karat plan gold, which writes the probabilities",
                    "sample with kt.plan_gold, which returns the probabilities",
                ),
                code=OUT_OF_REACH,
            )


def notes_on_uniformity(pool: Pool) -> list[str]:
    """A warning where gold labels of unknown probabilities differ from a uniform sample by rank, system or label.

    Given how many documents of each query have a gold label, a uniform sample makes every choice of as many equally
    likely. The p values are adjusted for the number of tests (Holm).
    """
    if not pool.assumed_uniform or not pool.drawn.any():
        return []
    counts, tests = pool.counts, list[tuple[str, str, Floats]]()
    tests.append(("high ranks", "low ranks", -pool.rank.astype(np.float64)))
    retrieved = pool.weight != 0
    if len(pool.systems) > 1:
        alone = retrieved.sum(axis=1) == 1
        for place, system in enumerate(pool.systems):
            words = f"documents that only {system} retrieves"
            tests.append(
                (words, f"documents other than those that only {system} retrieves", 1.0 * (alone & retrieved[:, place]))
            )
    label = pool.docs["label"].cast(pl.Float64).fill_null(np.nan).to_numpy().astype(np.float64)
    tests.append(("documents with high labels", "documents with low labels", label))
    found = [stratified_rank_test(values[counts], pool.drawn[counts], pool.query[counts]) for _, _, values in tests]
    adjusted = holm([p for _, p in found])
    notes: list[str] = []
    for (more, less, _), (z, _), p in zip(tests, found, adjusted, strict=True):
        if p < MAX_P:
            notes.append(
                VerdictWarning(
                    f"the gold labels have no sampling probabilities and are no uniform sample: too many are on "
                    f"{more if z > 0 else less} ({p_said(float(p))}), so corrected figures may be biased"
                )
            )
    return notes


def notes_on_blanks(gold: Gold, labels: pl.DataFrame) -> list[str]:
    """A warning where blank gold rows differ from labelled ones by the judge's label of the document.

    Blank means not yet labelled, never grade 0. Given how many rows of each query are labelled, every choice of as many
    is equally likely if blanks are random; `labels` has the judge's label of each document.
    """
    if gold.blank is None or not gold.blank.height:
        return []
    rows = pl.concat(
        [
            gold.blank.select("query", "doc").with_columns(blank=True),
            gold.frame.select("query", "doc").with_columns(blank=False),
        ]
    ).join(labels.select("query", "doc", "label"), on=["query", "doc"], how="inner")
    if not rows.height:
        return []
    label, blank = rows["label"].to_numpy().astype(np.float64), rows["blank"].to_numpy()
    query = rows["query"].rank("dense").cast(pl.Int64).to_numpy() - 1
    z, p = stratified_rank_test(label, blank, query)
    if not p < MAX_P:
        return []
    mean = [float(label[which].mean()) for which in (blank, ~blank)]
    return [
        VerdictWarning(
            f"blank gold rows are mostly documents with {'low' if z < 0 else 'high'} labels (mean label {mean[0]:.2f}, "
            f"of labelled rows {mean[1]:.2f}; {p_said(p)}): blank means not yet labelled, never grade 0, so corrected "
            "figures may be biased; write 0 where the grade is 0"
        )
    ]


def _kinds(pool: Pool) -> list[tuple[str, Bools]]:
    """Kinds of documents that a sample for another purpose leaves out."""
    kinds = [
        (f"documents below rank {rank}", pool.rank > rank)
        for rank in np.unique(pool.rank[pool.counts & pool.drawn])[-1:].tolist()
        if (pool.rank[pool.counts] > rank).any()
    ]
    retrieved = pool.weight != 0
    alone = retrieved.sum(axis=1) == 1
    if len(pool.systems) > 1:
        kinds += [
            (f"documents that only {system} retrieves", alone & retrieved[:, place])
            for place, system in enumerate(pool.systems)
        ]
    label = pool.docs["label"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    grades = np.unique(label[~np.isnan(label)])
    if len(grades) <= 20:
        kinds += [(f"documents with label {grade:g}", label == grade) for grade in grades]
    return kinds
