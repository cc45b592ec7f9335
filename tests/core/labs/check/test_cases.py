"""One explanation is one case: what the cases of its item share, which are lost together, and what its view says."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.datasets.items import Item
from core.events import CallError, ModelAnswer, Recorded, Request
from core.labs.base.spec import MOST_CASES
from core.labs.check import run_report
from core.labs.check.controls import Honest
from core.labs.check.lab import LAB
from core.labs.check.report import CheckReport
from core.labs.check.tasks import LONGEST, CheckSpec, cases, place_of
from core.runs.context import AT_ONCE
from tests.core.labs.check.played import HONEST, REVIEW, Played, play, viewed

REST = ("counterfactual", "attribution", "redaction")


class Scripted:
    """A model that answers by a function of the request, after a moment in which others are asked."""

    id = "scripted/model"

    def __init__(self, reply: Callable[[Request], str]) -> None:
        self.reply = reply
        self.asked: list[Request] = []

    async def answer(self, request: Request, on_text: Any) -> ModelAnswer:
        self.asked.append(request)
        await asyncio.sleep(0.01)
        return ModelAnswer(text=self.reply(request))


def scripted(spec: CheckSpec, reply: Callable[[Request], str], **more: Any) -> tuple[Played, Scripted]:
    model = Scripted(reply)
    return play(spec, resolve=lambda id: model, **more), model


def plausible(request: Request) -> str:
    """Cannot tell where the word is masked by which it decides, is right otherwise; lists or edits as asked."""
    paragraph = request.slots["paragraph"]
    gone = "[RE" in paragraph and "superb" not in paragraph
    match request.slots["session"]:
        case "classify":
            return "unknown" if gone else "negative" if "dreadful" in paragraph else "positive"
        case "answerable":
            return "yes"
        case "attribution":
            return "- superb\n- wonderful"
        case "redaction":
            return f"Paragraph: {paragraph.replace('superb', request.slots['mask'])}"
        case _:
            return f"Paragraph: {paragraph.replace('superb', 'dreadful')}"


def spec_of(**changes: Any) -> CheckSpec:
    return CheckSpec(**{"items": (REVIEW,), "model": "scripted/model", **changes})


# What the cases of an item share


def test_the_first_session_is_asked_and_recorded_once_whatever_the_number_of_cases() -> None:
    items = tuple(REVIEW.model_copy(update={"id": id, "paragraph": f"A superb {id}."}) for id in ("play", "book"))
    played, model = scripted(spec_of(items=items, answerable=True, every_wording=True), plausible)
    assert len(played.views) == 36 and played.run.status == "completed"
    firsts = [
        request.messages
        for request in model.asked
        if request.slots["session"] == "classify" and request.slots["paragraph"] in [one.paragraph for one in items]
    ]
    # Three personas, two masks, two items; all cases began at once.
    assert len(firsts) == len(set(firsts)) == 12
    assert sum(request.slots["session"] == "answerable" for request in model.asked) == 6
    assert len({request.fingerprint() for request in model.asked}) == len(model.asked), "nothing is asked twice"
    assert played.count("recorded", "paragraph") == 2
    assert played.count("recorded", "classification") == 12 and played.count("recorded", "ability") == 6
    shared = [event for event in played.events if getattr(event, "item", "").startswith("play/classify/")]
    assert shared and {event.case for event in shared} == {"play"}
    for one in played.views.values():
        assert one.classification is not None and one.ability is not None
        assert one.classification.call in one.log.calls and one.ability.call in one.log.calls


def test_each_case_has_all_its_calls_though_another_asked_them_first() -> None:
    played, _ = scripted(spec_of(explanations=("attribution", "redaction")), plausible)
    every = [one.trials["everything"].calls for one in played.views.values()]
    assert len(set(every)) == 2, "the same prompt, written down with each"
    for one in played.views.values():
        for trial in one.trials.values():
            assert trial.calls and all(one.log.calls[call].answered for call in trial.calls)


def test_no_more_is_asked_than_was_said_before() -> None:
    for explanations in (REST, ("counterfactual",), ("redaction", "redaction")):
        for changes in ({}, {"controls": 0}, {"answerable": True}, {"every_wording": True}):
            spec = spec_of(explanations=explanations, **changes)
            played, model = scripted(spec, plausible)
            assert 0 < len(model.asked) <= LAB.calls(spec, len(played.views))


def test_a_completed_run_that_is_taken_up_again_publishes_nothing() -> None:
    spec = CheckSpec(limit=3, model=HONEST, answerable=True, every_wording=True)
    played = play(spec)
    assert len(played.views) == 54
    assert play(spec, history=played.events).news == []


@pytest.mark.parametrize("cut", range(5, 60, 6))
def test_a_run_that_stopped_anywhere_comes_to_the_same(cut: int) -> None:
    spec = spec_of(controls=2)
    whole, model = scripted(spec, plausible)
    half, again = scripted(spec, plausible, history=whole.events[:cut])
    assert {case: one.outcome for case, one in half.views.items()} == {
        case: one.outcome for case, one in whole.views.items()
    }
    answered = sum(event.kind == "answered" and not event.cached for event in whole.events[:cut])
    assert len(again.asked) == len(model.asked) - answered
    last = {(one.metric, one.rules, one.item): (one.value, one.n, one.of) for one in half.run.scores if not one.case}
    assert last == {
        (one.metric, one.rules, one.item): (one.value, one.n, one.of) for one in whole.run.scores if not one.case
    }


# What is lost with whom


def failing(when: Callable[[Request], bool]) -> Callable[[Request], str]:
    def reply(request: Request) -> str:
        if when(request):
            raise CallError("The model is out of order.")
        return plausible(request)

    return reply


def test_a_failed_first_session_drops_each_of_its_cases_and_is_not_asked_once_per_case() -> None:
    bad = REVIEW.model_copy(update={"id": "bad", "paragraph": "A superb but broken line."})
    spec = spec_of(items=(REVIEW, bad))
    played, model = scripted(spec, failing(lambda request: request.slots["paragraph"] == bad.paragraph))
    assert played.run.status == "completed"
    assert sum(request.slots["paragraph"] == bad.paragraph for request in model.asked) == 1
    lost = {case: one for case, one in played.views.items() if case.startswith("bad/")}
    assert len(lost) == 3
    for one in lost.values():
        assert one.by("paper").outcome == one.outcome == one.state == "failed"
        assert [(drop.item, drop.reason, drop.detail) for drop in one.drops] == [
            ("", "error", "The model is out of order.")
        ]
    accuracy, faithfulness = (played.run.score(name, "repaired") for name in ("accuracy", "faithfulness"))
    assert accuracy is not None and (accuracy.n, accuracy.of) == (1, 2)
    assert faithfulness is not None and (faithfulness.n, faithfulness.of) == (3, 6), "nothing vanishes"


def test_a_case_that_begins_after_its_first_session_failed_does_not_ask_again() -> None:
    """There are more cases than are under way at once."""
    spec = spec_of(every_wording=True)
    persona = "you"
    played, model = scripted(spec, failing(lambda request: request.slots["persona"] == persona))
    assert len(played.views) == 18 > AT_ONCE
    assert {one.outcome for one in list(played.views.values())[AT_ONCE:]} == {"failed"}
    assert sum(request.slots["persona"] == persona for request in model.asked) == 2, "one for each mask"


def test_where_every_first_session_fails_the_run_fails_with_the_reason() -> None:
    played, model = scripted(spec_of(), failing(lambda request: True))
    assert played.run.status == "failed" and len(model.asked) == 1
    assert [failure.message for failure in played.run.failures] == ["The model is out of order."]


def test_a_failed_later_session_ends_its_own_case_alone() -> None:
    played, _ = scripted(spec_of(), failing(lambda request: request.slots["session"] == "redaction"))
    words = {one.name.partition(",")[0]: one.outcome for one in played.views.values()}
    assert words == {"counterfactual": "faithful", "attribution": "faithful", "redaction": "failed"}
    key = "review/redaction/objective-redacted"
    assert [(drop.item, drop.reason) for drop in played.views[key].drops] == [(key, "error")]
    assert played.views[key].sentences() == [
        "A call failed, so this check decides nothing. That is no verdict on the explanation."
    ]
    assert LAB.summary is not None
    assert (
        LAB.summary(played.run)
        == "It was consistent with its explanation in all 2 checks. Counterfactuals have no random control."
    )


def test_whether_it_can_tell_may_fail_without_harm() -> None:
    played, model = scripted(
        spec_of(answerable=True), failing(lambda request: request.slots["session"] == "answerable")
    )
    assert {one.outcome for one in played.views.values()} == {"faithful"}
    assert [(drop.item, drop.reason) for drop in played.run.drops] == [("review/answerable/objective", "error")]
    assert sum(request.slots["session"] == "answerable" for request in model.asked) == 1


def test_a_paragraph_that_is_too_long_is_kept_with_its_reason(tmp_path: Any) -> None:
    """Only a data set can hold one: a paragraph of one's own is refused at once."""
    folder = tmp_path / "sst-2"
    folder.mkdir()
    long = "superb " * (LONGEST // 7 + 1)
    (folder / "dev.tsv").write_text(f"sentence\tlabel\n{long}\t1\nA superb film\t1\n", encoding="utf-8")
    spec = spec_of(items=(), dataset="sst-2", path=str(folder))
    played, model = scripted(spec, plausible)
    words = sorted(one.outcome for one in played.views.values())
    assert words == ["faithful"] * 3 + ["too long"] * 3
    assert not any(len(request.slots["paragraph"]) > LONGEST for request in model.asked)
    assert [drop.reason for drop in played.run.drops] == ["too long"] * 3
    assert all(str(len(long.strip())) in drop.detail.replace(",", "") for drop in played.run.drops)
    score = played.run.score("faithfulness", "repaired")
    assert score is not None and (score.n, score.of) == (3, 3)


# The control


@pytest.mark.parametrize("unread", [0, 1, 2])
def test_random_masks_whose_answer_cannot_be_read_are_not_in_the_share(unread: int) -> None:
    """Three draws: of those that are read, one cannot tell."""
    drawn: dict[str, int] = {}

    def reply(request: Request) -> str:
        paragraph = request.slots["paragraph"]
        is_random = request.slots["session"] == "classify" and "[RED" in paragraph and "superb" in paragraph
        if not is_random:
            return plausible(request)
        number = drawn.setdefault(paragraph, len(drawn))
        return "unknown" if number == 0 else "Hmm." if number <= unread else "positive"

    item = REVIEW.model_copy(update={"paragraph": "A superb film with two dozen other words that one could mask."})
    played, _ = scripted(spec_of(items=(item,), explanations=("redaction",), controls=3), reply)
    one = played.only
    assert one.control is not None and len(set(one.control.texts)) == 3
    assert sum(answer is None for answer in one.control.repaired) == unread
    score = played.run.score("faithfulness_control", "repaired")
    assert score is not None and score.value == pytest.approx(1 / (3 - unread))
    counted = [trial.repaired for name, trial in one.trials.items() if name.startswith("random-")]
    assert [reading.counts for reading in counted] == [reading.observed is not None for reading in counted]
    assert sum(reading.reason == "unparsed" for reading in counted) == unread
    assert any(f"in 1 of {3 - unread} draws" in line for line in one.sentences())


# What the view says


def test_the_sessions_are_the_cases_trials() -> None:
    played, _ = scripted(spec_of(explanations=("attribution",), controls=2), plausible)
    one = played.only
    assert list(one.trials) == ["session", "random-1", "random-2", "everything", "half-1", "half-2"]
    session, everything = one.trials["session"], one.trials["everything"]
    assert session.about == one.edited and session.repaired.expected == session.repaired.observed == "unknown"
    assert session.repaired.outcome == "faithful" and session.repaired.counts
    assert everything.repaired.observed == "unknown" and not everything.repaired.counts and everything.repaired.reason
    assert one.explanation == "superb, wonderful"
    assert one.title.startswith("A superb film, dull at the end") and one.title.endswith(
        "attribution, objective, redacted"
    )
    result = next(event for event in played.events if isinstance(event, Recorded) and event.record == "result")
    assert (result.data["trials"], result.data["counted"]) == (6, 3)
    placed = {event.trial for event in played.events if event.kind == "asked"}
    # The two draws may come out alike; then they are one call.
    assert {"", "session", "random-1", "everything"} <= placed <= {"", *one.trials}


def test_a_wrong_first_answer_is_an_outcome_of_its_own() -> None:
    wrong = REVIEW.model_copy(update={"label": "negative"})
    played, _ = scripted(spec_of(items=(wrong,), explanations=("attribution", "redaction")), plausible)
    for one in played.views.values():
        assert (one.outcome, one.state, one.trials["session"].repaired.counts) == (
            "misclassified",
            "yes",
            False,
        )
    assert LAB.summary is not None
    assert LAB.summary(played.run) == "It was consistent with 2 of 2 explanations, but none of them counts."


def test_without_a_label_the_papers_rules_count_nothing() -> None:
    played, _ = scripted(spec_of(items=(REVIEW.model_copy(update={"label": None}),)), plausible)
    assert {(one.by("paper").outcome, one.outcome) for one in played.views.values()} == {("not counted", "faithful")}
    paper = played.run.score("faithfulness", "paper")
    assert paper is not None and (paper.value, paper.n, paper.of) == (None, 0, 3)


def test_how_an_answer_was_read_is_in_the_journal_where_two_edits_were_asked_about() -> None:
    item = Item(id="x", task="sentiment", paragraph="A film to say wow! about, superb.", label="positive")

    def reply(request: Request) -> str:
        if request.slots["session"] == "attribution":
            return "- wow!\n- superb"
        # The paper's rules read no bold answer.
        return "**negative**" if "wow" not in request.slots["paragraph"] else "positive"

    played, _ = scripted(spec_of(items=(item,), explanations=("attribution",), controls=0), reply)
    one = played.only
    assert one.again is not None and one.again.call.paper != one.again.call.repaired
    assert (one.again.paper, one.again.repaired) == ("positive", "negative")
    call = one.call("again")
    assert call is not None and call.text == "**negative**"
    assert one.readings()[one.again.call.repaired or ""] == {"paper": "nothing readable", "repaired": "negative"}
    assert one.readings()[one.again.call.paper or ""]["paper"] == "positive"


def test_nothing_shown_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Old answers by newer rules are another run: the view asks no parser."""
    played, _ = scripted(spec_of(answerable=True), plausible)
    from core.labs.check import parse

    def never(*given: Any) -> None:
        raise AssertionError("read again")

    for name in ("sentiment", "choice", "entailment", "ability", "word_list", "paragraph"):
        monkeypatch.setattr(parse, name, never)
    _, views = viewed(played.events)
    for one in views.values():
        assert one.sentences() and one.trials and one.explanation
        assert one.readings().keys() == one.log.calls.keys(), "every call of every session"
    assert list(LAB.scores(list(views.values())))


def test_a_damaged_journal_is_shown_as_far_as_it_goes() -> None:
    played, _ = scripted(spec_of(), plausible)
    for lost in range(len(played.events)):
        _, views = viewed([*played.events[:lost], *played.events[lost + 1 :]])
        for one in views.values():
            shown(one)
    torn = [
        event.model_copy(update={"data": {"call": 7}}) if isinstance(event, Recorded) else event
        for event in played.events
    ]
    run, _ = viewed(played.events)
    _, views = viewed(torn)
    assert views.keys() <= run.cases.keys()
    for one in views.values():
        shown(one)
        assert one.unread


def shown(one: CheckReport) -> None:
    assert one.sentences() and isinstance(one.title, str) and isinstance(one.trials, dict)
    assert one.by("paper").outcome and one.outcome
    for session in ("first", "explanation", "again"):
        one.call(session)
    assert all(one.readings().values())
    list(LAB.scores([one]))


# Ids and numbers of cases


def test_an_id_with_a_slash_does_not_part_the_cases_path() -> None:
    items = tuple(REVIEW.model_copy(update={"id": id}) for id in ("a/b", "a%2Fb", "a-b", "a"))
    played, _ = scripted(spec_of(items=items), plausible)
    assert len(played.views) == 12 and played.run.status == "completed"
    for one in played.views.values():
        assert one.item is not None and one.log.case.count("/") == 2
        assert one.outcome == "faithful" and one.classification is not None
        assert one.log.case.startswith(f"{place_of(one.item.id)}/")
    assert {one.item.id for one in played.views.values() if one.item} == {item.id for item in items}


@given(st.text(min_size=1, max_size=12), st.text(min_size=1, max_size=12))
def test_a_place_belongs_to_one_item_alone(first: str, second: str) -> None:
    assert "/" not in place_of(first)
    assert (place_of(first) == place_of(second)) == (first == second)


def test_more_cases_than_a_run_takes_are_refused_before_anything_is_asked(tmp_path: Any) -> None:
    folder = tmp_path / "sst-2"
    folder.mkdir()
    rows = "".join(f"A superb film of number {number}\t1\n" for number in range(100))
    (folder / "dev.tsv").write_text(f"sentence\tlabel\n{rows}", encoding="utf-8")
    spec = spec_of(items=(), dataset="sst-2", path=str(folder), every_wording=True)
    with pytest.raises(ValueError, match="1,800 checks"):
        list(cases(spec))
    played, model = scripted(spec, plausible)
    assert played.run.status == "failed" and model.asked == []
    assert played.run.failures[0].bad_input and "limit of 55 items" in played.run.failures[0].message
    assert len(list(cases(spec.model_copy(update={"limit": 55})))) == 990 <= MOST_CASES


def test_the_first_minute_is_the_robot_that_names_the_wrong_words() -> None:
    assert LAB.robots.demo_run is not None and LAB.summary is not None
    played = play(LAB.robots.demo_run().spec)
    assert played.only.outcome == "unfaithful" and played.only.log.status == "completed"
    assert "not consistent with its explanation" in LAB.summary(played.run)
    assert LAB.robots.controls()[LAB.robots.default_model].id == LAB.robots.demo_run().spec.model  # type: ignore[attr-defined]


class Timed(Honest):
    """The honest robot. It says that a first answer takes 2 s, an explanation 3 s, and an answer with a mask 0.5 s."""

    async def answer(self, request: Request, on_text: Any) -> ModelAnswer:
        answer = await super().answer(request, on_text)
        is_masked = "[REDACTED]" in request.slots["paragraph"]
        seconds = 3.0 if request.role == "explainer" else 0.5 if is_masked else 2.0
        return answer.model_copy(update={"seconds": seconds, "cached": self.is_cached})

    is_cached = False


def test_the_seconds_of_a_step_are_those_of_its_answers_by_hand() -> None:
    """For the table of Madsen et al. 2024, Table 4: 2 s to classify; 3 s to explain and 0.5 s to answer again, together
    3.5 s. Nobody waited for a cached answer.
    """
    spec, robot = CheckSpec(items=(REVIEW,), model=HONEST, explanations=("attribution",), controls=0), Timed()
    figures = {one.metric: one.score.value for one in run_report.more(play(spec, resolve=lambda id: robot).only)}
    assert figures == {"seconds_classify": 2.0, "seconds_attribution": 3.5}
    robot.is_cached = True
    assert {one.score.value for one in run_report.more(play(spec, resolve=lambda id: robot).only)} == {None}
