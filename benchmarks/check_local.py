"""What the language model that ships comes to in Check: ten real items of each data set, the ten shortest.

python benchmarks/check_local.py DATASETS

DATASETS holds the folders imdb, babi, mctest and rte. Takes some three minutes on two cores.
"""

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core import entry
from core.datasets.registry import load
from core.events import Event
from core.labs.check.lab import LAB
from core.labs.check.tasks import CheckSpec
from core.models import local
from core.runs.engine import RunIO, RunRequest, execute
from core.transcript import transcript

DATASETS = {
    "imdb": ("sentiment", "imdb"),
    "babi-1": ("multi_choice", "babi"),
    "mctest": ("multi_choice", "mctest"),
    "rte": ("entailment", "rte"),
}
METRICS = ("accuracy", "faithfulness", "faithfulness_control", "faithfulness_gain")
TOKENS = 32
"""Where the paper allows 1024: this model rambles to the limit, and its answer comes first if it comes at all."""


def row(name: str, task: str, folder: Path) -> str:
    items = sorted(load(name, folder), key=lambda item: len(item.paragraph))[:10]
    spec = CheckSpec(
        task=task,
        items=tuple(items),
        explanations=("attribution",),
        controls=1,
        max_tokens=TOKENS,
        model=f"local/{local.SHIPPED}",
    )
    events: list[Event] = []
    asyncio.run(execute(RunRequest(LAB, spec, "r"), RunIO(entry.catalog().get, events.append)))
    state = transcript([event for event in events if event.kind != "token"])
    views = [LAB.view(state.case(case)) for case in state.cases]
    cells = []
    for metric in METRICS:
        score = state.score(metric, "repaired")
        undefined = score is None or score.value is None
        cells.append("undefined" if undefined else f"{score.value:.2f} ({score.n} of {score.of})")
    aside = ", ".join(sorted({drop.reason for view in views if (drop := view.dropped)}))
    return f"{name:<8}" + "".join(f"{cell:>18}" for cell in cells) + f"{state.seconds:>10.0f}  {aside}"


def main() -> None:
    if len(sys.argv) < 2:
        print("This needs real data: give the folder that holds imdb/, babi/, mctest/ and rte/.")
        return
    print(f"{'':<8}{'accuracy':>18}{'faithful':>18}{'random masks':>18}{'gain':>18}   seconds  set aside")
    try:
        for name, (task, folder) in DATASETS.items():
            print(row(name, task, Path(sys.argv[1]) / folder), flush=True)
    finally:
        local.stop_all()


if __name__ == "__main__":
    main()
