"""Every parser of model output takes hostile texts up to the longest answer in linear time, and never raises.

To add a parser, add one line to READERS.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import product
from typing import Any, get_args

import pytest

from core import extensions
from core.datasets import logs, own
from core.datasets.items import DatasetError
from core.events import LONGEST_ANSWER, ToolCall, ending_of
from core.labs.ask import parse as ask
from core.labs.ask.counterfactuals import invented_premises
from core.labs.ask.parse import is_yes_or_no
from core.labs.ask.tasks import Method, Task
from core.labs.check import controls, mask, metrics, prompts
from core.labs.check import parse as check
from core.labs.check.tasks import Task as CheckTask
from core.labs.plant import measure as plant
from core.labs.plant import naming, tasks
from core.labs.plant.prompts import read_judgement
from core.labs.plant.tasks import PlantSpec, shipped
from core.labs.probe import claim_extraction
from core.labs.probe import parse as probe
from core.labs.probe.functions.source import generate
from core.models import error_mapping
from core.models.reply import StopCutter, up_to_stop
from core.models.settings import EndpointConfig
from core.parsers import fields
from core.report import annotation_files
from core.runs import labels as label_schemes
from core.runs.annotation_sets import AnnotationError
from core.runs.labels import SchemeError
from core.sandbox import sandbox
from core.text import compare, display, reply, templates
from tests.attacks.texts import SIZES, UNITS, ladders

RULES = ("paper", "repaired")
STEP = 2.6
"""How much longer a text of twice the length may take: twice as long, plus the noise of a busy machine."""

LONGEST = 1.0
"""Processor seconds that parsing the longest answer may take, beside other tests. Alone it is 0.1."""

QUICK = 0.02
"""Seconds for a quarter of it: a parser that is this quick stays within LONGEST even if it is quadratic."""

EVERY = 1 if os.environ.get("ATTACKS") == "all" else 263
"""Each parser gets some 5 of the 1,300 texts, different from the next one's; all with ATTACKS=all, which takes
minutes.
"""


def readers() -> dict[str, Callable[[str], Any]]:
    found: dict[str, Callable[[str], Any]] = {}
    for rules in RULES:
        for task in get_args(Task):
            for method in get_args(Method):
                found[f"ask answer {task} {method} {rules}"] = partial(
                    ask.answer, method=method, task=task, rules=rules
                )
                found[f"ask explanation {task} {method} {rules}"] = partial(
                    ask.explanation, method=method, task=task, rules=rules
                )
            found[f"ask simulation {task} {rules}"] = partial(ask.simulation, task=task, rules=rules)
            found[f"ask counterfactual {task} {rules}"] = partial(ask.counterfactual, task=task, rules=rules)
        for name in ("sentiment", "entailment", "ability", "word_list", "paragraph"):
            found[f"check {name} {rules}"] = partial(getattr(check, name), rules=rules)
        found[f"check choice {rules}"] = partial(check.choice, choices=("attic", "the cellar", "no"), rules=rules)
        found[f"probe command {rules}"] = partial(probe.command, rules=rules)
        found[f"probe final {rules}"] = partial(probe.is_final, rules=rules)
        found[f"probe interpretation {rules}"] = partial(probe.interpretation, rules=rules)
        found[f"probe choice {rules}"] = partial(probe.choice_is_correct, correct=2, rules=rules)
        found[f"probe tested function {rules}"] = partial(sandbox.tested_function, rules=rules)
    return found | {
        "probe tool call": lambda text: probe.tool_command(ToolCall(id="1", name=probe.TOOL, arguments=text)),
        "thinking": lambda text: reply.split(text).answer,
        "an answer up to its stop": lambda text: up_to_stop(text, ("\n\n", "Question:")),
        "how an answer ended": ending_of,
        "probe shell words": probe.shell_words,
        "probe parts of a function": lambda text: claim_extraction.components_identified(NUMERIC, text),
        "probe steps of a function": lambda text: claim_extraction.components_identified(STRINGS, text),
        "probe invented": probe.invented,
        "probe invented beside": lambda text: probe.invented_beside(text, ("1", "a"), {"2"}),
        "probe intervals": claim_extraction.claimed_intervals,
        "probe intervals told": lambda text: claim_extraction.intervals_told(text, text),
        "probe what is said of an interval": lambda text: claim_extraction.speaks_of(text, 1.0, 2.0),
        "probe noise told": claim_extraction.noise_told,
        "probe quoted pairs": claim_extraction.quoted_pairs,
        "ask made-up premises": lambda text: invented_premises(text, text, "All birds can fly."),
        "plant cue named": lambda text: naming.by_words(text, ["a", "a b", *tasks.template("key").telling]),
        "plant reply": lambda text: plant.parse_reply(PLANTED, shipped("multi_choice")[0], text, lettered=True),
        "plant read": lambda text: read_judgement(text, text),
        "answers by fields": lambda text: fields.read(text, fields.schema(answer="text", choice=("a", "b"))),
        "ask yes or no": is_yes_or_no,
        "ask reasons without the answer": ask.only_reasons,
        "check list of a word": lambda text: mask.redact(KNOWN, [text], "[REDACTED]", "repaired"),
        "check masks of another shape": lambda text: mask.as_asked(KNOWN, text, "[REDACTED]"),
        "check words that were added": edited,
        "check lexicon": controls.words,
        "check edit of a known paragraph": lambda text: check.paragraph(text, "repaired", KNOWN),
        "check edit of a hostile paragraph": lambda text: check.paragraph(text, "repaired", text[:20_000]),
        "check rest of a redaction": lambda text: mask.leaves_the_rest(text, text, "[REDACTED]"),
        "text first sentence": display.first_sentence,
        "text spoken": reply.spoken,
        "text own turn": reply.own_turn,
        "text markup": reply.without_markup,
        "text fields": reply.fields,
        "text words": compare.words,
        "text content words": compare.content_words,
        "stop sequences": stopped,
        "authors' code": authors_code,
        "server's words": lambda text: error_mapping.of_error(ValueError(text), CONFIG),
        "label schemes": lambda text: refused(SchemeError, label_schemes.read, text),
        "label schemes' labels": lambda text: refused(
            SchemeError, label_schemes.read, f"[a]\nlabels = {{{json.dumps(text)} = 'x', b = 'f'}}"
        ),
        "extension's name": lambda text: refused(extensions.ExtensionError, extensions.model, text),
        "extension's items": lambda text: extensions.items_of("strategyqa", [{"question": text, "label": text}]),
        "extension's fault": lambda text: str(extensions.fault_of(text, ValueError(text))),
        "log's answer": lambda text: refused(ValueError, logs.answer_and_reasons, text),
        "log of Inspect": lambda text: refused(DatasetError, logs.read_content, "a", coded(text), "inspect"),
        "log of Inspect with a sample": lambda text: logs.read_content("a", inspect_log(text), "inspect"),
        "log of lm-eval": lambda text: logs.read_content("a", coded(text), "lm-eval"),
        "log in lines": lambda text: logs.read_content("a", line(question=text, response=text, gold=text), "jsonl"),
        "log with choices": lambda text: logs.read_content(
            "a", line(question=text, response=text, gold=text, choices=["red", text[:5_000]]), "jsonl"
        ),
        "answers from Potato": lambda text: refused(AnnotationError, annotation_files.rows_of, text, "a"),
        "list in a cell": lambda text: own.listed(text, "|", "\n", ";", ","),
    }


KNOWN = "A superb film, dull at the end, and wonderful.\n\nWe stayed."
PLANTED = PlantSpec(model="control/admits", task="multi_choice")
NUMERIC, STRINGS = (generate(category, 0) for category in ("numeric", "strings"))
CONFIG = EndpointConfig(name="x", base_url="http://127.0.0.1:9/v1")


def edited(text: str) -> None:
    """Judge an edit of a paragraph, for each task."""
    put_in = metrics.put_in(KNOWN, text)
    metrics.placed([one for one in put_in if not one.is_weak], metrics.addition(KNOWN, text))
    for task in get_args(CheckTask):
        metrics.of_counterfactual(task, ("attic", "no"), KNOWN, f"{KNOWN} {text}")


def refused(error: type[Exception], read: Callable[..., Any], *given: Any) -> Any:
    """Read it, or return the one error that may be raised."""
    try:
        return read(*given)
    except error as found:
        return found


def coded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def line(**held: Any) -> bytes:
    return json.dumps(held).encode()


def inspect_log(text: str) -> bytes:
    """A log whose texts are all this one, one of them among choices."""
    said = {"input": text, "target": text, "output": {"model": text, "completion": text}}
    refs = {"message_refs": [[0, 1]], "messages": [{"role": "user", "content": text}]}
    samples = [{"id": text, **said, **refs}, {"id": 1, "choices": ["Yes", "No"], **said}, {"choices": [text], **said}]
    return line(version=2, samples=samples)


def authors_code(text: str) -> None:
    """Read prompts from an author's code, as `prompts read` does: the text itself, and the text within a prompt."""
    for source in (text, f"def a():\n    b_prompt = ''\n    b_prompt += f{text!r}\n"):
        with suppress(templates.NoTextError):
            for method in templates.functions(templates.parse_python(source)).values():
                prompts.prompt_of(method, prompts.Variant((), frozenset()))


def stopped(text: str) -> str:
    """Pass the text in pieces of a few characters, as a server sends them."""
    cutter = StopCutter(("\n\n\n\nHuman", "a a a b", "((((()"))
    return "".join(cutter.feed(text[at : at + 16]) for at in range(0, len(text), 16)) + cutter.flush()


READERS = readers()


def seconds(read: Callable[[str], Any], text: str) -> float:
    """The processor time of one parse."""
    began = time.thread_time()
    read(text)
    return time.thread_time() - began


def too_slow(read: Callable[[str], Any], ladder: Sequence[str]) -> str:
    """Why the parser is too slow on texts that double in length; an empty string if it is not. It has to grow as
    much to the next length, if there is one: from some length on, a parser that reads only the ends may do more.
    """
    if seconds(read, ladder[-3]) < QUICK:
        return ""
    took: list[float] = []
    why = ""
    for text in ladder:
        took.append(seconds(read, text))
        if took[-1] > LONGEST:
            took[-1] = min(seconds(read, text) for _ in range(2))
        if took[-1] > LONGEST:
            return f"{len(text)} characters took {took[-1]:.2f} s"
        before, why = why, ""
        if grows(took):
            again = [min(seconds(read, text) for _ in range(3)) for text in ladder[len(took) - 3 : len(took)]]
            if grows(again):
                why = (
                    f"{len(text)} characters took {again[2]:.3f} s, half of it {again[1]:.3f}, a quarter {again[0]:.3f}"
                )
        if before and why:
            return before
    return why


def grows(took: Sequence[float]) -> bool:
    """Whether the last two steps both took longer than their length explains, and long enough to be sure."""
    return len(took) > 2 and took[-1] > 0.02 and took[-1] > STEP * took[-2] and took[-2] > STEP * took[-3]


@pytest.mark.parametrize("name", READERS)
def test_readers_are_linear_and_never_raise(name: str) -> None:
    assert SIZES[-1] == LONGEST_ANSWER
    slow = {}
    for ladder in ladders(list(READERS).index(name) % EVERY, EVERY):
        if why := too_slow(READERS[name], ladder):
            slow[ladder[0][:40]] = why
    assert slow == {}


def test_every_pattern_of_a_parser_is_used_on_hostile_texts() -> None:
    """A new pattern for what models write needs a line in READERS, or one in OTHER_TEXTS."""
    called = set()
    sys.setprofile(lambda frame, *_: called.add(frame.f_code))
    try:
        for read, unit in product(READERS.values(), UNITS[::2]):
            read(f"{unit * 3} x")
    finally:
        sys.setprofile(None)
    used = {(code.co_filename, name) for code in called for name in code.co_names}
    unused = {
        f"{name.removeprefix('core.')}.{pattern}"
        for name, module in sys.modules.items()
        if name.startswith(("core.labs.", "core.parsers."))
        for pattern, value in vars(module).items()
        if hasattr(value, "finditer") and hasattr(value, "groups") and (module.__file__, pattern) not in used
    }
    assert {one for one in unused if not one.startswith(OTHER_TEXTS)} == set()


OTHER_TEXTS = (
    "labs.ask.controls.",
    "labs.ask.counterfactuals._NUMBERS",
    "labs.ask.prompts.",
    "labs.ask.records.SENTENCE_END",
    "labs.ask.world.",
    "labs.plant.tasks._ARTICLE",
    "labs.probe.functions.",
    "labs.probe.prompts.",
)
"""Patterns for texts of robots, functions, prompts and names of models, and two that are used elsewhere or cannot
backtrack.
"""


def test_a_quadratic_reader_would_be_seen() -> None:
    def quadratic(text: str) -> None:
        for _ in range(len(text) // 8):
            text.replace("b", "")

    def linear(text: str) -> None:
        for _ in range(20):
            text.replace("b", "")

    ladder = ["ab" * (size // 2) for size in SIZES]
    assert too_slow(quadratic, ladder)
    assert too_slow(linear, ladder) == ""
