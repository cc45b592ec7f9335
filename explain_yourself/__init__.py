"""Hold language models to their own explanations: the package that `pip install explain-yourself` installs.

`import explain_yourself as ey` is the app from Python: `ey.ask(…)` and a function for every other lab, `ey.items`,
`ey.model`, `ey.study` (`core.notebook`, docs/python.md). They are loaded when the first of them is used.

The repository keeps `core`, `pages` and `data` at its top; the build puts them below this package. In a checkout
`explain_yourself.core` is the same folder, found through `__path__`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

_HERE = Path(__file__).parent
_ROOT = _HERE if (_HERE / "core").is_dir() else _HERE.parent

if _ROOT != _HERE:
    __path__.append(str(_ROOT))


# Streamlit runs the app with the app's folder first on the path, where `core` and `pages` are top-level names.
_core = sys.modules.get("core")
_IS_TOP_LEVEL = _core is not None and str(_ROOT / "core") in map(str, getattr(_core, "__path__", ()))


class _OtherName(MetaPathFinder, Loader):
    """Makes `explain_yourself.inspect` the module `core.inspect_solvers` (a file of that name would hide Python's own
    `inspect` from the app), and `explain_yourself.core.x` the module `core.x`, where our `core` is at the top level.
    """

    _PARTS = (f"{__name__}.core", f"{__name__}.pages")

    def _module(self, name: str) -> str:
        """Return the module that has the name `name` too; an empty string if there is none."""
        if name == f"{__name__}.inspect":
            return f"{'' if _IS_TOP_LEVEL else f'{__name__}.'}core.inspect_solvers"
        is_ours = name.startswith(tuple(f"{part}." for part in self._PARTS)) or name in self._PARTS
        return name.removeprefix(f"{__name__}.") if is_ours and _IS_TOP_LEVEL else ""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if self._module(fullname) else None

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        # The import system returns what it finds under the name afterwards.
        sys.modules[module.__name__] = importlib.import_module(self._module(module.__name__))


sys.meta_path.insert(0, _OtherName())


_PARTS = frozenset({"core", "pages", "inspect"})
"""Parts of this package that the import system looks for as attributes first."""


def __getattr__(name: str) -> Any:
    """Return what `core.notebook` offers under the name, or the function of the lab of that name."""
    if name.startswith("_") or name in _PARTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    notebook = importlib.import_module(f"{__name__}.core.notebook")
    made = getattr(notebook, name) if name in notebook.NAMES else notebook.function(name)
    return made


def __dir__() -> list[str]:
    notebook = importlib.import_module(f"{__name__}.core.notebook")
    return sorted({*globals(), *notebook.NAMES, *notebook.functions()})
