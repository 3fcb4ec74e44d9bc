"""A Celery application with nothing of hango's: the yardstick of what a queue costs.

celery --app bench.bare worker --broker URL --result-backend URL
"""

from __future__ import annotations

import threading
from functools import cache

import anthropic
import celery
import httpx2

from bench.servers import MODEL

BODY = {
    "model": MODEL,
    "max_tokens": 100,
    "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello?"}]}],
}
KEY = "sk-bench"

app = celery.Celery("bare", set_as_current=False)
app.conf.update(worker_prefetch_multiplier=1, task_serializer="json", accept_content=["json"])

_making = threading.Lock()


@app.task(name="call")  # type: ignore[untyped-decorator]  # Celery has no types
def call(url: str) -> str:
    """One streamed call by the SDK, as somebody would write it at first."""
    with _making:
        made = client(url)
    return ask(made)


@app.task(name="nothing")  # type: ignore[untyped-decorator]
def nothing() -> None:
    """What the queue alone costs."""


@cache
def client(url: str) -> anthropic.Anthropic:
    """The one client of a process."""
    http = httpx2.Client(trust_env=False)
    return anthropic.Anthropic(api_key=KEY, base_url=url, max_retries=0, http_client=http)


def ask(made: anthropic.Anthropic) -> str:
    """The answer's text."""
    with made.messages.stream(**BODY) as stream:  # type: ignore[arg-type]
        return stream.get_final_text()
