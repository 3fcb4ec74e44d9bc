"""`hango db`: bring the schema to a version, and tell whether it is there."""

from __future__ import annotations

from pathlib import Path

import click
from alembic import command
from alembic.config import Config
from alembic.util import CommandError

from app.settings import BadSettings, Settings

_MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"


def upgrade(admin_url: str, revision: str = "head") -> None:
    """Bring the schema up to `revision`; nothing happens when it is there."""
    command.upgrade(_config(admin_url), revision)


def downgrade(admin_url: str, revision: str) -> None:
    """Take the schema back to `revision` ("base": nothing is left)."""
    command.downgrade(_config(admin_url), revision)


def check(admin_url: str) -> None:
    """Compare the tables that the code knows with those of the database.

    Raises:
        CommandError: they differ, or a migration is missing.
    """
    command.check(_config(admin_url))


@click.group()
def db() -> None:
    """Migrate the database that HANGO_ADMIN_DATABASE_URL names."""


@db.command("upgrade")
@click.argument("revision", default="head")
def upgrade_command(revision: str) -> None:
    """Bring the schema up to REVISION (the newest by default)."""
    upgrade(_admin_url(), revision)
    click.echo(f"The schema is at {revision}.")


@db.command("downgrade")
@click.argument("revision")
def downgrade_command(revision: str) -> None:
    """Take the schema back to REVISION; data of later ones is lost."""
    downgrade(_admin_url(), revision)
    click.echo(f"The schema is at {revision}.")


@db.command("check")
def check_command() -> None:
    """Tell whether the schema is the one that this version needs."""
    try:
        check(_admin_url())
    except CommandError as error:
        raise click.ClickException(f"{error} Run: hango db upgrade") from error
    click.echo("The schema is up to date.")


def _admin_url() -> str:
    try:
        return Settings.from_environment().admin_database_url
    except BadSettings as error:
        raise click.ClickException(str(error)) from error


def _config(admin_url: str) -> Config:
    config = Config(_MIGRATIONS / "alembic.ini")
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["admin_url"] = admin_url
    return config
