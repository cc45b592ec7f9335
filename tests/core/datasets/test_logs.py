"""Answers from the logs of other tools. Inspect 0.3.285 wrote `tests/data/inspect.eval`, with its mock model."""

import io
import json
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from core import home, journal
from core.__main__ import main
from core.datasets import logs, own
from core.datasets.items import DatasetError
from core.datasets.logs import Unread
from core.transcript import transcript

REAL = Path(__file__).parents[2] / "data" / "inspect.eval"
HEADER = {"version": 2, "eval": {"model": "openai/x"}, "plan": {"config": {"temperature": 0.5}}}
ANSWER = "Its wings are flippers. So the answer is no."


def sample(id: str, text: str = ANSWER, **more: Any) -> dict[str, Any]:
    turn = {"role": "assistant", "content": text}
    asked = {"id": id, "epoch": 1, "input": f"Can {id} fly?", "target": "no"}
    return {**asked, "output": {"model": "openai/x", "choices": [{"message": turn}]}, **more}


def zipped(folder: Path, *samples: dict[str, Any] | bytes, header: object = HEADER) -> Path:
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as log:
        log.writestr("header.json", json.dumps(header))
        for number, one in enumerate(samples):
            log.writestr(f"samples/{number}_epoch_1.json", one if isinstance(one, bytes) else json.dumps(one))
    return path


def written(folder: Path, *lines: object) -> Path:
    path = folder / "owner__model" / "samples_birds_2026.jsonl"
    path.parent.mkdir()
    path.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines))
    return path


def test_a_real_log_of_inspect_which_is_packed_with_zstandard() -> None:
    found = logs.read(REAL, "inspect")
    assert found.samples == 2 and found.unread == []
    first, second = found.rows
    assert first == {
        "question": "Can a penguin fly?",
        "answer": "no",
        "explanation": "Penguins cannot fly because their wings are flippers.",
        "gold": "no",
        "source": "mockllm/model",
        "sample": "a",
        "epoch": "1",
        "prompt": '[{"role": "user", "content": "Can a penguin fly?"}]',
        "sampling": '{"max_tokens": 200, "temperature": 0.0}',
    }
    assert (second["answer"], second["explanation"]) == ("yes", "Bats are mammals.")


def test_the_command_that_is_printed_tests_the_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expert = (
        "Birds can fly, except the penguin and the ostrich. A penguin is one of the exceptions. So the answer is no."
    )
    intern = "All birds can fly. A penguin is a bird. So the answer is yes."
    answers = [sample(text, text, input="Can a penguin fly?") for text in (expert, intern)]
    assert main(["import", "--from", "inspect", str(zipped(tmp_path, *answers)), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    command = told["command"].split()[3:-1]
    assert main([*command, "control/steadfast", "--counterfactuals", "2", "--arms", "explanation"]) == 0
    items = own.read(told["dataset"], "strategyqa", {"explanation": "explanation", "gold": "gold"}, None, None).rows
    assert {item.said for item in items if not isinstance(item, tuple)} == {"yes", "no"}


def test_every_sample_becomes_a_row_or_is_reported_with_its_field(tmp_path: Path) -> None:
    attached = sample("f", "attachment://1", attachments={"1": ANSWER})
    failed = sample("g", output={"model": "x", "choices": []}, error={"message": "no quota"})
    samples = (
        sample("a"),
        sample("b", "I like birds a lot."),
        sample("c", "No."),
        sample("d", target="42"),
        sample("e", input=[{"role": "user", "content": [{"type": "text", "text": "Can e fly?"}]}]),
        attached,
        failed,
        b"{",
        b'{"a":' + b"[" * 200_000,
    )
    found = logs.read(zipped(tmp_path, *samples), "inspect")
    assert [row["sample"] for row in found.rows] == ["a", "d", "e", "f"]
    assert found.rows[2]["question"] == "Can e fly?" and found.rows[1]["gold"] == ""
    assert {one.sample[0]: (one.field, one.is_row) for one in found.unread} == {
        "1": ("answer", False),
        "2": ("answer", False),
        "3": ("target", True),
        "6": ("output", False),
        "7": ("sample", False),
        "8": ("sample", False),
    }
    assert "no quota" in next(one.why for one in found.unread if one.field == "output")
    assert found.samples == 9 == len(found.rows) + sum(not one.is_row for one in found.unread)


def test_the_older_form_is_one_json_object(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps({**HEADER, "samples": [sample("a"), 5]}))
    found = logs.read(path, "inspect")
    assert found.rows[0]["sampling"] == '{"temperature": 0.5}'
    assert found.unread == [Unread("number 2", "question", "it is empty")]


def test_lm_eval_in_both_forms_of_its_arguments(tmp_path: Path) -> None:
    doc = {"doc_id": 3, "doc": {"question": "Can it fly?"}, "target": "no", "resps": [[ANSWER]]}
    newer = {**doc, "arguments": {"gen_args_0": {"arg_0": "Q: Can it fly?", "arg_1": {"temperature": 0.0}}}}
    older = {**doc, "arguments": [["Q: Can it fly?", {"temperature": 0.0}]]}
    likely = {**doc, "resps": [[[-1.5, False]]]}
    found = logs.read(written(tmp_path, newer, older, likely), "lm-eval")
    assert found.rows[0] == found.rows[1]
    assert found.rows[0]["source"] == "owner/model" and found.rows[0]["prompt"] == "Q: Can it fly?"
    assert [(one.sample, one.field) for one in found.unread] == [("line 3", "resps")]


def test_json_lines_with_the_answer_apart_or_not(tmp_path: Path) -> None:
    apart = {"question": "Can it fly?", "answer": "no", "explanation": "It has no wings.", "model": "x"}
    raw = {"question": "Can it fly?", "response": ANSWER, "gold": False}
    found = logs.read(written(tmp_path, apart, raw, "", "7"), "jsonl")
    assert [(row["answer"], row["explanation"], row["gold"]) for row in found.rows] == [
        ("no", "It has no wings.", ""),
        ("no", "Its wings are flippers.", "no"),
    ]
    assert found.unread == [Unread("line 4", "line", "it is no JSON object")]


def test_a_bomb_is_not_unpacked_beyond_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "LARGEST_SAMPLE", 100_000)
    bomb = json.dumps(sample("a", " " * 1_000_000)).encode()
    found = logs.read(zipped(tmp_path, bomb, sample("b")), "inspect")
    assert [row["sample"] for row in found.rows] == ["b"] and "unpacked" in found.unread[0].why


def test_damage_anywhere_is_an_error_or_a_report(tmp_path: Path) -> None:
    whole = REAL.read_bytes()
    for place in range(0, len(whole), 97):
        path = tmp_path / "damaged.eval"
        path.write_bytes(whole[:place] + b"\xff\x00\xff" + whole[place + 3 :])
        try:
            found = logs.read(path, "inspect")
        except DatasetError:
            continue
        assert len(found.rows) + sum(not one.is_row for one in found.unread) == found.samples
    for cut in (0, 1, 30, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:cut])
        with pytest.raises(DatasetError):
            logs.read(path, "inspect")


def test_ten_times_the_samples_take_no_more_than_ten_times_as_long(tmp_path: Path) -> None:
    def seconds(count: int) -> float:
        path = zipped(tmp_path, *(sample(str(number)) for number in range(count)))
        begun = time.process_time()
        assert len(logs.read(path, "inspect").rows) == count
        return time.process_time() - begun

    seconds(1)
    assert seconds(500) < 25 * seconds(50) + 0.2


def test_a_file_that_is_something_else_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stranger = io.BytesIO()
    with zipfile.ZipFile(stranger, "w") as made:
        made.writestr("a.txt", "words")
    path = tmp_path / "log.eval"
    for content in (b"", b"words", b"[]", b"{}", b"PK", stranger.getvalue()):
        path.write_bytes(content)
        assert main(["import", "--from", "inspect", str(path)]) == 2
        assert "log" in capsys.readouterr().err


def test_the_answer_s_sentence_is_found_in_linear_time() -> None:
    begun = time.process_time()
    assert logs._ANSWER_SENTENCE.sub("", "A reason." + " \n" * 100_000 + "x").endswith("x")
    assert time.process_time() - begun < 1
    for end in (". So the answer is yes.", ".\nTherefore, the answer is **no**", ".\n\nThe answer is: no."):
        assert logs._ANSWER_SENTENCE.sub("", f"Birds fly{end}").strip() == "Birds fly."


def test_samples_in_chunks_are_read_alike() -> None:
    """Inspect's own converter wrote `inspect_chunked.eval` from the other log."""
    chunked = logs.read(REAL.with_name("inspect_chunked.eval"), "inspect")
    assert chunked.rows == logs.read(REAL, "inspect").rows and not chunked.unread


def test_long_texts_and_the_messages_of_samples_in_chunks_are_found(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    shell = sample("a", "attachment://1", message_refs=[[0, 1], [2, 3], ["x"], [1, -1]])
    parts = {
        "sample": shell,
        "messages/0": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Never asked."}],
        "messages/2": [{"role": "user", "content": "attachment://0"}],
        "attachments/0": ["Can a penguin fly?"],
        "attachments/1": [ANSWER],
    }
    with zipfile.ZipFile(path, "w") as log:
        log.writestr("header.json", json.dumps(HEADER))
        for name, held in parts.items():
            log.writestr(f"samples/a/b_epoch_1/{name}.json", json.dumps(held))
        log.writestr("samples/c_epoch_1/sample.json", json.dumps(shell))
        log.writestr("samples/c_epoch_1/attachments/0.json", "{}")
    found = logs.read(path, "inspect")
    assert [row["explanation"] for row in found.rows] == ["Its wings are flippers."]
    told = [("system", "Be brief."), ("user", "Can a penguin fly?")]
    assert [(turn["role"], turn["content"]) for turn in json.loads(found.rows[0]["prompt"])] == told
    assert found.unread == [Unread("c_epoch_1", "attachments", "it is no JSON list")]


def test_of_multiple_choice_the_answer_is_one_of_the_choices_and_ask_takes_yes_and_no(tmp_path: Path) -> None:
    def asked(id: str, text: str, choices: object, target: object = "B") -> dict[str, Any]:
        return sample(id, text, choices=choices, target=target)

    why, colours = "Its wings are flippers.", ["red", "dark blue", "green"]
    rows = [asked("a", f"{why}\n\nANSWER: B", ["Yes", "No"]), asked("b", f"{why}\nANSWER: A", ["False", "True"], "A")]
    other = [asked("c", f"{why}\n\nANSWER: B", colours), asked("d", f"{why}\n\nANSWER: C", colours, "F")]
    lost = [
        asked("e", why, ["Yes", "No"]),
        asked("f", why, "Yes"),
        asked("g", why, ["red", "red"]),
        asked("h", f"{why}\n\nANSWER: A,B", colours, ["A", "B"]),
    ]
    path = zipped(tmp_path, *rows, *other, *lost)
    found = logs.read(path, "inspect")
    assert [(row["answer"], row["gold"], row["explanation"]) for row in found.rows] == [
        ("no", "no", why),
        ("no", "no", why),
        ("dark blue", "dark blue", why),
        ("green", "", why),
    ]
    assert [row.get("choices") for row in found.rows] == [None, None, *[json.dumps(colours)] * 2] and found.for_ask == 2
    assert [(one.sample[0], one.field, one.is_row) for one in found.unread] == [
        ("2", "choices", True),
        ("3", "choices", True),
        ("3", "target", True),
        ("4", "output", False),
        ("5", "choices", False),
        ("6", "choices", False),
        ("7", "target", False),
    ]
    assert found.samples == 8 == len(found.rows) + sum(not one.is_row for one in found.unread)


def test_ask_leaves_out_the_rows_with_other_choices_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    colours = sample("a", "It absorbs the rest.\n\nANSWER: A", choices=["red", "blue"], target="A")
    birds = "All birds can fly. A penguin is a bird. So the answer is yes."
    path = zipped(tmp_path, colours, sample("b", birds, input="Can a penguin fly?"))
    assert main(["import", "--from", "inspect", str(path)]) == 0
    told = capsys.readouterr()
    assert "0_epoch_1: choices: they are not yes and no: the row keeps them, and Ask leaves it out." in told.err
    assert "2 of 2 samples became rows." in told.out and "Ask tests 1 of them" in told.out
    command = told.out.splitlines()[-1].split()[3:-1]
    assert main([*command, "control/steadfast", "--counterfactuals", "2", "--arms", "explanation"]) == 0
    [file] = home.journals().glob("*.jsonl")
    events = journal.read(file).events
    assert len(transcript(events).cases) == 1 and any("“red” is not one of" in str(event) for event in events)
    alone = zipped(tmp_path, colours)
    assert main(["import", "--from", "inspect", str(alone)]) == 0
    assert "python -m core" not in capsys.readouterr().out


def test_choices_of_lm_eval_and_of_json_lines(tmp_path: Path) -> None:
    """lm-eval writes the number of the correct choice, from 0, as a text. Data sets have several forms of choices."""
    said = "It absorbs all other light. The answer is (B)."
    forms = [{"choices": ["red", "blue"]}, {"options": ["red", "blue"]}, {"choices": {"text": ["red", "blue"]}}]
    docs = [{"doc": {"question": "Which?", **form}, "target": "1", "resps": [[said]]} for form in forms]
    found = logs.read(written(tmp_path, *docs, {**docs[0], "target": "(A)"}, {**docs[0], "target": "7"}), "lm-eval")
    assert {row["answer"] for row in found.rows} == {"blue"}
    assert [row["gold"] for row in found.rows] == ["blue", "blue", "blue", "red", ""]
    apart = {"question": "Which?", "choices": ["red", "blue"], "answer": "b", "explanation": "It absorbs the rest."}
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(apart))
    [row] = logs.read(path, "jsonl").rows
    assert (row["answer"], row["gold"], row["choices"]) == ("blue", "", '["red", "blue"]')
