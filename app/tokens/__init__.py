"""Counts tokens without asking the provider."""
