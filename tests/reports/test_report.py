"""The report says what the analyses say, the verdict first, and says so where the data does not allow a part."""

from __future__ import annotations

import shlex
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import karat as kt
from karat.cli import karat
from karat.demo import demo_study, write_demo
from karat.errors import BadInput
from karat.reports.section import Told
from karat.simulate import context_study, two_systems
from karat.study import Study, Truth


def section(report, name):
    return next(section for section in report.sections if section.name == name)


def figure(report, name):
    return next(figure for figure in report.figures if figure.name == name)


@pytest.fixture(scope="module")
def demo_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "my study"
    write_demo(demo_study(), str(folder))
    return folder


@pytest.fixture(scope="module")
def demo(demo_folder):
    """The demo's report by the labels of the judge with the planted bias."""
    return kt.report(Study.load(str(demo_folder)), group="simulated llm", measure="P@10", draws=100)


@pytest.fixture(scope="module")
def favouring(favoured):
    """The report of a study whose judge favours a system."""
    return kt.report(favoured, measure="P@10", draws=200)


def test_the_verdict_is_that_of_compare(favoured, favouring):
    report = favouring
    found = kt.compare(favoured.labels, list(favoured.runs), "P@10", gold=favoured.gold, draws=200)
    chosen = found.methods.filter(pl.col("method") == "ppi").row(0, named=True)
    drawn = figure(report, "naive-and-corrected").data.filter(pl.col("labels").str.contains("gold labels"))
    assert report.comparison.verdict == found.verdict == "no difference shown"
    assert abs(drawn["difference"][0]) == pytest.approx(abs(chosen["difference"]))
    assert report.verdict == "No difference shown between A and B by P@10."


def test_a_judge_who_favours_a_system_is_found_out_and_the_page_says_so(favouring):
    said = section(favouring, "verdict").said
    assert "would say that B is better than A" in said[0]
    assert "with gold labels, no difference between B and A is shown" in said[0]
    assert "true difference of B less A is +0.000" in said[1]
    assert said[1].count("misses it") == 1
    assert said[1].index("misses it") < said[1].index("holds it")


def test_every_section_is_there_and_what_the_data_does_not_allow_is_one_line(report):
    assert [section.name for section in report.sections] == [
        "verdict", "scores", "judges", "llm", "worth", "context", "users", "next",
    ]  # fmt: skip
    context = section(report, "context")
    assert context.said == ("Not in this report: no document was judged in context or by aspect.",)
    assert not context.figures


def test_the_figures_that_this_data_allows_are_drawn(report):
    names = {figure.name for figure in report.figures}
    assert names >= {
        "naive-and-corrected", "by-group", "by-query", "scores", "agreement", "label-distribution", "error-by-group",
        "error-distribution", "bias-exploration", "judges", "labels-and-clicks", "users-who-say-top",
        "weights-for-one-of-n",
        "p-from-few-labels", "measures-and-clicks", "power",
    }  # fmt: skip


def test_scores_are_those_of_score_and_corrected_ones_stand_beside_them(folder, report):
    evidence = Study.load(str(folder))
    plain = kt.score(evidence.labels, list(evidence.runs), "P@10", draws=200).means
    drawn = figure(report, "scores").data
    naive = drawn.filter(pl.col("labels") == "as they are").sort("system")
    assert naive["value"].to_list() == pytest.approx(plain.sort("system")["value"].to_list())
    assert drawn.filter(pl.col("labels") != "as they are").height == 3
    assert (drawn["low"] <= drawn["value"]).all()
    assert (drawn["value"] <= drawn["high"]).all()


def test_the_spammer_is_named_and_the_crowds_errors_are_counted(report):
    said = " ".join([*section(report, "judges").said, *(f.said for f in section(report, "judges").figures)])
    assert "spammer" in said + figure(report, "judges").title
    error = figure(report, "error-distribution").data
    shares = error.group_by("group").agg(pl.col("share").sum())["share"]
    assert shares.to_list() == pytest.approx([1.0] * 3)


def test_labels_of_one_group_may_decide(folder, by_llm):
    evidence = Study.load(str(folder))
    own = evidence.of_group("llm")
    plain = kt.score(own, list(evidence.runs), "P@10", draws=0).means
    got = by_llm.comparison.methods.filter(pl.col("method") == "plain").row(0, named=True)
    assert got["a"] == pytest.approx(plain.filter(pl.col("system") == got["system_a"])["value"][0])
    with pytest.raises(BadInput, match=r"one of the judgments' .crowd, llm, professional., found .nobody."):
        kt.report(evidence, group="nobody")


def test_users_who_choose_by_ndcg_are_told_to(users):
    report = kt.report(users, draws=200)
    agreement = figure(report, "agreement-with-users").data
    assert agreement["measure"][0] == "nDCG@10"
    assert agreement["share"][0] > 0.8
    assert {f.name for f in section(report, "users").figures} >= {"users-rank-systems", "measures-alike"}
    assert any(f.name.startswith("preferences-weak-by-ties") for f in report.figures)


def test_no_measure_is_set_beside_users_twice(users):
    # Of lists of ten, AP and AP@10 are the same.
    found = figure(kt.report(users, draws=100), "agreement-with-users").data["measure"].drop_nulls().to_list()
    names = [name.split("@")[0] for name in found]
    assert len({*names}) == len(names)
    assert {*names} == {"nDCG", "AP", "RR", "P", "ERR"}


def test_the_title_of_how_groups_use_the_scale_is_a_difference_that_is_shown(report):
    drawn = figure(report, "label-distribution")
    rows = drawn.data.filter(pl.col("group") != "gold")
    pairs = rows.join(rows, on="grade", suffix="_other").filter(pl.col("low") > pl.col("high_other"))
    widest = pairs.sort(pl.col("share") - pl.col("share_other")).row(-1, named=True)
    assert drawn.title.startswith(f"Groups differ most at grade {widest['grade']:g}: {100 * widest['share']:.0f} % of")


def test_judgments_in_context_have_their_figures():
    study = context_study(seed=1, queries=30)
    report = kt.report(Study("Context", labels=study.judgments, runs=(study.runs,)), draws=100)
    names = {figure.name for figure in section(report, "context").figures}
    assert names >= {"change-in-context", "size-of-change", "aspects-alone", "aspects-context", "aspects-and-overall"}
    shares = figure(report, "size-of-change").data.filter(pl.col("aspect") == "overall")["share"]
    assert shares.sum() == pytest.approx(1.0)


def test_one_system_has_scores_and_no_verdict():
    run = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(8)}
    labels = {f"q{i}": {"a": i % 2, "b": 1} for i in range(8)}
    evidence = Study("One", labels=kt.Judgments.of(labels), runs=(kt.Runs.of(run, system="mine"),))
    report = kt.report(evidence, draws=100)
    assert report.verdict.startswith("mine has nDCG@10 0.82 (95 % interval")  # half of the queries 1, the others 0.631
    assert section(report, "verdict").said == ("Not in this report: there is one system, and a comparison takes two.",)
    assert "<!doctype html>" in report.html()


def test_one_system_with_gold_labels_has_the_corrected_score_as_its_headline():
    rng = np.random.default_rng(2)
    docs = [(f"q{q}", f"d{d}") for q in range(40) for d in range(10)]
    true = rng.integers(0, 2, len(docs))
    labels = kt.Judgments.of(pl.DataFrame(docs, schema=["query", "doc"], orient="row").with_columns(label=1))
    gold = labels.frame.with_columns(label=pl.Series(true).cast(pl.Float64))
    run = labels.frame.select("query", "doc", score=pl.Series(rng.normal(size=len(docs))))
    evidence = Study("One", labels=labels, gold=kt.Judgments.of(gold), runs=(kt.Runs.of(run, system="mine"),))
    report = kt.report(evidence, measure="P@10", draws=100)
    assert report.verdict == f"mine has P@10 {true.mean():.3f}, corrected with gold labels."
    assert report.reason.startswith("mine has P@10 1.000 by the labels as they are, ")


@pytest.mark.thorough
def test_the_demos_planted_bias_is_found_out_and_the_page_says_so(demo):
    said = section(demo, "verdict").said
    assert "labels as they are" in said[1]
    assert said[1].index("misses it") < said[1].index("holds it")
    groups = figure(demo, "by-group").said
    assert "As they are, the labels of simulated llm miss it. Corrected, the labels of every group hold it." in groups
    assert "simulated" in demo.simulated
    bias = figure(demo, "bias").data.row(0, named=True)
    assert (bias["group"], bias["slice"]) == ("simulated llm", "documents retrieved by hybrid alone")
    # 0.6 of a grade is planted on what the hybrid shows and BM25 does not, where the scale has room for it.
    assert bias["low"] < 0.6 < bias["high"]


def test_the_page_never_calls_the_naive_winner_the_best_when_gold_says_otherwise():
    # A is better by 0.1, and the judge calls far more of B's own documents relevant.
    study = two_systems(150, difference=-0.1, judge="lenient", leniency=0.5, seed=3)
    gold = study.gold(study.draw_gold(1000, seed=4), 1000 / len(study.truth))
    evidence = Study("Turned", labels=study.judgments(), gold=gold, runs=tuple(study.runs()))
    report = kt.report(evidence, measure="P@10", measures=[], draws=100)
    assert report.verdict == "B is worse than A by P@10."
    said = section(report, "scores").said[0]
    assert said.startswith("Corrected with gold labels, A has the highest P@10: ")
    assert "By the labels as they are, B would have it: " in said
    drawn = figure(report, "scores").data
    assert drawn["system"].unique(maintain_order=True).to_list() == ["A", "B"]
    assert drawn["low"].is_not_nan().all()


def same_sign(report):
    """The pair that is told and what each method says of it, the same in every sentence and by query."""
    said, told = section(report, "verdict").said, Told.of(report.comparison)
    pair = f"{told.b} less {told.a}"
    methods = figure(report, "naive-and-corrected").data.filter(pl.col("pair") == pair)
    assert f"({pair}: {methods['difference'][0]:+.3f}, " in said[0]
    assert f"the true difference of {pair} is {methods['truth'][0]:+.3f}" in said[1]
    assert figure(report, "by-query").data["difference"].mean() == pytest.approx(methods["difference"][0])
    return pair, methods


def test_a_difference_has_the_same_sign_in_every_sentence_and_chart(favouring):
    assert same_sign(favouring)[0] == "B less A"


@pytest.mark.thorough
def test_a_difference_has_the_same_sign_in_the_chart_of_groups(demo):
    pair, methods = same_sign(demo)
    groups = figure(demo, "by-group")
    assert groups.subtitle.startswith(pair)
    assert groups.data.filter(pl.col("group") == "simulated llm")["difference"][0] == methods["difference"][0]
    assert groups.data["truth"][0] == methods["truth"][0]


@pytest.fixture(scope="module")
def told_apart():
    """Gold labels of half of the documents that one system alone shows: they say nothing about what both show."""
    study = two_systems(60, difference=0.1, judge="lenient", seed=3)
    alone = (study.rank == 0).any(axis=1)
    gold = study.gold(alone & (np.random.default_rng(1).random(len(alone)) < 0.5), 0.5)
    return Study("Told apart", labels=study.judgments(), gold=gold, runs=tuple(study.runs()))


def test_scores_that_gold_labels_cannot_correct_are_not_called_corrected(told_apart):
    report = kt.report(told_apart, measure="P@10", measures=[], draws=100)
    scores = section(report, "scores")
    assert "Uncorrected, because the gold labels do not cover" in scores.said[0]
    assert set(figure(report, "scores").data["labels"]) == {"as they are"}
    assert figure(report, "scores").title.endswith("has the highest P@10, by the labels as they are")
    assert scores.said[0].startswith("By the labels as they are: ")
    assert not any(row["look_at"] for rows in figure(report, "scores").spec["datasets"].values() for row in rows)
    judged = " ".join(section(report, "judges").notes)
    assert "here each counts alike" not in judged
    assert "features that cannot be made" not in judged
    assert not any("correct" in table.caption for table in scores.tables)
    latex = report.latex()
    assert "P@10, corrected" not in latex
    assert "Gold labels correct the differences in P@10, not the systems' own scores." in latex
    assert "nan" not in latex


def test_corrected_scores_are_those_of_score(favoured, favouring):
    alone = kt.score(favoured.labels, list(favoured.runs), "P@10", gold=favoured.gold, draws=200).means
    drawn = figure(favouring, "scores").data.filter(pl.col("labels") != "as they are").sort("system")
    for name in ("value", "low", "high"):
        assert drawn[name].to_list() == alone.sort("system")[name].to_list()


def test_the_queries_that_lost_and_won_most_are_shown_with_their_texts():
    # Query i has its relevant document at rank i + 1 of a, and at rank 8 - i of b.
    docs = [f"d{k}" for k in range(8)]
    labels = {f"q{i}": {"d0": 1} | dict.fromkeys(docs[1:], 0) for i in range(8)}

    def run(place):
        return {
            f"q{i}": dict(zip([*docs[1 : place(i)], "d0", *docs[place(i) :]], range(8, 0, -1), strict=True))
            for i in range(8)
        }

    runs = (kt.Runs.of(run(lambda i: i + 1), system="a"), kt.Runs.of(run(lambda i: 8 - i), system="b"))
    queries = kt.Queries.of({"query": [f"q{i}" for i in range(8)], "text": [f"text {i}" for i in range(8)]})
    study = Study("Moved", labels=kt.Judgments.of(labels), runs=runs, queries=queries)
    table, first, *_ = section(kt.report(study, measure="RR", measures=[], draws=100), "verdict").tables
    assert table.caption.startswith("The queries on which b lost and won most against a")
    # Query 0 lost most: its relevant document went from the top of a to the end of b.
    assert first.caption == "q0 (text 0): -0.875, both lists with their labels"
    assert first.folded
    moved = first.frame.filter(pl.col("doc") == "d0").row(0, named=True)
    assert moved == {"doc": "d0", "rank in a": 1, "rank in b": 8, "label": 1.0}
    assert not table.folded
    assert table.frame["text"].to_list() == ["text 0", "text 1", "text 2", "text 7", "text 6", "text 5"]
    away = [1 / 8 - 1, 1 / 7 - 1 / 2, 1 / 6 - 1 / 3]
    assert table.frame["difference"].to_list() == pytest.approx([*away, *(-one for one in away)])


def test_gains_of_users_who_disagree_are_those_of_the_comparison():
    labels = {f"q{i}": {"x": 2, "y": 1, "z": 0} for i in range(10)}
    runs = {
        "a": {q: {"x": 3.0, "y": 2.0, "z": 1.0} for q in labels},
        "b": {q: {"x": 1.0, "y": 3.0 - int(q == "q3"), "z": 2.5} for q in labels},
    }
    asked = {"user_weights": lambda m, n: {0: 0.0, 1: 0.25, 2: 1.0}}
    study = Study("W", labels=kt.Judgments.of(labels), runs=tuple(kt.Runs.of(runs[s], system=s) for s in "ab"))
    measure = "nDCG(gains=udm(1/3))@3"
    found = kt.report(study, measure=measure, measures=[], draws=100, **asked)
    alone = kt.compare(labels, runs, measure, **asked)
    # b has grade 1 on top, then 0, then 2; in q3 0, 1, 2: against 1 of a, which is ideal.
    ideal, second, third = 1 + 0.25 / np.log2(3), 1 / np.log2(3), 0.5
    by_hand = (9 * (0.25 + third) + 0.25 * second + third) / 10 / ideal - 1
    assert alone.methods["difference"][0] == pytest.approx(by_hand)
    assert found.comparison.methods.equals(alone.methods)
    assert found.scores.means["value"].to_list() == pytest.approx([1.0, 1 + by_hand])


@pytest.mark.parametrize(("measure", "whole"), [("P@10", False), ("nDCG@10", False), ("RR", False), ("AP", True)])
def test_gold_labels_are_planned_by_single_documents_where_these_can_correct(told_apart, measure, whole):
    study = replace(told_apart, gold=None)
    command = section(kt.report(study, measure=measure, measures=[], draws=100), "next").commands[-1]
    assert command.startswith("karat plan gold ")
    assert ("--whole-queries" in command) == whole


def test_a_difference_of_one_pair_is_not_told_where_all_pairs_together_do_not_show_it(by_llm):
    found = by_llm.comparison
    told = Told.of(found)
    ends = pl.when(pl.col("method") == found.method)
    shown = found.methods.with_columns(low=ends.then(-0.2).otherwise(0.1), high=ends.then(-0.01).otherwise(0.2))
    for p, words in ((0.2, f"no difference between {told.b} and {told.a} is shown"), (0.01, f"{told.a} is better")):
        pairs = found.pairs.with_columns(max_t=pl.lit(p))
        said = Told.of(replace(found, methods=shown, pairs=pairs)).naive_against_corrected()
        assert words in said.split("with gold labels, ")[-1]


def commands_that_run(report, folder, labels, ending, tmp_path):
    """What to type next names the files that were read, and runs."""
    first, second = report.comparison.systems[:2]
    power, gold = (shlex.split(command) for command in section(report, "next").commands)
    for words in (power, gold):
        assert words[3] == str(folder / labels)
        assert words[4:6] == [str(folder / "runs" / f"{name}.{ending}") for name in (first, second)]
    assert gold[gold.index("--gold") + 1] == str(folder / "gold.csv")
    found = CliRunner().invoke(karat, [*gold[1:-1], str(tmp_path / "more.csv")])
    assert (found.exit_code, (tmp_path / "more.csv").exists()) == (0, True)


def test_what_to_type_next_names_the_files_that_were_read_and_runs(folder, report, tmp_path):
    commands_that_run(report, folder, "judgments.csv", "csv", tmp_path)


@pytest.mark.thorough
def test_what_to_type_next_names_the_file_of_the_group(demo_folder, demo, tmp_path):
    commands_that_run(demo, demo_folder, "judgments-llm.csv", "run", tmp_path)


def test_where_one_judge_labels_once_the_disagreement_is_that_of_all(by_llm):
    worth = section(by_llm, "worth")
    assert "llm gave one label to each document: these figures are of all judges" in worth.notes
    assert worth.figures


def test_a_folder_without_a_study_is_refused_with_a_remedy(tmp_path):
    with pytest.raises(BadInput, match=r"expected labels \(judgments\*\).*found none of them yet; karat serve"):
        Study.load(str(tmp_path))
    with pytest.raises(BadInput, match="found no folder of that name"):
        Study.load(str(tmp_path / "nowhere"))
    (tmp_path / "llm.csv").write_text("query,doc,label\nq,d,1\n")
    (tmp_path / "a.run").write_text("q Q0 d 1 1 a\n")
    with pytest.raises(BadInput, match=r"no labels; labels are looked for in judgments\*.*so llm\.csv was not read"):
        Study.load(str(tmp_path)).of_group(None)
    (tmp_path / "truth.json").write_text("[1, 2")
    (tmp_path / "judgments.csv").write_text("query,doc,label\nq,d,1\n")
    with pytest.raises(BadInput, match=r"truth\.json"):
        Study.load(str(tmp_path))


def test_gold_labels_among_the_others_are_taken_apart(tmp_path):
    (tmp_path / "judgments.csv").write_text("query,doc,label,group\nq,d,1,crowd\nq,d,2,gold\nq,e,0,crowd\n")
    found = Study.load(str(tmp_path))
    assert found.groups == ["crowd"]
    assert found.gold.frame["label"].to_list() == [2.0]


def test_the_truth_of_a_pair_is_known_only_for_its_measure():
    truth = Truth("", "P@10", {"a": 0.25, "b": 0.5})
    assert truth.difference("P@10", "a", "b") == 0.25
    assert truth.difference("nDCG@10", "a", "b") is None
    assert truth.difference("P@10", "a", "c") is None


def test_an_llm_has_its_sheet_and_nobody_else_a_word_of_it(report, favouring):
    sheet = section(report, "llm")
    assert sheet.title == "Can you trust this judge?"
    assert sheet.said[0].startswith(("Use ", "Do not use ", "Cannot say "))
    assert {figure.name for figure in sheet.figures} >= {"llm-agreement", "llm-leniency", "llm-confusion"}
    assert "llm" not in [one.name for one in favouring.sections]
