"""`karat plan gold` as people type it: a first round, a second, and one file for both."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from commands import karat
from karat.simulate.two_systems import two_systems


@pytest.fixture
def study(tmp_path: Path) -> list[str]:
    """Labels and two runs of a simulated comparison, as files, and the truth beside them."""
    made = two_systems(40, difference=0.05, judge="lenient", seed=1)
    made.judgments().frame.write_csv(tmp_path / "labels.csv")
    made.judgments().frame.with_columns(pl.Series("label", made.truth)).write_csv(tmp_path / "truth.csv")
    for run, name in zip(made.runs(), "AB", strict=True):
        rows = run.frame.rows(named=True)
        lines = [f"{r['query']} Q0 {r['doc']} {r['rank']} {100 - r['rank']} {name}\n" for r in rows]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    return [str(tmp_path / name) for name in ("labels.csv", "A.run", "B.run")]


def fill(path: Path) -> None:
    """Give every document of a plan its true label."""
    rows = pl.read_csv(path, infer_schema=False).drop("label")
    truth = pl.read_csv(path.parent / "truth.csv", infer_schema=False).select("query", "doc", "label")
    rows.join(truth, on=["query", "doc"], maintain_order="left").write_csv(path)


def test_who_fills_it_in_sees_texts_and_titles_and_compare_takes_the_file(study: list[str]) -> None:
    folder = Path(study[0]).parent
    labels = pl.read_csv(study[0], infer_schema=False)
    queries = labels.select("query").unique().with_columns(text="what is " + pl.col("query") + "?")
    documents = (
        labels.select("doc")
        .unique()
        .with_columns(title="About " + pl.col("doc"), url="https://x.example/" + pl.col("doc"))
    )
    queries.write_csv(folder / "queries.csv")
    documents.write_csv(folder / "documents.csv")
    named = ["--queries", str(folder / "queries.csv"), "--documents", str(folder / "documents.csv")]
    plain, told = folder / "plain.csv", folder / "told.csv"
    for words, out in (([], plain), (named, told)):
        done = karat("plan", "gold", *study, "-n", "80", *words, "--out", str(out))
        assert done.returncode == 0, done.stderr
    assert f"all of them in {told}" in " ".join(done.stdout.split())
    file, same = pl.read_csv(told, infer_schema=False), pl.read_csv(plain, infer_schema=False)
    assert file.select(same.columns).equals(same)
    row = file.row(0, named=True)
    assert row["query_text"] == f"what is {row['query']}?"
    assert (row["title"], row["url"]) == (f"About {row['doc']}", f"https://x.example/{row['doc']}")
    fill(plain)
    fill(told)
    verdicts = [karat("compare", *study, "--gold", str(file), "--json").stdout for file in (plain, told)]
    assert json.loads(verdicts[0])["methods"] == json.loads(verdicts[1])["methods"]


def test_a_second_round_asks_for_new_documents_and_compare_takes_its_file_alone(study: list[str]) -> None:
    first, more = (Path(study[0]).parent / name for name in ("gold.csv", "more.csv"))
    assert karat("plan", "gold", *study, "-n", "80", "--out", str(first)).returncode == 0
    fill(first)
    words = ["plan", "gold", *study, "-n", "50", "--gold", str(first), "--out", str(more)]
    done = karat(*words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("50 documents to label: of 560 that the systems show, 80 have a gold label;")
    assert "fill in the empty labels" in " ".join(done.stdout.split())
    # Nothing of it was filled in: it may be written again.
    assert karat(*words).returncode == 0
    file = pl.read_csv(more)
    assert file.filter(pl.col("label").is_null()).height == 50
    assert file.select("query", "doc").is_unique().all()
    empty = karat("compare", *study, "-m", "P@10", "--gold", str(more))
    assert empty.returncode == 2
    assert "a round without any" in empty.stderr
    fill(more)
    refused = karat(*words)
    assert refused.returncode == 2
    assert "found one with 50 labels" in refused.stderr
    document = json.loads(karat("compare", *study, "-m", "P@10", "--gold", str(more), "--json").stdout)
    assert {row["method"]: row["n_gold"] for row in document["methods"]}["ppi"] == 130


def test_two_files_of_gold_labels_are_refused_and_so_is_their_sum(study: list[str]) -> None:
    folder = Path(study[0]).parent
    for seed, name in ((1, "one.csv"), (2, "two.csv")):
        out = ["--seed", str(seed), "--out", str(folder / name)]
        assert karat("plan", "gold", *study, "-n", str(100 * seed), *out).returncode == 0
        fill(folder / name)
    files = [str(folder / name) for name in ("one.csv", "two.csv")]
    done = karat("compare", *study, "-m", "P@10", "--gold", files[0], "--gold", files[1])
    assert done.returncode == 2
    assert "--gold: expected one file, found" in done.stderr
    assert "karat plan gold --gold" in done.stderr
    pl.concat([pl.read_csv(file, infer_schema=False) for file in files]).write_csv(folder / "sum.csv")
    done = karat("compare", *study, "-m", "P@10", "--gold", str(folder / "sum.csv"))
    assert done.returncode == 2
    assert "expected one probability" in done.stderr
