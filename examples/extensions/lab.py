"""A lab: does a model give the same answer when the same question is asked again?

Copy this file into $EXPLAIN_HOME/extensions: *Again* is then a page, a command and a function (`ey.again`).
"""

from dataclasses import dataclass

from pydantic import Field

import explain_yourself as ey
from explain_yourself.core.events import Frozen, Message, Prompt, Sampling
from explain_yourself.core.labs.base.declared import Metric
from explain_yourself.core.labs.base.lab import Lab
from explain_yourself.core.labs.base.report import Case, Reading, Report, Trial
from explain_yourself.core.labs.base.spec import Spec
from explain_yourself.core.score import Figure, share
from explain_yourself.core.transcript import RecordReader

MET = {True: "same", False: "different"}


class AgainSpec(Spec):
    question: str = Field("Can a penguin fly?", title="Question", description="what is asked")
    times: int = Field(3, ge=1, le=10, title="Times", description="how often it is asked again")
    model: str = Field(title="Model", description="the model that is asked")
    roles = property(lambda self: {"answerer": (self.model,)})


class Repeated(Frozen):
    call: str
    first: str
    again: str


@dataclass
class AgainReport(Report):
    found: dict
    outcomes = {"same": "kept", "different": "broken"}  # noqa: RUF012
    title = property(lambda self: self.log.spec["question"])
    trials = property(lambda self: {name: trial(one) for name, one in self.found.items()})
    same = property(lambda self: sum(one.first == one.again for one in self.found.values()))
    outcome = property(lambda self: MET[self.same == len(self.found)])

    def sentences(self):
        return [f"{self.same} of {len(self.found)} answers were the same as the first."]


def trial(one):
    read = Reading(expected=one.first, observed=one.again, outcome=MET[one.first == one.again], counts=True)
    return Trial(about="The same question again", paper=read, repaired=read, calls=(one.call,))


@ey.lab
class AgainLab(Lab):
    name = "again"
    title = "Again"
    question = "Does it give the same answer again?"
    spec = AgainSpec
    records = (Repeated,)
    metrics = (Metric("same", "Same answers", "The share of answers that were the same.", "share", leads=True),)
    outcomes = AgainReport.outcomes

    def cases(self, spec):
        return [Case("question", spec.question, spec.question)]

    async def measure(self, spec, case, run):
        turns = (Message(role="user", content=case.about),)
        prompt = Prompt(id="again", hash="1", messages=turns, slots={"question": case.about})
        once = [(Sampling(temperature=1, seed=spec.seed + n), f"again-{n}", n) for n in range(spec.times + 1)]
        said = [await run.ask("answerer", prompt, spec.model, sampling=s, item=i, repeat=n) for s, i, n in once]
        for n, one in enumerate(said[1:], 1):
            run.record(Repeated(call=one.call, first=said[0].text, again=one.text), f"again-{n}", trial=f"again-{n}")

    def view(self, log):
        return AgainReport(log, RecordReader().all_of(Repeated, log))

    def scores(self, views):
        same, n = sum(view.same for view in views), sum(len(view.found) for view in views)
        return (Figure("same", rules, share(same, n, n)) for rules in ("paper", "repaired"))
