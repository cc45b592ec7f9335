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


def test_another_model_beside_a_run_has_n_an_interval_and_what_it_answered_most_often() -> None:
    asked = [AnsweredQuestions("s", tuple((f"q{n}", "yes" if n else "unknown", "yes") for n in range(9)))]
    said = {
        "few": {("s", "q1"): ["yes"], ("other", "q2"): ["no"]},
        "most": {("s", f"q{n}"): ["no", "yes", "yes"] if n > 2 else ["no"] for n in range(9)},
        "unread": {("s", "q1"): ["neither"]},
    }
    most, few = baselines.other_models(asked, said)
    assert (most.model, most.shared, most.precision.n, most.precision.value) == ("most", 9, 8, 0.75)
    assert (few.model, few.shared, few.gain.n, few.gain.value) == ("few", 1, 1, 0.0)
    low, high = most.precision.low, most.precision.high
    assert low is not None and high is not None and low < 0.75 < high
    assert most.sentence("most") == (
        "most answered 9 of these 9 new questions too. Of those that the explanation predicted, its answers predict "
        f"0.75 ({low:.2f} to {high:.2f}) right, n = 8 new questions. The explanation's gain over that is +0.25 "
        f"({most.gain.low:+.2f} to {most.gain.high:+.2f})."
    )
    unknown = [AnsweredQuestions("s", (("q1", "unknown", "yes"),))]
    (only,) = baselines.other_models(unknown, {"few": said["few"]})
    assert only.sentence("few").endswith("The explanation predicted none of them.")
    two = baselines.other_models([asked[0], asked[0]], said)[0]
    assert (two.shared, two.precision.n) == (18, 2) and "n = 2 starter questions" in two.sentence("most")
