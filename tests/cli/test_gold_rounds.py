"""Gold labels through the judging app: a plan goes in, labels come out, in one round or two, all there or in part."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import karat as kt
from commands import run
from karat.plan import plan_gold
from karat.simulate import two_systems

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
        return plan_gold(self.runs, self.labels, MEASURE, n, pilot=pilot, seed=1).to_frame()

    def filled(self, plan: pl.DataFrame, number: int | None = None) -> pl.DataFrame:
        """A plan with the first so many of its empty labels as the truth has them."""
        known = plan.join(self.truth, on=["query", "doc"], how="left", maintain_order="left")
        waits = pl.col("label").is_null()
        filled = waits & (waits.cum_sum() <= (plan.height if number is None else number))
        return known.with_columns(label=pl.when(filled).then("grade").otherwise("label")).drop("grade")

    def verdict(self, gold: kt.Judgments | pl.DataFrame) -> pl.DataFrame:
        """What a comparison with these gold labels says."""
        judgments = gold if isinstance(gold, kt.Judgments) else kt.Judgments.of(gold)
        return kt.compare(self.runs, self.labels, MEASURE, gold=judgments, draws=100).methods

    def import_(self, frame: pl.DataFrame, name: str, *options: str) -> str:
        """Bring a table into the study."""
        path = self.folder.parent / f"{name}.csv"
        frame.write_csv(path)
        return run("import", self.folder, path, *options).output

    def judged(self, plan: pl.DataFrame) -> None:
        """Let ana give the labels of a plan."""
        self.import_(plan.drop_nulls("label").select("query", "doc", "label", judge=pl.lit("ana")), "labels")

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


@pytest.mark.parametrize("reduced", [(), ("--majority",)])
def test_a_plan_of_which_half_is_labelled_says_the_same_as_the_file_filled_in_by_hand(
    setting: Setting, reduced: tuple[str, ...]
) -> None:
    plan = setting.plan(120)
    half = setting.filled(plan, 60)
    assert f"{plan.height} new tasks" in setting.import_(plan, "plan")
    setting.judged(half)
    assert_frame_equal(setting.verdict(setting.export("--kind", "gold", *reduced)), setting.verdict(half))
    # Without rows for those that wait, 60 labels would be taken for all that was drawn: half of the correction is lost.
    corrected = pl.col("method") == "ppi"
    for_all = setting.verdict(half.drop_nulls("label")).filter(corrected)["difference"][0]
    assert abs(for_all - setting.verdict(half).filter(corrected)["difference"][0]) > 0.02


def test_an_export_of_what_is_there_says_that_drawn_documents_wait(setting: Setting) -> None:
    plan = setting.plan(120)
    setting.import_(plan, "plan")
    setting.judged(setting.filled(plan, 60))
    said = run("export", setting.folder, setting.folder.parent / "out.csv").output
    assert f"{plan.height - 60} drawn documents without a label yet not in the file" in said


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
    assert "have another probability, which stands" in setting.import_(first, "first")
    assert_frame_equal(setting.export("--kind", "gold").frame, done.frame)


def test_what_a_later_round_does_not_have_is_no_part_of_the_sample(setting: Setting) -> None:
    first = setting.plan(80)
    hidden = first.head(1).with_columns(doc=pl.lit("hidden"), label=pl.lit(1.0))
    setting.import_(pl.concat([first, hidden], how="vertical_relaxed"), "first")
    setting.judged(setting.filled(first))
    second = setting.plan(60, pilot=setting.export("--kind", "gold"))
    assert "1 task of earlier rounds not in this one: no part of the sample now." in setting.import_(second, "second")
    assert "hidden" not in setting.export("--kind", "gold").frame["doc"].to_list()
    assert "hidden" in setting.export().frame["doc"].to_list()


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


def test_a_plan_is_for_one_group_and_its_labels_are_exported_alone(setting: Setting) -> None:
    toml = setting.folder / "study.toml"
    toml.write_text('groups = ["crowd", "experts"]\n' + toml.read_text().replace("groups =", "# groups ="))
    plan = setting.plan(20)
    assert "20 new tasks" in setting.import_(plan, "plan", "--group", "experts")
    label = setting.filled(plan).select("query", "doc", "label")
    setting.import_(label.with_columns(judge=pl.lit("ana")), "labels", "--group", "experts")
    setting.import_(label.with_columns(judge=pl.lit("bob"), label=pl.lit(0.0)), "others", "--group", "crowd")
    gold = setting.export("--kind", "gold", "--group", "experts")
    assert_frame_equal(setting.verdict(gold), setting.verdict(setting.filled(plan)))
    assert {*gold.frame["judge"]} == {"ana"}
    assert {*setting.export("--group", "crowd").frame["judge"]} == {"bob"}


def test_the_report_of_a_study_counts_drawn_documents_that_wait_for_a_label(setting: Setting) -> None:
    toml = setting.folder / "study.toml"
    toml.write_text('groups = ["llm", "gold"]\n' + toml.read_text().replace("groups =", "# groups ="))
    runs = setting.folder / "runs"
    runs.mkdir(exist_ok=True)
    for one in setting.runs:
        one.frame.write_csv(runs / f"{one.systems[0]}.csv")
    half = setting.filled(setting.plan(120), 60)
    setting.import_(setting.labels.frame.with_columns(judge=pl.lit("model")), "bronze", "--group", "llm")
    setting.import_(half, "half", "--group", "gold")
    told = run("report", setting.folder, "-o", setting.folder / "page.html", "-m", MEASURE, "--json", "--draws", "100")
    found = json.loads(told.stdout)["comparison"]["methods"]
    by_hand = setting.verdict(half).filter(pl.col("method") == "ppi")
    (ppi,) = [row for row in found if row["method"] == "ppi"]
    assert abs(ppi["difference"]) == pytest.approx(abs(by_hand["difference"][0]))
    assert ppi["n_gold"] == by_hand["n_gold"][0]
