"""`hango secrets`: whether the stored secrets can be opened, and sealing them with a new key."""

from __future__ import annotations

import click

from app.domain.sealed import SealedCounts
from app.settings import Settings
from app.store.transaction import Database
from cli.operate.db import told_in_one_line

BATCH = 200  # of secrets in one transaction


def reseal(database: Database, batch: int = BATCH) -> tuple[int, int]:
    """Seal with the newest key what an older one opens; how many were, and how many would not open.

    A transaction a batch: what was done stays done when the rest fails, and another call goes on.

    Raises:
        SecretsUnavailable: there is no key.
    """
    sealed = refused = 0
    last = None
    while True:
        with database.system() as tx:
            done = tx.secrets.reseal(last, batch)
        if done.last is None:
            return sealed, refused
        sealed, refused, last = sealed + done.sealed, refused + done.refused, done.last


@click.group()
def secrets() -> None:
    """Look after the keys of stored secrets: headers of tools, MCP servers and hooks."""


@secrets.command("check")
def check_command() -> None:
    """Tell how many stored secrets the present keys open. Exit code 1: some they do not."""
    with told_in_one_line():
        counts = _counts(_database())
    click.echo(f"{counts.newest} need HANGO_SECRET_KEY, {counts.older} HANGO_OLD_SECRET_KEY.")
    if counts.unreadable:
        raise click.ClickException(
            f"{counts.unreadable} need a key that is not set. Set the key that was used before as "
            "HANGO_OLD_SECRET_KEY, or give the headers anew."
        )
    if counts.older:
        click.echo("`hango secrets reseal` makes the old key needless.")


@secrets.command("reseal")
def reseal_command() -> None:
    """Seal every secret with HANGO_SECRET_KEY, so that the old key is not needed any more.

    It can be broken off and called again. Servers may run meanwhile, once they have both keys.
    """
    with told_in_one_line():
        database = _database()
        sealed, refused = reseal(database)
        counts = _counts(database)
    click.echo(f"{sealed} sealed anew; {counts.newest} need HANGO_SECRET_KEY now.")
    if refused or counts.unreadable:
        raise click.ClickException(
            f"{refused + counts.unreadable} could not be opened and were left as they are: they "
            "need another key, or were altered."
        )
    click.echo("HANGO_OLD_SECRET_KEY is not needed any more.")


def _database() -> Database:
    return Database(Settings.from_environment(), application_name="hango-secrets")


def _counts(database: Database) -> SealedCounts:
    with database.system() as tx:
        return tx.secrets.counts()
