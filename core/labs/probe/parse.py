"""Parse what interpreters and evaluators write, prose or JSON fields, by the authors' rules and by ours.

The rules: docs/measuring.md §4.4, §4.5 and §4.9.

Every function takes the raw text and the rules, so a stored answer can be parsed both ways at any later time.
"""

import contextlib
import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from ...events import ModelAnswer, Rules, ToolCall
from ...parsers import fields
from ...parsers.code import conclusion, of_field, plain
from ...parsers.fields import readable
from ...score import Score, undefined
from ...text.reply import storable, without_thinking
from .claim_extraction import quoted_pairs
from .tasks import ProbeSpec

Schema = dict[str, Any] | None
"""The JSON schema of an answer; None if the prompt asks for prose."""

# A command line as a shell reads it: the authors' code passes an agent's commands to a shell.


_SHELL_WORD = re.compile(r"""[ \t]*+((?:\\.?|'[^']*+'|"(?:\\.|[^"\\])*+"|[^ \t\n;|&<>'"\\])++)""", re.S)
_QUOTING = re.compile(r"""\\(.?)|'([^']*)'|"((?:\\.|[^"\\])*)\"""", re.S)
_ESCAPED = re.compile(r'\\([$`"\\\n])')
"""What a backslash changes within double quotes."""


def shell_words(text: str) -> list[str] | None:
    """Split the first command in `text` into words and unquote them, as a POSIX shell does. None if a quote is left
    open.

    Variables and patterns are not expanded.
    """
    words: list[str] = []
    command = text.lstrip(" \t\n")
    place = 0
    while (word := _SHELL_WORD.match(command, place)) and not word[1].startswith("#"):
        words.append(_QUOTING.sub(_unquoted, word[1]))
        place = word.end()
    return None if command[place:].lstrip(" \t").startswith(('"', "'")) else words


def _unquoted(part: re.Match[str]) -> str:
    escaped, single, double = part.groups()
    if double is not None:
        return _ESCAPED.sub(lambda match: match[1].strip("\n"), double)
    return single if single is not None else escaped.strip("\n") or "\\" * (part[0] == "\\")


END = "[DESCRIPTION]"
"""Paper rules: an answer that contains this ends the run, whatever else it says."""


TOOL = "call_function"
"""The one tool of an agent that asks by tool calls."""


class ProbeCommand(NamedTuple):
    """A call that the interpreter asks for. `error` is what it gets to read if the call cannot be made; then there are
    no `inputs`. `name` is None if the answer has no command.
    """

    name: str | None
    inputs: tuple[str, ...] = ()
    error: str | None = None


class Parts(NamedTuple):
    """The three parts of a final answer, empty if missing. `told` is what an evaluator gets to read."""

    description: str
    domain: str
    code: str
    told: str


def of_parts(description: str, domain: str, code: str) -> Parts:
    """Return the parts by the updated parser: an evaluator reads description and domain."""
    return Parts(description, domain, code, f"{description}\n{domain}".strip())


def command(text: str, rules: Rules) -> ProbeCommand:
    """Return the call that `text` asks for.

    Paper rules (collect_interpretations.py:40, 190-200): the first capitals followed by parentheses, even in prose;
    parentheses inside need quotes; a shell reads what is before the first comma, up to the end of the line; a quoted
    file name is run without inputs; triple quotes, and single quotes around a whole argument, are refused. Updated
    rules: every PYTHON(…), with inputs separated by commas or spaces, any quotes, with or without a file name; or tool
    calls written out as JSON, as small models do. Thinking and text after an invented output are ignored.
    """
    return _paper_command(text) if rules == "paper" else _repaired_command(without_thinking(text))


# Capitals, then anything between parentheses: parentheses within quotes are text, an empty pair is allowed, and a quote
# that is left open makes it no command. The possessive parts never give characters back, so matching takes linear time.
_PAPER_COMMAND = re.compile(r"""(?<![A-Z])([A-Z]++)\(((?:[^()"']++|"[^"]*+"|'[^']*+'|\(\))*+)\)""")
_PAPER_ARGUMENT = re.compile(r"""("[^"]*")|('[^']*')|\b[^,]+""")
_PAPER_NAMES = "PYTHON(function.py)"
"""A name is searched for in this text, so a part of it is a command too."""


def _paper_command(text: str) -> ProbeCommand:
    match = _PAPER_COMMAND.search(text)
    if match is None:
        return ProbeCommand(None)
    name, written = match[1], match[2]
    if name not in _PAPER_NAMES:
        return ProbeCommand(name, error=f"{name} is no command; the only one is PYTHON(file inputs)")
    arguments = list(_PAPER_ARGUMENT.finditer(written))
    if "'''" in written or '"""' in written or any(one[2] for one in arguments):
        return ProbeCommand(name, error="inputs must stand in double quotes")
    words = shell_words(arguments[0][0]) if arguments else []
    if words is None:
        return ProbeCommand(name, error="a quote is not closed")
    # The authors run "python" with the first argument as the file: a file that does not exist gives nothing.
    runs = bool(words) and words[0].endswith(".py")
    return ProbeCommand(name, tuple(words[1:]) if runs else ())


_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_INVENTED = re.compile(
    r"(?:function )?input\s*-\s*output pairs?\s*:|inputs? and outputs?\s*:"
    r"|^[ \t]*\**(?:output|observation|result|response)s?\**[ \t]*:|^[ \t]*\([^()\n,]+,[^()\n]+\)[ \t]*$",
    re.I | re.M,
)


_MOST_COMMANDS = 50
"""The most commands that are read in one message."""

_LONGEST_ARGUMENTS = 4_000
"""How many characters are searched for the end of a command."""

_BEGUN = re.compile(r"\bPYTHON\s*\(", re.I)
_WRITTEN_OUT = re.compile(r'\{\s*"name"\s*:\s*"\w+"\s*,\s*"(?:arguments|parameters)"\s*:')
"""A tool call as JSON."""


def _first_command(text: str) -> re.Match[str] | None:
    return _BEGUN.search(text) or _WRITTEN_OUT.search(text)


def _at_invention(text: str) -> tuple[str, str]:
    """Return `text` up to the outputs that it invents after its first command, and what begins with these."""
    begun = _first_command(text)
    made_up = _INVENTED.search(text, begun.end()) if begun else None
    return (text[: made_up.start()], text[made_up.start() :].strip()) if made_up else (text, "")


def _repaired_command(text: str) -> ProbeCommand:
    asked, _ = _at_invention(text)
    ends = [match.end() for match in islice(_BEGUN.finditer(asked), _MOST_COMMANDS)]
    if not ends:
        return _joined([tool_command(call) for call in _written_out(asked)])
    inputs = [one for end in ends for one in _arguments(_up_to_closing(asked[end : end + _LONGEST_ARGUMENTS]))]
    error = "the command names no input; write PYTHON(function.py input1 input2)"
    return ProbeCommand("PYTHON", tuple(inputs), None if inputs else error)


def _written_out(text: str) -> Iterator[ToolCall]:
    for match in islice(_WRITTEN_OUT.finditer(text), _MOST_COMMANDS):
        written = text[match.start() : match.end() + _LONGEST_ARGUMENTS]
        try:
            call, _ = json.JSONDecoder().raw_decode(written)
        except (ValueError, RecursionError):
            yield ToolCall(id="", name=TOOL, arguments=text[match.end() : match.end() + _LONGEST_ARGUMENTS])
            continue
        arguments = call.get("arguments", call.get("parameters"))
        yield ToolCall(id="", name=call["name"], arguments=json.dumps(arguments))


def _joined(commands: list[ProbeCommand]) -> ProbeCommand:
    """Join several commands of one message; without any input, return the first faulty one."""
    inputs = tuple(text for command in commands for text in command.inputs)
    if inputs:
        return ProbeCommand(TOOL, inputs)
    return commands[0] if commands else ProbeCommand(None)


def tool_command(call: ToolCall) -> ProbeCommand:
    """Return the call of the function that a tool call asks for."""
    if call.name != TOOL:
        return ProbeCommand(call.name, error=f"there is no tool {call.name}; the only one is {TOOL}")
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return ProbeCommand(TOOL, error="the arguments of your call are not JSON")
    if isinstance(arguments, dict):
        only = next(iter(arguments.values())) if len(arguments) == 1 else None
        arguments = arguments.get("inputs", only)
    listed = _listed(arguments)
    if not listed:
        return ProbeCommand(
            TOOL, error='the call names no input; its arguments look like {"inputs": ["input1", "input2"]}'
        )
    if wrong := [one for one in listed if not isinstance(one, str | int | float) or isinstance(one, bool)]:
        return ProbeCommand(TOOL, error=f"{json.dumps(wrong[0])} is no input: an input is a number or a text")
    return ProbeCommand(TOOL, tuple(storable(one) if isinstance(one, str) else json.dumps(one) for one in listed))


def _listed(inputs: Any) -> list[Any]:
    """Return `inputs` as a list. A single input, and a list written as a string, are accepted too."""
    if isinstance(inputs, str) and inputs.lstrip().startswith("["):
        with contextlib.suppress(ValueError, RecursionError):
            inputs = json.loads(inputs)
    if isinstance(inputs, list):
        return inputs
    return [] if inputs is None or isinstance(inputs, dict) else [inputs]


def invented(text: str) -> str:
    """Return the outputs that `text` gives for calls it only asks for; an empty string if it gives none.

    Text before the command is about the past and may repeat real outputs; thinking is ignored.
    """
    return _at_invention(without_thinking(text))[1]


def invented_beside(text: str, inputs: tuple[str, ...], known: set[str]) -> str:
    """Return the invented outputs in text that comes with tool calls: pairs it quotes for inputs that were never probed
    before.
    """
    made_up = [(x, y) for x, y in quoted_pairs(without_thinking(text)) if x in inputs and x not in known]
    return "\n".join(f"({x}, {y})" for x, y in made_up)


def _up_to_closing(text: str) -> str:
    """Return `text` up to the parenthesis that closes the one before it, respecting quotes; one line if none does."""
    depth, quote = 1, ""
    for k, character in enumerate(text):
        before = text[k - 1] if k else " "
        if quote:
            quote = "" if character == quote else quote
        elif character in _QUOTES and not before.isalnum():
            quote = _QUOTES[character]
        elif character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            if depth == 0:
                return text[:k]
    # An apostrophe may have hidden the end: use the line up to its last parenthesis.
    line = text.split("\n", 1)[0]
    return line.rsplit(")", 1)[0]


_TOKEN = re.compile(r"\"([^\"]{0,999})\"|'([^']{0,999})'|“([^”]{0,999})”|‘([^’]{0,999})’|(,)|([^\s,]+)")


def _arguments(text: str) -> list[str]:
    """Split inputs at commas or white space, without a leading file name.

    If there are commas, unquoted words between two of them are one input, but numbers are still several.
    """
    groups: list[list[tuple[str, bool]]] = [[]]
    for match in _TOKEN.finditer(text):
        if match[5]:
            groups.append([])
        else:
            groups[-1].append((match[6] or match[1] or match[2] or match[3] or match[4] or "", match[6] is None))
    if groups[0] and groups[0][0][0].endswith(".py"):
        groups[0] = groups[0][1:]
    inputs: list[str] = []
    for group in groups:
        words = [word for word, _ in group]
        phrase = len(groups) > 1 and not any(quoted for _, quoted in group) and not all(map(_is_number, words))
        inputs += [" ".join(words)] if phrase and words else words
    return inputs


def _is_number(word: str) -> bool:
    return re.fullmatch(r"[-+−]?\d*\.?\d+(?:[eE][-+]?\d+)?", word) is not None


_SHOWN = 6
"""The most inputs that are listed by name."""


def in_words(commands: Sequence[ProbeCommand]) -> str:
    """Return what was read, in words: "3 inputs: 1, 2, 3", why a command cannot be run, or "no command"."""
    return "; ".join(_in_words(command) for command in commands)


def _in_words(command: ProbeCommand) -> str:
    if command.name is None:
        return "no command"
    if command.error:
        return command.error
    if not command.inputs:
        return "a command without inputs"
    shown = ", ".join(command.inputs[:_SHOWN])
    more = ", …" if len(command.inputs) > _SHOWN else ""
    return f"{len(command.inputs)} {'input' if len(command.inputs) == 1 else 'inputs'}: {shown}{more}"


# The final answer


def is_final(text: str, rules: Rules, asked: Schema = None) -> bool:
    """Whether the run ends with this answer. The updated parser requires a description, and no command before it; of an
    answer with the fields `asked` for, a description.
    """
    if asked is not None and (found := fields.read(text, asked)) is not None:
        return rules == "repaired" and bool(found["description"])
    if rules == "paper":
        return END in text
    concluded, command = conclusion(text), _first_command(plain(text))
    return bool(concluded.description) and not (command and command.start() < (concluded.at or 0))


def interpretation(text: str, rules: Rules, asked: Schema = None) -> Parts:
    """Return description, domain and code of a final answer, from its fields if it has those `asked` for.

    Paper rules (collect_interpretations.py:124-150) split at tags that are followed by a colon and a space; without
    that space the whole message, thinking included, is the description. Code is a fenced block after the last code tag,
    with or without a space; an empty string if there is none.
    """
    if asked is not None and (found := fields.read(text, asked)) is not None:
        description, domain, code = (str(found.get(part, "")) for part in PARTS["numeric"])
        return of_parts(description, domain, of_field(code))
    return _paper_interpretation(text) if rules == "paper" else of_parts(*conclusion(text)[:3])


def _paper_interpretation(text: str) -> Parts:
    after = text.rsplit("[DESCRIPTION]: ", 1)[-1]
    description = after.split("[DOMAIN]: ", 1)[0].split("[CODE]: ", 1)[0]
    domain = text.rsplit("[DOMAIN]: ", 1)[-1].split("[CODE]: ", 1)[0] if "[DOMAIN]: " in text else ""
    return Parts(description.strip(), domain.strip(), _paper_code(text), paper_told(description))


def _paper_code(text: str) -> str:
    """Return the code after the last tag: the last block marked as Python, up to the next fence or the end; without
    such a block, what is between the last two fences, or after the only one.
    """
    after = text.rsplit("[CODE]:", 1)[-1]
    for opening in ("```python", "``` python"):
        if opening in after:
            return after.rsplit(opening, 1)[-1].split("```", 1)[0].strip("\r\n")
    parts = after.rsplit("```", 2)
    return parts[1].strip("\r\n") if len(parts) > 1 else ""


def paper_told(description: str) -> str:
    """Return what the authors' evaluator reads of a description (unit_testing.py): the domain is in a separate file,
    and everything from the code tag on is cut off.
    """
    return description.split("[CODE]:", 1)[0].strip()


# An evaluator's reply


def choice_is_correct(reply: str, correct: int, rules: Rules) -> bool | None:
    """Whether `reply` picks example `correct` (1 to 3); None if the updated parser cannot tell what it picks.

    Paper rules accept the digit anywhere in the reply (unit_testing.py:137), so "3 (not 1)" is right if 1 is.
    """
    if rules == "paper":
        return str(correct) in reply
    picked = choice(reply)
    return None if picked is None else picked == correct


def choice(reply: str) -> int | None:
    """Return the example (1 to 3) that `reply` picks: the one after the last "answer", else the only one it names. None
    if that is unclear.
    """
    spoken = without_thinking(reply)
    if stated := stated_choice(spoken):
        return stated
    named = set(re.findall(r"(?<![\d.])([123])(?![\d.]*\d)", spoken))
    return int(named.pop()) if len(named) == 1 else None


def stated_choice(spoken: str) -> int | None:
    """Return the example (1 to 3) after the last "answer"; None if there is none."""
    after = re.findall(
        r"answer\W{0,8}(?:is\W{1,4})?(?:example\W{0,3}|option\W{0,3}|pair\W{0,3}|number\W{0,3})?([123])\b", spoken, re.I
    )
    return int(after[-1]) if after else None


# Answers requested as JSON fields (`answers = "schema"`): the fields of each role, and the values read from them.
#
# Only answers that conclude or judge have fields: the interpreter's final answer, and the example that an evaluator
# picks. While an agent works it asks in text or by tool calls as usual; when it has concluded, it is asked for its
# conclusion as fields. A model that carries a function out is the box itself, and its answers have no fields.
#
# An answer with the fields is read without guessing. One without them is parsed as prose, and the call says so. The
# original parser reads prose only, so it can read no answer of such a run.


PARTS = {
    **dict.fromkeys(("numeric", "strings"), ("description", "domain", "code")),
    "entities": ("description",),
    "relations": ("description", "domain"),
}
"""The parts of a conclusion, by category."""


def of_interpreter(spec: ProbeSpec) -> Schema:
    """Return the schema of a conclusion: its parts, in the order that prose has them."""
    parts: dict[str, fields.Kind] = dict.fromkeys(PARTS[spec.category], "text")
    return fields.schema_for(spec.answers, **parts)


def of_choice(spec: ProbeSpec, *numbers: str) -> Schema:
    """Return the schema of an answer that is one of the `numbers`: an evaluator's example, or a judge's description."""
    return fields.schema_for(spec.answers, example=numbers)


def choice_in_fields(answer: ModelAnswer, asked: Schema) -> int | None:
    """Read the answer as `parse.choice` does, or from its field. In an answer that was cut, only a complete field or
    line counts.
    """
    text = readable(answer, "repaired", asked)
    if text is None:
        return stated_choice(readable(answer, "repaired", lines=True) or "")
    found = None if asked is None else fields.read(text, asked)
    return choice(text) if found is None else int(found["example"])


def score_of(spec: ProbeSpec, score: Score, rules: Rules) -> Score:
    """Return `score`, or an undefined one for the paper rules if answers are requested as fields."""
    lost = spec.answers == "schema" and rules == "paper"
    return undefined(score.of, fields.NO_PAPER_FIGURE) if lost else score
