"""/v1/agents/{id}/memory"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from app.api import etags, paging
from app.api.current import reading, transaction
from app.api.resource import Resource
from app.api.schemas.files import ContentSchema, FileListSchema, FileSchema
from app.api.schemas.pages import PageQuery
from app.domain.ports import MemoryFile
from app.services import memory

blueprint = Resource("memory", "Files that an agent remembers by; all lie under /memories/.")


@blueprint.get("/agents/<uuid:agent_id>/memory")
@blueprint.asks(PageQuery)
@blueprint.gives(200, FileListSchema)
def list_memory(query: dict[str, Any], agent_id: UUID) -> dict[str, Any]:
    """List an agent's memory files by path."""
    with reading() as tx:
        tx.agents.get(agent_id)
        files = tx.memory.of(agent_id)
    return paging.sliced(files, query, lambda file: file.path)


@blueprint.get("/agents/<uuid:agent_id>/memory/<rest:path>")
@blueprint.gives(200, FileSchema)
def get_memory(agent_id: UUID, path: str) -> MemoryFile:
    """Read a memory file."""
    with reading() as tx:
        tx.agents.get(agent_id)
        return etags.shown(tx.memory.get(agent_id, path))


@blueprint.put("/agents/<uuid:agent_id>/memory/<rest:path>")
@blueprint.takes(ContentSchema)
@blueprint.gives(200, FileSchema)
def put_memory(body: dict[str, Any], agent_id: UUID, path: str) -> MemoryFile:
    """Write a memory file. Its path is taken as it is: `//`, `.` and `..` are refused."""
    with transaction() as tx:
        return etags.shown(memory.write(tx, agent_id, path, body["content"]))


@blueprint.delete("/agents/<uuid:agent_id>/memory/<rest:path>")
@blueprint.gives(204)
def delete_memory(agent_id: UUID, path: str) -> None:
    """Delete a memory file."""
    with transaction() as tx:
        memory.delete(tx, agent_id, path)
