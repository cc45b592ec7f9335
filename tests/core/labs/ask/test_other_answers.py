"""Word counts and another model as predictors, with inputs that have the same figure although they are worthless."""

import random

import pytest

from core.labs.ask import baselines
from core.labs.ask.baselines import AnsweredQuestions, nearest_answers
from core.labs.base.declared import CaseAnswers


def asked(starter: str, *tested: tuple[str, str]) -> AnsweredQuestions:
    return AnsweredQuestions(starter, tuple((text, "yes", answer) for text, answer in tested))


BIRDS = [
    asked("A penguin?", ("Can an ostrich fly?", "no"), ("Can a small spoon melt?", "yes")),
    asked("A kiwi?", ("Can a rhea fly?", "no")),
    asked("A spoon?", ("Does a small fork melt?", "yes")),
]


def test_the_nearest_question_by_hand() -> None:
    """The nearest is never about the same starter question, whose other new question would be nearer."""
    assert nearest_answers(BIRDS) == [["no", "yes"], ["no"], ["yes"]]
    assert nearest_answers([BIRDS[0], BIRDS[0]]) == [["", ""], ["", ""]], "the same starter question is no other"
    assert nearest_answers(BIRDS[:1]) == [["", ""]] and nearest_answers([]) == []
    unread = [asked("A?", ("one two", "neither")), asked("B?", ("one two", "yes"))]
    assert nearest_answers(unread) == [["yes"], [""]], "what was not read predicts nothing, and can be predicted"


def test_a_worthless_question_gets_what_always_guessing_the_same_gets() -> None:
    """If all answers are equal, or no two questions share a word, word counts are the fixed answer and nothing more."""
    equal = [asked(f"s{n}", (f"topic{n % 3} word", "no")) for n in range(9)]
    assert nearest_answers(equal) == [["no"]] * 9
    apart = [asked(f"s{n}", (f"t{n}", "no" if n < 3 else "yes")) for n in range(9)]
    assert nearest_answers(apart) == [["yes"]] * 9
    assert nearest_answers([asked(f"s{n}", ("", answer)) for n, answer in enumerate(["yes", "yes", "no"])])[2] == [
        "yes"
    ]


def test_words_that_decide_the_answer_are_found_and_shuffled_answers_are_not() -> None:
    chance = random.Random(4)
    topics = [n % 2 for n in range(300)]
    texts = [f"is {chance.choice('abcdefg')}{n} a {('bird', 'fish')[topic]}" for n, topic in enumerate(topics)]

    def precision(answers: list[str]) -> float:
        cases = [asked(f"s{n}", (text, answer)) for n, (text, answer) in enumerate(zip(texts, answers, strict=True))]
        found = nearest_answers(cases)
        return sum(guess == [answer] for guess, answer in zip(found, answers, strict=True)) / len(answers)

    told = [("yes", "no")[topic] for topic in topics]
    assert precision(told) == 1.0
    assert precision(chance.sample(told, len(told))) < 0.6


def test_above_the_limit_nothing_is_predicted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baselines, "MOST", 3)
    assert nearest_answers(BIRDS) == [["", ""], [""], [""]]


def test_another_model_predicts_by_its_finished_run_and_only_the_same_questions() -> None:
    """Over a copy there is no gain, over the opposite the largest; an unfinished run says nothing."""
    own = AnsweredQuestions("s", (("a", "yes", "yes"), ("b", "no", "no"), ("c", "unknown", "yes")))
    opposite = AnsweredQuestions("s", (("a", "yes", "no"), ("b", "no", "yes")))
    cases = [
        CaseAnswers("one", 0, True, own),
        CaseAnswers("copy", 1, True, own),
        CaseAnswers("opposite", 2, True, opposite),
        CaseAnswers("unfinished", 3, False, own),
        CaseAnswers("elsewhere", 4, True, AnsweredQuestions("other", own.tested)),
    ]
    found = {
        made["answers_of"]: figure.score
        for number, made, figure in baselines.figures(cases, "repaired")
        if number == 0 and figure.metric == "gain_other_model"
    }
    assert {who: (score.value, score.n, score.of) for who, score in found.items()} == {
        "copy": (0.0, 2, 3),
        "opposite": (1.0, 2, 3),
    }
