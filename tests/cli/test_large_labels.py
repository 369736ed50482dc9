"""Labels larger than memory score as labels read at once, whatever the file."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import zstandard
from click.testing import CliRunner, Result

from karat.cli import karat
from karat.cli import score as large_labels
from karat.cli import score as score_command
from karat.formats import label_batches
from karat.formats import partitions as whole_lines
from karat.formats import run_batches as batches

MEASURES = "nDCG@10,AP,RR,P@5,ERR@10,Bpref,Judged@10"
rng = random.Random(7)
#: Some queries have the highest grade, others do not; some are in no run.
LABELS = [(f"q{q}", f"d{d}", rng.choice([0, 0, 1, 2 + (q == 3)])) for q in range(30) for d in rng.sample(range(60), 20)]
ROWS = [(f"q{q}", f"d{d}", round(rng.random(), 6)) for q in range(2, 33) for d in rng.sample(range(60), 30)]
RUN = "".join(f"{query} Q0 {doc} 1 {score} mine\n" for query, doc, score in ROWS)
QRELS = "".join(f"{query} 0 {doc} {label}\n" for query, doc, label in LABELS)
DIVERSE = "".join(f"{query} {place % 3 + 1} {doc} {label}\n" for place, (query, doc, label) in enumerate(LABELS))
#: Three people's labels, one of whom says nothing about half; names with separators and quotes.
CROWD = "doc,query,label,judge\n" + "".join(
    f'{doc},{query},{max(label - who, 0) if who < 2 or int(doc[1:]) % 2 else ""},"{who}, the ""judge"""\n'
    for query, doc, label in LABELS
    for who in range(3)
)

FILES: dict[str, Callable[[Path], object]] = {
    "a.qrels": lambda path: path.write_text(QRELS),
    "shuffled.qrels": lambda path: path.write_text(
        "".join(random.Random(1).sample(lines := QRELS.splitlines(True), len(lines)))
    ),
    "a.qrels.gz": lambda path: path.write_bytes(gzip.compress(QRELS.encode())),
    "a.qrels.zst": lambda path: path.write_bytes(zstandard.compress(QRELS.encode())),
    "diverse.qrels": lambda path: path.write_text(DIVERSE),
    "crowd.csv": lambda path: path.write_text(CROWD),
    "crowd.csv.gz": lambda path: path.write_bytes(gzip.compress(CROWD.encode())),
    "a.jsonl": lambda path: path.write_text(
        "".join(json.dumps({"query": q, "doc": d, "label": grade}) + "\n" for q, d, grade in LABELS)
    ),
    "a.parquet": lambda path: pl.DataFrame(LABELS, schema=["qid", "docid", "relevance"], orient="row").write_parquet(
        path
    ),
}


def score(*words: object) -> Result:
    return CliRunner().invoke(karat, ["score", *map(str, words)])


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From now on a few hundred bytes are large."""

    def make() -> None:
        for module, name, value in (
            (score_command, "SMALL", 0),
            (large_labels, "LARGE", 100),
            (large_labels, "BUCKET", 2000),
            (label_batches, "ROWS", 70),
            (whole_lines, "BYTES", 1000),
            (batches, "BYTES", 1000),
        ):
            monkeypatch.setattr(module, name, value)

    return make


def same(small: Callable[[], None], *words: object) -> None:
    whole = score(*words, "--json", "--by-query")
    assert whole.exit_code == 0, whole.output
    small()
    dealt = score(*words, "--json", "--by-query")
    assert dealt.exit_code == 0, dealt.output
    expected, found = json.loads(whole.stdout), json.loads(dealt.stdout)
    assert any("labels larger than memory" in note for note in found["notes"])
    assert [one["system"] for one in found["systems"]] == [one["system"] for one in expected["systems"]]
    for one, other in zip(found["systems"], expected["systems"], strict=True):
        for measure, value in other["scores"].items():
            assert one["scores"][measure]["n"] == value["n"]
            assert one["scores"][measure]["value"] == pytest.approx(value["value"], abs=1e-12), measure
        counted = {query: other["queries"][query] for query in one["queries"]}
        assert all(one["queries"][query] == pytest.approx(scores, abs=1e-12) for query, scores in counted.items())
        assert len(counted) == max(value["n"] for value in other["scores"].values())


@pytest.mark.parametrize("name", FILES)
def test_dealt_out_labels_score_as_labels_read_at_once(tmp_path: Path, small: Callable[[], None], name: str) -> None:
    FILES[name](tmp_path / name)
    (tmp_path / "my.run").write_text(RUN)
    measures = f"{MEASURES},alpha_nDCG@10" if name == "diverse.qrels" else MEASURES
    same(small, tmp_path / name, tmp_path / "my.run", "-m", measures, "--draws", 0)


@pytest.mark.parametrize("more", [["--complete"], ["--profile", "gdeval"], ["--scale", "0,1,2,3,4"], ["-l", "2"]])
def test_so_they_do_with_other_options(tmp_path: Path, small: Callable[[], None], more: list[str]) -> None:
    (tmp_path / "a.qrels").write_text(QRELS)
    (tmp_path / "my.run").write_text(RUN)
    same(small, tmp_path / "a.qrels", tmp_path / "my.run", "-m", MEASURES, "--draws", 0, *more)


def test_systems_of_one_name_are_told_apart_and_runs_may_come_in_any_format(
    tmp_path: Path, small: Callable[[], None]
) -> None:
    (tmp_path / "a.qrels").write_text(QRELS)
    (tmp_path / "one.run").write_text(RUN)
    (tmp_path / "two.run").write_text("".join(RUN.splitlines(True)[:400]))
    pl.DataFrame(ROWS, schema=["query", "doc", "score"], orient="row").write_csv(tmp_path / "three.csv")
    files = [tmp_path / name for name in ("a.qrels", "one.run", "two.run", "three.csv")]
    same(small, *files, "-m", MEASURES, "--draws", 0, "--complete")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.qrels", QRELS + "q1 0 d99 many\n", f"line {len(LABELS) + 1}"),
        ("a.qrels", QRELS + f"{LABELS[0][0]} 0 {LABELS[0][1]} 9\n", "one label for document"),
        ("a.qrels", QRELS + "q1 0 d99\n", f"line {len(LABELS) + 1}"),
        ("a.csv", "query,doc\n" + "q,d\n" * 100, "label"),
        ("a.csv", CROWD + "d1,q1,much,x\n", f"line {3 * len(LABELS) + 2}"),
        ("a.csv", "query,doc,label\n" + "q1,,1\n" * 100, "doc"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    tmp_path: Path, small: Callable[[], None], name: str, text: str, said: str
) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "my.run").write_text(RUN)
    small()
    found = score(tmp_path / name, tmp_path / "my.run")
    assert found.exit_code, found.output
    assert said in str(found.exception), found.exception


def test_runs_that_meet_no_label_are_refused(tmp_path: Path, small: Callable[[], None]) -> None:
    (tmp_path / "a.qrels").write_text(QRELS)
    (tmp_path / "my.run").write_text("".join(f"x{n} Q0 d 1 1 mine\n" for n in range(50)))
    small()
    found = score(tmp_path / "a.qrels", tmp_path / "my.run")
    assert "expected queries in common, found none" in str(found.exception)


def test_what_looks_at_all_labels_reads_them_at_once(tmp_path: Path, small: Callable[[], None]) -> None:
    (tmp_path / "crowd.csv").write_text(CROWD)
    (tmp_path / "my.run").write_text(RUN)
    small()
    found = score(tmp_path / "crowd.csv", tmp_path / "my.run", "-m", "nDCG(gains=udm(1/3))@10", "--json")
    assert found.exit_code == 0, found.output
    assert not any("larger than memory" in note for note in json.loads(found.stdout)["notes"])
