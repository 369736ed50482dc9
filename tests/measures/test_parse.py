"""A measure reads back as it prints."""

from __future__ import annotations

import pickle

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat as kt
from karat.measures import MEASURES, Measure, as_measures, parse_measure


def made() -> st.SearchStrategy[Measure]:
    """Measures with all kinds of parameters."""
    cutoff = st.none() | st.integers(1, 1000)
    share = st.floats(0, 0.99)
    rel = st.integers(1, 4) | st.floats(0.25, 3)
    gains = st.sampled_from(["exp", "identity"]) | st.dictionaries(st.integers(0, 4), share, min_size=1)
    return st.one_of(
        st.builds(kt.P, rel=rel, cutoff=st.integers(1, 50)),
        st.builds(kt.AP, rel=rel, judged_only=st.booleans(), cutoff=cutoff),
        st.builds(kt.nDCG, gains=gains, context=share, discount=st.sampled_from(["log2", "zipf"]), cutoff=cutoff),
        st.builds(kt.DCG, gains=gains, context=share, cutoff=cutoff),
        st.builds(kt.RBP, p=share, cutoff=cutoff),
        st.builds(kt.ERR, max_rel=st.integers(1, 5), cutoff=cutoff),
        st.builds(kt.CCG, context=share, cutoff=st.integers(1, 50)),
        st.builds(kt.alpha_nDCG, alpha=share, cutoff=st.integers(1, 50)),
        st.builds(kt.NRBP, alpha=share, beta=share, cutoff=cutoff),
        st.builds(kt.IPrec, rel=rel, recall=share),
        st.builds(kt.F, beta=share, cutoff=st.integers(1, 50)),
        st.builds(kt.Compat, p=share, normalize=st.booleans(), cutoff=cutoff),
        st.builds(kt.Dsharp_nDCG, gamma=share, gains=gains, cutoff=st.integers(1, 50)),
        st.builds(kt.GAP, gains=gains, within=st.sampled_from(["judged", "list"])),
    )


@given(made())
def test_a_measure_reads_back_as_it_prints(measure: Measure) -> None:
    again = parse_measure(str(measure))
    assert again == measure
    assert str(again) == str(measure)
    assert pickle.loads(pickle.dumps(measure)) == measure
    assert hash(again) == hash(measure)


@pytest.mark.parametrize(
    "text",
    [
        "nDCG@10",
        "P(rel=2)@5",
        "alpha_nDCG(alpha=0.5)@10",
        "ERR@20",
        "RBP(p=0.8)",
        "GAP",
        "CCG(context=0.5)@5",
        "StRecall@10",
        "AP(rel=2)",
        "RR@10",
        "Judged@10",
        "infAP",
        "Bpref",
        "ERR_IA@10",
        "nERR_IA@10",
        "nNRBP(alpha=0.25,beta=0.5)",
    ],
)
def test_the_usual_spellings_stand(text: str) -> None:
    assert str(parse_measure(text)) == text


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("ndcg_cut_10", kt.nDCG @ 10),
        ("map", kt.AP()),
        ("map_cut_100", kt.AP @ 100),
        ("P_5", kt.P @ 5),
        ("recall_1000", kt.R @ 1000),
        ("recip_rank", kt.RR()),
        ("success_1", kt.Success @ 1),
        ("ndcg_cut.10", kt.nDCG @ 10),
        ("ERR-IA@10", kt.ERR_IA @ 10),
        ("alpha-nDCG@10", kt.alpha_nDCG @ 10),
        ("strec@10", kt.StRecall @ 10),
        ("bpref", kt.Bpref()),
        ("MRR@10", kt.RR @ 10),
        ("NDCG@10", kt.nDCG @ 10),
        ("nDCG(dcg='exp-log2')@20", kt.nDCG(gains="exp") @ 20),
        ("nDCG(gains=exp)@20", kt.nDCG(gains="exp") @ 20),
        ("nDCG(gains={0:0,1:1/3})", kt.nDCG(gains={0: 0, 1: 1 / 3})),
        (" P( rel = 2 ) @ 5 ", kt.P(rel=2) @ 5),
    ],
)
def test_names_from_other_tools_are_understood(text: str, measure: Measure) -> None:
    assert parse_measure(text) == measure


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nDGC@10", "did you mean nDCG?"),
        ("precission@5", "did you mean precision?"),
        ("nDCG10", "did you mean nDCG@10?"),
        ("ndcg5", "did you mean nDCG@5?"),
        ("MRR10", "did you mean MRR@10?"),
        ("foo", 'there is no measure "foo"; list(karat.measures.MEASURES) lists all'),
        ("P", "expected a cutoff, such as P@10"),
        ("P@0", "expected a whole number from 1 to 1,000,000, found 0"),
        ("P@1.5", "expected a whole number from 1 to 1,000,000, found 1.5"),
        ("P@k", "expected a whole number from 1 to 1,000,000, found k"),
        ("P(level=2)@5", 'expected a parameter of P (judged_only, rel), found "level"'),
        ("RBP(p=1.5)", "p of RBP: expected a number from 0 to 1, found 1.5"),
        ("RBP(p=1)", "expected a number below 1"),
        ("Bpref@10", "takes no cutoff"),
        ("nDCG(gains=cubic)@10", "expected identity, exp, or a value per grade"),
        ("nDCG(discount=none)@10", "expected log2 or zipf"),
        ("nDCG@10; import os", "expected a name such as nDCG@10"),
        ("__import__('os')", "expected a name such as nDCG@10"),
        ("nDCG('ten')", "expected a name such as nDCG@10"),
        ("IPrec", "expected a recall, such as IPrec@0.1"),
        ("IPrec@2", "recall of IPrec: expected a number from 0 to 1, found 2"),
        ("SetP@5", "takes no cutoff"),
        ("F", "expected a cutoff, such as F@10"),
        ("Compat(p=1)", "expected a number below 1"),
        ("P(" * 500, "expected a name such as nDCG@10"),
        ("", "expected a name such as nDCG@10"),
        ("P(rel=1/0)@5", "expected a name such as nDCG@10"),
        ("P(rel=1,rel=2)@5", "expected rel once, found it again"),
        ("CCG@1000000000", "expected a whole number from 1 to 1,000,000"),
        ("nDCG(gains=[[0,1]])@5", "expected a number from 0 up for each grade"),
        ("nDCG(gains={0:0,1:-1})@5", "expected a number from 0 up for each grade"),
        ("nDCG(gains=5)@5", "expected a number from 0 up for each grade"),
        ("nDCG(discount={1:2})@5", "expected log2 or zipf"),
        ("nDCG(judged_only='no')@5", "expected True or False"),
        ("Bpref(rel='x')", "expected a number"),
        ("CG(context=0.5,judged_only=True)", "takes context or judged_only"),
    ],
)
def test_a_name_that_is_none_gets_an_error_that_helps(text: str, said: str) -> None:
    with pytest.raises(kt.BadInput) as error:
        parse_measure(text)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("names", "measure"),
    [
        ("mrr@10 MRR@10 rr@10", kt.RR @ 10),  # ranx, ir_measures
        ("recall@100 Recall@100 r@100 RECALL_100 recall.100", kt.R @ 100),
        ("map MAP ap Map", kt.AP()),
        ("map@100 map_cut_100 MAP_CUT.100", kt.AP @ 100),
        ("ndcg@10 NDCG@10 ndcg_cut_10 NDCG_CUT_10", kt.nDCG @ 10),
        ("P_10 p@10 precision@10 p_10", kt.P @ 10),
        ("ndcg_burges@10", kt.nDCG(gains="exp") @ 10),
        ("r-precision rprec RPrec", kt.Rprec()),
        ("hit_rate@5", kt.Success @ 5),
        ("f1@5 F1@5", kt.F @ 5),
        ("rbp.95 RBP(p=.95)", kt.RBP(p=0.95)),
        ("gm_map GMAP gmap", kt.GMAP()),
        ("gm_bpref", kt.gm_Bpref()),
        ("set_P setp", kt.SetP()),
        ("set_recall", kt.SetR()),
        ("set_F set_F.1", kt.SetF()),
        ("set_F.4", kt.SetF(beta=2)),
        ("iprec_at_recall_0.10 iprec_at_recall.0.1 IPrec@0.1", kt.IPrec @ 0.1),  # type: ignore[operator]
        ("11pt_avg", kt.IAP()),
        ("num_ret NumRet", kt.NumRet()),
        ("num_rel_ret NumRelRet", kt.NumRelRet()),
        ("alpha-ndcg@10 \u03b1-nDCG@10", kt.alpha_nDCG @ 10),
        ("D#-nDCG@10", kt.Dsharp_nDCG @ 10),
        ("err-ia@20", kt.ERR_IA @ 20),
    ],
)
def test_other_tools_spellings_are_understood_in_any_case_and_without_a_word(names: str, measure: Measure) -> None:
    for name in names.split():
        found = parse_measure(name)
        assert (found, found.understood) == (measure, ""), name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("CR@10", "CR@10 is read as StRecall@10: cluster recall, the share of the subtopics covered"),
        ("IA-PC@10", "IA-PC@10 is read as P_IA@10: intent-aware precision"),
        ("P(10)", "P(10) is read as P@10: the number in brackets is a cutoff"),
        ("PC(10)", "PC(10) is read as P@10: precision; the number in brackets is a cutoff"),
        ("I-rec@20", "I-rec@20 is read as StRecall@20: intent recall, the share of the subtopics covered"),
    ],
)
def test_the_papers_names_are_understood_and_a_note_says_how(name: str, said: str) -> None:
    assert parse_measure(name).understood == said
    labels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 2.0, "b": 1.0}}
    assert said in kt.score(labels, run, name, draws=0).notes


def test_a_set_of_trec_eval_stands_for_its_measures() -> None:
    names = ["set_P", "set_recall", "set_F", "num_q", "num_ret", "num_rel", "num_rel_ret"]
    assert as_measures("set") == as_measures(names)
    assert {kt.AP(), kt.P @ 1000, kt.IPrec @ 0.3} <= {*as_measures(["official"])}  # type: ignore[operator]
    assert {kt.nDCG @ 500, kt.gm_Bpref(), kt.Success @ 1} <= {*as_measures("all_trec")}


def test_a_measure_of_your_own_is_never_taken_for_another_tools() -> None:
    @kt.register_measure("mrr")
    def mrr(labels: object) -> float:
        "Half, always."
        return 0.5

    try:
        assert type(parse_measure("mrr")) is mrr
        assert parse_measure("MRR") == kt.RR()
    finally:
        MEASURES.forget("mrr")


def test_measures_of_ir_measures_are_taken() -> None:
    assert as_measures([ir_measures.nDCG @ 10, ir_measures.P(rel=2) @ 5]) == [kt.nDCG @ 10, kt.P(rel=2) @ 5]


def test_numbers_print_so_that_they_read_back() -> None:
    for measure in (kt.P(rel=np.float64(2)) @ np.int64(5), kt.nDCG(gains={1.2345678: 1, 1234567: 2})):  # type: ignore[operator]
        assert parse_measure(str(measure)) == measure


def test_measures_are_values() -> None:
    assert kt.nDCG @ 10 == kt.nDCG(cutoff=10)
    assert kt.nDCG @ 10 != kt.nDCG @ 20
    assert as_measures([kt.AP, "AP", kt.AP()]) == [kt.AP()]
    with pytest.raises(AttributeError):
        (kt.P @ 5).cutoff = 3  # type: ignore[misc]


def test_every_measure_says_what_it_means_and_shows_itself() -> None:
    for name, measure in MEASURES.items():
        doc = measure.__doc__ or ""
        assert doc.splitlines()[0].endswith("."), name
        assert ">>> str(" in doc, name
        assert getattr(kt, name) is measure
