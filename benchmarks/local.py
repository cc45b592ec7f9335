"""Tokens per second of the language model that ships: through the app, and from its server asked directly.

python benchmarks/local.py [QUESTIONS]

Each question, whose answer is long, is asked twice in a row, by turns first through the app (with a journal, each
answer forced to the disk) and first directly (one HTTP request, the answer in one piece). Its prompt is read once
before, so that neither finds it cached by the other. The ratio is the result.
"""

from __future__ import annotations

import asyncio
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
from core.runs.run import Run, Session

THINGS = ("penguin", "bat", "salmon", "violin", "candle", "glacier", "lemon", "spider", "kettle", "tortoise")
TOKENS = 120


async def compare(path: Path, folder: Path, questions: int) -> list[tuple[float, float]]:
    """Tokens per second, through the app and directly, for each question."""
    model = local.LocalModel(f"local/{local.SHIPPED}", path)
    found: list[tuple[float, float]] = []

    def prompt_of(number: int) -> Prompt:
        words = f"Tell me the long story of a {THINGS[number % len(THINGS)]} and its {number} friends."
        return Prompt(id="story", hash="", messages=(Message(role="user", content=words),))

    with Journal(folder / "run.jsonl") as journal:

        def publish(event: Event) -> None:
            journal.append(event)

        run = Run(Session("run", lambda id: model, publish, settle=journal.settled), "case")

        async def through_app(number: int, tokens: int) -> float:
            prompt = prompt_of(number)
            began = time.perf_counter()
            answered = await run.ask("explainer", prompt, model.id, sampling=Sampling(max_tokens=tokens))
            return (answered.usage.completion_tokens or 0) / (time.perf_counter() - began)

        await through_app(-1, 1)
        config = local._server(path).connection.config
        async with httpx2.AsyncClient(base_url=config.base_url, timeout=600) as client:

            async def directly(number: int) -> float:
                body = {"messages": [turn.model_dump() for turn in prompt_of(number).messages], "max_tokens": TOKENS}
                began = time.perf_counter()
                reply = await client.post(
                    "/chat/completions",
                    json=body | {"temperature": 0.0},
                    headers={"Authorization": f"Bearer {config.secret}"},
                )
                tokens = reply.raise_for_status().json()["usage"]["completion_tokens"]
                return float(tokens / (time.perf_counter() - began))

            for number in range(questions):
                await through_app(number, 1)
                if number % 2:
                    direct = await directly(number)
                    found.append((await through_app(number, TOKENS), direct))
                else:
                    app = await through_app(number, TOKENS)
                    found.append((app, await directly(number)))
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
    app, direct = (median(one) for one in zip(*found, strict=True))
    ratio = median(mine / other for mine, other in found)
    print(
        f"{questions} answers of up to {TOKENS} tokens: {app:.1f} tokens/s through the app, {direct:.1f} directly; "
        f"app / direct {ratio:.3f} (median of pairs)"
    )


if __name__ == "__main__":
    main()
