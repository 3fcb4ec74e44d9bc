"""/v1/agents/{id}/skills"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from app.api import etags, paging
from app.api.current import reading, transaction
from app.api.resource import Resource
from app.api.schemas.files import SkillListSchema, SkillSchema, SkillWriteSchema
from app.api.schemas.pages import PageQuery
from app.domain.ports import Skill
from app.services import skills

blueprint = Resource("skills", "Instructions that an agent reads when a task calls for them.")


@blueprint.get("/agents/<uuid:agent_id>/skills")
@blueprint.asks(PageQuery)
@blueprint.gives(200, SkillListSchema)
def list_skills(query: dict[str, Any], agent_id: UUID) -> dict[str, Any]:
    """List an agent's skills by name."""
    with reading() as tx:
        tx.agents.get(agent_id)
        found = tx.skills.of(agent_id)
    return paging.sliced(found, query, lambda skill: skill.name)


@blueprint.get("/agents/<uuid:agent_id>/skills/<name>")
@blueprint.gives(200, SkillSchema)
def get_skill(agent_id: UUID, name: str) -> Skill:
    """Read a skill in full."""
    with reading() as tx:
        tx.agents.get(agent_id)
        return etags.shown(tx.skills.get(agent_id, name))


@blueprint.put("/agents/<uuid:agent_id>/skills/<name>")
@blueprint.takes(SkillWriteSchema)
@blueprint.gives(200, SkillSchema)
def put_skill(body: dict[str, Any], agent_id: UUID, name: str) -> Skill:
    """Write a skill. A name has small letters, digits and single hyphens."""
    with transaction() as tx:
        return etags.shown(skills.write(tx, agent_id, name, body))


@blueprint.delete("/agents/<uuid:agent_id>/skills/<name>")
@blueprint.gives(204)
def delete_skill(agent_id: UUID, name: str) -> None:
    """Delete a skill."""
    with transaction() as tx:
        skills.delete(tx, agent_id, name)
