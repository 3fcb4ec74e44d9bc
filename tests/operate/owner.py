"""Owns embedded servers as another process would: prints their addresses, waits to be ended.

usage: owner.py STATE ROOT_FOLDER [UID]
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from cli.operate.embedded.failures import EmbeddedFailure
from cli.operate.embedded.postgres import Postgres
from cli.operate.embedded.state import held_state
from cli.operate.embedded.valkey import Valkey


def main(state: Path, root_folder: Path) -> None:
    with ExitStack() as stack:
        stack.enter_context(held_state(state))
        postgres = Postgres(state, root_folder=root_folder)
        valkey = Valkey(state)
        processes = [postgres.start(), valkey.start()]
        stack.callback(postgres.stop)
        stack.callback(valkey.stop)
        told = asdict(postgres.urls()) | {"redis_url": valkey.url}
        print(json.dumps(told | {"pids": [each.pid for each in processes]}), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    if len(sys.argv) > 3:
        os.setgroups([])
        os.setgid(int(sys.argv[3]))
        os.setuid(int(sys.argv[3]))
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
    except EmbeddedFailure as failure:
        sys.exit(str(failure))
