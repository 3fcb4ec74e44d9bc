"""The page's own unit tests, by Vitest."""

from __future__ import annotations

import subprocess

from tests.browser.chromium import BUILD, WEB


def test_the_decisions_of_the_page() -> None:
    BUILD["install"]()

    done = subprocess.run(
        BUILD["npm"]("test"), cwd=WEB, env=BUILD["environment"](), capture_output=True, text=True
    )

    assert done.returncode == 0, done.stdout + done.stderr
