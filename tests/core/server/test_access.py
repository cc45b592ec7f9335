"""Whose a run is: what others may do with it where the app is hosted, before its owner shares it and after."""

import hashlib
import hmac
from collections.abc import Callable
from pathlib import Path

import pytest

from core import journal, policy
from core.events import Fork
from core.labs.base.declared import Cases
from core.labs.base.lab import Prerequisite
from core.models.cache import Replay
from core.models.catalog import Catalog
from core.models.errors import ModelNotFoundError
from core.report import evidence
from core.report.evidence import evidence_for
from core.runs.labels import Audited, Kept, Label
from core.runs.library import RunInAuditError, RunNotFoundError, RunSealedError, about_path
from core.server.access import (
    AccessDeniedError,
    CookiesNeededError,
    OwnRun,
    ReadableRun,
    RunAccess,
    Visitor,
    code_in,
    cookie_of,
    name_of_visitor,
    visitor_with_cookie,
)
from core.server.jobs import JobRunner
from core.server.quotas import QuotaExceededError
from core.store import run_list
from core.store.index import Index
from core.store.listing import Selection
from core.store.store import Store
from tests.support.small_lab import LAB, Echoing, EchoSpec, Promise
from tests.support.waiting import until

ANN, BOB, HOST = Visitor("ann"), Visitor("bob"), Visitor("carl", is_host=True)
TEACHER = Visitor("dora", is_teacher=True)

EDIT = Fork(run="", case="all", call="c0001", text="I lie.")
SAID = Promise(call="", text="It repeats.")


def refuses_to_predict(visit: RunAccess, run: str) -> None:
    """In this lab no model predicts, which only those who may see the run are told."""
    with pytest.raises(ValueError, match="No model predicts in Echo"):
        visit.repredict(run, "control/echo")


LOOKS: dict[str, Callable[[RunAccess, str], object]] = {
    "watch": lambda visit, run: visit.run(run).watch(),
    "case": lambda visit, run: visit.run(run).case(""),
    "events": lambda visit, run: visit.run(run).events(),
    "faults": lambda visit, run: visit.run(run).faults(),
    "journal": lambda visit, run: visit.run(run).journal(),
    "file": lambda visit, run: visit.run(run).file(),
    "is_recording": lambda visit, run: visit.run(run).is_recording(),
    "active": lambda visit, run: visit.run(run).active(),
    "here": lambda visit, run: visit.run(run).here(),
    "prior": lambda visit, run: visit.run(run).prior(),
    "write_error": lambda visit, run: visit.run(run).write_error(),
    "annotate": lambda visit, run: visit.run(run).annotate("all/1-a", SAID, "1"),
    "guess": lambda visit, run: visit.run(run).guess("first", "all/1-a", lambda by: SAID, "1"),
    "guesses": lambda visit, run: visit.run(run).guesses("first"),
    "wait": lambda visit, run: visit.run(run).wait(1),
    "shared": lambda visit, run: visit.run(run).shared(),
    "sealed": lambda visit, run: visit.run(run).sealed(),
    "reread": lambda visit, run: visit.run(visit.run(run).reread(Replay)).wait(10),
    "plan": lambda visit, run: visit.plan(EDIT.model_copy(update={"run": run})),
    "fork": lambda visit, run: visit.run(visit.fork(EDIT.model_copy(update={"run": run}))).wait(10),
    "repredict": lambda visit, run: refuses_to_predict(visit, run),
    "label": lambda visit, run: visit.run(run).label("all/1-yes", "", Label(note="odd")),
    "label_of": lambda visit, run: visit.run(run).label_of("all/1-yes", ""),
    "labels": lambda visit, run: visit.run(run).labels(),
    "is_of_others": lambda visit, run: visit.run(run).is_of_others(),
    "kept": lambda visit, run: visit.run(run).kept(),
}
DEEDS: dict[str, Callable[[RunAccess, str], object]] = {
    "resume": lambda visit, run: (visit.own_run(run).resume(), visit.run(run).wait(120)),
    "cancel": lambda visit, run: visit.own_run(run).cancel(),
    "share": lambda visit, run: visit.own_run(run) and visit.share(run, True),
    "keep": lambda visit, run: visit.own_run(run).keep(Kept(title="Mine")),
    "delete": lambda visit, run: (visit.own_run(run).delete(), visit.deleted(), visit.undo(run)),
}
ALONE = {
    "run",
    "own_run",
    "id",
    "visitor",
    "start",
    "owns",
    "sees",
    "sees_all",
    "may_all",
    "shares",
    "share",
    "replays",
    "runs_of_spec",
    "is_missing",
    "results",
    "result_of",
    "labeller",
    "seal",
    "is_sealed",
    "unredacted",
    "unjudged",
    "guesses_on",
    "record_guess",
    "guesser",
    "deleted",
    "undo",
    "must_be_known",
    "play",
    "must_take_part",
}
"""What is tried in tests of its own."""


@pytest.fixture
def jobs(tmp_path: Path) -> JobRunner:
    return JobRunner(tmp_path, {"echo": LAB}, lambda id: Echoing())


@pytest.fixture
def hosted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "_served", {"0.0.0.0"})


def begun(jobs: JobRunner, visitor: Visitor) -> str:
    run = RunAccess(jobs, visitor).start("echo", EchoSpec())
    assert jobs.wait(run, 120)
    return run


def test_of_whom_nobody_knows_who_it_is_begins_nothing(jobs: JobRunner, tmp_path: Path) -> None:
    run = begun(jobs, ANN)
    before = sorted(tmp_path.iterdir())
    visit = RunAccess(jobs, ANN._replace(is_known=False))
    deeds = [LOOKS["fork"], LOOKS["reread"], DEEDS["resume"], lambda visit, run: visit.start("echo", EchoSpec())]
    for deed in deeds:
        with pytest.raises(QuotaExceededError, match="your browser sent none"):
            deed(visit, run)
    assert sorted(tmp_path.iterdir()) == before and visit.run(run).events(), "they look at what they may"
    begun(jobs, HOST._replace(is_known=False))


def test_of_whom_nobody_knows_who_it_is_nothing_is_kept(jobs: JobRunner, hosted: None, tmp_path: Path) -> None:
    run = begun(jobs, ANN)
    RunAccess(jobs, ANN).share(run, True)
    RunAccess(jobs, ANN).seal(run, True)
    stranger = RunAccess(jobs, BOB._replace(is_known=False))
    with pytest.raises(CookiesNeededError, match="This app needs cookies"):
        stranger.record_guess(run, "all/1-yes", "1", "yes")
    assert stranger.guesses_on(run, "all/1-yes") == {}
    RunAccess(jobs, ANN).seal(run, False)
    before = sorted(tmp_path.iterdir())
    for name in ("annotate", "guess", "label"):
        with pytest.raises(CookiesNeededError):
            LOOKS[name](stranger, run)
    assert sorted(tmp_path.iterdir()) == before and LOOKS["guesses"](stranger, run) == []


def test_where_others_are_served_each_request_without_a_cookie_is_of_another_visitor(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert visitor_with_cookie("") == visitor_with_cookie("no cookie of ours") and visitor_with_cookie("").takes_part, (
        "alone"
    )
    monkeypatch.setattr(policy, "_served", {"0.0.0.0"})
    strangers = [visitor_with_cookie(cookie) for cookie in ("", "", "no cookie of ours", f"x.{cookie_of('ann')}")]
    assert len({one.name for one in strangers}) == 4 and not any(one.takes_part for one in strangers)
    ann = visitor_with_cookie(cookie_of("ann"))
    assert ann == visitor_with_cookie(cookie_of("ann")) and ann.takes_part


def test_a_cookie_is_known_by_the_home_s_own_key(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = cookie_of("a-code")
    assert code_in(given) == "a-code" and len((own_home / "cookies.key").read_bytes()) == 32
    for forged in ("", ".", "a-code", "a-code.", f"b{given}", given[:-1], given.upper(), f"{given}é", "\udcff.x"):
        assert code_in(forged) == "", forged
    monkeypatch.setenv("EXPLAIN_HOME", str(own_home / "other"))
    assert code_in(given) == "", "another home signs with another key"
    emptied = own_home / "third"
    emptied.mkdir()
    (emptied / "cookies.key").touch()
    monkeypatch.setenv("EXPLAIN_HOME", str(emptied))
    empty = f"a-code.{hmac.new(b'', b'a-code', hashlib.sha256).hexdigest()[:32]}"
    assert code_in(empty) == "" and code_in(cookie_of("a-code")) == "a-code", "an empty file is no key"


def test_everything_that_a_visit_gives_is_tried_here(jobs: JobRunner) -> None:
    visit = RunAccess(jobs, ANN)
    run = begun(jobs, ANN)
    given = [
        vars(RunAccess),
        vars(visit),
        vars(ReadableRun),
        vars(OwnRun),
        vars(visit.run(run)),
        vars(visit.own_run(run)),
    ]
    own = {name for names in given for name in names if not name.startswith("_")}
    assert own == LOOKS.keys() | DEEDS.keys() | ALONE


def test_a_run_that_somebody_else_made_serves_once_it_is_shared(jobs: JobRunner, hosted: None) -> None:
    made = begun(jobs, ANN)
    prior = Prerequisite(LAB, EchoSpec(), lambda state: EchoSpec(), wanted=True)
    assert [run for run, _ in RunAccess(jobs, ANN).runs_of_spec(LAB, EchoSpec())] == [made]
    assert not list(RunAccess(jobs, BOB).runs_of_spec(LAB, EchoSpec()))
    assert not RunAccess(jobs, ANN).is_missing(prior) and RunAccess(jobs, BOB).is_missing(prior)
    assert RunAccess(jobs, ANN).result_of(prior) == EchoSpec() and RunAccess(jobs, BOB).result_of(prior) is None
    assert list(RunAccess(jobs, ANN).results(LAB, prior.read)) == [(EchoSpec(), EchoSpec())]
    assert not list(RunAccess(jobs, BOB).results(LAB, prior.read))
    RunAccess(jobs, ANN).share(made, True)
    assert [run for run, _ in RunAccess(jobs, BOB).runs_of_spec(LAB, EchoSpec())] == [made] and not RunAccess(
        jobs, BOB
    ).is_missing(prior)
    assert not list(RunAccess(jobs, ANN).runs_of_spec(LAB, EchoSpec(seed=1))), "of another specification"


def test_a_run_is_of_others_who_began_it_or_labelled_in_it(jobs: JobRunner) -> None:
    run, ann, bob = begun(jobs, ANN), RunAccess(jobs, ANN), RunAccess(jobs, BOB)
    assert not ann.run(run).is_of_others() and bob.run(run).is_of_others()
    ann.run(run).label("all/1-yes", "", Label(note="odd"))
    assert not ann.run(run).is_of_others()
    bob.run(run).label("all/1-yes", "", Label(note="not at all"))
    assert ann.run(run).is_of_others()


@pytest.mark.parametrize("does", [*LOOKS, *DEEDS])
def test_alone_everybody_may_do_everything(jobs: JobRunner, does: str) -> None:
    run = begun(jobs, ANN)
    (LOOKS | DEEDS)[does](RunAccess(jobs, BOB), run)


@pytest.mark.parametrize("does", [*LOOKS, *DEEDS])
def test_hosted_it_is_for_the_owner_and_the_host_alone(jobs: JobRunner, hosted: None, does: str) -> None:
    run = begun(jobs, ANN)
    written = jobs.path(run).read_bytes()
    with pytest.raises(AccessDeniedError, match="has not shared it"):
        (LOOKS | DEEDS)[does](RunAccess(jobs, BOB), run)
    assert jobs.path(run).read_bytes() == written and len(list(jobs.folder.glob("*.jsonl"))) == 1, "nothing was written"
    (LOOKS | DEEDS)[does](RunAccess(jobs, ANN), run)
    (LOOKS | DEEDS)[does](RunAccess(jobs, HOST), run)


@pytest.mark.parametrize("does", LOOKS)
def test_what_is_shared_can_be_looked_at_until_it_is_shared_no_more(jobs: JobRunner, hosted: None, does: str) -> None:
    run = begun(jobs, ANN)
    RunAccess(jobs, ANN).share(run, True)
    LOOKS[does](RunAccess(jobs, BOB), run)
    RunAccess(jobs, ANN).share(run, False)
    with pytest.raises(AccessDeniedError):
        LOOKS[does](RunAccess(jobs, BOB), run)


@pytest.mark.parametrize("does", DEEDS)
def test_what_is_shared_is_still_its_owner_s_to_change(jobs: JobRunner, hosted: None, does: str) -> None:
    run = begun(jobs, ANN)
    RunAccess(jobs, ANN).share(run, True)
    with pytest.raises(AccessDeniedError, match=r"Only (its owner|the person who began)"):
        DEEDS[does](RunAccess(jobs, BOB), run)


@pytest.mark.parametrize("does", LOOKS)
def test_what_is_sealed_is_looked_at_by_who_may_seal_it_alone(jobs: JobRunner, hosted: None, does: str) -> None:
    run = begun(jobs, ANN)
    RunAccess(jobs, ANN).share(run, True)
    RunAccess(jobs, TEACHER).seal(run, True)
    with pytest.raises(RunSealedError, match="Guess first"):
        LOOKS[does](RunAccess(jobs, BOB), run)
    for visitor in (ANN, HOST, TEACHER):
        LOOKS[does](RunAccess(jobs, visitor), run)
    RunAccess(jobs, ANN).seal(run, False)
    LOOKS[does](RunAccess(jobs, BOB), run)


def test_only_who_says_who_may_look_at_a_run_seals_and_reveals_it(jobs: JobRunner, hosted: None) -> None:
    run = begun(jobs, ANN)
    RunAccess(jobs, ANN).share(run, True)
    for sealed in (True, False):
        with pytest.raises(AccessDeniedError, match="can make others guess first"):
            RunAccess(jobs, BOB).seal(run, sealed)
        RunAccess(jobs, ANN).seal(run, sealed)
        assert RunAccess(jobs, BOB).is_sealed(run) is sealed and not RunAccess(jobs, ANN).is_sealed(run)


def test_a_seal_that_cannot_be_read_holds(jobs: JobRunner, hosted: None) -> None:
    run = begun(jobs, ANN)
    RunAccess(jobs, ANN).share(run, True)
    about_path(jobs.folder / f"{run}.jsonl", "sealed").write_text("no journal")
    assert RunAccess(jobs, BOB).is_sealed(run)


def test_of_a_sealed_run_the_first_guess_holds_and_nobody_else_s_counts(jobs: JobRunner, hosted: None) -> None:
    run = begun(jobs, ANN)
    ann, bob, eve = RunAccess(jobs, ANN), RunAccess(jobs, BOB), RunAccess(jobs, Visitor("eve"))
    with pytest.raises(AccessDeniedError, match="has not shared it"):
        bob.record_guess(run, "all/1-yes", "1", "yes")
    ann.share(run, True)
    assert bob.guesses_on(run, "all/1-yes") is None
    ann.seal(run, True)
    assert bob.guesses_on(run, "all/1-yes") == {}
    bob.record_guess(run, "all/1-yes", "1", "yes", also=SAID)
    written = (jobs.folder / f"{run}~{bob.guesser}.jsonl").read_bytes()
    bob.record_guess(run, "all/1-yes", "1", "no", also=SAID)
    assert bob.guesses_on(run, "all/1-yes") == {"1": "yes"}
    assert (jobs.folder / f"{run}~{bob.guesser}.jsonl").read_bytes() == written
    assert bob.guesses_on(run, "all/2-no") == {} == eve.guesses_on(run, "all/1-yes")
    assert ann.guesses_on(run, "all/1-yes") is None
    with pytest.raises(AccessDeniedError, match="has not shared it"):
        RunAccess(jobs, BOB._replace(is_in=False)).record_guess(run, "all/1-yes", "2", "yes")


def test_of_an_answer_drawn_for_a_blind_audit_nothing_is_told_before_it_is_judged(
    jobs: JobRunner, hosted: None
) -> None:
    run = begun(jobs, ANN)
    ann = RunAccess(jobs, ANN)
    drawn = Audited(audit="a", judged="reading", stratum="s", population=1, drawn=1, number=1, of=1)
    ann.run(run).annotate("all/1-yes", drawn, "1")
    assert ann.guesses_on(run, "all/1-yes") == {} and ann.guesses_on(run, "all/2-no") is None
    with pytest.raises(RunInAuditError, match="yet to judge"):
        ann.run(run)
    assert {one.about for one in evidence_for(ann, {"echo": LAB}, run, "all/2-no").figures} <= {evidence.CASE}
    ann.unredacted(run).annotate("all/1-yes", drawn.model_copy(update={"said": "yes"}), "1")
    assert evidence.WHOLE in {one.about for one in evidence_for(ann, {"echo": LAB}, run, "all/2-no").figures}
    assert ann.guesses_on(run, "all/1-yes") is None and ann.run(run).events()


def test_no_run_stands_on_the_answers_of_a_sealed_one_of_somebody_else(jobs: JobRunner, hosted: None) -> None:
    run = begun(jobs, ANN)
    RunAccess(jobs, ANN).share(run, True)
    RunAccess(jobs, ANN).seal(run, True)
    prior = Prerequisite(LAB, EchoSpec(), lambda state: EchoSpec(), wanted=True)
    assert not list(RunAccess(jobs, BOB).runs_of_spec(LAB, EchoSpec())) and RunAccess(jobs, BOB).is_missing(prior)
    assert not RunAccess(jobs, BOB).replays(run) and RunAccess(jobs, ANN).replays(run)


def test_one_that_goes_on_is_stopped_by_its_owner_only(tmp_path: Path, hosted: None) -> None:
    jobs = JobRunner(tmp_path, {"echo": LAB}, lambda id: Echoing(wait=30))
    run = RunAccess(jobs, ANN).start("echo", EchoSpec())
    until(lambda: (tmp_path / f"{run}.jsonl").stat().st_size > 0)
    with pytest.raises(AccessDeniedError):
        RunAccess(jobs, BOB).own_run(run).cancel()
    assert jobs.active(run)
    RunAccess(jobs, ANN).own_run(run).cancel()
    assert not jobs.active(run)


def expecting(text: str) -> Callable[[str], Promise]:
    return lambda by: Promise(call=by, text=text)


def test_nobody_speaks_in_the_name_of_another(jobs: JobRunner, hosted: None, tmp_path: Path) -> None:
    run = begun(jobs, ANN)
    ann, bob = RunAccess(jobs, ANN), RunAccess(jobs, BOB)
    ann.share(run, True)
    for reader in ("reader", ann.labeller, ann.guesser, "../other", ""):
        bob.run(run).guess(reader, "all/1-a", expecting("bob's"), "1")
        assert ann.run(run).guesses(reader) == []
        ann.run(run).guess(reader, "all/1-a", expecting("ann's"), "1")
        for visit, text in ((ann, "ann's"), (bob, "bob's")):
            [kept] = visit.run(run).guesses(reader)
            assert kept.data["text"] == text and visit.visitor.name in kept.by == kept.data["call"]
    ann.run(run).label("all/1-yes", "", Label(note="mine"))
    assert ann.run(run).label_of("all/1-yes", "").note == "mine", "nobody took the name of her labels"
    said = {path.name for path in tmp_path.glob(f"{run}~*.jsonl")} - {
        about_path(tmp_path / f"{run}.jsonl", "shared").name
    }
    assert said == {f"{run}~{name}.jsonl" for name in (ann.labeller, ann.guesser, bob.guesser)}


def test_what_is_guessed_twice_is_kept_once_and_rounds_are_apart(jobs: JobRunner, hosted: None) -> None:
    run = begun(jobs, ANN)
    seen = RunAccess(jobs, ANN).run(run)
    for reader, text in (("first", "yes"), ("first", "yes"), ("second", "yes"), ("first", "no"), ("first", "yes")):
        seen.guess(reader, "all/1-a", expecting(text), "1")
    assert [event.data["text"] for event in seen.guesses("first")] == ["yes", "no", "yes"]
    assert [event.data["text"] for event in seen.guesses("second")] == ["yes"]


def test_a_run_of_the_command_line_or_whose_first_line_is_lost_is_the_host_s(jobs: JobRunner, hosted: None) -> None:
    of_nobody = jobs.start("echo", EchoSpec())
    damaged = begun(jobs, ANN)
    assert jobs.wait(of_nobody, 120)
    path = jobs.folder / f"{damaged}.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"owner":"ann"', b'"owner":"bob"'))
    for run in (of_nobody, damaged):
        for visitor in (ANN, BOB):
            with pytest.raises(AccessDeniedError):
                RunAccess(jobs, visitor).run(run).watch()
        RunAccess(jobs, HOST).run(run).watch()


def test_the_host_s_code_opens_everything_and_a_short_one_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not policy.role_by("")
    monkeypatch.setenv("EXPLAIN_HOST_CODE", "short")
    assert not policy.role_by("short") and "EXPLAIN_HOST_CODE is too short" in policy.faults()[0]
    monkeypatch.setenv("EXPLAIN_HOST_CODE", "twelve letters or more")
    assert policy.role_by(" twelve letters or more ") == "host" and not policy.faults()
    assert not any(policy.role_by(code) for code in ("", "twelve letters or mor", "Twelve letters or more", "\udcff"))


def test_who_has_yet_to_type_a_code_looks_at_recordings_alone(jobs: JobRunner, hosted: None, tmp_path: Path) -> None:
    outside = ANN._replace(is_in=False)
    run = begun(jobs, ANN)
    RunAccess(jobs, ANN).share(run, True)
    recorded = JobRunner(tmp_path / "other", {"echo": LAB}, lambda id: Echoing(), recordings=tmp_path)
    for deed in (LOOKS["journal"], LOOKS["fork"], DEEDS["cancel"], DEEDS["share"]):
        with pytest.raises(AccessDeniedError):
            deed(RunAccess(jobs, outside), run)
    with pytest.raises(QuotaExceededError, match="sign in with the code"):
        RunAccess(jobs, outside).start("echo", EchoSpec())
    assert RunAccess(recorded, outside).run(run).events()
    with pytest.raises(AccessDeniedError, match="sign in with the code"):
        LOOKS["label"](RunAccess(recorded, outside), run)
    with pytest.raises(QuotaExceededError, match="sign in with the code"):
        LOOKS["reread"](RunAccess(recorded, outside), run)


def test_a_teacher_looks_at_every_run_and_shares_it_and_changes_none(jobs: JobRunner, hosted: None) -> None:
    run = begun(jobs, ANN)
    teacher = RunAccess(jobs, TEACHER)
    assert teacher.sees_all and not teacher.may_all and teacher.run(run).journal()
    for name in ("resume", "cancel", "keep", "delete"):
        with pytest.raises(AccessDeniedError, match="Only its owner can change"):
            DEEDS[name](teacher, run)
    with pytest.raises(AccessDeniedError):
        RunAccess(jobs, BOB).share(run, True)
    teacher.share(run, True)
    assert RunAccess(jobs, BOB).run(run).events()
    teacher.share(run, False)
    with pytest.raises(AccessDeniedError):
        RunAccess(jobs, BOB).run(run)
    with pytest.raises(RunNotFoundError):
        teacher.run("no-such-run")


def test_a_name_does_not_give_its_code_away(jobs: JobRunner) -> None:
    name = name_of_visitor("the code of ann")
    assert name == name_of_visitor("the code of ann") != name_of_visitor("the code of bob")
    assert name == "bb2780cfcc52fde3", "who began a run stays its owner, as versions come and go"
    run = begun(jobs, Visitor(name))
    assert b"the code" not in jobs.path(run).read_bytes() and name.encode() in jobs.path(run).read_bytes()


def test_answers_of_others_cannot_be_asked_as_a_model(jobs: JobRunner, hosted: None, tmp_path: Path) -> None:
    run = begun(jobs, ANN)

    def catalog(visitor: Visitor) -> Catalog:
        return Catalog(
            home=tmp_path,
            journals=tmp_path,
            read=lambda path: journal.read(path).events,
            replays=RunAccess(jobs, visitor).replays,
        )

    ann, bob = catalog(ANN), catalog(BOB)
    assert f"replay/{run}" in ann.ids() and f"replay/{run}" not in bob.ids()
    assert ann.get(f"replay/{run}")
    with pytest.raises(ModelNotFoundError) as caught:
        bob.get(f"replay/{run}")
    assert run not in caught.value.hint
    RunAccess(jobs, ANN).share(run, True)
    assert bob.get(f"replay/{run}")
    RunAccess(jobs, ANN).share(run, False)
    with pytest.raises(ModelNotFoundError):
        bob.get(f"replay/{run}")


def test_lists_hold_what_the_viewer_may_see(jobs: JobRunner, hosted: None, tmp_path: Path) -> None:
    mine, shared, hidden = begun(jobs, BOB), begun(jobs, ANN), begun(jobs, ANN)
    RunAccess(jobs, ANN).share(shared, True)
    RunAccess(jobs, ANN).share(hidden, True)
    RunAccess(jobs, ANN).share(hidden, False)
    sealed, revealed = begun(jobs, ANN), begun(jobs, ANN)
    for run in (sealed, revealed):
        RunAccess(jobs, ANN).share(run, True)
        RunAccess(jobs, ANN).seal(run, True)
    RunAccess(jobs, ANN).seal(revealed, False)
    store = Store(tmp_path / "store.duckdb", {"echo": LAB})
    try:
        Index(store, tmp_path).update()
        for listed in (
            lambda viewer: run_list.runs(store, viewer=viewer),
            lambda viewer: Selection(store, viewer=viewer).of_cases("echo", Cases((LAB.metrics[0].name,))),
        ):
            assert set(listed("bob")["run"]) == {mine, shared, revealed}
            assert set(listed(None)["run"]) == {mine, shared, hidden, sealed, revealed}
            assert set(listed("nobody")["run"]) == {shared, revealed}
            assert set(listed("ann")["run"]) == {shared, hidden, sealed, revealed}
    finally:
        store.close()


def test_a_run_that_is_read_again_is_the_reader_s(jobs: JobRunner, hosted: None) -> None:
    run = begun(jobs, ANN)
    RunAccess(jobs, ANN).share(run, True)
    again = RunAccess(jobs, BOB).run(run).reread(Replay)
    assert jobs.wait(again, 120) and jobs.owner(again) == "bob" and not jobs.shared(again)
    with pytest.raises(AccessDeniedError):
        RunAccess(jobs, ANN).run(again).watch()


def test_there_is_no_such_run_for_anyone(jobs: JobRunner, hosted: None) -> None:
    for visitor in (ANN, HOST):
        for name in ("nothing", "../x", "a~~shared"):
            with pytest.raises(RunNotFoundError, match="There is no run"):
                RunAccess(jobs, visitor).run(name).watch()
    assert not RunAccess(jobs, ANN).replays("nothing")
