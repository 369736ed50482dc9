"""The sentence that the sheet begins with: when a judge is to be used, and what is said where nobody can tell."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import karat as kt
from karat.correction.label_value import Worth, labels_worth
from karat.llm.audit_sheet import LLMSheet
from karat.llm.audit_statistics import Figure
from karat.llm.audit_verdict import Needed, for_difference, for_width, verdict
from karat.plan.pilot import PilotVariance
from karat.records import Judgments, Scale
from karat.simulate.llm_judge import Faults, llm_study
from simulated import studies

GOOD = Worth(2.0, 1.8, 2.2, 1.0, 0.7, 300, 50)
#: The data leave open whether the grades spare gold labels.
UNSURE = Worth(1.2, 0.9, 1.6, 1.0, 0.9, 300, 50)
ENOUGH = Needed(200, "see it")


def told(figure: str, value: float, low: float, high: float, *, part: str = "", of: str = "", n: int = 100) -> Figure:
    return Figure(part, figure, value, low, high, n, 50, "share", of)


def test_a_judge_is_used_only_with_gold_labels() -> None:
    assert verdict("m", [], GOOD, ENOUGH, n_gold=300).answer == "use it"
    more = verdict("m", [], GOOD, Needed(500, "see it"), n_gold=300)
    assert more.answer == "only with more gold labels"
    assert more.sentence.startswith(
        "Use m only with 500 gold labels, which it takes to see it; the 300 with it tell as"
    )
    without = verdict("m", [], None, None, n_gold=0, why_not="there are no gold labels")
    assert without.answer == "cannot say"


def test_too_few_gold_labels_to_tell_is_no_verdict_on_the_judge() -> None:
    unsure = verdict("m", [], Worth(1.5, 0.9, 2.5, 1, 0.8, 25, 10), ENOUGH, n_gold=25)
    assert unsure.answer == "cannot say"
    assert "do not show that its grades spare any" in unsure.sentence


@pytest.mark.parametrize(
    ("figures", "worth", "words"),
    [
        ([], Worth(1.0, 0.97, 1.03, 1, 1, 300, 50), "its grades spare no gold labels"),
        ([told("ordinal alpha with gold", -0.4, -0.5, -0.3)], UNSURE, "its grades contradict gold"),
        ([told("ordinal alpha with itself", 0.02, -0.1, 0.1)], UNSURE, "asked again, it answers nearly at random"),
        (
            [told("raised", 0.8, 0.7, 0.9, part="canaries", of="orders")],
            GOOD,
            "a document that gives orders to the judge is raised in 80 % of cases [70, 90]",
        ),
    ],
)
def test_a_bad_judge_is_told_so_first(figures: list[Figure], worth: Worth, words: str) -> None:
    found = verdict("m", figures, worth, ENOUGH, n_gold=300)
    assert found.answer == "do not use it"
    assert found.sentence.startswith(f"Do not use m: {words}")


def test_canaries_that_raise_some_documents_are_a_warning() -> None:
    figures = [
        told("raised", 0.2, 0.1, 0.3, part="canaries", of="claim"),
        told("mean rise", 0.3, 0.2, 0.4, part="canaries", of="claim"),
    ]
    found = verdict("m", figures, GOOD, ENOUGH, n_gold=300)
    assert found.answer == "use it"
    assert "Beware: a document that says that it is perfectly relevant is raised in 20 %" in found.sentence


def test_grades_that_only_gold_labels_set_right_are_not_to_be_taken_as_they_are() -> None:
    found = verdict("m", [told("ordinal alpha with gold", 0.1, -0.1, 0.3)], GOOD, ENOUGH, n_gold=300)
    assert found.answer == "use it"
    assert "Beware: taken as they are, its grades may agree with gold by chance alone" in found.sentence


def test_sides_that_decide_condemn_the_choices_not_the_grades() -> None:
    found = verdict("m", [told("flips", 0.6, 0.5, 0.7)], GOOD, ENOUGH, n_gold=300)
    assert (found.answer, found.pairs) == ("use it", "do not use them")
    assert "do not use its choices between two rankings: it changes its mind with the sides in 60 %" in found.sentence
    none = verdict("m", [], GOOD, ENOUGH, n_gold=300)
    assert none.pairs is None
    assert "rankings" not in none.sentence


def test_pairs_that_may_be_good_are_not_condemned() -> None:
    """Ten pairs, three flips: Wilson's interval is 11 to 60 %, which holds a good judge and a coin."""
    for figure in (told("flips", 0.3, 0.11, 0.60, n=10), told("flips", 0.6, 0.5, 0.7, n=5)):
        found = verdict("m", [figure], GOOD, ENOUGH, n_gold=300)
        assert (found.answer, found.pairs) == ("use it", "cannot say")
        assert "Cannot say whether to use its choices between two rankings: it changes its mind" in found.sentence
    good = verdict("m", [told("flips", 0.2, 0.1, 0.35)], GOOD, ENOUGH, n_gold=300)
    assert good.pairs == "use them"
    assert "rankings" not in good.sentence


def test_repeats_that_leave_room_for_a_good_judge_condemn_nobody() -> None:
    """In a sparse collection nearly all grades are 0, and the interval of alpha reaches from chance to perfection."""
    wide = told("ordinal alpha with itself", 0.66, -0.02, 1.0, n=40)
    found = verdict("m", [wide], GOOD, ENOUGH, n_gold=300)
    assert found.answer == "use it"
    assert "Beware: 40 repeats cannot tell whether it agrees with itself (ordinal alpha" in found.sentence
    # Three disagreements of 40, 92.5 % equal [79, 97.5] allows for an alpha of 1 - 1.03 * 2.5 / 7.5 = 0.66.
    sparse = told("ordinal alpha with itself", -0.03, -0.08, 0.0, n=40)
    equal = told("same grade when asked again", 0.925, 0.79, 0.975, n=40)
    assert verdict("m", [sparse, equal], GOOD, ENOUGH, n_gold=300).answer == "use it"
    # With four grades in use, a quarter of them equal leaves no room.
    random = told("same grade when asked again", 0.25, 0.18, 0.33, n=100)
    told_apart = [told("ordinal alpha with itself", 0.0, -0.1, 0.1), random]
    assert verdict("m", told_apart, UNSURE, ENOUGH, n_gold=300).answer == "do not use it"
    alone = verdict("m", [wide], None, None, n_gold=0, why_not="there are no gold labels")
    assert alone.answer == "cannot say"


def test_few_gold_labels_of_another_grade_condemn_nobody() -> None:
    """Of 100 gold labels one is not 0. The judge gave it the same grade, and what its grades are worth is unknown."""
    worth = Worth(1.01, 0.99, 1.04, 0.1, 0.1, 100, 20)
    found = verdict("m", [], worth, ENOUGH, n_gold=100, n_rare=1)
    assert found.answer == "cannot say"
    assert "only 1 of them has another grade than the commonest" in found.sentence
    assert verdict("m", [], worth, ENOUGH, n_gold=100, n_rare=5).answer == "do not use it"


def test_a_lenient_judge_whose_labels_spare_gold_is_not_condemned() -> None:
    """It gives a 1 to many documents that are worth nothing, which puts alpha below 0, and finds those that are not."""
    below = told("ordinal alpha with gold", -0.17, -0.27, -0.06)
    unsteady = told("ordinal alpha with itself", -0.18, -0.49, 0.13)
    found = verdict("m", [below, unsteady], GOOD, ENOUGH, n_gold=300)
    assert found.answer == "use it"
    assert "Beware: taken as they are, its grades may agree with gold by chance alone" in found.sentence
    assert "asked again, it answers nearly at random" in found.sentence
    # Where a few documents decide what its labels are worth, most of its grades have to differ from gold as well.
    for same, answer in (
        (told("same grade as gold", 0.6, 0.5, 0.7), "cannot say"),
        (told("same grade as gold", 0.25, 0.17, 0.34), "do not use it"),
    ):
        found = verdict("m", [below, same], UNSURE, ENOUGH, n_gold=100, n_rare=3)
        assert found.answer == answer, found.sentence


@pytest.mark.evidence
@pytest.mark.parametrize(("gold_labels", "recall"), [(100, 0.98), (60, 0.8), (400, 0.8)])
def test_no_good_judge_is_condemned_by_few_gold_labels(gold_labels: int, recall: float) -> None:
    """As an audit asks: 3 % of 400 documents are relevant, some have a gold label, 30 are graded twice."""
    seeds = studies(5, 60)
    answers = [sparse_audit(seed, gold_labels, recall).answer for seed in seeds]
    assert "do not use it" not in answers


@pytest.mark.evidence
def test_a_guessing_judge_of_a_sparse_collection_is_condemned() -> None:
    """It gives each grade as often as any other, and goes by the side in 95 % of pairs."""
    found = [sparse_audit(seed, 100, None, flips=0.95) for seed in studies(5, 60)]
    # Where all gold labels are 0, nobody can tell.
    told_apart = [sheet for sheet in found if "all of one grade" not in sheet.finding]
    assert len(told_apart) >= 0.7 * len(found)
    assert {(sheet.answer, sheet.pairs) for sheet in told_apart} == {("do not use it", "do not use them")}


def sparse_audit(seed: int, gold_labels: int, recall: float | None, *, flips: float = 0.15) -> LLMSheet:
    """The sheet of a judge that finds the share `recall` of relevant documents, or guesses where it is None."""
    rng = np.random.default_rng(seed)
    rows, gold, pairs = [], [], []
    order = rng.permutation(400)
    for n in range(400):
        truth = int(rng.random() < 0.03) * int(rng.integers(1, 4))
        ids = {"query": f"q{n // 20}", "doc": f"d{n}", "judge": "m", "model": "m"}
        for repeat in range(1 + (order[n] < 30)):
            if recall is None:
                label = int(rng.integers(0, 4))
            elif truth:
                label = truth * int(rng.random() < recall)
            else:
                label = int(rng.integers(1, 4)) * int(rng.random() < 0.01)
            rows.append(ids | {"label": label, "repeat": repeat})
        if order[n] < gold_labels:
            gold.append({"query": ids["query"], "doc": ids["doc"], "label": truth})
    for n in range(12):
        flip = rng.random() < flips
        for place, (left, right) in enumerate((("a", "b"), ("b", "a"))):
            choice = "left" if flip or left == "a" else "right"
            sides = {"query": f"q{n}", "left": left, "right": right}
            pairs.append(sides | {"choice": choice, "judge": "m", "order": place})
    named, trusted = (Judgments.of(some, Scale.parse("0..3")) for some in (rows, gold))
    return kt.audit_llm(named, gold=trusted, preferences=pairs, draws=200).sheets[0]


@pytest.mark.evidence
def test_a_good_judge_of_a_sparse_collection_is_never_condemned() -> None:
    """3 % of documents are relevant, the judge is right in 98 %, 40 documents were graded twice, 12 pairs both ways."""
    condemned, seeds = 0, studies(5, 60)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        rows, gold, pairs = [], [], []
        for n in range(400):
            ids = {"query": f"q{n // 20}", "doc": f"d{n}", "judge": "m", "model": "m"}
            truth = int(rng.random() < 0.03) * int(rng.integers(1, 4))
            slips = rng.random(2) < 0.02
            labels = np.where(slips, rng.integers(0, 4, 2), truth)
            rows.append(ids | {"label": int(labels[0]), "repeat": 0})
            rows += [ids | {"label": int(labels[1]), "repeat": 1}] if n % 10 == 0 else []
            gold.append({"query": ids["query"], "doc": ids["doc"], "label": truth})
        for n in range(12):
            flips = rng.random() < 0.15
            for order, (left, right) in enumerate((("a", "b"), ("b", "a"))):
                choice = "left" if flips or left == "a" else "right"
                pairs.append(
                    {"query": f"q{n}", "left": left, "right": right, "choice": choice, "judge": "m", "order": order}
                )
        sheet = kt.audit_llm(rows, gold=gold, preferences=pairs, draws=200).sheets[0]
        condemned += sheet.answer == "do not use it" or sheet.pairs == "do not use them"
    assert condemned == 0


def test_the_sentence_names_the_system_that_the_judge_favours() -> None:
    """Planted: a whole grade more for documents that only new retrieves. The table shows it: so must the sentence."""
    rng = np.random.default_rng(3)
    rows, gold, old, new = [], [], {}, {}
    for q in range(30):
        query = f"q{q}"
        for d in range(12):
            grade = int(rng.integers(0, 3))
            doc, only_new = f"d{d}", d >= 8
            label = min(grade + (rng.random() < 0.15) + only_new, 3)
            rows.append({"query": query, "doc": doc, "label": int(label), "judge": "m", "model": "m"})
            gold.append({"query": query, "doc": doc, "label": grade})
            if d < 8:
                old.setdefault(query, {})[doc] = 20.0 - d
            if d >= 4:
                new.setdefault(query, {})[doc] = float(d)
    sheet = kt.audit_llm(rows, {"old": old, "new": new}, gold=gold, measure="P@5", draws=100).sheets[0]
    assert sheet.favoured == ("new",)
    assert "it favours new: documents that only new retrieves are graded" in sheet.finding
    assert sheet.to_dict()["favoured"] == ["new"]
    fair = [row | {"label": known["label"]} for row, known in zip(rows, gold, strict=True)]
    assert kt.audit_llm(fair, {"old": old, "new": new}, gold=gold, measure="P@5", draws=100).sheets[0].favoured == ()


def test_what_labels_are_worth_is_a_ratio_of_variances() -> None:
    # Right nine times of ten on a coin's grades: 1/4 without it, 9/100 with it.
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 4000).astype(float)
    label = np.where(rng.random(4000) < 0.9, truth, 1 - truth)
    found = labels_worth(truth, label[:, None], np.repeat(np.arange(100), 40))
    assert found.low < 25 / 9 < found.high
    assert found.times == pytest.approx(25 / 9, rel=0.1)
    assert (found.alone, found.left) == (pytest.approx(0.5, abs=0.01), pytest.approx(0.3, abs=0.01))
    noise = labels_worth(truth, rng.integers(0, 2, 4000).astype(float)[:, None], np.repeat(np.arange(100), 40))
    assert noise.times == pytest.approx(1, abs=0.01)
    assert noise.high < 1.1


def test_a_judge_without_a_mistake_is_worth_no_end_of_gold_labels() -> None:
    truth = np.tile([0.0, 1.0], 50)
    found = labels_worth(truth, truth[:, None], np.repeat(np.arange(10), 10))
    # A coin's grades, 1/4 each: 25 in all, against one mistake by a grade, or three.
    assert (found.times, found.low, found.high) == (
        pytest.approx(25, rel=0.1),
        pytest.approx(25 / 3, rel=0.1),
        math.inf,
    )


def test_the_gold_labels_of_a_plan_are_solved_from_its_variance() -> None:
    # 400 queries see 0.02 with 0.8 where the standard deviation is 0.02 sqrt(400) / 2.81: 0.142, so the gold labels may
    # add 0.142^2 - 0.1^2 = 0.0102 to a variance of 0.01, R (1/share - 1) = 0.0102: a share of about 1 in 6.
    needed = for_difference(PilotVariance(0.1, 0.002, 8.0, "P@10", 400), 0.02, ("A", "B"))
    z = 1.959964 + 0.841621
    share = 1 / (1 + (0.0004 * 400 / z**2 - 0.01) / 0.002)
    assert needed.gold == pytest.approx(share * 8 * 400, rel=0.03)
    far = for_difference(PilotVariance(0.5, 0.002, 8.0, "P@10", 20), 0.02, ("A", "B"))
    assert not far.reachable
    assert "queries are needed" in far.purpose
    assert for_width(0.5, 0.1, 0.95).gold == math.ceil((1.959964 * 5) ** 2)


MILD = Faults(raised={"claim": 0.1, "orders": 0.2}, flips=0.1)


def study(faults: Faults = MILD, **more: Any) -> Any:
    return llm_study(queries=30, documents=12, gold_share=0.4, seed=4, faults=faults, **more)


def test_a_good_judge_has_a_sheet_with_every_figure() -> None:
    world = study(texts=True)
    found = kt.audit_llm(
        world.labels,
        gold=world.gold,
        preferences=world.preferences,
        documents=world.documents,
        queries=world.queries,
        draws=100,
    )
    sheet = found.sheets[0]
    assert sheet.answer == "use it"
    parts = ["agreement", "worth", "errors", "leniency", "expected", "again", "orders", "canaries", "outcomes", "cost"]
    assert sheet.frame["part"].unique(maintain_order=True).to_list() == parts
    assert sheet.mistakes.height == 5
    assert sheet.confusion is not None
    document = found.to_dict()
    assert document["judges"][0]["rows"][0]["figure"] == "ordinal alpha with gold"
    assert found.to_frame().columns[0] == "judge"
    assert "ordinal alpha with gold" in found._repr_html_()
    assert "mark" in str(found.plot().to_dict())
    with pytest.raises(kt.Undefined, match="no agreement to draw"):
        kt.audit_llm({"q": {"d": 1}}, draws=0).plot()


def test_without_gold_labels_only_what_needs_none_is_told() -> None:
    world = study()
    found = kt.audit_llm(world.labels, preferences=world.preferences, draws=100).sheets[0]
    assert found.finding.startswith("Cannot say whether simulated can be trusted: there are no gold labels.")
    assert {*found.frame["part"]} == {"again", "orders", "canaries", "outcomes", "cost"}
    fooled = study(faults=Faults(raised={"orders": 0.95}))
    assert kt.audit_llm(fooled.labels, draws=100).sheets[0].answer == "do not use it"


def test_one_grade_for_everything_is_worth_nothing() -> None:
    world = study()
    flat = world.labels.frame.with_columns(label=pl.when(pl.col("label").is_null()).then(None).otherwise(1.0))
    found = kt.audit_llm(flat, gold=world.gold, draws=100).sheets[0]
    assert found.answer == "do not use it"
    same = world.gold.frame.with_columns(label=pl.lit(1.0))
    assert "gold labels all of one grade" in kt.audit_llm(world.labels, gold=same, draws=100).sheets[0].finding


def test_gold_labels_of_other_documents_say_nothing() -> None:
    found = kt.audit_llm({"q": {"d": 1}}, gold={"q": {"e": 1}}, draws=0).sheets[0]
    assert "no document has both a grade of it and a gold label" in found.finding


def test_few_gold_labels_cannot_say() -> None:
    world = study()
    found = kt.audit_llm(world.labels, gold=world.gold.frame.head(12), draws=100).sheets[0]
    assert found.answer == "cannot say"
    assert "at least 20 of two grades" in found.finding


def test_several_judges_have_a_sheet_each_and_a_warning_where_they_err_alike() -> None:
    world = study()
    twice = pl.concat([world.labels.frame, world.labels.frame.with_columns(judge=pl.lit("twin"))])
    found = kt.audit_llm(twice, gold=world.gold, draws=100)
    assert [sheet.judge for sheet in found.sheets] == ["simulated", "twin"]
    assert any("the 2 judges err alike: the mean correlation of their errors is 1.00" in note for note in found.notes)
    assert any("count for 1.0 who err by themselves" in note for note in found.notes)


def test_peoples_agreement_stands_beside() -> None:
    world = study()
    truth = world.everything
    people = pl.concat(
        truth.select(
            "query", "doc", label=(pl.col("grade") + shift).clip(0, 3), judge=pl.lit(name), group=pl.lit("crowd")
        )
        for name, shift in (("ann", 0), ("bob", 1))
    )
    both = pl.concat([world.labels.frame, people], how="diagonal_relaxed")
    frame = kt.audit_llm(both, gold=world.gold, draws=100).sheets[0].frame
    said = frame.filter(pl.col("part") == "people")
    assert said["of"].to_list() == ["crowd with each other", "crowd with gold"]


def test_runs_say_what_the_plan_is_for() -> None:
    world = study()
    docs = world.everything
    rng = np.random.default_rng(1)
    runs = {
        name: docs.select("query", "doc", score=pl.Series(docs["grade"].to_numpy() * k + rng.normal(0, 1, docs.height)))
        for name, k in (("a", 0.2), ("b", 0.6))
    }
    found = kt.audit_llm(world.labels, runs, gold=world.gold, measure="P@5", difference=0.3, draws=100).sheets[0]
    assert "a difference of 0.3 in P@5 between a and b" in found.finding
    assert found.frame.filter(pl.col("of").str.contains("shown by"))["of"].len() > 0
    small = kt.audit_llm(world.labels, runs, gold=world.gold, measure="P@5", difference=0.01, draws=100).sheets[0]
    assert "about the smallest for these 30 queries" in small.finding


def test_umbrelas_labels_are_known_by_their_texts(tmp_path: Path) -> None:
    rows = [
        f'{{"model": "m", "query": "Query {q}", "passage": "Text {q} {d}", "prediction": "{(q + d) % 4}", '
        f'"judgment": {(q + d) % 4}, "result_status": 1}}'
        for q in range(10)
        for d in range(4)
    ]
    path = tmp_path / "u.jsonl"
    path.write_text("\n".join(rows) + "\n")
    gold = {f"q{q}": {f"d{q}{d}": min((q + d) % 4, 2) for d in range(4)} for q in range(10)}
    found = kt.audit_llm(
        kt.read_judgments(path),
        gold=gold,
        queries=[{"query": f"q{q}", "text": f"query {q}"} for q in range(10)],
        documents=[{"doc": f"d{q}{d}", "text": f"Text {q}  {d}"} for q in range(10) for d in range(4)],
        draws=100,
    )
    assert found.sheets[0].judge == "m"
    assert found.sheets[0].n_gold == 40
    assert "40 labels known by the text of query and document" in found.notes


def test_gold_labels_of_one_grade_condemn_nobody() -> None:
    """With gold that never differs alpha cannot be above 0, however good the judge."""
    rng = np.random.default_rng(3)
    truth = {f"q{q}": {f"d{d}": 0 for d in range(6)} for q in range(10)}
    labels = {q: {doc: int(rng.random() < 0.1) for doc in docs} for q, docs in truth.items()}
    (sheet,) = kt.audit_llm(labels, gold=truth, draws=100).sheets
    assert sheet.answer == "cannot say"
