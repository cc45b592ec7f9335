"""How often does the `fit` baseline succeed (normalized error below 0.1) on generated numeric functions, kind by kind?

python benchmarks/find_fit.py [NUMBER_A_KIND] [paper|repaired] [KIND ...]
"""

import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.labs.probe.claim_extraction import claimed_intervals, noise_identified
from core.labs.probe.evaluate import GRID, interval_iou, nmse, noise_floor
from core.labs.probe.functions import numeric
from core.labs.probe.functions.numeric import ATOMS, NumericFunction
from core.labs.probe.functions.source import PARTS, SINGLES, draw_corruption, draw_noise, draw_numeric_atom
from core.labs.probe.interpreters.fit import fit_numeric
from core.sandbox.sandbox import evaluate

KINDS = (*SINGLES, "sum", "product", "corrupted", "noised", "mlp")


def draw(kind: str, rng: np.random.Generator, rules: str) -> NumericFunction:
    """One function of a kind: a clean atom, a composition, or any atom corrupted, noised or approximated."""
    if kind in ("sum", "product"):
        atoms = tuple(draw_numeric_atom(str(rng.choice(PARTS)), rng, rules) for _ in range(2))
        return NumericFunction(id=kind, atoms=atoms, operation=kind, rules=rules)
    name = kind if kind in SINGLES else str(rng.choice(SINGLES))
    low, high = ATOMS[name].domain
    f = NumericFunction(id=kind, atoms=(draw_numeric_atom(name, rng, rules),), low=low, high=high, rules=rules)
    if kind == "corrupted":
        return f.model_copy(update={"corruption": draw_corruption(f, rng, rules)})
    if kind == "noised":
        return f.model_copy(update={"noise": draw_noise(f, rng, rules)})
    return f.model_copy(update={"mlp": numeric.fit(f.ideal, low, high, rng)}) if kind == "mlp" else f


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    rules = sys.argv[2] if len(sys.argv) > 2 else "repaired"
    chosen = sys.argv[3:] or KINDS
    total, wins = 0, 0
    for kind in chosen:
        rng = np.random.default_rng([7, KINDS.index(kind)])
        start, won, possible, families, ious, noises, unscored = time.perf_counter(), 0, 0, Counter(), [], [], Counter()
        for _ in range(number):
            f = draw(kind, rng, rules)
            finding = fit_numeric(lambda xs, f=f, rng=rng: [f(x, rng) for x in xs])
            result = evaluate(finding.code, GRID.tolist(), rules=rules)
            score = nmse(f.observe(GRID, rng), result.values, rules)
            won += score.success
            families[finding.family] += 1
            if score.value is None:
                unscored[str(score.reason)[:40]] += 1
            floor = noise_floor(f, rng, 3, f.rules)
            possible += floor is not None and floor < 0.1
            if f.corruption is not None:
                ious.append(interval_iou(f.corruption, claimed_intervals(finding.domain)) or 0.0)
            if f.noise is not None:
                noises.append(noise_identified(f, finding.description))
        seconds = time.perf_counter() - start
        extra = f"  interval overlap {np.mean(ious):.2f}" if ious else ""
        extra += f"  noise named {np.mean(noises):.2f}" if noises else ""
        seen = ", ".join(f"{name} {count}" for name, count in families.most_common(4))
        print(
            f"{kind:12} {won:3}/{number} (winnable {possible})  {seconds / number:.2f} s each  "
            f"{seen}{extra}  {dict(unscored) or ''}"
        )
        total, wins = total + number, wins + won
    print(f"all kinds    {wins}/{total}")


if __name__ == "__main__":
    main()
