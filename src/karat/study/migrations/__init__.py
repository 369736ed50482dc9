"""The schema's history: numbered steps, run in order on opening (Alembic)."""

from __future__ import annotations

import threading
from pathlib import Path

from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from karat.errors import BadInput

#: The newest step, by the names of the files.
NEWEST = max(path.name[1:5] for path in (Path(__file__).parent / "versions").glob("m*.py"))
_ONE_AT_A_TIME = threading.Lock()  # Alembic keeps its context in module globals


def migrate(engine: Engine) -> None:
    """Bring a database to the newest schema."""
    if _is_newest(engine):
        return
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("path_separator", "os")
    config.attributes["engine"] = engine
    try:
        with _ONE_AT_A_TIME:
            command.upgrade(config, "head")
    except CommandError as error:
        raise BadInput.at(
            "the database",
            expected="tables of this karat or an older one",
            found=f"those of a newer karat ({error})",
            remedy="update karat",
        ) from None


def _is_newest(engine: Engine) -> bool:
    """Whether the database has all steps: then Alembic, which takes longer than most commands, is not loaded.

    Asked as a writer: who cannot write here, or has to wait for another, learns it on opening.
    """
    with engine.connect() as connection, connection.execution_options(writes=True).begin():
        try:
            return connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all() == [NEWEST]
        except DBAPIError:  # a new database has no such table
            return False
