"""Datasets of ir_datasets by id; this one lies in files here, so that nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import karat as kt
from commands import karat

ir_datasets = pytest.importorskip("ir_datasets", reason="ir_datasets is not installed")


class _File:
    """A file as ir_datasets takes it."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)

    def path(self, force: bool = True) -> str:
        return self._path

    def stream(self):
        return open(self._path, "rb")  # noqa: PTH123


@pytest.fixture
def dataset(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "qrels").write_text("q1 0 d1 2\nq1 0 d2 0\n")
    (tmp_path / "queries").write_text("q1\tblack bear attacks\n")
    (tmp_path / "docs").write_text("d1\tsome text\nd2\tother text\n")
    made = ir_datasets.Dataset(
        ir_datasets.formats.TsvDocs(_File(tmp_path / "docs")),
        ir_datasets.formats.TsvQueries(_File(tmp_path / "queries")),
        ir_datasets.formats.TrecQrels(_File(tmp_path / "qrels"), {0: "no", 2: "yes"}),
    )
    ir_datasets.registry.register("karat-toy", made)
    yield "ir_datasets:karat-toy"
    del ir_datasets.registry._registered["karat-toy"]


def test_labels_queries_and_documents_of_a_dataset_are_read(dataset: str) -> None:
    assert kt.read_judgments(dataset).frame.rows() == [("q1", "d1", 2.0), ("q1", "d2", 0.0)]
    assert kt.read_queries(dataset).frame.select("query", "text").rows() == [("q1", "black bear attacks")]
    assert kt.read_documents(dataset).frame.select("doc", "text").rows() == [("d1", "some text"), ("d2", "other text")]


def test_a_dataset_scores_a_run(dataset: str, tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2 a\nq1 Q0 d2 2 1 a\n")
    done = karat("score", dataset, str(tmp_path / "a.run"), "-m", "RR")
    assert done.returncode == 0, done.stderr
    assert "1.0" in done.stdout


@pytest.mark.parametrize(
    ("name", "said"),
    [("ir_datasets:no-such-thing", "expected the id of a dataset"), ("ir_datasets:", "expected the id of a dataset")],
)
def test_what_is_no_dataset_is_told(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(kt.BadInput, match=said):
        kt.read_judgments(name)


def test_what_a_dataset_lacks_is_told(dataset: str) -> None:
    with pytest.raises(kt.BadInput, match="expected scoreddocs, found a dataset with docs, queries, qrels"):
        kt.read_runs(dataset)
