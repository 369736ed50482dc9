"""The sheet's intervals hold what was planted: leniency, position bias, canaries, repeats, expected grades, refusals.

What was planted is worked out here from thousands of queries of the same kind, with other tools: none of it is the
sheet's own output.
"""

from __future__ import annotations

from functools import cache

import krippendorff
import numpy as np
import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score

from karat.correction.calibration import calibrate
from karat.llm.audit import audit_llm
from karat.simulate.llm_judge import Faults, LLMStudy, llm_study
from simulated import THOROUGH, about, studies

PAIR = ["query", "doc"]
SIZE = {"documents": 12, "gold_share": 0.3}
Key = tuple[str, str, str]


@cache
def large() -> LLMStudy:
    return llm_study(queries=20_000 if THOROUGH else 5000, pairs=0, seed=10_000, **SIZE)  # type: ignore[arg-type]


@cache
def planted() -> dict[Key, float]:
    """The value of each figure over thousands of queries; where it is known by design, that value."""
    study, faults = large(), Faults()
    frame = study.labels.frame
    plain = frame.filter(pl.col("altered").is_null())
    first = plain.filter(pl.col("repeat") == 0).drop_nulls("label")
    both = first.join(study.everything.select(*PAIR, "grade", "length"), on=PAIR)
    error = both["label"] - both["grade"]
    truth: dict[Key, float] = {("errors", "grade less gold", ""): float(error.mean())}  # type: ignore[arg-type]
    for grade in range(4):
        mine = error.filter(both["grade"] == grade)
        truth["errors", "grade less gold", f"gold grade {grade}"] = float(mine.mean())  # type: ignore[arg-type]
    dummies = [(both["grade"] == grade).to_numpy().astype(float) for grade in range(4)]
    design = np.column_stack([*dummies, np.log2(both["length"].to_numpy())])
    slope = np.linalg.lstsq(design, error.to_numpy(), rcond=None)[0][-1]
    truth["leniency", "adds to grade less gold", "each doubling of the length"] = float(slope)
    truth["expected", "expected grade less gold", ""] = float((both["expected_grade"] - both["grade"]).mean())  # type: ignore[arg-type]
    line = np.polyfit(both["expected_grade"].to_numpy(), both["grade"].to_numpy(), 1)
    truth["expected", "gold grades per expected grade", ""] = float(line[0])
    again = plain.filter(pl.col("repeat") == 1).select(*PAIR, second="label").join(first, on=PAIR)
    truth["again", "same grade when asked again", ""] = float((again["label"] == again["second"]).mean())  # type: ignore[arg-type]
    truth["again", "ordinal alpha with itself", ""] = alpha(again["label"], again["second"])
    sample = study.gold.frame.select(*PAIR, gold="label").join(first, on=PAIR)
    truth["agreement", "ordinal alpha with gold", ""] = alpha(sample["label"], sample["gold"])
    for name, weights in (("Cohen's", None), ("quadratic", "quadratic")):
        kappa = cohen_kappa_score(sample["label"], sample["gold"], weights=weights)
        truth["agreement", f"{name} kappa with gold", ""] = float(kappa)
    for kind, chance in faults.raised.items():
        lies = frame.filter(pl.col("altered") == kind).select("query", doc="altered_from")
        before = lies.join(first, on=PAIR)["label"].to_numpy()
        # Raised by one or two grades, as likely as each other, as far as the scale goes.
        truth["canaries", "raised", kind] = chance * float((before < 3).mean())
        rise = (np.minimum(before + 1, 3) + np.minimum(before + 2, 3)) / 2 - before
        truth["canaries", "mean rise", kind] = chance * float(rise.mean())
    truth["orders", "flips", ""] = faults.flips
    truth["orders", "first side", ""] = faults.flips * faults.first + (1 - faults.flips) / 2
    truth["outcomes", "no grade", "refused"] = faults.refused
    asked = plain.filter(pl.col("repeat") == 0)
    truth["cost", "cost per grade", ""] = float(asked["cost"].sum()) / first.height
    return truth


def alpha(one: pl.Series, other: pl.Series) -> float:
    found = krippendorff.alpha(np.stack([one.to_numpy(), other.to_numpy()]), level_of_measurement="ordinal")
    return float(found)


def sheet(seed: int, queries: int) -> pl.DataFrame:
    study = llm_study(queries=queries, seed=seed, **SIZE)  # type: ignore[arg-type]
    found = audit_llm(
        study.labels,
        gold=study.gold,
        preferences=study.preferences,
        documents=study.documents,
        queries=study.queries,
        draws=400,
    )
    return found.sheets[0].frame


@pytest.mark.evidence
def test_the_sheets_intervals_hold_what_was_planted() -> None:
    seeds = studies(2, 100)
    held: dict[Key, list[bool]] = {key: [] for key in planted()}
    for seed in seeds:
        for row in sheet(seed, 50).iter_rows(named=True):
            key = (row["part"], row["figure"], row["of"])
            if key in held and not np.isnan(row["low"]):
                held[key].append(row["low"] <= planted()[key] <= row["high"])
    shares = {key: sum(of) / len(of) for key, of in held.items()}
    assert np.mean([*shares.values()]) == about(0.95, 6 * len(seeds), off=0.01)
    if THOROUGH:
        for key, share in shares.items():
            assert share == about(0.95, len(seeds), off=0.005), (key, share)


@pytest.mark.evidence
def test_what_labels_are_worth_is_what_they_spare_on_other_documents() -> None:
    """The squares of what is left, on documents without a gold label, with and without the judge."""
    seeds, held, squares = studies(1, 80), [], []
    found = {}
    for seed in seeds:
        study = llm_study(queries=50, seed=seed, **SIZE)  # type: ignore[arg-type]
        audit = audit_llm(study.labels, gold=study.gold, draws=0).sheets[0].frame
        found[seed] = audit.filter(pl.col("of") == "with its grades").row(0, named=True)
        frame = study.labels.frame.filter(pl.col("altered").is_null(), pl.col("repeat") == 0).drop_nulls("label")
        known = study.everything.select(*PAIR, "grade").join(frame.select(*PAIR, "label"), on=PAIR)
        known = known.join(study.gold.frame.select(*PAIR, drawn=pl.lit(1.0)), on=PAIR, how="left").sort(PAIR)
        label, grade, drawn = (known[name].to_numpy() for name in ("label", "grade", "drawn"))
        rest = np.isnan(drawn)
        weight = (1 / (1 - np.where(label >= 2, 0.6, 0.3)))[rest]
        query = known["query"].rank("dense").cast(pl.Int64).to_numpy() - 1
        for x in (np.zeros((len(label), 1)), label[:, None]):
            fit = calibrate(np.where(rest, np.nan, grade), x, query, ties=label[:, None])
            off = (grade - fit.expected(fit.grades))[rest]
            squares.append((weight * off**2).sum() / weight.sum())
    alone, left = np.reshape(squares, (-1, 2)).mean(axis=0)
    times = alone / left
    held = [row["low"] <= times <= row["high"] for row in found.values()]
    assert np.mean([row["value"] for row in found.values()]) == pytest.approx(times, rel=0.1 if THOROUGH else 0.35)
    assert np.mean(held) == about(0.95, len(seeds), off=0.02)
