"""Raw answers read exactly as the authors' scripts read them, oddities included. `parse.py` is the way in.

Sources are files of the authors' repository. Their prompts ended in an assistant prefix, so what they parsed began
right after it; `shp` choices are 1 and 2 here where they stored 0 and 1.
"""

from __future__ import annotations

from collections.abc import Mapping

from .values import NEITHER, UNKNOWN, CounterfactualPair

_LABELS = ("Context:", "Candidate Response 1:", "Candidate Response 2:")
_JUSTIFICATION = "Justification: "
_HELPFUL = {which: f"Candidate Response {which} is more helpful" for which in ("1", "2")}
_GUESSED = {which: f"I would guess that the robot will choose Candidate Response {which}" for which in ("1", "2")}
_SIMULATED = {UNKNOWN: "I cannot guess", "yes": "answer yes", "no": "answer no"}


def _only(text: str, said: Mapping[str, str]) -> str:
    """The value whose words stand in `text`; neither where those of none or of several do."""
    values = [value for value, words in said.items() if words in text]
    return values[0] if len(values) == 1 else NEITHER


def yes_no_after_reasoning(text: str) -> str:
    """yes | no | neither (strategyqa/task_qa.py:19-27).

    Oddity: compared before stripping, so one trailing space or line end, or a missing full stop, makes it neither.
    """
    return next((answer for answer in ("yes", "no") if text.endswith(f"So the answer is {answer}.")), NEITHER)


def _two_lines(text: str) -> tuple[str, str] | None:
    lines = text.split("\n")
    if len(lines) != 2 or lines[0].strip() not in ("yes", "no") or not lines[1].startswith(_JUSTIFICATION):
        return None
    return lines[0].strip(), lines[1][len(_JUSTIFICATION) :].strip()


def yes_no_before_justification(text: str) -> str:
    """yes | no | neither (strategyqa/task_qa.py:30-37).

    Oddities: exactly two lines, so a line end after the second makes it neither; lower case only; the label must be
    followed by a space. The authors read no answer from a forced reply (generate_unnatural_explanations.py:20-25: the
    prompt ends with the forced answer and the label); a reply to a chat turn is read in the same two-line form.
    """
    read = _two_lines(text)
    return read[0] if read else NEITHER


def explanation(text: str, method: str, task: str) -> str:
    """What the authors kept as `pred_expl`.

    strategyqa: cot the whole reply, stripped, answer sentence included (task_qa.py:26); posthoc the text after
    "Justification: ", or the whole reply unstripped where the form does not hold (:34-37); forced the whole reply,
    stripped (generate_unnatural_explanations.py:23), and after the label where a chat model repeats both lines.
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
    """1 | 2 | neither (shp/task_qa.py:21-30): exactly one of the two sentences, anywhere.

    Oddity: a comparison that names both as more helpful in some respect is neither; so is a denial read as a choice.
    """
    return _only(text, _HELPFUL)


def choice_before_justification(text: str) -> str:
    """1 | 2 | neither (shp/task_qa.py:31-39): the reply must start with the sentence, not even after a space."""
    return next((which for which, words in _HELPFUL.items() if text.startswith(words)), NEITHER)


def simulated_yes_no(text: str) -> str:
    """yes | no | unknown | neither (strategyqa/simulate_qa.py:13-26): exactly one of three substrings.

    Oddities: 'answer nothing' holds 'answer no'; a quoted answer, "I can not guess" and upper case hold none of the
    three; naming the other answer, even to deny it, makes it neither.
    """
    return _only(text, _SIMULATED)


def simulated_choice(text: str) -> str:
    """1 | 2 | unknown | neither (shp/simulate_qa.py:39-52).

    Oddities: 'No, I cannot confidently guess' wins over a guess beside it; a guess without the opening 'Yes, I can
    confidently guess', or not in the sentence "I would guess that the robot will choose Candidate Response ..", is
    neither.
    """
    if "No, I cannot confidently guess" in text:
        return UNKNOWN
    return _only(text, _GUESSED) if "Yes, I can confidently guess" in text else NEITHER


def question(text: str) -> str | None:
    """The counterfactual question, or None (strategyqa/simulate_qg.py:35-40).

    Oddities: exactly two lines, the first ending in "?"; the second, the generator's own guess, is only a check of
    form, so any second line will do, an empty one too, and a reply of one line is lost.
    """
    lines = text.split("\n")
    if len(lines) != 2 or not lines[0].strip().endswith("?"):
        return None
    return lines[0].strip()


def pair(text: str) -> CounterfactualPair | None:
    """The counterfactual pair, or None (shp/simulate_qg.py:33-49).

    Oddities: the labels may stand anywhere in a line; parts may be empty; only the second response is cut at "Human:".
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
