"""How much memory is free: of the machine, and of the control group that the process is in."""

import os
from collections.abc import Iterator

UNKNOWN = 4 << 30  # bytes, where no system says
GROUPS = "/sys/fs/cgroup"


def free_memory() -> int:
    """Return the free bytes: the smaller of the machine's and the control group's.

    Files that the system holds in memory only to be quick count as free.

    Examples
    --------
    >>> free_memory() > 0
    True
    """
    machine = _numbers("/proc/meminfo").get("MemAvailable:", UNKNOWN >> 10) << 10
    return max(min([machine, *_of_groups()]), 1)


def _of_groups() -> Iterator[int]:
    """Yield what is left to the control groups of this process, those of version 1 and 2."""
    for line in _lines("/proc/self/cgroup"):
        number, kind, path = line.split(":", 2)
        if number == "0":
            base, limit, used = GROUPS, "memory.max", "memory.current"
        elif kind == "memory":
            base, limit, used = f"{GROUPS}/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        while True:  # the group, and those that it is in; in a container the path may be outside
            folder = base + path.rstrip("/")
            most, held = (next(iter(_lines(f"{folder}/{name}")), "") for name in (limit, used))
            if most.isdecimal() and held.isdecimal():
                stat = _numbers(f"{folder}/memory.stat")
                inactive = stat.get("total_inactive_file", stat.get("inactive_file", 0))
                yield int(most) - int(held) + inactive
            if path in ("", "/"):
                break
            path = os.path.dirname(path)


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()
    except OSError:
        return []


def _numbers(path: str) -> dict[str, int]:
    """Return the numbers of a file with a name and a number in each line."""
    rows = (line.split() for line in _lines(path))
    return {row[0]: int(row[1]) for row in rows if len(row) > 1 and row[1].isdecimal()}
