from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.events import ToolCall
from core.labs.find.parse import (
    choice,
    choice_is_correct,
    claimed_intervals,
    command,
    interpretation,
    invented,
    invented_beside,
    is_final,
    quoted_pairs,
    tool_command,
)

INF = float("inf")


@pytest.mark.parametrize(
    ("text", "name", "inputs"),
    [
        ("PYTHON(f.py 1, 2, 3)", "PYTHON", ("1",)),
        ('PYTHON("f.py" "dog")', "PYTHON", ()),
        ("RELU(x) fits. COMMAND: PYTHON(f.py 1)", "RELU", ()),
        ("PYTHON(f.py (1) 2)", None, ()),
        ("PYTHON(f.py 1 2.5 -3)", "PYTHON", ("1", "2.5", "-3")),
        ('PYTHON(f.py "hello world" dog)', "PYTHON", ("hello world", "dog")),
        ("PYTHON(f.py 'dog')", "PYTHON", ()),
        ('PYTHON(f.py """dog""")', "PYTHON", ()),
        ("I am done.", None, ()),
    ],
)
def test_commands_by_paper_rules(text, name, inputs):
    parsed = command(text, "paper")
    assert (parsed.name, parsed.inputs) == (name, inputs)
    refused = name == "RELU" or "'" in text or '"""' in text
    assert (parsed.error is not None) == refused


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
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
    ],
)
def test_commands_by_repaired_rules(text, inputs):
    assert command(text, "repaired") == ("PYTHON", inputs, None)


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
    told = command('{"name": "call_function", "arguments": {"inputs": [1', "repaired")
    assert told.inputs == () and told.error == "the arguments of your call are not JSON"


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


def test_code_without_a_fence():
    text = "## Description\nlinear\n## Code\ndef f(x):\n    return x\n"
    assert interpretation(text, "repaired").code == "def f(x):\n    return x"
    assert interpretation(text, "paper").code == ""


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
    ],
)
def test_what_an_evaluator_picks(reply, picked):
    assert choice(reply) == picked


def test_paper_rules_accept_the_digit_anywhere():
    assert choice_is_correct("[ANSWER]: 3 (not 1)", 1, "paper") is True
    assert choice_is_correct("Example 1 or 3", 3, "paper") is True
    assert choice_is_correct("[ANSWER]: 3 (not 1)", 1, "repaired") is False
    assert choice_is_correct("Example 1 or 3", 3, "repaired") is None


@pytest.mark.parametrize(
    ("domain", "intervals"),
    [
        ("There is a corrupted interval between 3 and -8.5.", ((-8.5, 3.0),)),
        ("Defined between -100 and 100. No unexpected behavior.", ()),
        ("For x > 33.1 the values are random around 5.", ((33.1, INF),)),
        ("The function is not corrupted between 3 and 5.", ()),
        ("All of [-128, 128]. In the interval [2.5, 9.3] the function is constant.", ((2.5, 9.3),)),
        ("Corrupted below −12.5: there the values are random.", ((-INF, -12.5),)),
        ("There is no noise, but the values are corrupted between 3 and 9.", ((3.0, 9.0),)),
        ("The function is not continuous, and corrupted between 3 and 9.", ((3.0, 9.0),)),
        ("It is no longer linear between 3 and 9: there it is random.", ((3.0, 9.0),)),
        ("Not corrupted in (3, 9), but noisy between 20 and 30.", ((20.0, 30.0),)),
        ("No unexpected behavior except between 3 and 9.", ((3.0, 9.0),)),
        ("It isn't corrupted between 3 and 9.", ()),
        ("Outputs are noisy for all x from -128 to 128.", ()),
        ("Noisy everywhere from 0 to 128.", ()),
        ("For all x between 3 and 9 the values are random.", ((3.0, 9.0),)),
        ("Defined for all real x except 0, tested between -100 and 100.", ()),
        ("Defined for all x except 0, tested between -50 and 50.", ()),
        ("Linear except 10 < x < 20.", ((10.0, 20.0),)),
        ("I tested between 3 and 9, where values are random.", ((3.0, 9.0),)),
        ("The observations are noisy: (3, 7.1), (3, 6.9).", ()),
        ("", ()),
    ],
)
def test_claimed_intervals(domain, intervals):
    assert claimed_intervals(domain) == intervals


def test_quoted_pairs():
    text = 'f(3) = 7 and f("cat") -> "tac"; (3, 7.0); 4 → 5'
    assert quoted_pairs(text) == (("3", "7"), ("cat", "tac"), ("3", "7.0"), ("4", "5"))


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("Corrupted in the open interval (4.1, 18.9615).", ()),
        ("The domain is (-100, 100).", ()),
        ("Corrupted intervals:\n- (4.1, 18.9)\n- (30, 40)", ()),
        ("(4.1, 18.9) is the corrupted interval.", ()),
        ("Random around 5 (4.1, 18.9).\nCorrupted between 4.1 and 18.9.", ()),
        ("It is max(0, 3) for x in (1, 2).", ()),
        ('It is x.replace("a", "b").', ()),
        ("Within the range I looked at, observations: (3, 7), (4, 9).", (("3", "7"), ("4", "9"))),
        ("The outputs look noisy: (3, 7), (3, 9).", (("3", "7"), ("3", "9"))),
        ("Observed:\n(3, 7)\n(4, 9)", (("3", "7"), ("4", "9"))),
        ("Corrupted in (4, 9). It doubles: (3, 6).", (("3", "6"),)),
        ('Replaces "a" -> "b".', ()),
        ('Letters are mapped:\n- "a" -> "b"\n- "c" -> "d"', ()),
        ('Replaces "a" -> "b", for example "cat" -> "cbt".', (("a", "b"), ("cat", "cbt"))),
        ('Reverses the letters: "cat" -> "tac".', (("cat", "tac"),)),
        ('Replaces "a".\nf("cat") -> "cbt"', (("cat", "cbt"),)),
        ("Input 3 -> 7; 'x' -> 'y'", (("3", "7"), ("x", "y"))),
    ],
)
def test_intervals_and_rules_for_letters_are_no_quotes(text, pairs):
    assert quoted_pairs(text) == pairs


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
