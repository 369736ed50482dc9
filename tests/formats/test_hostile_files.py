"""Readers that nothing breaks: what no table can hold is refused in words, quickly, and with little memory."""

from __future__ import annotations

import gzip
import io
import json
import re
import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import lz4.frame
import polars as pl
import pytest
import zstandard

import karat as kt
from commands import karat
from karat.formats import blank_lines
from karat.formats.format_registry import FORMATS, Format, add_format
from karat.formats.open_files import File

QRELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\n"
RUN = "q1 Q0 d1 1 3 a\nq1 Q0 d2 2 2 a\nq2 Q0 d7 1 2 a\nq2 Q0 d1 2 1 a\n"
ROW = '{"query": "q1", "doc": "d1", "label": 1'


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "a.run").write_text(RUN)
    (tmp_path / "b.run").write_text(RUN.replace("1 3 a", "1 1 a").replace(" a\n", " b\n"))
    return tmp_path


def refused(folder: Path, name: str, data: str | bytes) -> str:
    """What is said of a file of labels that cannot be read."""
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    done = karat("score", str(folder / name), str(folder / "a.run"))
    assert (done.returncode, done.stdout) == (2, ""), done
    return done.stderr.removeprefix(f"karat: {folder}/")


@pytest.mark.parametrize("inside", [("[", "]"), ('{"a":', "}"), ('{"b":[],"a":', "}"), ('["[",', "]")])
@pytest.mark.parametrize("depth", [100, 900, 20_000])
def test_json_that_is_too_deep_is_refused_before_it_is_read(study: Path, inside: tuple[str, str], depth: int) -> None:
    deep = inside[0] * depth + "1" + inside[1] * depth
    said = "expected lists and objects at most 64 deep in each other, found deeper ones"
    assert refused(study, "deep.jsonl", f'{ROW}, "more": {deep}}}\n').startswith(f"deep.jsonl line 1: {said}")
    assert said in refused(study, "book.json", f'{{"query_doc_pairs": {deep}}}\n')


def test_brackets_in_texts_make_nothing_deep(study: Path) -> None:
    (study / "labels.jsonl").write_text(f'{ROW}, "comment": "{"[{" * 500}"}}\n')
    assert len(kt.read_judgments(str(study / "labels.jsonl"))) == 1


@pytest.mark.parametrize("name", ["labels.csv", "labels.tsv", "labels.jsonl", "labels.json", "labels.txt"])
@pytest.mark.parametrize("data", [b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", b""])
def test_a_file_of_nothing_but_a_byte_order_mark_is_empty(study: Path, name: str, data: bytes) -> None:
    assert "found an empty file" in refused(study, name, data)


def test_a_byte_order_mark_is_no_part_of_the_first_id(study: Path) -> None:
    (study / "marked.txt").write_bytes(b"\xef\xbb\xbf" + QRELS.encode())
    assert kt.read_judgments(str(study / "marked.txt")).frame["query"].unique().sort().to_list() == ["q1", "q2"]


@pytest.mark.parametrize("name", ["labels.csv", "qrels.txt", "labels.jsonl"])
@pytest.mark.parametrize("label", ["1e23", "-1e300", "9" * 30])
def test_labels_that_are_no_grades_are_refused(study: Path, name: str, label: str) -> None:
    lines = {"labels.csv": f"query,doc,label\nq,d,{label}\n", "qrels.txt": f"q 0 d {label}\n"}
    said = refused(study, name, lines.get(name, f'{{"query": "q", "doc": "d", "label": {label}}}\n'))
    assert "line" in said
    assert "expected a number up to 1e+15 as label, found" in said


@pytest.mark.parametrize(("start", "end"), [("csv", "txt"), ("txt", "csv"), ("csv", "jsonl"), ("txt", "json")])
def test_large_labels_are_written_as_they_are(tmp_path: Path, start: str, end: str) -> None:
    one, two = tmp_path / f"one.{start}", tmp_path / f"two.{end}"
    one.write_text("query,doc,label\nq,d,1e15\nq,e,-0.0\n" if start == "csv" else "q 0 d 1e15\nq 0 e -0.0\n")
    assert karat("convert", str(one), str(two)).returncode == 0
    assert kt.read_judgments(str(two)).frame["label"].to_list() == [1e15, 0.0]


@pytest.mark.parametrize("encoding", ["klingon", "utf-7", "utf-16", "base64", "idna", "punycode"])
def test_encodings_of_xml_that_nobody_knows_are_told(tmp_path: Path, encoding: str) -> None:
    topics = '<topics><topic number="1"><query>x</query></topic></topics>'
    (tmp_path / "t.xml").write_text(f'<?xml version="1.0" encoding="{encoding}"?>{topics}')
    done = karat("convert", str(tmp_path / "t.xml"), str(tmp_path / "t.csv"))
    assert done.returncode == 2
    assert "t.xml: expected topics in XML, found" in done.stderr


def test_parquet_with_bytes_that_are_no_text_is_told(study: Path) -> None:
    stream = io.BytesIO()
    frame = pl.DataFrame({"query": ["qqqqqqqqqqq1", "q2"], "doc": ["d1", "d2"], "label": [1, 2]})
    frame.write_parquet(stream, compression="uncompressed", statistics=False)
    broken = stream.getvalue().replace(b"qqqqqqqqqqq1", b"qqqq\xff\xfeqqqqq1")
    assert "broken.parquet: expected a Parquet file, found" in refused(study, "broken.parquet", broken)


def test_a_panic_of_polars_is_bad_input_whatever_the_format(tmp_path: Path) -> None:
    def panics(file: File) -> tuple[pl.DataFrame, kt.Source]:
        raise pl.exceptions.PanicException("index out of bounds\nin some file of Rust")

    (tmp_path / "x.panics").write_text("anything")
    add_format(Format("panics", panics, read_from=(".panics",)), __name__)
    try:
        with pytest.raises(kt.BadInput, match=r"x\.panics: expected a file .*found damaged data"):
            kt.read_judgments(str(tmp_path / "x.panics"))
    finally:
        FORMATS.forget("panics")


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("labels", "99999999999999999999", "expected a whole number up to 2,147,483,647 as labels"),
        ("labels", "2000000000", "expected 1 label or more, at most 1,000"),
        ("session", "1e30", "expected a whole number up to 2,147,483,647 as session"),
    ],
)
def test_huge_counts_of_tasks_are_refused(tmp_path: Path, column: str, value: str, said: str) -> None:
    assert karat("init", str(tmp_path / "study")).returncode == 0
    (tmp_path / "tasks.csv").write_text(f"query,doc,{column}\nq1,d1,{value}\n")
    done = karat("import", str(tmp_path / "study"), str(tmp_path / "tasks.csv"))
    assert done.returncode == 2
    assert f"tasks.csv line 2: {said}" in done.stderr


@pytest.mark.parametrize(
    ("queries", "split"),
    [
        (None, "kind"),
        ("query,kind\nq1,\nq2,\n", "kind"),
        ("query,text\nq1,x\n", "kind"),
        ("query,kind\nq1,x\n", "query"),
    ],
)
def test_a_split_by_what_no_query_has_is_refused(study: Path, queries: str | None, split: str) -> None:
    (study / "preferences.csv").write_text("query,left,right,choice\nq1,a,b,left\nq2,b,a,right\nq1,b,a,equal\n")
    words = ["validate", "agreement", "preferences.csv", "qrels.txt", "a.run", "b.run", "--split", split]
    if queries is not None:
        (study / "queries.csv").write_text(queries)
        words += ["--queries", "queries.csv"]
    done = karat(*(str(study / word) if "." in word else word for word in words))
    assert (
        done.returncode,
        "the split: expected difference or difference_all or zero or list_length or a column" in done.stderr,
    ) == (
        2,
        True,
    )


def test_a_split_by_a_kind_that_some_queries_lack_leaves_them_out(study: Path) -> None:
    (study / "preferences.csv").write_text("query,left,right,choice\nq1,a,b,left\nq2,b,a,right\nq1,b,a,equal\n")
    (study / "queries.csv").write_text("query,kind\nq1,known\nq2,\n")
    words = ["validate", "agreement", "preferences.csv", "qrels.txt", "a.run", "b.run", "-m", "P@2", "--split", "kind"]
    done = karat(*(str(study / word) if "." in word else word for word in words), "--queries", f"{study}/queries.csv")
    assert done.returncode == 0, done.stderr
    assert "kind known" in done.stdout


def test_reasons_with_a_first_line_only_are_told(tmp_path: Path) -> None:
    (tmp_path / "reasons.csv").write_text("reason,codes,coder\n")
    done = karat("validate", "reasons", str(tmp_path / "reasons.csv"))
    assert (done.returncode, done.stderr) == (1, "karat: no comment has a code\n")


@pytest.mark.parametrize(
    "measure",
    ["(" * 10_000, f"nDCG(gains={'[' * 3000}", f"RBP(p={'-' * 5000}1)", f"P(rel={'9' * 5000})@5", "nDCG\0@10", "P@1if"],
    ids=["brackets", "lists", "signs", "digits", "zero", "words"],
)
def test_measures_without_end_are_refused(study: Path, measure: str) -> None:
    with pytest.raises(kt.BadInput, match="the measure") as error:
        kt.score(kt.read_judgments(str(study / "qrels.txt")), kt.read_runs(str(study / "a.run")), measure)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize("scale", ["0..100000000", f"0..{'9' * 30}", f"-{'9' * 30}..0", "nan=a,1=b", "0=a,inf=b"])
def test_scales_without_end_are_refused(study: Path, scale: str) -> None:
    done = karat("score", str(study / "qrels.txt"), str(study / "a.run"), "--scale", scale)
    assert (done.returncode, done.stderr[:29]) == (
        2,
        "karat: the scale: expected at" if ".." in scale else "karat: the scale: expected nu",
    )


@pytest.mark.parametrize("ending", ["gz", "zst"])
@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl", "qrels.txt"])
def test_a_bomb_is_refused_at_the_limit(study: Path, name: str, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """60 MB in 100 kB or less: with the limit at 20 MB, little more than that is ever unpacked."""
    monkeypatch.setenv("KARAT_MAX_BYTES", "20000000")
    packer = zstandard.ZstdCompressor().compressobj() if ending == "zst" else None
    start, lines = b"query,doc,label\n" if "csv" in name else b"", b"q1 0 d1 1\n" * 100_000
    parts = [start, *([lines] * 60)]
    packed = (
        gzip.compress(b"".join(parts), 1) if packer is None else b"".join(map(packer.compress, parts)) + packer.flush()
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    said = refused(study, f"{name}.{ending}", packed)
    assert "expected at most 20,000,000 unpacked bytes, found more" in said
    assert "Set KARAT_MAX_BYTES to allow more" in said
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB


def test_a_limit_that_is_no_number_is_refused(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARAT_MAX_BYTES", "lots")
    assert "KARAT_MAX_BYTES: expected a number of bytes" in refused(study, "qrels.gz", gzip.compress(QRELS.encode()))


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress], ids=["gz", "zst"])
def test_packed_files_may_have_several_parts_and_must_have_an_end(study: Path, pack: object) -> None:
    assert callable(pack)
    parts = [pack(line.encode()) for line in QRELS.splitlines(keepends=True)]
    (study / "parts").write_bytes(b"".join(parts))
    assert len(kt.read_judgments(str(study / "parts"))) == 3
    assert "damaged or cut short" in refused(study, "cut", b"".join(parts)[:-9])


def test_parquet_of_more_rows_than_memory_holds_is_refused(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARAT_MAX_BYTES", "1000000")
    stream = io.BytesIO()
    pl.DataFrame({"query": ["q"], "doc": ["d"], "label": [1]}).select(
        pl.all().repeat_by(1_000_000).explode()
    ).write_parquet(stream)
    assert len(stream.getvalue()) < 100_000
    assert "found 1,000,000 rows of 3 columns" in refused(study, "bomb.parquet", stream.getvalue())


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("wide.csv", ",".join(f"c{n}" for n in range(20_000)) + "\n"),
        ("wide.jsonl", json.dumps({f"c{n}": n for n in range(3_000)}) + "\n"),
        ("own.jsonl", "".join(f'{{"c{n}": 1}}\n' for n in range(5_000))),
        ("inside.jsonl", f'{ROW}, "more": {json.dumps({f"c{n}": n for n in range(3_000)})}}}\n'),
    ],
)
def test_tables_of_thousands_of_columns_are_refused(study: Path, name: str, data: str) -> None:
    assert "expected at most 2,000 " in refused(study, name, data)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("labels.csv", "query,doc,label,label\nq1,d1,1,2\n", "expected each column once, found label twice"),
        (
            "labels.jsonl",
            f'{ROW}}}\n{ROW}, "label": 2}}\n',
            'line 2: expected each name once in an object, found "label" twice',
        ),
        ("labels.jsonl", f'{ROW}, "label" : 2}}\n{{"query": "q", "doc": "e"}}\n', "line 1: expected each name once"),
        ("book.json", '{"query_doc_pairs": [], "query_doc_pairs": []}', "expected each name once in an object"),
        (
            "labels.jsonl",
            f'{ROW}, "comment": "\\ud800"}}\n',
            "line 1: expected whole letters, found \\ud800, half of one",
        ),
        ("book.json", '{"query_doc_pairs": [], "a": "\\udc00"}', "expected whole letters, found \\udc00, half of one"),
        ("labels.csv", "query,doc,label\rq1,d1,1\r", "found carriage returns only"),
        ("qrels.txt", QRELS.replace("\n", "\r"), "found carriage returns only"),
        ("labels.jsonl", f"{ROW}}}\r{ROW}}}\r", "found carriage returns only"),
        ("labels.csv", "query,doc,label,seconds\nq1,d1,1,-5\n", "line 2: expected a number from 0 as seconds"),
        ("labels.csv", "query,doc,label,seconds\nq1,d1,1,inf\n", "line 2: expected a number from 0 as seconds"),
        ("labels.csv", "query,doc,label,time\nq1,d1,1,yesterday\n", "line 2: expected a time"),
        ("labels.csv", "query,doc,label,time\nq1,d1,1,2024-01-01T99:99:99\n", "line 2: expected a time"),
        ("labels.csv", "query,doc,label,time\nq1,d1,1,2024-02-31\n", "line 2: expected a time"),
        ("labels.csv", "query,doc,label,time\nq1,d1,1,inf\n", "line 2: expected a time"),
        ("labels.csv", "query,doc,label,time\nq1,d1,1,1e300\n", "line 2: expected a time"),
    ],
)
def test_what_readers_took_in_silence_is_refused(study: Path, name: str, data: str, said: str) -> None:
    assert said in refused(study, name, data)


def test_two_halves_make_a_letter(study: Path) -> None:
    (study / "labels.jsonl").write_text(f'{ROW}, "judge": "\\ud83d\\ude00"}}\n')
    assert kt.read_judgments(str(study / "labels.jsonl")).frame["judge"].to_list() == ["\N{GRINNING FACE}"]


@pytest.mark.parametrize("chance", ["1e-300", "0", "-1", "1.5"])
def test_a_gold_label_that_stands_for_billions_is_refused(study: Path, chance: str) -> None:
    (study / "gold.csv").write_text(f"query,doc,label,probability\nq1,d1,2,{chance}\nq2,d1,1,0.5\n")
    words = ["compare", "qrels.txt", "a.run", "b.run", "--gold", "gold.csv", "-m", "P@2"]
    done = karat(*(str(study / word) if "." in word else word for word in words))
    assert (done.returncode, "expected a probability above 0 (from 1e-09) and at most 1" in done.stderr) == (2, True)


def test_gold_labels_above_all_labels_are_told(study: Path) -> None:
    (study / "gold.csv").write_text("query,doc,label,probability\nq1,d1,7,0.5\nq2,d1,1,0.5\n")
    words = ["compare", "qrels.txt", "a.run", "b.run", "--gold", "gold.csv", "-m", "P@2"]
    done = karat(*(str(study / word) if "." in word else word for word in words))
    assert "gold labels go from 1 to 7, those of the judges from 0 to 2: are both on one scale?" in done.stdout


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("query,doc,f1\n", "features.csv: expected a line for each query and document, found a first line only"),
        ("query,doc,f1\nq1,d1,many\n", 'features.csv line 2: expected a number as f1, found "many"'),
    ],
)
def test_features_without_numbers_are_refused(study: Path, table: str, said: str) -> None:
    (study / "features.csv").write_text(table)
    done = karat("train", str(study / "qrels.txt"), "--features", str(study / "features.csv"))
    assert done.returncode == 2
    assert said in done.stderr


def test_ids_that_steer_a_terminal_are_shown(tmp_path: Path) -> None:
    """In every table, note and error: a title bar that a file sets, or red letters, are nobody's result."""
    query, doc, system = "q\x1b]0;hi\x07", "d\x1b[31m", "s\x1b[32m"
    (tmp_path / "qrels.txt").write_text(f"{query} 0 {doc} 2\n{query} 0 d2 0\nq2 0 {doc} 1\n")
    (tmp_path / "a.run").write_text(f"{query} Q0 {doc} 1 2 {system}\nq2 Q0 d2 1 2 {system}\n")
    (tmp_path / "b.run").write_text(f"{query} Q0 d2 1 2 b{system}\nq2 Q0 {doc} 1 2 b{system}\n")
    (tmp_path / "twice.run").write_text(f"{query} Q0 {doc} 1 2 {system}\n" * 2)
    files = [str(tmp_path / name) for name in ("qrels.txt", "a.run", "b.run", "twice.run")]
    for words in (
        ["score", *files[:3], "--by-query"],
        ["compare", *files[:3], "-m", "P@2", "--moved", "2"],
        ["compare", *files[:3], "-m", "P@2", "--by-query"],
        ["score", files[0], files[3]],
        ["judges", files[0]],
        ["convert", str(tmp_path / "no\x1b[31mwhere.csv"), "x.csv"],
        ["score", files[0], files[1], "-m", "P\x1b[31m"],
    ):
        done = karat(*words)
        assert "\x1b" not in done.stdout + done.stderr, words
        assert "\x07" not in done.stdout + done.stderr, words


def test_a_disk_that_is_full_leaves_the_old_file(tmp_path: Path) -> None:
    """Files may not grow beyond 100 bytes here, as on a full disk; a file converted onto itself is not lost."""
    labels = tmp_path / "labels.csv"
    labels.write_text("query,doc,label\n" + "".join(f"q,d{n},1\n" for n in range(100)))
    before = labels.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        done = karat("convert", str(labels), str(labels))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (done.returncode, "cannot be written (File too large)" in done.stderr) == (2, True)
    assert labels.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]


def test_a_file_that_is_written_again_keeps_its_rights_and_a_link_leads_to_it(tmp_path: Path) -> None:
    labels, link = tmp_path / "labels.csv", tmp_path / "link.csv"
    labels.write_text("query,doc,label\nq,d,1\n")
    labels.chmod(0o640)
    link.symlink_to(labels)
    kt.write(kt.read_judgments(str(labels)), str(link))
    assert (link.is_symlink(), labels.stat().st_mode & 0o777) == (True, 0o640)


def test_nothing_writes_files_but_the_one_function_that_puts_them_in_place() -> None:
    source = Path(kt.__file__).parent
    writers = [
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if any(word in path.read_text("utf-8") for word in (".write_text(", ".write_bytes(", '"w")', '"wb")'))
    ]
    tables = re.compile(r"\.write_(csv|ndjson|parquet)\([^)]*(/|path|folder)")
    writers += [p.relative_to(source).as_posix() for p in source.rglob("*.py") if tables.search(p.read_text("utf-8"))]
    # Batches lay piles into a folder of their own that is gone with them: nobody's file. A backup is unpacked into a
    # new folder, which goes again where that fails.
    known = ["formats/atomic_write.py", "formats/partitions.py", "study/backup.py", "users/click_counts.py"]
    assert sorted(writers) == known


def test_a_name_of_a_hundred_thousand_letters_is_read_at_once(tmp_path: Path) -> None:
    """A pattern that tried every way to part it took minutes for a first line of half a megabyte."""
    path = tmp_path / "labels.csv"
    path.write_text("query,doc,label," + "1_duplicated_" * 40_000 + "\nq,d,1,x\n")
    assert kt.read_judgments(str(path)).frame.height == 1


def test_two_columns_of_one_meaning_may_hold_lists(tmp_path: Path) -> None:
    """A list of empty objects, which Polars does not write as a text, beside another name of the same column."""
    (tmp_path / "x.jsonl").write_text('{"docno": "d", "docid": [{}], "query": "q", "label": 1}\n')
    read = kt.read_judgments(tmp_path / "x.jsonl")
    assert (read.frame["doc"].to_list(), "docno" in read.notes[0]) == (["d"], True)


@pytest.mark.parametrize("read", [kt.read_judgments, kt.read_runs])
def test_a_file_packed_twice_is_refused(tmp_path: Path, read: Callable[[Path], object]) -> None:
    path = tmp_path / "twice.run.gz"
    path.write_bytes(gzip.compress(zstandard.compress(b"q1 Q0 d1 1 0.5 mine\n" * 1000)))
    with pytest.raises(kt.BadInput, match=r"twice\.run\.gz: expected a file packed once, found one packed twice"):
        read(path)


def test_columns_behind_a_line_break_in_a_name_are_counted(tmp_path: Path) -> None:
    names = ",".join(f"c{n}" for n in range(3000))
    (tmp_path / "wide.csv").write_text(f'query,doc,label,"a\nb",{names}\nq,d,1\n')
    with pytest.raises(kt.BadInput, match=r"wide\.csv: expected at most 2,000 columns, found 3,00. or more"):
        kt.read_judgments(tmp_path / "wide.csv")


@pytest.mark.parametrize("place", ["labels", "run"])
def test_50_mb_of_blank_lines_are_refused_within_seconds(study: Path, place: str) -> None:
    """One by one they kept a command busy for 43 s; what follows them still has its line."""
    blank = b"\n" * 25_000_000
    (study / "blank").write_bytes((QRELS if place == "labels" else RUN).encode() + blank + b"q3 x\n" + blank)
    words = ["blank", "a.run"] if place == "labels" else ["qrels.txt", "blank"]
    start = time.process_time()
    done = karat("score", *(str(study / word) for word in words))
    assert time.process_time() - start < 10
    line = 25_000_000 + (4 if place == "labels" else 5)
    assert (done.returncode, f"blank line {line}: expected" in done.stderr) == (2, True), done.stderr


def test_the_limit_counts_while_a_packed_run_is_unpacked(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARAT_MAX_BYTES", "1000000")
    (study / "blank.run.zst").write_bytes(zstandard.ZstdCompressor().compress(b"\n" * 50_000_000))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = karat("score", str(study / "qrels.txt"), str(study / "blank.run.zst"))
    assert done.returncode == 2
    assert "blank.run.zst: expected at most 1,000,000 unpacked bytes, found more" in done.stderr
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000  # kB


def damage_parquet(data: bytes) -> Iterator[bytes]:
    """What only looks like a Parquet file, or was one before it was cut, pieced together or changed."""
    yield b"PAR1 hello"
    yield data[: len(data) // 2]
    yield data[4:]
    footer = int.from_bytes(data[-8:-4], "little") + 8
    yield data[20:]  # a thread of Polars panics while the reader goes on
    yield data[:100] + data[-footer:]  # the columns lie beyond the end: Polars panics
    yield data[:-footer] + bytes(footer - 8) + data[-8:]
    yield data[:-8] + (1 << 31).to_bytes(4, "little") + b"PAR1"


@pytest.mark.parametrize("place", ["labels", "run"])
def test_damaged_parquet_is_bad_input_in_one_line(study: Path, place: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Polars panics over some of them, and prints a backtrace past Python's standard error."""
    rows = {"query": ["q1"] * 500, "doc": [str(n) for n in range(500)], "label": [1] * 500, "score": [0.5] * 500}
    stream = io.BytesIO()
    pl.DataFrame(rows).drop("score" if place == "labels" else "label").write_parquet(stream, compression="uncompressed")
    words = ["x.parquet", "a.run"] if place == "labels" else ["qrels.txt", "x.parquet"]
    for data in damage_parquet(stream.getvalue()):
        (study / "x.parquet").write_bytes(data)
        done = karat("score", *(str(study / word) for word in words), "-m", "P@1")
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("packing", ["", ".zst", ".gz", ".lz4"])
@pytest.mark.parametrize("form", ["labels.csv", "labels.tsv", "labels.jsonl", "run.csv", "run.jsonl", "clicks.csv"])
def test_blank_lines_by_the_million_are_refused_quickly(study: Path, form: str, packing: str) -> None:
    """50 MB of them kept readers of tables busy for 33 s, with 5.7 GB; they are 1.6 kB when packed."""
    last = {"labels": "label", "run": "score", "clicks": "clicks"}[form.partition(".")[0]]
    rows = [{"query": "q1", "doc": "d1", last: 1}, {"query": "q1", "doc": "d2", last: 0}]
    sign = "\t" if form.endswith("tsv") else ","
    table = [sign.join(rows[0]), *(sign.join(map(str, row.values())) for row in rows)]
    lines = [json.dumps(row) for row in rows] if form.endswith("jsonl") else table
    blank = b"\n" * 1_500_000 + b"\r\n" * 1_500_000 + b" \t\n" * 1_500_000
    data = lines[0].encode() + b"\n" + blank + "\n".join(lines[1:]).encode() + b"\n"
    packed = {"": bytes, ".zst": zstandard.ZstdCompressor().compress, ".gz": gzip.compress, ".lz4": lz4.frame.compress}
    (study / f"{form}{packing}").write_bytes(packed[packing](data))
    words = {"labels": ["score", f"{form}{packing}", "a.run"], "run": ["score", "qrels.txt", f"{form}{packing}"]}
    command, *files = words.get(form.partition(".")[0], ["clicks", f"{form}{packing}"])
    start = time.process_time()
    done = karat(command, *(str(study / file) for file in files))
    assert time.process_time() - start < 3
    assert done.returncode == 2
    assert f"{form}{packing}: expected at most 1,000,000 blank lines, found 4,500,000 in" in done.stderr


def test_a_table_with_every_second_line_blank_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files from some editors are double-spaced: there may be as many blank lines as others."""
    monkeypatch.setattr(blank_lines, "MIN_BYTES", 0)
    monkeypatch.setattr(blank_lines, "MAX_BLANK_LINES", 10)
    path = tmp_path / "labels.csv"
    path.write_text("query,doc,label\n\n" + "".join(f"q,d{n},1\n\n" for n in range(50)))
    assert kt.read_judgments(path).frame.height == 50
    path.write_text("query,doc,label\n" + "\n" * 50 + "".join(f"q,d{n},1\n" for n in range(20)))
    with pytest.raises(kt.BadInput, match="expected at most 10 blank lines, found 50 in 71 lines"):
        kt.read_judgments(path)


@pytest.mark.parametrize("place", ["labels", "run", "clicks"])
def test_parquet_with_any_damage_is_read_or_refused(study: Path, place: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Cut, bits turned, bytes exchanged, in the pages and in the footer, packed in five ways: no backtrace, no hang."""
    random = Random(f"damage {place}")
    last = {"labels": "label", "run": "score", "clicks": "clicks"}[place]
    rows = {"query": ["q1"] * 300, "doc": [str(n) for n in range(300)], last: [1] * 300}
    if place == "clicks":
        rows["impressions"] = [9] * 300
    for _ in range(60):
        stream = io.BytesIO()
        packing = random.choice(["uncompressed", "zstd", "snappy", "gzip", "lz4"])
        pl.DataFrame(rows).write_parquet(stream, compression=packing, row_group_size=random.choice([50, None]))  # type: ignore[arg-type]
        data = bytearray(stream.getvalue())
        footer = int.from_bytes(data[-8:-4], "little") + 8
        match random.randrange(5):
            case 0:
                data = data[: random.randrange(1, len(data))]
            case 1:
                data = data[random.randrange(1, len(data)) :]
            case 2:
                for _ in range(random.choice([1, 8])):
                    data[random.randrange(len(data))] ^= 1 << random.randrange(8)
            case 3:
                data[-8 - random.randrange(footer - 8)] = random.randrange(256)
            case _:
                first, last_byte = sorted(random.randrange(len(data)) for _ in range(2))
                data[first:last_byte] = data[first:last_byte][::-1]
        (study / "x.parquet").write_bytes(bytes(data))
        words = {"labels": ["score", "x.parquet", "a.run"], "run": ["score", "qrels.txt", "x.parquet"]}
        command, *files = words.get(place, ["clicks", "x.parquet"])
        start = time.process_time()
        done = karat(command, *(str(study / file) for file in files))
        assert done.returncode in (0, 2), done
        assert time.process_time() - start < 5
        assert "panicked" not in done.stderr
    assert "panicked" not in capfd.readouterr().err


def test_the_limit_counts_the_rows_of_parquet(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repeated value is written once: 200,000 labels take a few kilobytes, also where they are read in batches."""
    table = pl.DataFrame({"query": ["q1"] * 200_000, "doc": ["d1"] * 200_000, "score": [0.5] * 200_000})
    table.write_parquet(study / "x.parquet", compression="zstd")
    assert (study / "x.parquet").stat().st_size < 10_000
    monkeypatch.setenv("KARAT_MAX_BYTES", "1000000")
    done = karat("score", str(study / "qrels.txt"), str(study / "x.parquet"))
    assert done.returncode == 2
    assert "x.parquet: expected at most 1,000,000 bytes, found 200,000 rows of 3 columns" in done.stderr


@pytest.mark.parametrize(("magic", "what"), [(b"ARROW1\0\0", "Arrow or Feather"), (b"Obj\x01", "Avro")])
def test_tables_of_other_tools_are_named(study: Path, magic: bytes, what: str) -> None:
    (study / "x.run").write_bytes(magic + bytes(range(256)))
    done = karat("score", str(study / "qrels.txt"), str(study / "x.run"))
    assert (done.returncode, what in done.stderr, "Parquet" in done.stderr) == (2, True, True), done.stderr
