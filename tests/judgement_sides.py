"""Measures of judgements by the two sides that must agree: the oracle, user by user, and toplist.

Both take a measure's name, lists and truths by user, cut-offs and the options of an evaluation. A
truth that is a list is one of groups. A measure without a k, such as bpref, has the one cut-off
None. Users without a relevant item score 0.
"""

from doors import by_words
from oracle import judgements as oracle

import toplist as tl


def by_oracle(name, lists, truths, ks, **options):
    """Return {k: {user: value}} of the twins."""
    return {
        k: {u: oracle.value(name, lists.get(u, []), row, k, **options) for u, row in truths.items()}
        for k in ks
    }


def by_toplist(name, lists, truths, ks, **options):
    """Return {k: {user: value}} of the library."""
    if any(isinstance(truth, list) for truth in truths.values()):
        truths = tl.Groups(truths)
    depths = None if list(ks) == [None] else list(ks)
    options = {"empty": "zero", "missing": "zero"} | options
    result = by_words(lists, truths, depths, metrics=[name], **options)
    # Parameters may be printed otherwise than they were written.
    columns = zip(ks, result.names(), strict=True)
    found = {k: result.per_user(printed).tolist() for k, printed in columns}
    return {k: dict(zip(result.users, values, strict=True)) for k, values in found.items()}
