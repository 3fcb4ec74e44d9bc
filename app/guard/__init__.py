"""Keeps a request inside its budget."""
