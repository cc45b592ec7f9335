"""Who may do what, setting by setting, and which files are read for people who may name files."""

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from core import files, home, policy
from core.__main__ import main
from core.datasets.items import DatasetError
from core.entry import catalog, labs
from core.events import CallError
from core.labs.ask.prompts import PromptPackError, read_pack
from core.labs.ask.tasks import AskSpec
from core.labs.probe.functions.base import BenchmarkError
from core.labs.probe.functions.source import published
from core.server.jobs import JobRunner
from core.server.quotas import QuotaExceededError
from tests.conftest import SETS
from tests.support.datasets import load
from tests.support.plausible import Plausible
from tests.support.stub_server import StubServer
from tests.support.waiting import until

ROOT = Path(__file__).resolve().parents[2]
SECRET = "sk-of-the-environment-0123456789"


@pytest.fixture(autouse=True)
def nothing_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "_served", set())
    for one in (*policy.SETTINGS, *policy.LIMITS):
        monkeypatch.delenv(one.variable, raising=False)  # type: ignore[attr-defined]
    monkeypatch.delenv("EXPLAIN_HOSTS", raising=False)


@pytest.mark.parametrize(
    ("address", "hosted"),
    [("127.0.0.1", False), ("localhost", False), ("[::1]", False),
     ("0.0.0.0", True), ("", True), (None, True), ("::", True), ("10.0.0.7", True)],
)  # fmt: skip
def test_it_is_hosted_as_soon_as_others_can_reach_it(address: str | None, hosted: bool) -> None:
    policy.set_listen_address(address)
    assert policy.is_hosted() is hosted


def test_a_name_that_is_not_loopback_s_makes_it_hosted(monkeypatch: pytest.MonkeyPatch) -> None:
    policy.set_listen_address("127.0.0.1")
    monkeypatch.setenv("EXPLAIN_HOSTS", " Class.Example.org, ")
    assert policy.is_hosted() and policy.allowed_hosts() == {*policy.LOOPBACK, "class.example.org"}


@pytest.mark.parametrize("setting", policy.SETTINGS, ids=lambda setting: setting.name)
def test_each_setting_by_itself(setting: policy.Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    assert policy.allows(setting.name) is setting.alone is True
    policy.set_listen_address("0.0.0.0")
    assert policy.allows(setting.name) is setting.hosted is False
    for said, allowed in (("yes", True), ("YES ", True), ("no", False), ("maybe", False), ("1", False), ("", False)):
        monkeypatch.setenv(setting.variable, said)
        assert policy.allows(setting.name) is allowed, said
        others = [other for other in policy.SETTINGS if other.name != setting.name]
        assert not any(policy.allows(other.name) for other in others), "it changes no other"


@pytest.mark.parametrize("limit", policy.LIMITS, ids=lambda limit: limit.name)
def test_each_limit_by_itself(limit: policy.Limit, monkeypatch: pytest.MonkeyPatch) -> None:
    assert policy.limit(limit.name) == limit.alone
    policy.set_listen_address("0.0.0.0")
    assert policy.limit(limit.name) == limit.hosted
    for said, most in (("7", 7), ("many", limit.hosted), ("-1", limit.hosted), ("9" * 5000, limit.hosted)):
        monkeypatch.setenv(limit.variable, said)
        assert policy.limit(limit.name) == most, said


def test_what_is_beyond_a_limit_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = JobRunner(home.journals(), labs(), catalog().get)
    with StubServer(Plausible(), delay=0.3) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        resolve = catalog().get
        spec = AskSpec(question="Is it so?", model="openai/stub-model", counterfactuals=3, arms=(), exam=False)
        monkeypatch.setenv("EXPLAIN_CALLS_A_RUN", "9")
        with pytest.raises(QuotaExceededError, match="would make 10 calls; the limit here is 9"):
            jobs.start("simulatability", spec, resolve, "ann")
        monkeypatch.setenv("EXPLAIN_CALLS_A_RUN", "10")
        monkeypatch.setenv("EXPLAIN_RUNS_AT_ONCE", "2")
        monkeypatch.setenv("EXPLAIN_RUNS_OF_ALL", "2")
        monkeypatch.setenv("EXPLAIN_RUNS_IN_LINE", "1")
        begun = [jobs.start("simulatability", spec, resolve, owner) for owner in ("ann", "ann", "bob")]
        with pytest.raises(QuotaExceededError, match="You already have"):
            jobs.start("simulatability", spec, resolve, "ann")
        with pytest.raises(QuotaExceededError, match="People already have"):
            jobs.start("simulatability", spec, resolve, "cy")
        assert len(list(home.journals().glob("*.jsonl"))) == 3, "nothing was written for what was refused"
        # A run that is stopped before its first line is written cannot be resumed.
        until(lambda: (home.journals() / f"{begun[0]}.jsonl").stat().st_size)
        jobs.cancel(begun[0])
        with pytest.raises(QuotaExceededError, match="in progress"):
            jobs.start("simulatability", spec, resolve, "bob") and jobs.resume(begun[0], resolve, owner="ann")
        for run in begun:
            jobs.cancel(run)


def readings(path: str) -> list[str]:
    """What each reader of user-named files says about `path`."""
    told = []
    for read in (
        lambda: load("sst-2", path),
        lambda: load("strategyqa", path),
        lambda: read_pack(path),
        lambda: published("numeric", path),
        lambda: published("entities", path),
        lambda: catalog().get(f"local/file:{path}"),
    ):
        with pytest.raises((DatasetError, PromptPackError, BenchmarkError, CallError)) as caught:
            read()
        told.append(str(caught.value))
    return told


@pytest.mark.parametrize(
    "path",
    ["/proc/self/environ", "/dev/zero", "/dev/stdin", "/proc/self/fd/0", "{tmp}/pipe", "{tmp}/link", "{tmp}/secret",
     "{tmp}", "~nobody-of-that-name/x", "nul\x00byte", "x" * 5000],
)  # fmt: skip
def test_no_file_is_read_that_is_none_and_no_error_repeats_what_one_holds(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/proc/self/environ")
    (tmp_path / "secret").write_text(f"{SECRET}\t{SECRET}\n{SECRET}\n")
    (tmp_path / f"{SECRET}.txt").touch()
    for told in readings(path.format(tmp=tmp_path)):
        assert told and SECRET not in told and len(told) < 6000


def test_no_more_is_read_than_was_meant(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as large:
        large.truncate(5 * files.MB)
    assert len(files.read_bytes(tmp_path / "large", 5 * files.MB)) == 5 * files.MB
    with pytest.raises(files.FileError, match="larger than 4 MB"):
        files.read_bytes(tmp_path / "large", 4 * files.MB)


def test_visitors_name_no_files_but_find_what_the_host_put_there(tmp_path: Path) -> None:
    policy.set_listen_address("0.0.0.0")
    pack = tmp_path / "prompts.json"
    pack.write_text("{}")
    for told in readings(str(pack)):
        assert "serves several people" in told
    own = home.home() / "datasets" / "strategyqa"
    own.mkdir(parents=True)
    (own / "dev.json").write_text(json.dumps([{"qid": "1", "question": "Is it so?", "answer": True}]))
    assert [item.question for item in load("strategyqa")] == ["Is it so?"]
    (own / "away.json").symlink_to(SETS / "strategyqa")
    assert load("strategyqa", str(own / "dev.json"))
    beside = home.home() / "datasets-of-mine" / "dev.json"
    beside.parent.mkdir()
    (own / "dev.json").rename(beside)
    for other in (own / "away.json", beside, own / ".." / ".." / "datasets-of-mine" / "dev.json"):
        with pytest.raises(DatasetError, match="serves several people"):
            load("strategyqa", str(other))


def test_what_is_kept_is_for_its_owner_alone() -> None:
    before = os.umask(0o022)
    try:
        assert main(["ask", "Can a penguin fly?", "--model", "control/vague", "--counterfactuals", "1"]) == 0
    finally:
        os.umask(before)
    kept = [path for path in home.home().rglob("*") if path.is_file()]
    assert len(kept) >= 2 and all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in kept)


ENVIRONMENT = """
import os, subprocess
seen = []
popen = subprocess.Popen
def spy(command, *args, **named):
    seen.append((command, named.get("env")))
    return popen(command, *args, **named)
subprocess.Popen = spy
from core.sandbox import sandbox
from core.text import embed
from core.models import local
from core.runs.engine import commit
sandbox.evaluate("def f(x):\\n    return x", [1.0]); embed.start(); commit()
local._server(local.weights(local.SHIPPED, __import__("pathlib").Path("nowhere"))); local.stop_all()
for command, env in seen:
    assert env is not None and "PATH" in env, command
    assert not [name for name in env if "KEY" in name or "PASSWORD" in name], command
print(len(seen))
"""


def test_no_process_that_we_start_is_given_a_key() -> None:
    environment = {**os.environ, "OPENAI_API_KEY": SECRET, "MY_PASSWORD": SECRET, "DEEP_KEY": SECRET}
    done = subprocess.run(
        [sys.executable, "-c", ENVIRONMENT], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == 4


OWN_ADDRESS = "an IPv4 address of this machine, such as 192.168.1.20."


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("EXPLAIN_TABBS", "50", "EXPLAIN_TABBS is not a setting; did you mean EXPLAIN_TABS?"),
        ("EXPLAIN_Q", "1", "EXPLAIN_Q is not a setting: docs/host.md lists them."),
        ("EXPLAIN_TABS", "fifty", "EXPLAIN_TABS has to be a whole number of at most nine digits."),
        ("EXPLAIN_TABS", "-1", "EXPLAIN_TABS has to be a whole number of at most nine digits."),
        ("EXPLAIN_FILES", "true", "EXPLAIN_FILES has to be yes or no."),
        ("EXPLAIN_HOST_CODE", "short", "EXPLAIN_HOST_CODE is too short and easily guessed: it needs 12 characters."),
        ("EXPLAIN_CLASS_ADDRESS", "0.0.0.0", f"EXPLAIN_CLASS_ADDRESS has to be {OWN_ADDRESS}"),
        ("EXPLAIN_CLASS_ADDRESS", "127.0.0.1", f"EXPLAIN_CLASS_ADDRESS has to be {OWN_ADDRESS}"),
        ("EXPLAIN_CLASS_ADDRESS", "laptop", f"EXPLAIN_CLASS_ADDRESS has to be {OWN_ADDRESS}"),
        ("EXPLAIN_CLASS_ADDRESS", "192.168.1.20", ""),
        ("EXPLAIN_TABS", " 50 ", ""),
        ("EXPLAIN_FILES", "No", ""),
        ("EXPLAIN_MODELS", "", ""),
    ],
)
def test_nothing_starts_with_a_setting_that_is_not_known_or_cannot_be_read(
    name: str, value: str, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(name, value)
    assert policy.faults() == ([told] if told else [])
    assert main(["models", "--help"]) == (2 if told else 0)
    assert capsys.readouterr().err.strip() == told


def test_every_variable_that_the_code_reads_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [*ROOT.joinpath("core").rglob("*.py"), *ROOT.joinpath("pages").rglob("*.py"), ROOT / "compose.yaml"]
    named = {name for path in files for name in re.findall(r"EXPLAIN_[A-Z_]+[A-Z]", path.read_text(encoding="utf-8"))}
    assert "EXPLAIN_HOME" in named
    for name in named:
        monkeypatch.setenv(name, "")
    assert policy.faults() == []
