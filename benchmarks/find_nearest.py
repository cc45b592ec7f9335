"""How often does the `nearest` baseline find a concept that is made of other words than ours?

python benchmarks/find_nearest.py FIND_DIR

The black box is made of the published words for each concept, of which our lists have none. Measured: all concepts of
a single one in at least half the functions, at least one of two in at least 0.7.
"""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.labs.probe.functions.base import published_triplets
from core.labs.probe.functions.entities import EntityFunction, concepts, published_entities
from core.labs.probe.interpreters.nearest import CallBox, nearest
from core.text.embed import encoder

FUNCTIONS, PROBES = 12, 40


def main() -> None:
    if len(sys.argv) < 2:
        print("This needs the published set: give the folder that holds neurons_entities/.")
        return
    tests = published_triplets(Path(sys.argv[1]), "entities")
    places = {name: f"f{place:05d}" for place, name in enumerate(concepts())}

    def foreign(function: EntityFunction) -> CallBox:
        rows = []
        for name in function.names:
            true = [test.options[test.correct][0] for test in tests[places[name]]]
            mean = encoder().encode(true).mean(axis=0)
            rows.append(mean / np.linalg.norm(mean))

        async def probe(words: Sequence[str]) -> list[float | None]:
            cosines = np.stack(rows) @ encoder().encode(list(words)).T
            return [float(value) for value in (1 / (1 + np.exp(-(cosines - 0.4) / 0.03))).max(axis=0)]

        return probe

    functions, rng = list(published_entities(Path(sys.argv[1])).values()), np.random.default_rng(0)
    for kind, pool in (("single", functions[:140]), ("or", functions[140:])):
        chosen = [pool[place] for place in rng.choice(len(pool), FUNCTIONS, replace=False)]
        named = [asyncio.run(nearest(foreign(function), PROBES)).concepts for function in chosen]
        whole = [set(names) == set(function.names) for names, function in zip(named, chosen, strict=True)]
        part = [bool(set(names) & set(function.names)) for names, function in zip(named, chosen, strict=True)]
        print(f"{kind}, {PROBES} probes: all concepts {np.mean(whole):.2f}, at least one {np.mean(part):.2f}")


if __name__ == "__main__":
    main()
