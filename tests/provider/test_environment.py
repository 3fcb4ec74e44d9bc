"""Only the settings decide where a call goes, with which key and which headers."""

from __future__ import annotations

import subprocess
import sys

import pytest
from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from app.provider.anthropic import AnthropicProvider
from tests.fakes.strict_provider import Status, StrictProvider
from tests.provider.conftest import a_body, failure_of, within

NOWHERE = "http://127.0.0.1:1"

FOREIGN = {
    "ANTHROPIC_API_KEY": "sk-ant-of-somebody-else",
    "ANTHROPIC_AUTH_TOKEN": "token-of-somebody-else",
    "ANTHROPIC_BASE_URL": NOWHERE,
    "ANTHROPIC_CUSTOM_HEADERS": "Authorization: Bearer other\nx-other: 1\nHost: other\n"
    "anthropic-version: 1999-01-01\nanthropic-beta: other\nUser-Agent: other\nAccept: other/*\n"
    "content-length: 3\ntransfer-encoding: chunked",
    "ANTHROPIC_LOG": "debug",
    "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE": "content",
    "ANTHROPIC_PROFILE": "other",
    "HTTP_PROXY": NOWHERE,
    "http_proxy": NOWHERE,
    "ALL_PROXY": NOWHERE,
    "NETRC": "/nowhere",
    "SSL_CERT_FILE": "/nowhere",
    "SSLKEYLOGFILE": "/nowhere/at/all",
}

CALL = """
import sys, time
from app.provider.anthropic import AnthropicProvider
adapter = AnthropicProvider("sk-ant-own", sys.argv[1])
body = {"model": "claude-sonnet-5-5", "max_tokens": 9,
        "messages": [{"role": "user", "content": "canary-41"}]}
print(adapter.complete(body, deadline=time.monotonic() + 60).stop_reason)
adapter.close()
"""

WATCHED = """
from opentelemetry import trace

class Watching(trace.TracerProvider):
    def get_tracer(self, name, *_more, **_options):
        print("asked for spans by", name)
        return trace.NoOpTracer()

trace.set_tracer_provider(Watching())
"""

LOADED = """
import sys
import {module}
print([name for name in ("anthropic", "httpx2", "genai_prices") if name in sys.modules])
"""


def run(code: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={"PYTHONPATH": ".", **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )


def test_nothing_of_the_environment_reaches_the_provider_or_the_log(
    strict: StrictProvider,
) -> None:
    done = run(CALL, strict.url, **FOREIGN)

    headers = strict.calls[0].headers
    assert done.stdout == "end_turn\n"
    assert "canary-41" not in done.stderr
    assert headers["authorization"] == "Bearer sk-ant-own"
    assert headers["host"] == strict.url.removeprefix("http://")
    assert headers["anthropic-version"] == "2026-10-21"
    assert headers["user-agent"].startswith("Anthropic/Python")
    assert headers["accept"] == "text/event-stream"
    assert not headers.keys() & {"x-other", "x-api-key", "anthropic-beta", "transfer-encoding"}


@pytest.mark.parametrize("module", ["app.provider.choice", "app.provider.prices", "app.web"])
def test_a_process_that_makes_no_call_loads_no_sdk(module: str) -> None:
    assert run(LOADED.format(module=module)).stdout == "[]\n"


def test_no_trace_context_leaves(strict: StrictProvider, adapter: AnthropicProvider) -> None:
    span = NonRecordingSpan(SpanContext(2**100, 5, False, TraceFlags(TraceFlags.SAMPLED)))

    with trace.use_span(span):
        adapter.complete(a_body(), deadline=within(30))

    assert strict.refusals == []


def test_the_sdk_makes_no_spans_of_its_own(strict: StrictProvider) -> None:
    assert run(WATCHED + CALL, strict.url).stdout == "end_turn\n"


def test_a_redirect_is_not_followed(strict: StrictProvider, adapter: AnthropicProvider) -> None:
    strict.fail(Status(307, body="", headers={"location": f"{strict.url}/v1/messages"}))

    failure_of(lambda: adapter.complete(a_body(), deadline=within(30)))

    assert len(strict.calls) == 1


def test_the_key_is_in_no_text_about_the_adapter() -> None:
    assert "sk-secret" not in repr(AnthropicProvider("sk-secret", "https://example.invalid"))
