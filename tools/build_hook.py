"""Puts Preact, the one JavaScript file that the viewer draws with, into the wheel."""

from importlib import metadata
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PreactHook(BuildHookInterface):
    """Puts Preact's one file into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        files = metadata.files("datasette-preact") or ()
        preact = next(Path(str(file.locate())) for file in files if file.name.startswith("preact-"))
        build_data["force_include"][str(preact)] = f"explain_yourself/core/report/viewer/{preact.name}"
