"""What Claude Code put into a request around a turn, as far as its records tell.

The form that was sent is not recorded, so that the text is an approximation and says so.
"""

from __future__ import annotations

from typing import Any

from app.domain.jsontext import dumps
from app.importers.report import Tally, kind

_SENT = {
    "file": "content",
    "edited_text_file": "snippet",
    "nested_memory": "content",
    "skill_listing": "content",
    "deferred_tools_delta": "addedNames",
    "mcp_instructions_delta": "addedBlocks",
    "task_reminder": "content",
    "todo_reminder": "content",
    "plan_mode": "planContent",
    "hook_additional_context": "content",
    "selected_lines_in_ide": "content",
    "opened_file_in_ide": "filename",
    "compact_file_reference": "filename",
    "date_change": "newDate",
}


def reminder(attachment: Any, tally: Tally) -> str | None:
    """The text that stands for the attachment in the conversation, if it was sent at all."""
    if not isinstance(attachment, dict):
        return None
    name = kind(attachment.get("type"))
    if name == "queued_command":
        return _typed(attachment.get("prompt"))
    field = _SENT.get(name)
    content = attachment.get(field) if field else None
    text = content if isinstance(content, str) else dumps(content) if content else ""
    if not text.strip():
        tally.drop(f"attachment:{name}")
        return None
    tally.keep(f"approximate_reminder:{name}")
    return f"<system-reminder>\n[{name}, as recorded]\n{text}\n</system-reminder>"


def _typed(prompt: Any) -> str | None:
    """What the user typed while a turn was running."""
    if isinstance(prompt, list):
        texts = (block.get("text") for block in prompt if isinstance(block, dict))
        prompt = "\n".join(text for text in texts if isinstance(text, str))
    return prompt if isinstance(prompt, str) and prompt.strip() else None
