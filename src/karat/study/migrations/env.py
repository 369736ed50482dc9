"""Alembic's entry: runs the steps on the engine it is given."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Engine, text

from karat.study.tables import metadata


def run(engine: Engine) -> None:
    """Run the steps that are missing, all of them or none."""
    with engine.connect() as connection:
        connection = connection.execution_options(writes=True)
        with connection.begin():
            if engine.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(7270126)"))  # two servers may start at once
            context.configure(connection=connection, target_metadata=metadata, transactional_ddl=False)
            context.run_migrations()


if hasattr(context, "config"):  # whoever only reads this file changes nothing
    run(context.config.attributes["engine"])
