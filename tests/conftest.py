"""What tests share: research data, databases, a browser, a language model, a search engine, passwords, settings."""

from __future__ import annotations

import gc
import importlib.util
import os
import sqlite3
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from simulated import studies

# The same examples each time, so that a change is what makes a test fail.
settings.register_profile(
    "karat",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    derandomize=True,
    max_examples=len(studies(25, 100)),
)
settings.load_profile("karat")

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("KARAT_DATA", ROOT.parent / "shared" / "data"))
# The headless shell draws pages as Chromium does without the windows around them: at less than half of the work.
BROWSERS = (os.environ.get("KARAT_CHROMIUM", ""), "/usr/bin/chromium-headless-shell", "/usr/bin/chromium")
CHROMIUM = next((path for path in BROWSERS if path and Path(path).is_file()), None)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--in-process-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What was collected stays to the end: to look through it for garbage again and again takes a tenth of the time."""
    gc.disable()
    collected = yield
    gc.enable()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    return collected


def research_data(name: str) -> Path:
    """A folder of public research data; tests that use it are skipped where it is not there."""
    folder = DATA / name
    if not folder.is_dir():
        pytest.skip(f"no {folder}: set KARAT_DATA to the folder with the research data")
    return folder


@pytest.fixture(scope="session")
def web2010() -> Path:
    """The TREC Web Track 2010 data with official scores."""
    return research_data("web2010")


@pytest.fixture(scope="session")
def user_study() -> Path:
    """Jiang and Allan's sessions: lists, labels and ratings."""
    return research_data("user-study")


@pytest.fixture(scope="session")
def classic() -> Path:
    """Tables that every textbook on agreement computes, and Dawid and Skene's patients."""
    return research_data("classic")


@pytest.fixture(scope="session")
def rf10() -> Path:
    """The crowd of the TREC 2010 Relevance Feedback track."""
    return research_data("rf10")


@pytest.fixture(scope="session")
def llmjudge() -> Path:
    """NIST's labels of TREC DL 2023 and those of 33 language models."""
    return research_data("llmjudge")


@pytest.fixture(scope="session")
def dl21() -> Path:
    """TREC DL 2021: 63 real runs, NIST's labels and those of four LLM judges."""
    return research_data("dl21")


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> Iterator[None]:
    """Hundreds of leads sign in: their hashes are cheap here. tests/web/test_passwords.py has the real ones."""
    with pytest.MonkeyPatch.context() as patch:
        with suppress(ImportError):
            import argon2

            cheap = partial(argon2.PasswordHasher, time_cost=1, memory_cost=8, parallelism=1)
            patch.setattr(argon2, "PasswordHasher", cheap)
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_databases() -> Iterator[None]:
    """A thousand SQLite databases are made: one by karat's own steps, the others from what it then holds.

    As on the PostgreSQL server, nothing waits for the disk: what a process wrote outlives it, if not the machine.
    """
    with pytest.MonkeyPatch.context() as patch:
        with suppress(ImportError):
            from karat.study import database, migrations

            patch.setattr(migrations, "migrate", _copying(migrations.migrate))
            patch.setattr(database, "_engine", _not_waiting(database._engine))
        yield


def _not_waiting(engine_of: Callable[[str], Any]) -> Callable[[str], Any]:
    """`engine_of`, whose SQLite databases do not wait until the disk has what was written."""
    from sqlalchemy import event

    def quick(url: str) -> Any:
        engine = engine_of(url)
        if engine.dialect.name == "sqlite":
            event.listen(engine, "connect", lambda connection, record: connection.execute("PRAGMA synchronous = OFF"))
        return engine

    return quick


def _copying(migrate: Callable[[Any], None]) -> Callable[[Any], None]:
    """`migrate`, but an empty SQLite database gets the tables of one that `migrate` made."""
    one_at_a_time = threading.Lock()

    @cache
    def tables() -> str:
        from karat.study import database

        engine = database._engine("sqlite://")
        migrate(engine)
        with closing(engine.raw_connection()) as connection:
            found = "\n".join(connection.driver_connection.iterdump())
        engine.dispose()
        return found

    def quick(engine: Any) -> None:
        if engine.dialect.name == "sqlite":
            # Where this fails, the true steps fail in the words that karat has for it.
            with one_at_a_time, suppress(sqlite3.Error), closing(engine.raw_connection()) as connection:
                own = connection.driver_connection
                if own.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
                    own.executescript(tables())
                    return
        migrate(engine)

    return quick


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a database on a PostgreSQL server of our own; tests share it, each with studies of its own."""
    spec = importlib.util.spec_from_file_location("postgres", ROOT / "tests" / "postgres.py")
    assert spec is not None
    assert spec.loader is not None
    own = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(own)
    server = own.server()
    try:
        url = server.__enter__()
    except RuntimeError as error:
        pytest.skip(str(error))
    yield own.new_database(url, "karat")
    server.__exit__(None, None, None)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of each kind in turn; the PostgreSQL one may hold other studies."""
    if request.param == "sqlite":
        return str(tmp_path / "karat.db")
    url: str = request.getfixturevalue("postgres")
    return url


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A real browser, one for all tests of a process: Playwright does not start twice in one."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install playwright")
    if CHROMIUM is None:
        pytest.skip("no chromium: apt-get install chromium, or name one in KARAT_CHROMIUM")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def language_model() -> Iterator[Any]:
    """A small real language model on a server, with `.url` and `.model`: one for all tests of a process that ask.

    Where there is none, tests are skipped, except where KARAT_MODEL=required, as in .ci/run: there they fail.
    """
    import language_model

    server = language_model.server()
    try:
        running = server.__enter__()
    except RuntimeError as error:
        if os.environ.get("KARAT_MODEL") == "required":
            raise
        pytest.skip(str(error))
    yield running
    server.__exit__(None, None, None)


@pytest.fixture(scope="session")
def groonga() -> Iterator[Any]:
    """A real search engine with 2,000 documents: `.url`, `.documents` and `.own_order`, from groonga.py.

    Where there is none, tests are skipped, except where KARAT_GROONGA=required, as in .ci/run: there they fail.
    """
    import groonga

    with groonga.or_skip(groonga.server()) as running:
        yield running
