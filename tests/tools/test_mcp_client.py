"""MCP servers by the official client, against real ones and against servers that are none."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator

import pytest

from app.errors import AddressRefused, OutsideFailed, OutsideTooSlow
from app.tools.addresses import Reach
from app.tools.client import OutsideClient
from app.tools.mcp_client import NOT_MCP, Endpoint, call_tool, list_tools
from app.tools.transport import COMPRESSED, TOO_LARGE
from tests.fakes.mcp_server import PIXEL, RunningMcp, mcp_server
from tests.fakes.outside import Outside, outside

CLIENT = OutsideClient(Reach.of("127.0.0.1"))


@pytest.fixture(scope="module")
def server() -> Iterator[RunningMcp]:
    with mcp_server() as running:
        yield running


@pytest.fixture
def hostile() -> Iterator[Outside]:
    with outside() as running:
        yield running


def at(url: str, seconds: float = 5.0) -> Endpoint:
    return Endpoint(url, {"Authorization": "Bearer CANARY"}, seconds)


@pytest.mark.parametrize("options", [{}, {"json_response": True}, {"stateless_http": True}])
def test_tools_are_listed_and_called(options: dict[str, bool]) -> None:
    with mcp_server(**options) as running:
        told = {each.name: each for each in list_tools(CLIENT, at(running.url))}
        outcome = call_tool(CLIENT, at(running.url), "add", {"a": 2, "b": 3})

        assert told["add"].description == "Add two numbers."
        assert told["add"].input_schema["required"] == ["a", "b"]
        assert (outcome.content, outcome.is_error) == ("5", False)
        assert {each["authorization"] for each in running.headers} == {"Bearer CANARY"}


def test_a_failing_tool_is_an_outcome_and_no_failure(server: RunningMcp) -> None:
    failed = call_tool(CLIENT, at(server.url), "fail", {})
    wrong = call_tool(CLIENT, at(server.url), "add", {"a": "x"})
    absent = call_tool(CLIENT, at(server.url), "nope", {})

    assert [failed.is_error, wrong.is_error, absent.is_error] == [True, True, True]
    assert "nope" in str(absent.content)


def test_images_come_as_images(server: RunningMcp) -> None:
    outcome = call_tool(CLIENT, at(server.url), "picture", {})

    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    assert outcome.content == [
        {"type": "text", "text": "Here it is:"},
        {"type": "image", "source": source},
    ]


def test_a_tool_that_hangs_is_left_at_its_deadline(server: RunningMcp) -> None:
    began = time.monotonic()

    with pytest.raises(OutsideTooSlow):
        call_tool(CLIENT, at(server.url, 0.5), "hang", {})

    assert time.monotonic() - began < 10


def test_an_answer_beyond_all_measure_is_refused(server: RunningMcp) -> None:
    with pytest.raises(OutsideFailed) as caught:
        call_tool(CLIENT, at(server.url), "flood", {"size": 20_000_000})

    assert caught.value.detail in (TOO_LARGE, NOT_MCP)


@pytest.mark.parametrize(
    "path",
    [
        "/echo",
        "/trickle",
        "/endless",
        "/garbage",
        "/hang-up",
        "/half",
        "/redirect?to=http://127.0.0.1:1/",
    ],
)
def test_servers_that_do_not_speak_mcp(hostile: Outside, path: str) -> None:
    with pytest.raises(OutsideFailed) as caught:
        list_tools(CLIENT, at(hostile.url(path), 3.0))

    assert caught.value.detail in (NOT_MCP, TOO_LARGE)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_server_that_is_silent_is_left_at_the_deadline(hostile: Outside) -> None:
    with pytest.raises(OutsideTooSlow):
        list_tools(CLIENT, at(hostile.url("/silent"), 0.5))


def test_compression_is_refused_there_too(hostile: Outside) -> None:
    with pytest.raises(OutsideFailed) as caught:
        list_tools(CLIENT, at(hostile.url("/gzip")))

    assert caught.value.detail == COMPRESSED


def test_addresses_are_checked_there_too(server: RunningMcp) -> None:
    inside = OutsideClient(Reach(), look_up=lambda _: ["127.0.0.1"])

    for url in ("https://127.0.0.1/mcp", "https://evil.example/mcp", "http://example.com/mcp"):
        with pytest.raises(AddressRefused):
            list_tools(inside, at(url))


def test_a_redirect_to_another_place_is_not_followed(hostile: Outside, server: RunningMcp) -> None:
    with pytest.raises(OutsideFailed):
        list_tools(CLIENT, at(hostile.url(f"/redirect?to={server.url}")))

    assert len(hostile.received) >= 1


def test_nothing_of_it_is_logged(
    hostile: Outside, server: RunningMcp, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    list_tools(CLIENT, at(server.url))
    for path in ("/garbage?CANARY", "/echo?CANARY"):
        with pytest.raises(OutsideFailed):
            list_tools(CLIENT, at(hostile.url(path)))

    ours = [each for each in caplog.records if not each.name.startswith(("mcp.server", "uvicorn"))]
    assert "CANARY" not in "".join(each.getMessage() for each in ours)
    assert not any(each.exc_info for each in ours)
