"""The Python in README.md and docs/python.md runs as it stands, block after block, and every name in it exists."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import explain_yourself as ey

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("name", ["README.md", "docs/python.md"])
def test_its_blocks_run(tmp_path: Path, with_encoder: str, name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert blocks
    # The README's starts the sentence encoder as a reader's would, under the name that a wheel has.
    path = str(ROOT) if name == "README.md" else os.pathsep.join((with_encoder, str(ROOT)))
    environment = {**os.environ, "EXPLAIN_HOME": str(tmp_path), "PYTHONPATH": path}
    command = [sys.executable, "-c", "\n".join(blocks)]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "predictions came true" in done.stdout and len(list((tmp_path / "journals").glob("*.jsonl"))) >= 1


def test_every_name_exists() -> None:
    named = set(re.findall(r"\bey\.(\w+)", (ROOT / "docs" / "python.md").read_text(encoding="utf-8")))
    assert len(named) > 8 and all(hasattr(ey, name) for name in named)
