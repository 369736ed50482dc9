"""A study is copied, backed up and restored whole, between databases, also while judges answer; slips lose nothing."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import threading
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import polars as pl
import pytest
from sqlalchemy import text

from commands import karat
from karat.cli.open_study import opened_study
from karat.errors import BadInput
from karat.study.answers import answer, cant_tell, later, reject_judge, undo
from karat.study.backup import back_up, copy_rows, copy_study, count_rows, left_in_folder, restore
from karat.study.database import Database
from karat.study.event_log import Answer
from karat.study.exports import exported
from karat.study.folders import elsewhere, remember
from karat.study.people import add_judge
from karat.study.queue import next_task
from karat.study.store import Store


def folder_of(place: Path, docs: int = 12) -> Path:
    """A study with tasks of documents."""
    place.mkdir()
    (place / "study.toml").write_text(
        f'id = "{uuid4().hex}"\ntitle = "Moved"\ngroups = ["crowd"]\n[scale]\nlevels = [\n'
        '  { grade = 0, name = "No" },\n  { grade = 1, name = "Yes" },\n]\n[overlap]\nlabels = 2\n'
    )
    (place / "queries.csv").write_text("query,text\nq,wörds\n")
    documents = "\n".join(f'{{"doc": "d{d}", "title": "t{d}"}}' for d in range(docs))
    (place / "documents.jsonl").write_text(documents)
    (place / "tasks.csv").write_text("query,doc\n" + "\n".join(f"q,d{d}" for d in range(docs)) + "\n")
    return place


def lived(store: Store) -> None:
    """Judges who answered, cannot tell, put off, took back, hold something, and one who was rejected."""
    judges = [int(add_judge(store, name=name)[0]["id"]) for name in ("ana", "bob", "eve", "zoë")]
    taken = 0
    for turn, judge in enumerate(judges * 3):
        task = next_task(store, judge).task
        assert task is not None
        if turn % 5 == 3:
            cant_tell(store, judge, task["id"], Answer())
        elif turn % 5 == 4:
            later(store, judge, task["id"])
        else:
            answer(store, judge, task["id"], Answer(label=float(turn % 2), comment='"quoted"\n', key=f"k{turn}"))
            taken = int(task["id"]) if judge == judges[0] else taken
    undo(store, judges[0], taken)
    reject_judge(store, judges[2], "too fast")
    next_task(store, judges[1])


@contextmanager
def study_at(folder: Path, database: str | None = None) -> Iterator[Store]:
    with opened_study(str(folder), database, load=True) as opened:
        yield opened.store


def tables(store: Store) -> dict[str, Any]:
    """What was collected; the numbers of rows, which another database may give anew, counted from the lowest."""
    frames = {kind: exported(store, kind).frame for kind in ("judgments", "people", "log", "tasks")}
    first = {"event": frames["log"]["event"].min(), "task": frames["tasks"]["task"].min()}
    of = {"event": "event", "takes_back": "event", "task": "task"}
    for kind in ("log", "tasks"):
        counted = [pl.col(name) - pl.lit(first[of[name]]) for name in frames[kind].columns if name in of]
        frames[kind] = frames[kind].with_columns(counted)
    return {kind: frame.to_dict(as_series=False) for kind, frame in frames.items()}


def test_a_study_goes_to_another_database_and_comes_back_as_it_was(tmp_path: Path, database: str) -> None:
    folder = folder_of(tmp_path / "study")
    with study_at(folder) as store:
        lived(store)
        before = tables(store)
    there = copy_study(str(folder), database if "://" in database else f"sqlite:///{database}")
    (folder / "karat.db").rename(tmp_path / "old.db")
    with study_at(folder, database) as store:
        assert tables(store) == before
        # It goes on from there: numbers given by the database do not meet those that came.
        turn = next_task(store, int(add_judge(store, name="new")[0]["id"]))
        assert turn.task is not None
    back = copy_study(str(folder), str(tmp_path / "home"), database=database)
    assert back.rows["events"] >= there.rows["events"]
    with study_at(tmp_path / "home") as store:
        assert "new" in tables(store)["people"]["judge"]
    assert (tmp_path / "home" / "documents.jsonl").read_bytes() == (folder / "documents.jsonl").read_bytes()


def test_beside_other_studies_rows_get_new_numbers_and_nothing_else_changes(tmp_path: Path, database: str) -> None:
    folders = [folder_of(tmp_path / name) for name in ("one", "two")]
    url = database if "://" in database else f"sqlite:///{database}"
    whole = []
    for folder in folders:
        with study_at(folder) as store:
            lived(store)
            whole.append(tables(store)["judgments"])
        copy_study(str(folder), url)
    for folder, wanted in zip(folders, whole, strict=True):
        with study_at(folder, url) as store:
            assert tables(store)["judgments"] == wanted
    with pytest.raises(BadInput, match="found that it has one"):
        copy_study(str(folders[0]), url)


def test_a_copy_while_judges_answer_has_every_answer_before_some_moment_and_none_after(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "study", docs=150)
    done = threading.Event()
    with study_at(folder) as store:
        judge = int(add_judge(store, name="ana")[0]["id"])
        acknowledged: list[int] = []

        def judging() -> None:
            while not done.is_set() and (task := next_task(store, judge).task) is not None:
                answer(store, judge, task["id"], Answer(label=1.0, key=f"k{task['id']}"))
                acknowledged.append(int(task["id"]))

        thread = threading.Thread(target=judging)
        thread.start()
        copies = []
        try:
            for number in range(4):
                least = len(acknowledged)
                copies.append((least, copy_study(str(folder), str(tmp_path / f"copy{number}")), len(acknowledged)))
        finally:
            done.set()
            thread.join()
        for number, (least, _, most) in enumerate(copies):
            with study_at(tmp_path / f"copy{number}") as copied:
                frame = exported(copied, "judgments").frame
                assert least <= frame.height <= most + 1
                assert frame.height == frame.select("query", "doc").n_unique()


def test_a_backup_is_one_file_and_comes_back(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "study")
    with study_at(folder) as store:
        lived(store)
        before = tables(store)
        made = back_up(str(folder), str(tmp_path / "kept.zip"))
    shutil.rmtree(folder)
    assert restore(str(tmp_path / "kept.zip"), str(folder)) == made
    for file in (tmp_path / "kept.zip", folder / "karat.db"):
        assert file.stat().st_mode & 0o077 == 0, "who said what is for the owner alone"
    with study_at(folder) as store:
        assert tables(store) == before
    # What lies in the archive is a database by itself: nothing of it waits in a file beside.
    with zipfile.ZipFile(tmp_path / "kept.zip") as archive:
        assert [name for name in archive.namelist() if "karat.db" in name] == ["karat.db"]
        archive.extract("karat.db", tmp_path / "alone")
    with closing(sqlite3.connect(tmp_path / "alone" / "karat.db")) as connection:
        assert connection.execute("SELECT count(*) FROM events").fetchone()[0] == made.rows["events"]


def test_a_backup_goes_into_a_named_database(tmp_path: Path, database: str) -> None:
    folder = folder_of(tmp_path / "study")
    with study_at(folder) as store:
        lived(store)
    made = back_up(str(folder), str(tmp_path / "kept.zip"))
    url = database if "://" in database else f"sqlite:///{database}"
    assert restore(str(tmp_path / "kept.zip"), str(tmp_path / "new"), database=url).rows == made.rows
    assert not (tmp_path / "new" / "karat.db").exists()


def test_a_difference_undoes_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_of(tmp_path / "study")
    with study_at(folder) as store:
        lived(store)
    hashes = iter(["one", "another"])
    monkeypatch.setattr("karat.study.backup._hash", lambda *_: next(hashes))
    with pytest.raises(BadInput, match="rows that differ"):
        copy_study(str(folder), str(tmp_path / "copy"))
    assert not (tmp_path / "copy").exists()


def test_slips_are_told_and_leave_nothing_behind(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "study")

    def said(*words: object) -> str:
        done = karat(*map(str, words))
        assert done.returncode == 2, done.stdout
        return " ".join(done.stderr.split())

    assert "karat.db" in said("backup", folder, tmp_path / "none.zip")  # nothing was collected yet
    assert not (tmp_path / "none.zip").exists()
    with study_at(folder) as store:
        lived(store)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").write_text("a")
    assert "expected a new or empty folder" in said("copy", folder, tmp_path / "full")
    assert "the database" in said("copy", folder, "mysql://karat@localhost/karat")
    assert "no such file" in said("restore", tmp_path / "no.zip", tmp_path / "new")
    (tmp_path / "text.zip").write_text("not a zip")
    assert "expected a backup of karat (zip)" in said("restore", tmp_path / "text.zip", tmp_path / "new")
    with zipfile.ZipFile(tmp_path / "out.zip", "w") as archive:
        archive.writestr("../escaped", "x")
    assert "expected files of one folder" in said("restore", tmp_path / "out.zip", tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "escaped").exists()
    done = karat("backup", str(folder), str(tmp_path / "kept.zip"))
    assert done.stdout.startswith(f"backed up to {tmp_path / 'kept.zip'}: 12 tasks, 4 judges, ")
    assert "expected a file that is not there yet" in said("backup", folder, tmp_path / "kept.zip")


def test_answers_in_the_folder_are_told_when_another_database_is_served(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "study")
    other = folder_of(tmp_path / "other")
    with study_at(other) as served:
        assert left_in_folder(folder, served) is None
        with study_at(folder) as store:
            assert left_in_folder(folder, served) is None
            lived(store)
        said = left_in_folder(folder, served)
        assert said is not None
        assert "karat copy" in said
    copy_study(str(folder), str(tmp_path / "copied"))
    with study_at(tmp_path / "copied") as served:
        assert left_in_folder(folder, served) is None, "it has them all"


def test_a_folder_whose_study_moved_says_so_wherever_its_old_database_is_used(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "study")
    remember(folder, "postgresql://karat:secret@localhost/karat")
    assert elsewhere(folder, None) == [], "nothing old is there to be taken for the study"
    with study_at(folder) as store:
        lived(store)
    remember(folder, str(folder / "karat.db"))
    assert elsewhere(folder, None) == [], "it is served from its own"
    remember(folder, "postgresql://karat:secret@localhost/karat")
    for command in ("export", "backup", "copy"):
        done = karat(command, str(folder), str(tmp_path / f"{command}.csv"))
        assert "last served from postgresql://...@localhost/karat" in done.stderr
        assert "secret" not in done.stderr
    assert "last served from" in karat("judges", "agreement", str(folder)).stderr
    assert "last served from" not in karat("leads", str(folder), "--database", str(folder / "karat.db")).stderr
    assert "last served from" not in karat("leads", str(tmp_path / "copy.csv")).stderr, "a copy is another folder"


def test_a_link_in_a_strangers_folder_is_neither_written_nor_read(tmp_path: Path) -> None:
    folder, mine = folder_of(tmp_path / "study"), tmp_path / "mine.txt"
    with study_at(folder) as store:
        lived(store)
    mine.write_text("a secret")
    (folder / "karat.db-elsewhere").symlink_to(mine)
    remember(folder, "postgresql://localhost/karat")
    assert mine.read_text() == "a secret"
    assert elsewhere(folder, None) == []


def test_what_is_counted_is_what_is_there(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "study")
    with study_at(folder) as store:
        lived(store)
        key = str(store.value(text("SELECT key FROM studies")))
        target = Database.open(str(tmp_path / "other.db"))
        with closing(target):
            assert copy_rows(store.database, target, key) == count_rows(target, key)
        with pytest.raises(BadInput, match="none of that id"):
            count_rows(store.database, "nobody")


def without_id(place: Path) -> Path:
    """A study whose id is its folder's name, because study.toml says none."""
    folder = folder_of(place)
    said = (folder / "study.toml").read_text().split("\n", 1)[1]
    (folder / "study.toml").write_text("\ufeff# judged in spring\n" + said, encoding="utf-8")
    with study_at(folder) as store:
        lived(store)
    return folder


@pytest.mark.parametrize("name", ["other", 'a "b" c'])
def test_a_backup_without_an_id_is_restored_under_any_name(tmp_path: Path, database: str, name: str) -> None:
    folder = without_id(tmp_path / f"study-{uuid4().hex}")  # several studies may be in the database
    with study_at(folder) as store:
        before = tables(store)
    back_up(str(folder), str(tmp_path / "b.zip"))
    (tmp_path / "new").mkdir()
    restored = tmp_path / "new" / name
    done = karat("restore", str(tmp_path / "b.zip"), str(restored))
    assert done.returncode == 0, done.stderr
    with study_at(restored) as store:
        assert tables(store) == before
    there = tmp_path / "new" / f"{name} there"
    restore(str(tmp_path / "b.zip"), str(there), database=database)
    with study_at(there, database) as store:
        assert tables(store)["judgments"] == before["judgments"]


@pytest.mark.parametrize("name", ["study", 'a "b" c'])
def test_a_copy_of_a_folder_without_an_id_is_the_same_study(tmp_path: Path, name: str) -> None:
    folder = without_id(tmp_path / name)
    copy_study(str(folder), str(tmp_path / "copied"))
    with study_at(folder) as old, study_at(tmp_path / "copied") as new:
        assert tables(new) == tables(old)


def test_an_empty_id_is_filled_in_when_a_study_moves(tmp_path: Path) -> None:
    folder = without_id(tmp_path / "study")
    said = (folder / "study.toml").read_text(encoding="utf-8-sig")
    (folder / "study.toml").write_text('id = ""  # none\n' + said)
    copy_study(str(folder), str(tmp_path / "copied"))
    with study_at(folder) as old, study_at(tmp_path / "copied") as new:
        assert tables(new) == tables(old)


def zipped(path: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # of names that stand twice
        for name, data in members:
            archive.writestr(name, data, zipfile.ZIP_DEFLATED)
    return path


def test_restore_counts_bytes_while_it_unpacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """150 MB of zeros are 150 kB packed, also where the archive says that they are few."""
    bomb = zipped(tmp_path / "bomb.zip", ("study.toml", b""), ("karat.db", bytes(150_000_000)))
    assert bomb.stat().st_size < 200_000
    done = karat("restore", str(bomb), str(tmp_path / "new"))
    assert done.returncode == 2
    assert "bomb.zip: expected a backup of karat, of at most 100,000,000 unpacked bytes, found more" in done.stderr
    monkeypatch.setattr("karat.study.backup._check_members", lambda archive, members: None)
    assert karat("restore", str(bomb), str(tmp_path / "new")).returncode == 2
    assert not (tmp_path / "new").exists()
    monkeypatch.undo()
    monkeypatch.setenv("KARAT_MAX_BYTES", "1000")
    small = zipped(tmp_path / "small.zip", ("study.toml", bytes(2000)))
    assert "at most 1,000 unpacked bytes" in karat("restore", str(small), str(tmp_path / "new")).stderr


def link() -> zipfile.ZipInfo:
    made = zipfile.ZipInfo("runs/a.run")
    made.external_attr = (stat.S_IFLNK | 0o777) << 16
    return made


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ([(link(), b"/etc/passwd")], "expected plain files, found runs/a.run, a link or a device"),
        ([("/etc/x", b"")], "expected files of one folder, found /etc/x"),
        ([("runs/../../x", b"")], "expected files of one folder"),
        ([("c:/x", b"")], "expected files of one folder"),
        ([("a\\b", b"")], "expected files of one folder"),
        ([("study.toml", b"1"), ("study.toml", b"2")], "expected each file once"),
        ([("a", b"1"), ("a/b", b"2")], "expected each file once"),
        ([(f"runs/{n}", b"") for n in range(11)], "of at most 10 files, found 11"),
    ],
)
def test_restore_takes_plain_files_of_one_folder_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, members: list[tuple[str, bytes]], words: str
) -> None:
    monkeypatch.setattr("karat.study.backup.MAX_MEMBERS", 10)
    done = karat("restore", str(zipped(tmp_path / "b.zip", *members)), str(tmp_path / "new"))
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["b.zip"], "nothing is left"


def test_a_damaged_backup_is_refused_in_one_line(tmp_path: Path) -> None:
    """Any byte may be wrong: lengths, names, checksums, the packed bytes, the sign that there is a password."""
    random = Random("damaged backup")
    text = "".join(random.choice("abcdef") for _ in range(3000)).encode()
    whole = zipped(tmp_path / "b.zip", ("study.toml", text), ("karat.db", text)).read_bytes()
    for number in range(300):
        data = bytearray(whole)
        for _ in range(random.choice([1, 3])):
            data[random.randrange(len(data))] = random.randrange(256)
        (tmp_path / "b.zip").write_bytes(bytes(data))
        done = karat("restore", str(tmp_path / "b.zip"), str(tmp_path / f"new{number}"))
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done


def test_a_restored_database_is_for_its_owner_alone(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "study")
    with study_at(folder) as store:
        lived(store)
    back_up(str(folder), str(tmp_path / "b.zip"))
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        names = archive.namelist()
    assert {"study.toml", "karat.db"} <= {*names}
    mask = os.umask(0)
    try:
        restore(str(tmp_path / "b.zip"), str(tmp_path / "new"))
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new" / "karat.db").stat().st_mode) == 0o600
