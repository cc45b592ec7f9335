"""Asks whether faults are known of what a lock pins: `python tools/audit.py PIP_AUDIT LOCK`.

Advisories come from PyPI or, where it does not give them, from OSV. pip-audit finds "no known vulnerabilities" also
where it was told about none of the packages; here what was not looked up counts as not checked.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any


def looked_up(pip_audit: str, lock: str, service: str) -> list[dict[str, Any]]:
    """pip-audit's entries (`name`, and `vulns` or `skip_reason`) by one service; none where it cannot be reached."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        command = [pip_audit, "--progress-spinner", "off", "--disable-pip", "--require-hashes", "-s", service]
        subprocess.run([*command, "-r", lock, "-f", "json", "-o", str(answer)], capture_output=True)
        return list(json.loads(answer.read_text(encoding="utf-8"))["dependencies"]) if answer.exists() else []


def audit_report(entries: list[dict[str, Any]]) -> tuple[str, int]:
    """In words, and the exit code: 1 where a fault is known."""
    checked = [entry for entry in entries if "vulns" in entry]
    if not checked:
        return "No database of advisories can be reached from here: NOTHING was checked.", 0
    faults = [
        f"{entry['name']} {entry['version']}: {fault['id']}, mended in {', '.join(fault['fix_versions']) or 'none yet'}"
        for entry in checked
        for fault in entry["vulns"]
    ]
    left = [entry["name"] for entry in entries if "vulns" not in entry]
    lines = [f"{len(checked)} packages checked, {len(faults)} known faults.", *faults]
    if left:
        lines.append(f"Not checked, for no advisories were had: {', '.join(left)}.")
    return "\n".join(lines), 1 if faults else 0


def main() -> int:
    """Print what is known. 1 where a fault is, 0 also where nothing could be asked."""
    pip_audit, lock = sys.argv[1:]
    entries: list[dict[str, Any]] = []
    for service in ("pypi", "osv"):
        entries = looked_up(pip_audit, lock, service)
        if any("vulns" in entry for entry in entries):
            break
    words, code = audit_report(entries)
    print(words)
    return code


if __name__ == "__main__":
    sys.exit(main())
