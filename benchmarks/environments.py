"""What the programs here share: their tables and options, and the environments of peers.

An environment is made once and kept as long as its folder.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def table_of(program: Path | str) -> dict[str, Any]:
    """Read the table that stands beside a program."""
    return tomllib.loads(Path(program).with_suffix(".toml").read_text(encoding="utf-8"))


def options_of(text: str, names: Iterable[str], **options: dict[str, Any]) -> argparse.Namespace:
    """Parse the `names` that a program is asked for, all where none is, and its options.

    Parameters
    ----------
    text : str
        What the program says of itself; the first line is its help.
    names : iterable of str
        Those that it knows.
    **options : dict
        Arguments of ``add_argument``.

    Returns
    -------
    Namespace
    """
    known = dict.fromkeys(names)
    parser = argparse.ArgumentParser(description=text.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    for name, how in options.items():
        parser.add_argument(f"--{name}", **how)
    found = parser.parse_args()
    if unknown := {*found.names} - {*known}:
        parser.error(f"unknown: {', '.join(unknown)}; choose from {', '.join(known)}")
    found.names = list(dict.fromkeys(found.names or known))
    return found


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


def called(python: str, program: Path | str, function: str, *arguments: Any) -> Any:
    """Call a function of a program in an environment; what goes in and out is JSON.

    Programs and packages may print lines of their own.
    """
    command = [python, __file__, str(program), function, json.dumps(arguments, default=str)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=36_000)
    if done.returncode:  # else its warnings are of no interest
        raise SystemExit(f"{done.stderr}no answer of {' '.join(command[1:])}")
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    program, function, arguments = sys.argv[1:]
    sys.path.insert(0, str(Path(program).parent))
    found = getattr(importlib.import_module(Path(program).stem), function)(*json.loads(arguments))
    # A peer's numbers may be numpy's, which are no JSON.
    print("\n" + json.dumps(found, default=float))
