"""Sentences on how a run's calls were sent and served, if that differs from what was requested."""

from collections.abc import Iterator, Mapping

from ..text.display import count_noun
from ..transcript import Difference, Transcript, is_version

_LONGEST = 80
"""The most characters of a model's name, which a server may make as long as it likes."""

_MOST = 3
"""How many substitute models are named."""


def of_run(run: Transcript) -> list[str]:
    """Sentences on how the run's calls were sent and served; empty if all was as requested."""
    return request_notes(run.differences, run.answers)


def request_notes(found: Mapping[Difference, int], answers: Mapping[str, int]) -> list[str]:
    """A sentence for each difference. `found` counts the answers that have it; `answers` counts all, by the model that
    was asked.
    """
    return [*_not_sent(found), *_system_text(found), *_served(found, answers)]


def _not_sent(found: Mapping[Difference, int]) -> Iterator[str]:
    refused: dict[str, list[str]] = {}
    for one in sorted(one for one in found if one.kind == "not sent"):
        refused.setdefault(one.model, []).append(setting(one.name))
    by_settings: dict[tuple[str, ...], list[str]] = {}
    for model, settings in refused.items():
        by_settings.setdefault(tuple(settings), []).append(shown(model))
    for names, models in by_settings.items():
        listed = joined(names)
        were, them = ("was", "it") if len(names) == 1 else ("were", "them")
        refuse = "refuses" if len(models) == 1 else "refuse"
        yield f"{listed[:1].upper()}{listed[1:]} {were} not sent: {joined(models)} {refuse} {them}."


def _system_text(found: Mapping[Difference, int]) -> Iterator[str]:
    models = sorted(shown(one.model) for one in found if one.kind == "system text")
    if models:
        takes = "takes" if len(models) == 1 else "take"
        yield f"The system text was put into the first user message: {joined(models)} {takes} no system message."


def _served(found: Mapping[Difference, int], answers: Mapping[str, int]) -> Iterator[str]:
    served = sorted((one for one in found if one.kind == "served"), key=lambda one: (-found[one], one))
    for one in served[:_MOST]:
        n, of, asked = found[one], answers.get(one.model, 0), shown(one.model)
        some = f" in {n:,} of {count_noun(of, 'call')}" if n < of else ""
        if is_version(one.model, one.name):
            yield f"{asked} was served as {shown(one.name)}{some}."
        else:
            yield f"{shown(one.name)} answered instead of {asked}{some}."
    if len(served) > _MOST:
        yield f"{count_noun(len(served) - _MOST, 'more model')} answered in another model's place."


def setting(name: str) -> str:
    """A setting's name in words."""
    return {"top_logprobs": "log probabilities"}.get(name, name.replace("_", " "))


def shown(model: str) -> str:
    """A model's name for a sentence, without characters that mark emphasis, shortened if too long."""
    name = " ".join(model.replace("*", "").split())
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…"


def joined(words: list[str] | tuple[str, ...]) -> str:
    """Words as a list in a sentence: "a, b and c"."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
