"""Files that are never half written: made beside their places, then put there."""

import errno
import gzip
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

PathLike = str | os.PathLike[str]
# Bytes, text (UTF-8, gzipped if the name of the file ends in .gz), or a function that writes the
# file whose path it is given; that path ends as the target does.
Content = bytes | str | Callable[[str], object]


def write_all(contents: Mapping[PathLike, Content]) -> None:
    r"""Write several files; until all of them are complete, those that are there stay as they are.

    Every file is written in the folder of its target, under another name, and then put in its
    place by `os.replace`. Links go on pointing to their files; pipes and devices are written.

    Parameters
    ----------
    contents : mapping
        From the path of each file to bytes, text, or a function that writes the file whose path
        it is given.

    Raises
    ------
    OSError
        For a file that cannot be written; it names the target.
    ValueError
        For two targets that are one file.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_all({f"{folder}/a.txt": "one\n", f"{folder}/b.txt": lambda path: 1 / 0})
    Traceback (most recent call last):
        ...
    ZeroDivisionError: division by zero
    """
    targets = {os.path.realpath(path): os.fspath(path) for path in contents}
    if len(targets) < len(contents):
        raise ValueError(f"two of the files to write are one: {', '.join(targets.values())}")
    written: dict[str, str] = {}  # the temporary file of each target
    try:
        for (target, path), content in zip(targets.items(), contents.values(), strict=True):
            if os.path.isdir(target):
                raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
            written[target] = _beside(target)
            with _naming(path, written[target]):
                _fill(written[target], content)
        for target, path in targets.items():
            with _naming(path, written[target]):
                _put_in_place(target, written[target])
    finally:
        for temporary in written.values():
            with suppress(FileNotFoundError):
                os.unlink(temporary)


def _is_plain(target: str) -> bool:
    """Whether a target is a file, or none yet: a pipe or a device is not replaced."""
    return os.path.isfile(target) or not os.path.exists(target)


def _beside(target: str) -> str:
    """Return a name that no file has, in the folder of a target, with its ending."""
    folder = os.path.dirname(target) if _is_plain(target) else tempfile.gettempdir()
    plain, packed = os.path.splitext(target)
    ending = os.path.splitext(plain)[1] + packed if packed.lower() == ".gz" else packed
    return os.path.join(folder, f".{os.urandom(8).hex()}{ending}")


def _fill(path: str, content: Content) -> None:
    """Write one file, which must not exist."""
    if isinstance(content, str):
        content = content.encode()
        if path.lower().endswith(".gz"):
            content = gzip.compress(content, mtime=0)  # no time: same text, same bytes
    if not isinstance(content, bytes):
        content(path)
        return
    with open(path, "xb") as stream:
        stream.write(content)


@contextmanager
def _naming(path: str, temporary: str) -> Iterator[None]:
    """Let errors name the file that was asked for, not the temporary one."""
    try:
        yield
    except OSError as error:
        if error.errno and error.filename in (None, temporary):
            raise OSError(error.errno, error.strerror, path) from None
        raise


def _put_in_place(target: str, temporary: str) -> None:
    """Let a complete file be the target; a pipe or a device gets what is in it."""
    if _is_plain(target):
        os.replace(temporary, target)
        return
    with open(temporary, "rb") as source, open(target, "wb") as sink:
        shutil.copyfileobj(source, sink)
