"""Ablations carried out in this process, step by step, by a provider that is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from app.domain.jsontext import dumps
from app.domain.responses import Response
from app.runtime import Runtime
from app.services import ablations
from tests.factories import make_session
from tests.fakes.providers import ScriptedProvider
from tests.fakes.strict_provider import Reply
from tests.history import assistant, tool_result, user
from tests.history import tool_use as calling
from tests.tries.conftest import Tries

TALK = [user("hi"), calling("t1"), tool_result("t1"), assistant("done"), user("and now?")]

Says = Callable[[str], Reply]  # what a provider answers to a body, as JSON text


class Listening(ScriptedProvider):
    """Answers by what it is sent, and is paid like Anthropic."""

    name = "anthropic"

    def __init__(self, says: Says) -> None:
        super().__init__()
        self._says = says

    def complete(self, body: Mapping[str, Any], **bounds: Any) -> Response:
        self.script.append(self._says(dumps(body)))
        return super().complete(body, **bounds)


@dataclass
class Ablations:
    """Alice's ablations, over a provider of their own."""

    tries: Tries
    provider: Listening
    session: str = ""
    calls: list[Any] = field(default_factory=list)

    @property
    def runtime(self) -> Runtime:
        return replace(self.tries.runtime, provider=self.provider)

    def ask(self, *parts: str, **body: Any) -> Any:
        self.session = self.session or make_session(self.tries.alice, None, *TALK)
        path = f"/v1/sessions/{self.session}/context/ablations"
        whole = {"parts": list(parts), "max_cost": {"micro_dollars": 10**9}, **body}
        return self.tries.alice.post(path, json=whole)

    def preview(self, *parts: str, **body: Any) -> Any:
        self.session = self.session or make_session(self.tries.alice, None, *TALK)
        path = f"/v1/sessions/{self.session}/context/ablations/preview"
        reply = self.tries.alice.post(path, json={"parts": list(parts), **body})
        assert reply.status_code == 200, reply.text
        return reply.json

    def begin(self, *parts: str, **body: Any) -> str:
        reply = self.ask(*parts, **body)
        assert reply.status_code == 202, reply.text
        return str(reply.json["id"])

    def get(self, ablation: str) -> Any:
        reply = self.tries.alice.get(f"/v1/ablations/{ablation}")
        assert reply.status_code == 200, reply.text
        return reply.json

    def queued(self, ablation: str) -> list[str]:
        """The tries that wait for a worker."""
        shown = self.get(ablation)
        rows = [*shown["baselines"], *shown["parts"]]
        return [row["try_id"] for row in rows if row["state"] == "queued" and not row["same_as"]]

    def step(self, ablation: str) -> None:
        """What the workers do with one try: carry it out, and start the next ones."""
        trial = self.queued(ablation)[0]
        self.tries.carry_out(trial, self.provider)
        ablations.carry_on(self.runtime, UUID(ablation))

    def ended(self, ablation: str) -> Any:
        while self.get(ablation)["status"] == "running":
            self.step(ablation)
        return self.get(ablation)
