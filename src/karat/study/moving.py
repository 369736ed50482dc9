"""A study kept, moved and put back: its folder and its database together, as one file or in another place."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
import zipfile
import zlib
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from karat.errors import BadInput, MissingExtra
from karat.formats.study_folder import keep_id, read_study
from karat.formats.unpacking import VARIABLE, is_limit_set, most_bytes
from karat.records.base import count
from karat.study.from_database import check_there

if TYPE_CHECKING:
    from karat.store import Store
    from karat.store.copying import Copied

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
    from karat.store.log import in_log

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
        from karat.store.copying import copy_rows
        from karat.store.database import Database
        from karat.store.database_errors import in_plain_words
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
    from karat.store.copying import count_rows
    from karat.store.database import Database
    from karat.store.database_errors import in_plain_words

    with in_plain_words(), closing(Database.open(str(folder / DATABASE))) as database:
        return count_rows(database, key)


def _studies(folder: Path) -> list[str]:
    """The ids of the studies in the database of a folder."""
    from karat.store.copying import study_ids
    from karat.store.database import Database
    from karat.store.database_errors import in_plain_words

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
