"""What generality (cosine) of many explanations takes, beside encoding their distinct texts once in one batch.

python benchmarks/generality.py [EXPLANATIONS] [ROUNDS]

Ten counterfactuals each, and as many explanations at once as a study on few processors has threads for. Processor time
of the encoder's process and of this one together is the measure; the ratio is the result.
"""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.labs.ask import metrics
from core.text import embed

TEXTS = 10
AT_ONCE = 6
THINGS = ("penguin", "bat", "salmon", "violin", "candle", "glacier", "lemon", "spider", "kettle", "tortoise")
PLACES = ("a hill", "the old harbour", "a frozen lake", "the market at noon", "an empty theatre", "a field of barley")


def main() -> None:
    explanations = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    try:
        encoder = embed.encoder()
    except embed.NoEncoderError as error:
        print(error)
        return
    metrics.generality(["What is loaded on first use", "is not what is measured", "here"], similarity="cosine")
    others = psutil.Process().children(recursive=True)

    def now() -> float:
        return time.process_time() + sum(sum(child.cpu_times()[:2]) for child in others)

    ratios, seconds = [], []
    for turn in range(rounds):
        # New words each time: the encoder remembers what it has encoded.
        texts = [
            [
                f"Could {THINGS[k]} number {turn}{n} cross {PLACES[(n + k) % len(PLACES)]} in {k + 2} hours?"
                for k in range(TEXTS)
            ]
            for n in range(2 * explanations)
        ]
        mine, its = texts[:explanations], texts[explanations:]
        began = now()
        with ThreadPoolExecutor(AT_ONCE) as threads:
            list(threads.map(lambda one: metrics.generality(one, similarity="cosine"), mine))
        between = now()
        encoder.encode([text for one in its for text in one])
        ended = now()
        ratios.append((between - began) / (ended - between))
        seconds.append((between - began, ended - between))
    ours, once = (median(one) for one in zip(*seconds, strict=True))
    print(
        f"generality of {explanations} x {TEXTS} texts {ours:.2f} s of processor, encoding them once {once:.2f} s: "
        f"{median(ratios):.2f} x (median of {rounds})"
    )


if __name__ == "__main__":
    main()
