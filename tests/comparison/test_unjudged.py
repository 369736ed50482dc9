"""Documents without a label: warnings with bounds, refusals, and ids that match nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karat as kt
from commands import karat
from conftest import research_data
from karat.comparison import gate
from karat.simulate.graded_pair import graded_pair

Run = dict[str, dict[str, float]]
QUERIES = [f"q{n:02}" for n in range(20)]
LABELS = {query: {"good": 1, "bad": 0} | {f"l{n}": n % 2 for n in range(10)} for query in QUERIES}


def ranking(*docs: str) -> dict[str, float]:
    return {doc: float(len(docs) - place) for place, doc in enumerate(docs)}


def runs_of(docs: Callable[[int], list[str]]) -> Run:
    return {query: ranking(*docs(place)) for place, query in enumerate(QUERIES)}


#: Half of its first documents are relevant; all are judged.
JUDGED = runs_of(lambda n: ["good", "bad"])


def with_unjudged(number: int) -> Run:
    """A run that has an unjudged second document in so many queries."""
    return runs_of(lambda n: ["bad", "x"] if n < number else ["bad", "l0"])


def test_a_run_of_unjudged_documents_gets_no_verdict() -> None:
    found = kt.compare(LABELS, {"live": JUDGED, "new": runs_of(lambda n: ["x", "y"])}, "P@2")
    assert (found.verdict, found.refusal) == ("cannot say", "unjudged documents")
    assert "100% of the top 2 of new have no label" in found.finding
    assert "allow_unjudged=True" in found.finding
    assert not found.methods.height
    assert not found.pairs.height
    assert found.unjudged == {"live": 0.0, "new": 1.0}
    assert found.to_dict()["refusal"] == "unjudged documents"


def test_unjudged_documents_may_be_allowed() -> None:
    runs = {"live": JUDGED, "new": runs_of(lambda n: ["x", "y"])}
    found = kt.compare(LABELS, runs, "P@2", allow_unjudged=True)
    assert (found.verdict, found.refusal) == ("worse", None)
    assert found.unjudged_bounds == pytest.approx((-0.5, 0.5))  # P@2 of new from 0 to 1, of live .5
    assert "-0.5" in found.warnings[0]


def test_a_refused_comparison_does_not_pass_a_gate() -> None:
    found = kt.compare(LABELS, {"live": JUDGED, "new": runs_of(lambda n: ["x", "y"])}, "P@2")
    with pytest.raises(kt.Undefined, match="none by the rule"):
        gate(found, if_worse=0.9)


@pytest.mark.parametrize(("number", "warned"), [(0, False), (2, False), (3, True), (4, True), (5, True)])
def test_five_points_apart_are_warned_about(number: int, warned: bool) -> None:
    """2 of 40 documents are 5 %, 3 are 7.5 % and more than 5 points above 0 %."""
    found = kt.compare(LABELS, {"live": JUDGED, "new": with_unjudged(number)}, "P@2")
    assert bool(found.warnings) == warned
    assert found.unjudged["new"] == pytest.approx(number / 40)


def test_more_than_a_tenth_is_warned_about_with_bounds() -> None:
    runs = {"live": with_unjudged(8), "new": runs_of(lambda n: ["good", "x"] if n < 10 else ["bad", "bad2"])}
    labels = {query: docs | {"bad2": 0} for query, docs in LABELS.items()}
    found = kt.compare(labels, runs, "P@2")
    # live: P@2 0, or 8 of 40 relevant; new: 10 of 40 relevant, or 20.
    assert found.methods["difference"][0] == pytest.approx(0.25)
    assert found.unjudged_bounds == pytest.approx((0.25 - 0.20, 0.50))
    assert "20% of the top 2 of live and 25% of the top 2 of new have no label" in found.warnings[0]
    assert "if all of these were relevant for live and none for new" in found.warnings[0]


def test_bounds_of_ndcg_by_hand() -> None:
    labels = {query: {"good": 1, "bad": 0} for query in QUERIES}
    runs = {"live": runs_of(lambda n: ["bad", "good"]), "new": runs_of(lambda n: ["bad", "x"])}
    found = kt.compare(labels, runs, "nDCG@2", allow_unjudged=True)
    second = 1 / np.log2(3)
    # As they are .631 and 0. With x relevant, new has .631 of an ideal of 1.631, as there are two relevant documents.
    assert found.unjudged_bounds == pytest.approx((-second, second / (1 + second) - second))


def test_the_warning_is_not_among_the_notes_in_print(tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("labels.qrels", "live.run", "new.run")]
    kt.write(kt.Judgments.of(LABELS), files[0])
    kt.write(kt.Runs.of(JUDGED, system="live"), files[1])
    kt.write(kt.Runs.of(with_unjudged(10), system="new"), files[2])
    done = karat("compare", *files, "-m", "P@2")
    words = " ".join(done.stdout.split())
    assert done.returncode == 0
    assert words.index("Warning: 0% of the top 2 of live and 25% of the top 2 of new") < words.index("method ")
    document = json.loads(karat("compare", *files, "-m", "P@2", "--json").stdout)
    assert "25% of the top 2 of new" in document["warnings"][0]


@pytest.fixture
def misfits(tmp_path: Path) -> list[str]:
    """Labels, a run that fits them, and one whose ids are in capitals."""
    files = [str(tmp_path / name) for name in ("labels.qrels", "live.run", "new.run")]
    kt.write(kt.Judgments.of(LABELS), files[0])
    kt.write(kt.Runs.of(JUDGED, system="live"), files[1])
    kt.write(kt.Runs.of(runs_of(lambda n: ["GOOD", f"L{n % 10}"]), system="new"), files[2])
    return files


def test_ids_that_match_nothing_end_with_exit_status_1(misfits: list[str]) -> None:
    done = karat("compare", *misfits, "-m", "P@2", "--fail-if-worse", "0.9")
    words = " ".join(done.stdout.split())
    assert done.returncode == 1
    assert done.stdout.startswith("Cannot say which is better by P@2")
    assert "differ from ids in the labels by capital letters" in words
    assert "is worse" not in words
    assert karat("compare", *misfits, "-m", "P@2", "--allow-unjudged").returncode == 0


def test_the_report_refuses_ids_that_match_nothing(misfits: list[str], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    done = karat("report", *misfits, "-m", "P@2", "-o", str(page))
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert "Cannot say which is better by P@2" in text
    assert "differ from ids in the labels by capital letters" in text
    assert "live is better" not in text
    assert "new is worse" not in text


def test_scores_warn_and_call_no_system_the_best(misfits: list[str]) -> None:
    done = karat("score", *misfits, "-m", "P@2")
    words = " ".join(done.stdout.split())
    assert done.returncode == 0
    assert words.startswith("Cannot say which has the highest P@2: 100% of the top 2 of new have no label. Warning:")
    document = json.loads(karat("score", *misfits, "-m", "P@2", "--json").stdout)
    shares = {entry["system"]: entry["unjudged"] for entry in document["systems"]}
    assert shares == {"live": 0.0, "new": 1.0}


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (str.upper, "capital letters"),
        (lambda doc: f"{doc}.html", 'the suffix ".html" in the run'),
        (lambda doc: f"doc_{doc}", 'the prefix "doc_" in the run'),
        (lambda doc: f" {doc}", "spaces"),
    ],
)
def test_the_cause_of_ids_that_match_nothing(change: Callable[[str], str], cause: str) -> None:
    run = runs_of(lambda n: [change("good"), change(f"l{n % 10}")])
    scores = kt.score(LABELS, run, "P@2", draws=0)
    assert any(f"differ from ids in the labels by {cause}" in warning for warning in scores.warnings)


@pytest.mark.parametrize(("labels", "run"), [("007", "7"), ("7", "7.0"), ("7.0", "007")])
def test_number_formats_of_ids_are_recognised(labels: str, run: str) -> None:
    forms = {"007": "{:03}", "7": "{}", "7.0": "{}.0"}
    judged = {query: {forms[labels].format(n): n % 2 for n in range(1, 12)} for query in QUERIES}
    found = kt.score(judged, runs_of(lambda n: [forms[run].format(k) for k in range(1, 4)]), "P@3", draws=0)
    assert any("differ from ids in the labels by" in warning for warning in found.warnings)


def test_ids_with_nothing_in_common_are_named_without_a_cause() -> None:
    scores = kt.score(LABELS, runs_of(lambda n: ["x1", "x2", "x3", "x4"]), "P@4", draws=0)
    (warning,) = [one for one in scores.warnings if "nowhere in the labels" in one]
    assert warning == "run: 4 document ids of its top 10 are nowhere in the labels (x1, x2, x3, ...)"


@pytest.mark.parametrize(
    "measure", ["Bpref", "infAP", "P(judged_only=True)@2", "nDCG(judged_only=True)@10", "Judged@2"]
)
def test_measures_for_incomplete_labels_are_not_refused(measure: str) -> None:
    run = runs_of(lambda n: ["x", "y", "good", "bad"] if n % 2 else ["x", "y", "bad", "good"])
    found = kt.compare(LABELS, {"live": JUDGED, "new": run}, measure)
    assert found.refusal is None
    assert not found.warnings


def test_uncut_measures_are_refused_by_the_top_ten() -> None:
    deep = [f"l{n}" for n in range(9)] + ["x"] + [f"y{n}" for n in range(90)]
    found = kt.compare(LABELS, {"a": runs_of(lambda n: deep), "b": runs_of(lambda n: ["good", *deep[:9]])}, "AP")
    assert found.refusal is None
    assert found.unjudged["a"] == pytest.approx(0.1)  # 1 of the first 10; 91 of 100


@pytest.mark.parametrize("measure", ["nDCG@10", "P@10"])
def test_labels_for_one_system_only_are_refused_with_gold(measure: str) -> None:
    """The judge labelled what A retrieves only; a few of B's other documents have gold labels."""
    study = graded_pair(40, shift=1.0, seed=2)
    labels, runs = study.judgments().frame, study.runs()
    first = runs[0].frame.filter(pl.col("score").rank("ordinal", descending=True).over("query") <= 10)
    half = labels.filter(pl.int_range(pl.len()).over("query") % 2 == 0).select("query", "doc")
    own = first.select("query", "doc").join(half, on=["query", "doc"], how="semi")
    judged = labels.join(own, on=["query", "doc"], how="semi")
    size = labels.height
    gold = study.gold(np.random.default_rng(1).random(size) < 0.2, np.full(size, 0.2))
    for gold_labels in (None, gold):
        found = kt.compare(judged, runs, measure, gold=gold_labels)
        assert (found.verdict, found.refusal) == ("cannot say", "unjudged documents")
        assert not found.methods.height
    assert kt.compare(judged, runs, measure, gold=gold, allow_unjudged=True).methods.height


def test_many_systems_are_refused_for_one_of_them() -> None:
    runs = {"a": JUDGED, "b": runs_of(lambda n: ["good", "l1"]), "c": runs_of(lambda n: ["x", "y"])}
    found = kt.compare(LABELS, runs, "P@2")
    assert found.refusal == "unjudged documents"
    assert "100% of the top 2 of c have no label" in found.finding
    without = {name: run for name, run in runs.items() if name != "c"}
    assert kt.compare(LABELS, without, "P@2").refusal is None


def test_a_live_verdict_is_refused_too() -> None:
    study = graded_pair(30, shift=2.0, seed=1)
    labels = study.judgments().frame.filter(pl.int_range(pl.len()).over("query") < 3)
    gold = study.gold(np.random.default_rng(1).random(900) < 0.2, np.full(900, 0.2))
    found = kt.live_verdict(labels, study.runs(), "P@10", gold=gold)
    assert (found.state, found.verdict) == ("cannot say", "cannot say")
    assert "have no label" in found.finding


def test_a_normal_comparison_of_dl21_answers() -> None:
    folder = research_data("dl21")
    nist = pl.read_csv(folder / "nist.csv.gz", infer_schema=False).with_columns(pl.col("label").cast(pl.Float64))
    runs = pl.read_csv(folder / "runs.csv.gz", infer_schema=False).with_columns(pl.col("rank").cast(pl.Int64))
    two = runs.filter(pl.col("system").is_in(runs["system"].unique().sort()[:2].implode()))
    found = kt.compare(nist, two, "nDCG@10")
    assert found.refusal is None
    assert not found.warnings


@pytest.mark.parametrize("text", ["", "\n\n", "query,doc,score\n"])
@pytest.mark.parametrize("command", ["score", "compare", "report"])
def test_an_empty_run_is_named(command: str, text: str, misfits: list[str], tmp_path: Path) -> None:
    empty = tmp_path / "empty.csv"
    empty.write_text(text)
    more = ["-o", str(tmp_path / "r.html")] if command == "report" else []
    done = karat(command, *misfits[:2], str(empty), "-m", "P@2", *more)
    assert done.returncode == 2
    assert str(empty) in done.stderr
    assert "nobody" not in done.stderr


@pytest.mark.parametrize("runs", [{"live": JUDGED, "new": {}}, [JUDGED, {}]])
def test_an_empty_run_in_python_is_named(runs: dict[str, Run] | list[Run]) -> None:
    with pytest.raises(kt.BadInput, match=r"run (new|2): expected ranked documents, found none"):
        kt.compare(LABELS, runs, "P@2")


@pytest.mark.parametrize("command", ["score", "compare"])
def test_a_run_without_the_selected_queries_is_named(command: str, misfits: list[str], tmp_path: Path) -> None:
    kt.write(kt.Runs.of({"q00": JUDGED["q00"]}, system="new"), misfits[2])
    some = tmp_path / "some.csv"
    some.write_text("query\nq01\nq02\n")
    done = karat(command, *misfits, "-m", "P@2", "--only", str(some))
    assert done.returncode == 2
    assert "new" in done.stderr
    assert "nobody" not in done.stderr
