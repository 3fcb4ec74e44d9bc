"""One inspect in a process of its own: `python -m bench.peak`, told on stdin what to look at.

Prints the peak of its resident memory beyond what was there before, over the size of the answer.
Needs Linux: writing 5 to /proc/self/clear_refs starts the peak anew (man 5 proc).
"""

from __future__ import annotations

import gc
import json
import re
import sys
from pathlib import Path
from uuid import UUID

import msgspec

from app.domain.principals import Principal, Role
from app.services import context
from app.settings import Secret, Settings
from app.store.transaction import Database


def resident(name: str) -> int:
    """VmRSS (now) or VmHWM (the peak), in bytes."""
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    if found is None:
        raise RuntimeError(f"no {name} in /proc/self/status")
    return int(found[1]) * 1024


def main() -> None:
    """Measure once."""
    told = json.load(sys.stdin)
    database = Database(
        Settings(database_url=Secret(told["database_url"]), redis_url=Secret("redis://unused"))
    )
    principal = Principal(
        tenant_id=UUID(told["tenant"]), user_id=UUID(told["user"]), role=Role.MEMBER
    )

    def answer(session: str) -> bytes:
        with database.reading(principal) as tx:
            whole = context.inspect(tx, UUID(session))
        return msgspec.json.encode(whole)

    answer(told["warm_up"])
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    size = len(answer(told["session"]))
    print((resident("VmHWM") - before) / size)


if __name__ == "__main__":
    main()
