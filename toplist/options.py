"""Keywords that several functions share: how lists are read and joined, what is known of items."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypedDict

DUPLICATES = ("raise", "first")


UNKNOWN = ("raise", "skip")


class Known(NamedTuple):
    """What is known of the items, and how lists are read: keywords of `top_k_eval`."""

    catalogue: Any = None
    item_counts: Any = None
    features: Any = None
    unknown: str = "raise"
    duplicates: str = "raise"
    padding: Any = None
    columns: Mapping[str, str] | None = None
    n_threads: int | None = None

    @property
    def reading(self) -> dict[str, Any]:
        """How lists are read."""
        return {
            "duplicates": self.duplicates,
            "padding": self.padding,
            "columns": self.columns,
            "n_threads": self.n_threads,
        }


class Joining(NamedTuple):
    """How lists are joined with ground truths, in the order of the public keywords."""

    duplicates: str = "raise"
    padding: Any = None
    relevant_from: float | None = None
    gains: str = "linear"
    columns: Mapping[str, str] | None = None
    n_threads: int | None = None


class Reading(TypedDict, total=False):
    """How lists are read: keywords of `toplist.beyond.exposure`."""

    duplicates: str
    padding: Any
    columns: Mapping[str, str] | None
    n_threads: int | None
