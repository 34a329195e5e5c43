"""One population as peers are given it: ranked lists and grades by user, in the forms they take.

Nothing but the standard library is imported before a form asks for pandas: a peer's environment
holds what that peer brings.
"""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

Values = dict[str, float] | None
Answer = tuple[str, int, float, Values]  # metric, k, mean, values per user


class Case(NamedTuple):
    """One population: ranked lists and grades by user, and the cut-offs asked for."""

    ks: list[int]
    ranks: dict[str, list[int]]
    truths: dict[str, dict[int, float]]

    @property
    def relevant(self) -> dict[str, dict[int, float]]:
        """The items judged above 0, of the users who have any."""
        rows = {u: {i: g for i, g in truth.items() if g > 0} for u, truth in self.truths.items()}
        return {user: row for user, row in rows.items() if row}

    @property
    def n_items(self) -> int:
        """One more than the largest id."""
        rows = [*self.ranks.values(), *self.truths.values()]
        return max(item for row in rows for item in row) + 1

    @property
    def longest(self) -> int:
        """Length of the longest list."""
        return max(map(len, self.ranks.values()))

    @property
    def qrels(self) -> dict[str, dict[str, int]]:
        """The ground truths with whole grades and ids that are strings."""
        rows = self.truths.items()
        return {user: {str(i): int(grade) for i, grade in truth.items()} for user, truth in rows}

    def run(self, k: int | None = None) -> dict[str, dict[str, float]]:
        """Return each list as scores that fall, from its length to 1, by ids that are strings."""
        rows = {user: enumerate(row[:k]) for user, row in self.ranks.items()}
        return {
            user: {str(item): float(len(self.ranks[user]) - place) for place, item in row}
            for user, row in rows.items()
        }

    def judged_lists(self) -> dict[str, list[float]]:
        """Return the grades along each list that is not empty, of users with a ground truth."""
        lists = {user: row for user in self.truths if (row := self.ranks.get(user))}
        return {user: [self.truths[user].get(i, 0.0) for i in row] for user, row in lists.items()}

    def grade_matrix(self) -> list[list[float]]:
        """Return users x items: the grades."""
        rows = self.truths.values()
        return [[truth.get(item, 0.0) for item in range(self.n_items)] for truth in rows]

    def score_matrix(self) -> list[list[float]]:
        """Return users x items: scores that fall along each list, in which every item stands."""
        lists = [self.ranks[user] for user in self.truths]
        return [[float(-row.index(i)) for i in range(self.n_items)] for row in lists]

    def ranked_frame(self, *columns: str) -> Any:
        """Return a row per user and listed item, with its rank."""
        rows = self.ranks.items()
        return _frame(((u, i, rank) for u, row in rows for rank, i in enumerate(row, 1)), columns)

    def relevant_frame(self, *columns: str) -> Any:
        """Return a row per user and relevant item, with its grade."""
        rows = self.relevant.items()
        return _frame(((u, i, grade) for u, row in rows for i, grade in row.items()), columns)


def _frame(rows: Iterable[tuple[str, int, float]], columns: tuple[str, ...]) -> Any:
    import pandas as pd

    return pd.DataFrame(list(rows), columns=list(columns))


def averaged(name: str, k: int, values: dict[str, float]) -> Answer:
    """Return values per user as an answer, with the mean of those that are numbers."""
    numbers = [value for value in values.values() if not math.isnan(value)]
    return name, k, math.fsum(numbers) / len(numbers), values


def read(population: dict[str, Any]) -> Case:
    """Return a population that went through JSON, which has no integer keys."""
    truths = {user: dict(map(tuple, row)) for user, row in population["truths"].items()}
    return Case(population["ks"], population["ranks"], truths)
