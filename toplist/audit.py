"""Look at the data before trusting the numbers: what is wrong, what is lost, what has leaked.

The flaws that evaluations are known to have (Hidasi and Czapp 2023, "Widespread flaws in offline
evaluation of recommender systems"): test items seen in training, users lost on the way, repeats,
ids written in two ways, padding taken for items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toplist.flaws import CHECKS, Finding, Given
from toplist.matching.match import match
from toplist.sides import by_user, is_log

# What evaluating tells beside `CHECKS`.
LOOKED = ("refused", "nothing_common")
LEVELS = ("error", "warning", "note")


@dataclass(frozen=True)
class Audit:
    """What `check` found; a short report when printed.

    Attributes
    ----------
    sizes : dict
        Users and items of each side.
    findings : tuple of Finding
        Gravest first; only what was found.

    Examples
    --------
    >>> audit = check([[1, 2], [3]], [[2], []])
    >>> [(one.level, one.name) for one in audit.findings]
    [('note', 'empty')]
    """

    sizes: dict[str, tuple[int, int]]
    findings: tuple[Finding, ...]

    @property
    def counts(self) -> dict[str, int]:
        """The count of every finding, added up; 0 for what was looked for and not found."""
        found = Counter(dict.fromkeys([*CHECKS, *LOOKED], 0))
        for one in self.findings:
            found[one.name] += one.count
        return dict(found)

    @property
    def ok(self) -> bool:
        """Whether there is neither error nor warning."""
        return all(one.level == "note" for one in self.findings)

    def __str__(self) -> str:
        """Return the sizes and a line per finding."""
        sizes = [f"{name}: {u:,} users, {n:,} items" for name, (u, n) in self.sizes.items()]
        lines = [f"{one.level:8} {one.text}" for one in self.findings]
        return "\n".join(["; ".join(sizes), *(lines or ["nothing found"])])

    __repr__ = __str__


def _refusals(
    ranks: Any, truths: Any, columns: Any, given: Given, found: list[Finding]
) -> list[Finding]:
    """Evaluate, and say what stands in the way; what was found before is not said again."""
    logs = is_log(ranks, columns) or is_log(truths, columns)  # in the order of their rows
    if logs or any(one.level == "error" for one in found):
        return []
    try:
        hits = match(ranks, truths, duplicates="first", columns=columns)
    except (TypeError, ValueError) as error:
        text = f"an evaluation refuses these: {' '.join(str(error).split())}"
        return [Finding("refused", "error", 1, text)]
    if len(hits) > 1 and hits.n_listed.any() and not _common(given):
        text = "no item is both listed and relevant: are the ids of both sides written alike?"
        return [Finding("nothing_common", "error", len(hits), text)]
    return []


def _common(given: Given) -> bool:
    """Whether any item stands on both sides, of whatever users."""
    listed, relevant = (
        {item for row in side.values() for item in row} for side in (given.ranks, given.truths)
    )
    return not listed.isdisjoint(relevant)


def check(
    ranks: Any = None,
    ground_truths: Any = None,
    train: Any = None,
    *,
    k: int | None = None,
    columns: Mapping[str, str] | None = None,
) -> Audit:
    """Look for what makes an evaluation fail or mislead; give what there is.

    Parameters
    ----------
    ranks, ground_truths : optional
        Lists and truths by user or by position; tables and other logs too (then in the order of
        their rows).
    train : optional
        What each user is known to have chosen: a log in any form of `toplist.loo.leave_one_out`,
        or user -> items.
    k : int, optional
        Also look for lists shorter than k.
    columns : mapping, optional
        Of tables: their own names of user_id and item_id.

    Returns
    -------
    Audit
        `counts` by name of finding, `findings`, `ok`.

    Examples
    --------
    >>> audit = check({"ann": ["tea", "jam"]}, {"ann": ["tea"], "bob": ["jam"]},
    ...               train=(["ann", "bob"], ["tea", "fig"]))
    >>> audit
    ranks: 1 users, 2 items; ground_truths: 2 users, 2 items; train: 2 users, 2 items
    warning  1 relevant items (of 1 users) are in the user's own training log: 'tea' of 'ann'
    warning  1 listed items (of 1 users) are in the user's own training log: 'tea' of 'ann'
    warning  1 of 2 users of ground_truths have no list: 'bob'
    note     1 items of ground_truths are not in train, 0.5 of its rows: 'jam'
    note     1 items of ranks are not in train, 0.5 of its rows: 'jam'
    >>> audit.counts["leaked"], audit.ok
    (1, False)
    """
    sides = {"ranks": ranks, "ground_truths": ground_truths, "train": train}
    names = tuple(name for name, value in sides.items() if value is not None)
    if not names:
        raise TypeError("check: give ranks, ground_truths, a training log, or several of them")
    read = [{} if value is None else by_user(value, name, columns) for name, value in sides.items()]
    given = Given(read[0], read[1], read[2], names, k)
    found = [finding for look in CHECKS.values() for finding in look(given)]
    if ranks is not None and ground_truths is not None:
        found += _refusals(ranks, ground_truths, columns, given, found)
    found.sort(key=lambda one: LEVELS.index(one.level))
    sizes = {
        name: (len(side), len({item for row in side.values() for item in row}))
        for name, side in zip(sides, read, strict=True)
        if name in names
    }
    return Audit(sizes, tuple(found))
