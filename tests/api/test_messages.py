"""Messages: what is stored, what is refused, and two writers at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from uuid import UUID

import psycopg2
import pytest

from app.runtime import Runtime
from app.services import messages
from cli.operate.embedded.postgres import PostgresUrls
from tests.api.problems import codes
from tests.factories import Caller, append, make_agent, make_session, until
from tests.history import assistant, call, text, tool_result, tool_use, user

CALL = call("t1")


def say(caller: Caller, session: str, role: str, content: object) -> object:
    return caller.post(f"/v1/sessions/{session}/messages", json={"role": role, "content": content})


def test_messages_come_back_numbered_and_counted(member: Caller) -> None:
    session = make_session(member)

    stored = append(member, session, user("hi"), assistant("hello"))

    assert [each["seq"] for each in stored] == [1, 2]
    assert all(each["tokens"] > 0 for each in stored)
    page = member.get(f"/v1/sessions/{session}/messages").json
    assert page == {"items": stored, "next": None}


def test_a_text_is_stored_as_one_text_block(member: Caller) -> None:
    session = make_session(member)

    reply = say(member, session, "user", "plain")

    assert reply.json["items"][0]["content"] == [text("plain")]


def test_content_comes_back_in_its_own_key_order_with_all_its_digits(member: Caller) -> None:
    session = make_session(member, None, user("go"))
    blocks = [
        {"type": "tool_use", "id": "t1", "name": "add", "input": {"z": 2**70, "a": 1.0, "é": "ü"}}
    ]

    reply = say(member, session, "assistant", blocks)

    assert '"input":{"z":1180591620717411303424,"a":1.0,"é":"ü"}' in reply.text


def test_messages_are_listed_in_pages(member: Caller) -> None:
    session = make_session(member, None, *[user("a"), assistant("b")] * 3)
    path = f"/v1/sessions/{session}/messages"

    first = member.get(f"{path}?limit=4").json
    second = member.get(f"{path}?limit=4&after={first['next']}").json

    assert [each["seq"] for each in first["items"] + second["items"]] == [1, 2, 3, 4, 5, 6]
    assert second["next"] is None


def test_a_list_of_messages_begins_where_it_is_asked_to(member: Caller) -> None:
    session = make_session(member, None, *[user("a"), assistant("b")] * 3)
    path = f"/v1/sessions/{session}/messages"

    page = member.get(f"{path}?from=4&limit=2").json
    rest = member.get(f"{path}?from=4&limit=2&after={page['next']}").json

    assert [each["seq"] for each in page["items"]] == [4, 5]
    assert [each["seq"] for each in rest["items"]] == [6]
    assert member.get(f"{path}?from=7").json == {"items": [], "next": None}
    assert codes(member.get(f"{path}?from=0"))[0][0] == "from"


def test_a_preview_of_a_result_names_the_tool_that_was_called_in_an_earlier_request(
    member: Caller,
) -> None:
    session = make_session(member, None, user("read it"), tool_use("t1"))

    stored = append(member, session, tool_result("t1"))

    assert stored[0]["preview"].startswith("[tool_result for read_file]")


REFUSED = {
    "starts with the assistant": ([assistant("hi")], "messages[0]", "first_not_user"),
    "a result for no call": (
        [user("hi"), assistant("ho"), tool_result("t9")],
        "messages[2]",
        "tool_result_orphan",
    ),
    "a call that nobody answered": (
        [user("hi"), tool_use("t1"), user("never mind")],
        "messages[1]",
        "tool_use_unanswered",
    ),
    "an id used twice": (
        [user("hi"), tool_use("t1"), tool_result("t1"), tool_use("t1")],
        "messages[3]",
        "tool_use_id_twice",
    ),
    "an empty text": ([("user", [text("")])], "messages[0].content[0].text", "text_empty"),
    "nothing": ([("user", [])], "messages[0].content", "content_empty"),
    "no blocks": ([("user", 5)], "messages[0].content", "field_invalid"),
}


@pytest.mark.parametrize(("turns", "at", "code"), REFUSED.values(), ids=REFUSED.keys())
def test_what_could_never_be_sent_is_refused_as_a_whole(
    member: Caller, turns: list[tuple[str, object]], at: str, code: str
) -> None:
    session = make_session(member)
    body = {"messages": [{"role": role, "content": content} for role, content in turns]}

    reply = member.post(f"/v1/sessions/{session}/messages", json=body)

    assert reply.status_code == 422
    assert reply.json["code"] == "history_refused"
    assert (at, code) in [(fault["at"], fault["code"]) for fault in reply.json["errors"]]
    assert member.get(f"/v1/sessions/{session}/messages").json["items"] == []


def test_what_is_stored_decides_what_may_follow(member: Caller) -> None:
    session = make_session(member, None, user("read it"), tool_use("t1"))

    refused = say(member, session, "user", "what now?")
    taken = say(member, session, "user", [tool_result("t1")[1][0], text("what now?")])
    again = say(member, session, "assistant", [CALL])

    assert refused.json["errors"][0]["code"] == "tool_use_unanswered"
    assert taken.status_code == 201
    assert again.json["errors"][0]["code"] == "tool_use_id_twice"


@pytest.mark.parametrize("role", ["system", "tool", "", None, 5, ["user"]])
def test_a_role_is_user_or_assistant(member: Caller, role: object) -> None:
    session = make_session(member)

    reply = say(member, session, role, "x")  # type: ignore[arg-type]

    assert reply.status_code == 422
    assert reply.json["errors"][0]["at"] == "role"


def test_nul_and_half_pairs_are_stored_as_replacement_characters(member: Caller) -> None:
    session = make_session(member)
    body = '{"role": "user", "content": "a\\u0000b \\ud83d c \\ud83d\\ude00 d \\\\u0000"}'

    reply = member.post(
        f"/v1/sessions/{session}/messages", data=body, content_type="application/json"
    )

    assert reply.status_code == 201, reply.text
    assert reply.json["items"][0]["content"][0]["text"] == "a\ufffdb \ufffd c 😀 d \\u0000"


@pytest.mark.committed
def test_twenty_writers_at_once_get_numbers_without_gaps(member: Caller) -> None:
    """D25"""
    session = make_session(member, make_agent(member))

    with ThreadPoolExecutor(20) as pool:
        replies = list(pool.map(lambda n: say(member, session, "user", f"note {n}"), range(20)))

    assert {reply.status_code for reply in replies} == {201}
    told = {reply.json["items"][0]["seq"]: reply.json["items"][0]["content"] for reply in replies}
    stored = member.get(f"/v1/sessions/{session}/messages").json["items"]
    assert [each["seq"] for each in stored] == list(range(1, 21))
    assert {each["seq"]: each["content"] for each in stored} == told
    assert member.get(f"/v1/sessions/{session}").json["message_count"] == 20


@pytest.mark.committed
def test_what_another_writer_is_storing_is_waited_for_and_then_counts(
    member: Caller, runtime: Runtime, postgres_urls: PostgresUrls
) -> None:
    session = make_session(member, None, user("read it"), tool_use("t1"))
    role, answer = tool_result("t1")

    with ThreadPoolExecutor(1) as pool:
        with runtime.database.transaction(member.principal) as tx:
            messages.append(tx, UUID(session), [{"role": role, "content": answer}])
            second = pool.submit(say, member, session, role, answer)
            until(lambda: somebody_waits(postgres_urls.admin_url))
        refused = second.result(20)

    assert refused.status_code == 422
    assert refused.json["errors"][0]["code"] == "tool_result_twice"
    assert len(member.get(f"/v1/sessions/{session}/messages").json["items"]) == 3


def somebody_waits(database_url: str) -> bool:
    """Whether a transaction waits for a row that another one holds."""
    with closing(psycopg2.connect(database_url)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
        return bool(cursor.fetchone()[0])
