"""`karat score` as people type it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import karat as kt
from commands import karat

QRELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\nq3 0 d1 1\n"
RUN = "q1 Q0 d1 1 3 bm25\nq1 Q0 d2 2 2 bm25\nq2 Q0 d7 1 2 bm25\nq2 Q0 d1 2 1 bm25\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "bm25.run").write_text(RUN)
    return str(tmp_path / "qrels.txt"), str(tmp_path / "bm25.run")


def test_the_first_line_is_the_finding(files: tuple[str, str]) -> None:
    done = karat("score", *files, "-m", "RR", "-m", "P@1")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "bm25 has RR 0.7500 over 2 queries."
    assert lines[1].startswith("Warning: bm25: 50% of the top 1 have no label")
    table = next(place for place, line in enumerate(lines) if line.startswith("measure"))
    assert lines[table].split() == ["measure", "value", "low", "high", "queries"]
    assert lines[table + 1].split() == ["RR", "0.7500", "-", "-", "2"]
    assert "1 judged query of 3 not in the run" in done.stdout
    assert max(len(line) for line in lines) <= 100


def test_json_has_the_promised_shape(files: tuple[str, str]) -> None:
    document = json.loads(karat("score", *files, "-m", "RR,P(rel=2)@1", "--json", "--by-query").stdout)
    (system,) = document["systems"]
    assert system["system"] == "bm25"
    assert list(system["scores"]) == ["RR", "P(rel=2)@1"]
    assert system["scores"]["RR"].keys() == {"value", "low", "high", "n"}
    assert system["scores"]["RR"]["value"] == 0.75
    assert system["scores"]["RR"]["n"] == 2
    assert system["queries"] == {"q1": {"RR": 1.0, "P(rel=2)@1": 1.0}, "q2": {"RR": 0.5, "P(rel=2)@1": 0.0}}
    assert any("not in the run" in note for note in document["notes"])
    plain = json.loads(karat("score", *files, "-m", "RR", "--json").stdout)
    assert "queries" not in plain["systems"][0]


def test_measures_may_follow_each_other_as_in_other_tools(files: tuple[str, str]) -> None:
    document = json.loads(karat("score", *files, "-m", "nDCG@10", "AP", "ndcg_cut_5", "--json").stdout)
    assert list(document["systems"][0]["scores"]) == ["nDCG@10", "AP", "nDCG@5"]


def test_a_relevance_level_is_that_of_measures_that_name_none(files: tuple[str, str]) -> None:
    words = ["-m", "P@1", "RR(rel=1)", "nDCG@5", "num_rel_ret", "-l", "2", "--json"]
    scores = json.loads(karat("score", *files, *words).stdout)["systems"][0]["scores"]
    assert list(scores) == ["P(rel=2)@1", "RR(rel=1)", "nDCG@5", "NumRelRet(rel=2)"]
    assert "found nDCG@5" in karat("score", *files, "-m", "nDCG@5", "-l", "2").stderr


def test_all_asks_for_every_measure_of_trec_eval_and_counts_are_whole(files: tuple[str, str]) -> None:
    done = karat("score", *files, "--all")
    shown = {line.split()[0]: line.split()[1] for line in done.stdout.splitlines()[2:] if "@" in line or "Num" in line}
    assert {"P@1000", "IPrec@0.5", "nDCG@30", "NumRet"} <= shown.keys()
    assert shown["NumRet"].isdigit()


def test_tsv_has_a_line_for_every_figure(files: tuple[str, str]) -> None:
    lines = karat("score", *files, "-m", "RR", "--tsv", "-q").stdout.splitlines()
    assert lines[0] == "system\tquery\tmeasure\tvalue\tlow\thigh\tn"
    assert lines[1] == "bm25\tq1\tRR\t1.0\t\t\t1"
    assert lines[-1].startswith("bm25\tall\tRR\t0.75\t")


def test_the_run_may_come_from_standard_input(files: tuple[str, str]) -> None:
    done = karat("score", files[0], "-", "-m", "RR", "--json", given=RUN)
    assert json.loads(done.stdout)["systems"][0]["scores"]["RR"]["value"] == 0.75


def test_profiles_have_the_measures_they_are_known_for(files: tuple[str, str]) -> None:
    document = json.loads(karat("score", *files, "--profile", "gdeval", "--json").stdout)
    assert list(document["systems"][0]["scores"]) == ["nDCG@20", "ERR@20"]


def test_complete_counts_missing_queries_as_nothing(files: tuple[str, str]) -> None:
    document = json.loads(karat("score", *files, "-m", "RR", "-c", "--json").stdout)
    assert document["systems"][0]["scores"]["RR"] == {"value": 0.5, "low": None, "high": None, "n": 3}
    assert any("not in the run, counted as 0" in note for note in document["notes"])


def test_runs_of_the_same_name_are_told_apart_by_their_files(files: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "better.run").write_text(RUN.replace("d7 1 2", "d7 1 0"))
    done = karat("score", files[0], files[1], str(tmp_path / "better.run"), "-m", "RR", "--json")
    document = json.loads(done.stdout)
    assert [system["system"] for system in document["systems"]] == ["better", "bm25"]
    assert any(note.startswith("better: ") for note in document["notes"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing.txt", "bm25.run"], "nothing.txt: no such file"),
        (["qrels.txt", "other.run"], "other.run: no such file"),
        (["bm25.run", "qrels.txt"], "is this a run? The labels come first"),
        (["qrels.txt", "bm25.run", "-m", "nDGC@10"], 'there is no measure "nDGC"; did you mean nDCG?'),
        (["qrels.txt", "bm25.run", "--profile", "mine"], "expected trec_eval or trec_eval9 or ndeval or gdeval"),
        (["qrels.txt", "bm25.run", "--level", "95"], "expected a share such as 0.95"),
        (["qrels.txt", "bm25.run", "--draws", "-5"], "expected 0 draws, or 100 or more"),
        (["qrels.txt", "bm25.run", "--scale", "0..1"], 'expected a grade of the scale 0..1, found "2"'),
        (["empty.txt", "bm25.run"], "found an empty file"),
        (["other.txt", "bm25.run"], "expected queries in common, found none"),
        (["qrels.txt"], "no run to score"),
        (["qrels.txt", "bm25.run", "bm25.run"], "bm25.run 2 times"),
        (["nobody.csv.txt", "bm25.run"], "nobody.csv.txt: expected at least one label, found none; fill in the column"),
    ],
)
def test_bad_input_is_named_and_ends_with_2(files: tuple[str, str], words: list[str], said: str) -> None:
    folder = Path(files[0]).parent
    (folder / "empty.txt").write_text("")
    (folder / "nobody.csv.txt").write_text("query,doc,label\n")
    (folder / "other.txt").write_text("z9 0 d1 1\n")
    placed = [str(folder / w) if w.endswith((".txt", ".run")) else w for w in words]
    done = karat("score", *placed)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_one_query_has_a_score_but_no_interval(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("q1 0 d1 1\n")
    (tmp_path / "r").write_text("q1 Q0 d1 1 1 t\n")
    document = json.loads(karat("score", str(tmp_path / "q"), str(tmp_path / "r"), "-m", "RR", "--json").stdout)
    assert document["systems"][0]["scores"]["RR"] == {"value": 1.0, "low": None, "high": None, "n": 1}


def test_several_judges_are_reduced_to_their_median_and_said(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("query,doc,label,judge\nq,d,1,a\nq,d,1,b\nq,d,0,c\nq,e,0,a\nq,e,1,b\n")
    (tmp_path / "r").write_text("q Q0 e 1 2 t\nq Q0 d 2 1 t\n")
    document = json.loads(
        karat("score", str(tmp_path / "labels.csv"), str(tmp_path / "r"), "-m", "RR", "--json").stdout
    )
    assert document["systems"][0]["scores"]["RR"]["value"] == 0.5
    assert (
        "5 labels of 2 documents: the median counts, and the lower grade where labels split evenly (1 document)"
        in document["notes"]
    )


def test_help_has_an_example_for_every_command() -> None:
    for command in (
        "score",
        "compare",
        "correct",
        "convert",
        "measures",
        "disagree weights",
        "judges agreement",
        "train",
        "context change",
        "plan context",
        "plan gold",
        "plan pairs",
        "plan power",
        "validate agreement",
    ):
        done = karat(*command.split(), "--help")
        assert done.returncode == 0
        assert f"karat {command}" in done.stdout.partition("Example")[2]
    assert karat("--version").stdout == f"karat {kt.__version__}\n"
    assert "nDCG" in karat("measures").stdout


def test_gold_labels_put_a_corrected_score_beside_the_naive_one(tmp_path: Path) -> None:
    """The judge calls everything relevant; gold labels of all documents say 3 of 10: the score is theirs."""
    labels = [f"q{q} 0 d{d} 1" for q in range(20) for d in range(10)]
    gold = [f"q{q},d{d},{int(d < 3)},1" for q in range(20) for d in range(10)]
    run = [f"q{q} Q0 d{d} {d + 1} {20 - d} mine" for q in range(20) for d in range(10)]
    (tmp_path / "labels.txt").write_text("\n".join(labels) + "\n")
    (tmp_path / "gold.csv").write_text("\n".join(["query,doc,label,probability", *gold]) + "\n")
    (tmp_path / "mine.run").write_text("\n".join(run) + "\n")
    files = [str(tmp_path / name) for name in ("labels.txt", "mine.run")]
    words = ["score", *files, "-m", "P@10", "--gold", str(tmp_path / "gold.csv"), "--json"]
    done = karat(*words)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    score = document["systems"][0]["scores"]["P@10"]
    assert score["value"] == pytest.approx(0.3)
    assert score["uncorrected"]["value"] == 1.0
    assert score["n_gold"] == 200
    refused = karat("score", *files, "--calibrate", "none")
    assert refused.returncode == 2
    assert "--calibrate would do nothing" in refused.stderr
