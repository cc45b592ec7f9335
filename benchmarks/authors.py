"""The authors' own readers, taken from folders of their repositories and run on texts of ours.

Only functions are taken out of their files, so that nothing they import has to be there. The folders are those of
multimodal-interpretability/FIND, AndreasMadsen/llm-introspection and yandachen/CounterfactualSimulatability.
"""

import __future__

import ast
import collections
import copy
import json
import random
import re
import subprocess
import tempfile
import textwrap
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import regex


def taken(path: Path, names: tuple[str, ...] = (), **given: Any) -> dict[str, Any]:
    """All functions and classes of a file, methods among them, and the assignments of `names`, with `given` at hand."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kept = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        or (isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id in names for to in node.targets))
    ]
    for node in kept:
        if not isinstance(node, ast.Assign):
            node.decorator_list = []
    # Classes of theirs stand on others of theirs: only those that stand alone are taken whole.
    kept = [node for node in kept if not (isinstance(node, ast.ClassDef) and node.bases)]
    known = {"re": re, "regex": regex, "json": json, "random": random, "np": np, "pd": pd, "textwrap": textwrap}
    known |= {"Counter": collections.Counter, "deepcopy": copy.deepcopy, "Literal": typing.Literal}
    scope: dict[str, Any] = {**known, **given}
    code = compile(
        ast.Module(kept, []), str(path), "exec", flags=__future__.annotations.compiler_flag, dont_inherit=True
    )
    exec(code, scope)
    scope |= given
    return scope


# FIND


def find_command(folder: Path) -> Callable[[str], tuple[str, ...] | str]:
    """What their loop makes of a message: the inputs that it runs, "refused" or "none"."""
    path = folder / "src" / "run_interpretations" / "collect_interpretations.py"
    scope = taken(path, ("regx", "newSession", "manualApproval", "commandTable"))
    scope["vicuna_server"] = None

    def command(message: str) -> tuple[str, ...] | str:
        ran: list[str] = []
        replies = [message, "[DESCRIPTION]"]
        prompts: list[str] = []

        def answered(prompt: str, model: str, state: Any, server: Any) -> tuple[str, Any]:
            prompts.append(prompt)
            return replies[len(prompts) - 1], state

        def runs(flag: int, state: Any) -> None:
            if len(prompts) == 1:
                ran.append(state.command)
            state.prompt = "Response: "
            scope["followup"](state)

        scope["ask_model"], scope["runCmd"] = answered, runs
        try:
            scope["interp_func"]("the task", "gpt-4")
        except Exception:  # they begin the whole function anew
            return "refused"
        if ran:
            return _shell_inputs(ran[0])
        return "refused" if len(prompts) > 1 and prompts[1].startswith("Response: ") else "none"

    return command


def _shell_inputs(line: str) -> tuple[str, ...] | str:
    """The words behind "python file", as the shell reads them."""
    words = line.removeprefix("python ")
    done = subprocess.run(["/bin/sh", "-c", f"printf '%s\\0' {words}"], capture_output=True, text=True, check=False)
    if not done.stdout:
        return "refused"
    file, *inputs = done.stdout.split("\0")[:-1]
    return tuple(inputs) if file.endswith(".py") else ()


def find_parts(folder: Path) -> Callable[[str], dict[str, str]]:
    """Description, domain and code that they save of a conclusion."""
    scope = taken(folder / "src" / "run_interpretations" / "collect_interpretations.py")

    def parts(message: str) -> dict[str, str]:
        with tempfile.TemporaryDirectory() as made:
            for part in ("description", "domain", "code"):
                scope[f"save_{part}"](message, f"{made}/{part}")
            return {part: (Path(made) / part).read_text() for part in ("description", "domain", "code")}

    return parts


def find_numeric_source(folder: Path) -> Callable[[dict[str, Any], str], str]:
    """The script that they write for a record of numeric/data.json; `name` says which of the three."""
    draws: list[float] = []

    class Drawn:
        """Their random numbers, which choose the kind of noise."""

        @staticmethod
        def random() -> float:
            return draws.pop(0)

    path = folder / "src" / "make_functions" / "make_numeric" / "write_source_code.py"
    scope = taken(path, random=Drawn)

    def source(record: dict[str, Any], name: str) -> str:
        kinds = {"normal": [0.0], "uniform": [0.5, 0.5], "poisson": [0.9, 0.9]}
        draws[:] = kinds[record["noise_type"]]
        boundary = record["corruption_params"]
        with tempfile.TemporaryDirectory() as made:
            scope["write_function"](
                record["params"],
                record["name"].split("(")[0],
                made,
                record["corruption_type"],
                [boundary["std"], *boundary["boundary"]],
                record["corruption_type"],
            )
            return (Path(made) / name).read_text()

    return source


# llm-introspection


def introspection_readers(folder: Path) -> dict[str, Callable[..., Any]]:
    """Their readers by our names of them. They strip every answer before they read it."""
    tasks = folder / "introspect" / "tasks"
    common: dict[str, Any] = taken(tasks / "_common_match.py")
    common = taken(tasks / "_common_extract.py", **common)
    labels = {
        name: taken(tasks / f"{file}.py", **common)[f"_extract_{name}"]
        for name, file in (("sentiment", "sentiment"), ("entailment", "entailment"), ("choice", "multi_choice"))
    }
    return {
        "paragraph": lambda text: common["extract_paragraph"](text.strip()),
        "word_list": lambda text: common["extract_list_content"](text.strip()),
        "ability": lambda text: common["extract_ability"](text.strip()),
        "sentiment": lambda text: labels["sentiment"](None, text.strip()),
        "entailment": lambda text: labels["entailment"](None, text.strip()),
        "choice": lambda text, choices: labels["choice"](None, choices, text.strip()),
    }


# CounterfactualSimulatability

_STARTER = {"question": "?", "context": "", "options": ["", ""]}
_SAID = {"pred_ans": 0, "pred_expl": ""}


def simulatability_readers(folder: Path) -> dict[str, Callable[[str], Any]]:
    """Their readers by task and what is read: "strategyqa answer cot", "shp simulation"; each takes one reply."""

    def scope(task: str, file: str, reply: str) -> dict[str, Any]:
        def ask(prompts: list[str], **settings: Any) -> list[str]:
            return [reply] * len(prompts)

        def prompts(key: str, slots: list[Any]) -> list[str]:
            return ["a prompt"] * len(slots)

        return taken(folder / task / f"{file}.py", multiprocess_api=ask, get_prompts_by_task=prompts)

    def answered(task: str, method: str, what: str) -> Callable[[str], Any]:
        return lambda text: scope(task, "task_qa", text)["task_qa"]("m", method, [_STARTER])[0][f"pred_{what}"]

    def written(task: str) -> Callable[[str], Any]:
        more = (False,) if task == "shp" else ()

        def read(text: str) -> Any:
            made = scope(task, "simulate_qg", text)["simulate_qg"]("m", [_STARTER], [_SAID], 1.0, 1, *more)[0]
            return made[0] if made else None

        return read

    def simulated(task: str) -> Callable[[str], Any]:
        return lambda text: scope(task, "simulate_qa", text)["simulate_qa"]("m", [_STARTER], [_SAID], [[_STARTER]])[0][
            0
        ]["pred_ans"]

    readers: dict[str, Callable[[str], Any]] = {}
    for task in ("strategyqa", "shp"):
        for method in ("cot", "posthoc"):
            readers[f"{task} answer {method}"] = answered(task, method, "ans")
            readers[f"{task} explanation {method}"] = answered(task, method, "expl")
        readers[f"{task} counterfactual"] = written(task)
        readers[f"{task} simulation"] = simulated(task)
    return readers
