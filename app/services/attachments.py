"""Attachments: files that people add to a session, stored byte for byte."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from app.domain.attachments import Attachment
from app.domain.audit import Action
from app.domain.ids import new_id
from app.domain.text import clean
from app.errors import BadBody, Fault, TooLarge
from app.store.transaction import Transaction

_MEDIA_TYPE = re.compile(r"[\w.+-]{1,63}/[\w.+-]{1,63}", re.ASCII)
_FOLDERS = re.compile(r".*[/\\]", re.DOTALL)
MAX_NAME_CHARACTERS = 255


@dataclass(frozen=True, slots=True)
class NewAttachment:
    """A file as it was sent."""

    name: str
    media_type: str  # "" or nonsense: unknown
    data: bytes

    @property
    def identity(self) -> dict[str, Any]:
        """What makes it the same file when it is sent again."""
        return {"name": self.name, "sha256": hashlib.sha256(self.data).hexdigest()}


def file_name(given: str | None) -> str:
    """A name that is safe to show and to save under: no folders, no control characters."""
    last = _FOLDERS.sub("", clean(given or ""))
    shown = "".join(each for each in last if each.isprintable()).strip(". ")
    return shown[-MAX_NAME_CHARACTERS:] or "file"


def add(tx: Transaction, session_id: UUID, new: NewAttachment, *, limit: int) -> Attachment:
    """Store an attachment of at most `limit` bytes.

    Raises:
        NotFound: the session is not the principal's to see.
        TooLarge: it has more bytes.
        BadBody: it has none.
    """
    if len(new.data) > limit:
        raise TooLarge(f"At most {limit} bytes.")
    if not new.data:
        raise BadBody(faults=[Fault("file", "empty", "The file is empty.")])
    session = tx.sessions.get(session_id)
    known = _MEDIA_TYPE.fullmatch(new.media_type)
    attachment = Attachment(
        id=new_id(),
        tenant_id=session.tenant_id,
        session_id=session.id,
        name=new.name,
        media_type=new.media_type if known else "application/octet-stream",
        size_bytes=len(new.data),
        sha256=hashlib.sha256(new.data).hexdigest(),
        created_at="",
    )
    stored = tx.attachments.add(attachment, new.data)
    tx.audit.add(
        Action.ATTACHMENT_CREATE, "attachment", stored.id, {"size_bytes": stored.size_bytes}
    )
    return stored


def delete(tx: Transaction, session_id: UUID, attachment_id: UUID) -> None:
    """Remove an attachment.

    Raises:
        NotFound: the session is not the principal's to see, or has no such attachment.
    """
    tx.attachments.delete(session_id, attachment_id)
    tx.audit.add(Action.ATTACHMENT_DELETE, "attachment", attachment_id, {})
