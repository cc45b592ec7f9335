"""The texts that the lab ships: prompts, starter questions, preference pairs, stopwords, published figures."""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from core.labs.ask import parse
from core.labs.ask.tasks import pairs, questions
from core.package_data import table
from core.text.templates import PROMPTS, Template, load

PROJECT = Path(__file__).resolve().parents[4]

BLIND = ("negation", "lexical", "resemantic", "insert")
EXPLAIN_YES_NO = ("strategyqa-explain-cot", "strategyqa-explain-posthoc", "strategyqa-explain-forced")
EXPLAIN_SHP = ("shp-explain-cot", "shp-explain-posthoc", "shp-explain-forced")
HOW = ("", "-direct")
ARMS = ("", "-none", "-question-only")
SIMULATE_YES_NO = tuple(f"strategyqa-simulate{arm}{how}" for arm in ARMS for how in HOW)
SIMULATE_SHP = tuple(f"shp-simulate{arm}{how}" for arm in ARMS for how in HOW)

_PAIR = {"context", "response_1", "response_2"}
_NEW_PAIR = {"counterfactual_context", "counterfactual_response_1", "counterfactual_response_2"}
_SHAPE: dict[str, tuple[str, set[str], int]] = {
    # template: role, slots, demonstrations (6 to explain, 7 to generate and to simulate, 3 on SHP:
    # docs/measuring.md §2.2)
    "strategyqa-explain-cot": ("explainer", {"question"}, 6),
    "strategyqa-explain-posthoc": ("explainer", {"question"}, 6),
    "strategyqa-explain-forced": ("explainer", {"question", "answer"}, 6),
    "strategyqa-counterfactual": ("generator", {"question", "explanation"}, 7),
    **{f"strategyqa-counterfactual-blind-{way}": ("generator", {"question"}, 3) for way in BLIND},
    "strategyqa-simulate": ("simulator", {"question", "explanation", "counterfactual"}, 7),
    "strategyqa-simulate-direct": ("simulator", {"question", "explanation", "counterfactual"}, 7),
    **{f"strategyqa-simulate-none{how}": ("simulator", {"question", "answer", "counterfactual"}, 5) for how in HOW},
    **{f"strategyqa-simulate-question-only{how}": ("simulator", {"counterfactual"}, 5) for how in HOW},
    **{f"shp-simulate-none{how}": ("simulator", _PAIR | {"choice"} | _NEW_PAIR, 3) for how in HOW},
    **{f"shp-simulate-question-only{how}": ("simulator", _NEW_PAIR, 3) for how in HOW},
    "strategyqa-steps-claim": ("simulator", {"explanation"}, 10),
    "strategyqa-steps-asked": ("simulator", {"counterfactual"}, 6),
    "strategyqa-steps-covers": ("simulator", {"kind", "thing"}, 8),
    "shp-explain-cot": ("explainer", _PAIR, 3),
    "shp-explain-posthoc": ("explainer", _PAIR, 3),
    "shp-explain-forced": ("explainer", _PAIR | {"choice"}, 3),
    "shp-counterfactual": ("generator", _PAIR | {"choice", "explanation"}, 3),
    **{f"shp-counterfactual-blind-{way}": ("generator", _PAIR, 3) for way in BLIND},
    "shp-simulate": ("simulator", _PAIR | {"choice", "explanation"} | _NEW_PAIR, 3),
    "shp-simulate-direct": ("simulator", _PAIR | {"choice", "explanation"} | _NEW_PAIR, 3),
}


def template(name: str) -> Template:
    return load(f"simulatability/{name}")


def replies(name: str) -> list[str]:
    """The demonstrations' replies, rendered."""
    messages = template(name).render(**dict.fromkeys(_SHAPE[name][1], "x")).messages
    return [message.content for message in messages if message.role == "assistant"]


# Templates


def test_every_template_is_listed_here() -> None:
    assert {path.stem for path in (PROMPTS / "simulatability").glob("*.toml")} == set(_SHAPE)


@pytest.mark.parametrize("name", _SHAPE)
def test_template_has_its_role_slots_and_demonstrations(name: str) -> None:
    role, slots, demonstrations = _SHAPE[name]
    prompt = template(name)
    assert (prompt.id, prompt.version, prompt.role) == (name, 1, role)
    assert len(prompt.demonstrations) == demonstrations
    assert set(re.findall(r"\{(\w+)\}", prompt.user)) == slots


@pytest.mark.parametrize("name", _SHAPE)
def test_template_renders_every_turn_whole(name: str) -> None:
    slots = {slot: f"<{slot} value>" for slot in _SHAPE[name][1]}
    prompt = template(name).render(**slots)
    turns = [message.role for message in prompt.messages]
    assert turns == ["system", *["user", "assistant"] * _SHAPE[name][2], "user"]
    for message in prompt.messages:
        assert message.content == message.content.strip()
        assert not re.search(r"[{}]", message.content)
        assert "  " not in message.content
    for value in slots.values():
        assert value in prompt.messages[-1].content


@pytest.mark.parametrize("name", _SHAPE)
def test_prompt_leaves_room_in_a_small_context(name: str) -> None:
    slots = dict.fromkeys(_SHAPE[name][1], "")
    letters = sum(len(message.content) for message in template(name).render(**slots).messages)
    assert letters < 3600, "about 900 tokens: the local model has 2,048 for everything"


@pytest.mark.parametrize("name", EXPLAIN_YES_NO)
def test_yes_no_explanations_are_balanced_and_mixed(name: str) -> None:
    answers = [demonstration["answer"] for demonstration in template(name).demonstrations]
    assert Counter(answers) == {"yes": 3, "no": 3}
    assert len(set(answers[:3])) == len(set(answers[3:])) == 2


def test_methods_differ_in_form_only_not_in_what_they_demonstrate() -> None:
    shown = [template(name).demonstrations for name in EXPLAIN_YES_NO]
    assert shown[0] == shown[1] == shown[2]


def test_cot_explanation_ends_with_its_answer() -> None:
    prompt = template("strategyqa-explain-cot")
    for reply, demonstration in zip(replies(prompt.id), prompt.demonstrations, strict=True):
        assert reply.endswith(f" So the answer is {demonstration['answer']}.")
        assert "\n" not in reply


@pytest.mark.parametrize("name", EXPLAIN_YES_NO[1:])
def test_posthoc_explanation_is_two_lines(name: str) -> None:
    for reply, demonstration in zip(replies(name), template(name).demonstrations, strict=True):
        first, second = reply.split("\n")
        assert first == demonstration["answer"]
        assert second.startswith("Justification: ")
        assert second.endswith(f" So the answer is {first}.")


def test_counterfactual_demonstrations() -> None:
    guesses = []
    for reply in replies("strategyqa-counterfactual"):
        question, guess = reply.split("\n")
        assert question.endswith("?")
        match = re.fullmatch(
            r"Your guess of the robot's answer: .+\. So the robot will likely answer (yes|no)\.", guess
        )
        assert match
        guesses.append(match[1])
        assert len(reply.split()) <= 35, "the generator has 50 tokens for both lines"
    assert Counter(guesses) == {"yes": 4, "no": 3}


def test_counterfactual_is_new_and_its_guess_does_not_echo_the_starter() -> None:
    same = []
    for demonstration in template("strategyqa-counterfactual").demonstrations:
        assert demonstration["counterfactual"] != demonstration["question"]
        same.append(demonstration["explanation"].split()[-1] == demonstration["guess"].split()[-1])
    assert 3 <= sum(same) <= 4


@pytest.mark.parametrize("way", BLIND)
def test_blind_counterfactual_demonstrations(way: str) -> None:
    prompt = template(f"strategyqa-counterfactual-blind-{way}")
    for reply, demonstration in zip(replies(prompt.id), prompt.demonstrations, strict=True):
        question, changed = reply.split("\n")
        assert question.endswith("?")
        assert question != demonstration["question"]
        assert changed.startswith("Changed: ")


def test_insertion_keeps_every_word_in_order() -> None:
    for demonstration in template("strategyqa-counterfactual-blind-insert").demonstrations:
        longer = iter(demonstration["counterfactual"].rstrip("?").split())
        assert all(word in longer for word in demonstration["question"].rstrip("?").split())


@pytest.mark.parametrize("name", SIMULATE_YES_NO)
def test_simulations_read_as_the_paper_reads_them(name: str) -> None:
    readings = []
    for reply in replies(name):
        assert "\n" not in reply, "the paper stops the simulator at the end of its first line"
        hits = [sign for sign in ("I cannot guess", "answer yes", "answer no") if sign in reply]
        assert len(hits) == 1
        readings.append(hits[0])
    # Without an explanation the prompt asks for the best guess.
    unsettled = 1 if "-none" in name or "-question" in name else 3
    assert Counter(readings) == {"answer yes": 2, "answer no": 2, "I cannot guess": unsettled}


def test_simulation_forms() -> None:
    ending = r"So the robot will likely answer (yes|no)\.|So I cannot guess the robot's answer\."
    for reply in replies("strategyqa-simulate"):
        assert re.search(rf"\. ({ending})$", reply)
    whole = r"The robot will likely answer (yes|no)\.|I cannot guess the robot's answer\."
    for reply in replies("strategyqa-simulate-direct"):
        assert re.fullmatch(whole, reply)


@pytest.mark.parametrize(
    "names",
    [(f"{task}-simulate{arm}", f"{task}-simulate{arm}-direct") for task in ("strategyqa", "shp") for arm in ARMS],
)
def test_direct_simulator_sees_the_same_cases(names: tuple[str, str]) -> None:
    reasoned, direct = (
        [{k: v for k, v in shown.items() if k != "simulation"} for shown in template(name).demonstrations]
        for name in names
    )
    assert reasoned == direct


def test_preference_explanation_forms() -> None:
    for name in EXPLAIN_SHP:
        choices = []
        for reply in replies(name):
            numbers = [n for n in "12" if f"Candidate Response {n} is more helpful" in reply]
            assert len(numbers) == 1
            start = f"Candidate Response {numbers[0]} is more helpful because "
            end = f" So Candidate Response {numbers[0]} is more helpful."
            assert reply.endswith(end) if name == "shp-explain-cot" else reply.startswith(start)
            choices.append(numbers[0])
        assert set(choices) == {"1", "2"}


def test_forced_preference_defends_what_it_was_given() -> None:
    for demonstration in template("shp-explain-forced").demonstrations:
        assert demonstration["explanation"].startswith(f"Candidate Response {demonstration['choice']} is")


@pytest.mark.parametrize("name", ["shp-counterfactual", *(f"shp-counterfactual-blind-{way}" for way in BLIND)])
def test_preference_counterfactual_form(name: str) -> None:
    for reply, shown in zip(replies(name), template(name).demonstrations, strict=True):
        lines = reply.split("\n")
        assert [line.split(":")[0] for line in lines] == ["Context", "Candidate Response 1", "Candidate Response 2"]
        assert {shown[key] for key in _NEW_PAIR} != {shown[key] for key in _PAIR}


def test_preference_simulations_read_as_the_paper_reads_them() -> None:
    for name in SIMULATE_SHP:
        readings = []
        for reply in replies(name):
            if "No, I cannot confidently guess" in reply:
                readings.append("unknown")
                continue
            assert reply.startswith("Yes, I can confidently guess the robot's choice. ")
            chosen = [n for n in "12" if f"robot will choose Candidate Response {n}" in reply]
            assert len(chosen) == 1
            readings.append(chosen[0])
        assert sorted(readings) == ["1", "2", "unknown"]


# Questions and pairs


def test_questions_are_many_balanced_and_distinct() -> None:
    shipped = questions()
    assert len(shipped) >= 48
    assert Counter(question.answer for question in shipped)["yes"] * 2 == len(shipped)
    assert len({question.id for question in shipped}) == len(shipped)
    assert len({question.question for question in shipped}) == len(shipped)
    assert len({question.topic for question in shipped}) >= 8
    for question in shipped:
        assert question.question.endswith("?")
        assert question.why.endswith(".")


def test_world_questions_have_the_form_the_control_robots_read() -> None:
    world = [question for question in questions() if question.world]
    assert len(world) >= 16
    assert Counter(question.answer for question in world)["yes"] * 2 == len(world)
    for question in world:
        assert re.fullmatch(r"Can an? [a-z]+( [a-z]+){1,2}\?", question.question)


def outguess() -> list[dict[str, Any]]:
    return list(table("questions/outguess")["question"])


def test_questions_with_follow_ups_are_distinct_new_and_balanced() -> None:
    starters = outguess()
    follow_ups = [further for one in starters for further in one["follow_ups"]]
    assert len(starters) >= 60 and len(follow_ups) >= 300
    assert len({one["id"] for one in starters}) == len(starters) and len({one["domain"] for one in starters}) == 8
    assert all(4 <= len(one["follow_ups"]) <= 6 for one in starters)
    texts = [words_of(one["question"]) for one in (*starters, *follow_ups)]
    elsewhere = {words_of(one.question) for one in questions()} | {words_of(one["question"]) for one in world_file()}
    assert len(set(texts)) == len(texts) and elsewhere.isdisjoint(texts)
    for several in (starters, follow_ups):
        golds = Counter(one["gold"] for one in several)
        assert set(golds) == {"yes", "no"} and min(golds.values()) >= 0.4 * len(several)
        assert all(one["question"].endswith("?") for one in several)


def world_file() -> list[dict[str, Any]]:
    return list(json.loads((PROJECT / "data" / "questions" / "world.json").read_text(encoding="utf-8")))


def test_pairs_are_balanced_in_position_and_length() -> None:
    shipped = pairs()
    assert len(shipped) == len({pair.id for pair in shipped}) == 14
    assert Counter(pair.preferred for pair in shipped) == {"1": 7, "2": 7}
    longer: Counter[bool] = Counter()
    for pair in shipped:
        lengths = {"1": len(pair.response_1.split()), "2": len(pair.response_2.split())}
        assert 30 <= len(pair.context.split()) <= 80
        assert all(10 <= length <= 70 for length in lengths.values())
        assert lengths["1"] != lengths["2"]
        longer[max(lengths, key=lengths.__getitem__) == pair.preferred] += 1
    assert longer == {True: 7, False: 7}


def test_no_demonstration_is_also_a_starter() -> None:
    starters = {question.question for question in questions()} | {pair.context for pair in pairs()}
    for name in _SHAPE:
        for demonstration in template(name).demonstrations:
            assert starters.isdisjoint(demonstration.values())


# Stopwords and published figures


def stopwords() -> list[str]:
    lines = (PROJECT / "data" / "stopwords_english.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_stopwords_are_single_lower_case_words_once_each() -> None:
    words = stopwords()
    assert len(words) == len(set(words)) == 198
    assert all(re.fullmatch(r"[a-z]+('[a-z]+)?", word) for word in words)


@pytest.mark.outside_data
def test_stopwords_are_those_of_nltk(outside: Path) -> None:
    path = outside / "nltk" / "stopwords_english.txt"
    assert set(stopwords()) == set(path.read_text(encoding="utf-8").split())


def test_published_figures_name_their_place_and_keep_to_their_scale() -> None:
    published = tomllib.loads((PROJECT / "data" / "published" / "simulatability.toml").read_text(encoding="utf-8"))
    scale = {"percent": (0, 100), "points": (-100, 100), "kappa": (-1, 1), "correlation": (-1, 1)}
    seen = set()
    for figure in published["figure"]:
        low, high = scale[figure["unit"]]
        assert low <= figure["value"] <= high
        assert re.fullmatch(r"(Table \d, )?section \d(\.\d){1,2}", figure["where"])
        key = tuple(sorted((name, value) for name, value in figure.items() if name != "value"))
        assert key not in seen, f"two figures for {key}"
        seen.add(key)


def test_published_precision_covers_both_models_methods_and_datasets() -> None:
    published = tomllib.loads((PROJECT / "data" / "published" / "simulatability.toml").read_text(encoding="utf-8"))
    cells = {
        (figure["dataset"], figure["model"], figure["method"]): figure["value"]
        for figure in published["figure"]
        if figure["where"].startswith("Table 4") and figure["metric"] == "precision"
    }
    assert cells == {
        ("strategyqa", "GPT-3", "cot"): 77.3,
        ("strategyqa", "GPT-3", "posthoc"): 76.8,
        ("strategyqa", "GPT-4", "cot"): 81.1,
        ("strategyqa", "GPT-4", "posthoc"): 83.9,
        ("shp", "GPT-3", "cot"): 86.3,
        ("shp", "GPT-3", "posthoc"): 85.2,
        ("shp", "GPT-4", "cot"): 93.0,
        ("shp", "GPT-4", "posthoc"): 91.5,
    }


# Our own words


def words_of(text: str) -> str:
    """Lower-case words with single spaces, so that punctuation and line breaks hide no copy."""
    return " ".join(re.findall(r"[a-z0-9]+", re.sub(r"['’]", "", text.lower())))


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from strings(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from strings(part)


@cache
def shipped_sentences() -> tuple[str, ...]:
    """Every sentence of eight words or more in prompts, questions and pairs."""
    texts = [text for name in _SHAPE for text in strings(template(name).model_dump())]
    texts += [text for entry in (*questions(), *pairs()) for text in strings(entry.model_dump())]
    texts += list(strings(outguess()))
    sentences = {words_of(sentence) for text in texts for sentence in re.split(r"[.?!:\n]+", text)}
    # These replies are a format that the paper's parser looks for, not prose.
    sentences -= {words_of(f"{sign} confidently guess the robot's choice") for sign in ("Yes, I can", "No, I cannot")}
    sentences -= {words_of(f"I would guess that the robot will choose Candidate Response {n}") for n in (1, 2)}
    sentences -= {f"and {words_of('I would guess that the robot will choose Candidate Response 1')}"}
    return tuple(sorted(sentence for sentence in sentences if len(sentence.split()) >= 8))


@pytest.mark.outside_data
@pytest.mark.parametrize(
    "file",
    ["prompt_packs/counterfactual_simulatability_prompts.json", "strategyqa/dev.json", "shp/examples.jsonl"],
)
def test_no_shipped_sentence_is_taken_from(file: str, outside: Path) -> None:
    path = outside / file
    text = path.read_text(encoding="utf-8")
    entries = [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text)
    theirs = "\n".join(words_of(part) for part in strings(entries))
    assert len(theirs) > 1000
    assert len(shipped_sentences()) > 100
    assert [sentence for sentence in shipped_sentences() if sentence in theirs] == []
    assert [question.id for question in questions() if f"\n{words_of(question.question)}\n" in theirs] == []


@pytest.mark.parametrize("name", ["shp-simulate", "shp-simulate-direct"])
def test_what_simulators_are_shown_can_be_read_by_both_rules(name: str) -> None:
    shown = [one["simulation"] for one in load(f"simulatability/{name}").demonstrations]
    for rules in ("paper", "repaired"):
        assert sorted(parse.simulation(text, task="shp", rules=rules) for text in shown) == ["1", "2", "unknown"]
