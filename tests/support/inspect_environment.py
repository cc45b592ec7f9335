"""An environment of its own with Inspect, for thorough tests. `INSPECT_AI` names another version (`make inspect`)."""

import atexit
import os
import shutil
import site
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

VERSION = os.environ.get("INSPECT_AI", "inspect_ai==0.3.285")


@cache
def inspect_python() -> Path:
    """Return the Python of an environment that has Inspect before the packages of this one. Skips the test if pip has
    no access to an index.
    """
    folder = Path(tempfile.mkdtemp(prefix="inspect-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    command = [python, "-m", "pip", "install", "-q", VERSION]
    installed = subprocess.run(command, capture_output=True, text=True)
    if "No matching distribution" in installed.stderr or "Could not find a version" in installed.stderr:
        pytest.skip("pip has no access to an index")
    assert installed.returncode == 0, installed.stderr
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "these.pth").write_text("\n".join(site.getsitepackages()))
    return python
