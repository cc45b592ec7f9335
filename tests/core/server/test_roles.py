"""Who is a host, a teacher or a participant, and for how long an entered code gives that role."""

import os
import re
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from core import home, policy
from core.server import roles, usage
from core.server.access import name_of_visitor
from core.server.quotas import QuotaExceededError, Quotas

CODES = {"host": "the code of the host", "teacher": "the code of a teacher", "participant": "pinguin"}
ANN, BOB = name_of_visitor("ann"), name_of_visitor("bob")
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def codes(monkeypatch: pytest.MonkeyPatch, own_home: Path) -> Path:
    """The home, with all three codes set."""
    for role, code in CODES.items():
        monkeypatch.setenv(f"EXPLAIN_{role.upper()}_CODE", code)
    return own_home


def test_without_a_code_for_them_all_are_participants(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert roles.role_of(ANN) == roles.PARTICIPANT and not (own_home / "signed-in").exists()
    monkeypatch.setenv("EXPLAIN_PARTICIPANT_CODE", CODES["participant"])
    assert roles.role_of(ANN) == ""
    monkeypatch.setenv("EXPLAIN_PARTICIPANT_CODE", "short")
    assert roles.role_of(ANN) == "" and policy.role_by("short") == "", "one that is too short lets nobody in"


@pytest.mark.parametrize("role", policy.ROLES)
def test_a_code_makes_one_what_it_is_for_and_nobody_else(role: str, codes: Path) -> None:
    assert roles.role_of(ANN) == ""
    assert roles.enter(ANN, f" {CODES[role]} ", "10.0.0.1") == role
    assert roles.role_of(ANN) == role and roles.role_of(BOB) == ""
    roles.sign_out(ANN)
    assert roles.role_of(ANN) == ""


def test_another_code_ends_what_the_one_before_began(codes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    roles.enter(ANN, CODES["host"], "10.0.0.1")
    roles.enter(BOB, CODES["teacher"], "10.0.0.1")
    monkeypatch.setenv("EXPLAIN_HOST_CODE", "another code of the host")
    assert roles.role_of(ANN) == "" and roles.role_of(BOB) == roles.TEACHER
    monkeypatch.delenv("EXPLAIN_TEACHER_CODE")
    assert roles.role_of(BOB) == ""
    monkeypatch.setenv("EXPLAIN_HOST_CODE", CODES["host"])
    assert roles.role_of(ANN) == roles.HOST


def test_what_lies_in_the_home_is_one_person_s_and_names_neither_code_nor_role(codes: Path) -> None:
    for visitor, role in ((ANN, "host"), (BOB, "participant")):
        roles.enter(visitor, CODES[role], "10.0.0.1")
    folder = codes / "signed-in"
    assert {path.name for path in folder.iterdir()} == {ANN, BOB}
    for path in codes.rglob("*"):
        held = path.read_bytes() if path.is_file() else b""
        assert not any(word.encode() in held for word in CODES.values()), path
        if path.parent == folder:
            assert re.fullmatch(rb"[0-9a-f]{64}", held)
    (folder / BOB).write_bytes((folder / ANN).read_bytes())
    assert roles.role_of(BOB) == "", "what was written for one says nothing of another"
    for hostile in (b"", b"host", b"\xff" * 64, b"0" * 1_000_000):
        (folder / ANN).write_bytes(hostile)
        assert roles.role_of(ANN) == ""
    for name in ("", "../cookies.key", "..", "ann", ANN.upper(), f"{ANN}/x", "\0" * 16):
        assert roles.role_of(name) == "", name


def test_it_holds_in_every_process_and_after_each_start(codes: Path) -> None:
    roles.enter(ANN, CODES["teacher"], "10.0.0.1")
    ask = f"from core.server import roles; print(roles.role_of({ANN!r}))"
    done = subprocess.run([sys.executable, "-c", ask], cwd=ROOT, env=os.environ, capture_output=True, text=True)
    assert done.stdout.strip() == "teacher", done.stderr


def test_after_a_month_one_types_it_again(codes: Path) -> None:
    roles.enter(ANN, CODES["host"], "10.0.0.1")
    roles.enter(BOB, CODES["host"], "10.0.0.1")
    path = codes / "signed-in" / ANN
    then = path.stat().st_mtime - roles.LASTS
    os.utime(path, (then, then))
    assert roles.role_of(ANN) == ""
    roles.purge_expired()
    assert not path.exists() and roles.role_of(BOB) == roles.HOST


def test_wrong_codes_keep_an_address_waiting_the_right_one_too(codes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=1_000_000.0)
    monkeypatch.setattr(usage, "time", SimpleNamespace(time=lambda: clock.now))
    for number in range(5):
        with pytest.raises(roles.SignInError, match="not valid") as told:
            roles.enter(ANN, "a guess", "10.0.0.1")
        assert ("You can try again in 1 second." in str(told.value)) is (number == 4)
    for code in ("a guess", CODES["host"]):
        with pytest.raises(roles.SignInError, match=r"not checked. Try again in 1 second\."):
            roles.enter(BOB, code, "10.0.0.1")
    assert roles.role_of(BOB) == ""
    assert roles.enter(ANN, CODES["teacher"], "10.0.0.9") == roles.TEACHER, "another address does not wait"
    clock.now += 1
    assert roles.enter(BOB, CODES["host"], "10.0.0.1") == roles.HOST


def test_the_addresses_of_one_household_count_together(codes: Path) -> None:
    for number in range(5):
        with pytest.raises(roles.SignInError):
            roles.enter(ANN, "a guess", f"2001:db8:0:1::{number}")
    assert usage.of_home().wait("2001:db8:0:1::/64") > 0 and usage.of_home().wait("2001:db8:0:2::/64") == 0


def test_in_a_home_that_cannot_be_written_nobody_signs_in(codes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writable = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and writable(path, mode))
    with pytest.raises(home.DataDirError):
        roles.sign_in(ANN, roles.HOST)
    assert roles.role_of(ANN) == ""


def test_a_teacher_has_more(codes: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(policy, "_served", {"0.0.0.0"})
    monkeypatch.setenv("EXPLAIN_RUNS_AT_ONCE", "1")
    monkeypatch.setenv("EXPLAIN_TEACHER_TIMES", "2")
    roles.enter(ANN, CODES["teacher"], "10.0.0.1")
    roles.enter(BOB, CODES["participant"], "10.0.0.1")
    assert [roles.limit("runs_at_once", who) for who in (ANN, BOB, "")] == [2, 1, 1]
    allowance = Quotas(tmp_path)
    for number, (who, may) in enumerate(((ANN, True), (BOB, True), (ANN, True), (BOB, False), (ANN, False))):
        with nullcontext() if may else pytest.raises(QuotaExceededError, match="You already have"):
            allowance.begin(f"run-{number}", who, None)
