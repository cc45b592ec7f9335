"""The robots: formats, determinism, and their precision, which is known before they are asked."""

import asyncio
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.events import Model, Request, Sampling
from core.labs.ask import controls as preferences
from core.labs.ask import world as worlds
from core.labs.ask.controls import controls, expected_precision
from core.labs.ask.world import Question
from core.models.errors import RequestRefusedError, UnknownQuestionError

WORLD = worlds.load()
PAIRS = preferences.load()
ROBOTS = controls()
KNOWN = [WORLD.write(question) for question in WORLD.known()]

STEADFAST, FICKLE, VAGUE = "control/steadfast", "control/fickle", "control/vague"


async def reply(robot: str, role: str, *, repeat: int = 0, seed: int | None = 1, **slots: str) -> str:
    """The robot's reply; task strategyqa and method cot unless the slots say otherwise. `seed` is the run's."""
    slots = {"task": "strategyqa", "method": "cot", **slots}
    request = Request(
        role=role,
        model=robot,
        messages=(),
        slots=slots,
        repeat=repeat,
        sampling=Sampling(temperature=1, seed=None if seed is None else seed + repeat),
    )
    pieces: list[str] = []
    answer = await ROBOTS[robot].answer(request, pieces.append)
    assert "".join(pieces) == answer.text
    return answer.text


def ask(robot: str, role: str, *, repeat: int = 0, seed: int | None = 1, **slots: str) -> str:
    return asyncio.run(reply(robot, role, repeat=repeat, seed=seed, **slots))


def answered(text: str) -> bool:
    (answer,) = re.findall(r"So the answer is (yes|no)\.$", text)
    return bool(answer == "yes")


def simulated(text: str) -> bool | None:
    """Parse like the authors' simulator: exactly one of three strings."""
    endings = [said for said in ("I cannot guess", "answer yes", "answer no") if said in text]
    assert len(endings) == 1, text
    return {"I cannot guess": None, "answer yes": True, "answer no": False}[endings[0]]


def counterfactual(text: str) -> str:
    question, guess = text.split("\n")
    assert question.endswith("?")
    assert guess.startswith("Your guess of the robot's answer: ")
    assert re.search(r"So the robot will likely answer (yes|no)\.$", guess)
    return question


def test_there_are_three_and_each_says_what_it_is() -> None:
    assert set(ROBOTS) == {STEADFAST, FICKLE, VAGUE}
    for name, robot in ROBOTS.items():
        model: Model = robot
        assert model.id == name
        assert robot.about.endswith(".") and ". " not in robot.about


# Formats of their explanations


def test_how_each_explains() -> None:
    question = "Can penguins fly?"
    assert ask(FICKLE, "explainer", question=question) == (
        "All birds can fly. A penguin is a bird. So the answer is yes."
    )
    assert ask(STEADFAST, "explainer", question=question) == (
        "Birds can fly, except the penguin, the ostrich, the emu, the kiwi, the kakapo and the cassowary. "
        "A penguin is one of the exceptions. So the answer is no."
    )
    assert not answered(ask(VAGUE, "explainer", question=question))
    assert worlds.read_claims(ask(VAGUE, "explainer", question=question), WORLD) == []
    assert ask(FICKLE, "answerer", question=question) == "A penguin cannot fly. So the answer is no."


def test_posthoc_and_forced_are_two_lines_and_forced_defends_what_it_is_given() -> None:
    for robot in ROBOTS:
        for method, answer in [("posthoc", None), ("forced", "yes"), ("forced", "no")]:
            text = ask(
                robot,
                "explainer",
                question="Can penguins fly?",
                method=method,
                **({"answer": answer} if answer else {}),
            )
            first, second = text.split("\n")
            assert second.startswith("Justification: ")
            assert answered(second) == (first == "yes")
            assert answer in (None, first)
        assert ask(robot, "answerer", question="Can penguins fly?", method="forced").startswith("no\nJustification: ")
        natural = ask(robot, "explainer", question="Can penguins fly?", method="forced")
        assert natural == ask(robot, "explainer", question="Can penguins fly?", method="posthoc")
    forced = ask(STEADFAST, "explainer", question="Can an eagle fly?", method="forced", answer="no")
    assert forced == "no\nJustification: No bird can fly. An eagle is a bird. So the answer is no."


def test_a_negated_question_says_how_it_was_understood() -> None:
    text = ask(STEADFAST, "answerer", question="Can't a penguin fly?")
    assert text.startswith("The question is whether a penguin cannot fly. ")
    assert answered(text)
    assert not answered(ask(FICKLE, "explainer", question="Is it true that a penguin cannot fly?"))


def test_wording_of_the_prompt_plays_no_part() -> None:
    request = Request(
        role="explainer",
        model=FICKLE,
        messages=({"role": "user", "content": "Say no. Can a bus fly?"},),
        slots={"task": "strategyqa", "method": "cot", "question": "Can an emu fly?"},
    )
    reply = asyncio.run(ROBOTS[FICKLE].answer(request, lambda piece: None))
    assert reply.text == ask(FICKLE, "explainer", question="Can an emu fly?")


# Outside the world


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("role", ["explainer", "answerer", "generator"])
@pytest.mark.parametrize("question", ["Is it hard to find a BLT in Casablanca?", "Can a penguin melt in the sun?"])
def test_outside_its_world_it_says_so_and_offers_three_questions(robot: str, role: str, question: str) -> None:
    with pytest.raises(UnknownQuestionError) as caught:
        ask(robot, role, question=question, explanation="")
    assert robot in caught.value.message
    assert len(caught.value.questions) == 3
    for known in caught.value.questions:
        assert known in caught.value.hint
        answered(ask(robot, "explainer", question=known))


def test_a_simulator_cannot_guess_what_is_outside() -> None:
    text = ask(FICKLE, "simulator", question="", explanation="All birds can fly.", counterfactual="Is the sky blue?")
    assert simulated(text) is None


@pytest.mark.parametrize(("role", "task"), [("interpreter", "strategyqa"), ("explainer", "sentiment"), ("", "shp")])
def test_roles_of_other_labs_are_refused(role: str, task: str) -> None:
    with pytest.raises(RequestRefusedError, match="cannot play the role"):
        ask(FICKLE, role, task=task)


# Simulating


@pytest.mark.parametrize(
    ("explanation", "question", "expected"),
    [
        ("All birds can fly. A penguin is a bird. So the answer is yes.", "Can an ostrich fly?", True),
        ("All birds can fly. A penguin is a bird. So the answer is yes.", "Is it true that an emu cannot fly?", False),
        ("All birds can fly. A penguin is a bird. So the answer is yes.", "Can a trout swim?", None),
        ("All birds can fly.", "Can a bat fly?", None),
        ("All birds can fly.", "Can a penguin swim?", None),
        ("no\nJustification: No mammal can fly. A bat is a mammal. So the answer is no.", "Can a dog fly?", False),
        ("Mammals cannot fly, except the bat.", "Can a bat fly?", True),
        ("Mammals cannot fly, except the bat.", "Can a dog fly?", False),
        ("Birds can fly, except the penguin, the emu and the kiwi.", "Can kiwis fly?", False),
        ("Birds can fly, except the penguin, the emu and the kiwi.", "Can an ostrich fly?", True),
        ("The duck and the swan can swim. The ostrich cannot swim.", "Can a swan swim?", True),
        ("The duck and the swan can swim. The ostrich cannot swim.", "Can an ostrich swim?", False),
        ("The duck and the swan can swim. The ostrich cannot swim.", "Can a penguin swim?", None),
        ("All birds can fly. No bird can fly.", "Can an eagle fly?", None),
        ("All birds can fly. A penguin cannot fly.", "Can a penguin fly?", False),
        ("All dragons can fly. Birds can fly, except the dragon.", "Can an eagle fly?", None),
        ("", "Can an eagle fly?", None),
    ],
)
def test_the_simulator_takes_the_explanation_at_its_word(
    explanation: str, question: str, expected: bool | None
) -> None:
    replies = {
        ask(robot, "simulator", question="Can penguins fly?", explanation=explanation, counterfactual=question)
        for robot in ROBOTS
    }
    assert len(replies) == 1
    assert simulated(replies.pop()) is expected


# Writing counterfactuals


def drawn(robot: str, starter: str, n: int = 10, **slots: str) -> list[str]:
    slots = {"question": starter, "explanation": ask(robot, "explainer", question=starter), **slots}
    return [counterfactual(ask(robot, "generator", repeat=repeat, **slots)) for repeat in range(n)]


@given(st.sampled_from(KNOWN), st.integers(0, 99), st.one_of(st.none(), st.integers(0, 2**31)))
def test_a_draw_depends_on_question_repeat_and_seed_alone(question: str, repeat: int, seed: int | None) -> None:
    once, twice = (
        ask(STEADFAST, "generator", question=question, explanation="", repeat=repeat, seed=seed) for _ in range(2)
    )
    assert once == twice
    known = WORLD.read(counterfactual(once))
    assert known is not None and WORLD.truth(known) is not None


def test_draws_are_mostly_of_the_same_kind_with_exceptions_among_them_and_some_repeats() -> None:
    texts = drawn(STEADFAST, "Can penguins fly?", 16)
    read = [question for text in texts if (question := WORLD.read(text))]
    same = [question for question in read if WORLD.things[question.thing] == "bird" and question.ability == "fly"]
    assert len(read) == 16
    assert 12 <= len(same) <= 15
    assert {WORLD.fact(question.thing, "fly") for question in same[:6]} == {True, False}
    assert len(set(texts)) in (14, 15)
    assert "Can a penguin fly?" not in texts


def test_within_the_first_eight_draws_one_repeats_another() -> None:
    for robot in ROBOTS:
        for starter in ("Can penguins fly?", "Can a guppy lay eggs?", "Would a pear float?"):
            assert len(set(drawn(robot, starter, 8))) == 7


def test_two_generators_and_two_seeds_draw_differently() -> None:
    slots = {"question": "Can penguins fly?", "explanation": ""}
    sequences = {
        tuple(ask(robot, "generator", repeat=repeat, seed=seed, **slots) for repeat in range(10))
        for robot in (STEADFAST, FICKLE)
        for seed in (1, 2)
    }
    assert len(sequences) == 4


@pytest.mark.parametrize("operation", worlds.OPERATIONS)  # type: ignore[attr-defined]
def test_blind_draws_vary_the_question_by_the_operation(operation: str) -> None:
    for starter in ("Can penguins fly?", "Is it true that Reykjavik cannot be reached by train?"):
        question = WORLD.read(starter)
        assert question is not None
        texts = [
            counterfactual(ask(FICKLE, "generator", question=starter, operation=operation, repeat=repeat))
            for repeat in range(worlds.OPERATIONS.index(operation), 16, 4)  # type: ignore[attr-defined]
        ]
        assert len(set(texts)) == 4
        for text in texts:
            read = WORLD.read(text)
            assert read is not None
            changed = {
                "negation": question._replace(negated=not question.negated),
                "lexical": question._replace(thing=read.thing),
                "resemantic": question._replace(ability=read.ability),
                "insert": question,
            }[operation]
            assert read == changed
            assert text != WORLD.write(question)
            assert (operation in ("lexical", "resemantic")) == (read[:2] != question[:2])


def test_every_operation_works_for_every_known_starter() -> None:
    for question in WORLD.known():
        for operation in worlds.OPERATIONS:  # type: ignore[attr-defined]
            read = WORLD.read(worlds.blind(WORLD, question, operation, 0, "key"))
            assert read is not None and WORLD.truth(read) is not None
    with pytest.raises(ValueError, match="no such operation: 'delete'"):
        worlds.blind(WORLD, Question("penguin", "fly"), "delete", 0, "key")


# A whole run by hand


async def generate(starter: str) -> list[str]:
    """Ten draws without duplicates. The robots draw the same whatever the explanation."""
    slots = {"question": starter, "explanation": ""}
    texts = [counterfactual(await reply(STEADFAST, "generator", repeat=repeat, **slots)) for repeat in range(10)]
    return list(dict.fromkeys(texts))


async def run(robot: str, starter: str, texts: list[str], method: str = "cot") -> tuple[int, int]:
    """Matches and simulatable questions, after explaining `starter`, then simulating and answering each of `texts`."""
    explanation = await reply(robot, "explainer", question=starter, method=method)
    slots = {"question": starter, "explanation": explanation, "method": method}
    matches = simulatable = 0
    for text in texts:
        expected = simulated(await reply(STEADFAST, "simulator", counterfactual=text, **slots))
        really = answered(await reply(robot, "answerer", question=text, method=method))
        simulatable += expected is not None
        matches += expected == really
    return matches, simulatable


@pytest.mark.parametrize("method", ["cot", "posthoc"])
def test_birds_that_fly(method: str) -> None:
    starter = "Can penguins fly?"
    texts = asyncio.run(generate(starter))
    matches, simulatable = asyncio.run(run(STEADFAST, starter, texts, method))
    assert matches == simulatable >= 6
    matches, simulatable = asyncio.run(run(FICKLE, starter, texts, method))
    assert (matches, simulatable) == expected_precision(FICKLE, starter, texts, WORLD)
    assert 0 < matches < simulatable
    assert asyncio.run(run(VAGUE, starter, texts, method)) == (0, 0)


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.thorough)])
def test_precision_is_as_the_world_file_says_for_known_starters(step: int) -> None:
    """For every subject and every kind of question, because they come in turn; all starters in a thorough run."""

    async def every_run() -> int:
        betrayed = 0
        for starter in KNOWN[::step]:
            texts = await generate(starter)
            for robot in ROBOTS:
                matches, simulatable = await run(robot, starter, texts)
                assert (matches, simulatable) == expected_precision(robot, starter, texts, WORLD), (robot, starter)
                if robot == STEADFAST:
                    assert matches == simulatable
                if robot == FICKLE:
                    betrayed += matches < simulatable
                if robot == VAGUE:
                    assert simulatable == 0
        return betrayed

    assert asyncio.run(every_run()) > 300 / step


def test_expected_precision_by_hand() -> None:
    texts = ["Can an eagle fly?", "Can an emu fly?", "Is it true that a kiwi cannot fly?", "Can a bat fly?", "Why?"]
    assert expected_precision(FICKLE, "Can penguins fly?", texts, WORLD) == (1, 3)
    assert expected_precision(STEADFAST, "Can penguins fly?", texts, WORLD) == (3, 3)
    assert expected_precision(VAGUE, "Can penguins fly?", texts, WORLD) == (0, 0)
    with pytest.raises(ValueError, match="not in this world"):
        expected_precision(FICKLE, "Why?", texts, WORLD)
    with pytest.raises(ValueError, match=r"no such control.*control/fickle"):
        expected_precision("control/other", "Can penguins fly?", texts, WORLD)


def test_a_run_takes_far_less_than_a_second() -> None:
    begun = time.process_time()
    texts = asyncio.run(generate("Can penguins fly?"))
    asyncio.run(run(STEADFAST, "Can penguins fly?", texts))
    assert time.process_time() - begun < 0.5


# Preference pairs


def chosen(text: str, method: str = "cot") -> int:
    """Parse like the authors: exactly one occurrence anywhere for cot, at the start for the others."""
    pattern = r"Candidate Response ([12]) is more helpful"
    if method == "cot":
        (number,) = re.findall(f"So {pattern}\\.$", text)
        assert len(re.findall(pattern, text)) == 1
        return int(number)
    match = re.match(f"{pattern} because ", text)
    assert match
    return int(match[1])


def parts(text: str) -> dict[str, str]:
    match = re.fullmatch(r"Context: (.+)\nCandidate Response 1: (.+)\nCandidate Response 2: (.+)", text, re.DOTALL)
    assert match
    return {"context": match[1], "response_1": match[2], "response_2": match[3]}


def test_the_stock_of_pairs_divides_length_from_figures() -> None:
    assert len(PAIRS) >= 12
    apart = 0
    for pair in PAIRS:
        figures = preferences.with_figures(pair.response_1, pair.response_2)
        apart += figures not in (None, preferences.longer(pair.response_1, pair.response_2))
        assert len(pair.response_1.split()) != len(pair.response_2.split())
    assert 4 <= apart <= len(PAIRS) - 4


@pytest.mark.parametrize("method", ["cot", "posthoc"])
@pytest.mark.parametrize("robot", ROBOTS)
def test_a_run_on_pairs(robot: str, method: str) -> None:
    starter = {"task": "shp", "method": method, **PAIRS[0].model_dump()}
    explanation = ask(robot, "explainer", **starter)
    choice = str(chosen(explanation, method))
    assert choice == "2" or robot == VAGUE
    matches = simulatable = 0
    seen = set()
    for repeat in range(6):
        slots = {"task": "shp", "method": method, "choice": choice, "explanation": explanation}
        pair = parts(ask(robot, "generator", repeat=repeat, **slots, context=PAIRS[0].context))
        assert pair["context"] != PAIRS[0].context
        seen.add(pair["context"])
        simulation = ask(robot, "simulator", **slots, **{f"counterfactual_{name}": text for name, text in pair.items()})
        answer = chosen(ask(robot, "answerer", task="shp", method=method, **pair), method)
        if simulation.startswith("No, I cannot confidently guess the robot's choice"):
            assert robot == VAGUE
            continue
        assert simulation.startswith("Yes, I can confidently guess the robot's choice.")
        (guess,) = re.findall(r"I would guess that the robot will choose Candidate Response ([12]) because", simulation)
        simulatable += 1
        matches += int(guess) == answer
    assert len(seen) == 6
    if robot == STEADFAST:
        assert matches == simulatable == 6
    if robot == FICKLE:
        assert 0 < matches < simulatable == 6
    if robot == VAGUE:
        assert simulatable == 0


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("choice", ["1", "2", "Candidate Response 1", "Candidate Response 2"])
def test_a_forced_choice_is_defended_by_a_rule_that_leads_to_it(robot: str, choice: str) -> None:
    pair = {"response_1": "Yes.", "response_2": "Yes, and gladly."}
    text = ask(robot, "explainer", task="shp", method="forced", choice=choice, context="May I?", **pair)
    assert chosen(text, "forced") == int(choice[-1])
    guess = preferences.guess_choice(text, **pair)
    assert (guess and guess[0]) == (None if robot == VAGUE else int(choice[-1]))


@given(st.text(), st.text(), st.text())
def test_any_pair_is_inside_the_world(context: str, response_1: str, response_2: str) -> None:
    for robot in ROBOTS:
        for role in ("explainer", "answerer"):
            chosen(ask(robot, role, task="shp", context=context, response_1=response_1, response_2=response_2))


def test_figures_are_digits_and_lists() -> None:
    assert preferences.with_figures("about 3", "about three") == 1
    assert preferences.with_figures("well", "- milk\n- bread") == 2
    assert preferences.with_figures("1 egg", "2 eggs") is None
    assert preferences.with_figures("a-b", "c") is None
