"""How many modules of `core` one question of *Ask* with one follow-up enters, from its specification to its verdict: a
robot answers, so that neither a network nor a browser takes part. A module counts if one of its functions is called,
not if it is only imported. At most 40 are wanted. The second figure is that of the notebook's function, which also
reads options, updates the index and reads the finished run.

    python benchmarks/modules.py [--names]
"""

import asyncio
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
    """Ask once for what is imported and read on the way, then count."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EXPLAIN_HOME"] = folder
        from core import entry, home, notebook
        from core.journal import Journal, path_for
        from core.runs.context import RunIO
        from core.runs.engine import RunRequest, execute, new_id

        lab, models = entry.labs()["simulatability"], entry.catalog()
        asked = {"model": "control/fickle", "counterfactuals": 1}

        def run() -> object:
            request = RunRequest(lab, lab.spec(question="Can a penguin fly?", **asked), new_id(lab.name))
            with Journal(path_for(home.journals(), request.id)) as journal:
                return asyncio.run(execute(request, RunIO(models.get, journal.append)))

        def in_notebook() -> object:
            return notebook.function("ask")("Can a penguin fly?", **asked)

        run(), in_notebook()
        calls, around = count_calls(run), count_calls(in_notebook)
    print(f"One question with one follow-up enters {len(calls)} modules of core, at most {WANTED} are wanted.")
    print(f"With the notebook's function and the index around it: {len(calls | around)}.")
    if "--names" in sys.argv:
        for name, count in (calls | around).most_common():
            print(f"{count:6,}  {name}{'' if name in calls else '  (around it)'}")


if __name__ == "__main__":
    main()
