"""A check of lists that hold nothing but relevant items."""

from toplist import audit


def test_lists_of_nothing_but_relevant_items_are_found():
    truths = {user: [user, user + 1, user + 2] for user in range(40)}
    lists = {user: row[:2] for user, row in truths.items()}
    lists[7] = [7, 99]
    found = audit.check(lists, truths)
    assert found.counts["all_relevant"] == 39 and not found.ok
    assert "39 of 40 lists hold nothing but relevant items" in str(found)
    lists |= {1: [99], 2: [98]}
    assert audit.check(lists, truths).counts["all_relevant"] == 0
