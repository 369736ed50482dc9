"""A study kept, moved and put back: its folder and its database together, as one file or in another place."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Table, func, insert, select, text

from karat.errors import BadInput, MissingExtra
from karat.formats.decompression import VARIABLE, is_limit_set, most_bytes
from karat.formats.study_folder import keep_id, read_study
from karat.records.table import count
from karat.study.collected import check_there
from karat.study.database import Database
from karat.study.tables import metadata, studies

if TYPE_CHECKING:
    from karat.study.store import Store

    pass


#: So many rows are read and written at a time.
BATCH = 5_000
#: Parents before children: a row's references are there before it is.
TABLES = tuple(metadata.sorted_tables)


@dataclass(frozen=True)
class Copied:
    """How many rows of each table were copied, and the hash that both sides agree on."""

    rows: dict[str, int]
    hash: str

    @property
    def finding(self) -> str:
        """What was copied, in words."""
        things = {"tasks": "task", "judges": "judge", "events": "event"}
        said = ", ".join(count(self.rows[table], thing) for table, thing in things.items())
        return f"{said} (sha256 {self.hash[:12]})"


def copy_rows(source: Database, target: Database, key: str) -> Copied:
    """Copy the study of this key; the source is read as it is at one moment, also while judges answer.

    A target that has the study already is refused. Both sides are hashed, and a difference undoes the copy.
    """
    with source.engine.connect() as reading:
        if source.dialect == "postgresql":
            reading = reading.execution_options(isolation_level="REPEATABLE READ")
        with reading.begin():
            study = reading.execute(select(studies.c.id).where(studies.c.key == key)).scalar()
            if study is None:
                raise BadInput.at("the database", expected=f'the study "{key}"', found="none of that id")
            return target.write(lambda writing: _copied(reading, writing, int(study), key))


def study_ids(database: Database) -> list[str]:
    """The ids of the studies in a database."""
    with database.read() as connection:
        return [str(key) for key in connection.execute(select(studies.c.key).order_by(studies.c.id)).scalars()]


def count_rows(database: Database, key: str) -> Copied:
    """What a database holds of the study of this key."""
    with database.read() as connection:
        study = connection.execute(select(studies.c.id).where(studies.c.key == key)).scalar()
        if study is None:
            raise BadInput.at("the database", expected=f'the study "{key}"', found="none of that id")
        counts = {
            table.name: int(connection.execute(select(func.count()).where(_mine(table, int(study)))).scalar() or 0)
            for table in TABLES
        }
        return Copied(counts, _hash(connection, int(study), dict.fromkeys(counts, 0)))


def _copied(reading: Connection, writing: Connection, study: int, key: str) -> Copied:
    if writing.execute(select(studies.c.id).where(studies.c.key == key)).scalar() is not None:
        raise BadInput.at(
            "the database to copy to",
            expected=f'no study "{key}"',
            found="that it has one",
            remedy="copy to an empty database or folder",
        )
    shifts = {table.name: _shift(reading, writing, table, study) for table in TABLES}
    counts: dict[str, int] = {}
    for table in TABLES:
        counts[table.name] = 0
        for rows in _batches(reading, table, study):
            writing.execute(insert(table), [_shifted(table, row, shifts) for row in rows])
            counts[table.name] += len(rows)
        if writing.dialect.name == "postgresql" and counts[table.name]:
            # Rows with numbers of our own leave the counter where it was.
            counter = f"pg_get_serial_sequence('{table.name}', 'id')"
            writing.execute(text(f"SELECT setval({counter}, (SELECT max(id) FROM {table.name}))"))
    there = _hash(reading, study, dict.fromkeys(shifts, 0))
    here = _hash(writing, study + shifts["studies"], {name: -shift for name, shift in shifts.items()})
    if here != there:
        raise BadInput.at(
            "the copy", expected="every row as it was", found="rows that differ", remedy="nothing was kept"
        )
    return Copied(counts, here)


def _shift(reading: Connection, writing: Connection, table: Table, study: int) -> int:
    """By how much the numbers of a table grow: beyond all that are there, if there are any."""
    highest = writing.execute(select(func.max(table.c.id))).scalar()
    lowest = reading.execute(select(func.min(table.c.id)).where(_mine(table, study))).scalar()
    return 0 if highest is None or lowest is None else max(0, int(highest) - int(lowest) + 1)


def _mine(table: Table, study: int) -> Any:
    return (table.c.id if table is studies else table.c.study_id) == study


def _batches(connection: Connection, table: Table, study: int) -> Iterator[list[dict[str, Any]]]:
    """The study's rows of a table in the order of their numbers, some at a time."""
    last = -1
    while True:
        wanted = select(table).where(_mine(table, study), table.c.id > last).order_by(table.c.id).limit(BATCH)
        rows = [dict(row) for row in connection.execute(wanted).mappings()]
        if not rows:
            return
        yield rows
        last = int(rows[-1]["id"])


def _shifted(table: Table, row: dict[str, Any], shifts: dict[str, int]) -> dict[str, Any]:
    """A row with its numbers, and those of the rows that it refers to, in the other database."""
    moved = row | {"id": row["id"] + shifts[table.name]}
    for column in table.columns:
        for reference in column.foreign_keys:
            if row[column.name] is not None:
                moved[column.name] = row[column.name] + shifts[reference.column.table.name]
    return moved


def _hash(connection: Connection, study: int, shifts: dict[str, int]) -> str:
    """A hash of all rows of a study, by the numbers that they have without the shifts."""
    found = hashlib.sha256()
    for table in TABLES:
        for rows in _batches(connection, table, study):
            for row in rows:
                plain = _shifted(table, row, shifts)
                found.update(json.dumps([table.name, *plain.values()], ensure_ascii=True).encode())
    return found.hexdigest()


#: The database of a study's folder, and what SQLite and `karat serve` keep beside it.
DATABASE = "karat.db"
#: What judges said, and who they are, is for the owner alone.
OWNER = 0o600
#: A backup unpacks to so many times its size at most, or to so many bytes where it is small. Deflate packs nothing
#: tighter than 1032 to 1; databases and texts 5 to 20 to 1.
MAX_RATIO, MIN_LIMIT_BYTES = 100, 100_000_000
#: So many files are in a backup at most.
MAX_MEMBERS = 100_000
#: So many bytes are unpacked at a time.
PART_BYTES = 1 << 20
#: On systems that have it: no file is written through a link.
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


def copy_study(folder: str, to: str, *, database: str | None = None) -> Copied:
    """Copy a study to a database, named by its URL, or with its files to another folder.

    The study may be served meanwhile: the copy is of one moment. Nothing is changed in the study.
    """
    study = read_study(folder)
    if "://" in to:
        return _database(study.path, database, to, study.study.id)
    target = Path(to)
    _refuse_filled(target)
    made = not target.exists()
    try:
        _files(study.path, target)
        keep_id(target, study.study.id)
        return _database(study.path, database, str(target / DATABASE), study.study.id)
    except BaseException:
        if made:
            shutil.rmtree(target, ignore_errors=True)
        raise


def back_up(folder: str, out: str, *, database: str | None = None) -> Copied:
    """Write a study, its files and its database as it is at one moment, into one archive (zip)."""
    study = read_study(folder)
    target = Path(out)
    if target.exists():
        raise BadInput.at(out, expected="a file that is not there yet", found="one", remedy="name another")
    with tempfile.TemporaryDirectory(dir=target.absolute().parent, prefix=".karat-") as work:
        kept = Path(work) / DATABASE
        copied = _database(study.path, database, str(kept), study.study.id)
        packed = Path(work) / "backup.zip"
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, name in _of_folder(study.path):
                archive.write(path, name)
            archive.write(kept, DATABASE)
        packed.chmod(OWNER)  # it holds what judges said and who they are, as the database does
        # Put in place when it is whole: a full disk leaves no half of a backup.
        packed.replace(target)
    return copied


def restore(archive: str, folder: str, *, database: str | None = None) -> Copied:
    """Put a study that was backed up into a new folder, and its database, where one is named, there."""
    target = Path(folder)
    _refuse_filled(target)
    made = not target.exists()
    try:
        _unpack(Path(archive), target)
        read_study(str(target))
        if not (target / DATABASE).is_file():
            raise BadInput.at(archive, expected=f"a backup of karat, with {DATABASE} in it", found="none")
        for key in _studies(target)[:1]:  # a backup is of one study
            keep_id(target, key)
        study = read_study(str(target))
        if database is None:
            return _counted(target, study.study.id)
        copied = _database(target, None, database, study.study.id)
        for left in target.glob(f"{DATABASE}*"):
            left.unlink()
        return copied
    except BaseException:
        if made:
            shutil.rmtree(target, ignore_errors=True)
        raise


def left_in_folder(folder: Path, store: Store) -> str | None:
    """What to say to somebody who serves another database while the folder's own has answers that it lacks."""
    from karat.study.event_log import in_log

    file = folder / DATABASE
    if not file.is_file():
        return None
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            many = int(connection.execute("SELECT count(*) FROM events").fetchone()[0])
            last = connection.execute("SELECT kind, at FROM events ORDER BY id DESC LIMIT 1").fetchone()
    except sqlite3.Error:
        return None
    if not many or in_log(store, *last):  # it was copied
        return None
    return (
        f"note: {file} has {count(many, 'event')} that the named database may not have; karat copy {folder} URL "
        "brings them there."
    )


def _database(folder: Path, database: str | None, to: str, key: str) -> Copied:
    """Copy the study of a folder from its database to another."""
    try:
        pass
        from karat.study.database import Database, in_plain_words
    except ImportError:
        raise MissingExtra.named("collect", "the database of a study") from None
    check_there(folder, database)
    with in_plain_words(), closing(Database.open(database or str(folder / DATABASE))) as source:
        new = "://" not in to and not Path(to).exists()
        try:
            with closing(Database.open(to)) as target:
                copied = copy_rows(source, target, key)
                target.settle()
                return copied
        except BaseException:
            if new:
                for left in Path(to).parent.glob(f"{Path(to).name}*"):
                    left.unlink()
            raise


def _counted(folder: Path, key: str) -> Copied:
    """What the database of a folder holds, having been read through."""
    pass
    from karat.study.database import Database, in_plain_words

    with in_plain_words(), closing(Database.open(str(folder / DATABASE))) as database:
        return count_rows(database, key)


def _studies(folder: Path) -> list[str]:
    """The ids of the studies in the database of a folder."""
    pass
    from karat.study.database import Database, in_plain_words

    with in_plain_words(), closing(Database.open(str(folder / DATABASE))) as database:
        return study_ids(database)


def _of_folder(folder: Path) -> list[tuple[Path, str]]:
    """The files of a study's folder but for the database, with their names in it; links are not followed."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    return [(path, str(path.relative_to(folder))) for path in files if not path.name.startswith(DATABASE)]


def _files(folder: Path, target: Path) -> None:
    for path, name in _of_folder(folder):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target / name)


def _refuse_filled(target: Path) -> None:
    if target.exists() and not target.is_dir():
        raise BadInput.at(str(target), expected="a folder", found="a file")
    if target.is_dir() and any(target.iterdir()):
        raise BadInput.at(str(target), expected="a new or empty folder", found="one with files", remedy="name another")


def _unpack(archive: Path, target: Path) -> None:
    """The files of an archive, each inside the folder; bytes are counted while they are unpacked."""
    try:
        with zipfile.ZipFile(archive) as packed:
            _check_members(archive, packed.infolist())
            left = _max_bytes(archive)
            for file in packed.infolist():
                place = target / file.filename
                if file.is_dir():
                    place.mkdir(parents=True, exist_ok=True)
                    continue
                place.parent.mkdir(parents=True, exist_ok=True)
                # An archive keeps no rights, and the database is for the owner alone from its first byte.
                mode = OWNER if file.filename.startswith(DATABASE) else 0o666
                opened = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW, mode)
                with packed.open(file) as source, os.fdopen(opened, "wb") as out:
                    while part := source.read(PART_BYTES):
                        left -= len(part)
                        if left < 0:
                            raise _too_large(archive)
                        out.write(part)
    except FileNotFoundError:
        if archive.exists():
            raise
        raise BadInput(f"{archive}: no such file") from None
    except FileExistsError as error:
        raise BadInput.at(str(archive), expected="each file once", found=f"{error.filename} twice") from None
    # zlib.error: damaged bytes; RuntimeError: a password; NotImplementedError: another way of packing
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError) as error:
        raise BadInput.at(str(archive), expected="a backup of karat (zip)", found=str(error)) from None


def _check_members(archive: Path, members: list[zipfile.ZipInfo]) -> None:
    """Refuse an archive with too many files, or with one that is no plain file inside the folder."""
    if len(members) > MAX_MEMBERS:
        found = f"{len(members):,}"
        raise BadInput.at(str(archive), expected=f"a backup of karat, of at most {MAX_MEMBERS:,} files", found=found)
    if sum(file.file_size for file in members) > _max_bytes(archive):
        raise _too_large(archive)
    for file in members:
        name = PurePosixPath(file.filename)
        kind = stat.S_IFMT(file.external_attr >> 16)
        if name.is_absolute() or ".." in name.parts or "\\" in file.filename or ":" in str(name)[:2] or not name.parts:
            raise BadInput.at(str(archive), expected="files of one folder", found=file.filename)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise BadInput.at(str(archive), expected="plain files", found=f"{file.filename}, a link or a device")


def _max_bytes(archive: Path) -> int:
    """As many bytes as a backup may unpack to."""
    return most_bytes() if is_limit_set() else max(MIN_LIMIT_BYTES, MAX_RATIO * archive.stat().st_size)


def _too_large(archive: Path) -> BadInput:
    return BadInput.at(
        str(archive),
        expected=f"a backup of karat, of at most {_max_bytes(archive):,} unpacked bytes",
        found="more",
        remedy=f"is this the file that you meant? Set {VARIABLE} to allow more",
    )
