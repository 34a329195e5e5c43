"""One metric by the two sides that must agree: the oracle and toplist, user by user.

Both take a metric's name, lists and truths by user, cut-offs and the options of an evaluation. A
truth is a set, a dict item -> grade or a list of groups. A metric without a k, such as bpref, has
the one cut-off None. Users without a relevant item, or a list, score 0 unless options say else.
The mean is that of the user "".
"""

from contextlib import suppress
from functools import partial
from types import MappingProxyType, SimpleNamespace

import oracle
from doors import Case, by_key
from world import World


def world_of(lists, truths, documents, **facts):
    """Return the world of lists and truths, and of facts of users and items."""
    rows = truths.values()
    groups = truths if any(isinstance(row, list) for row in rows) else {}
    graded = any(isinstance(row, dict) for row in rows)
    if groups:
        truths = {user: set().union(*row) for user, row in truths.items()}
    if not graded:
        truths = {user: dict.fromkeys(row, 1) for user, row in truths.items()}
    return World(lists, truths, graded=graded, groups=groups, documents=documents or {}, **facts)


def by(side, name, lists, truths, ks, items_as=None, facts=MappingProxyType({}), **options):
    """Return {k: {user: value}} of a side."""
    world = world_of(lists, truths, items_as, **facts)
    asked = {"metrics": [name], "k": None if list(ks) == [None] else list(ks)}
    asked |= {"empty": "zero", "missing": "zero"} | options
    asked |= {"items_as": True} if items_as else {}
    asked |= {"groups": True} if world.groups else {}
    found = side(world, asked)
    return {
        k: {"": mean} | dict(zip(found.users, found.values.get(key, ()), strict=False))
        for k, (key, mean) in zip(ks, found.means.items(), strict=True)
    }


def of_library(world, options):
    """Return what the library says, as the oracle does."""
    found, values = by_key(Case(world, options), None), {}
    for name in found.names():
        with suppress(ValueError):  # a metric of all lists together has no values
            values[name] = found.per_user(name).tolist()
    return SimpleNamespace(users=found.users, means=found.to_dict(), values=values)


by_oracle, by_toplist = partial(by, oracle.evaluate), partial(by, of_library)


def value(name, ranked, truth, k, **options):
    """Return the oracle's value of one user."""
    return by_oracle(name, {"u": ranked}, {"u": truth}, [k], **options)[k]["u"]
