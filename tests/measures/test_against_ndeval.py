"""Diversity studies scored by karat and by ndeval itself (pyndeval 0.0.8): equal to 1e-6."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyndeval
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat as kt
from simulated import studies

NAMES = {
    "ERR-IA": "ERR_IA",
    "nERR-IA": "nERR_IA",
    "alpha-DCG": "alpha_DCG",
    "alpha-nDCG": "alpha_nDCG",
    "P-IA": "P_IA",
    "strec": "StRecall",
}
CUTOFFS = (1, 2, 5, 10, 20)

JUDGED = st.dictionaries(
    st.tuples(st.sampled_from("qrstuvwx"), st.sampled_from("1234"), st.sampled_from("abcdefghijkl")),
    st.integers(-1, 2),
    min_size=20,
    max_size=120,
)
RETURNED = st.dictionaries(
    st.sampled_from("qrstuvwx"),
    st.lists(st.sampled_from("abcdefghijklmnop"), min_size=1, unique=True),
    min_size=5,
)


@settings(max_examples=len(studies(24, 180)))
@given(JUDGED, RETURNED, st.sampled_from([0.5, 0.25, 0.75, 0.0]), st.sampled_from([0.5, 0.25]))
def test_karat_scores_as_ndeval_does(
    judged: dict[tuple[str, str, str], int], returned: dict[str, list[str]], alpha: float, beta: float
) -> None:
    if not {query for query, _, _ in judged} & set(returned):
        return
    qrels = [(query, subtopic, doc, label) for (query, subtopic, doc), label in judged.items()]
    run = [(query, doc, float(-rank)) for query, docs in returned.items() for rank, doc in enumerate(docs, 1)]
    with_alpha = {"ERR-IA", "nERR-IA", "alpha-DCG", "alpha-nDCG"}
    names = {
        f"{t}@{k}": f"{o}(alpha={alpha})@{k}" if t in with_alpha else f"{o}@{k}"
        for t, o in NAMES.items()
        for k in CUTOFFS
    }
    names |= {
        "MAP-IA": "AP_IA",
        "NRBP": f"NRBP(alpha={alpha},beta={beta})",
        "nNRBP": f"nNRBP(alpha={alpha},beta={beta})",
    }
    theirs = pyndeval.ndeval(qrels, run, list(names), alpha=alpha, beta=beta)
    frame = pl.DataFrame(run, schema=["query", "doc", "score"], orient="row")
    frame = frame.with_columns(rank=(-pl.col("score")).cast(pl.Int64))
    labels = pl.DataFrame(qrels, schema=["query", "subtopic", "doc", "label"], orient="row")
    document = kt.score(labels, kt.Runs.of(frame), list(names.values()), profile="ndeval", draws=0).to_dict(
        by_query=True
    )
    ours = document["systems"][0]["queries"]
    assert set(theirs) == set(ours)
    with_relevant = {query for (query, _, _), label in judged.items() if label > 0}
    for query, values in theirs.items():
        positive = query in with_relevant
        for their_name, our_name in names.items():
            if our_name.startswith("nNRBP") and not positive:
                assert ours[query][our_name] is None  # undefined, where ndeval prints NaN
                continue
            assert abs(ours[query][our_name] - values[their_name]) <= 1e-6, (query, our_name)


def test_only_the_ndeval_profile_forgets_to_divide_at_rank_one() -> None:
    labels = [{"query": "q", "doc": "a", "subtopic": s, "label": 1} for s in "123"]
    run = kt.Runs.of([{"query": "q", "doc": "a", "rank": 1}])
    quirk = kt.score(labels, run, "alpha_DCG@1", profile="ndeval", draws=0)
    plain = kt.score(labels, run, "alpha_DCG@1", draws=0)
    assert quirk.means["value"][0] == pytest.approx(3.0)
    assert plain.means["value"][0] == pytest.approx(1.0)


def test_two_alphas_in_one_call_are_both_computed() -> None:
    labels = [{"query": "q", "doc": d, "subtopic": s, "label": 1} for d, s in ["a1", "b1", "c2"]]
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    both = kt.score(labels, run, ["alpha_nDCG(alpha=0.5)@3", "alpha_nDCG(alpha=0.9)@3"], draws=0)
    alone = kt.score(labels, run, "alpha_nDCG(alpha=0.9)@3", draws=0)
    assert both.means["value"][1] == alone.means["value"][0]
    assert both.means["value"][0] > both.means["value"][1] > 0


def many(seed: int, queries: int = 500) -> tuple[dict[tuple[str, str, str], int], dict[str, list[str]]]:
    """Such a study of hundreds of queries: what no hundred examples meet is met here."""
    rng = np.random.default_rng(seed)
    judged, returned = {}, {}
    for query in (f"q{n}" for n in range(queries)):
        for _ in range(rng.integers(0, 16)):
            judged[query, str(rng.integers(1, 5)), str(rng.choice([*"abcdefghijkl"]))] = int(rng.integers(-1, 3))
        if rng.random() < 0.8:
            returned[query] = rng.permutation([*"abcdefghijklmnop"])[: rng.integers(1, 17)].tolist()
    return judged, returned


@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.5), (0.25, 0.25), (0.75, 0.5), (0.0, 0.25)])
def test_hundreds_of_lists_score_as_ndeval_does(alpha: float, beta: float) -> None:
    test_karat_scores_as_ndeval_does.hypothesis.inner_test(*many(int(100 * alpha)), alpha, beta)  # type: ignore[attr-defined]
