"""docs/host.md lists every setting correctly, and its commands, the container and the proxies do what it says."""

import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from core import policy

ROOT = Path(__file__).resolve().parents[1]
DOC = ROOT / "docs" / "host.md"
COMMANDS = [
    line
    for block in re.findall(r"^```\n(.*?)^```", DOC.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
]
[UV] = re.findall(r"^UV := (\S+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
SERVED = [line for line in COMMANDS if line.startswith("make serve")]


def test_every_setting_and_limit_is_listed_as_it_is() -> None:
    rows = [line for line in DOC.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]

    def word(allowed: bool) -> str:
        return "yes" if allowed else "no"

    settings = [
        f"| `{one.variable}` | {one.allows} | {word(one.alone)} | {word(one.hosted)} |" for one in policy.SETTINGS
    ]
    limits = [
        f"| `{one.variable}` | {one.what} | {'any' if one.alone is None else one.alone} | {one.hosted} |"
        for one in policy.LIMITS
    ]
    codes = [line for line in rows if "_CODE`" in line]
    assert [re.findall(r"EXPLAIN_(\w+)_CODE` \| (\d+) letters", line) for line in codes] == [
        [(role.upper(), str(letters))] for role, letters in policy.ROLES.items()
    ]
    assert [line for line in rows if line not in codes] == settings + limits


def made(*arguments: str, target: str = "serve", folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run `make serve`, or another target, with the Makefile's own settings, even if make runs these tests."""
    clean = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    return subprocess.run(
        ["make", target, *arguments], cwd=folder, env=clean, capture_output=True, text=True, timeout=60
    )


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> str:
    """`VENV=…` for make: an environment that counts as set up, whose Python prints EXPLAIN_HOSTS and its arguments in
    JSON.
    """
    folder = tmp_path_factory.mktemp("served")
    told = "import json, os, sys; print(json.dumps([os.environ.get('EXPLAIN_HOSTS'), sys.argv[1:]]))"
    (folder / "bin").mkdir()
    python = folder / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(told)} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    for done in (f".{UV}", ".ready"):
        (folder / done).touch()
    return f"VENV={folder}"


@pytest.mark.parametrize("command", SERVED)
def test_serving_is_hosted_and_listens_where_it_was_told(
    command: str, environment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = shlex.split(command)[2:]
    given = dict(one.split("=") for one in arguments)
    done = made(environment, *arguments)
    assert done.returncode == 0, done.stderr
    hosts, called = json.loads(done.stdout)
    address = given.get("ADDRESS", "127.0.0.1")
    assert called == [
        *("-m", "streamlit", "run", "app.py"),
        *("--server.address", address, "--server.port", given.get("PORT", "8501")),
    ]
    monkeypatch.setattr(policy, "_served", {address})
    monkeypatch.setenv("EXPLAIN_HOSTS", hosts)
    assert policy.is_hosted() and not policy.allows("files") and hosts in policy.allowed_hosts()


@pytest.mark.parametrize(("target", "opens"), [("run", "--open"), ("class", "--open=lessons")])
def test_running_it_alone_opens_a_browser(target: str, opens: str, environment: str) -> None:
    done = made(environment, target=target)
    _, called = json.loads(done.stdout)
    assert called == ["-m", "streamlit", "run", "app.py", "--", opens]


def test_serving_wants_a_name_that_is_not_this_machines_own(environment: str) -> None:
    for arguments in ([], ["HOSTS="], ["HOSTS=localhost"], ["HOSTS=127.0.0.1"]):
        done = made(environment, *arguments)
        assert done.returncode == 2 and "make serve HOSTS=class.example.org" in done.stderr and not done.stdout


def test_the_document_serves_in_the_ways_that_it_names() -> None:
    assert SERVED == ["make serve HOSTS=192.168.1.20 ADDRESS=192.168.1.20"]
    assert "docker compose up --build --detach" in COMMANDS


# The container. Docker is not available where these tests run, so they check what can be read of it.


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile's last stage with their arguments, continued lines joined."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", "")
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    last = max(n for n, (name, _) in enumerate(lines) if name == "FROM")
    return [(name, rest) for name, rest in lines[last:]]


def test_the_container_is_not_root_and_says_how_it_is() -> None:
    steps = instructions()
    [user] = [rest for name, rest in steps if name == "USER"]
    assert user not in ("root", "0") and any("useradd --uid 10001 " in rest and user in rest for _, rest in steps)
    after = [name for name, _ in steps][[name for name, _ in steps].index("USER") :]
    assert not {"COPY", "ADD", "RUN"} & set(after), "nothing is made that its user could write"
    [health] = [rest for name, rest in steps if name == "HEALTHCHECK"]
    asked = json.loads(health.partition("CMD ")[2])
    compile(asked[-1], "health check", "exec")
    [command] = [json.loads(rest) for name, rest in steps if name == "CMD"]
    port = command[command.index("--server.port") + 1]
    assert f"http://127.0.0.1:{port}/_stcore/health" in asked[-1] and ("EXPOSE", port) in steps
    [settings] = [rest for name, rest in steps if name == "ENV"]
    assert ("VOLUME", "/data") in steps and "EXPLAIN_HOME=/data" in settings


def ignored(path: str) -> bool:
    """Whether .dockerignore leaves out a path: the last line that matches it or a folder above it decides."""
    parts = path.split("/")
    above = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    left_out = False
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        pattern = line.removeprefix("!").removeprefix("**/")
        anywhere = [*above, *parts] if line.startswith("**/") else above
        if line and not line.startswith("#") and any(fnmatch.fnmatchcase(one, pattern) for one in anywhere):
            left_out = not line.startswith("!")
    return left_out


def test_the_image_gets_what_the_app_needs_and_no_secret() -> None:
    for secret in (
        ".streamlit/secrets.toml",
        "data/local/journals/run.jsonl",
        ".env",
        ".git/config",
        "core/__pycache__/x",
    ):
        assert ignored(secret), secret
    for needed in ("app.py", "core/entry.py", "data/policy.toml", ".streamlit/config.toml", "requirements.lock"):
        assert not ignored(needed), needed
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    copied = [part for line in re.findall(r"^COPY (?!--from)(.+)$", text, re.MULTILINE) for part in line.split()[:-1]]
    assert len(copied) > 8 and not any("secret" in one or one in (".", ".streamlit") for one in copied)
    for one in copied:
        assert (ROOT / one).exists() and not ignored(one)
    assert "KEY" not in text.upper().replace("KEYS", "") and "ADD " not in text


def test_a_run_goes_through_with_the_files_of_the_image_alone(tmp_path: Path) -> None:
    app = tmp_path / "app"
    for name, rest in instructions():
        if name == "COPY" and not rest.startswith("--from"):
            *sources, target = rest.split()
            for source in (ROOT / one for one in sources):
                place = app / target
                if source.is_dir():
                    shutil.copytree(source, place, ignore=shutil.ignore_patterns("__pycache__", "local"))
                else:
                    place.mkdir(parents=True, exist_ok=True)
                    shutil.copy(source, place)
    environment = os.environ | {"EXPLAIN_HOME": str(tmp_path / "home"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "core", "probe", "--own", "3 * x^2", "--interpreter", "fit", "--json"]
    done = subprocess.run(command, cwd=app, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["status"] == "completed"


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
    return found


def test_the_compose_file_keeps_the_app_behind_the_proxy(services: dict[str, Any]) -> None:
    app, proxy = services["app"], services["proxy"]
    assert "ports" not in app and {f"EXPLAIN_{role.upper()}_CODE" for role in policy.ROLES} <= app["environment"].keys()
    assert app["environment"]["FORWARDED_ALLOW_IPS"] == "*", "or all visitors are one address"
    assert app["volumes"] == ["home:/data"] and app["environment"]["EXPLAIN_HOSTS"].startswith("${HOST:?")
    assert proxy["environment"] == {"HOST": "${HOST}", "APP": "app:8501"} and proxy["ports"] == ["80:80", "443:443"]
    assert "./compose.Caddyfile:/etc/caddy/Caddyfile:ro" in proxy["volumes"]


@pytest.mark.parametrize("name", ["app", "proxy"])
def test_each_container_has_limits_and_no_more_rights_than_it_needs(name: str, services: dict[str, Any]) -> None:
    one = services[name]
    assert one["read_only"] is True and one["security_opt"] == ["no-new-privileges:true"]
    assert one["cap_drop"] == ["ALL"] and one.get("cap_add", []) == (["NET_BIND_SERVICE"] if name == "proxy" else [])
    assert re.fullmatch(r"\d+[gm]", one["mem_limit"]) and one["memswap_limit"] == one["mem_limit"], "no swap beside it"
    assert one["pids_limit"] > 0 and one["ulimits"]["nofile"] > 4096 and one["ulimits"]["core"] == 0
    assert one["tmpfs"] and all(re.fullmatch(r"/\w+:size=\d+m", place) for place in one["tmpfs"])


def test_the_proxy_ends_what_does_not_end_and_tells_nothing_of_itself() -> None:
    text = (ROOT / "compose.Caddyfile").read_text(encoding="utf-8")
    lines = [line.strip() for line in text.splitlines()]
    assert {"admin off", "read_header 10s", "read_body 2m", "idle 2m", "max_header_size 16KB", "-Server"} <= {*lines}
    assert "reverse_proxy {$APP:127.0.0.1:8501}" in lines and "{$HOST} {" in lines
    most = int(re.findall(r"max_size (\d+)MB", text)[0])
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["server"]["maxUploadSize"] < most


def test_base_images_are_taken_by_digest_or_not_at_all(services: dict[str, Any]) -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert set(re.findall(r"^FROM (\S+)", text, re.MULTILINE)) == {"${PYTHON_IMAGE}"}
    assert re.findall(r"^ARG .*", text, re.MULTILINE) == ["ARG PYTHON_IMAGE"], "without a default"
    assert services["app"]["build"]["args"]["PYTHON_IMAGE"].startswith("${PYTHON_IMAGE:?")
    assert services["proxy"]["image"].startswith("${PROXY_IMAGE:?")


DOCKER = """#!/bin/sh
case "$1 $4" in
"image "*) echo "mirror.example/$5@sha256:0"; [ "$5" = "$MISSING" ] || echo "${5%%:*}@sha256:$(printf %064d 7)";;
esac
"""


def test_make_images_records_the_digests_and_leaves_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docker = tmp_path / "docker"
    docker.write_text(DOCKER, encoding="utf-8")
    docker.chmod(0o755)
    shutil.copy(ROOT / "Makefile", tmp_path)
    kept = tmp_path / ".env"
    kept.write_text("EXPLAIN_HOST_CODE=a code of mine\nPROXY_IMAGE=caddy@sha256:old\n", encoding="utf-8")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    python, caddy = (f"{name}@sha256:{7:064d}" for name in ("python", "caddy"))
    assert made(target="images", folder=tmp_path).returncode == 0
    expected = ["EXPLAIN_HOST_CODE=a code of mine", f"PYTHON_IMAGE={python}", f"PROXY_IMAGE={caddy}"]
    assert kept.read_text(encoding="utf-8").splitlines() == expected
    monkeypatch.setenv("MISSING", "caddy:2")
    done = made(target="images", folder=tmp_path)
    assert done.returncode == 2 and "caddy:2 could not be pulled" in done.stderr
    assert sorted(kept.read_text(encoding="utf-8").splitlines()) == sorted(expected)
