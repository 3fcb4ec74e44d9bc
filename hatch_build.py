"""Builds the admin page where that is needed, and puts it into the wheel and the sdist."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

DIST = "admin-web/dist"
IN_WHEEL = "app/static/admin"  # app/api/admin_page.py


class PageHook(BuildHookInterface):  # type: ignore[type-arg]  # of any builder
    """An sdist carries the page along, so that a wheel made from it needs no Node.js."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page, and name it among the files. An editable install finds it in its place.

        Raises what admin-web/build.py does.
        """
        if version == "editable":
            return
        root = Path(self.root)
        runpy.run_path(str(root / "admin-web" / "build.py"))["build"]()
        target = DIST if self.target_name == "sdist" else IN_WHEEL
        build_data["force_include"][str(root / DIST)] = target
