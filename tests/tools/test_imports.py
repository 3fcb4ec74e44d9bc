"""What is slow to import waits until a server outside is called."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import sys
import app.api.routes, app.runtime, app.services.execution
print(*({"mcp", "mcp_types", "httpx2", "httpcore2", "anyio", "cryptography"} & sys.modules.keys()))
"""


def test_a_process_that_calls_nobody_loads_no_client() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert loaded.stdout.split() == []
