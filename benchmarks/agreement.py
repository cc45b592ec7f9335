"""How often do the parsers find what a text says, and how often does the original one do what the authors' code does?

python benchmarks/agreement.py [--find DIR] [--introspection DIR] [--simulatability DIR] [--find-dir DIR]
python benchmarks/agreement.py --answers FILE.jsonl [--misread]

One line for each reader: how many phrasings each of the two parsers reads correctly, and how many there are. A reader
joins by a file of phrasings in tests/data/phrasings and a line in READERS.

With --answers only the answers of a file are read, one JSON object a line: `reader` (a kind of answer), `text`, `gold`
(null: nothing can be read), and `choices` or `method` where the kind has them. One line for each kind; --misread names
the texts. How well rules read is told by answers that they never saw: on what they were written for they look better.

With folders of the authors' repositories (FIND, llm-introspection, CounterfactualSimulatability) the original parser is
held against the authors' functions, on the phrasings and on benchmarks/pipelines.toml. With the published set
(--find-dir) its true programs are run in our sandbox: texts as rebuilt from their recorded pairs; numbers as the
authors' scripts, which need --find.
"""

import argparse
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import authors
from core.events import Rules
from core.labs.ask import parse as ask
from core.labs.ask.records import CounterfactualPair
from core.labs.ask.tasks import Task
from core.labs.check import parse
from core.labs.probe import parse as find_parse
from core.labs.probe.evaluate import agreement
from core.labs.probe.functions.numeric import GRID
from core.labs.probe.functions.synthesis import load_strings, string_function
from core.labs.probe.interpreters.fit import code_of
from core.rulesets import RULES
from core.sandbox.rewriting import NOT_RUNNABLE, not_runnable
from core.sandbox.sandbox import evaluate

PHRASINGS = ROOT / "tests" / "data" / "phrasings"
NOT_READ = "not read"

Phrasing = dict[str, Any]

TEXTS: dict[str, dict[str, list[str]]] = tomllib.loads((ROOT / "benchmarks" / "pipelines.toml").read_text("utf-8"))
"""By lab, what is read."""


def task(phrasing: Phrasing) -> Task:
    """Ask's task that the phrasing belongs to."""
    named: Task = phrasing.get("task", "strategyqa")
    return named


def parts(counterfactual: str | CounterfactualPair | None) -> str | list[str]:
    """The question; of a pair its context and two responses."""
    return (
        list(counterfactual.model_dump().values())
        if isinstance(counterfactual, CounterfactualPair)
        else counterfactual or NOT_READ
    )


READERS: dict[str, Callable[[Phrasing, Rules], Any]] = {
    "paragraph": lambda phrasing, rules: parse.paragraph(phrasing["text"], rules) or NOT_READ,
    "word_list": lambda phrasing, rules: parse.word_list(phrasing["text"], rules) or [],
    "sentiment": lambda phrasing, rules: parse.sentiment(phrasing["text"], rules) or NOT_READ,
    "entailment": lambda phrasing, rules: parse.entailment(phrasing["text"], rules) or NOT_READ,
    "choice": lambda phrasing, rules: parse.choice(phrasing["text"], phrasing["choices"], rules) or NOT_READ,
    "answer": lambda phrasing, rules: ask.answer(
        phrasing["text"], phrasing.get("method", "cot"), task(phrasing), rules
    ),
    "explanation": lambda phrasing, rules: (
        ask.explanation(phrasing["text"], phrasing["method"], task(phrasing), rules) or NOT_READ
    ),
    "counterfactual": lambda phrasing, rules: parts(ask.counterfactual(phrasing["text"], task(phrasing), rules)),
    "simulation": lambda phrasing, rules: ask.simulation(phrasing["text"], task(phrasing), rules),
}
"""What a reader makes of a phrasing, in the words of its `expected`."""


def phrasings(reader: str) -> list[Phrasing]:
    """Each with `text`, `expected` and what else the reader is told (choices, task, method)."""
    entries: list[Phrasing] = tomllib.loads((PHRASINGS / f"{reader}.toml").read_text(encoding="utf-8"))["phrasing"]
    return entries


def misread(reader: str, rules: Rules) -> list[str]:
    """The texts that the reader gets wrong."""
    read = READERS[reader]
    return [entry["text"] for entry in phrasings(reader) if read(entry, rules) != entry["expected"]]


def table() -> str:
    """Rule set by reader: how many phrasings are read rightly, of n."""
    lines = [f"{'reader':16}" + "".join(f"{rules:>10}" for rules in RULES) + f"{'n':>6}"]
    for reader in READERS:
        n = len(phrasings(reader))
        right = "".join(f"{n - len(misread(reader, rules)):>10}" for rules in RULES)
        lines.append(f"{reader:16}{right}{n:>6}")
    return "\n".join(lines)


# Answers with what they say, settled by hand


def of_interpretation(text: str, rules: Rules) -> dict[str, str]:
    """The parts of a conclusion that a gold names."""
    parts = find_parse.interpretation(text, rules)
    return {"description": parts.description, "code": parts.code}


KINDS: dict[str, Callable[[Phrasing, Rules], Any]] = {
    "sentiment": lambda answer, rules: parse.sentiment(answer["text"], rules),
    "entailment": lambda answer, rules: parse.entailment(answer["text"], rules),
    "choice": lambda answer, rules: parse.choice(answer["text"], answer["choices"], rules),
    "word list": lambda answer, rules: parse.word_list(answer["text"], rules) or None,
    "paragraph": lambda answer, rules: parse.paragraph(answer["text"], rules, answer.get("original", "")),
    "answer": lambda answer, rules: ask.answer(answer["text"], answer.get("method", "cot"), task(answer), rules),
    "simulation": lambda answer, rules: ask.simulation(answer["text"], task(answer), rules),
    "counterfactual": lambda answer, rules: ask.counterfactual(answer["text"], task(answer), rules),
    "interpretation": lambda answer, rules: of_interpretation(answer["text"], rules),
}
"""What is read of an answer, by kind, in the words of its `gold`."""


def answers(path: Path) -> list[Phrasing]:
    """Those of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def is_right(answer: Phrasing, rules: Rules) -> bool:
    """Whether the reader finds the gold; of several parts, those that the gold gives."""
    read, gold = KINDS[answer["reader"]](answer, rules), answer["gold"]
    if isinstance(gold, dict):
        return all(part is None or read[name] == part for name, part in gold.items())
    return bool(read == (gold or None if isinstance(gold, list) else gold))


def by_kind(entries: Iterable[Phrasing]) -> dict[str, dict[Rules, int]]:
    """How many of each kind both sets of rules read rightly."""
    right: dict[str, dict[Rules, int]] = {}
    for entry in entries:
        counts = right.setdefault(entry["reader"], dict.fromkeys(RULES, 0))
        for rules in RULES:
            counts[rules] += is_right(entry, rules)
    return right


def answers_table(entries: list[Phrasing]) -> str:
    """Kind by rule set: how many answers are read rightly, of n, and which share the updated parser reads."""
    n = Counter(entry["reader"] for entry in entries)
    lines = [f"{'kind':16}" + "".join(f"{rules:>10}" for rules in RULES) + f"{'n':>6}{'repaired':>10}"]
    counts = by_kind(entries)
    total = {rules: sum(one[rules] for one in counts.values()) for rules in RULES}
    for kind, right in [*sorted(counts.items()), ("all", total)]:
        of = n[kind] or len(entries)
        shown = "".join(f"{right[rules]:>10}" for rules in RULES)
        lines.append(f"{kind:16}{shown}{of:>6}{right['repaired'] / of:>10.1%}")
    return "\n".join(lines)


# The original parser and the authors' own code


Compared = tuple[str, list[str], Callable[[str], Any], Callable[[str], Any]]
"""What is read, the texts, what the authors make of one, and what our original parser does."""


def of_find(folder: Path) -> Iterator[Compared]:
    """Commands and the parts of conclusions."""
    texts = TEXTS["probe"]

    def command(text: str) -> tuple[str, ...] | str:
        ours = find_parse.command(text, "paper")
        return "none" if ours.name is None else "refused" if ours.error else ours.inputs

    yield "probe command", texts["commands"], authors.find_command(folder), command
    theirs = authors.find_parts(folder)
    for part in ("description", "domain", "code"):
        # They save the whole message as the domain where there is none; only what is scored is compared.
        asked = [text for text in texts["conclusions"] if part != "domain" or "[DOMAIN]: " in text]
        yield (
            f"probe {part}",
            asked,
            lambda text, part=part: theirs(text)[part].strip(),
            lambda text, part=part: getattr(find_parse.interpretation(text, "paper"), part).strip(),
        )


def of_introspection(folder: Path) -> Iterator[Compared]:
    """Check's readers on the phrasings."""
    theirs = authors.introspection_readers(folder)
    yield "check ability", TEXTS["check"]["ability"], theirs["ability"], lambda text: parse.ability(text, "paper")
    for reader in READERS:
        known = {entry["text"]: entry for entry in phrasings(reader)}

        def read(text: str, reader: str = reader, known: dict[str, Phrasing] = known) -> Any:
            choices = [known[text]["choices"]] if reader == "choice" else []
            return theirs[reader](text, *choices) or None

        def ours(text: str, reader: str = reader, known: dict[str, Phrasing] = known) -> Any:
            found = READERS[reader](known[text], "paper")
            return None if found in (NOT_READ, []) else found

        yield f"check {reader}", list(known), read, ours


def of_simulatability(folder: Path) -> Iterator[Compared]:
    """Ask's readers."""
    theirs = authors.simulatability_readers(folder)
    for name, texts in TEXTS["ask"].items():
        task, what, *method = name.split(" ")
        yield name, texts, lambda text, name=name: _named(theirs[name](text)), _ask_reader(task, what, *method)


def _ask_reader(task: Any, what: str, method: Any = "cot") -> Callable[[str], Any]:
    if what in ("answer", "explanation"):
        return lambda text: getattr(ask, what)(text, method, task, "paper")
    if what == "simulation":
        return lambda text: ask.simulation(text, task, "paper")
    return lambda text: _plain(ask.counterfactual(text, task, "paper"))


def _plain(written: Any) -> Any:
    return tuple(written.model_dump().values()) if isinstance(written, CounterfactualPair) else written


def _named(value: Any) -> Any:
    """The authors' value in our words: responses count from 0 there, and no answer is None."""
    if isinstance(value, dict):
        return value["question"] if "options" not in value else (value["context"], *value["options"])
    return str(value + 1) if isinstance(value, int) else value


def agreed(compared: Iterable[Compared]) -> Iterator[str]:
    """A line for each thing that is read: on how many texts both find the same, and the texts on which not."""
    for name, texts, theirs, ours in compared:
        apart = [(text, theirs(text), ours(text)) for text in texts]
        apart = [(text, a, b) for text, a, b in apart if not _same(a, b)]
        yield f"{name:32}{len(texts) - len(apart):>5} of {len(texts)}"
        for text, a, b in apart:
            yield f"    {text[:70]!r}: theirs {str(a)[:60]!r}, ours {str(b)[:60]!r}"


def _same(theirs: Any, ours: Any) -> bool:
    if theirs is None:
        return ours in (None, "neither")
    return bool(tuple(theirs) == tuple(ours or ()) if isinstance(theirs, tuple | list) else theirs == ours)


# The published programs in our sandbox


def judged(code: str, inputs: list[Any], agrees: Callable[[list[Any]], bool]) -> str:
    """Right, wrong or not runnable here."""
    result = evaluate(code, inputs, rules="paper")
    if any(map(not_runnable, result.errors)):
        return NOT_RUNNABLE
    return "right" if agrees(list(result.values)) else "wrong"


def published_texts(find_dir: Path) -> Iterator[str]:
    """Each string function as rebuilt from its ten pairs, on those pairs; what draws at random is held to none."""
    for task in load_strings(find_dir).values():
        function = string_function(task)
        if function is None:
            yield "not rebuilt"
            continue
        inputs = [text for text, _ in task.pairs]
        wanted = function.outputs(inputs, np.random.default_rng(0))
        random = function.is_stochastic
        yield judged(
            code_of(function),
            inputs,
            lambda values, wanted=wanted, random=random: (
                all(value is not None for value in values) if random else values == list(wanted)
            ),
        )


SPREAD = {"function_code.py": 0.0, "noised_function_code.py": 14.0, "corrupted_function_code.py": 1.5}
"""How far two draws of a script may lie apart: noise has a size of 1, Poisson's has a tail; corruption one of 0.1."""


def published_numbers(find_dir: Path, repository: Path) -> Iterator[str]:
    """Each script as the authors write it, held against itself in Python on the test points."""
    source = authors.find_numeric_source(repository)
    scripts = json.loads((find_dir / "numeric" / "func_name_dict.json").read_text())
    for record in json.loads((find_dir / "numeric" / "data.json").read_text()):
        name = scripts[record["dir"]]
        if name not in SPREAD:
            network = repository / "src" / "make_functions" / "make_numeric" / name
            yield judged(network.read_text().split("if __name__", 1)[0], GRID.tolist(), lambda values: False)
            continue
        code = source(record, name)
        code = code.split("if __name__", 1)[0]
        scope: dict[str, Any] = {}
        exec(code, scope)
        true = [_number(scope["function"], x) for x in GRID.tolist()]

        def agrees(values: list[Any], true: list[float | None] = true, spread: float = SPREAD[name]) -> bool:
            both = [(y, g) for y, g in zip(true, values, strict=True) if y is not None]
            if spread:
                return all(g is not None and abs(y - g) <= spread + 1e-9 * abs(y) for y, g in both)
            given = [g if isinstance(g, float) else None for _, g in both]
            return not both or agreement([y for y, _ in both], given).is_whole

        yield judged(code, GRID.tolist(), agrees)


def _number(function: Callable[[float], Any], x: float) -> float | None:
    try:
        with np.errstate(all="ignore"):
            y = function(x)
        return float(y) if np.isreal(y) and np.isfinite(y) else None
    except (ArithmeticError, ValueError):
        return None


def shares(kind: str, outcomes: Iterable[str]) -> str:
    """How many programs came to what."""
    counts = Counter(outcomes)
    return f"{kind}, {sum(counts.values())}: " + ", ".join(f"{n} {outcome}" for outcome, n in counts.most_common())


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--find", "--introspection", "--simulatability", "--find-dir"):
        options.add_argument(name, type=Path)
    options.add_argument("--answers", type=Path)
    options.add_argument("--misread", action="store_true")
    given = options.parse_args()
    if given.answers:
        entries = answers(given.answers)
        print(answers_table(entries))
        for entry in entries if given.misread else ():
            if not is_right(entry, "repaired"):
                print(f"{entry['reader']}: {entry['text']!r}: {KINDS[entry['reader']](entry, 'repaired')!r}")
        return
    print(table())
    print("\nThe original parser and the authors' own code agree on")
    for folder, option, compared in (
        (given.find, "--find", of_find),
        (given.introspection, "--introspection", of_introspection),
        (given.simulatability, "--simulatability", of_simulatability),
    ):
        if folder is None:
            print(f"(not compared: {option} was not given)")
            continue
        print("\n".join(agreed(compared(folder))))
    print("\nPublished programs in our sandbox")
    if given.find_dir is None:
        print("(not run: --find-dir was not given)")
        return
    if given.find is None:
        print("(scripts of numbers: not run, for --find was not given)")
    else:
        print(shares("numbers", published_numbers(given.find_dir, given.find)), flush=True)
    print(shares("texts", published_texts(given.find_dir)), flush=True)


if __name__ == "__main__":
    main()
