"""Entity and relation functions on each of the three backbones, and how far these can be trusted."""

import asyncio
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from core.events import CallError, ModelAnswer, Prompt, Sampling
from core.labs.probe.functions.entities import EntityFunction, concepts
from core.labs.probe.functions.modules import Output, outputs_of, prompt, read_fact, read_score, related
from core.labs.probe.functions.relations import UNDEFINED, RelationFunction
from core.text.embed import SMALL, encoder

CHESS = EntityFunction(id="x", concept1="chess")
CHESS_OR_FARM = EntityFunction(id="x", concept1="chess", concept2="agriculture")
CAPITAL = RelationFunction(id="x", concept1="a country", concept2="the capital of that country")
NOT_ASIA = CAPITAL.model_copy(update={"exception": "the input country is in Asia"})


def values(outputs: Sequence[Output]) -> list[Any]:
    return [output.value for output in outputs]


def token(text: str, **rivals: float) -> dict[str, Any]:
    listed = [{"token": name.replace("_", " "), "logprob": math.log(share)} for name, share in rivals.items()]
    return {"token": text, "logprob": -0.1, "top_logprobs": listed}


def test_the_table_knows_what_is_listed() -> None:
    assert values(asyncio.run(outputs_of(CHESS, "table", ["Grandmaster", "horse"]))) == [1.0, 0.0]
    outputs = asyncio.run(outputs_of(NOT_ASIA, "table", ["Japan", "peru", "Paris"]))
    assert values(outputs) == [UNDEFINED, "Lima", UNDEFINED]
    assert {output.how for output in outputs} == {"table"}
    assert [output.text for output in asyncio.run(outputs_of(CHESS, "table", ["horse"]))] == ["0.0000"]


def test_a_score_from_log_probabilities() -> None:
    answer = ModelAnswer(text="1", logprobs=[token("1", **{"1": 0.6, "0": 0.2, "yes": 0.1})])
    assert read_score("rook", answer) == Output(input="rook", value=0.75, how="logprobs")


def test_spaces_before_the_digit_do_not_count() -> None:
    spelt = [token("\n", **{"_": 0.9, "1": 0.1}), token(" 0", **{"0": 0.3, "_0": 0.5, "1": 0.1, "_1": 0.1})]
    assert read_score("rook", ModelAnswer(text="\n 0", logprobs=spelt)).value == 0.2


def test_a_digit_that_is_not_listed_has_no_share() -> None:
    assert read_score("rook", ModelAnswer(text="1", logprobs=[token("1", **{"1": 0.9, "Yes": 0.1})])).value == 1.0


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1.0), ("0.", 0.0), ("**1**", 1.0), ("<think>0?</think>\n1", 1.0), ("10", None), ("yes", None), ("", None)],
)
def test_without_log_probabilities_the_digit_counts_and_says_so(text: str, value: float | None) -> None:
    output = read_score("rook", ModelAnswer(text=text))
    assert (output.value, output.how) == (value, "answer")
    assert bool(output.problem) == (value is None)


def test_log_probabilities_that_list_neither_digit_fall_back() -> None:
    output = read_score("rook", ModelAnswer(text="1 is my answer", logprobs=[token("1", **{"Yes": 1.0})]))
    assert (output.value, output.how) == (1.0, "answer")


def test_log_probabilities_of_a_thought_are_not_those_of_the_answer() -> None:
    answer = ModelAnswer(text="<think>0 or 1</think>1", logprobs=[token("<think>", **{"<think>": 0.9, "0": 0.01})])
    assert read_score("rook", answer) == Output(input="rook", value=1.0, how="answer")


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Tokyo", "Tokyo"),
        ('"Tokyo."', "Tokyo"),
        ("**Washington, D.C**", "Washington, D.C"),
        ("\n Undefined.\nbecause", UNDEFINED),
        ("'undefined'", UNDEFINED),
        ("Output: 6.5", "6.5"),
        ("<think>\nKyoto?\n</think>\n\nTokyo", "Tokyo"),
        ("<think>\nKyoto, or", None),
        (" \n", None),
    ],
)
def test_a_fact_as_models_write_it(text: str, fact: str | None) -> None:
    assert read_fact("Japan", ModelAnswer(text=text)).value == fact


def test_a_language_model_reads_the_function_and_is_asked_once_per_input() -> None:
    asked: list[tuple[Prompt, Sampling, str]] = []

    async def ask(prompt: Prompt, sampling: Sampling, item: str) -> ModelAnswer:
        asked.append((prompt, sampling, item))
        if item == "broken":
            raise CallError("The endpoint does not answer.")
        return ModelAnswer(text="1" if item == "rook" else "0")

    outputs = asyncio.run(outputs_of(CHESS_OR_FARM, "model", ["rook", "broken", "moon"], ask))
    assert values(outputs) == [1.0, None, 0.0]
    assert outputs[1].problem == "The endpoint does not answer."
    assert outputs[1].text == "error: The endpoint does not answer."
    assert [item for _, _, item in asked] == ["rook", "broken", "moon"]
    assert asked[0][1].top_logprobs == 20
    assert asked[0][0].slots == {"concept1": "chess", "concept2": "agriculture", "input": "rook"}


def test_prompts_say_the_concepts_the_exception_and_the_input() -> None:
    for function in (CHESS, CHESS_OR_FARM, CAPITAL, NOT_ASIA):
        rendered = prompt(function, "{braces} stay")
        text = rendered.messages[-1].content
        assert "{braces} stay" in text
        assert all(value in text for value in function.parameters.values() if value)
    assert len({prompt(function, "x").id for function in (CHESS, CHESS_OR_FARM, CAPITAL, NOT_ASIA)}) == 4


def test_a_language_model_must_be_chosen() -> None:
    with pytest.raises(ValueError, match="choose one"):
        asyncio.run(outputs_of(CHESS, "model", ["rook"]))


def test_embeddings_tell_words_that_are_on_no_list() -> None:
    outputs = asyncio.run(outputs_of(CHESS_OR_FARM, "embedding", ["chessboard", "tractor driver", "guitar string"]))
    near, also_near, far = values(outputs)
    assert near > 0.8 and also_near > 0.8 and far < 0.2
    assert values(asyncio.run(outputs_of(CHESS, "embedding", ["tractor driver"])))[0] < 0.2
    assert asyncio.run(outputs_of(CHESS, "embedding", [])) == []


def test_embeddings_know_a_concept_that_is_not_listed() -> None:
    volcanoes = EntityFunction(id="x", concept1="volcanoes")
    near, far = values(asyncio.run(outputs_of(volcanoes, "embedding", ["eruption", "algebra"])))
    assert near > 0.5 > far


def test_embeddings_forgive_how_a_fact_is_asked_for() -> None:
    asked = ["the country of Peru", "japan", "Atlantis", "banana"]
    assert values(asyncio.run(outputs_of(NOT_ASIA, "embedding", asked))) == ["Lima", UNDEFINED, None, None]
    assert values(asyncio.run(outputs_of(NOT_ASIA, "embedding", ["tiger"]))) == [UNDEFINED]
    unknown = RelationFunction(id="x", concept1="a star", concept2="its constellation")
    assert values(asyncio.run(outputs_of(unknown, "embedding", ["Vega"]))) == [None]


def test_words_left_out_of_their_concept_are_still_recognised() -> None:
    """The curve does not only repeat its own list: a word scores high in a concept whose mean it did not enter."""
    from core.labs.probe.functions.modules import MIDPOINT, WIDTH, direction

    scores = []
    for concept in list(concepts().values())[::10]:
        vectors = encoder(SMALL).encode(concept.words)
        for place, vector in enumerate(vectors):
            others = concept.words[:place] + concept.words[place + 1 :]
            scores.append(1 / (1 + np.exp(-(vector @ direction(concept.name, others) - MIDPOINT) / WIDTH)))
    assert np.mean(scores) > 0.7


def test_scores_stay_between_0_and_1() -> None:
    scores = related("chess", encoder(SMALL).encode(["chess", "", "the", "checkmate in two moves", "zzzz"]))
    assert scores.shape == (5,)
    assert ((scores >= 0) & (scores <= 1)).all()


def test_digits_of_next_to_no_probability_are_no_value() -> None:
    chatty = [token("The", **{"The": 0.3, "1": 0.006})]
    output = read_score("rook", ModelAnswer(text="The word", logprobs=chatty))
    assert output.value is None and "0 and 1 together have a probability of 0.006" in output.problem
    assert read_score("rook", ModelAnswer(text="1", logprobs=[token("1", **{"1": 0.4})])).how == "answer"


def test_log_probabilities_that_are_no_numbers_are_passed_over() -> None:
    odd = [{"token": "1", "top_logprobs": [{"token": "1", "logprob": None}, {"logprob": -1.0}, {"token": "0"}]}]
    assert read_score("rook", ModelAnswer(text="1", logprobs=odd)) == Output(input="rook", value=1.0, how="answer")
