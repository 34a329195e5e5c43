"""Check the wheel and the sdist in ``dist``: both hold the package, the wheel nothing else."""

import sys
import tarfile
import zipfile
from pathlib import Path

PACKAGE = {str(path) for path in Path("toplist").rglob("*.py")} | {"toplist/py.typed"}
PACKAGE |= {f"toplist/reporting/page.{kind}" for kind in ("html", "css", "js")}
PACKAGE |= {"toplist/metrics/conventions.toml"}
BESIDE = {"pyproject.toml", "setup.cfg", "README.md", "LICENSE", "PKG-INFO"}


def faults() -> list[str]:
    """Return what is missing, and what should not be there."""
    (wheel,), (sdist,) = Path("dist").glob("*.whl"), Path("dist").glob("*.tar.gz")
    files = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    with tarfile.open(sdist) as archive:
        source = {name.partition("/")[2] for name in archive.getnames()}
    found = [f"{wheel}: no {name}" for name in sorted(PACKAGE - files)]
    found += [f"{wheel}: {name} does not belong there" for name in sorted(files - PACKAGE)]
    return found + [f"{sdist}: no {name}" for name in sorted((PACKAGE | BESIDE) - source)]


if __name__ == "__main__":
    sys.exit("\n".join(faults()) or 0)
