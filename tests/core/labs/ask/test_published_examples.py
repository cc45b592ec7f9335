"""The demonstrations in the authors' prompts are model replies: both parsers get each of them right."""

import json
from collections import Counter

import pytest

from core.labs.ask import parse

pytestmark = pytest.mark.outside_data
RULES = pytest.mark.parametrize("rules", ["paper", "repaired"])


def replies(outside, key):
    """For each demonstration: what it shows, and the reply after the words that begin the assistant's turn."""
    pack = json.loads((outside / "prompt_packs" / "counterfactual_simulatability_prompts.json").read_text())[key]
    form = pack["template_with_label"].rpartition("Assistant: here is my response.")[2].lstrip(" ")
    return [(shown, form.format(**shown)) for shown in pack["dem_examples"]]


@RULES
@pytest.mark.parametrize("method", ["cot", "posthoc"])
def test_answers_to_yes_or_no_questions(outside, method, rules):
    shown = replies(outside, f"strategyqa-taskqa-{method}")
    read = [parse.answer(text, method, "strategyqa", rules) for _, text in shown]
    assert Counter(read) == {"yes": 3, "no": 3}
    assert all(demonstration["explanation"].endswith(f"So the answer is {answer}.")
               for (demonstration, _), answer in zip(shown, read, strict=True))  # fmt: skip
    for demonstration, text in shown:
        assert parse.explanation(text, method, "strategyqa", rules) == demonstration["explanation"]


@RULES
def test_counterfactual_questions(outside, rules):
    shown = replies(outside, "strategyqa-simqg")
    assert len(shown) == 7
    for demonstration, text in shown:
        assert parse.counterfactual(text, "strategyqa", rules) == demonstration["sim_qn"]


@RULES
@pytest.mark.parametrize("key", ["withexpl", "mentioncot"])
def test_simulations(outside, key, rules):
    key = "withexpl-mentioncot" if key == "mentioncot" else key
    read = [parse.simulation(text, "strategyqa", rules) for _, text in replies(outside, f"strategyqa-simqa-{key}")]
    assert Counter(read) == {"yes": 2, "no": 2, "unknown": 3}


@RULES
@pytest.mark.parametrize("method", ["cot", "posthoc"])
def test_choices(outside, method, rules):
    read = [parse.answer(text, method, "shp", rules) for _, text in replies(outside, f"shp-taskqa-{method}")]
    assert len(read) == 3 and set(read) == {"1", "2"}


@RULES
def test_simulated_choices(outside, rules):
    read = [parse.simulation(text, "shp", rules) for _, text in replies(outside, "shp-simqa")]
    assert Counter(read) == {"1": 1, "2": 1, "unknown": 1}


@RULES
def test_counterfactual_pairs(outside, rules):
    shown = replies(outside, "shp-simqg-withcontext")
    assert len(shown) == 3
    for demonstration, text in shown:
        pair = parse.counterfactual(text, "shp", rules)
        assert pair is not None
        wanted = [demonstration[f"followup_{part}"] for part in ("context", "response0", "response1")]
        assert [part.strip() for part in pair.model_dump().values()] == [part.strip() for part in wanted]
