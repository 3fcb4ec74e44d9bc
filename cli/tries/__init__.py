"""Tries: one real model call without some parts, or with others in their place."""
