"""`Admitted`: what the door lets through to the join."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.inputs.flatten import Flat
from toplist.inputs.grades import Grading
from toplist.inputs.lists import Lists


@dataclass(frozen=True, eq=False)
class Admitted:
    """What the door lets through: integer ids, one row per user of the ground truth.

    `lengths` says how much of each ranked list counts: at most `depth` ids, without padding.
    `users` are the keys of keyed inputs, else None. `single` says that one user was given bare.
    `sources` are both sides as the caller wrote them; `hashed` says that the integers are hashes,
    so that what the join finds has to be verified.
    """

    ranked: Lists
    lengths: NDArray[np.int64]
    truth: Lists
    grading: Grading
    depth: int
    users: Sequence[Any] | None
    single: bool
    n_extra: int
    sources: tuple[Flat, Flat]
    hashed: bool
