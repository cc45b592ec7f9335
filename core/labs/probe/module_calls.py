"""The calls behind a function that a language model carries out."""

from __future__ import annotations

from ...events import Answered, CallFailed, Prompt, Sampling
from ...models.errors import Refused
from ...runs.context import Run


class ModuleCalls:
    """Asks `model` for one output a call; `failure` is the last that brought none. The item of a call is `about` and
    the input; where each output is a trial of its own, that is the trial's id too.
    """

    def __init__(self, run: Run, model: str, about: str = "input", trials: bool = False) -> None:
        self.failure: CallFailed | None = None
        self._run = run
        self._model = model
        self._about = about
        self._trials = trials
        self._no_logprobs = False

    async def ask(self, prompt: Prompt, sampling: Sampling, text: str) -> Answered:
        """One call. A server that refuses log-probabilities is asked for the digit alone. Raises CallFailed."""
        plainly = sampling.model_copy(update={"top_logprobs": None})
        try:
            try:
                chosen = plainly if self._no_logprobs else sampling
                return await self._ask(prompt, chosen, text)
            except Refused as failure:
                if chosen == plainly or "logprobs" not in failure.message:
                    raise
                self._no_logprobs = True
                return await self._ask(prompt, plainly, text)
        except CallFailed as failure:
            self.failure = failure
            raise

    async def _ask(self, prompt: Prompt, sampling: Sampling, text: str) -> Answered:
        about = item(self._about, text)
        trial = about if self._trials else ""
        return await self._run.ask("module", prompt, self._model, sampling=sampling, item=about, trial=trial)


def item(about: str, text: str) -> str:
    """What a module's call for the input `text` is about, in the journal."""
    return f"{about} {text}"
