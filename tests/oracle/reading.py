"""How lists and truths become what is measured, one step after the other, in plain Python."""

import numpy as np


def ranked(items, scores, ties):
    """Order items by falling scores; equal ones as they stand, or by id.

    >>> ranked(["a", "b", "c"], [1, 2, 2], "item_desc")
    ['c', 'b', 'a']
    """
    if scores is None:
        return list(items)
    if ties == "trec_eval":
        scores = np.float32(scores)
    rows = list(zip(items, scores, strict=True))
    if ties != "order":
        rows.sort(key=lambda row: row[0], reverse=ties != "item")
    return [item for item, _ in sorted(rows, key=lambda row: -row[1])]


def unpadded(items, pad):
    """Leave out what fills up a list.

    >>> unpadded(["a", "-", "-"], "-")
    ['a']
    """
    items = list(items)
    while items and items[-1] == pad:
        items.pop()
    return items


def once(items):
    """Leave out later copies; ranks close up.

    >>> once(["a", "b", "a", "c"])
    ['a', 'b', 'c']
    """
    return list(dict.fromkeys(items))


def mapped(truth, documents):
    """Return the grades of documents.

    >>> mapped({"a1": 2, "a2": 2}, {"a1": "a", "a2": "a"})
    {'a': 2}
    """
    found = {}
    for item, grade in truth.items():
        document = documents.get(item, item)
        assert found.setdefault(document, grade) == grade, "two grades"
    return found


def read(world, options, ties="order"):
    """Return lists and truths by user, as they are measured; and the order of equal scores.

    `ties` is the order of the source, where the options say none.
    """
    ties = options.get("ties") or ties
    scores = world.scores or {}
    lists = {user: ranked(one, scores.get(user), ties) for user, one in world.lists.items()}
    truths = world.truths
    if options.get("padding"):
        pad = "-" if isinstance(world.catalogue[0], str) else -1
        lists = {user: unpadded(one, pad) for user, one in lists.items()}
    duplicates = options.get("duplicates")
    if options.get("items_as"):
        documents = world.documents
        lists = {user: [documents[item] for item in one] for user, one in lists.items()}
        truths = {user: mapped(one, documents) for user, one in truths.items()}
        duplicates = duplicates or "collapse"
    if duplicates == "collapse":
        lists = {user: once(one) for user, one in lists.items()}
    if options.get("groups"):
        truths = {user: dict.fromkeys(one, 1) for user, one in truths.items()}
    if options.get("weighting") == "ips":  # whoever has a list counts
        truths = truths | {user: {} for user, one in lists.items() if one and user not in truths}
    return lists, truths


def groups_of(world, options):
    """Return the groups of each user, of documents where lists are."""
    document = world.documents.get if options.get("items_as") else lambda item, _: item
    return {
        user: [{document(item, item) for item in group} for group in groups]
        for user, groups in world.groups.items()
    }
