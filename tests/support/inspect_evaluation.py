"""Evaluations by Inspect itself, run by `tests/core/test_inspect_solvers.py` where inspect_ai is installed. The model
answers by its prompt alone, so that it can be asked with Inspect and without.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import explain_yourself as ey

QUESTIONS = [("Can a penguin fly?", "no"), ("Can a bat fly?", "yes"), ("Is a tomato a fruit?", "yes")]
FILMS = [
    ("We went on a Sunday. The film is a wonderful story, and the actors are fine people by the sea.", "positive"),
    ("We went by train because it was raining. The film is a dull story, and its end is awful to watch.", "negative"),
]
GOOD = ("wonderful", "fine")
BAD = ("dull", "awful")
ASK = {"counterfactuals": 4, "arms": ("explanation", "none"), "exam": False, "seed": 1}
CHECK = {"explanations": ("attribution", "redaction"), "controls": 2}


def answer(messages: Sequence[tuple[str, str]], seed: int | None = None) -> str:
    """Answer from the words of the prompt and the seed, always alike."""
    prompt = messages[-1][1]
    told = prompt.lower()
    if told == "mumble.":
        return "Hm, well, that is hard."
    if "paragraph" in told:
        return _about_film(prompt, told)
    wings = ("have wings", "have no wings")[sum(map(ord, prompt)) % 2]
    said = "no" if " no " in f" {wings} " or "kind 3" in told else "yes"
    before = messages[0][1] + (messages[1][1] if len(messages) > 1 else "")
    if "the robot:" in told and "starter question" in told and "follow-up" not in told:
        kind = (seed or 0) % 5
        return (
            f"Can an animal of kind {kind} fly?\nYour guess of the robot's answer: So the robot will likely answer no."
        )
    if "robot" in before.lower():
        return f"It says that they {wings}. So the robot will likely answer {said}."
    return f"Such animals {wings}. So the answer is {said}."


def _about_film(prompt: str, told: str) -> str:
    words = [word for word in (*GOOD, *BAD) if word in told]
    if "list" in told or "important" in told:
        return f"Important words: {', '.join(words) or 'none'}"
    if "redact the" in told:
        return f"Redacted paragraph: {re.sub('|'.join(words) or 'x^', '[REDACTED]', prompt)}"
    score = sum(word in told for word in GOOD) - sum(word in told for word in BAD)
    return "positive" if score > 0 else "negative" if score < 0 else "unknown"


def model() -> Any:
    """Return Inspect's mock model with these answers."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def generate(turns: Any, tools: Any, choice: Any, config: Any) -> Any:
        text = answer([(turn.role, turn.text) for turn in turns], config.seed)
        for stop in config.stop_seqs or ():
            text = text.partition(stop)[0]
        output = ModelOutput.from_content("mockllm/model", text)
        # Inspect would fetch a tokenizer to count them.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    return get_model("mockllm/model", custom_outputs=generate, memoize=False)


def evaluated(folder: Path, pairs: list[tuple[str, str]], solver: Any, scorer: Any, **limits: Any) -> Any:
    """Return the log of an evaluation that came to its end."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample

    samples = [Sample(input=text, target=label, id=str(number)) for number, (text, label) in enumerate(pairs)]
    task = Task(dataset=MemoryDataset(samples), solver=solver, scorer=scorer)
    [log] = eval(task, model=model(), log_dir=str(folder), display="none", **limits)
    assert log.status == "success", log.error.message
    return log


def has_figures_of(log: Any, run: ey.Run) -> None:
    """Assert that an evaluation has the figures of a run over the same items, by the updated parser."""
    rows = run.figures.query("rules == 'repaired' and item == '' and value == value")
    [score] = log.results.scores
    found = {name: one.value for name, one in score.metrics.items() if not name.endswith(("_low", "_high"))}
    assert {row.metric: row.value for row in rows.itertuples()} == found and len(found) > 3, (found, rows)
    print(f"{run.lab}: {len(found)} figures are equal, {found}")


def main(folder: Path) -> None:
    """Run all, and fail if a figure differs."""
    from inspect_ai.solver import generate

    from explain_yourself import inspect as measures

    @ey.model("same")
    def own(messages: list[dict[str, str]], sampling: Any) -> str:
        return answer([(turn["role"], turn["content"]) for turn in messages], sampling.seed)

    same = {"model": "same", "generators": "same", "simulator": "same"}
    log = evaluated(folder, QUESTIONS, measures.ask_solver(**ASK), measures.ask_scorer())
    rows = [{"question": text, "answer": label} for text, label in QUESTIONS]
    has_figures_of(log, ey.ask(ey.items(rows), **same, **ASK))
    assert [sample.scores["ask_scorer"].answer for sample in log.samples] == [
        sample.output.completion.split()[-1].rstrip(".") for sample in log.samples
    ]
    twice = evaluated(folder, QUESTIONS, measures.ask_solver(**ASK), measures.ask_scorer(), epochs=2)
    assert twice.results.scores[0].metrics["precision"].value == log.results.scores[0].metrics["precision"].value

    log = evaluated(folder, QUESTIONS, generate(), measures.ask_scorer(**ASK))
    said = [sample.output.completion.partition(" So the answer is ") for sample in log.samples]
    rows = [
        {"question": text, "explanation": why, "answer": end.rstrip("."), "gold": label}
        for (text, label), (why, _, end) in zip(QUESTIONS, said, strict=True)
    ]
    given = ey.items(rows, explanation="explanation", answer="answer", gold="gold")
    has_figures_of(log, ey.ask(given, **same, **ASK))

    log = evaluated(folder, FILMS, measures.check_solver(**CHECK), measures.check_scorer())
    films = ey.items([{"text": text, "gold": label} for text, label in FILMS], paragraph="text", label="gold")
    has_figures_of(log, ey.check(films, model="same", **CHECK))
    log = evaluated(folder, FILMS, generate(), measures.check_scorer(**CHECK))
    has_figures_of(log, ey.check(films, model="same", **CHECK))

    log = evaluated(folder, [("Mumble.", "no")], generate(), measures.ask_scorer(**ASK))
    score = log.samples[0].scores["ask_scorer"]
    assert score.value != score.value and "neither yes nor no" in score.explanation, score
    log = evaluated(folder, QUESTIONS[:1], measures.ask_solver(**ASK), measures.ask_scorer(), token_limit=5)
    score = log.samples[0].scores["ask_scorer"]
    assert score.value != score.value and "did not come to its end" in score.explanation, score
    assert log.samples[0].limit.type == "token", log.samples[0].limit


if __name__ == "__main__":
    main(Path(sys.argv[1]))
