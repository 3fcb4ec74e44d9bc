"""What stands behind `task`: helpers, each in a session and a run of its own.

A helper's run is carried out right where it is called, in the tool's thread of the worker that has
its parent: helpers that waited for workers could wait for those that wait for them. It is claimed
as it is stored, so that no other worker ever takes it up. When its worker dies, the sweep fails it
as it fails the parent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.domain.agents import Subagent
from app.domain.audit import Action
from app.domain.ids import new_id
from app.domain.jsontext import loads
from app.domain.messages import prepare
from app.domain.previews import preview_text
from app.domain.runs import Run
from app.domain.sessions import Session
from app.domain.tools import ToolCall, ToolOutcome
from app.domain.work import Claimed, Status
from app.errors import NotFound
from app.runtime import Runtime
from app.services.work import Watch, Writing, worker_name
from app.store.transaction import Transaction
from app.tokens.estimator import estimator_for

CarryOut = Callable[[Runtime, Claimed[Run], Watch], None]

TITLE_CHARACTERS = 80
ENDED_WELL = ("end_turn", "stop_sequence")

GONE = "There is no result: the helper's session was deleted."
INTERRUPTED = "There is no result: the helper's work was interrupted."
CANCELLED = "There is no result: the helper was cancelled."


class Helpers:
    """The `Delegate` of one run."""

    def __init__(  # noqa: PLR0913 (what a run is carried out with)
        self,
        runtime: Runtime,
        parent: Claimed[Run],
        watch: Watch,
        session: Session,
        depth: int,
        carry_out: CarryOut,
    ) -> None:
        """`session`: the parent's; `depth`: how many sessions stand above it."""
        self.depth = depth
        self._runtime = runtime
        self._parent = parent
        self._watch = watch
        self._session = session
        self._carry_out = carry_out

    def run(self, helper: Subagent, prompt: str, call: ToolCall) -> ToolOutcome:
        """Have `helper` answer `prompt`; its final message is what the call comes to.

        Raises:
            WorkLost: the parent is no longer this worker's.
        """
        writing = Writing(self._runtime, self._parent, self._watch)
        child = writing.surely(lambda tx: self._started(tx, helper, prompt, call))
        about = {
            "id": call.id,
            "helper": helper.name,
            "run_id": str(child.work.id),
            "session_id": str(child.work.session_id),
        }
        self._tell("task.started", about)
        if not child.work.status.is_final:
            self._carry_out(self._runtime, child, self._watch)
        status, outcome = self._outcome(child.work)
        self._tell("task.finished", about | {"status": status})
        return outcome

    def _started(
        self, tx: Transaction, helper: Subagent, prompt: str, call: ToolCall
    ) -> Claimed[Run]:
        """The helper's run; where the same was written before, that one.

        That happens when the answer to a commit was lost. Nobody else can have started it: while
        a turn's tools are under way, its run is never taken up by another worker.
        """
        tx.runs.hold(self._parent.held)
        if found := tx.runs.task_of(self._parent.work.id, call.id):
            return found
        title = f"{helper.name}: {preview_text(prompt, TITLE_CHARACTERS)}"
        session = tx.sessions.add_task(new_id(), self._session, call.id, helper, title)
        about = {"agent_id": str(session.agent_id), "parent_id": str(self._session.id)}
        tx.audit.add(Action.SESSION_CREATE, "session", session.id, about)
        estimator = estimator_for(tx.agents.used_by(session).model)
        (message,) = tx.messages.append(session.id, [prepare("user", prompt, estimator)])
        return tx.runs.start_task(
            new_id(),
            self._parent.held,
            call.id,
            session.id,
            message.seq,
            worker=worker_name(),
            lease=self._runtime.settings.run_lease,
        )

    def _outcome(self, child: Run) -> tuple[str, ToolOutcome]:
        """How it ended, and what the model is told."""
        try:
            with self._runtime.database.reading(self._parent.principal) as tx:
                run = tx.runs.get(child.id)
                text = _last_words(tx, run) if run.status is Status.SUCCEEDED else ""
        except NotFound:
            return "deleted", ToolOutcome(GONE, is_error=True)
        return run.status, _told(run, text)

    def _tell(self, kind: str, data: dict[str, Any]) -> None:
        self._runtime.events.tell(self._parent.work.id, kind, data)


def _last_words(tx: Transaction, run: Run) -> str:
    """The text of the run's last answer. Behind it there are at most results of its calls."""
    last = tx.messages.headers(run.session_id, run.seqs[1:][-2:], "")
    seqs = [each.seq for each in last if each.role == "assistant"]
    content = tx.messages.contents(run.session_id, seqs[-1:])
    blocks = [block for each in content.values() for block in loads(each)]
    return "".join(block["text"] for block in blocks if block.get("type") == "text")


def _told(run: Run, text: str) -> ToolOutcome:
    if run.status is Status.SUCCEEDED:
        if run.stop_reason in ENDED_WELL and text.strip():
            return ToolOutcome(text)
        cut = f"[The helper stopped early: {run.stop_reason}.]"
        return ToolOutcome(f"{text}\n\n{cut}".strip(), is_error=not text.strip())
    if run.status is Status.CANCELLED:
        return ToolOutcome(CANCELLED, is_error=True)
    if run.error_code is None:
        return ToolOutcome(INTERRUPTED, is_error=True)
    return ToolOutcome(f"The helper failed: {run.error_code}. {run.error_detail}", is_error=True)
