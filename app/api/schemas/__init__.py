"""Marshmallow schemas, one file a resource; nothing but shape."""
