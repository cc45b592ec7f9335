"""Tokens per second of the language model that ships: through the app, and from its server asked directly.

python benchmarks/local.py [QUESTIONS]

Each question, whose answer is long, is asked four times in a row, each time another first: through the app as a study
asks, and with somebody who watches the answer come, with a journal and each answer forced to the disk; and directly by
one HTTP request, for the answer in one piece and in a stream. Its prompt is read once before, so that none finds it
cached by another. The ratios are the result, of like with like: each token that is read by itself takes processor
time, which the model lacks wherever other work waits for the processors.
"""

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import httpx2

from core.events import Event, Message, Prompt, Sampling
from core.journal import Journal
from core.models import local
from core.runs.context import CaseContext, RunState

THINGS = ("penguin", "bat", "salmon", "violin", "candle", "glacier", "lemon", "spider", "kettle", "tortoise")
TOKENS = 120


def prompt_of(number: int) -> Prompt:
    words = f"Tell me the long story of a {THINGS[number % len(THINGS)]} and its {number} friends."
    return Prompt(id="story", hash="", messages=(Message(role="user", content=words),))


async def compare(path: Path, folder: Path, questions: int) -> dict[str, list[tuple[float, float]]]:
    """Tokens per second, and milliseconds of this process a token, for each question asked in each way."""
    model = local.LocalModel(f"local/{local.SHIPPED}", path)
    config = (await asyncio.to_thread(local._server, path)).connection.config
    with Journal(folder / "run.jsonl") as journal:

        def publish(event: Event) -> None:
            journal.append(event)

        runs = {
            live: CaseContext(RunState("run", lambda id: model, publish, settle=journal.settled, live=live), "case")
            for live in (False, True)
        }

        async def through_app(number: int, live: bool) -> int:
            sampling = Sampling(max_tokens=TOKENS)
            answered = await runs[live].ask("explainer", prompt_of(number), model.id, sampling=sampling)
            return answered.usage.completion_tokens or 0

        # Connections that lie idle are closed by the server, at any moment.
        limits = httpx2.Limits(max_keepalive_connections=0)
        async with httpx2.AsyncClient(
            base_url=config.base_url,
            timeout=600,
            limits=limits,
            headers={"Authorization": f"Bearer {config.secret}"},
        ) as client:

            async def directly(number: int, stream: bool, tokens: int = TOKENS) -> int:
                turns = [turn.model_dump() for turn in prompt_of(number).messages]
                body = {"messages": turns, "max_tokens": tokens, "temperature": 0.0, "stream": stream}
                if not stream:
                    reply = await client.post("/chat/completions", json=body)
                    return int(reply.raise_for_status().json()["usage"]["completion_tokens"])
                body["stream_options"] = {"include_usage": True}
                async with client.stream("POST", "/chat/completions", json=body) as streamed:
                    lines = [line async for line in streamed.raise_for_status().aiter_lines() if line[6:7] == "{"]
                return int(json.loads(lines[-1].removeprefix("data: "))["usage"]["completion_tokens"])

            ways = {
                "as a study asks": lambda number: through_app(number, live=False),
                "directly, in one piece": lambda number: directly(number, stream=False),
                "with somebody who watches": lambda number: through_app(number, live=True),
                "directly, in a stream": lambda number: directly(number, stream=True),
            }
            names = list(ways)
            found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
            for number in range(questions):
                await directly(number, stream=False, tokens=1)
                first = number % len(names)
                for name in names[first:] + names[:first]:
                    own, began = time.process_time(), time.perf_counter()
                    tokens = await ways[name](number)
                    took = time.perf_counter() - began
                    found[name].append((tokens / took, (time.process_time() - own) / tokens * 1000))
    return found


def main() -> None:
    path = local.shipped_weights()
    if path is None:
        print(f"The model's weights are not installed: {local.SHIPPED_INSTALL}")
        return
    questions = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(compare(path, Path(folder), questions))
    local.stop_all()
    print(f"{questions} answers of up to {TOKENS} tokens")
    for name, rates in found.items():
        speed, own = (median(one) for one in zip(*rates, strict=True))
        print(f"{name}: {speed:.1f} tokens/s, {own:.2f} ms of processor a token on this side")
    app_whole, whole, app_stream, stream = ([rate for rate, _ in rates] for rates in found.values())
    for words, mine, others in (
        ("as a study asks / directly, in one piece", app_whole, whole),
        ("watched / directly, in a stream", app_stream, stream),
        ("watched / directly, in one piece", app_stream, whole),
    ):
        ratio = median(one / other for one, other in zip(mine, others, strict=True))
        print(f"{words}: {ratio:.3f} (median over the questions)")


if __name__ == "__main__":
    main()
