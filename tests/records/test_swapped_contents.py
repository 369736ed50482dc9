"""Labels and runs in each other's place, where only their numbers tell; legitimate numbers are never refused."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import karat as kt
from commands import karat

Nested = dict[str, dict[str, float]]
RNG = random.Random(7)
QUERIES, DOCS = [f"q{n}" for n in range(8)], [f"d{n}" for n in range(20)]


def labels(draw: Any) -> Nested:
    """Labels of every document, in the order of the ids."""
    return {query: {doc: draw(place) for place, doc in enumerate(DOCS)} for query in QUERIES}


def run(score: Any, docs: int = 20) -> Nested:
    """Lists of documents in a random order, with scores by position."""
    return {query: {doc: score(p) for p, doc in enumerate(RNG.sample(DOCS, docs), 1)} for query in QUERIES}


GRADES = labels(lambda _: RNG.choice([0, 0, 0, 1, 2, 3]))
BINARY = labels(lambda _: RNG.choice([0, 0, 1]))
EXPECTED = labels(lambda _: round(RNG.uniform(0, 3), 3))
HALVES = labels(lambda _: RNG.choice([0, 0.5, 1, 1.5, 2]))
SHARES = labels(lambda _: round(RNG.random(), 4))
COUNTS = labels(lambda _: RNG.choice([0, 0, 1, 3, 17, 240]))
JUNK = labels(lambda _: RNG.choice([-2, -1, 0, 1, 2]))
SPARSE = {query: {RNG.choice(DOCS): 1} for query in QUERIES}
TWO_EACH = {query: {"d1": 1, "d2": 0} for query in QUERIES}

BM25 = run(lambda p: round(30 - p + RNG.random(), 4))
COSINE = run(lambda p: round(0.95 - p / 50 + RNG.random() / 60, 5))
LOGITS = run(lambda p: round(-1.5 * p + RNG.random(), 4))
RANKS = run(lambda p: p)
SHORT_RANKS = run(lambda p: p, docs=5)
REVERSED = run(lambda p: 21 - p)
RECIPROCAL = run(lambda p: 1 / p)
BINARY_RUN = run(lambda p: int(p <= 7))
GRADED_RUN = run(lambda p: 3 - p // 6)
CONSTANT = run(lambda p: 1.0)

LEGITIMATE_LABELS = [GRADES, BINARY, EXPECTED, HALVES, SHARES, COUNTS, JUNK, SPARSE, TWO_EACH]
LEGITIMATE_RUNS = [BM25, COSINE, LOGITS, RANKS, SHORT_RANKS, REVERSED, RECIPROCAL, BINARY_RUN, GRADED_RUN, CONSTANT]
REFUSED = "labels come first, then the runs"


@pytest.mark.parametrize("scores", [BM25, COSINE, LOGITS, RANKS, SHORT_RANKS, REVERSED, RECIPROCAL])
@pytest.mark.parametrize("grades", [GRADES, BINARY, JUNK])
def test_scores_as_labels_and_grades_as_run_are_refused(scores: Nested, grades: Nested) -> None:
    with pytest.raises(kt.BadInput, match=REFUSED) as error:
        kt.score(scores, grades, "nDCG@10")
    assert "the labels: expected grades, found what looks like scores" in str(error.value)
    with pytest.raises(kt.BadInput, match=REFUSED):
        kt.compare(scores, {"a": grades, "b": grades}, "nDCG@10")


@pytest.mark.parametrize("judged", LEGITIMATE_LABELS)
@pytest.mark.parametrize("scores", LEGITIMATE_RUNS)
def test_labels_first_are_never_refused(judged: Nested, scores: Nested) -> None:
    assert kt.score(judged, scores, "nDCG@10", draws=0).means.height == 1


NUMBERS = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 4) | st.floats(0, 4), min_size=1, max_size=8)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(QUERIES), NUMBERS, min_size=2), st.randoms(use_true_random=False))
def test_labels_within_a_scale_in_any_order_pass(judged: Nested, rng: random.Random) -> None:
    # Continuous labels in the order of their size might be scores: those of a file come in another order.
    shuffled = {query: dict(rng.sample(sorted(of.items()), len(of))) for query, of in judged.items()}
    values = [[*of.values()] for of in shuffled.values()]
    assume(not all(v == sorted(v) for v in values) and not all(v == sorted(v, reverse=True) for v in values))
    kt.score(shuffled, {query: dict.fromkeys(of, 1) for query, of in judged.items()}, "P@3", draws=0)


def test_columns_with_names_are_believed() -> None:
    def frame(nested: Nested, name: str) -> pl.DataFrame:
        rows = [(query, doc, float(value)) for query, of in nested.items() for doc, value in of.items()]
        return pl.DataFrame(rows, schema=["query", "doc", name], orient="row")

    kt.score(frame(BM25, "label"), frame(GRADES, "score"), "P@3", draws=0)
    with pytest.raises(kt.BadInput, match=REFUSED):
        kt.score(frame(BM25, "score"), frame(GRADES, "score"), "P@3", draws=0)


@pytest.mark.parametrize("command", ["score", "compare"])
@pytest.mark.parametrize("ending", ["json", "csv"])
def test_swapped_files_are_refused_by_commands(tmp_path: Path, ending: str, command: str) -> None:
    for name, nested in (("labels", GRADES), ("a", BM25), ("b", COSINE)):
        rows = [f"{query},{doc},{value}" for query, of in nested.items() for doc, value in of.items()]
        text = json.dumps(nested) if ending == "json" else "\n".join(["query,doc,score", *rows, ""])
        (tmp_path / f"{name}.{ending}").write_text(text)
    files = {name: str(tmp_path / f"{name}.{ending}") for name in ("labels", "a", "b")}
    assert karat(command, files["labels"], files["a"], files["b"], "-m", "P@3").returncode == 0
    done = karat(command, files["a"], files["labels"], files["b"], "-m", "P@3")
    assert done.returncode == 2
    assert REFUSED in " ".join(done.stderr.split())
