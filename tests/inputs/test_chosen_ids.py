"""Ids of text and users that are chosen to collide are numbered exactly, and in time."""

import numpy as np
import pytest
from collisions import CHOSEN, PLAIN, colliding_texts, neighbouring_texts, not_quadratic
from shared_inputs import csv_of, frame_of

import toplist as tl

N = 7_500


@pytest.fixture(scope="module")
def texts():
    """Return plain texts, texts of one hash, of hashes that share 40 bits, and of one slot."""
    plain = [f"item-{number:011d}" for number in np.random.default_rng(0).permutation(N)]
    chosen = colliding_texts(N), colliding_texts(N, 40), neighbouring_texts(N)
    return plain, *chosen


def in_lists(ids, length):
    return [ids[i : i + length] for i in range(0, len(ids), 100)]


def of_table(ids):
    """Return the ranks of the hits where a table of Arrow has the texts, twice."""
    users = np.arange(len(ids)) // 100
    columns = {"user_id": users, "item_id": ids, "rank": np.arange(len(ids)) % 100 + 1}
    truth = {"user_id": users[::7], "item_id": ids[::7]}
    return tl.match(frame_of("pyarrow", columns), frame_of("pyarrow", truth)).ranks


TEXT_CASES = {
    "lists": lambda ids: tl.match(in_lists(ids, 100), in_lists(ids, 20)).ranks,
    "one list": lambda ids: tl.match(ids, set(ids[::7])).ranks,
    "a table": of_table,
}


@pytest.mark.parametrize("case", TEXT_CASES)
@pytest.mark.parametrize("which", [1, 2, 3])
def test_texts_chosen_to_collide(case, which, texts):
    not_quadratic(TEXT_CASES[case], texts[0], texts[which])


@pytest.mark.parametrize("which", [1, 2, 3])
def test_users_chosen_to_collide_also_of_a_file(texts, which, tmp_path):
    table = {"user_id": texts[which], "item_id": texts[0], "rank": [1] * N}
    truth = frame_of("pyarrow", {"user_id": texts[which][::-1], "item_id": texts[0][::-1]})
    hits = tl.match(frame_of("pyarrow", table), truth)
    assert hits.users == texts[which][::-1] and hits.ranks.tolist() == [1] * N
    if which == 3:  # the others have line ends
        quoted = ['"' + one.replace('"', '""') + '"' for one in texts[3]]
        path = csv_of(tmp_path / "t.csv", "user_id,item_id", *(f"u,{one}" for one in quoted * 2))
        assert tl.match({"u": texts[3]}, tl.files.read_truths(path)).n_relevant.tolist() == [N]


@pytest.mark.parametrize("n", [1_300, 15_000])
def test_a_table_that_gives_up_as_it_grows_keeps_its_ids(n, texts):
    """Ids that collide, each within the budget of its rows, then many that are far apart."""
    users = np.concatenate([np.repeat(CHOSEN[:n], 2), PLAIN[:65_000], CHOSEN[:n], -1 - PLAIN[:99]])
    columns = {"user_id": users, "item_id": np.arange(len(users)), "score": -np.arange(len(users))}
    found = tl.match(
        frame_of("polars", columns), {user: [] for user in dict.fromkeys(users.tolist())}
    )
    names, first, counts = np.unique(users, return_index=True, return_counts=True)
    expected = dict(zip(names.tolist(), counts.tolist(), strict=True))
    assert dict(zip(found.users, found.n_listed.tolist(), strict=True)) == expected
    assert len(first) == len(found)
    rows = [*texts[3][:1_500], *["7"] * n, *texts[0][:3_000], *texts[3][:1_500], *texts[0][:3_000]]
    ids = {"user_id": np.arange(len(rows)), "item_id": rows, "rank": [1] * len(rows)}
    lists = frame_of("pyarrow", ids)
    assert tl.match(lists, dict(enumerate(rows))).ranks.tolist() == [1] * len(rows)
    other = dict(enumerate([*rows[1:], rows[0]]))  # the next row's text
    apart = [one == two for one, two in zip(rows, other.values(), strict=True)]
    assert len(tl.match(lists, other).ranks) == sum(apart)


def test_many_distinct_texts_make_the_table_grow():
    rng, n = np.random.default_rng(0), 40_000
    strings = [f"item {i * 7919 % 16_000:04d} x" for i in range(n)]
    columns = {"user_id": np.arange(n) // 10, "item_id": strings, "rank": np.arange(n) % 10 + 1}
    truths = dict(enumerate(strings[3::10]))
    for order in (np.arange(n), rng.permutation(n)):
        table = {name: [one[at] for at in order] for name, one in columns.items()}
        assert tl.match(frame_of("pyarrow", table), truths).ranks.tolist() == [4] * (n // 10)


def test_long_texts_that_differ_at_their_end():
    long = [f"{'x' * 8_000}{n}" for n in range(300)]
    ids = {"user_id": np.arange(300), "item_id": long, "rank": [1] * 300}
    table = frame_of("pyarrow", ids)
    assert len(tl.match(table, dict(enumerate(long))).ranks) == 300
    assert len(tl.match(table, dict(enumerate(long[::-1]))).ranks) == 0
