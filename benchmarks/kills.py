"""A study killed (-9) in mid-run, again and again: nothing answered is asked again, and the tables are the same.

`python benchmarks/kills.py 100` for a hundred kills; 10 otherwise.
"""

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.core.studies.killing import kill_again_and_again

if __name__ == "__main__":
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        homes = kill_again_and_again(Path(folder), kills)
    seconds = time.monotonic() - began
    print(f"{kills} kills in mid-run, over {homes} studies: nothing asked twice, equal tables ({seconds:.0f} s)")
