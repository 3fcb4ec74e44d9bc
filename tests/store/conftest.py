"""What every test of the store begins with."""

from __future__ import annotations

import pytest

from app.store.transaction import Database
from tests.store.people import People, settle


@pytest.fixture
def people(database: Database) -> People:
    """Two tenants: Admin, Alice and Bob in one, Eve in the other."""
    return settle(database)
