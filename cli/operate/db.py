"""`hango db`: bring the schema to a version, and tell whether it is there."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

import click

from app.errors import Failure
from app.settings import BadSettings, Settings
from app.store import migrate


def upgrade(admin_url: str, app_url: str, revision: str = "head") -> None:
    """Bring the schema up to `revision`, and give the role of `app_url` its rights."""
    migrate.upgrade(admin_url, _role(app_url), revision)


@click.group()
def db() -> None:
    """Migrate the database that HANGO_ADMIN_DATABASE_URL names."""


@db.command("upgrade")
@click.argument("revision", default="head")
def upgrade_command(revision: str) -> None:
    """Bring the schema up to REVISION (the newest by default)."""
    settings = _settings()
    try:
        upgrade(settings.admin_database_url, settings.database_url, revision)
    except Failure as failure:
        raise click.ClickException(str(failure.detail or failure)) from failure
    click.echo(f"The schema is at {revision}.")


@db.command("downgrade")
@click.argument("revision")
def downgrade_command(revision: str) -> None:
    """Take the schema back to REVISION; data of later ones is lost."""
    settings = _settings()
    try:
        migrate.downgrade(settings.admin_database_url, revision, _role(settings.database_url))
    except Failure as failure:
        raise click.ClickException(str(failure.detail or failure)) from failure
    click.echo(f"The schema is at {revision}.")


@db.command("check")
def check_command() -> None:
    """Tell whether the schema is the one that this version needs."""
    try:
        differences = migrate.check(_settings().admin_database_url)
    except Failure as failure:
        raise click.ClickException(str(failure.detail or failure)) from failure
    if differences:
        raise click.ClickException(f"{'; '.join(differences)} Run: hango db upgrade")
    click.echo("The schema is up to date.")


def _role(url: str) -> str | None:
    name = urlsplit(url).username
    return None if name is None else unquote(name)


def _settings() -> Settings:
    try:
        return Settings.from_environment()
    except BadSettings as error:
        raise click.ClickException(str(error)) from error
