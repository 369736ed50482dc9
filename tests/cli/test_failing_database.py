"""`karat import`, `export` and `serve` when the database fails: plain words, no SQL, no password, no traceback."""

from __future__ import annotations

import logging
import socket
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from click.testing import CliRunner
from sqlalchemy import Engine, event, text

from karat.cli import karat, main
from karat.formats.study_folder import read_study
from karat.study import database
from karat.study.store import Store

Said = Callable[..., tuple[int, str]]
SECRET = "s3cret"


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Said:
    """Run a command as a terminal does; its exit code and what it said, which holds no trace of the inside."""

    def run(*arguments: object) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["karat", *(str(argument) for argument in arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        words = "".join(capsys.readouterr())
        for never in ("Traceback", "sqlalchemy", "sqlite3", "psycopg", "INSERT", "SELECT", "fault in karat", SECRET):
            assert never not in words
        code = end.value.code
        return (code if isinstance(code, int) else 0), words

    return run


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    assert CliRunner().invoke(karat, ["init", str(folder)]).exit_code == 0
    (folder / "labels.csv").write_text("query,doc,label,judge\n1,hoof-care,2,w1\n")
    Store.open(str(folder / "karat.db"), read_study(str(folder)).study).close()
    return folder


@pytest.fixture
def commands(study: Path) -> list[list[object]]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    return [["import", study, study / "labels.csv"], ["export", study, "-"], ["serve", study, "--port", port]]


@pytest.fixture
def after_opening(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Let something happen once a command has opened its study."""

    def arrange(happens: Callable[[], None]) -> None:
        from karat.cli import open_study as module

        opened = module.open_study

        def open_study(*arguments: Any, **options: Any) -> Any:
            found = opened(*arguments, **options)
            happens()
            return found

        monkeypatch.setattr(module, "open_study", open_study)

    return arrange


@pytest.fixture
def small_disk() -> Iterator[None]:
    """No database can grow: SQLite says what it says on a full disk."""

    def limit(connection: Any, record: Any) -> None:
        connection.execute("PRAGMA max_page_count = 1")  # raised by SQLite to the pages that there are

    event.listen(Engine, "connect", limit)
    yield
    event.remove(Engine, "connect", limit)


def test_a_full_disk_is_said(said: Said, study: Path, small_disk: None) -> None:
    rows = [f"1,doc-{number},2,judge-{number}" for number in range(2000)]
    (study / "labels.csv").write_text("query,doc,label,judge\n" + "\n".join(rows))
    code, words = said("import", study, study / "labels.csv")
    assert code == 2
    assert "database or disk is full; make room" in words


def test_a_locked_database_is_said_and_not_waited_for_forever(
    said: Said, study: Path, commands: list[list[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "PATIENCE", 0.2)
    other = sqlite3.connect(study / "karat.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for command in commands:
        code, words = said(*command)
        assert code == 2
        assert "locked" in words
        assert "another program" in words
    other.close()


def test_a_database_that_is_locked_later_is_said(
    said: Said, study: Path, after_opening: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "PATIENCE", 0.2)
    other = sqlite3.connect(study / "karat.db", isolation_level=None)
    after_opening(lambda: other.execute("BEGIN IMMEDIATE"))
    code, words = said("import", study, study / "labels.csv")
    assert (code, "another program" in words) == (2, True)
    other.close()


def test_a_read_only_database_is_said(said: Said, study: Path, commands: list[list[object]]) -> None:
    for command in (commands[0], commands[2]):
        code, words = said(*command, "--database", f"sqlite:///file:{study}/karat.db?mode=ro&uri=true")
        assert code == 2
        assert "attempt to write a readonly database; see who owns the file" in words


@pytest.fixture
def connections() -> Iterator[list[sqlite3.Connection]]:
    """All that were made to SQLite."""
    made: list[sqlite3.Connection] = []

    def note(connection: Any, record: Any) -> None:
        made.append(connection)

    event.listen(Engine, "connect", note)
    yield made
    event.remove(Engine, "connect", note)


def all_closed(connections: list[sqlite3.Connection]) -> bool:
    for connection in connections:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")
    return len(connections) > 0


def test_a_database_that_cannot_be_written_is_closed_again(
    said: Said, study: Path, commands: list[list[object]], connections: list[sqlite3.Connection]
) -> None:
    for command in (commands[0], commands[2]):
        said(*command, "--database", f"sqlite:///file:{study}/karat.db?mode=ro&uri=true")
        assert all_closed(connections)


def test_a_database_that_cannot_hold_the_tasks_is_closed_again(
    said: Said, study: Path, commands: list[list[object]], connections: list[sqlite3.Connection], small_disk: None
) -> None:
    (study / "tasks.csv").write_text("query,doc\n" + "".join(f"1,doc-{number}\n" for number in range(2000)))
    code, words = said(*commands[2])
    assert (code, "database or disk is full; make room" in words) == (2, True)
    assert all_closed(connections)


def test_a_read_only_database_can_be_exported(said: Said, study: Path) -> None:
    url = f"sqlite:///file:{study}/karat.db?mode=ro&uri=true"
    code, _ = said("export", study, study / "out.csv", "--database", url)
    assert (code, (study / "out.csv").read_text()) == (0, "query,doc,label,judge,group\n")


def test_a_damaged_database_is_said(said: Said, study: Path, after_opening: Any) -> None:
    def damage() -> None:
        for path in study.glob("karat.db*"):
            path.write_bytes(b"\x17" * path.stat().st_size)

    after_opening(damage)
    code, words = said("export", study, "-")
    assert code == 2
    assert "the database" in words


def test_tables_of_a_newer_karat_are_said(said: Said, study: Path, commands: list[list[object]]) -> None:
    with sqlite3.connect(study / "karat.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'm9999'")
    connection.close()
    for command in commands:
        code, words = said(*command)
        assert code == 2
        assert "a newer karat" in words
        assert "m9999" in words


@pytest.mark.parametrize(
    ("url", "words"),
    [
        (f"postgresql://karat:{SECRET}/db", "postgresql://NAME:PASSWORD@HOST/DATABASE"),
        (f"postgresql://karat:p@{SECRET}@127.0.0.1:1/db", "@ in a name or password as %40"),
        (f"postgresql//karat:{SECRET}@127.0.0.1/db", "postgresql://NAME:PASSWORD@HOST/DATABASE"),
        (f"postgresql://karat:{SECRET}@127.0.0.1:1/db", "connection refused"),
        (f"postgresql://karat:{SECRET}@127.0.0.1:99999999/db", "port"),
        (f"postgresql://karat:{SECRET}@127.0.0.1:1/db?colour=red", "colour"),
        (f"nosuch://karat:{SECRET}@127.0.0.1/db", "nosuch"),
    ],
)
def test_an_address_that_leads_nowhere_is_said_without_its_password(
    said: Said, commands: list[list[object]], url: str, words: str
) -> None:
    code, found = said(*commands[1], "--database", url)
    assert code == 2
    assert words.lower() in found.lower()


def test_a_wrong_password_is_said_without_it(said: Said, commands: list[list[object]], own_postgres: str) -> None:
    engine = database._engine(own_postgres)
    role = f"judge_{uuid4().hex[:8]}"
    with engine.begin() as connection:
        connection.execute(text(f"CREATE ROLE {role} LOGIN PASSWORD 'other'"))
        rules = Path(connection.execute(text("SHOW hba_file")).scalar_one())
        rules.write_text(f"host all {role} 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
        connection.execute(text("SELECT pg_reload_conf()"))
    engine.dispose()
    parts = urlsplit(own_postgres)
    url = f"postgresql://{role}:{SECRET}@{parts.hostname}:{parts.port}{parts.path}"
    for command in commands:
        code, words = said(*command, "--database", url)
        assert code == 2
        assert "password authentication failed" in words
        assert "name and password" in words


@pytest.fixture
def own_postgres(postgres: str) -> str:
    """A database of its own on the server, which may be spoilt."""
    name = f"spoilt_{uuid4().hex[:8]}"
    _admin(postgres, f"CREATE DATABASE {name}")
    return postgres.rpartition("/")[0] + f"/{name}"


def _admin(url: str, *commands: str) -> None:
    engine = database._engine(url).execution_options(isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for command in commands:
            connection.execute(text(command))
    engine.dispose()


def go_away(postgres: str, url: str) -> None:
    """From now on this database ends connections and takes none."""
    name = url.rpartition("/")[2]
    end = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
    _admin(postgres, f"ALTER DATABASE {name} ALLOW_CONNECTIONS false", end)


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_server_that_goes_away_is_said(
    said: Said,
    study: Path,
    commands: list[list[object]],
    after_opening: Any,
    postgres: str,
    own_postgres: str,
    which: int,
) -> None:
    Store.open(own_postgres, read_study(str(study)).study).close()
    after_opening(lambda: go_away(postgres, own_postgres))
    code, words = said(*commands[which], "--database", own_postgres)
    assert code == 2
    assert "not currently accepting connections" in words
    assert "see whether the server runs" in words


def test_a_server_that_goes_away_while_judges_work_is_said_to_them_and_to_whoever_serves(
    study: Path, postgres: str, own_postgres: str, caplog: pytest.LogCaptureFixture
) -> None:
    from fastapi.testclient import TestClient

    from karat.study.people import add_judge
    from karat.web.app import create_app

    plan = read_study(str(study)).study
    store = Store.open(own_postgres, plan)
    _, token = add_judge(store)
    browser = TestClient(create_app(plan, store), headers={"Authorization": f"Bearer {token}"})
    assert browser.get("/api/me").status_code == 200
    go_away(postgres, own_postgres)
    with caplog.at_level(logging.ERROR):
        reply = browser.get("/api/me")
        page = browser.get("/welcome")
        link = TestClient(browser.app).get(f"/join/{token}")
    assert (reply.status_code, page.status_code, link.status_code) == (503, 503, 503)
    assert reply.json()["detail"] == "the study's database cannot be reached now; try again in a while"
    assert "<h1>One moment</h1>" in page.text
    assert "not currently accepting connections" in caplog.text
    assert "Traceback" not in caplog.text
    assert "GET /join/{token}: the database failed" in caplog.text
    assert token not in caplog.text, "a personal link is a secret"
    _admin(postgres, f"ALTER DATABASE {own_postgres.rpartition('/')[2]} ALLOW_CONNECTIONS true")
    assert browser.get("/api/me").status_code == 200
    store.close()
