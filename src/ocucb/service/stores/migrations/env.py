"""Runs migrations on the connection that `schema.migrate` gives, inside its transaction."""

from alembic import context

from ocucb.service.stores.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
