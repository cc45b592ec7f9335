"""A system prompt as a setting of a run: a person's own words, or a text of a paper's authors."""

from __future__ import annotations

import hashlib

from ..events import Message, Prompt
from . import paper_prompts

ID = "system prompt"
"""The name of a person's system prompt where a run lists its prompts; the hash is of its text."""

REPOSITORY = "https://github.com/AndreasMadsen/llm-introspection"
"""The authors' code that has the usual system prompts of Falcon and Llama 2."""


def text_of(setting: str, prompts: str | None = None) -> str:
    """Return the system prompt: `setting` itself, or for "paper:NAME" the text `system/NAME` among the paper's prompts,
    which `prompts` may name the folder of. Raises PaperPromptError if it is missing there.
    """
    if not setting.startswith(paper_prompts.PREFIX):
        return setting
    name = setting.removeprefix(paper_prompts.PREFIX).strip()
    if not name.replace("-", "").replace("_", "").isalnum():
        raise paper_prompts.PaperPromptError(
            f"“{setting[:100]}” names no system prompt of a paper. Write paper:falcon, or your own words."
        )
    folder = prompts if prompts and paper_prompts.is_paper(prompts) else paper_prompts.PAPER
    return paper_prompts.load(folder, f"system/{name}", REPOSITORY).user


def hashes(setting: str, prompts: str | None = None) -> dict[str, str]:
    """Return the hash of the system prompt by its name; empty without one. Raises PaperPromptError."""
    if not setting:
        return {}
    name = setting if setting.startswith(paper_prompts.PREFIX) else ID
    return {name: hashlib.sha256(text_of(setting, prompts).encode()).hexdigest()[:12]}


def with_system(prompt: Prompt, system: str) -> Prompt:
    """Return the prompt with `system` as its system turn, or before the text of the system turn that it has."""
    if not system:
        return prompt
    first, *others = prompt.messages
    if first.role == "system":
        own = first.model_copy(update={"content": f"{system}\n\n{first.content}"})
        return prompt.model_copy(update={"messages": (own, *others)})
    return prompt.model_copy(update={"messages": (Message(role="system", content=system), *prompt.messages)})
