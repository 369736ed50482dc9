"""The schema's history: numbered steps, run in order on opening (Alembic)."""

from __future__ import annotations

import threading
from pathlib import Path

from sqlalchemy import Engine

_ONE_AT_A_TIME = threading.Lock()  # Alembic keeps its context in module globals


def migrate(engine: Engine) -> None:
    """Bring a database to the newest schema."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("path_separator", "os")
    config.attributes["engine"] = engine
    with _ONE_AT_A_TIME:
        command.upgrade(config, "head")
