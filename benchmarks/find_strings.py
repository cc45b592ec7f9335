"""How many of the 1,000 published string functions do our atoms and compositions explain, and in what time?

python benchmarks/find_strings.py FIND_DIR [FIRST LAST]
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.labs.probe.functions.synthesis import hints, load_strings, synthesize


def main() -> None:
    if len(sys.argv) < 2:
        print("This needs the published set: give the folder that holds strings/.")
        return
    tasks = list(load_strings(Path(sys.argv[1])).values())
    first, last = (int(sys.argv[2]), int(sys.argv[3])) if len(sys.argv) > 3 else (0, len(tasks))
    explained, missed, slowest = 0, [], (0.0, "")
    start = time.perf_counter()
    for task in tasks[first:last]:
        began = time.perf_counter()
        if synthesize(task.pairs, hints(task)) is None:
            missed.append(task.id)
        else:
            explained += 1
        slowest = max(slowest, (time.perf_counter() - began, task.id))
    seconds = time.perf_counter() - start
    print(f"{explained} of {last - first} explained in {seconds:.1f} s; slowest {slowest[1]}, {slowest[0]:.2f} s")
    print("not explained:", ", ".join(missed) or "none")


if __name__ == "__main__":
    main()
