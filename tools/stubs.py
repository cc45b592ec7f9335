"""Writes `explain_yourself/*.pyi` from the registry: `python -m tools.stubs`. A test compares them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core import notebook

_HEAD = '''"""Made from the registry by tools/stubs.py."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union

'''


def package() -> Iterator[str]:
    """Yield the stub of `explain_yourself`: the labs that come with the app, with their parameters."""
    yield _HEAD
    yield "".join(f"from .core.notebook import {name} as {name}\n" for name in notebook.NAMES)
    for name, lab in notebook.functions().items():
        yield f"\ndef {name}(\n    subject: str | Items | None = None,\n    /,\n    *,\n"
        yield from _listed(notebook.parameters(lab))
        yield f") -> Run:\n    {json.dumps(lab.question, ensure_ascii=False)}\n"


def solvers() -> Iterator[str]:
    """Yield the stub of `explain_yourself.inspect`: the solver and the scorer of each lab."""
    yield _HEAD
    yield "from inspect_ai.scorer import Metric, Scorer\nfrom inspect_ai.solver import Solver\n\n"
    yield "def figures() -> Metric: ...\n"
    for name, lab in notebook.sample_labs().items():
        for kind in ("solver", "scorer"):
            yield f"\ndef {name}_{kind}(\n    *,\n"
            yield from _listed(notebook.sample_parameters(lab))
            yield f") -> {kind.capitalize()}: ...\n"


def _listed(parameters: dict[str, notebook.Parameter]) -> Iterator[str]:
    for one in parameters.values():
        yield f"    {one.name}: {_written(one.type)} = None,\n"


def _written(kind: Any) -> str:
    """Return a type as it is written in a stub."""
    if kind is Any:
        return "Any"
    text = kind.__name__ if isinstance(kind, type) and not hasattr(kind, "__args__") else str(kind)
    for module in ("typing.", "collections.abc."):
        text = text.replace(module, "")
    return f"{text} | None"


_FOLDER = Path(__file__).resolve().parents[1] / "explain_yourself"
STUBS = {_FOLDER / "__init__.pyi": package, _FOLDER / "inspect.pyi": solvers}
"""What yields each stub."""

if __name__ == "__main__":
    for path, lines in STUBS.items():
        path.write_text("".join(lines()), encoding="utf-8")
