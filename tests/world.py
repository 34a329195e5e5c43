"""One world: users with lists and truths, facts of users and of items, in the forms people hold.

A `World` is plain Python. `draw` makes one of a seed in a situation: with grades, ties of scores,
text or integers, keys of several parts, and always with users whom one side alone knows, empty
lists and empty truths, unless these are not wanted.
"""

import math
from dataclasses import dataclass, field, replace

import numpy as np

N_ITEMS, LABELS, PAD_OF_TEXT = 12, ("war", "love", "fun"), "-"
GRADES = 0, 0, 1, 2, 3, 0.5, -1
ORDINARY = 7  # users who have a list and a truth, in every world of several
ODD = ("extra", "missing", "no-list", "no-truth", "judged-zero", "neither")


@dataclass(frozen=True)
class World:
    """Lists and truths by user, both in the order of rows, and all that may be said beside them.

    `lists` are best first; where there are `scores`, they are in the order of rows, and scores rank
    them. `other` are the lists of a second system. `truths` are dicts item -> grade; without grades
    every grade is 1.
    """

    lists: dict
    truths: dict
    catalogue: list = field(default_factory=list)
    graded: bool = True
    scores: dict | None = None
    other: dict = field(default_factory=dict)
    counts: dict = field(default_factory=dict)
    labels: dict = field(default_factory=dict)
    features: dict = field(default_factory=dict)
    distances: dict = field(default_factory=dict)
    history: dict = field(default_factory=dict)
    expected: dict = field(default_factory=dict)
    propensities: dict = field(default_factory=dict)
    documents: dict = field(default_factory=dict)
    weights: dict = field(default_factory=dict)
    clusters: dict = field(default_factory=dict)
    segments: dict = field(default_factory=dict)
    slices: dict = field(default_factory=dict)
    groups: dict = field(default_factory=dict)

    @property
    def users(self):
        """The users of the truth: the rows."""
        return list(self.truths)

    def without_odd_rows(self):
        """Return what rows of a table can say: no empty list, no empty truth."""
        lists = {user: items for user, items in self.lists.items() if items}
        truths = {user: grades for user, grades in self.truths.items() if grades}
        groups = {user: self.groups[user] for user in truths}
        return replace(self, lists=lists, truths=truths, groups=groups)

    def of_whole_grades(self):
        """Return the world of TREC, in which a grade below 1 is not relevant."""
        truths = {
            user: {item: math.floor(grade) for item, grade in grades.items()}
            for user, grades in self.truths.items()
        }
        return replace(self, truths=truths)

    def by_row(self):
        """Return what lists by position can say: a list for each truth, and no more."""
        lists = {user: self.lists.get(user, []) for user in self.truths}
        scores = None
        if self.scores is not None:
            scores = {user: self.scores.get(user, []) for user in self.truths}
        other = {user: self.other.get(user, []) for user in self.truths}
        return replace(self, lists=lists, scores=scores, other=other)

    def only(self, users):
        """Return the world of some users alone."""
        users = set(users)

        def of(held):
            return {user: one for user, one in held.items() if user in users}

        scores = None if self.scores is None else of(self.scores)
        return replace(
            self,
            lists=of(self.lists),
            truths=of(self.truths),
            groups=of(self.groups),
            scores=scores,
            other=of(self.other),
        )

    def of_slice(self, label, relevant_from):
        """Return the world of the users to whom items of a slice are relevant, and these alone."""
        truths = {}
        for user, grades in self.truths.items():
            mine = {item: one for item, one in grades.items() if self.slices[item] == label}
            if any(
                one > 0 if relevant_from is None else one >= relevant_from for one in mine.values()
            ):
                truths[user] = mine
        return replace(self.only(truths), truths=truths)

    def of_other(self):
        """Return the world of the second system; its lists have no scores."""
        scores = self.scores
        if scores is not None:
            scores = {
                user: [row % 2 + 0.25 for row in range(len(one))]
                for user, one in self.other.items()
            }
        return replace(self, lists=self.other, other=self.lists, scores=scores)

    def with_repeats(self):
        """Return the same lists with an earlier item once more, in the middle and at the end."""
        assert self.scores is None
        lists = {
            user: [*items[:2], items[0], *items[2:], items[-1]] if items else []
            for user, items in self.lists.items()
        }
        return replace(self, lists=lists)

    def with_padding(self):
        """Return lists and truths that are filled up to one length with an id that is no item."""
        pad = padding_of(self)

        def filled(held):
            longest = max(map(len, held.values()), default=0)
            return {user: [*one, *[pad] * (longest - len(one))] for user, one in held.items()}

        assert self.scores is None
        more = {name: filled(getattr(self, name)) for name in ("other", "history", "expected")}
        return replace(self, lists=filled(self.lists), **more)


def padding_of(world):
    """Return the id that pads lists of a world."""
    return PAD_OF_TEXT if isinstance(world.catalogue[0], str) else -1


def draw(
    seed,
    *,
    users=ORDINARY,
    text=True,
    graded=True,
    ties=False,
    parts=False,
    odd=True,
    longest=7,
    gap=False,
):
    """Draw a world.

    Parameters
    ----------
    users : how many ordinary users it has
    text : whether ids are text; else integers
    graded : whether truths have grades, 0 among them
    ties : whether lists have scores, many of them equal
    parts : whether keys are tuples of two parts
    odd : whether there are users whom one side alone knows, with an empty list or an empty truth
    longest : of how many items the longest list is, at most
    gap : whether nothing is known of the first item, which is not in the catalogue
    """
    rng = np.random.default_rng(seed)
    ids = [f"i{row}" for row in range(N_ITEMS)] if text else [row + 3 for row in range(N_ITEMS)]

    def some(least, most):
        return [ids[row] for row in rng.permutation(N_ITEMS)[: rng.integers(least, most + 1)]]

    def judged(least=1):
        if not graded:
            return dict.fromkeys(some(least, 5), 1)
        grades = rng.choice(len(GRADES), N_ITEMS // 2)  # the chunks of a document have one grade
        items = some(least, 6)
        grades[ids.index(items[0]) // 2] = GRADES.index(1)
        return {item: GRADES[grades[ids.index(item) // 2]] for item in items}

    names = [f"u{row}" for row in range(users)] + [*(ODD if odd else ())]
    keys = {name: key_of(name, row, text, parts) for row, name in enumerate(names)}
    lists = {keys[name]: some(1, longest) for name in names}
    other = {keys[name]: some(1, longest) for name in names}
    truths = {keys[name]: judged() for name in names}
    for name in ODD if odd else ():
        if name in ("extra",):
            del truths[keys[name]]
        if name in ("missing",):
            del lists[keys[name]], other[keys[name]]
        if name in ("no-list", "neither"):
            lists[keys[name]] = other[keys[name]] = []
        if name in ("no-truth", "neither"):
            truths[keys[name]] = {}
        if name == "judged-zero" and graded:
            truths[keys[name]] = dict.fromkeys(some(2, 3), 0)
    order = [keys[names[row]] for row in rng.permutation(len(names))]
    truths = {user: truths[user] for user in order if user in truths}
    scores = None
    if ties:
        scores = {user: [rng.integers(0, 3) + 0.25 for _ in one] for user, one in lists.items()}
    labels = {item: [one for one in LABELS if rng.random() < 0.5] or ["war"] for item in ids}
    facts = {
        "counts": dict(zip(ids, rng.integers(1, 30, N_ITEMS).tolist(), strict=True)),
        "labels": labels,
        "features": {item: rng.integers(0, 4, 3).astype(float).tolist() for item in ids},
    }
    if gap:
        facts = {name: {item: held[item] for item in ids[1:]} for name, held in facts.items()}
    return World(
        *(lists, truths, ids[gap:], graded, scores, other),
        **facts,
        distances={
            one: [abs(row - at) / 16 for at in range(gap, N_ITEMS)]
            for row, one in [*enumerate(ids)][gap:]
        },
        history={user: some(1, 4) + some(0, 2) for user in keys.values()},
        expected={user: some(1, 5) for user in keys.values()},
        propensities=dict(zip(ids, (rng.integers(1, 11, N_ITEMS) / 10).tolist(), strict=True)),
        documents=dict(zip(ids, [ids[row - row % 2] for row in range(N_ITEMS)], strict=True)),
        weights={user: float(rng.integers(0, 5)) / 2 for user in keys.values()},
        clusters={user: f"c{row % 4}" for row, user in enumerate(keys.values())},
        segments={user: ("new", "old", "mid")[row % 3] for row, user in enumerate(keys.values())},
        slices=dict(zip(ids, ("head", "tail", "tail") * (N_ITEMS // 3), strict=True)),
        groups={user: grouped(list(grades)) for user, grades in truths.items()},
    )


def grouped(items):
    """Put items into groups of two, of which one is in the next group too."""
    return [items[row : row + 3] for row in range(0, len(items), 2)]


def key_of(name, row, text, parts):
    """Return the key of a user: text, a number, or both as a tuple."""
    if parts:
        return (name[:1], row)
    return name if text else 100 + row
