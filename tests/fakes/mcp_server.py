"""A real MCP server over streamable HTTP, by the official package, on loopback."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp_types import ImageContent, TextContent

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@dataclass
class RunningMcp:
    """The server, and the headers of each request that it got."""

    port: int
    server: MCPServer
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"


def demo() -> MCPServer:
    """A server with tools of every kind that matters."""
    server = _quiet_server()

    @server.tool()
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @server.tool(name="say.it out loud")
    def say(words: str) -> str:
        """Its name is none that a provider takes."""
        return words.upper()

    @server.tool()
    def fail() -> str:
        """Always fails."""
        raise ValueError("inside")

    @server.tool()
    async def hang() -> str:
        """Never answers."""
        await anyio.sleep_forever()
        return ""

    @server.tool()
    def picture() -> list[TextContent | ImageContent]:
        """Answers with an image."""
        image = ImageContent(data=PIXEL, mime_type="image/png")
        return [TextContent(text="Here it is:"), image]

    @server.tool()
    def flood(size: int) -> str:
        """Answers with as many characters."""
        return "x" * size

    return server


def _quiet_server() -> MCPServer:
    """Without the handler that the package gives to the whole process's logs."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    server = MCPServer("demo")
    root.handlers[:] = handlers
    root.setLevel(level)
    return server


@contextmanager
def mcp_server(server: MCPServer | None = None, **options: Any) -> Iterator[RunningMcp]:
    """Run one until the block ends. `options`: of its application, such as `stateless_http`."""
    made = server or demo()
    listening = socket.create_server(("127.0.0.1", 0))
    running = RunningMcp(listening.getsockname()[1], made)
    app = made.streamable_http_app(**options)

    async def noting(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            running.headers.append({k.decode(): v.decode() for k, v in scope["headers"]})
        await app(scope, receive, send)

    config = uvicorn.Config(noting, log_config=None, lifespan="on", timeout_graceful_shutdown=0)
    serving = uvicorn.Server(config)
    thread = threading.Thread(target=serving.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not serving.started:
        time.sleep(0.005)
    try:
        yield running
    finally:
        serving.should_exit = True
        thread.join(5)
        listening.close()
