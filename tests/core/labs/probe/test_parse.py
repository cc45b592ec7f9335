import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.events import ToolCall
from core.labs.probe.claim_extraction import claimed_intervals, quoted_pairs
from core.labs.probe.parse import (
    ProbeCommand,
    choice,
    choice_is_correct,
    command,
    in_words,
    interpretation,
    invented,
    invented_beside,
    is_final,
    tool_command,
)


@pytest.mark.parametrize(
    ("text", "name", "inputs"),
    [
        ("PYTHON(f.py 1, 2, 3)", "PYTHON", ("1",)),
        ('PYTHON("f.py" "dog")', "PYTHON", ()),
        ("RELU(x) fits. COMMAND: PYTHON(f.py 1)", "RELU", ()),
        ("PYTHON(f.py (1) 2)", None, ()),
        ("PYTHON(f.py 1 2.5 -3)", "PYTHON", ("1", "2.5", "-3")),
        ('PYTHON(f.py "hello world" dog)', "PYTHON", ("hello world", "dog")),
        ("PYTHON(f.py 'dog')", "PYTHON", ("dog",)),
        ("PYTHON(f.py 'big dog' \"it's\")", "PYTHON", ("big dog", "it's")),
        ('PYTHON(f.py "O\'Neil")', "PYTHON", ("O'Neil",)),
        ("PYTHON(f.py O'Neil)", None, ()),
        ('PYTHON(f.py "a (b) c" d)', "PYTHON", ("a (b) c", "d")),
        ('PYTHON(f.py "(" ")")', "PYTHON", ("(", ")")),
        ('PYTHON(f.py a"b c"d)', "PYTHON", ("ab cd",)),
        ('PYTHON(f.py "")', "PYTHON", ("",)),
        ('PYTHON(f.py a\\ b "c\\"d" "e\\f")', None, ()),
        ('PYTHON(f.py a\\ b "e\\f" \\$)', "PYTHON", ("a b", "e\\f", "$")),
        ("PYTHON(f.py 1\n2)", "PYTHON", ("1",)),
        ("PYTHON(\nf.py 1 2\n)", "PYTHON", ("1", "2")),
        ('PYTHON(f.py "two\nlines")', "PYTHON", ("two\nlines",)),
        ("PYTHON(f.py 1; f.py 2)", "PYTHON", ("1",)),
        ("PYTHON(f.py 1 # 2)", "PYTHON", ("1",)),
        ("PYTHON(f.py a#b)", "PYTHON", ("a#b",)),
        ("PYTHON(./tmp/f.py 7)", "PYTHON", ("7",)),
        ("PYTHON(3 4)", "PYTHON", ()),
        ("PYTHON()", "PYTHON", ()),
        ("As N(0, 1) shows. PYTHON(f.py 1)", "N", ()),
        ("I am done.", None, ()),
    ],
)
def test_commands_by_paper_rules(text, name, inputs):
    parsed = command(text, "paper")
    assert (parsed.name, parsed.inputs) == (name, inputs)
    assert (parsed.error is not None) == (name == "RELU")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('PYTHON(f.py """dog""")', "double quotes"),
        ("PYTHON(f.py '''dog''')", "double quotes"),
        ("PYTHON('f.py' 1)", "double quotes"),
        ("PYTHON(f.py 1, 'dog')", "double quotes"),
        ('PYTHON(f.py "a, b")', "not closed"),
        ("PYTHONS(f.py 1)", "no command"),
    ],
)
def test_commands_that_paper_rules_refuse(text: str, words: str) -> None:
    asked = command(text, "paper")
    assert asked.inputs == () and words in str(asked.error)


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("PYTHON(f.py (1) 2)", ("(1)", "2")),
        ("PYTHON(f.py 1, 2, 3)", ("1", "2", "3")),
        ('PYTHON("f.py" "dog")', ("dog",)),
        ("RELU(x) fits. COMMAND: PYTHON(f.py 1)", ("1",)),
        ("**COMMAND:** `PYTHON(function.py -10 0.5 1e3)`", ("-10", "0.5", "1e3")),
        ("python(function.py 'a, b' \"c)d\" it's)", ("a, b", "c)d", "it's")),
        ("PYTHON(f.py hello world, foo bar)", ("hello world", "foo bar")),
        ("PYTHON(f.py 1)\nPYTHON(f.py 2)", ("1", "2")),
        ("PYTHON(f.py 1)\nFunction input - output pairs: (1, 2)\nPYTHON(f.py 5)", ("1",)),
        ("PYTHON(1 2)", ("1", "2")),
        ('PYTHON(f.py "" "x")', ("", "x")),
        ("First I think. " * 1000 + "PYTHON(function.py 1 2)", ("1", "2")),
    ],
)
def test_commands_by_repaired_rules(text, inputs):
    assert command(text, "repaired") == ("PYTHON", inputs, None)


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ((), "a command without inputs"),
        (("1",), "1 input: 1"),
        (tuple("123456"), "6 inputs: 1, 2, 3, 4, 5, 6"),
        (tuple("12345678"), "8 inputs: 1, 2, 3, 4, 5, 6, …"),
    ],
)
def test_what_was_read_in_words(inputs, words):
    assert in_words([ProbeCommand("PYTHON", inputs), ProbeCommand(None)]) == f"{words}; no command"
    assert in_words([ProbeCommand("PYTHON", inputs, "It is cut.")]) == "It is cut."


@pytest.mark.parametrize(
    ("arguments", "inputs"),
    [
        ('{"inputs": [1, -2.5, 1e3]}', ("1", "-2.5", "1000.0")),
        ('{"inputs": ["dog", "Hello World", "3"]}', ("dog", "Hello World", "3")),
        ('{"inputs": "dog"}', ("dog",)),
        ('{"inputs": "[1, 2]"}', ("1", "2")),
        ('{"x": [7]}', ("7",)),
        ("[1, 2]", ("1", "2")),
        ("5", ("5",)),
        ('{"inputs": ["[1, 2]"]}', ("[1, 2]",)),
        ('{"inputs": [NaN]}', ("NaN",)),
    ],
)
def test_the_inputs_of_a_tool_call(arguments, inputs):
    asked = tool_command(ToolCall(id="c", name="call_function", arguments=arguments))
    assert asked.inputs == inputs and asked.error is None


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("run_shell", '{"inputs": [1]}', "no tool run_shell"),
        ("call_function", '{"inputs": [1, 2', "not JSON"),
        ("call_function", "", "not JSON"),
        ("call_function", "{}", "names no input"),
        ("call_function", '{"inputs": []}', "names no input"),
        ("call_function", '{"inputs": null}', "names no input"),
        ("call_function", '{"inputs": [1, null]}', "null is no input"),
        ("call_function", '{"inputs": [[1]]}', "[1] is no input"),
        ("call_function", '{"inputs": true}', "true is no input"),
        ("call_function", '{"inputs": [1, null, true]}', "null is no input"),
        ("call_function", '{"a": 1, "b": 2}', "names no input"),
    ],
)
def test_a_tool_call_that_cannot_be_made_says_why(name, arguments, words):
    asked = tool_command(ToolCall(id="c", name=name, arguments=arguments))
    assert asked.inputs == () and words in asked.error


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ('```json\n{\n  "name": "call_function",\n  "arguments": {"inputs": [1, 2]}\n}\n```', ("1", "2")),
        ('<tool_call>\n{"name": "call_function", "arguments": {"inputs": ["a b"]}}\n</tool_call>', ("a b",)),
        (
            '{"name": "call_function", "parameters": {"inputs": [1]}} {"name": "call_function", "arguments": [2]}',
            ("1", "2"),
        ),
    ],
)
def test_tool_calls_written_out_are_read_by_repaired_rules(text, inputs):
    assert command(text, "repaired").inputs == inputs
    assert command(text, "paper").name is None
    assert not is_final(text + "\n[DESCRIPTION]: a line", "repaired")


def test_a_tool_call_written_out_by_halves_is_explained():
    asked = command('{"name": "call_function", "arguments": {"inputs": [1', "repaired")
    assert asked.inputs == () and asked.error == "the arguments of your call are not JSON"


def test_invented_outputs_beside_a_tool_call():
    call = '{"name": "call_function", "arguments": {"inputs": [1]}}'
    assert invented(f"{call}\n\nInputs and outputs:\n(1, 10)") == "Inputs and outputs:\n(1, 10)"
    assert invented_beside("f(1) = 10 and f(2) = 4", ("1", "3"), {"2"}) == "(1, 10)"
    assert invented_beside("f(2) = 4, so I look at 3", ("3",), {"2"}) == ""


THOUGHT = "<think>First PYTHON(f.py 9).\nOutputs: (9, 81)\n[DESCRIPTION]: squares</think>\n"


def test_commands_in_thinking_are_not_run_by_repaired_rules():
    assert command(THOUGHT + "PYTHON(f.py 1 2)", "repaired").inputs == ("1", "2")
    assert command(THOUGHT + "PYTHON(f.py 1 2)", "paper").inputs == ("9",)
    for unclosed in ("<think>PYTHON(f.py 9)", '<thinking>{"name": "call_function", "arguments": {"inputs": [1]}}'):
        assert command(unclosed, "repaired").name is None
    assert command("perhaps PYTHON(f.py 9)?</think>PYTHON(f.py 1)", "repaired").inputs == ("1",)


def test_outputs_in_thinking_are_not_invented():
    assert invented(THOUGHT + "PYTHON(f.py 1)") == ""
    assert invented(THOUGHT + "PYTHON(f.py 1)\nOutput: 3") == "Output: 3"
    assert invented("<think>PYTHON(f.py 1)\nOutput: 3") == ""
    assert invented_beside("<think>perhaps f(1) = 10</think>", ("1",), set()) == ""


def test_a_command_without_inputs_is_explained():
    assert "names no input" in command("PYTHON(function.py)", "repaired").error
    assert command("no command here", "repaired").name is None


FINAL = """<think>a [DESCRIPTION]: not this</think>Here it is.
**[DESCRIPTION]**: It doubles its input.
**[DOMAIN]:** Corrupted between 3 and -8.5, where values are random.
**[CODE]**:
```python
def g(x):
    return 1
```
or rather
```
def f(x):
    return 2 * x
```
"""


def test_a_final_answer_in_markdown_is_read_by_repaired_rules():
    parsed = interpretation(FINAL, "repaired")
    assert parsed.description == "It doubles its input."
    assert parsed.domain.startswith("Corrupted between")
    assert parsed.code == "def f(x):\n    return 2 * x"
    assert "def" not in parsed.told


def test_a_final_answer_as_the_paper_wants_it_is_read_the_same_by_both():
    text = "Thought.\n[DESCRIPTION]: doubles\n[DOMAIN]: all\n[CODE]: \n```python\ndef f(x):\n    return 2 * x\n```"
    for rules in ("paper", "repaired"):
        parsed = interpretation(text, rules)
        assert (parsed.description, parsed.domain) == ("doubles", "all")
        assert parsed.code == "def f(x):\n    return 2 * x"


def test_paper_rules_keep_the_whole_message_without_a_space_after_the_colon():
    text = "I think.. [DESCRIPTION]:\nlinear"
    assert interpretation(text, "paper").description == text
    assert interpretation(text, "repaired").description == "linear"


@pytest.mark.parametrize(
    ("text", "paper", "repaired"),
    [
        ("[DESCRIPTION]: a line\n[DOMAIN]: all\n[CODE]: none", "a line", "a line\nall"),
        ("[DESCRIPTION]: a line\n[CODE]: x = 1\n[DOMAIN]: all", "a line", "a line\nall"),
        ("[DESCRIPTION]: a line\n[CODE]:\nx = 1", "a line", "a line"),
        ("I say [DESCRIPTION]:\na line\n[DOMAIN]: all", "I say [DESCRIPTION]:\na line", "a line\nall"),
        ("[DESCRIPTION]: a line [DOMAIN]:\nall\n[CODE]: x", "a line [DOMAIN]:\nall", "a line\nall"),
    ],
)
def test_what_an_evaluator_reads(text: str, paper: str, repaired: str) -> None:
    """The authors' evaluator sees the description up to the domain, and none of the code."""
    assert interpretation(text, "paper").told == paper
    if "CODE]: x =" not in text:
        assert interpretation(text, "repaired").told == repaired


def test_code_without_a_fence():
    text = "## Description\nlinear\n## Code\ndef f(x):\n    return x\n"
    assert interpretation(text, "repaired").code == "def f(x):\n    return x"
    assert interpretation(text, "paper").code == ""


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[CODE]: ```python\na\n```\nor rather\n```\nb\n```", "a"),
        ("[CODE]: ```\na\n```\nor rather\n```\nb\n```", "b"),
        ("[CODE]: ```python\na\n```\n```python\nb\n```", "b"),
        ("[CODE]: ``` python\na\n```", "a"),
        ("[CODE]: ```python\nx = 1\n    y", "x = 1\n    y"),
        ("[CODE]:\n```\nx = 1", "x = 1"),
        ("```python\na\n```\n[CODE]: see above", ""),
        ("```python\na\n```\n[CODE]:", ""),
        ("```python\na\n```\n[CODE] see above", "a"),
        ("```python\na\n```\nno tag", "a"),
        ("[CODE]: ```py\na\n```", "py\na"),
        ("[CODE]: ```\na\n```\nand ```", "and "),
        ("[CODE]: def f(x): return x", ""),
        ("[CODE]: ```python\n  f(x)\n```", "  f(x)"),
    ],
)
def test_which_code_counts_by_paper_rules(text: str, code: str) -> None:
    assert interpretation(text, "paper").code == code


def test_the_end_of_a_run():
    both = "PYTHON(f.py 1)\nI guess:\n[DESCRIPTION]: linear"
    assert is_final(both, "paper") and not is_final(both, "repaired")
    assert is_final("[DESCRIPTION]: linear", "repaired")
    assert not is_final("I will end with [DESCRIPTION]", "repaired")
    assert is_final("I will end with [DESCRIPTION]", "paper")


@pytest.mark.parametrize(
    ("reply", "picked"),
    [
        ("[ANSWER]: 3 (not 1)", 3),
        ("The answer is **1**, not 3", 1),
        ("Example 2", 2),
        ("2", 2),
        ('{"answer": 3}', 3),
        ("Example 1 or 3", None),
        ("<think>1? 2?</think>Answer: 2.", 2),
        ("10", None),
        ("", None),
        ("The answer is 1? No, the answer is 3.", 3),
    ],
)
def test_what_an_evaluator_picks(reply, picked):
    assert choice(reply) == picked


def test_paper_rules_accept_the_digit_anywhere():
    assert choice_is_correct("[ANSWER]: 3 (not 1)", 1, "paper") is True
    assert choice_is_correct("Example 1 or 3", 3, "paper") is True
    assert choice_is_correct("[ANSWER]: 3 (not 1)", 1, "repaired") is False
    assert choice_is_correct("Example 1 or 3", 3, "repaired") is None


@given(st.text(max_size=300))
def test_nothing_a_model_writes_raises(text):
    for rules in ("paper", "repaired"):
        command(text, rules)
        interpretation(f"[DESCRIPTION]: {text}", rules)
        is_final(text, rules)
    choice(text)
    claimed_intervals(text)
    quoted_pairs(text)


@given(
    st.lists(
        st.text(alphabet=st.characters(exclude_characters='"\\', codec="ascii", categories=["L", "N", "P"])), min_size=1
    )
)
def test_double_quoted_inputs_come_through_unchanged(inputs):
    line = "PYTHON(function.py " + " ".join(f'"{text}"' for text in inputs) + ")"
    assert list(command(line, "repaired").inputs) == inputs


@given(
    st.text(), st.text() | st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists).map(json.dumps)
)
def test_no_tool_call_raises(name, arguments):
    for tool in (name, "call_function"):
        asked = tool_command(ToolCall(id="", name=tool, arguments=arguments))
        assert bool(asked.inputs) != bool(asked.error)


def test_a_written_call_that_breaks_off_before_its_end_is_read_wherever_it_stands() -> None:
    call = '{"name": "call_function", "arguments": {"inputs": ["3", "cat"]}'
    head = call.index(' {"inputs"')
    for before in ("", "x" * (4_000 - head), "x" * 9_000):
        assert command(f"{before}{call}", "repaired") == ("call_function", ("3", "cat"), None), len(before)


def test_a_description_ends_the_run_where_no_command_stands_before_it() -> None:
    described, asked = f"{'A long thought. ' * 40}\n[DESCRIPTION]: a line\n", "PYTHON(function.py 1)\n"
    assert is_final(described + asked, "repaired")
    assert not is_final(asked + described, "repaired")


def test_a_parenthesis_within_quotes_closes_no_command_and_an_apostrophe_is_no_quote() -> None:
    assert command('PYTHON(function.py a "b)c" d)', "repaired").inputs == ("a", "b)c", "d")
    assert command("PYTHON(function.py, don't, can't) and more)", "repaired").inputs == ("don't", "can't")


@pytest.mark.parametrize("unit", [" \\", "\\a", "A('", "A('\"", "A(\"'", "'", "()", "```", "[CODE]:", "a 'b' "])
@pytest.mark.parametrize("before", ["", "PYTHON(f.py ", 'A("'])
def test_paper_rules_read_long_texts_once(unit: str, before: str) -> None:
    text = (before + unit * 65_536)[:65_535] + ")"
    began = time.process_time()
    command(text, "paper")
    interpretation(text, "paper")
    assert time.process_time() - began < 0.5
