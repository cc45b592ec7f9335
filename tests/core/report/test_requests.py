"""What a call shows about its thinking, the settings that were sent, and the model that answered."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core import entry, home, journal
from core.events import Answered, Asked, Event, Sampling, Served, Thinking, Usage
from core.journal import Journal
from core.report import evidence, methods, run_scene, scenes
from core.report.evidence import sealed
from core.store.index import index
from core.store.store import Store
from core.transcript import Transcript, differences, transcript

SECRET = "<b>Let me see</b>, most people would say no. "
SENT = {"max_tokens": 4200, "seed": 0}
SERVED = Served(model="small-model-2", fingerprint="fp_7")


def told_of(run: Path, **news: Any) -> list[Event]:
    """The run's events, with these fields in each answer."""
    return [
        event.model_copy(update=news) if isinstance(event, Answered) else event for event in journal.read(run).events
    ]


@pytest.fixture(params=["simulatability", "consistency", "find", "plant"])
def run(request: pytest.FixtureRequest) -> Path:
    return min(home.recordings().glob(f"*-{request.param}-*.jsonl"))


def parts(**news: Any) -> tuple[str, dict[str, str]]:
    """The title of a call with this answer, and its parts by label."""
    events = told_of(min(home.recordings().glob("*-consistency-*.jsonl")), **news)
    state = transcript(events)
    lab = entry.labs()["consistency"]
    behind = next(iter(evidence.of_case(lab, state, state.only).calls.values()))
    return behind.title, {part.label: part.text for part in behind.parts}


def test_the_inspector_shows_thinking_in_full_and_whose_words_it_is() -> None:
    long = SECRET * 1_000
    title, found = parts(thinking=Thinking(kind="raw", text=long, tokens=812))
    assert found["Thinking"] == long and "812 of them thinking" in title
    _, found = parts(thinking=Thinking(kind="summary", text=SECRET))
    assert found["Thinking (the provider's summary)"] == SECRET
    _, found = parts(thinking=Thinking(kind="hidden", tokens=812))
    assert found["Thinking"] == "Thinking is not shown: 812 tokens"
    _, found = parts(text="<think>Hm.</think>yes", thinking=Thinking(kind="raw", text="Hm."))
    assert found["Raw answer"] == "<think>Hm.</think>yes" and found["Thinking"] == "Hm."
    assert "Thinking" not in parts()[1]


def test_the_inspector_says_what_was_sent_what_was_not_and_who_served() -> None:
    events = told_of(min(home.recordings().glob("*-consistency-*.jsonl")), sent={**SENT, "system_role": "user"})
    state = transcript(events)
    call = next(iter(state.case(state.only).calls.values()))
    asked = call.asked.model_copy(update={"sampling": Sampling(temperature=0.7, seed=0), "model": "scripted/gpt-5"})
    assert call.answered is not None
    answered = call.answered.model_copy(update={"served": Served(model="gpt-5-2026-08-07")})
    found = dict(evidence._parts(replace(call, asked=asked, answered=answered), {}, True))
    assert found["Sent"] == "max_tokens 4200, seed 0, the system text in the first user message"
    assert found["Not sent"] == "temperature 0.7 (the server refuses it)"
    assert found["Served by"] == "gpt-5-2026-08-07"
    assert "temperature 0.7" in found["Asked for"] and "Made with" not in found
    same = answered.model_copy(update={"served": Served(model="gpt-5")})
    assert not dict(evidence._parts(replace(call, asked=asked, answered=same), {}, True))["Served by"]
    assert parts()[1].keys().isdisjoint({"Sent", "Not sent", "Served by", "Asked for"})


def test_a_scene_holds_the_thinking_behind_the_claim_bounded_and_a_sealed_one_never(run: Path) -> None:
    lab = entry.labs()[run.name.split("-")[2]]
    state = transcript(told_of(run, thinking=Thinking(kind="raw", text=SECRET * 1_000)))
    scene = scenes.of_case(lab, state, state.only)
    assert scene.claim is not None and scene.claim.thinking
    for part in scene.claim.thinking:
        assert part.label == "Its thinking (raw)" and SECRET in part.text and len(part.text) < scenes.THINKING + 100
    assert SECRET not in sealed(scene, []).model_dump_json()
    hidden = transcript(told_of(run, thinking=Thinking(kind="hidden", tokens=812)))
    claim = scenes.of_case(lab, hidden, hidden.only).claim
    assert claim is not None and claim.thinking[0].label == "Its thinking is not shown: 812 tokens"
    assert claim.thinking[0].text == ""
    plain = scenes.of_case(lab, transcript(journal.read(run).events), state.only)
    assert plain.claim is not None and "thinking" not in plain.claim.model_dump()


def test_a_run_says_above_its_verdict_what_was_sent_and_served_otherwise(run: Path) -> None:
    lab = entry.labs()[run.name.split("-")[2]]
    asked = {call.asked.model for call in transcript(journal.read(run).events).calls.values()}
    state = transcript(told_of(run, sent=SENT, served=SERVED))
    notes = " ".join(run_scene.notes_of_run(state))
    assert "emperature" in notes and " not sent: " in notes and all(model in notes for model in asked)
    assert "small-model-2 answered instead of " in notes
    [case, whole] = scenes.of_case(lab, state, state.only).verdict, run_scene.of_run(lab, state).verdict
    for verdict in (case, whole):
        assert verdict is not None and verdict.caution is not None and notes in verdict.caution.text
    watched = Transcript(keep=lambda place: False)
    for event in told_of(run, sent=SENT, served=SERVED):
        watched.apply(event)
    assert run_scene.notes_of_run(watched) == run_scene.notes_of_run(state)
    assert run_scene.notes_of_run(transcript(journal.read(run).events)) == []


def notes_of(*answers: tuple[str, dict[str, Any], str]) -> list[str]:
    """The sentences about answers, given the model asked, what was sent, and the model that served."""
    found: dict[Any, int] = {}
    counts: dict[str, int] = {}
    for model, sent, served in answers:
        counts[model] = counts.get(model, 0) + 1
        for one in differences(model, Sampling(temperature=0.7, seed=1), sent, Served(model=served)):
            found[one] = found.get(one, 0) + 1
    return run_scene.request_notes(found, counts)


def test_each_difference_is_one_short_sentence() -> None:
    whole = {"temperature": 0.7, "seed": 1, "max_completion_tokens": 9}
    no_heat = {name: value for name, value in whole.items() if name != "temperature"}
    assert notes_of(("openai/gpt-5", no_heat, "")) == ["Temperature was not sent: openai/gpt-5 refuses it."]
    assert notes_of(("a/x", {"max_tokens": 9}, "")) == ["Seed and temperature were not sent: a/x refuses them."]
    both = notes_of(("a/x", no_heat, ""), ("b/y", no_heat, ""))
    assert both == ["Temperature was not sent: a/x and b/y refuse it."]
    assert notes_of(("s/small-model-1", whole, "small-model-2")) == [
        "small-model-2 answered instead of s/small-model-1."
    ]
    assert notes_of(("s/m-1", whole, "m-1"), ("s/m-1", whole, "m-2")) == [
        "m-2 answered instead of s/m-1 in 1 of 2 calls."
    ]
    assert notes_of(("openai/gpt-5", whole, "gpt-5-2026-08-07")) == ["openai/gpt-5 was served as gpt-5-2026-08-07."]
    assert notes_of(("a/gemma", {**whole, "system_role": "user"}, "")) == [
        "The system text was put into the first user message: a/gemma takes no system message."
    ]
    assert notes_of(("local/smollm2-135m", whole, "SmolLM2-135M-Instruct.Q4_1.gguf")) == [], "the file of that model"
    assert notes_of(("openai/gpt-5", whole, "gpt-5-mini")) == ["gpt-5-mini answered instead of openai/gpt-5."]
    for served in ("gpt-5", "openai/GPT-5", "models/gpt-5:latest", "/srv/models/gpt-5.gguf", ""):
        assert notes_of(("openai/gpt-5", whole, served)) == []
    # Nothing is sent over HTTP to robots and models on this machine.
    assert notes_of(("control/honest", {}, "")) == []
    [long] = notes_of(("a/x", whole, "*y* " * 100))
    assert len(long) < 200 and "*" not in long


def test_methods_report_settings_as_sent_who_served_and_what_was_cut(tmp_path: Path) -> None:
    path = min(home.recordings().glob("*-simulatability-*.jsonl"))
    sent = {"max_tokens": 4200, "reasoning_effort": "low"}
    thought = Thinking(kind="raw", text="Hm.", tokens=812)
    events = told_of(path, sent=sent, served=SERVED, thinking=thought, ended="unknown", usage=Usage())
    first = next(event for event in events if isinstance(event, Answered))
    with Journal(tmp_path / "journals" / path.name) as written:
        for event in events:
            news = {"ended": "cut"} if event is first else {}
            if isinstance(event, Asked | Answered):
                news["model"] = "openai/gpt-5"
            written.append(event.model_copy(update=news))
    with Store(tmp_path / "store.duckdb", entry.labs()) as store:
        index(store, tmp_path / "journals")
        [text] = methods.sentences(store, [path.stem])
        kept = store.query(
            "select distinct ended, thinking, thinking_tokens, served_model, served_fingerprint from calls"
        )
        assert sorted(kept["ended"]) == ["cut", "unknown"]
        assert set(kept["thinking"]) == {"raw"} and set(kept["thinking_tokens"]) == {812}
        assert set(kept["served_model"]) == {"small-model-2"} and set(kept["served_fingerprint"]) == {"fp_7"}
    assert "Temperature: not sent; the server refuses it. The provider's default applied." in text
    assert "Most tokens of an answer, thinking included: 4,200 (" in text and "Reasoning effort: low (" in text
    assert "Answered by, as the servers say: small-model-2, configuration fp_7 (openai/gpt-5)." in text
    many = sum(isinstance(event, Answered) for event in events)
    assert "1 answer was cut at a token limit." in text
    assert f"The server did not say how {many - 1} answers ended." in text
