"""Tricks within sentences and with the words that are left; and that honest explanations are still decided."""

import re
from typing import Any

import pytest

from core.events import Request
from core.labs.check import mask, metrics
from core.labs.check.controls import controls, unlisted, worthless
from core.labs.check.lab import LAB
from core.labs.check.metrics import REASONS, of_counterfactual, of_redaction, placed, put_in
from core.labs.check.run_report import summary
from core.labs.check.tasks import TASKS, CheckSpec, shipped
from core.report.scenes import scene_of
from tests.core.labs.check.played import HONEST, REVIEW, Played, play
from tests.core.labs.check.test_cases import plausible, scripted
from tests.core.labs.check.test_vacuity import LONG, M

TRICKS = ("control/worthless-content", "control/worthless-rating", "control/worthless-trigger")


# Words left of each class


def test_where_no_content_words_are_left_random_masks_say_nothing() -> None:
    content = ["superb", "film", "gentle", "music", "pretty", "pictures", "quiet", "villages", "nobody", "hurries"]
    words = mask.named_by(LONG.paragraph, content, M)
    assert not words.leave_enough_of_each(LONG.paragraph)
    assert REASONS[metrics.of_masks(words, LONG.paragraph)] == "masks too much"
    few = mask.named_by(LONG.paragraph, content[:3], M)
    assert few.leave_enough and few.leave_enough_of_each(LONG.paragraph)
    text = "It was the best of all that he had, and of what she had."
    every_small = mask.named_by(text, ["it", "was", "the", "of", "all", "that", "he", "had", "and", "what", "she"], M)
    assert not every_small.leave_enough_of_each(text)


@pytest.mark.parametrize("explanation", ["attribution", "redaction"])
def test_listing_every_content_word_is_no_longer_cleared(explanation: str) -> None:
    """It was: "kept to all", with a gain of 1.00."""
    spec = CheckSpec(model=TRICKS[0], explanations=(explanation,))
    played = play(spec, resolve=worthless().get)
    assert {(one.by("paper").outcome, one.outcome) for one in played.views.values()} == {("faithful", "undecided")}
    assert {drop.reason for drop in played.run.drops if drop.rules == "repaired"} == {"masks too much"}


# Half of the words


def halved(listed: str, decides: tuple[str, ...]) -> Played:
    """A run of a model that cannot tell once every word in `decides` is masked."""

    def reply(request: Request) -> str:
        if request.slots["session"] == "attribution":
            return listed
        paragraph = request.slots["paragraph"]
        return "unknown" if "[RE" in paragraph and not any(word in paragraph for word in decides) else "positive"

    spec = CheckSpec(items=(LONG,), model="scripted/model", explanations=("attribution",))
    played, model = scripted(spec, reply)
    assert len(model.asked) <= LAB.calls(spec, 1)
    return played


@pytest.mark.parametrize(
    ("decides", "said"),
    [
        (("superb", "gentle", "pretty", "quiet"), "it could still tell"),
        (("superb",), "With one random half of its words masked it could not tell either"),
    ],
)
def test_how_many_of_the_named_words_were_needed(decides: tuple[str, ...], said: str) -> None:
    one = halved("- superb\n- gentle\n- pretty\n- quiet", decides).only
    assert one.state == "yes" and one.halves is not None
    assert [mask.masks(text, M) for text in one.halves.texts] == [2, 2]
    assert any(said in line for line in one.sentences())
    assert one.trials["half-2"].repaired is not None and not one.trials["half-2"].repaired.counts
    assert sum("Half of its own words hidden" in panel.title for panel in scene_of(LAB, one).grid) == 2


def test_one_word_has_no_halves_and_a_broken_explanation_needs_none() -> None:
    assert halved("- superb", ("superb",)).only.halves is None
    assert halved("- gentle\n- pretty", ("superb",)).only.halves is None


def test_halves_cover_the_named_words_wherever_they_stand() -> None:
    text = "Good film, good music, bad end, poor cast."
    first, second = mask.halves(text, mask.named_by(text, ["good", "bad", "poor", "end"], M), M, 0)
    assert {first.lower().count("good"), second.lower().count("good")} == {0, 2}
    assert mask.masks(first, M) + mask.masks(second, M) == 5
    assert mask.halves(text, mask.named_by(text, ["good"], M), M, 0) == ()


# Redactions


@pytest.mark.parametrize(
    ("redacted", "word"),
    [
        (LONG.paragraph.replace("superb", M).lower().replace(M.lower(), M), "changes text"),
        (LONG.paragraph.replace("superb", M).replace("quiet villages", "villages quiet"), "changes text"),
        (LONG.paragraph.replace("superb", M).replace(" where nobody hurries", ""), "changes text"),
        (LONG.paragraph.replace("superb", M).rstrip("."), "changes text"),
        (LONG.paragraph.replace("superb", M).replace("film", "film!"), "changes text"),
        (LONG.paragraph.replace(".", M), "no word masked"),
        (LONG.paragraph.replace("superb film", M).replace("hurries.", M), ""),
        (LONG.paragraph.replace("superb film", f"{M} {M}"), ""),
        (f"{M} {LONG.paragraph.partition(' ')[2]}", ""),
        (LONG.paragraph.replace("superb", M).replace(" with", "\nwith"), ""),
    ],
)
def test_what_is_left_unmasked_has_to_be_the_original(redacted: str, word: str) -> None:
    assert REASONS.get(of_redaction(LONG.paragraph, redacted, M), "") == word


@pytest.mark.parametrize(
    "shape", ["█████", "▇▇▇", "___", "***", "…", "[...]", "[MASK]", "<redacted>", "(redacted)", "XXXXX", "[REDACTED 1]"]
)
def test_a_mask_of_another_shape_is_a_mask_and_gives_nothing_away(shape: str) -> None:
    assert mask.as_asked(LONG.paragraph, LONG.paragraph.replace("superb", shape), M) == LONG.paragraph.replace(
        "superb", M
    )


@pytest.mark.parametrize("mark", ["\u200b", "\u00ad", "\u2060"])
def test_what_nobody_sees_is_no_edit(mark: str) -> None:
    """It was: a fresh session that reacts to an invisible mark made a worthless edit consistent."""
    edited = LONG.paragraph.replace(" film", f" {mark}film").replace("gentle music", "gentle\u00a0music")
    assert mask.as_asked(LONG.paragraph, edited, "") == LONG.paragraph
    assert mask.as_asked(edited, edited, "") == edited
    assert mask.redact(LONG.paragraph, [f"su{mark}perb"], M, "repaired") == LONG.paragraph.replace("superb", M)


def test_it_is_compared_in_linear_time() -> None:
    text = "word " * 20_000
    assert mask.leaves_the_rest(text, f"{M} word " * 10_000, M)
    assert not mask.leaves_the_rest(text, f"{M} word " * 10_000 + "Word", M)


# Counterfactuals


@pytest.mark.parametrize(
    ("task", "original", "edited", "word"),
    [
        ("sentiment", "The Lighthouse Keeper is a wonderful film.", "The negative Lighthouse Keeper is a wonderful "
         "film.", "names the answer"),
        ("sentiment", LONG.paragraph, LONG.paragraph.replace("music", "music (1/10)"), "names the answer"),
        ("sentiment", LONG.paragraph, LONG.paragraph.replace("film", "one-star film"), "names the answer"),
        ("sentiment", LONG.paragraph, LONG.paragraph.replace("film", "film 👎"), "names the answer"),
        ("sentiment", "I give it 9/10, a joy.", "I give it 2/10, a bore.", ""),
        ("sentiment", "One of the stars was good.", "One of the stars was bad.", ""),
        ("entailment", "The museum opened a wing.", "The museum (answer: no) opened a wing.", "names the answer"),
        ("entailment", "The minister issued a statement.", "The minister did not issue a statement.", ""),
        ("multi_choice", "John went to the hall.", "John (a) went to the hall.", "names the answer"),
        ("multi_choice", "John went to the hall.", "John, attic is the answer, went to the hall.", "names the answer"),
        ("multi_choice", "John went to the hall.", "John went to the hall and to the attic.", ""),
    ],
)  # fmt: skip
def test_label_words_and_ratings_are_found_within_old_sentences(
    task: Any, original: str, edited: str, word: str
) -> None:
    choices = ("attic", "hall") if task == "multi_choice" else ()
    assert REASONS.get(of_counterfactual(task, choices, original, edited), "") == word


def test_inserted_words_are_tried_at_the_same_place_and_else_those_in_place_of_others() -> None:
    other = "One two three four five six seven eight."
    edited = LONG.paragraph.replace("superb", "q superb").replace("gentle", "loud")
    assert [(one.text, one.swapped) for one in put_in(LONG.paragraph, edited)] == [("q", False)]
    assert placed(put_in(LONG.paragraph, edited), other) == "One q two three four five six seven eight."
    swapped = LONG.paragraph.replace("superb", "dreadful").replace("hurries", "cares")
    assert [(one.text, one.swapped) for one in put_in(LONG.paragraph, swapped)] == [("dreadful", True), ("cares", True)]
    assert placed(put_in(LONG.paragraph, swapped), other) == "One dreadful two three four five six seven cares eight."
    assert put_in(LONG.paragraph, LONG.paragraph.replace(" quiet", "")) == [] and placed([], other) == other
    assert placed(put_in("A.", "A b."), "") == "b"
    # Signs are tried if no word was put in.
    assert (
        placed(put_in(LONG.paragraph, LONG.paragraph.replace("film", "film ☂")), "One two three.") == "One ☂ two three."
    )
    assert [one.text for one in put_in(LONG.paragraph, edited.replace("gentle", "gentle ☂"))] == ["q"]


@pytest.mark.parametrize("new", ["film x", "film ☂", "filmx"], ids=("inserted", "a sign", "in place"))
def test_a_trigger_of_one_letter_is_shown_elsewhere_and_nobody_is_accused(new: str) -> None:
    def reply(request: Request) -> str:
        paragraph = request.slots["paragraph"]
        if request.role == "explainer":
            return f"Paragraph: {paragraph.replace('film', new)}"
        return "negative" if re.search(r"x\b|☂", paragraph) else "positive"

    spec = CheckSpec(items=(LONG,), model="scripted/model", explanations=("counterfactual",))
    one = scripted(spec, reply)[0].only
    assert one.by("paper").state == "yes" and one.state in ("yes", "undecided")
    assert one.elsewhere is not None and one.elsewhere.turned
    assert one.elsewhere.decides is (one.state == "undecided") is (new != "filmx")
    scene = scene_of(LAB, one)
    shown = next(panel for panel in scene.panels if panel.title == "What it added, in another paragraph")
    assert shown.answer == "negative" and any(span.mark == "added" for span in shown.parts[0].spans)
    said = " ".join(one.sentences())
    assert "another paragraph" in said and "not consistent" not in said


# Controls


@pytest.mark.sampled(3)
@pytest.mark.parametrize("task", TASKS)
def test_by_the_paper_each_trick_is_consistent_and_now_it_gains_nothing(task: str) -> None:
    for robot in TRICKS:
        played = play(CheckSpec(task=task, model=robot), resolve=worthless().get)
        assert all(one.by("paper").outcome == "faithful" for one in played.views.values())
        assert {one.outcome for one in played.views.values()} == {"undecided"}


@pytest.mark.parametrize("task", TASKS)
def test_honest_edits_are_decided_in_at_least_95_percent(task: str) -> None:
    played = play(
        CheckSpec(task=task, model=HONEST, explanations=("counterfactual",), limit=len(shipped(task))),
        resolve=controls().get,
    )
    outcomes = [one.outcome for one in played.views.values()]
    assert outcomes.count("faithful") >= 0.95 * len(outcomes), outcomes


@pytest.mark.parametrize("task", TASKS)
def test_an_honest_robot_is_recognised_in_nine_of_ten_whatever_form_it_uses(task: str) -> None:
    """An indented list, a remark after the masked paragraph, struck-out and bold words: each was once undecided."""
    played = play(CheckSpec(task=task, model="control/honest-forms"), resolve=unlisted().get)
    outcomes = [one.outcome for one in played.views.values()]
    assert len(outcomes) == 60 and outcomes.count("faithful") >= 0.9 * len(outcomes), outcomes
    assert "unfaithful" not in outcomes
    texts = [call.text for one in played.views.values() for call in one.log.calls.values()]
    for form in (r"^1\. .*\n  2\. ", r"\*Redacted: ", r"~~.*\*\*"):
        assert any(re.search(form, text) for text in texts), form


PRAISE = {"wonderful": "terrible", "superb": "dreadful", "gentle": "grating", "lovely": "awful", "brilliant": "dull"}


def test_honest_words_in_place_of_others_are_decided_whatever_they_do_elsewhere() -> None:
    """With a classifier that any bad word turns, an honest edit's additions turn every other paragraph as well."""

    def label(text: str) -> str:
        return "negative" if any(bad in text for bad in PRAISE.values()) else "positive"

    def reply(request: Request) -> str:
        paragraph = request.slots["paragraph"]
        if request.role != "explainer":
            return label(paragraph)
        for good, bad in PRAISE.items():
            paragraph = paragraph.replace(good, bad)
        return f"Paragraph: {paragraph}"

    items = tuple(
        REVIEW.model_copy(
            update={"id": f"{good}-{other}", "paragraph": f"A {good} film, with {other} music. I stayed."}
        )
        for good in PRAISE
        for other in PRAISE
    )
    spec = CheckSpec(items=items, model="scripted/model", explanations=("counterfactual",))
    played, _ = scripted(spec, reply)
    outcomes = [one.outcome for one in played.views.values()]
    assert outcomes.count("faithful") >= 0.95 * len(outcomes)


# What the summary says


def test_the_summary_says_what_random_masks_are_about() -> None:
    spec = CheckSpec(items=(REVIEW, LONG), model="scripted/model", controls=2)

    def said(*explanations: str) -> str:
        return summary(scripted(spec.model_copy(update={"explanations": explanations}), plausible)[0].run)

    assert said("attribution", "counterfactual").endswith("Counterfactuals have no random control.")
    both = said("attribution", "counterfactual")
    assert both.startswith(
        "It was consistent with all 4 explanations that count. "
        "Where words were masked it was consistent with 2 of 2; masking the same number"
    )
    assert said("counterfactual").endswith("Counterfactuals have no random control.")
    assert "counterfactual" not in said("attribution").lower()
