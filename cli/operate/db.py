"""`hango db`: bring the schema to a version, and tell whether it is there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit

import click
from alembic.util import CommandError

from app.errors import Failure
from app.settings import BadSettings, Settings
from app.store import migrate


def upgrade(admin_url: str, app_url: str, revision: str = "head") -> None:
    """Bring the schema up to `revision`, and give the role of `app_url` its rights."""
    migrate.upgrade(admin_url, _role(app_url), revision)


@click.group()
def db() -> None:
    """Migrate the database that HANGO_ADMIN_DATABASE_URL (or HANGO_DATABASE_URL) names."""


@db.command("upgrade")
@click.argument("revision", default="head")
def upgrade_command(revision: str) -> None:
    """Bring the schema up to REVISION (the newest by default)."""
    with told_in_one_line():
        settings = Settings.from_environment()
        upgrade(settings.admin_database_url, settings.database_url, revision)
        click.echo(f"The schema is at {migrate.current(settings.admin_database_url) or 'base'}.")


@db.command("downgrade")
@click.argument("revision")
def downgrade_command(revision: str) -> None:
    """Take the schema back to REVISION (base: nothing is left). Data of later ones are lost."""
    with told_in_one_line():
        settings = Settings.from_environment()
        migrate.downgrade(settings.admin_database_url, revision, _role(settings.database_url))
        click.echo(f"The schema is at {migrate.current(settings.admin_database_url) or 'base'}.")


@db.command("check")
def check_command() -> None:
    """Tell whether the schema is the one that this version needs."""
    with told_in_one_line():
        url = Settings.from_environment().admin_database_url
        if differences := migrate.check(url):
            listed = "\n".join(f"  {each}" for each in differences)
            raise click.ClickException(f"The schema differs; run `hango db upgrade`:\n{listed}")
        click.echo(f"The schema is up to date ({migrate.current(url)}).")


@contextmanager
def told_in_one_line() -> Iterator[None]:
    """What can go wrong with settings and database ends the command with one line."""
    try:
        yield
    except (BadSettings, CommandError) as error:
        raise click.ClickException(str(error)) from error
    except Failure as failure:
        text = f"{failure.title}. {failure.detail or ''}"
        raise click.ClickException(text.strip()) from failure


def _role(url: str) -> str | None:
    name = urlsplit(url).username
    return None if name is None else unquote(name)
