"""The real local model on ten real items of each data set of the paper: the ten shortest, for it reads slowly."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.datasets.registry import load
from core.labs.consistency.tasks import CheckSpec
from core.labs.consistency.words import verdict
from core.models import local
from tests.core.labs.consistency.test_measure import play

DATASETS = {
    "imdb": ("sentiment", "imdb"),
    "babi-1": ("multi_choice", "babi"),
    "mctest": ("multi_choice", "mctest"),
    "rte": ("entailment", "rte"),
}
TOKENS = 32
"""Where the paper allows 1024: this model rambles to the limit, and its answer comes first if it comes at all."""


@pytest.mark.local_model
def test_ten_real_items_of_each_dataset(datasets: Path) -> None:
    lines = [f"{'':<8}{'accuracy':>18}{'faithful':>18}{'random masks':>18}{'gain':>18}   seconds  set aside"]
    try:
        for name, (task, folder) in DATASETS.items():
            items = sorted(load(name, datasets / folder), key=lambda item: len(item.paragraph))[:10]
            spec = CheckSpec(
                task=task,
                items=tuple(items),
                explanations=("attribution",),
                controls=1,
                max_tokens=TOKENS,
                model=f"local/{local.SHIPPED}",
            )
            found, events = play(spec)
            assert found.told.status == "completed" and len(found.rows) == 10
            answered = [event for event in events if event.kind == "answered"]
            assert answered and all(event.text and event.usage.completion_tokens for event in answered)
            assert all(row.found is not None for row in found.rows.values())
            cells = []
            for metric in ("accuracy", "faithfulness", "faithfulness_control", "faithfulness_gain"):
                score = found.told.score(metric, "repaired")
                assert score is not None and 0 <= score.n <= score.of <= 10
                cells.append("undefined" if score.value is None else f"{score.value:.2f} ({score.n} of {score.of})")
            reasons = [row.dropped() for row in found.rows.values()]
            aside = ", ".join(sorted({drop.reason for drop in reasons if drop}))
            lines.append(
                f"{name:<8}" + "".join(f"{cell:>18}" for cell in cells) + f"{found.told.seconds:>10.0f}  {aside}"
            )
            assert verdict(found)
    finally:
        local.stop_all()
        print("\n" + "\n".join(lines))
