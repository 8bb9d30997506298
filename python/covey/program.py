"""Signatures are the programs' to check: covey asks one."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any, Dict, Optional, Union

from .errors import VerificationError

PathLike = Union[str, "os.PathLike[str]"]


def verify(path: PathLike, program: str = "analyst", key: Optional[str] = None, timeout: float = 600) -> Dict[str, Any]:
    """What `analyst verify --json` reports of a result file that verifies; program may be agent or coordinator, or a path.

    key is the fingerprint of the coordinator's key as somebody you trust read it to you; without it the file is signed
    by the key in it, and only you can tell whose that is. Raises VerificationError of a file that does not verify, or
    where the program cannot be run.
    """
    # A name never looks like a flag, and the file is the one that load(path) reads.
    command = [program, "verify", "--json", os.path.abspath(os.fspath(path))]
    if key is not None:
        command.insert(3, f"--key={key}")
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise VerificationError(f"{program} verify did not run: {e}") from e
    try:
        report = json.loads(done.stdout) if done.stdout.strip() else {}
    except ValueError:
        report = {}
    if done.returncode != 0 or not isinstance(report, dict) or report.get("verified") is not True:
        said = done.stderr.decode("utf-8", "replace").strip() or str(report.get("reason", "")) if isinstance(report, dict) else ""
        raise VerificationError(f"{os.fspath(path)} does not verify: {said[:2000] or 'the program reports no reason'}")
    return report
