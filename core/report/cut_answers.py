"""How many answers of a run a token limit cut short, and which setting would help: one sentence for every lab."""

from __future__ import annotations

from ..labs.base.lab import Lab
from ..text.plurals import count_noun
from ..transcript import Transcript


def cut_answers(lab: Lab, run: Transcript) -> str:
    """The sentence above the verdict; an empty string if no answer of the run was cut."""
    cut = run.cut.total()
    if not cut:
        return ""
    of = count_noun(max(run.finished_calls, cut), "answer")
    were = "was cut at its token limit" if cut == 1 else "were cut at their token limit"
    return f"{cut:,} of {of} {were}. {_help(lab, run)}"


def _help(lab: Lab, run: Transcript) -> str:
    """The settings that would help: the token limit that a person sets for these roles, and the room for thinking."""
    fields = dict.fromkeys(lab.longest[role] for role in run.cut if role in lab.longest)
    titles = [f"*{title}*" for name in fields if (title := lab.spec.model_fields[name].title)]
    ways = [f"allow more tokens ({', '.join(titles)})"] if titles else []
    if run.cut_in_thought or not ways:
        ways.append("give a model that thinks more *room for thinking* on the Models page")
    said = ", or ".join(ways)
    return f"{said[0].upper()}{said[1:]}."
