"""/v1/agents"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from app.api import etags, idempotency, paging
from app.api.current import reading, runtime, transaction
from app.api.resource import Resource
from app.api.schemas.agents import (
    AgentChangeSchema,
    AgentCreateSchema,
    AgentPageSchema,
    AgentQuery,
    AgentSchema,
)
from app.domain.agents import Agent
from app.services import agents

blueprint = Resource("agents", "Named configurations: system prompt, model, tools, memory, skills.")


@blueprint.post("/agents")
@blueprint.takes(AgentCreateSchema)
@blueprint.gives(201, AgentSchema)
@blueprint.notes(parameters=[idempotency.HEADER])
def create_agent(body: dict[str, Any]) -> Agent:
    """Create an agent."""
    model = runtime().settings.default_model
    with transaction() as tx:
        agent = idempotency.once(
            tx, body, lambda: agents.create(tx, body, default_model=model), tx.agents.get
        )
    return etags.shown(agent)


@blueprint.get("/agents")
@blueprint.asks(AgentQuery)
@blueprint.gives(200, AgentPageSchema)
def list_agents(query: dict[str, Any]) -> dict[str, Any]:
    """List the agents that you may use, newest first."""
    after = paging.position(query, UUID)
    with reading() as tx:
        page = tx.agents.page(after, query["limit"], query=query["query"])
    return paging.body(page, query)


@blueprint.get("/agents/<uuid:agent_id>")
@blueprint.gives(200, AgentSchema)
def get_agent(agent_id: UUID) -> Agent:
    """Read an agent."""
    with reading() as tx:
        return etags.shown(tx.agents.get(agent_id))


@blueprint.patch("/agents/<uuid:agent_id>")
@blueprint.takes(AgentChangeSchema)
@blueprint.gives(200, AgentSchema)
@blueprint.notes(parameters=[etags.IF_MATCH])
def change_agent(body: dict[str, Any], agent_id: UUID) -> Agent:
    """Change some fields of an agent."""
    with transaction() as tx:
        agent = agents.lock(tx, agent_id)
        etags.check(agent.version)
        return etags.shown(agents.change(tx, agent, body))


@blueprint.delete("/agents/<uuid:agent_id>")
@blueprint.gives(204)
@blueprint.notes(parameters=[etags.IF_MATCH])
def delete_agent(agent_id: UUID) -> None:
    """Delete an agent that has no sessions, with its memory and skills."""
    with transaction() as tx:
        agent = agents.lock(tx, agent_id)
        etags.check(agent.version)
        agents.delete(tx, agent)
