"""The schema as SQLAlchemy Core tables, one file a group; they never leave app/store."""
