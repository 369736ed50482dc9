"""Alembic's entry: runs the steps on the engine it is given."""

from __future__ import annotations

from alembic import context
from sqlalchemy import text

from karat.store.tables import metadata

engine = context.config.attributes["engine"]

with engine.connect().execution_options(writes=True) as connection, connection.begin():
    if engine.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(7270126)"))  # two servers may start at once
    context.configure(connection=connection, target_metadata=metadata, transactional_ddl=False)
    context.run_migrations()
