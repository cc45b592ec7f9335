"""Whether a run's figures follow from its raw answers: the answers are parsed again, in memory, and the results
compared.

A journal cannot prove that a model gave these answers, or that a person added what the run was given: both are
believed.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from .. import journal, policy
from ..events import Event, Frozen, Model, Recorded, Started
from ..journal import Journal, NewerSchemaError
from ..labs.base.lab import Lab
from ..labs.base.spec import Spec
from ..rulesets import PARSER_NAMES
from ..transcript import Transcript, name_of, transcript
from .context import nearly_equal, recorded
from .driver import narrowed, new_reading
from .engine import RunIO, app_version, execute
from .library import IMPORTED, about_path

log = logging.getLogger(__name__)

Replaying = Callable[[str, Sequence[Event]], Model]
"""Makes a model that answers only what a run's journal holds, from the run's id and events."""

_WORDS = {"begun": {"title"}, "result": {"title", "verdict"}}
"""Fields of records that only put other fields into words; a later version may word them differently."""


class Verified(Frozen):
    """How many figures and findings were compared, and in words which do not follow from the answers. `why`: why it
    could not be checked, if the run cannot be parsed again here. `app` is the version whose parsers were used,
    `made_with` the run's.
    """

    compared: int = 0
    differ: tuple[str, ...] = ()
    why: str = ""
    app: str = ""
    made_with: str = ""

    @property
    def sentence(self) -> str:
        """The outcome in one sentence."""
        if self.why:
            return f"The app could not check whether its figures follow from its answers: {self.why}"
        if not self.differ:
            return f"Scored again from its answers: all {self.compared:,} figures and findings follow from them."
        other = ""
        if self.made_with != self.app:
            other = f" Version {self.made_with} of the app made the run; its parsers may differ."
        return (
            f"Scored again from its answers: {len(self.differ):,} of {self.compared:,} figures and findings do not "
            f"follow from them.{other}"
        )


class Origin(NamedTuple):
    """Who sent an imported run (unverified), whether its figures follow from its answers (None if not checked), and who
    signed it (empty without a signature that was checked).
    """

    sender: str
    verified: Verified | None
    signed: str = ""

    @property
    def words(self) -> str:
        """The origin in a few words."""
        found = self.verified
        if found is None or found.why:
            doubt = ", not scored again"
        else:
            doubt = ", its figures do not follow from its answers" if found.differ else ""
        signed = f", signed by {self.signed}" if self.signed else ""
        return f"imported from {self.sender or 'an unnamed sender'}{signed}{doubt}"


def origin(folder: Path, run_id: str) -> Origin | None:
    """Where an imported run comes from; None if the run was made here."""
    sender, found, signed = None, None, ""
    with suppress(OSError, NewerSchemaError, ValidationError):
        for event in journal.read(about_path(folder / f"{run_id}.jsonl", "from")).events:
            if isinstance(event, Recorded) and event.record == IMPORTED:
                sender, signed = (str(event.data.get(name, "")) for name in ("sender", "signed"))
            elif isinstance(event, Recorded) and event.record == name_of(Verified):
                found = Verified.model_validate(event.data)
    return None if sender is None else Origin(sender, found, signed)


def score_again(
    runs: Iterable[str], folder: Path, labs: Mapping[str, Lab], replaying: Replaying
) -> dict[str, Verified]:
    """Verify runs that were imported into `folder`, and store each result beside its sender. Runs for which there is no
    time (EXPLAIN_BUNDLE_SECONDS) are missing from what is returned, and stay unchecked.
    """
    ends = time.monotonic() + (policy.limit("bundle_seconds") or 0)
    done: dict[str, Verified] = {}
    for run_id in runs:
        if (left := ends - time.monotonic()) <= 0:
            break
        found = verify(folder / f"{run_id}.jsonl", labs, replaying, left)
        with Journal(about_path(folder / f"{run_id}.jsonl", "from")) as written:
            written.append(recorded(written.path.stem, found, "run"))
        done[run_id] = found
    return done


def verify(path: Path, labs: Mapping[str, Lab], replaying: Replaying, seconds: float | None = None) -> Verified:
    """Parse the run of a journal again from its answers, within `seconds`. Faulty content raises nothing: `why` says
    what is wrong. Raises FileNotFoundError and NewerSchemaError.
    """
    events = journal.read(path).events
    begun = next((event for event in events if isinstance(event, Started)), None)
    if begun is None or begun.about or begun.lab not in labs:
        return Verified(why="it is not a run of any lab in this app.")
    lab = labs[begun.lab]
    try:
        spec = lab.spec.model_validate(begun.spec)
        return verified(lab, spec, path.stem, events, replaying(path.stem, events), seconds)
    except TimeoutError:
        return Verified(why="it took too long.")
    except Exception as error:
        log.warning("%s cannot be read again: %s", path, error)
        return Verified(why=f"parsing it again failed ({type(error).__name__}).")


def verified(
    lab: Lab, spec: Spec, run_id: str, history: Sequence[Event], answers: Model, seconds: float | None = None
) -> Verified:
    """Parse the run again from its `answers` (`core.models.cache`), with the current parsers, and compare. An
    unfinished run may lack findings that the new parse has. Raises TimeoutError.
    """
    request = new_reading(lab, spec, run_id, history)
    if request.forked_from is not None:
        request = replace(request, lab=narrowed(lab, request.forked_from))
    io = RunIO(lambda id: answers, lambda event: None, live=False)
    again = asyncio.run(asyncio.wait_for(execute(request, io), seconds))
    said = transcript(history)
    made_with = said.started.app if said.started else ""
    if any(failure.bad_input for failure in again.failures):
        return Verified(why=again.failures[-1].message, made_with=made_with)
    before, now = _findings(said), _findings(again)
    differ = [_told(key, one, now.get(key)) for key, one in before.items() if not nearly_equal(one, now.get(key))]
    if said.status == "completed":
        # A figure that later versions add was not claimed.
        claimed = {what for _, what, *_ in before}
        differ += [_told(key, None, now[key]) for key in now.keys() - before.keys() if key[1] in claimed]
    return Verified(compared=len(before), differ=tuple(sorted(differ)), app=app_version(), made_with=made_with)


_Key = tuple[str, str, str, str]
"""Case, figure or record, rules, item."""


def _findings(state: Transcript) -> dict[_Key, Any]:
    """Every figure and every record, without the names of calls."""
    found: dict[_Key, Any] = {}
    for score in state.scores:
        value = {name: getattr(score, name) for name in ("value", "n", "of", "low", "high")}
        found[score.case, score.metric, score.rules, score.item] = value
    for case, place in state.places.items():
        for event in place.records.values():
            words = _WORDS.get(event.record, ())
            data = {name: value for name, value in event.data.items() if name not in words}
            found[case, f"record {event.record}", event.by, event.item] = _without_calls(data)
    return found


def _without_calls(data: Any) -> Any:
    """Leave out fields such as `call_paper`: where two cases need one call at a time, chance decides whose it is."""
    if isinstance(data, dict):
        named = {name: value for name, value in data.items() if name.partition("_")[0] not in ("call", "calls")}
        return {name: _without_calls(value) for name, value in named.items()}
    return [_without_calls(value) for value in data] if isinstance(data, list | tuple) else data


def _told(key: _Key, before: Any, now: Any) -> str:
    """The finding and both of its values, in one line."""
    case, what, rules, item = key
    name = " ".join(filter(None, (case, item, what, f"({PARSER_NAMES.get(rules, rules)})" if rules else "")))
    return f"{name}: recorded {_short(before)}, computed {_short(now)}"


def _short(value: Any) -> str:
    if isinstance(value, dict) and "value" in value:
        value = "undefined" if value["value"] is None else f"{value['value']:.4g} ({value['n']} of {value['of']})"
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
