"""The hango command: a client of the HTTP API."""
