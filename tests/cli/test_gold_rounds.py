"""Gold labels through the judging app: a plan goes in, labels come out, in one round or two, all there or in part."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import karat as kt
from commands import run
from karat.cli.open_study import opened_study
from karat.plan import plan_gold
from karat.simulate import two_systems
from karat.study.answers import reject_judge
from karat.study.people import all_judges

MEASURE = "P@10"


@dataclass(frozen=True)
class Setting:
    """Two systems, a lenient judge's labels of what they show, the truth, and an empty study."""

    runs: list[kt.Runs]
    labels: kt.Judgments
    truth: pl.DataFrame
    folder: Path

    def plan(self, n: int, pilot: kt.Judgments | None = None) -> pl.DataFrame:
        """A plan of gold labels."""
        return plan_gold(self.labels, self.runs, MEASURE, n, pilot=pilot, seed=1).to_frame()

    def filled(self, plan: pl.DataFrame, number: int | None = None) -> pl.DataFrame:
        """A plan with the first so many of its empty labels as the truth has them."""
        known = plan.join(self.truth, on=["query", "doc"], how="left", maintain_order="left")
        waits = pl.col("label").is_null()
        filled = waits & (waits.cum_sum() <= (plan.height if number is None else number))
        return known.with_columns(label=pl.when(filled).then("grade").otherwise("label")).drop("grade")

    def verdict(self, gold: kt.Judgments | pl.DataFrame) -> pl.DataFrame:
        """What a comparison with these gold labels says."""
        judgments = gold if isinstance(gold, kt.Judgments) else kt.Judgments.of(gold)
        return kt.compare(self.labels, self.runs, MEASURE, gold=judgments, draws=100).methods

    def import_(self, frame: pl.DataFrame, name: str, *options: str) -> str:
        """Bring a table into the study."""
        path = self.folder.parent / f"{name}.csv"
        frame.write_csv(path)
        return run("import", self.folder, path, *options).output

    def judged(self, plan: pl.DataFrame, group: str | None = None) -> None:
        """Let somebody give the labels of a plan."""
        labels = plan.drop_nulls("label").select(
            "query", "doc", "label", judge=pl.lit("ana" if group is None else f"ana of {group}")
        )
        self.import_(labels, "labels", *(["--default-group", group] if group else []))

    def export(self, *options: str) -> kt.Judgments:
        """The labels of the study."""
        run("export", self.folder, self.folder.parent / "out.csv", *options)
        return kt.read_judgments(str(self.folder.parent / "out.csv"))


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    study = two_systems(60, difference=0.0, judge="lenient", leniency=0.2, seed=3)
    run("init", tmp_path / "study", "--empty")
    everything = study.gold(study.draw_gold(len(study.truth), seed=1), 1.0).frame
    truth = everything.select("query", "doc", grade="label")
    return Setting(list(study.runs()), study.judgments(), truth, tmp_path / "study")


@pytest.mark.parametrize("reduced", [(), ("--consensus",)])
def test_a_plan_of_which_half_is_labelled_says_the_same_as_the_file_filled_in_by_hand(
    setting: Setting, reduced: tuple[str, ...]
) -> None:
    plan = setting.plan(120)
    half = setting.filled(plan, 60)
    assert f"{plan.height} new tasks" in setting.import_(plan, "plan")
    setting.judged(half)
    assert_frame_equal(setting.verdict(setting.export("--kind", "gold", *reduced)), setting.verdict(half))
    # Without rows for those that wait, 60 labels would be taken for all that was drawn: they stand for half of the
    # documents, and are refused for it.
    assert "ppi" in setting.verdict(half)["method"]
    assert "ppi" not in setting.verdict(half.drop_nulls("label"))["method"]


def test_what_a_plan_was_drawn_for_comes_back_with_its_labels(setting: Setting) -> None:
    """By it `karat score` knows that labels drawn to tell systems apart say nothing of one by itself."""
    plan = setting.plan(120)
    setting.import_(plan, "plan")
    setting.judged(setting.filled(plan))
    for reduced in ((), ("--consensus",)):
        assert {*setting.export("--kind", "gold", *reduced).frame["drawn_for"]} == {"differences"}
    spoilt = plan.with_columns(drawn_for=pl.lit("luck"))
    with pytest.raises(kt.BadInput, match='expected scores or differences, found "luck"'):
        setting.import_(spoilt, "spoilt")


def test_an_export_of_what_is_there_says_that_drawn_documents_wait(setting: Setting) -> None:
    plan = setting.plan(120)
    setting.import_(plan, "plan")
    setting.judged(setting.filled(plan, 60))
    said = run("export", setting.folder, setting.folder.parent / "out.csv").output
    assert f"{plan.height - 60} drawn documents without a label yet left out: --kind gold has them" in said


def test_a_second_round_says_the_same_as_the_file_filled_in_by_hand(setting: Setting) -> None:
    first = setting.plan(80)
    setting.import_(first, "first")
    setting.judged(setting.filled(first))
    second = setting.plan(60, pilot=setting.export("--kind", "gold"))
    waiting = second["label"].null_count()
    assert 0 < waiting < second.height
    said = setting.import_(second, "second")
    assert f"{waiting} new tasks" in said
    assert "0 new labels" in said
    assert "0 new tasks" in setting.import_(second, "second")
    half = setting.filled(second, waiting // 2)
    setting.judged(half)
    assert_frame_equal(setting.verdict(setting.export("--kind", "gold")), setting.verdict(half))
    setting.judged(setting.filled(second))
    done = setting.export("--kind", "gold")
    assert_frame_equal(setting.verdict(done), setting.verdict(setting.filled(second)))
    assert sorted(done.frame["round"].unique()) == ["1", "2"]
    third = setting.plan(30, pilot=done)
    assert {*third["round"]} == {1, 2, 3}
    # The first round's own file comes late: the chances of both rounds together stand.
    assert "have the probability of a later round, which stands" in setting.import_(first, "first")
    assert_frame_equal(setting.export("--kind", "gold").frame, done.frame)


def first_round(setting: Setting, labelled: int) -> pl.DataFrame:
    """A first round of which so many are labelled; returns its plan."""
    first = setting.plan(80)
    setting.import_(first, "first")
    setting.judged(setting.filled(first, labelled))
    return first


def test_what_a_later_round_does_not_have_is_no_part_of_the_sample_and_stays_out(setting: Setting) -> None:
    first = first_round(setting, 50)
    second = setting.plan(40, pilot=setting.export("--kind", "gold"))
    gone = first.join(second, on=["query", "doc"], how="anti").height
    assert gone > 0
    said = setting.import_(second, "second")
    assert f"{gone} tasks of earlier rounds are not in this one: no part of the sample, though still asked." in said
    setting.judged(setting.filled(second))
    by_hand = setting.verdict(setting.filled(second))
    assert_frame_equal(setting.verdict(setting.export("--kind", "gold")), by_hand)
    setting.import_(first, "first")
    setting.judged(setting.filled(first))
    assert_frame_equal(setting.verdict(setting.export("--kind", "gold")), by_hand)


@pytest.mark.parametrize("route", ["filled in", "as tasks", "with judges"])
def test_a_second_round_is_one_by_whichever_way_it_comes(setting: Setting, route: str) -> None:
    first_round(setting, 80)
    second = setting.plan(40, pilot=setting.export("--kind", "gold"))
    done = setting.filled(second)
    if route == "filled in":
        said = setting.import_(done, "second")
        assert f"{second['label'].null_count()} new labels" in said
    elif route == "as tasks":
        setting.import_(second, "second", "--kind", "tasks")
        setting.judged(done)
    else:
        setting.import_(done.with_columns(judge=pl.lit("ana")), "second")
    assert_frame_equal(setting.verdict(setting.export("--kind", "gold")), setting.verdict(done))
    assert setting.export().frame.height == second.height


def test_each_group_has_its_own_rounds(setting: Setting) -> None:
    _groups(setting, "experts", "crowd")
    first = setting.plan(80)
    setting.import_(first, "first")
    for group in ("experts", "crowd"):
        setting.judged(setting.filled(first), group)
    for group, number in (("experts", 40), ("crowd", 30)):
        of_group = ("--kind", "gold", "--group", group)
        second = setting.plan(number, pilot=setting.export(*of_group))
        setting.import_(second.drop("group", strict=False), "second", "--default-group", group)
        setting.judged(setting.filled(second), group)
        assert_frame_equal(setting.verdict(setting.export(*of_group)), setting.verdict(setting.filled(second)))


def test_another_draw_of_the_same_round_is_refused_and_leaves_no_trace(setting: Setting) -> None:
    first = first_round(setting, 80)
    other = plan_gold(setting.labels, setting.runs, MEASURE, 120, seed=9).to_frame()
    before = setting.export().frame
    for file in (other, setting.filled(other), setting.filled(other, 60)):
        with pytest.raises(kt.BadInput, match=r"found another of the same round: .* karat plan gold --gold"):
            setting.import_(file, "other")
    assert_frame_equal(setting.export().frame, before)
    assert pl.read_ndjson(_exported_tasks(setting)).height == first.height


def test_a_part_of_a_draw_may_come_later_and_is_told(setting: Setting) -> None:
    plan = setting.plan(80)
    setting.import_(plan.head(50), "one")
    assert "30 tasks were drawn beside others: right only if all are of one draw." in setting.import_(plan[50:], "two")
    setting.judged(setting.filled(plan))
    assert_frame_equal(setting.verdict(setting.export("--kind", "gold")), setting.verdict(setting.filled(plan)))


def test_a_plan_that_cannot_be_stored_leaves_no_trace(setting: Setting) -> None:
    _groups(setting, "experts", "crowd")
    first = setting.plan(80)
    setting.import_(first, "first", "--default-group", "experts")
    setting.judged(setting.filled(first), "experts")
    second = setting.plan(40, pilot=setting.export("--kind", "gold", "--group", "experts")).drop("group", strict=False)
    before = setting.export("--kind", "gold").frame
    wrong = setting.filled(second, 10).with_columns(
        judge=pl.when(pl.col("label").is_not_null()).then(pl.lit("ana of experts"))
    )
    with pytest.raises(kt.BadInput, match="the judge ana of experts: expected the group experts"):
        setting.import_(wrong, "second", "--default-group", "crowd")
    for bad in ("99999999999999999999", "0", "-1", "soon"):
        with pytest.raises(kt.BadInput, match="round"):
            setting.import_(second.with_columns(round=pl.lit(bad)), "second", "--default-group", "experts")
    assert_frame_equal(setting.export("--kind", "gold").frame, before)


def test_an_export_of_gold_labels_comes_back_as_it_was(setting: Setting, tmp_path: Path) -> None:
    first = first_round(setting, 50)
    gold = setting.export("--kind", "gold")
    assert "0 new tasks" in setting.import_(gold.frame, "gold")
    assert_frame_equal(setting.export("--kind", "gold").frame, gold.frame)
    run("init", tmp_path / "other", "--empty")
    other = replace(setting, folder=tmp_path / "other")
    assert f"{first.height - 50} new tasks" in other.import_(gold.frame, "gold")
    assert_frame_equal(setting.verdict(other.export("--kind", "gold")), setting.verdict(gold))
    assert pl.read_ndjson(_exported_tasks(other)).filter(pl.col("wanted") > pl.col("filled")).height == 30


def test_a_label_of_an_earlier_round_that_a_plan_has_otherwise_is_said(setting: Setting) -> None:
    first_round(setting, 80)
    second = setting.plan(40, pilot=setting.export("--kind", "gold"))
    turned = second.with_columns(label=1 - pl.col("label"))
    said = setting.import_(turned, "turned")
    assert "0 new labels; 80 labels unlike those that the study has, which stand: left out" in said


def test_a_second_raters_file_is_a_second_label(setting: Setting) -> None:
    filled = setting.filled(setting.plan(80))
    assert "80 new labels" in setting.import_(filled, "anna")
    assert "80 new labels" in setting.import_(filled.with_columns(label=1 - pl.col("label")), "bert")
    assert sorted(setting.export("--kind", "gold").frame["judge"].unique()) == ["anna", "bert"]


def test_a_rejected_label_does_not_come_back_with_the_next_round(setting: Setting) -> None:
    first_round(setting, 80)
    second = setting.plan(40, pilot=setting.export("--kind", "gold"))
    with opened_study(str(setting.folder), None) as opened:
        (judge,) = (person["id"] for person in all_judges(opened.store))
        reject_judge(opened.store, judge, "careless")
    assert "0 new labels" in setting.import_(second, "second")
    found = setting.export("--kind", "gold").frame
    assert (found.height, found["label"].count()) == (second.height, 0)


def test_a_plan_with_labels_names_its_group_where_there_are_several(setting: Setting) -> None:
    _groups(setting, "experts", "crowd")
    half = setting.filled(setting.plan(80), 30)
    with pytest.raises(kt.BadInput, match="expected the group that it is for, of experts, crowd, found none"):
        setting.import_(half, "half")
    assert "30 new labels" in setting.import_(half, "half", "--default-group", "crowd")


def test_documents_in_context_and_pairs_keep_the_chances_of_their_own_draws(setting: Setting) -> None:
    context = pl.DataFrame({"query": ["1", "1"], "doc": ["a", "b"], "context": ["c", "c"], "probability": [0.1, 0.2]})
    pairs = pl.DataFrame({"query": ["1"], "left": ["one"], "right": ["two"], "probability": [0.3]})
    setting.import_(context, "context")
    setting.import_(pairs, "pairs")
    first_round(setting, 80)
    second = setting.plan(40, pilot=setting.export("--kind", "gold"))
    assert "earlier round" not in setting.import_(second, "second")
    setting.judged(setting.filled(second))
    assert_frame_equal(setting.verdict(setting.export("--kind", "gold")), setting.verdict(setting.filled(second)))
    kept = pl.read_ndjson(_exported_tasks(setting)).filter(pl.col("context").is_not_null() | (pl.col("kind") == "pair"))
    assert kept["probability"].sort().to_list() == [0.1, 0.2, 0.3]
    other = context.with_columns(probability=pl.lit(0.9))
    assert "2 tasks have another probability, which stands." in setting.import_(other, "context")


def test_labels_that_a_plan_has_already_are_kept_and_not_asked_again(setting: Setting) -> None:
    half = setting.filled(setting.plan(80), 30)
    said = setting.import_(half, "half")
    assert f"{half.height - 30} new tasks" in said
    assert "30 new labels" in said
    assert_frame_equal(setting.verdict(setting.export("--kind", "gold")), setting.verdict(half))
    tasks = pl.read_ndjson(_exported_tasks(setting))
    assert tasks.filter(pl.col("wanted") > pl.col("filled")).height == half.height - 30


def _exported_tasks(setting: Setting) -> Path:
    path = setting.folder.parent / "tasks.jsonl"
    run("export", setting.folder, path, "--kind", "tasks")
    return path


def _groups(setting: Setting, *names: str) -> None:
    toml = setting.folder / "study.toml"
    toml.write_text(f"groups = {json.dumps(names)}\n" + toml.read_text().replace("groups =", "# groups ="))


def test_a_plan_is_for_one_group_and_its_labels_are_exported_alone(setting: Setting) -> None:
    _groups(setting, "crowd", "experts")
    plan = setting.plan(20)
    assert "20 new tasks" in setting.import_(plan, "plan", "--default-group", "experts")
    label = setting.filled(plan).select("query", "doc", "label")
    setting.import_(label.with_columns(judge=pl.lit("ana")), "labels", "--default-group", "experts")
    setting.import_(label.with_columns(judge=pl.lit("bob"), label=pl.lit(0.0)), "others", "--default-group", "crowd")
    gold = setting.export("--kind", "gold", "--group", "experts")
    assert_frame_equal(setting.verdict(gold), setting.verdict(setting.filled(plan)))
    assert {*gold.frame["judge"]} == {"ana"}
    assert {*setting.export("--group", "crowd").frame["judge"]} == {"bob"}


def test_the_report_of_a_study_counts_drawn_documents_that_wait_for_a_label(setting: Setting) -> None:
    _groups(setting, "llm", "gold")
    runs = setting.folder / "runs"
    runs.mkdir(exist_ok=True)
    for one in setting.runs:
        one.frame.write_csv(runs / f"{one.systems[0]}.csv")
    half = setting.filled(setting.plan(120), 60)
    setting.import_(setting.labels.frame.with_columns(judge=pl.lit("model")), "bronze", "--default-group", "llm")
    setting.import_(half, "half", "--default-group", "gold")
    told = run("report", setting.folder, "-o", setting.folder / "page.html", "-m", MEASURE, "--json", "--draws", "100")
    found = json.loads(told.stdout)["comparison"]["methods"]
    by_hand = setting.verdict(half).filter(pl.col("method") == "ppi")
    (ppi,) = [row for row in found if row["method"] == "ppi"]
    assert abs(ppi["difference"]) == pytest.approx(abs(by_hand["difference"][0]))
    assert ppi["n_gold"] == by_hand["n_gold"][0]
    # The same labels in one file: what waits in the group gold is in it.
    everything = setting.export()
    found = kt.compare(everything, setting.runs, MEASURE, draws=100).methods
    assert_frame_equal(found, setting.verdict(half))
