"""Measure objects of ir_measures have ir_measures' values, or a note says how karat's differ."""

from __future__ import annotations

import shutil
import warnings
from typing import Any

import ir_measures as irm
import numpy as np
import pandas as pd
import pytest

import karat as kt

needs_perl = pytest.mark.skipif(shutil.which("perl") is None, reason="ir_measures runs gdeval, a Perl program")


def study(*, subtopics: bool = False, lowest: int = -1) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Labels and a run without ties as ir_measures takes them; some queries have no relevant document."""
    rng = np.random.default_rng(5)
    labels, run = [], []
    for query in range(1, 31):
        for subtopic in range(1, 4 if subtopics else 2):
            for doc in rng.choice(40, 20, replace=False):
                grade = int(rng.integers(lowest, 4)) if query % 7 else 0
                labels.append((str(query), f"d{doc}", grade, str(subtopic)))
        run += [(str(query), f"d{doc}", 25.0 - rank) for rank, doc in enumerate(rng.choice(40, 25, replace=False))]
    frame = pd.DataFrame(labels, columns=["query_id", "doc_id", "relevance", "iteration"])
    return frame if subtopics else frame.drop(columns="iteration"), pd.DataFrame(
        run, columns=["query_id", "doc_id", "score"]
    )


def both(measure: Any, *, subtopics: bool = False, lowest: int = -1) -> tuple[float, float]:
    """The mean by ir_measures and by karat."""
    labels, run = study(subtopics=subtopics, lowest=lowest)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = irm.calc_aggregate([measure], labels, run)[measure]
    ours = kt.score(labels.rename(columns={"iteration": "subtopic"}), run, [measure], draws=0)
    return theirs, ours.means["value"][0]


@needs_perl
@pytest.mark.parametrize("cutoff", [5, 20])
def test_err_of_ir_measures_has_its_value(cutoff: int) -> None:
    theirs, ours = both(irm.ERR @ cutoff)
    assert ours == pytest.approx(theirs, abs=1e-5)  # gdeval prints five decimals
    labels, run = study()
    scores = kt.score(labels, run, [irm.ERR @ cutoff], draws=0)
    assert scores.measures == (f"ERR(max_rel=4)@{cutoff}",)
    said = f"ERR@{cutoff} of ir_measures is read as ERR(max_rel=4)@{cutoff}: there the highest grade is always 4"
    assert any(note.startswith(said) for note in scores.notes)


def test_err_of_ir_measures_refuses_grades_above_4() -> None:
    with pytest.raises(kt.BadInput, match="expected grades up to 4, found 5"):  # gdeval stops there, too
        kt.score({"1": {"a": 5}}, {"1": {"a": 1.0}}, [irm.ERR @ 20])


@needs_perl
@pytest.mark.parametrize(
    "measure",
    [
        irm.nDCG,
        irm.nDCG @ 10,
        irm.nDCG(dcg="exp-log2") @ 10,
        irm.nDCG(gains={0: 0, 1: 2, 2: 2, 3: 9}) @ 10,
        irm.nDCG(gains={1: 2, 3: 5}) @ 10,
        irm.nDCG(judged_only=True) @ 10,
        irm.RR,
        irm.RR(rel=2) @ 10,
        irm.MRR @ 5,
        irm.AP,
        irm.AP(rel=2) @ 10,
        irm.P(rel=2) @ 5,
        irm.P(judged_only=True) @ 5,
        irm.R(rel=2) @ 5,
        irm.Rprec(rel=2),
        irm.Bpref,
        irm.infAP,
        irm.IPrec @ 0.1,
        irm.Success(rel=2) @ 5,
        irm.NumRet,
        irm.NumRelRet,
        irm.NumQ,
        irm.SetP,
        irm.SetR,
        irm.SetF,
        irm.SetF(beta=2.0),
    ],
    ids=str,
)
def test_objects_of_ir_measures_have_its_values(measure: Any) -> None:
    theirs, ours = both(measure)
    assert ours == pytest.approx(theirs, abs=1e-5)


@pytest.mark.parametrize(
    "measure",
    [
        irm.alpha_nDCG(alpha=0.3) @ 10,
        irm.alpha_DCG @ 10,
        irm.ERR_IA(rel=2) @ 10,
        irm.nERR_IA @ 10,
        irm.NRBP(alpha=0.3, beta=0.8),
        irm.AP_IA,
        irm.P_IA @ 5,
        irm.StRecall @ 5,
    ],
    ids=str,
)
def test_diversity_objects_have_ir_measures_values(measure: Any) -> None:
    theirs, ours = both(measure, subtopics=True)
    assert ours == pytest.approx(theirs, abs=1e-9)


def test_judged_of_ir_measures_differs_by_negative_labels() -> None:
    theirs, ours = both(irm.Judged @ 10, lowest=0)
    assert ours == pytest.approx(theirs)
    assert "below 0" in kt.score(*study(), [irm.Judged @ 10], draws=0).notes[0]


def test_rbp_of_ir_measures_names_its_relevance_level() -> None:
    scores = kt.score(*study(), [irm.RBP, irm.RBP(rel=2)], draws=0)
    assert [note for note in scores.notes if "relevant from grade 1 on" in note]
    assert not [note for note in scores.notes if note.startswith("RBP(rel=2)")]


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (irm.SetAP, 'found "SetAP"'),
        (irm.Accuracy @ 10, 'found "Accuracy"'),
        (irm.SetP(relative=True), 'expected a parameter of SetP .* found "relative"'),
        (irm.define(lambda qrels, run: [], name="ERR") @ 10, "karat.register_measure"),
    ],
    ids=str,
)
def test_an_object_that_karat_lacks_is_refused(measure: Any, message: str) -> None:
    with pytest.raises(kt.BadInput, match=message):
        kt.score(*study(), [measure])
