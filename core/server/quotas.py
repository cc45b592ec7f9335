"""What runs may use where a host sets limits (`core.policy`): calls, money, places and bytes; and which runs are
deleted.
"""

import asyncio
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path

from .. import home, journal, policy
from ..errors import ExplainError
from ..events import Answered, Asked, CallError, Event, Failed, OutOfReachError
from ..journal import JournalFullError, JournalInUseError, NewerSchemaError
from ..labs.base.lab import Lab
from ..labs.base.spec import MOST_CASES, Spec
from ..runs.library import is_shared
from . import roles
from .usage import CallUsage, UsageLedger, UsageTally, of_home

log = logging.getLogger(__name__)

_OF_CALLS = (b'"kind":"asked"', b'"kind":"answered"', b'"kind":"failed"')
"""These appear in a journal's lines only for calls: within a text, quotes are escaped."""

_MOST_TOKENS = 1_000_000_000
"""The most tokens counted for one prompt or one answer."""

Charge = Callable[[str, int, int], float | None]
"""The price in US dollars of that many tokens in a model's prompt and in its answer; None if calls of the model do not
count.
"""


def free_of_charge(model: str, prompt: int, completion: int) -> float:
    """The `Charge` if nobody pays: calls still count."""
    return 0.0


class QuotaExceededError(ExplainError):
    """More than is allowed here; the message says what exceeds which limit, and what to do instead."""


def planned_calls(lab: Lab, spec: Spec) -> int:
    """The most calls a run can make; 0 if nothing limits calls or the lab cannot tell. Raises QuotaExceededError."""
    limits = ("calls_a_run", "calls_a_day", "calls_of_all_a_day")
    if all(policy.limit(name) is None for name in limits):
        return 0
    calls = lab.calls(spec, sum(1 for _ in islice(lab.cases(spec), MOST_CASES))) or 0
    most = policy.limit("calls_a_run")
    if most is not None and calls > most:
        raise QuotaExceededError(
            f"This run would make {calls:,} calls; the limit here is {most:,}. Choose fewer cases or fewer "
            "trials, or start several runs."
        )
    return calls


_COUNTED = (
    *("runs_at_once", "runs_of_all", "runs_in_line"),
    *("calls_a_day", "calls_of_all_a_day", "cents_a_day", "cents_of_all_a_day"),
)
"""The limits for which the app counts usage while it runs."""


def is_counted() -> bool:
    """Whether such a limit is set here; if none is, nothing is counted."""
    return any(policy.limit(name) is not None for name in _COUNTED)


class Quotas:
    """What the runs of `folder` have used, with today's calls by owner, and whether there is room for one more. May be
    used from any thread.
    """

    def __init__(self, folder: Path, charge: Charge = free_of_charge) -> None:
        self._folder = folder
        self._charge = charge

    @cached_property
    def ledger(self) -> UsageLedger:
        """The usage counts of this home."""
        return of_home()

    def counts(self, model: str) -> bool:
        """Whether calls of that model count."""
        return self._charge(model, 0, 0) is not None

    def usage_of(self, owner: str | None) -> CallUsage:
        """What that person's runs used since midnight (UTC); with None, what everybody's used."""
        with self._tally() as tally:
            return tally.usage_of(owner)

    def usage_by_owner(self) -> dict[str, CallUsage]:
        """What each person's runs used since midnight (UTC), even if there is no limit to count for."""
        if not is_counted():
            return of_journals(self._folder, _today(), self._charge).of
        with self._tally() as tally:
            return dict(tally.of)

    @contextmanager
    def _tally(self) -> Iterator[UsageTally]:
        """Today's usage, locked while in use. Its first use on a day reads the journals; from then on `charge`
        counts.
        """
        with self.ledger.turn:
            if self.ledger.day != (day := _today()):
                self.ledger.tally = of_journals(self._folder, day, self._charge)
                self.ledger.day = day
            yield self.ledger.tally

    def begin(self, run: str, owner: str, calls: int | None) -> int | None:
        """Count one more run of at most `calls` calls that count, or none (None), and return its number; None if
        nothing is counted. Raises QuotaExceededError if the runs in progress or in the queue leave no room for it, or
        the day's other calls leave too few for it.
        """
        try:
            home.must_write(self._folder)
        except home.DataDirError as error:
            raise QuotaExceededError(str(error)) from None
        check_stored(self._folder)
        if not is_counted():
            return None
        with self._tally() as tally:
            self._check_room(owner)
            if calls is not None:
                self._check_day(tally, owner, calls)
            number = self.ledger.begin(run, owner, calls or 0)
            self.ledger.allocate_slots(policy.limit("runs_of_all"))
            return number

    async def wait(self, number: int | None) -> None:
        """Wait until the run of that number has a place; a run without a number needs none."""
        if number is not None:
            await asyncio.shield(asyncio.wrap_future(self.ledger.place_of(number)))

    def over(self, number: int | None) -> None:
        """Release the place of a run that is over, whether it ran or was still in the queue."""
        if number is not None:
            self.ledger.over(number)
            self.ledger.allocate_slots(policy.limit("runs_of_all"))

    def charge(self, owner: str, event: Event, number: int | None) -> None:
        """Count an event of a run of `owner`; to be called with each event before it is written. Raises
        OutOfReachError, which ends the run, for a call that exceeds a daily limit.
        """
        if not isinstance(event, Asked | Answered | Failed) or not event.model or not self.counts(event.model):
            return
        if not is_counted():
            return
        with self._tally() as tally:
            if isinstance(event, Asked):
                if words := self._spent(tally, owner):
                    told = CallError(words, "The answers are kept, and the run can be resumed tomorrow.")
                    raise OutOfReachError(told)
                if number is not None:
                    self.ledger.count_call(number)
            _count(tally, self._charge, owner, event)

    def _check_room(self, owner: str) -> None:
        mine, everybody = (self.ledger.going_on(of).runs for of in (owner, None))
        most = roles.limit("runs_at_once", owner)
        if most is not None and mine >= most:
            raise QuotaExceededError(
                f"You already have {mine} runs in progress, the most allowed here. Wait until one ends, or stop one."
            )
        places, waiting = policy.limit("runs_of_all"), policy.limit("runs_in_line")
        if places is not None and waiting is not None and everybody >= places + waiting:
            raise QuotaExceededError(
                f"People already have {everybody} runs in progress or in the queue, the most "
                "allowed here. Try again a little later."
            )

    def _check_day(self, tally: UsageTally, owner: str, calls: int) -> None:
        for name, of, whose in (("calls_a_day", owner, "you"), ("calls_of_all_a_day", None, "all people together")):
            most, used = _limit(name, of), tally.usage_of(of).calls + self.ledger.going_on(of).ahead
            if most is not None and used + max(calls, 1) > most:
                raise QuotaExceededError(
                    f"Here {whose} may make {most:,} calls a day, and {used:,} have been made or reserved. Choose a "
                    "smaller run, or come back tomorrow (the day starts at midnight UTC)."
                )
        if words := self._spent(tally, owner):
            raise QuotaExceededError(words)

    def _spent(self, tally: UsageTally, owner: str) -> str:
        """Why `owner` may make no further call today; an empty string if they may."""
        for of, whose, last in ((owner, "you", "a_day"), (None, "all people together", "of_all_a_day")):
            limits = [_limit(f"{name}_{last}", of) for name in CallUsage._fields]
            if limits == [None, None]:
                continue
            for most, used, what in zip(limits, tally.usage_of(of), ("calls", "US cents"), strict=True):
                if most is not None and used >= most:
                    return (
                        f"Here {whose} may use {most:,} {what} a day, and they are used up or reserved for calls in "
                        "progress. Robots and recordings cost nothing; for other models come back tomorrow (the day "
                        "starts at midnight UTC)."
                    )
        return ""


def _limit(name: str, owner: str | None) -> int | None:
    """A limit for that person; with None, for everybody together."""
    return policy.limit(name) if owner is None else roles.limit(name, owner)


def check_stored(folder: Path) -> None:
    """Check the folder's size. Raises QuotaExceededError if the host's storage limit is reached."""
    most = policy.limit("stored_mb")
    if most is not None and stored_bytes(folder) >= most * 1_000_000:
        raise QuotaExceededError(
            f"The {most:,} MB that this host allows for runs are used up. Nothing is lost; ask the host to make room."
        )


def stored_bytes(folder: Path) -> int:
    """The size in bytes of the folder's files and the answer cache, measured at most every ten seconds."""
    return _stored(folder, time.monotonic() // 10)


@lru_cache(maxsize=1)
def _stored(folder: Path, tens: float) -> int:
    answers = sum(path.stat().st_size for path in home.home().glob(f"{home.answers().name}*"))
    with os.scandir(folder) as entries:
        return answers + sum(entry.stat().st_size for entry in entries if entry.is_file(follow_symlinks=False))


def _count(tally: UsageTally, charge: Charge, owner: str, event: Event) -> None:
    """Count what an event says about a call. A call counts as the most that it can use until its answer says what it
    used; if no answer ever says so, it stays at that. A cached answer used no tokens.
    """
    if not isinstance(event, Asked | Answered | Failed) or event.model is None or event.call is None:
        return
    call, model = (event.run, event.call), event.model
    if charge(model, 0, 0) is None:
        return
    if isinstance(event, Failed):
        tally.add(owner, call, CallUsage(), None)
        return
    if isinstance(event, Asked):
        most = _at_most(event)
        tally.add(owner, call, CallUsage(1, _cents(charge, model, most)), most)
        return
    most = tally.under_way.get(call, (0, 0))
    said = (0, 0) if event.cached else (event.usage.prompt_tokens, event.usage.completion_tokens)
    prompt, completion = (one if now is None else _bounded(now) for now, one in zip(said, most, strict=True))
    less = _cents(charge, model, (prompt, completion)) - _cents(charge, model, most)
    tally.add(owner, call, CallUsage(0, less), None)


def _cents(charge: Charge, model: str, tokens: tuple[int, int]) -> float:
    return 100 * (charge(model, *tokens) or 0.0)


def _at_most(asked: Asked) -> tuple[int, int]:
    """The most tokens that a call can use: for the prompt, one for every three bytes, though most tokens have four; and
    for the longest answer.
    """
    prompt = sum(len(turn.content.encode("utf-8", "replace")) for turn in asked.messages) // 3
    return prompt, _bounded(asked.sampling.max_tokens)


def _bounded(tokens: int) -> int:
    """The number of tokens that an endpoint reports, which may be anything, within bounds."""
    return min(max(tokens, 0), _MOST_TOKENS)


def _today() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d}"


def of_journals(folder: Path, day: str, charge: Charge = free_of_charge) -> UsageTally:
    """The usage on that day (YYYY-MM-DD) according to the folder's journals."""
    tally = UsageTally()
    midnight = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
    on_day = f'"at":"{day}T'.encode()
    for path in folder.glob("*.jsonl"):
        try:
            if path.stat().st_mtime < midnight:
                continue
            begun = journal.first_event(path)
            owner = begun.owner if begun else ""
            with path.open("rb") as lines:
                for line in lines:
                    if on_day in line and any(kind in line for kind in _OF_CALLS):
                        # A damaged line is skipped.
                        with suppress(ValueError):
                            _count(tally, charge, owner, journal.from_line(line.rstrip(b"\n"))[0])
        except (OSError, NewerSchemaError):
            continue
    return tally


def delete_old_runs(folder: Path, days: int) -> list[str]:
    """Delete visitors' runs to which nothing was added for `days` days, with what people said about them, and return
    the deleted runs. Shared runs and runs of the command line stay. Also delete what visitors said that long ago
    about runs that are not in the folder, such as recordings. A file dated more than a day in the future, because
    the clock was set back, counts as changed now.
    """
    now = time.time()
    oldest = now - days * 24 * 3600
    for path in folder.glob("*.jsonl"):
        with _else_kept(path):
            if path.stat().st_mtime > now + 24 * 3600:
                os.utime(path, (now, now))
    forgotten = []
    for path in journal.list_journals(folder):
        said = list(folder.glob(f"{path.stem}~*.jsonl"))
        with _else_kept(path):
            last = max(one.stat().st_mtime for one in (path, *said))
            if "~" in path.stem or last >= oldest or journal.is_written(path):
                continue
            if not _is_visitors(path) or is_shared(folder / path.name):
                continue
            for file in (*said, path):
                file.unlink()
            forgotten.append(path.stem)
    for path in sorted(folder.glob("*~*.jsonl")):
        with _else_kept(path):
            is_homeless = journal.find(path.stem.partition("~")[0], folder) is None
            if is_homeless and path.stat().st_mtime < oldest and _is_visitors(path):
                path.unlink()
    return forgotten


@contextmanager
def _else_kept(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, NewerSchemaError, JournalFullError, JournalInUseError) as error:
        log.warning("%s is kept: %s", path, error)


def _is_visitors(path: Path) -> bool:
    begun = journal.first_event(path)
    return begun is not None and bool(begun.owner)
