"""Whose a run is, and what other people may do with it: nothing where the app is hosted, until its owner shares it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from core import policy
from core.events import Event, Fork, Frozen, Recorded
from core.journal import Fault
from core.lab.lab import Lab, Prior, Reads
from core.lab.spec import Spec
from core.runs.engine import Addition
from core.runs.fork import Plan
from core.runs.jobs import Jobs, NoSuchRun, Replaying
from core.runs.labels import BY, Kept, Label
from core.runs.run import Resolve
from core.runs.watch import Watch
from core.transcript import Transcript


class NotYours(NoSuchRun):
    """The run is somebody else's; the message says what is kept for its owner."""

    title = "This run is somebody else's"


class Visitor(NamedTuple):
    """Who looks: the name under which a person's runs are kept, and whether it is whoever hosts the app."""

    name: str
    is_host: bool = False


def name_of_visitor(code: str) -> str:
    """The name that stands in journals for the person who has `code`, which it does not give away."""
    return hashlib.sha256(f"visitor {code}".encode()).hexdigest()[:16]


class Visit:
    """The runs of `Jobs`, as one visitor may use them. Methods bear the names of those of Jobs.

    The owner and the host may do everything with a run. Others may look at one that is shared, download it and say
    what they think of it; they never stop it or go on with it.
    """

    def __init__(self, jobs: Jobs, visitor: Visitor) -> None:
        self._jobs = jobs
        self.visitor = visitor

    @property
    def sees_all(self) -> bool:
        """Whether every run is open to this visitor."""
        return self.visitor.is_host or policy.allows("others")

    def owns(self, run_id: str) -> bool:
        """Whether the visitor may do everything with the run; nobody may with a recording. Raises NoSuchRun."""
        if self._jobs.is_recording(run_id):
            return False
        return self.sees_all or self._jobs.owner(run_id) == self.visitor.name

    def sees(self, run_id: str) -> bool:
        """Whether the visitor may look at the run. Raises NoSuchRun."""
        return self.owns(run_id) or self._jobs.shared(run_id)

    def replays(self, run_id: str) -> bool:
        """Whether the visitor may ask the run's answers as if they were a model, should there be such a run."""
        try:
            return self.sees(run_id)
        except NoSuchRun:
            return False

    def start(self, lab: str, spec: Spec, resolve: Resolve | None = None) -> str:
        """Begin a run for the visitor. Raises TooMuch."""
        return self._jobs.start(lab, spec, resolve, self.visitor.name)

    def resume(
        self,
        run_id: str,
        resolve: Resolve | None = None,
        additions: Sequence[Addition] = (),
        failed_too: bool = False,
    ) -> None:
        """Go on with a run that stopped, or with one that completed as `Jobs.resume` tells. Raises NoSuchRun, NotYours,
        JournalInUse and TooMuch.
        """
        self._jobs.resume(self._own(run_id, "goes on with it"), resolve, additions, self.visitor.name, failed_too)

    def cancel(self, run_id: str) -> None:
        """Stop a run. Raises NoSuchRun and NotYours."""
        self._jobs.cancel(self._own(run_id, "stops it"))

    def share(self, run_id: str, shared: bool) -> None:
        """Let everyone who reaches the app look at the run, or nobody any more. Raises NoSuchRun and NotYours."""
        self._jobs.share(self._own(run_id, "shares it"), shared)

    def shared(self, run_id: str) -> bool:
        """Whether everyone may look at the run. Raises NoSuchRun and NotYours."""
        return self._jobs.shared(self._seen(run_id))

    def reread(self, run_id: str, replaying: Replaying) -> str:
        """Read a run's answers again, as a new run of the visitor's. Raises NoSuchRun, NotYours and TooMuch."""
        return self._jobs.reread(self._seen(run_id), replaying, self.visitor.name)

    def plan(self, fork: Fork) -> Plan:
        """What going on from an edited answer would ask. Raises NoSuchRun and NotYours."""
        self._seen(fork.run)
        return self._jobs.plan(fork)

    def fork(self, fork: Fork, resolve: Resolve | None = None) -> str:
        """Go on from an edited answer, as a new run of the visitor's. Raises NoSuchRun, NotYours and TooMuch."""
        self._seen(fork.run)
        return self._jobs.fork(fork, resolve, self.visitor.name)

    def say(self, run_id: str, who: str, case: str, record: Frozen, item: str) -> None:
        """Keep what the visitor says about a run under the name `who`. Raises NoSuchRun, and NotYours where that name
        is another's.
        """
        if not self.sees_all and self._jobs.speaker(self._seen(run_id), who) not in (None, self.visitor.name):
            raise NotYours("Somebody else speaks under that name. Begin to guess from the lab's page to have your own.")
        self._jobs.say(self._seen(run_id), who, case, record, item, self.visitor.name)

    def said(self, run_id: str, who: str) -> list[Event]:
        """What `who` said about the run. Raises NoSuchRun and NotYours."""
        return self._jobs.said(self._seen(run_id), who)

    def label(self, run_id: str, case: str, trial: str, label: Label) -> None:
        """Keep what the visitor says of a case, or of a trial of it. Raises NoSuchRun and NotYours."""
        self.say(run_id, self.labeller, case, label, trial)

    @property
    def labeller(self) -> str:
        """The name that the visitor's labels bear."""
        return f"{BY}{self.visitor.name}"

    def labels(self, run_id: str) -> dict[str, list[Recorded]]:
        """What everybody says of the run's cases and trials, by labeller. Raises NoSuchRun and NotYours."""
        return self._jobs.labels(self._seen(run_id))

    def keep(self, run_id: str, kept: Kept) -> None:
        """Keep the run by another title, or hidden. Raises NoSuchRun and NotYours."""
        self._jobs.keep(self._own(run_id, "does that"), kept, self.visitor.name)

    def kept(self, run_id: str) -> Kept:
        """How its owner keeps the run. Raises NoSuchRun and NotYours."""
        return self._jobs.kept(self._seen(run_id))

    def is_of_others(self, run_id: str) -> bool:
        """Whether somebody else began the run, or labelled in it. Raises NoSuchRun and NotYours."""
        owner = self._jobs.owner(self._seen(run_id))
        return owner not in ("", self.visitor.name) or bool(self._jobs.labels(run_id).keys() - {self.labeller})

    def delete(self, run_id: str) -> None:
        """Put the run away until the app ends. Raises NoSuchRun, NotYours, and JournalInUse where it goes on."""
        self._jobs.delete(self._own(run_id, "deletes it"), self.visitor.name)

    def deleted(self) -> list[str]:
        """The runs that the visitor deleted since the app began, the latest last."""
        return self._jobs.deleted(self.visitor.name)

    def undo(self, run_id: str) -> None:
        """Bring back a run that the visitor deleted. Raises NoSuchRun."""
        self._jobs.undo(run_id, self.visitor.name)

    def wait(self, run_id: str, seconds: float | None = None) -> bool:
        """Wait until the run is over; False where the time ran out first. Raises NoSuchRun and NotYours."""
        return self._jobs.wait(self._seen(run_id), seconds)

    def watch(self, run_id: str, case: str = "") -> Watch:
        """The run, to be looked at again and again. Raises NoSuchRun and NotYours."""
        return self._jobs.watch(self._seen(run_id), case)

    def case(self, run_id: str, case: str) -> Transcript:
        """One case of a run. Raises NoSuchRun and NotYours."""
        return self._jobs.case(self._seen(run_id), case)

    def events(self, run_id: str) -> list[Event]:
        """What has happened in a run so far. Raises NoSuchRun and NotYours."""
        return self._jobs.events(self._seen(run_id))

    def faults(self, run_id: str) -> list[Fault]:
        """What is wrong with the run's journal. Raises NoSuchRun and NotYours."""
        return self._jobs.faults(self._seen(run_id))

    def journal(self, run_id: str) -> bytes:
        """The run's journal as it lies on disk. Raises NoSuchRun and NotYours."""
        return self._jobs.journal(self._seen(run_id))

    def file(self, run_id: str) -> os.stat_result:
        """Size and times of the run's journal. Raises NoSuchRun and NotYours."""
        return self._jobs.file(self._seen(run_id))

    def is_recording(self, run_id: str) -> bool:
        """Whether the run came with the app. Raises NoSuchRun and NotYours."""
        return self._jobs.is_recording(self._seen(run_id))

    def active(self, run_id: str) -> bool:
        """Whether the run goes on now. Raises NoSuchRun and NotYours."""
        return self._jobs.active(self._seen(run_id))

    def here(self, run_id: str) -> bool:
        """Whether the run goes on in this process. Raises NoSuchRun and NotYours."""
        return self._jobs.here(self._seen(run_id))

    def prior(self, run_id: str) -> str:
        """The run that is made before this one goes on, while it is; else empty. Raises NoSuchRun and NotYours."""
        return self._jobs.prior(self._seen(run_id))

    def came_to(self, first: Prior) -> Frozen | None:
        """What a run of the visitor's would stand on without making it; None where there is nothing."""
        return self._jobs.came_to(first, self.visitor.name)

    def lacks(self, first: Prior) -> bool:
        """Whether what a run of the visitor's stands on is wanted and has still to be made."""
        return self._jobs.lacks(first, self.visitor.name)

    def made(self, lab: Lab, read: Reads) -> Iterator[tuple[Spec, Frozen]]:
        """What each specification of that lab came to, of the runs that the visitor may look at (`Prior.read`)."""
        return self._jobs.made(lab, read, self.visitor.name)

    def like(self, lab: Lab, spec: Spec) -> Iterator[tuple[str, Transcript]]:
        """The runs of that very specification that the visitor may look at, the newest first."""
        return self._jobs.like(lab, spec, self.visitor.name)

    def before(self, run_id: str) -> int | None:
        """How many others come first, where the run waits for its turn. Raises NoSuchRun and NotYours."""
        return self._jobs.before(self._seen(run_id))

    def trouble(self, run_id: str) -> str:
        """Why the run's journal could not be written on, or empty. Raises NoSuchRun and NotYours."""
        return self._jobs.trouble(self._seen(run_id))

    def _seen(self, run_id: str) -> str:
        if not self.sees(run_id):
            raise NotYours("Whoever began it has not shared it. Ask them to press Link and share it, then reload.")
        return run_id

    def _own(self, run_id: str, does: str) -> str:
        if not self.owns(self._seen(run_id)):
            raise NotYours(f"Only whoever began this run {does}. You can begin one of your own with the same settings.")
        return run_id
