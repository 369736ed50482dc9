"""The schema's history: numbered steps, run in order on opening (Alembic)."""

from __future__ import annotations

import threading
from pathlib import Path

from sqlalchemy import Engine

from karat.errors import BadInput

_ONE_AT_A_TIME = threading.Lock()  # Alembic keeps its context in module globals


def migrate(engine: Engine) -> None:
    """Bring a database to the newest schema."""
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
