"""What a number of new questions can show of one explanation in *Ask*: how often it is said to have helped, and how
often an explanation is red, by the predictor's qualification test.

    python -m benchmarks.ask_power [TRIES]      # a minute for 1,000 tries
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.labs.ask import baselines
from core.labs.ask.tasks import TRIES, recognised
from core.statistics.intervals import most_errors, tail_of_binomial

NUMBERS = (8, 10, 12, 16, 20, 24, 30, 40, 60)
PRECISIONS = (0.8, 0.9, 1.0)
BASELINES = (0.5, 0.6, 0.7)
TESTS = ((0, 40), (2, 40), (4, 40), (7, 40), (0, 11), (2, 11))
"""Qualification tests: how many guesses were wrong, of how many."""


def red(missed: float, n: int, limit: float) -> float:
    """How often `n` predictions that each miss at a rate are red beside an error rate of at most `limit`."""
    least = next((k for k in range(n + 1) if baselines.Misses(k, n, limit).are_too_many), n + 1)
    return tail_of_binomial(least, n, missed)


def main() -> None:
    """Print both tables, in the form of docs/measuring.md."""
    tries = int(sys.argv[1]) if len(sys.argv) > 1 else TRIES
    print(f"| precision, baseline | {' | '.join(map(str, NUMBERS))} |\n|---|{'---|' * len(NUMBERS)}")
    for precision in PRECISIONS:
        for baseline in BASELINES:
            row = (f"{recognised(n, precision, baseline, tries):.2f}" for n in NUMBERS)
            print(f"| {precision}, {baseline} | {' | '.join(row)} |")
    print(f"\n| wrong in the test | {' | '.join(map(str, NUMBERS))} |\n|---|{'---|' * len(NUMBERS)}")
    for wrong, of in TESTS:
        limit = most_errors(wrong, of)
        row = (f"{red(0.5, n, limit):.2f}" for n in NUMBERS)
        print(f"| {wrong} of {of} (up to {limit:.0%}) | {' | '.join(row)} |")


if __name__ == "__main__":
    main()
