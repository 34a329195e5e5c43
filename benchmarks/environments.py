"""Virtual environments of the peers, one each, made once and kept as long as their folder."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def interpreter(folder: Path, *installs: tuple[str, ...]) -> str:
    """Return the interpreter of an environment, which is made where it does not exist.

    Parameters
    ----------
    folder : Path
        Where the environment is, or will be.
    *installs : tuple of str
        Arguments of one ``pip install`` each. None: this interpreter, as it is.

    Returns
    -------
    str
    """
    if not installs:
        return sys.executable
    python = str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    ready = folder / "ready"  # a mark, so that an installation cut short begins anew
    if not ready.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        for arguments in installs:
            subprocess.run([python, "-m", "pip", "install", "-q", *arguments], check=True)
        ready.touch()
    return python


def said(python: str, *arguments: Any) -> Any:
    """Run a program, and return the JSON of the last line that it prints.

    A peer may print lines of its own before it.
    """
    command = [python, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=36_000)
    if done.returncode:  # else its warnings are of no interest
        raise SystemExit(f"{done.stderr}no answer of {' '.join(command[1:])}")
    return json.loads(done.stdout.splitlines()[-1])
