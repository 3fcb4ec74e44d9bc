"""What thinking is bound to, noted when it is stored: a client's, and a run's."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from app.chain.middlewares.context_overrides import overrides_of
from app.chain.thinking import prefix_sha256
from app.domain.catalogue import facts_for
from app.domain.jsontext import loads
from app.domain.messages import MessageRef, NewMessage, StoredMessage
from app.domain.thinking import Thought, bare_sha256, prefixes, sendable
from app.services import context
from app.services.context import Assembled
from app.store.transaction import Transaction


def note(
    tx: Transaction, session_id: UUID, new: Sequence[NewMessage], stored: Sequence[StoredMessage]
) -> None:
    """Bind the thinking of messages that were just stored to what stands before it now.

    That is what it was made under, as far as anybody can tell: a client that appends the model's
    answer has sent what hango would send. Where that is wrong the provider says so, and the
    thinking is left out then.
    """
    made = [each for of, each in zip(new, stored, strict=True) if "thinking" in of.marks]
    if not made:
        return
    assembled = context.assemble(tx, session_id)
    request = assembled.request
    if not facts_for(request.model).preserved_thinking:
        return
    bares = {each.seq: bare_sha256(each.role, loads(each.content)) for each in made}
    old = tx.thinking.of(session_id)
    unbound = {seq: Thought(seq, sha256, None, None) for seq, sha256 in bares.items()}
    head = prefix_sha256(request, overrides_of(request.state))
    now = prefixes(head, request.messages, {**old, **unbound})
    # What was sent when the new messages were made: of the old thinking, what could go back then.
    sent = sendable([thought for seq, thought in old.items() if seq in now], now)
    thoughts = []
    for seq in sorted(bares):
        before = max((each for each in sent if each < seq), default=None)
        thoughts.append(Thought(seq, bares[seq], now.get(seq), before))
        sent.add(seq)
    tx.thinking.add(session_id, thoughts)


def note_sent(
    tx: Transaction, assembled: Assembled, made: Sequence[tuple[NewMessage, StoredMessage]]
) -> None:
    """Bind the thinking of a run's answer to what was really sent, and retire what was not.

    What a call has left out never goes back: with it, the new thinking would stand behind
    another prefix than its own.
    """
    request = assembled.request
    if not facts_for(request.model).preserved_thinking:
        return
    session_id = assembled.state.session_id
    _retire(tx, session_id, _holding(assembled.state.history.messages) - _sent(assembled))
    old = tx.thinking.of(session_id)
    head = prefix_sha256(request, overrides_of(request.state))
    newest = max(_sent(assembled), default=None)
    thoughts = []
    for new, stored in made:
        if "thinking" in new.marks:
            bare = bare_sha256(new.role, loads(new.content))
            thought = Thought(stored.seq, bare, None, newest)
            answer = MessageRef(stored.seq, new.role, 0, "", new.sha256, "", "", new.marks)
            now = prefixes(head, [*request.messages, answer], {**old, stored.seq: thought})
            thoughts.append(Thought(stored.seq, bare, now[stored.seq], newest))
    tx.thinking.add(session_id, thoughts)


def retire_all(tx: Transaction, assembled: Assembled) -> None:
    """The provider has refused the thinking of a request: none of it goes back."""
    _retire(tx, assembled.state.session_id, _holding(assembled.state.history.messages))


def _sent(assembled: Assembled) -> set[int]:
    return _holding(assembled.request.messages)


def _holding(messages: Sequence[MessageRef]) -> set[int]:
    return {each.seq for each in messages if "thinking" in each.marks and each.seq}


def _retire(tx: Transaction, session_id: UUID, seqs: Collection[int]) -> None:
    if seqs:
        tx.thinking.retire(session_id, seqs)
