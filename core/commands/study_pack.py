"""`study pack` and `study unpack`: a study's journals as one file, and as a file for each run again."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from core import entry
from core.commands.running import BAD_INPUT, DONE, Output, into_the_store
from core.study import packing, plan


def pack(file: Path, journals: Path | None, as_json: bool) -> int:
    """Pack the completed runs of the study; the exit code."""
    study = plan.read(file, entry.labs())
    folder = Output(journals).folder
    made = packing.pack(study, folder)
    into_the_store(folder)
    if as_json:
        print(json.dumps({**made._asdict(), "file": str(made.file)}))
        return DONE
    for why, runs in Counter(made.left_out.values()).items():
        print(f"Left out: {runs} of {len(study.all)} runs: {why}.", file=sys.stderr)
    if not made.runs:
        print("There is nothing to pack.")
        return BAD_INPUT
    print(f"{made.runs:,} runs in {made.file}: {_kb(made.bytes)} instead of {_kb(made.unpacked)}.")
    return DONE


def unpack(file: Path, journals: Path | None, as_json: bool) -> int:
    """Put the journals of the study's pack back, one file a run; the exit code."""
    folder = Output(journals).folder
    runs = packing.unpack(plan.read(file, entry.labs()), folder)
    into_the_store(folder)
    print(json.dumps({"runs": runs}) if as_json else f"{runs:,} runs unpacked into {folder}")
    return DONE


def _kb(size: int) -> str:
    return f"{size / 1000:,.0f} kB"
