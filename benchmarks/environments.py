"""Virtual environments of the peers, one each, made once and kept as long as their folder."""

import os
import subprocess
import sys
from pathlib import Path


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
