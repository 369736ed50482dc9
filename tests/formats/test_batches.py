"""A run in batches scores as the run at once, whatever the file and the order of its rows."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import zstandard

import karat as kt
from karat.errors import BadInput
from karat.formats import run_batches as batches
from karat.formats.open_files import File
from karat.formats.run_batches import by_batches
from karat.measures.scorer import Scorer
from karat.records import Judgments

LABELS = Judgments.of({f"q{q}": {f"d{d}": (q * d) % 3 for d in range(0, 40, 3)} for q in range(15)})
LINES = [f"q{q} Q0 d{d} {d + 1} {100 - d - q / 7:.4f} mine" for q in range(18) for d in range(40)]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BYTES", 2000)
    monkeypatch.setattr(batches, "ROWS", 70)
    monkeypatch.setattr(batches, "BUCKET", 4000)


def in_batches(path: Path) -> tuple[pl.DataFrame, list[str], int]:
    """Every query's scores in the order of the ids, the notes, and how many batches there were."""
    number = 0

    def use(parts):
        nonlocal number
        number = 0

        def counted():
            nonlocal number
            for part in parts:
                number += 1
                yield part

        return Scorer(LABELS, ["nDCG@10", "AP", "RR", "Bpref"], draws=0).by_query(counted())

    found = by_batches(path, use, ranks=False)
    return found.queries.sort("query"), found.notes, number


def at_once(path: Path) -> tuple[pl.DataFrame, list[str]]:
    found = Scorer(LABELS, ["nDCG@10", "AP", "RR", "Bpref"], draws=0).by_query([kt.read_runs(path, ranks=False)])
    return found.queries.sort("query"), found.notes


def as_parquet(lines: list[str], path: Path) -> None:
    rows = [line.split() for line in lines]
    frame = pl.DataFrame(
        {"qid": [r[0] for r in rows], "docno": [r[2] for r in rows], "score": [float(r[4]) for r in rows]}
    )
    frame.write_parquet(path)


def shuffled(lines: list[str]) -> list[str]:
    return random.Random(1).sample(lines, len(lines))


WAYS: dict[str, Callable[[list[str], Path], object]] = {
    "my.run": lambda lines, path: path.write_text("\n".join(lines) + "\n"),
    "no-end.run": lambda lines, path: path.write_text("\n".join(lines)),
    "crlf.run": lambda lines, path: path.write_bytes("\r\n".join(lines).encode()),
    "comments.run": lambda lines, path: path.write_text("# a: b\n# c: d e\n" + "\n".join(lines)),
    "bom.run": lambda lines, path: path.write_bytes(b"\xef\xbb\xbf" + "\n".join(lines).encode()),
    "spaces.run": lambda lines, path: path.write_text("\n".join(line.replace(" Q0 ", "  Q0\t") for line in lines)),
    "gaps.run": lambda lines, path: path.write_text("\n\n".join(lines)),
    "my.run.gz": lambda lines, path: path.write_bytes(gzip.compress("\n".join(lines).encode())),
    "two.run.gz": lambda lines, path: path.write_bytes(
        gzip.compress("\n".join(lines[:500]).encode() + b"\n") + gzip.compress("\n".join(lines[500:]).encode())
    ),
    "my.run.zst": lambda lines, path: path.write_bytes(zstandard.compress("\n".join(lines).encode())),
    "my.parquet": as_parquet,
}


@pytest.mark.parametrize("order", [list, shuffled], ids=["together", "scattered"])
@pytest.mark.parametrize("name", WAYS)
def test_batches_score_as_the_whole_run(name: str, order: Callable[[list[str]], list[str]], tmp_path: Path) -> None:
    path = tmp_path / name
    WAYS[name](order(LINES), path)
    queries, notes, number = in_batches(path)
    expected, expected_notes = at_once(path)
    assert number > 3
    assert queries.equals(expected)
    assert notes == expected_notes


def test_a_list_longer_than_a_part_is_one_batch(tmp_path: Path) -> None:
    path = tmp_path / "long.run"
    path.write_text("\n".join(f"q99 Q0 d{d} 1 {-d} mine" for d in range(3000)) + "\n" + "\n".join(LINES * 3))
    parts = [part.content for part in batches.whole_lists(File(str(path)))]
    assert len(parts) > 3
    assert [part.count(b"q99 ") > 0 for part in parts] == [True] + [False] * (len(parts) - 1)


def test_a_document_twice_in_a_list_is_found_where_a_part_ends(tmp_path: Path) -> None:
    lines = list(LINES)
    lines.insert(200, lines[160])
    path = tmp_path / "twice.run"
    path.write_text("\n".join(lines))
    with pytest.raises(BadInput, match=r"line 201: expected document d0 once .* \(first at .* line 161\)"):
        in_batches(path)


def test_a_document_twice_in_a_scattered_list_is_found(tmp_path: Path) -> None:
    lines = shuffled(LINES)
    path = tmp_path / "twice.run"
    path.write_text("\n".join([*lines, lines[0]]))
    with pytest.raises(BadInput, match=rf"line {len(lines) + 1}: expected document .* once .* \(first at .* line 1\)"):
        in_batches(path)


@pytest.mark.parametrize("line", ["q9 Q0 my doc 1 2.5 mine", "q9 Q0 d1 1 mine", "q9 Q0 d1 1 high mine"])
def test_a_broken_line_far_down_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.run"
    path.write_text("\n".join([*LINES[:555], line, *LINES[555:]]))
    with pytest.raises(BadInput, match="line 556: expected"):
        in_batches(path)


def test_a_packed_file_that_is_cut_short_is_no_shorter_run(tmp_path: Path) -> None:
    path = tmp_path / "cut.run.gz"
    path.write_bytes(gzip.compress(shuffled(LINES)[0].encode() * 5000)[:-20])
    with pytest.raises(BadInput, match="damaged or cut short"):
        in_batches(path)


def test_several_systems_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "both.run"
    path.write_text("\n".join([*LINES, *(line.replace("mine", "yours") for line in LINES)]))
    queries, notes, _ = in_batches(path)
    expected, expected_notes = at_once(path)
    assert queries.sort("system", "query").equals(expected.sort("system", "query"))
    assert notes == expected_notes


def test_a_run_without_a_judged_query_says_what_ids_look_like(tmp_path: Path) -> None:
    path = tmp_path / "other.run"
    path.write_text("\n".join(line.replace("q", "topic-") for line in LINES))
    with pytest.raises(BadInput, match="queries in common, found none"):
        in_batches(path)


#: Lines that are one column short or long, some with two blanks that make up for it.
ODD = (
    "q9 Q0 d99  1 0.5",
    "q9  d99 1 0.5",
    "q9 Q0  1 0.5 mine",
    " q9 d99 1 0.5 mine",
    "q9 Q0 d99 1  mine",
    "q9 Q0 d99 1 0.5  mine",
    "q9 Q0 d99 1 0.5 mine ",
    "q9 Q0 d99 1 0.5 mine x",
    "q9 Q0 d99 1 0.5",
    "q9 Q0  d99 1 0.5",
    "q9 Q0 d99  0.5 mine",
    "q9  Q0 d99 1 mine",
    "q9  d99 1 0.5 mine",
)


@pytest.mark.parametrize("line", ODD)
def test_two_blanks_never_make_up_for_a_missing_column(line: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.run"
    path.write_text("\n".join([*LINES[:360], line, *LINES[360:]]) + "\n")
    if len(line.split()) == 6:
        assert kt.read_runs(path, ranks=False).frame.filter(doc="d99")["score"].to_list() == [0.5]
    else:
        with pytest.raises(BadInput, match="line 361: expected 6 columns"):
            kt.read_runs(path, ranks=False)
