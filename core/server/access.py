"""Who owns a run, and what other people may do with it. Where the app is hosted they may do nothing until the owner
shares the run; with a sealed run they may only predict its answers.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from .. import home, policy
from ..events import Event, Fork, Frozen, Recorded
from ..journal import Fault
from ..labs.base.lab import Lab, Prerequisite, ReadResult
from ..labs.base.spec import Spec
from ..runs.context import Resolve
from ..runs.driver import ForkPlan, records
from ..runs.engine import UserInput
from ..runs.labels import BY, Audited, Foretold, Kept, Label, Played
from ..runs.library import RunInAuditError, RunNotFoundError, RunSealedError, Watch
from ..transcript import Transcript, name_of
from . import roles
from .jobs import JobRunner, Replaying
from .quotas import QuotaExceededError

_FORETOLD, _AUDITED = name_of(Foretold), name_of(Audited)


class AccessDeniedError(RunNotFoundError):
    """The run belongs to somebody else; the message says what only its owner may do."""

    title = "This run belongs to someone else"


COOKIES_NEEDED = (
    "This app needs cookies, and your browser sent none. Allow cookies for this address and reload the page."
)


class CookiesNeededError(AccessDeniedError):
    """Without cookies the visitor cannot be recognized again, so nothing of theirs is stored; the message says what to
    do.
    """

    title = "Cookies are needed"

    def __init__(self) -> None:
        super().__init__(COOKIES_NEEDED)


class Visitor(NamedTuple):
    """A visitor: the name that owns their runs, their role, and whether they can be recognized again (`is_known`).

    A visitor who cannot be recognized may view what is shared but cannot begin a run. A teacher may view and share
    every run. A visitor who is not `is_in` has not signed in yet, and sees recordings only.
    """

    name: str
    is_host: bool = False
    is_known: bool = True
    is_teacher: bool = False
    is_in: bool = True

    @property
    def takes_part(self) -> bool:
        """Whether what the visitor begins and says is stored."""
        return self.is_in and (self.is_known or self.is_host)


def visitor_with_code(code: str, is_known: bool) -> Visitor:
    """The visitor with that code, in the role they signed in with."""
    name = name_of_visitor(code)
    role = roles.role_of(name)
    return Visitor(name, role == roles.HOST, is_known, role == roles.TEACHER, bool(role))


def visitor_with_cookie(cookie: str) -> Visitor:
    """The visitor whose browser sent that cookie. Where the app is hosted, each request without a cookie is a new
    visitor: strangers must not count as one person, who could see what the others have guessed.
    """
    code = code_in(cookie)
    is_known = bool(code) or not policy.is_hosted()
    return visitor_with_code(code if is_known else secrets.token_urlsafe(24), is_known)


def name_of_visitor(code: str) -> str:
    """The name in journals of the person who has `code`; the name does not reveal the code."""
    return hashlib.sha256(f"visitor {code}".encode()).hexdigest()[:16]


def cookie_of(code: str) -> str:
    """The cookie's value for the code: signed, so that the app can tell that it issued the code."""
    return f"{code}.{_signature(code)}"


def code_in(cookie: str) -> str:
    """The code in a cookie that this app issued; an empty string for any other cookie."""
    code, _, signature = cookie.rpartition(".")
    return code if home.secrets_match(signature, _signature(code)) else ""


def _signature(code: str) -> str:
    return home.signature(code)[:32]


class RunAccess:
    """The runs as one visitor may use them. `run` returns a run to view, `own_run` a run to change.

    The owner and the host may do everything with a run. Others may view a shared run, download it and comment on it,
    but never stop or continue it. A teacher may treat all runs as if they were shared, and may share them. The people
    who may share a run may also seal it: `run` then refuses it to everyone else, and `guesses_on` says what they may
    see of it (`core.report.evidence`).
    """

    def __init__(self, jobs: JobRunner, visitor: Visitor) -> None:
        self._jobs = jobs
        self.visitor = visitor

    def start(self, lab: str, spec: Spec, resolve: Resolve | None = None, additions: Sequence[UserInput] = ()) -> str:
        """Begin a run and return its id (`JobRunner.start`). Raises QuotaExceededError."""
        self.must_be_known()
        return self._jobs.start(lab, spec, resolve, self.visitor.name, additions)

    def must_be_known(self) -> None:
        """Check that the visitor may begin something. Raises QuotaExceededError if they have not signed in or cannot be
        recognized.
        """
        if not self.visitor.is_in:
            raise QuotaExceededError("To start a run here, sign in with the code first.")
        if not self.visitor.takes_part:
            raise QuotaExceededError(COOKIES_NEEDED)

    def result_of(self, first: Prerequisite) -> Frozen | None:
        """The result that a run of the visitor's would use for that prerequisite; None if no run has produced one."""
        return self._jobs.result_of(first, self.visitor.name)

    def is_missing(self, first: Prerequisite) -> bool:
        """Whether the prerequisite is wanted, and no run that the visitor may use has produced it yet."""
        return self._jobs.is_missing(first, self.visitor.name)

    def results(self, lab: Lab, read: ReadResult) -> Iterator[tuple[Spec, Frozen]]:
        """Each specification of that lab with its result, from the runs that the visitor may view."""
        return records(lab, read, self._jobs.folder, self._jobs.seen_by(self.visitor.name))

    def repredict(self, run_id: str, simulator: str, resolve: Resolve | None = None) -> str:
        """Let another model predict in a completed run, as a new run of the visitor's (`JobRunner.repredict`). Raises
        RunNotFoundError, AccessDeniedError, QuotaExceededError and ValueError.
        """
        self.run(run_id)
        self.must_be_known()
        return self._jobs.repredict(run_id, simulator, resolve, self.visitor.name)

    def runs_of_spec(self, lab: Lab, spec: Spec) -> Iterator[tuple[str, Transcript]]:
        """The runs with exactly this specification that the visitor may view, the newest first."""
        return self._jobs.runs_of_spec(lab, spec, self.visitor.name)

    def play(self, lab: str, case: str, trial: str, guess: Played) -> bool:
        """Store a guess in the game (`Annotations.add_guess`). Raises QuotaExceededError."""
        self.must_be_known()
        return self._jobs.keeping.add_guess(lab, case, trial, guess, self.visitor.name)

    def deleted(self) -> list[str]:
        """The runs that the visitor deleted and can restore, the last one last."""
        return self._jobs.keeping.deleted(self.visitor.name)

    def undo(self, run_id: str) -> None:
        """Restore a run that the visitor deleted. Raises RunNotFoundError."""
        self._jobs.keeping.undo(run_id, self.visitor.name)

    @property
    def may_all(self) -> bool:
        """Whether the visitor has an owner's rights over every run, and the host's rights."""
        return self.visitor.is_host or policy.allows("others")

    @property
    def sees_all(self) -> bool:
        """Whether the visitor may view every run."""
        return self.may_all or self.visitor.is_teacher

    @property
    def labeller(self) -> str:
        """The name under which the visitor's labels are stored."""
        return f"{BY}{self.visitor.name}"

    @property
    def guesser(self) -> str:
        """The name under which the visitor predicts sealed runs."""
        return f"guesses-{self.visitor.name}"

    def owns(self, run_id: str) -> bool:
        """Whether the visitor may do everything with the run; nobody may with a recording. Raises RunNotFoundError."""
        if self._jobs.is_recording(run_id):
            return False
        return self.visitor.is_in and (self.may_all or self._jobs.owner(run_id) == self.visitor.name)

    def sees(self, run_id: str) -> bool:
        """Whether the visitor may view the run. Raises RunNotFoundError."""
        if not self.visitor.is_in:
            return self._jobs.is_recording(run_id)
        return self.owns(run_id) or self.sees_all or self._jobs.shared(run_id)

    def shares(self, run_id: str) -> bool:
        """Whether the visitor decides who else may view the run. Raises RunNotFoundError."""
        return self.owns(run_id) or (self.visitor.is_teacher and not self._jobs.is_recording(run_id))

    def replays(self, run_id: str) -> bool:
        """Whether the visitor may use the run's answers as a model; False if the run does not exist."""
        try:
            return self.sees(run_id) and not self.is_sealed(run_id)
        except RunNotFoundError:
            return False

    def is_sealed(self, run_id: str) -> bool:
        """Whether the visitor may see only what they have predicted of the run. Raises RunNotFoundError."""
        return self._jobs.sealed(run_id) and not self.shares(run_id)

    def guesses_on(self, run_id: str, case: str) -> Mapping[str, str] | None:
        """The visitor's predictions for the cards of a case, by card, if they may not see the whole case; these cards
        they may see. None if they may see the whole case. Of a case with an answer that was sampled for the
        visitor's blind audit and is not judged yet, they may see nothing that was parsed (an empty dict). Raises
        RunNotFoundError and AccessDeniedError.
        """
        self._must_see(run_id)
        if self.is_sealed(run_id):
            said = self._jobs.keeping.events(run_id, self.guesser)
            here = (event for event in said if (event.record, event.case) == (_FORETOLD, case))
            # The first guess counts.
            return {event.item: str(event.data.get("value")) for event in reversed([*here])}
        return {} if case in self.unjudged(run_id) else None

    def unjudged(self, run_id: str) -> set[str]:
        """The run's cases with an answer that was sampled for the visitor's blind audit and is not judged yet. Raises
        RunNotFoundError.
        """
        said = self._jobs.keeping.events(run_id, self.labeller)
        drawn = {(event.case, event.item): event.data.get("said") for event in said if event.record == _AUDITED}
        return {case for (case, _), word in drawn.items() if word is None}

    def record_guess(self, run_id: str, case: str, card: str, value: str, also: Frozen | None = None) -> None:
        """Store the visitor's prediction for a card, with the record `also` that the run's lab adds to it; later
        predictions for that card are ignored. Raises RunNotFoundError and AccessDeniedError.
        """
        before = self.guesses_on(run_id, case)
        self.must_take_part()
        for record in filter(None, (also, Foretold(value=value))) if card not in (before or {}) else ():
            self._jobs.keeping.add(run_id, self.guesser, case, record, card, self.visitor.name)

    def must_take_part(self) -> None:
        """Check that the visitor may comment. Raises AccessDeniedError if they have not signed in, and
        CookiesNeededError if they cannot be recognized.
        """
        if not self.visitor.is_in:
            raise AccessDeniedError("To comment on a run here, sign in with the code first.")
        if not self.visitor.takes_part:
            raise CookiesNeededError

    def run(self, run_id: str) -> ReadableRun:
        """The run, for viewing. Raises RunNotFoundError, AccessDeniedError, RunSealedError and RunInAuditError."""
        self._must_see(run_id)
        if self.is_sealed(run_id):
            raise RunSealedError("Guess first: open it as a case and guess each card to see the answers.")
        if self.unjudged(run_id):
            raise RunInAuditError(
                "You have yet to judge some of its answers, and the run shows how they were parsed. Judge them first, "
                "or stop the audit."
            )
        return ReadableRun(self, self._jobs, run_id)

    def unredacted(self, run_id: str) -> ReadableRun:
        """The whole run even if `run` refuses it, only for what shows nothing of it that the visitor may not see, such
        as `core.report.evidence`. Raises RunNotFoundError and AccessDeniedError.
        """
        self._must_see(run_id)
        return ReadableRun(self, self._jobs, run_id)

    def _must_see(self, run_id: str) -> None:
        if not self.sees(run_id):
            raise AccessDeniedError("Its owner has not shared it. Ask them to press Link and share it, then reload.")

    def own_run(self, run_id: str) -> OwnRun:
        """The run, for changing it. Raises RunNotFoundError and AccessDeniedError."""
        self.run(run_id)
        if not self.owns(run_id):
            words = "Only its owner can change this run. You can start your own with the same settings."
            raise AccessDeniedError(words)
        return OwnRun(self, self._jobs, run_id)

    def share(self, run_id: str, shared: bool) -> None:
        """Let everyone view a run, or only its owner again. Raises RunNotFoundError and AccessDeniedError."""
        if not self.shares(run_id):
            raise AccessDeniedError("Only the person who started this run, or a teacher, can share it.")
        self._jobs.keeping.share(run_id, shared)

    def seal(self, run_id: str, sealed: bool) -> None:
        """Seal a run, so that others see only what they have predicted, or unseal it. Raises RunNotFoundError and
        AccessDeniedError.
        """
        if not self.shares(run_id):
            raise AccessDeniedError(
                "Only the person who started this run, or a teacher, can make others guess first or reveal it."
            )
        self._jobs.keeping.seal(run_id, sealed)

    def plan(self, fork: Fork, spec: Spec | None = None) -> ForkPlan:
        """What continuing from an edited answer would ask. Raises RunNotFoundError and AccessDeniedError."""
        self.run(fork.run)
        return self._jobs.plan(fork, spec)

    def fork(self, fork: Fork, resolve: Resolve | None = None, spec: Spec | None = None) -> str:
        """Continue from an edited answer, as a new run of the visitor's. Raises RunNotFoundError, AccessDeniedError and
        QuotaExceededError.
        """
        self.run(fork.run)
        self.must_be_known()
        return self._jobs.fork(fork, resolve, self.visitor.name, spec)


class ReadableRun:
    """A run that the visitor may view."""

    def __init__(self, visit: RunAccess, jobs: JobRunner, run_id: str) -> None:
        self.id = run_id
        self._visit, self._jobs = visit, jobs

    def watch(self, case: str = "") -> Watch:
        """A Watch of the run, to be read again and again."""
        return self._jobs.watch(self.id, case)

    def case(self, case: str) -> Transcript:
        """One case of the run and how the others ended; the rest of the journal is not read."""
        return self._jobs.case(self.id, case)

    def events(self) -> list[Event]:
        """The events of the run so far."""
        return self._jobs.events(self.id)

    def faults(self) -> list[Fault]:
        """The lines of the run's journal that hold no event, are missing or were moved."""
        return self._jobs.faults(self.id)

    def journal(self) -> bytes:
        """The run's journal as it is on disk."""
        return self._jobs.path(self.id).read_bytes()

    def file(self) -> os.stat_result:
        """Size and times of the run's journal, to see whether it has changed since it was read."""
        return self._jobs.path(self.id).stat()

    def is_recording(self) -> bool:
        """Whether the run came with the app."""
        return self._jobs.is_recording(self.id)

    def shared(self) -> bool:
        """Whether everyone may view the run."""
        return self._jobs.shared(self.id)

    def sealed(self) -> bool:
        """Whether others see only what they have predicted of the run."""
        return self._jobs.sealed(self.id)

    def active(self) -> bool:
        """Whether the run is in progress, here or in another process."""
        return self._jobs.active(self.id)

    def here(self) -> bool:
        """Whether the run is in progress in this process, which alone can cancel it."""
        return self._jobs.here(self.id)

    def prior(self) -> str:
        """The id of the run that this one is waiting for; empty if there is none."""
        return self._jobs.prior(self.id)

    def write_error(self) -> str:
        """Why the run's journal could not be written, if that stopped the run in this process; empty if not."""
        return self._jobs.write_error(self.id)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until a run of this process is over; False if the time ran out first."""
        return self._jobs.wait(self.id, seconds)

    def reread(self, replaying: Replaying) -> str:
        """Parse the run's raw answers again, as a new run of the visitor's. Raises QuotaExceededError."""
        self._visit.must_be_known()
        return self._jobs.reread(self.id, replaying, self._visit.visitor.name)

    def kept(self) -> Kept:
        """The title that its owner gave the run, and whether it is hidden."""
        return self._jobs.keeping.run_settings(self.id)

    def labels(self) -> dict[str, list[Recorded]]:
        """What people said about the run, by the name that each is stored under."""
        return self._jobs.keeping.labels(self.id)

    def annotate(self, case: str, record: Frozen, item: str) -> None:
        """Store what the visitor says about a case, or about one of its trials, in their own name. Raises
        AccessDeniedError.
        """
        self._say(self._visit.labeller, case, record, item)

    def label(self, case: str, trial: str, label: Label) -> None:
        """Store the visitor's label of a case, or of one of its trials. Raises AccessDeniedError."""
        self.annotate(case, label, trial)

    def guess(self, reader: str, case: str, made: Callable[[str], Frozen], item: str) -> None:
        """Store a guess in the round that the page's address calls `reader`, unless it equals the visitor's last guess
        about that item. `made` makes the record from the name under which that round's guesses are stored. Raises
        AccessDeniedError, and what `made` raises.
        """
        journal, by = self._round(reader)
        record = made(by)
        last = [event.data for event in self.guesses(reader) if (event.case, event.item) == (case, item)][-1:]
        if last != [record.model_dump(mode="json")]:
            self._say(journal, case, record, item, by)

    def guesses(self, reader: str) -> list[Recorded]:
        """What the visitor guessed in that round, in order."""
        journal, by = self._round(reader)
        return [event for event in self._jobs.keeping.events(self.id, journal) if event.by == by]

    def _round(self, reader: str) -> tuple[str, str]:
        """The names under which the visitor's guesses of that round are stored: the journal's, and the one on the
        guesses. Both come from the cookie, since a page's address or a request may name anybody. Both are just
        `reader` where people may act for others.
        """
        if policy.allows("others"):
            return reader, reader
        return self._visit.guesser, f"{self._visit.guesser}-{reader}"

    def _say(self, who: str, case: str, record: Frozen, item: str, by: str = "") -> None:
        self._visit.must_take_part()
        self._jobs.keeping.add(self.id, who, case, record, item, self._visit.visitor.name, by)

    def label_of(self, case: str, trial: str, who: str = "") -> Label:
        """The current label of a case, or of one of its trials, by the visitor or by `who`."""
        said = self.labels().get(who or self._visit.labeller, ())
        of_it = [event for event in said if (event.record, event.case, event.item) == (name_of(Label), case, trial)]
        return Label.model_validate(of_it[-1].data) if of_it else Label()

    def is_of_others(self) -> bool:
        """Whether somebody else began the run or labelled in it."""
        is_theirs = self._jobs.owner(self.id) not in ("", self._visit.visitor.name)
        return is_theirs or bool(self.labels().keys() - {self._visit.labeller})


class OwnRun(ReadableRun):
    """A run that the visitor may view and change."""

    def resume(
        self, resolve: Resolve | None = None, additions: Sequence[UserInput] = (), failed_too: bool = False
    ) -> None:
        """Resume the run (`JobRunner.resume`). Raises JournalInUseError and QuotaExceededError."""
        self._visit.must_be_known()
        self._jobs.resume(self.id, resolve, additions, self._visit.visitor.name, failed_too)

    def cancel(self) -> None:
        """Stop the run. No call is sent after this returns; the answers so far stay."""
        self._jobs.cancel(self.id)

    def keep(self, kept: Kept) -> None:
        """Change its title, and whether it is hidden."""
        self._jobs.keeping.save_run_settings(self.id, kept, self._visit.visitor.name)

    def delete(self) -> None:
        """Delete the run; the visitor can restore it. Raises JournalInUseError."""
        self._jobs.keeping.delete(self.id, self._visit.visitor.name)
