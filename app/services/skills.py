"""Skills of an agent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from app.domain.audit import Action
from app.domain.ports import Skill
from app.errors import BadParameter, Fault
from app.store.transaction import Transaction

# The names of the Agent Skills format: small letters and digits, single hyphens between them.
_NAME = re.compile(r"(?=.{1,64}\Z)[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)


def write(tx: Transaction, agent_id: UUID, name: str, content: Mapping[str, Any]) -> Skill:
    """Store a skill, new or in the place of the one with this name.

    Raises:
        NotFound: the agent is not the principal's to change.
        BadParameter: no skill may have this name.
    """
    if not _NAME.fullmatch(name):
        advice = "At most 64 small letters and digits, with single hyphens between them."
        raise BadParameter(faults=[Fault("name", "invalid", advice)])
    tx.agents.get_writable(agent_id)
    tools = content.get("allowed_tools")
    skill = tx.skills.put(
        agent_id,
        name,
        description=content["description"],
        body=content["body"],
        allowed_tools=None if tools is None else tuple(tools),
    )
    tx.audit.add(Action.SKILL_WRITE, "agent", agent_id, {"skill": name})
    return skill


def delete(tx: Transaction, agent_id: UUID, name: str) -> None:
    """Remove a skill.

    Raises:
        NotFound: the agent is not the principal's to change, or has no such skill.
    """
    tx.agents.get_writable(agent_id)
    tx.skills.delete(agent_id, name)
    tx.audit.add(Action.SKILL_DELETE, "agent", agent_id, {"skill": name})
