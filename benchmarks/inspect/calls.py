"""The calls of a file, made by Inspect AI as one evaluation. benchmarks/study.py runs it where there is one.

Arguments: the file (a call a line, as JSON: `messages`, `sampling`), the server's address, the model, how many calls at
once, a folder for logs. Prints JSON: `calls` answered, `seconds`, `cpu` (of this process, in seconds).
"""

import json
import os
import sys
import time
from pathlib import Path

from inspect_ai import Task, eval, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser
from inspect_ai.solver import Generate, TaskState, solver

TURN = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}


@solver
def ask():
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        sampling = dict(state.metadata["sampling"])
        stop = {"stop_seqs": sampling.pop("stop")} if "stop" in sampling else {}
        return await generate(state, cache=False, **sampling, **stop)

    return solve


@task
def calls(samples: list[Sample]) -> Task:
    return Task(dataset=MemoryDataset(samples), solver=ask())


def main() -> None:
    file, url, model, at_once, folder = sys.argv[1:]
    os.environ |= {"STUB_BASE_URL": url, "STUB_API_KEY": "none"}
    given = [json.loads(line) for line in Path(file).read_text(encoding="utf-8").splitlines()]
    samples = [
        Sample(
            input=[TURN[turn["role"]](content=turn["content"]) for turn in one["messages"]],
            metadata={"sampling": one["sampling"]},
        )
        for one in given
    ]

    def measured(samples: list[Sample]) -> tuple[int, float, float]:
        began, cpu = time.perf_counter(), time.process_time()
        (log,) = eval(
            calls(samples),
            model=f"openai-api/stub/{model}",
            max_connections=int(at_once),
            max_samples=4 * int(at_once),
            log_dir=folder,
            display="none",
        )
        assert log.status == "success", log.error
        answered = sum(bool(sample.output.completion) for sample in log.samples or [])
        return answered, time.perf_counter() - began, time.process_time() - cpu

    # What is loaded on first use is not what is measured.
    measured(samples[:8])
    answered, seconds, cpu = measured(samples)
    print(json.dumps({"calls": answered, "seconds": seconds, "cpu": cpu}))


if __name__ == "__main__":
    main()
