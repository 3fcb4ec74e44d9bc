"""What tests of overrides share: two histories, bodies to PUT, and what is read back."""

from __future__ import annotations

from tests.factories import Caller
from tests.history import assistant, tool_result, tool_use, user

SPREAD = [
    user("look"),
    tool_use("p1", "p2"),
    tool_result("p1"),
    tool_result("p2"),
    assistant("done"),
    user("next"),
]
TALK = [user("hi"), tool_use("t1"), tool_result("t1"), assistant("done"), user("and now?")]


def url(target: str, kind: str = "sessions") -> str:
    return f"/v1/{kind}/{target}/context-overrides"


def excluding(*parts: str) -> dict[str, object]:
    return {"overrides": [{"part": part, "action": "exclude"} for part in parts]}


def replacing(part: str, replacement: object) -> dict[str, object]:
    return {"overrides": [{"part": part, "action": "replace", "replacement": replacement}]}


def put(caller: Caller, target: str, body: object, kind: str = "sessions", **request: object):
    return caller.put(url(target, kind), json=body, **request)


def parts_of(reply):
    return {each["part"] for each in reply.json["overrides"]}


def context(caller: Caller, session: str):
    return caller.get(f"/v1/sessions/{session}/context").json


def by_id(snapshot):
    groups = snapshot["groups"].values()
    return {part["id"]: part for group in groups for part in group["parts"]}
