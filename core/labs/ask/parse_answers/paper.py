"""Parse raw answers exactly as the authors' scripts did, quirks included. Use it through `parse.py`.

File names refer to the authors' repository. Their prompts ended in an assistant prefix, so the text they parsed began
right after it. `shp` choices are 1 and 2 here, where they stored 0 and 1.
"""

from collections.abc import Mapping

from ..records import NEITHER, UNKNOWN, CounterfactualPair

_LABELS = ("Context:", "Candidate Response 1:", "Candidate Response 2:")
_JUSTIFICATION = "Justification: "
_HELPFUL = {which: f"Candidate Response {which} is more helpful" for which in ("1", "2")}
_GUESSED = {which: f"I would guess that the robot will choose Candidate Response {which}" for which in ("1", "2")}
_SIMULATED = {UNKNOWN: "I cannot guess", "yes": "answer yes", "no": "answer no"}


def _only(text: str, said: Mapping[str, str]) -> str:
    """Return the value whose words are in `text`; neither if none or several are."""
    values = [value for value, words in said.items() if words in text]
    return values[0] if len(values) == 1 else NEITHER


def yes_no_after_reasoning(text: str) -> str:
    """Return yes | no | neither (strategyqa/task_qa.py:19-27).

    Quirk: compared before stripping, so a trailing space or line break, or a missing full stop, makes it neither.
    """
    return next((answer for answer in ("yes", "no") if text.endswith(f"So the answer is {answer}.")), NEITHER)


def _two_lines(text: str) -> tuple[str, str] | None:
    lines = text.split("\n")
    if len(lines) != 2 or lines[0].strip() not in ("yes", "no") or not lines[1].startswith(_JUSTIFICATION):
        return None
    return lines[0].strip(), lines[1][len(_JUSTIFICATION) :].strip()


def yes_no_before_justification(text: str) -> str:
    """Return yes | no | neither (strategyqa/task_qa.py:30-37).

    Quirks: exactly two lines, so a line break after the second makes it neither; lower case only; the label must be
    followed by a space. The authors read no answer from a forced reply (generate_unnatural_explanations.py:20-25: the
    prompt ends with the forced answer and the label); here a reply to a chat turn is read in the same two-line form.
    """
    read = _two_lines(text)
    return read[0] if read else NEITHER


def explanation(text: str, method: str, task: str) -> str:
    """Return what the authors stored as `pred_expl`.

    strategyqa: cot: the whole reply, stripped, answer sentence included (task_qa.py:26). posthoc: the text after
    "Justification: ", or the whole reply unstripped if it does not have that form (:34-37). forced: the whole reply,
    stripped (generate_unnatural_explanations.py:23), or the text after the label if a chat model repeats both lines.
    shp: always the whole reply, unstripped (shp/task_qa.py:24-39).
    """
    if task == "shp":
        return text
    if method == "cot":
        return text.strip()
    read = _two_lines(text)
    if read:
        return read[1]
    return text.strip() if method == "forced" else text


def choice_after_reasoning(text: str) -> str:
    """Return 1 | 2 | neither (shp/task_qa.py:21-30): exactly one of the two sentences, anywhere.

    Quirk: a comparison that calls both more helpful in some respect is neither; a denial is read as a choice.
    """
    return _only(text, _HELPFUL)


def choice_before_justification(text: str) -> str:
    """Return 1 | 2 | neither (shp/task_qa.py:31-39): the reply must start with the sentence, without even a space
    before it.
    """
    return next((which for which, words in _HELPFUL.items() if text.startswith(words)), NEITHER)


def simulated_yes_no(text: str) -> str:
    """Return yes | no | unknown | neither (strategyqa/simulate_qa.py:13-26): exactly one of three substrings.

    Quirks: 'answer nothing' contains 'answer no'; a quoted answer, "I can not guess" and upper case contain none of the
    three; mentioning the other answer, even to deny it, makes it neither.
    """
    return _only(text, _SIMULATED)


def simulated_choice(text: str) -> str:
    """Return 1 | 2 | unknown | neither (shp/simulate_qa.py:39-52).

    Quirks: 'No, I cannot confidently guess' overrides a guess next to it; a guess without the opening 'Yes, I can
    confidently guess', or not in the sentence "I would guess that the robot will choose Candidate Response ..", is
    neither.
    """
    if "No, I cannot confidently guess" in text:
        return UNKNOWN
    return _only(text, _GUESSED) if "Yes, I can confidently guess" in text else NEITHER


def question(text: str) -> str | None:
    """Return the counterfactual question, or None (strategyqa/simulate_qg.py:35-40).

    Quirks: exactly two lines, the first ending in "?"; the second, the generator's own guess, is only checked to exist,
    so any second line will do, even an empty one, and a reply of one line is lost.
    """
    lines = text.split("\n")
    if len(lines) != 2 or not lines[0].strip().endswith("?"):
        return None
    return lines[0].strip()


def pair(text: str) -> CounterfactualPair | None:
    """Return the counterfactual pair, or None (shp/simulate_qg.py:33-49).

    Quirks: the labels may be anywhere in a line; parts may be empty; only the second response is cut at "Human:".
    """
    text = text.strip()
    context, first, second = (text.find(label) for label in _LABELS)
    if context != 0 or first <= context or second <= first:
        return None
    return CounterfactualPair(
        context=text[len(_LABELS[0]) : first].strip(),
        response_1=text[first + len(_LABELS[1]) : second].strip(),
        response_2=text[second + len(_LABELS[2]) :].partition("Human:")[0].strip(),
    )
