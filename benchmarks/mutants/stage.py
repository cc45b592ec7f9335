"""Do the browser's tests notice what the stage would draw wrongly? Prints which planted faults they did not notice.

python benchmarks/mutants/stage.py [WORD ...]

A WORD keeps the faults that have it in what they are called. Each is a text of a file of the stage, which stands there
once, and what takes its place in a copy of the tracked files; the test that has to notice runs there. Nonsense that
stops the whole stage is no fault here: each of these draws something else, and goes on. A test that waits three times
as long as it took without the fault, and ten seconds, has noticed it.
"""

import os
import runpy
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

copied = runpy.run_path(str(Path(__file__).with_name("run.py")))["copied"]

STAGE = "tests/browser/test_stage.py::"
PLAY = "tests/browser/test_play.py::"


class Fault(NamedTuple):
    """What is wrong, in words; the file of `core/report/viewer`, the text in it, and what takes its place."""

    words: str
    file: str
    text: str
    instead: str


FAULTS = {
    STAGE + "test_a_tile_of_a_run_opens_its_case_by_click_and_by_enter": [
        Fault("kept is called broken", "parts.js", 'kept: "kept", broken: "broken"', 'kept: "broken", broken: "kept"'),
    ],
    STAGE + "test_a_mark_has_its_sign_its_colour_and_its_word_everywhere": [
        Fault("the sign of kept is that of broken", "parts.js", 'kept: "M3 8.5l3.5 3.5L13 4.5"',
              'kept: "M4 4l8 8M12 4l-8 8"'),
        Fault("a card has no class of its mark", "stage.js", "<li class=${`card ${classOf(card.mark)}",
              '<li class=${`card ${""}'),
        Fault("the legend counts a kind once", "parts.js", ".filter((card) => card.mark === mark).length",
              ".some((card) => card.mark === mark) * 1"),
    ],
    STAGE + "test_a_bar_is_as_long_as_its_share": [
        Fault("one unit of a bar too many is full", "parts.js", "at < bar.hits", "at <= bar.hits"),
        Fault("a bar is as wide as all of it", "parts.js", "(100 * bar.hits) / (bar.n", "(100 * bar.n) / (bar.n"),
        Fault("an interval begins where it ends", "parts.js", "left:${100 * bar.low}%", "left:${100 * bar.high}%"),
        Fault("that a baseline does as well is dropped", "parts.js", '["own", "wins", "limit", "faint"]',
              '["own", "limit", "faint"]'),
    ],
    STAGE + "test_of_a_run_of_very_many_cases_all_tiles_come_when_they_are_wanted": [
        Fault("a tile too few before the rest is folded", "stage.js", "cards.slice(0, MANY)",
              "cards.slice(0, MANY - 1)"),
    ],
    STAGE + "test_a_story_goes_on_back_and_home_by_keys_and_none_is_lost": [
        Fault("a telling is not left by Escape", "stage.js", "Home: () => go(0), Escape: leave,", "Home: () => go(0),"),
        Fault("a telling begins at its second screen", "stage.js", "Math.min(place ?? 0,", "Math.min(place ?? 1,"),
    ],
    STAGE + "test_cards_are_walked_opened_and_judged_by_keys_alone": [
        Fault("a card is not closed by Escape", "stage.js", '(opened ? { Escape: () => open("") }', "(opened ? {}"),
        Fault("a key judges the other way", "stage.js", "words[(number - 1) % 2]", "words[number % 2]"),
    ],
    STAGE + "test_keys_are_silent_in_a_field_with_a_modifier_and_after_the_end": [
        Fault("keys are heard in a field", "stage.js", "if (at.closest?.(FIELDS)) return;", ""),
    ],
    STAGE + "test_the_hall_bets_by_number_and_a_broken_card_steps_out_of_line": [
        Fault("a bet is not kept", "stage.js", "keep(name, mine);", ""),
    ],
    STAGE + "test_spans_fall_on_the_right_words": [
        Fault("spans count as JavaScript does", "parts.js", "const points = Array.from(text)",
              'const points = text.split("")'),
    ],
    STAGE + "test_a_hostile_text_stays_a_text": [
        Fault("what a model wrote is markup", "parts.js", '<p dir="auto"><${Marked} part=${shown} /></p>',
              '<p dir="auto" dangerouslySetInnerHTML=${{ __html: shown.text }}></p>'),
    ],
    STAGE + "test_only_what_the_truth_does_not_tell_lies_on_a_covered_plot": [
        Fault("the covered truth is drawn", "stage.js", '(kind) => !covered || kind !== "truth"', "() => true"),
    ],
    STAGE + "test_who_it_was_is_told_at_the_end_alone": [
        Fault("who it was is told at first", "stage.js", 'who?.shown || "The model"',
              'who?.name || "The model"'),
    ],
    STAGE + "test_evidence_is_asked_for_once_when_it_is_opened": [
        Fault("evidence is asked for each time", "parts.js", "!event.target.open || isAsked.current",
              "!event.target.open"),
    ],
    STAGE + "test_every_card_is_guessed_before_it_turns_and_half_of_them_without_the_reason": [
        Fault("a card of a run turns before its guess", "game.js", "isGuessed = Boolean(round && guesses[round.id])",
              "isGuessed = Boolean(round)"),
    ],
    STAGE + "test_a_sealed_card_turns_once_its_answer_came": [
        Fault("a sealed card turns before its answer came", "game.js", 'isGuessed && round.card.mark !== "sealed"',
              "isGuessed"),
    ],
    PLAY + "test_a_link_gives_the_same_cards_in_the_same_order": [
        Fault("cards are not drawn by the seed", "game.js", "const random = randomOf(seed);",
              "const random = randomOf(0);"),
    ],
    PLAY + "test_the_conclusion_is_true_in_each_case": [
        Fault("the conclusion of another case", "game.js", '? "none" : "loss"', '? "loss" : "none"'),
    ],
    PLAY + "test_what_foretells_nothing_counts_for_nobody_and_all_are_held_to_the_same_cards": [
        Fault("who does as well as the reader does not win", "game.js", "wins: one.hits >= hits",
              "wins: one.hits > hits"),
    ],
    PLAY + "test_in_a_line_to_share_what_came_as_predicted_is_green": [
        Fault("squares of right and wrong are swapped", "game.js", '{ kept: "🟩", broken: "🟥"',
              '{ kept: "🟥", broken: "🟩"'),
    ],
    PLAY + "test_in_an_app_guesses_are_said_and_a_refusal_stops_nobody": [
        Fault("what is lost is not said again", "outbox.js", "this.underWay = false; this.#send(); }, this.wait",
              "}, this.wait"),
        Fault("places in a pack are counted from 0", "outbox.js", "place: place + 1", "place: place"),
    ],
}  # fmt: skip
"""By the test that has to notice them."""


def is_noticed(fault: Fault, test: str, folder: Path, patience: float) -> bool:
    """Whether the test fails with it. Raises ValueError where the text does not stand in the file once."""
    file = folder / "core" / "report" / "viewer" / fault.file
    before = file.read_text(encoding="utf-8")
    if before.count(fault.text) != 1:
        raise ValueError(f"{fault.file} has {fault.text!r} {before.count(fault.text)} times: {fault.words}")
    file.write_text(before.replace(fault.text, fault.instead), encoding="utf-8")
    code = tested(test, folder, patience)
    file.write_text(before, encoding="utf-8")
    return code == 1


def tested(test: str, folder: Path, patience: float) -> int:
    """What pytest ends with: 0 where the test holds, 1 where it fails, or is still at it after so many seconds."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", test]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        return process.wait(patience)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return 1


def main() -> int:
    words = sys.argv[1:]
    chosen = {test: [one for one in faults if not words or any(word in one.words for word in words)]
              for test, faults in FAULTS.items()}  # fmt: skip
    noticed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copied(folder)
        for test, faults in chosen.items():
            began = time.monotonic()
            if faults and tested(test, folder, 600):
                print(f"{test} fails, or is not there, without any fault")
                continue
            patience = 3 * (time.monotonic() - began) + 10
            for fault in faults:
                found = is_noticed(fault, test, folder, patience)
                noticed += found
                print(f"{'noticed' if found else 'SURVIVED':8}  {fault.words}", flush=True)
    of = sum(map(len, chosen.values()))
    print(f"{noticed} of {of} noticed")
    return int(noticed < of)


if __name__ == "__main__":
    sys.exit(main())
