"""How many small changes of the code do the tests notice? Prints the share of each chosen file, then who survived.

python benchmarks/mutants/run.py [WORD ...] [--sample N] [--seed N] [--seconds N]

A WORD keeps the files that have it in their path. Cosmic Ray makes the changes, in a copy of the tracked files; which
files, and which tests have to notice, mutants.toml says. A mutant that takes three times as long as the tests did, and
ten seconds, counts as noticed.
"""

import argparse
import ast
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from itertools import islice
from pathlib import Path

from cosmic_ray.commands.init import init
from cosmic_ray.mutating import mutate_and_test, mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import MutationSpec, TestOutcome

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def copied(to: Path) -> None:
    """The tracked files, as they stand in the working folder."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


def drawn(file: Path, sample: int, seed: int, without: list[str]) -> tuple[list[MutationSpec], int]:
    """At most `sample` of the file's mutants, and how many there are. @overload is for the type checker alone; what is
    no Python, as `a / b` where `**b` stood in a call, nobody has to notice.
    """
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    database = WorkDB(":memory:", WorkDB.Mode.create)
    try:
        init([file], database, {})
        every = [mutation for item in database.work_items for mutation in item.mutations]
    finally:
        database.close()
    every = [one for one in every if not one.operator_name.startswith(tuple(without))]
    every = [one for one in every if lines[one.start_pos[0] - 1].strip() != "@overload"]
    every.sort(key=lambda one: (one.operator_name, one.occurrence))
    random.Random(f"{seed} {file}").shuffle(every)
    return list(islice((one for one in every if is_python(text, one)), sample)), len(every)


def is_python(text: str, mutation: MutationSpec) -> bool:
    """Whether the text is still Python once it is changed."""
    changed = mutate_code(text, get_operator(mutation.operator_name)(**mutation.operator_args), mutation.occurrence)
    try:
        ast.parse(changed or "")
    except SyntaxError:
        return False
    return bool(changed)


def share_of(file: str, tests: list[str], settings: argparse.Namespace, without: list[str]) -> tuple[int, int]:
    options = ["-x", "-q", "-p", "no:cacheprovider", "-m", "not local_model and not thorough"]
    command = shlex.join([sys.executable, "-m", "pytest", *options, *tests])
    began = time.monotonic()
    baseline = subprocess.run(shlex.split(command), capture_output=True, text=True)
    if baseline.returncode:
        print(f"{file}: its tests fail without any change\n{baseline.stdout[-2000:]}")
        return 0, 0
    patience = 3 * (time.monotonic() - began) + 10
    chosen, of = drawn(Path(file), settings.sample, settings.seed, without)
    noticed, tried, survived = 0, 0, []
    end = time.monotonic() + settings.seconds
    for mutation in chosen:
        if time.monotonic() > end:
            break
        result = mutate_and_test([mutation], command, patience)
        tried += 1
        if result.test_outcome == TestOutcome.SURVIVED:
            survived.append(f"  line {mutation.start_pos[0]}\n{result.diff}")
        else:
            noticed += 1
    share = f"{noticed / tried:.0%}" if tried else "nothing tried"
    print(f"{file}: {share}, {noticed} of {tried} noticed ({of} possible)", flush=True)
    print("\n".join(survived), flush=True)
    return noticed, tried


def main() -> int:
    config = tomllib.loads((HERE / "mutants.toml").read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD")
    for name in ("sample", "seed", "seconds"):
        parser.add_argument(f"--{name}", type=int, default=config[name])
    settings = parser.parse_args()
    files = {
        file: tests
        for file, tests in config["files"].items()
        if not settings.words or any(word in file for word in settings.words)
    }
    shares = {}
    with tempfile.TemporaryDirectory() as folder:
        copied(Path(folder))
        os.chdir(folder)
        for file, tests in files.items():
            shares[file] = share_of(file, tests, settings, config["without"])
        os.chdir(ROOT)
    print("\nnoticed  tried  share  file")
    for file, (noticed, tried) in shares.items():
        share = f"{noticed / tried:5.0%}" if tried else "    -"
        below = "" if tried and noticed >= config["goal"] * tried else f"  below {config['goal']:.0%}"
        print(f"{noticed:7}  {tried:5}  {share}  {file}{below}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
