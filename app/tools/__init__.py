"""Calls to servers outside: HTTP tools, MCP servers and whatever else reaches them."""
