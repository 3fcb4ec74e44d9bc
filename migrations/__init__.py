"""The history of the schema, run by app/store/migrate.py."""
