"""Scores by predicted labels have intervals that hold what judges would have said; without the draws they do not."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import karat as kt
from commands import typed
from karat.errors import BadInput
from karat.records import Judgments
from simulated import about, studies

QUERIES, JUDGED, DOCS = 120, 15, 5
#: Two systems with other orders of the same documents, so that most of their pairs are predicted.
ORDERS = {"one": [0, 1, 2, 3, 4], "two": [2, 4, 1, 0, 3]}
MEASURE = "CG(context=1)@5"


def grades_in_context(alone: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """What a judge says of each document (rows) after each other: a multinomial logit of the two grades."""
    mine, above = alone[:, :, None], alone[:, None, :]
    logits = np.stack([np.zeros_like(mine + above, float), 1.2 * mine - 0.9 * above, 2.0 * mine - 1.6 * above - 0.6])
    chance = np.exp(logits) / np.exp(logits).sum(axis=0)
    return (rng.random(chance.shape[1:]) > chance.cumsum(axis=0)).sum(axis=0)


def study(seed: int, queries: int = QUERIES) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    alone = rng.integers(0, 3, (queries, DOCS)) * (rng.random((queries, 1)) < 0.8)
    return alone, grades_in_context(alone, rng)


def worth(alone: np.ndarray, given: np.ndarray, order: list[int]) -> np.ndarray:
    """CG@5 of each query with all labels in context known."""
    return alone[:, order[0]] + sum(given[:, doc, above] for above, doc in pairwise(order))


def labels(alone: np.ndarray, given: np.ndarray) -> pl.DataFrame:
    """All documents alone; in some queries all but the first after it, and the first after the last."""
    rows = [(f"q{q:03}", f"d{d}", None, alone[q, d]) for q in range(len(alone)) for d in range(DOCS)]
    after = [(d, 0) for d in range(1, DOCS)] + [(0, DOCS - 1)]
    rows += [(f"q{q:03}", f"d{d}", f"d{c}", given[q, d, c]) for q in range(JUDGED) for d, c in after]
    return pl.DataFrame(
        rows, schema={"query": pl.String, "doc": pl.String, "context": pl.String, "label": pl.Float64}, orient="row"
    )


def runs(queries: int) -> dict[str, object]:
    return {
        name: {f"q{q:03}": {f"d{d}": float(-place) for place, d in enumerate(order)} for q in range(queries)}
        for name, order in ORDERS.items()
    }


@pytest.mark.thorough
@pytest.mark.evidence
def test_intervals_hold_what_judges_would_have_said() -> None:
    truth = {name: worth(*study(10**6, 200_000), order).mean() for name, order in ORDERS.items()}
    held, short, differences = [], [], []
    seeds = studies(5, 40)
    for seed in seeds:
        made = kt.label_in_context(
            labels(*study(seed)), runs(QUERIES), depth=5, value="expected", redraws=20, seed=seed
        )
        bare = Judgments(made.frame.select("query", "doc", "label", "context", "source"))
        for found, which in ((made, held), (bare, short)):
            means = kt.score(found, runs(QUERIES), MEASURE, draws=200, seed=seed).means
            which += [row["low"] <= truth[row["system"]] <= row["high"] for row in means.iter_rows(named=True)]
        pair = kt.compare(made, runs(QUERIES), MEASURE, draws=1000, seed=seed).methods.row(0, named=True)
        differences.append(pair["low"] <= truth["two"] - truth["one"] <= pair["high"])
    # The two systems of a study are not independent: as many studies as there are count.
    assert np.mean(held) == about(0.95, len(seeds), off=0.02)
    assert np.mean(differences) == about(0.95, len(seeds), off=0.02)
    assert np.mean(short) < 0.9
    assert np.mean(short) < np.mean(held)


def test_the_draws_are_of_predicted_labels_alone_and_reach_the_command(tmp_path) -> None:  # type: ignore[no-untyped-def]
    made = kt.label_in_context(labels(*study(1)), runs(QUERIES), depth=5, redraws=4)
    drawn = made.frame.select(pl.col("^draw_.*$"))
    assert drawn.width == 4
    assert (made.frame["draw_1"].is_not_null() == (made.frame["source"] == "predicted")).all()
    assert {*drawn["draw_1"].drop_nulls()} <= {0.0, 1.0, 2.0}
    made.frame.write_csv(tmp_path / "labels.csv")
    lines = [
        f"{q} 0 {d} 0 {s} {n}" for n, by in runs(QUERIES).items() for q, docs in by.items() for d, s in docs.items()
    ]
    (tmp_path / "both.run").write_text("\n".join(lines) + "\n")
    told = typed(f'karat score labels.csv both.run -m "{MEASURE}" --draws 100', tmp_path).stdout
    assert "drawn anew 4 times" in " ".join(told.split())
    told = typed(f'karat compare labels.csv both.run -m "{MEASURE}" --draws 100', tmp_path).stdout
    assert "drawn anew 4 times" in " ".join(told.split())
    with pytest.raises(BadInput, match="an even number"):
        kt.label_in_context(labels(*study(1)), runs(QUERIES), redraws=3)


def test_the_error_is_what_pairs_of_draws_differ_by_with_students_t() -> None:
    """By hand: of eight queries one has a label that is 1 and may be 2 or 0.

    Of two pairs of draws one differs by 2/8, the other does not: (2/8)^2 / 2 in the mean of both is 1/64, so the
    standard error is 1/8, known from two pairs: Student's t with two degrees of freedom is 4.302653.
    """
    names = [f"q{n}" for n in range(8)]
    rows = [{"query": q, "doc": d, "label": float(n % 3)} for n, q in enumerate(names) for d in "ab"]
    rows += [{"query": q, "doc": "b", "context": "a", "label": 1.0, "source": "predicted"} for q in names]
    first = {"draw_1": 2.0, "draw_2": 0.0, "draw_3": 1.0, "draw_4": 1.0}
    draws = [first if n == 0 else dict.fromkeys(first, 1.0) for n in range(8)]
    drawn = [*rows[:-8], *(row | draw for row, draw in zip(rows[-8:], draws, strict=True))]
    run = {q: {"a": 2.0, "b": 1.0} for q in names}
    both = [kt.score(one, run, "CG(context=1)@2", draws=200).means.row(0, named=True) for one in (rows, drawn)]
    assert both[0]["value"] == both[1]["value"]
    for end in ("low", "high"):
        squares = [(one[end] - one["value"]) ** 2 for one in both]
        assert squares[1] - squares[0] == pytest.approx((4.302653 / 8) ** 2, abs=1e-6)
    without = [{name: value for name, value in row.items() if name != "draw_4"} for row in drawn]
    with pytest.raises(BadInput, match="an even number"):
        kt.score(without, run, "CG(context=1)@2", draws=200)
