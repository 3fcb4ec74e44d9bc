"""Units of work: all or nothing, one snapshot for reads, and no error text with content in it."""

from __future__ import annotations

import logging
from contextlib import closing, suppress
from dataclasses import replace
from datetime import timedelta

import psycopg2
import pytest
from sqlalchemy import exc, text

from app.domain.audit import Action, Origin
from app.domain.jobs import Job
from app.errors import DatabaseUnavailable
from app.settings import Secret
from app.store.engine import StatementFailed, begun, make_engine, translated
from app.store.transaction import Database
from tests.store.people import COUNTED_BY, a_message, a_session, an_agent, with_session


def test_what_a_failed_transaction_did_is_undone(database, people):
    with suppress(ZeroDivisionError), database.transaction(people.alice) as tx:
        tx.agents.add(an_agent(people.alice))
        raise ZeroDivisionError

    with database.reading(people.alice) as tx:
        assert tx.agents.page(None, 50).items == []


def test_jobs_are_sent_after_the_commit_and_only_then(settings, database, people):
    seen = []

    def sent(jobs):
        with database.reading(people.alice) as tx:
            seen.append((list(jobs), len(tx.agents.page(None, 50).items)))

    sending = Database(settings, on_commit=sent)
    with sending.transaction(people.alice) as tx:
        tx.agents.add(an_agent(people.alice))
        tx.enqueue(Job.RECOUNT_MESSAGES, "one")
        assert seen == []
    with suppress(ZeroDivisionError), sending.transaction(people.alice) as tx:
        tx.enqueue(Job.RECOUNT_MESSAGES, "never")
        raise ZeroDivisionError
    with sending.transaction(people.alice) as tx:
        tx.agents.page(None, 50)
    sending.dispose()

    assert seen == [([(Job.RECOUNT_MESSAGES, "one")], 1)]


def test_reading_cannot_write(database, people):
    with pytest.raises(StatementFailed, match="25006"), database.reading(people.alice) as tx:
        tx.agents.add(an_agent(people.alice))


def test_reading_sees_one_moment(database, people):
    session = with_session(database, people.alice)
    with database.reading(people.alice) as reader:
        assert reader.messages.history(session.id, COUNTED_BY).messages == []
        with database.transaction(people.alice) as tx:
            tx.messages.append(session.id, [a_message()])

        assert reader.messages.history(session.id, COUNTED_BY).messages == []
        assert reader.sessions.get(session.id).last_seq == 0


def test_a_connection_keeps_nothing_of_the_principal_before(settings, people):
    one_connection = Database(replace(settings, database_pool=1))
    for principal in (people.alice, people.eve, people.bob):
        with one_connection.transaction(principal) as tx:
            assert tx.tenants.current().id == principal.tenant_id
            assert tx.users.get(principal.user_id).id == principal.user_id
        with one_connection.system() as tx:
            assert len(tx.tenants.all()) == 2
    one_connection.dispose()


def test_a_pooled_connection_goes_back_without_a_tenant(settings, people):
    one_connection = Database(replace(settings, database_pool=1))
    with one_connection.transaction(people.alice) as tx:
        assert tx.tenants.current()
    with one_connection.system() as tx:
        assert tx.tenants.all()

    with one_connection._engine.connect() as connection:
        left = connection.execute(
            text("SELECT current_setting('hango.tenant'), current_setting('hango.system')")
        ).one()
    one_connection.dispose()

    assert tuple(left) == ("", "")


def test_the_origin_ties_audit_to_logs(database, people):
    origin = Origin(request_id="r-1", trace_id="t-1", address="192.0.2.1")
    with database.transaction(people.alice, origin) as tx:
        tx.audit.add(Action.KEY_REVOKE, "key", "k-1", {"n": 1}, outcome="refused")

    with database.reading(people.admin) as tx:
        (event,) = tx.audit.page(None, 50, action="key.revoke").items
    assert (event.user_id, event.key_id) == (people.alice.user_id, people.alice.key_id)
    assert (event.request_id, event.trace_id, event.address) == ("r-1", "t-1", "192.0.2.1")
    assert (event.action, event.outcome, event.detail) == (Action.KEY_REVOKE, "refused", {"n": 1})


def test_audit_is_paged_newest_first(database, people):
    with database.transaction(people.alice) as tx:
        for number in range(5):
            tx.audit.add(Action.FILE_WRITE, "session", str(number), {})

    with database.reading(people.alice) as tx:
        first = tx.audit.page(None, 3)
        second = tx.audit.page(first.next, 3)
    assert [each.target_id for each in [*first.items, *second.items]] == ["4", "3", "2", "1", "0"]
    assert second.next is None


def test_after_a_restart_of_the_database_the_next_transaction_works(
    settings, people, postgres_urls
):
    database = Database(settings, application_name="hango-restarted")
    with database.reading(people.alice), database.reading(people.bob):
        pass
    end_connections_of("hango-restarted", postgres_urls.admin_url)

    with database.reading(people.alice) as tx:
        assert tx.tenants.current()
    database.dispose()


@pytest.mark.parametrize("hot", [False, True])
def test_a_connection_lost_on_the_way_is_unavailable(settings, people, postgres_urls, hot):
    database = Database(settings, application_name="hango-lost")
    session = with_session(database, people.alice)

    def use():
        with database.transaction(people.alice) as tx:
            end_connections_of("hango-lost", postgres_urls.admin_url)
            tx.messages.history(session.id, COUNTED_BY) if hot else tx.sessions.get(session.id)

    with pytest.raises(DatabaseUnavailable):
        use()

    with database.reading(people.alice) as tx:
        assert tx.sessions.get(session.id)
    database.dispose()


def test_a_database_that_is_down_is_unavailable(settings, people):
    nowhere = Secret("postgresql://hango:hunter2@127.0.0.1:1/hango")
    database = Database(replace(settings, database_url=nowhere))

    with pytest.raises(DatabaseUnavailable) as failed:
        database.answers()

    assert "hunter2" not in f"{failed.value!r} {failed.value.__dict__}"
    assert failed.value.__cause__ is None


def test_a_statement_that_takes_too_long_is_unavailable(settings, postgres_urls):
    impatient = replace(settings, statement_timeout=timedelta(milliseconds=50))
    engine = make_engine(impatient, "hango-impatient")

    with pytest.raises(DatabaseUnavailable), begun(engine, "SELECT 1", {}) as connection:
        connection.execute(text("SELECT pg_sleep(5)"))
    engine.dispose()


def test_no_connection_left_is_unavailable():
    with pytest.raises(DatabaseUnavailable), translated():
        raise exc.TimeoutError("QueuePool limit")


def test_a_broken_rule_is_told_without_the_values(database, people, caplog):
    canary = "canary-in-a-name" * 20
    caplog.set_level(logging.DEBUG)

    with pytest.raises(StatementFailed) as failed, database.transaction(people.alice) as tx:
        tx.agents.add(an_agent(people.alice, name=canary))

    assert str(failed.value) == "SQLSTATE 23514, table agents, constraint ck_agents_name_length"
    assert failed.value.code == "internal"
    assert canary not in f"{failed.value!r} {failed.value.__cause__} {caplog.text}"


def test_connections_bring_their_limits_and_name(settings, people, postgres_urls):
    database = Database(settings, application_name="a-test")
    with (
        database.reading(people.alice),
        closing(psycopg2.connect(postgres_urls.admin_url)) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'a-test'")
        assert cursor.fetchone() == (1,)
    with database._engine.connect() as connection:
        shown = {
            name: connection.exec_driver_sql(f"SHOW {name}").scalar()
            for name in (
                "statement_timeout",
                "lock_timeout",
                "idle_in_transaction_session_timeout",
                "timezone",
            )
        }
    database.dispose()

    assert shown == {
        "statement_timeout": "30s",
        "lock_timeout": "10s",
        "idle_in_transaction_session_timeout": "1min",
        "timezone": "UTC",
    }


def test_readiness_knows_the_schema(database, cluster, settings):
    empty = Database(replace(settings, database_url=Secret(cluster.create(migrated=False).app_url)))

    assert database.answers()
    assert database.is_current()
    assert empty.answers()
    assert not empty.is_current()
    empty.dispose()


def test_a_session_belongs_to_the_transaction_that_made_it_until_the_commit(database, people):
    with database.transaction(people.alice) as tx:
        agent = tx.agents.add(an_agent(people.alice))
        session = tx.sessions.add(a_session(people.alice, agent.id))
        with database.reading(people.alice) as other:
            assert other.sessions.page(None, 50).items == []

    with database.reading(people.alice) as tx:
        assert [each.id for each in tx.sessions.page(None, 50).items] == [session.id]


def end_connections_of(name, admin_url):
    with closing(psycopg2.connect(admin_url)) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE application_name = %s",
            [name],
        )
        assert cursor.rowcount >= 1
