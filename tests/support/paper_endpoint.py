"""A scripted model for the studies of the papers, whose figures can be worked out by hand. It knows our prompts and the
made-up ones of `authors_repositories`.

- Ask: it says yes (of two responses it prefers the first), writes numbered new questions and predicts yes (the first)
  for each. It keeps to that for odd numbers and does the opposite for even ones: 2 of 3 predictions come true.
- Check: it calls every text positive, every statement true, and takes the first choice, unless something is masked:
  then it cannot tell. It explains itself by the first word, and changes nothing if asked for an edit.
- Probe: it makes one call, concludes that the function doubles, and picks the first example and the first description.
  As a function it gives 1 for each word and "undefined" for each fact.
"""

import re
from typing import Any

MODELS = ("gpt-4o", "gpt-4o-mini")
CONCLUSION = """[DESCRIPTION]: It doubles its input.
[DOMAIN]: any input
[CODE]:
```python
def f(x):
    return x + x
```"""
CALL = "COMMAND: PYTHON(function.py 2)"


def reply(body: dict[str, Any]) -> str:
    """Answer a request to the scripted server (`stub_server.StubServer`)."""
    turns = [str(message["content"] or "") for message in body["messages"]]
    whole, last = "\n\n".join(turns), turns[-1]
    # Each draw of a generator has a seed of its own, from 0.
    new = f"number {(body.get('seed') or 0) + 1} of {body['model']}"
    if "[ANSWER]" in whole:
        return "[ANSWER]: 1"
    if "PYTHON" in whole or "black box" in whole:
        is_first = all(message["role"] != "assistant" for message in body["messages"])
        return CALL if is_first and "You cannot call it yourself" not in whole else CONCLUSION
    if re.search(r"^Word: ", last, re.M):
        return "1"
    if "look facts up" in whole:
        return "undefined"
    if "Candidate Response 1" in last:
        return _preference(new, whole, last)
    if re.search(r"^(Paragraph|Text): ", last, re.M):
        return _text(last)
    return _question(new, whole, last)


def _question(new: str, whole: str, last: str) -> str:
    """Explain or answer a question, write a new one, or predict the answer to one."""
    likely = "It said yes of everything. So the robot will likely answer yes."
    if "is asked: " in last or "Follow-up Question: C" in last:
        return likely
    if last.startswith(("Starter question:", "Starter Question:")) or "\nStarter Question: " in last:
        return f"Can thing {new} do that?\nYour guess of the robot's answer: {likely}"
    if last.startswith("Change this question:"):
        return f"Can thing {new} do that?\nChanged: the thing"
    said = "no" if _is_even(last) or last.endswith("Defend this answer: no") else "yes"
    reason = f"That is known. So the answer is {said}."
    return f"{said}\nJustification: {reason}" if "exactly two lines" in whole else reason


def _preference(new: str, whole: str, last: str) -> str:
    if 'starting with "Context:"' in last:
        post = f"Post {new}"
        return f"Context: {post}\nCandidate Response 1: Yes.\nCandidate Response 2: No."
    if "confidently guess" in whole:
        guess = "I would guess that the robot will choose Candidate Response 1."
        return f"Yes, I can confidently guess the robot's choice. {guess}"
    better = f"Candidate Response {2 if _is_even(last) else 1} is more helpful"
    return f"It is the shorter one. So {better}." if "First weigh" in whole else f"{better} because it is short."


def _text(last: str) -> str:
    """Label a text, or explain the label."""
    asked, _, paragraph = re.split(r"^(Paragraph|Text): ", last, maxsplit=1, flags=re.M)
    first = re.search(r"\w+", paragraph)
    word = first[0] if first else ""
    if re.search(r"^(List|\w+ list) ", asked, re.M):
        return f"1. {word}"
    if re.search(r"[Rr]eplace|\w+ hide ", asked):
        return f"Paragraph: {paragraph.replace(word, '[REMOVED]' if '[REMOVED]' in asked else '[REDACTED]', 1)}"
    if re.search(r"^Change|\w+ (edit|turn) ", asked, re.M):
        return f"Paragraph: {paragraph}"
    if "[RE" in paragraph:
        return "unknown"
    if "a)" in asked:
        return "a)"
    return "yes" if "1)" in asked else "positive"


def _is_even(text: str) -> bool:
    numbered = re.findall(r"number (\d+) of", text)
    return bool(numbered) and int(numbered[-1]) % 2 == 0
