"""How many modules of `core` one question of *Ask* with one follow-up enters, from its specification to its verdict: a
robot answers, so that neither a network nor a browser takes part. A module counts if one of its functions is called,
not if it is only imported. At most 40 are wanted.

    python benchmarks/modules.py [--names]
"""

import os
import sys
import tempfile
import threading
from collections import Counter
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

WANTED = 40


def count_calls(does: Any) -> Counter[str]:
    """Count the calls of functions in each module of `core`, in all threads, while `does` runs."""
    calls: Counter[str] = Counter()

    def look(frame: FrameType, event: str, _: object) -> None:
        module = frame.f_globals.get("__name__", "")
        # The body of a class or module is run when it is imported, and is not optimized code.
        if event == "call" and module.startswith("core.") and frame.f_code.co_flags & CO_OPTIMIZED:
            calls[module] += 1

    threading.setprofile_all_threads(look) if sys.version_info >= (3, 12) else threading.setprofile(look)
    sys.setprofile(look)
    try:
        does()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


def main() -> None:
    """Ask once for what is imported on the way, then count."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EXPLAIN_HOME"] = folder
        from core import entry, notebook

        entry.labs()
        ask = notebook.function("ask")

        def one() -> object:
            return ask("Can a penguin fly?", model="control/fickle", counterfactuals=1)

        first, again = count_calls(one), count_calls(one)
    print(f"One question with one follow-up enters {len(first)} modules of core, at most {WANTED} are wanted.")
    print(f"Asked again, when all that is read once is read: {len(again)}.")
    if "--names" in sys.argv:
        for name, calls in first.most_common():
            print(f"{calls:6,}  {name}{'' if name in again else '  (first time only)'}")


if __name__ == "__main__":
    main()
