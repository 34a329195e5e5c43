"""What an area of conformance is made of: peers and their questions.

The environments of peers import this file and the areas: nothing here needs more than the standard
library, and an area imports a peer, or toplist, where it asks it. The oracles of the tests are
plain Python.
"""

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, NamedTuple

EXACT = 1e-9
SINGLE = 1e-5  # sums in 32 bits
ROUNDED = 5e-6 + EXACT  # to 5 decimals

# Of one population at one k, by subject: a user, "" for the mean, or some users' lists together.
Values = dict[str, float] | None


class Question(NamedTuple):
    """One measure in the words of both.

    Parameters
    ----------
    theirs, ours : str
    given : mapping
        What both sides here are given beside lists and truths.
    why : str
        Why the two differ, where they do.
    instead : callable, optional
        What the peer gives instead: of a population, a subject and a k. A number, None where it
        must agree, or `...` where anything may be.
    of : str
        The kind of truths that all are given.
    uncut : bool
        Whether it has no k.
    group : str
        Its line of the table.
    tolerance : float
    """

    theirs: str
    ours: str
    given: Any = MappingProxyType({})
    why: str = ""
    instead: Callable[..., Any] | None = None
    of: str = ""
    uncut: bool = False
    group: str = ""
    tolerance: float = EXACT


class Peer(NamedTuple):
    """A peer.

    Parameters
    ----------
    package : str
        Whose version is told, or where the source is that was read.
    installs : tuple of tuple of str
        Arguments of ``pip install``, once per call. None: its steps are followed here.
    questions : list of Question
    asked : callable
        Of a population, in the peer's environment: what answers a question at a k.
    takes : str
        What populations may hold.
    share : float
        Of the populations: less for a slow peer, more for one that answers at few k's.
    silent : str
        What it is not asked, and why.
    """

    package: str
    installs: tuple[tuple[str, ...], ...]
    questions: list[Question]
    asked: Callable[[Any], Callable[[Question, Any], Values]]
    takes: str = ""
    share: float = 1.0
    silent: str = ""
