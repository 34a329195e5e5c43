"""Inputs chosen to be slow, interruptions, extreme numbers: nothing hangs, nothing is rounded."""

import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

import numpy as np
import pytest
from collisions import colliding_ids, colliding_texts, inverse, neighbouring_texts

import toplist as tl
from toplist import audit, beyond, loo, parallel, pointwise
from toplist import scores as tls
from toplist.checks import cached
from toplist.inputs.factorize import Numbering
from toplist.inputs.id_hashes import hashes_of
from toplist.inputs.texts import Spans, Texts, joined
from toplist.kernels import grouping, hashing, join
from toplist.kernels import texts as text_kernels
from toplist.loo.logs import instant, times_of

N = 100_000


def spent(function, *arguments):
    """Return the least time of three calls after a first one."""
    times = []
    for _ in range(4):
        start = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - start)
    return min(times[1:])


def not_quadratic(function, plain, chosen):
    """Check that chosen ids give what plain ones do, and that 4 x as many take no 16 x as long."""
    assert np.array_equal(function(chosen), function(plain))
    quarter = chosen[: len(chosen) // 4]
    assert any(  # three times, since other programs run beside
        spent(function, chosen) < 9 * spent(function, quarter) + 0.05 for _ in range(3)
    )


def mixed(ids):
    """Return ids in another order."""
    return ids[np.random.default_rng(1).permutation(len(ids))]


PLAIN = np.random.default_rng(0).permutation(1 << 20)[:N] * 9_973
CHOSEN = colliding_ids(N).view(np.int64)
SHUFFLED = np.random.default_rng(1).permutation(N)
KERNEL_CASES = {
    "a truth in one slot": lambda ids: tl.match(ids[:100].copy(), ids).ranks,
    "a list in the slot of the truth": lambda ids: tl.match(ids, mixed(ids)[::11].copy()).ranks,
    "a list for one item": lambda ids: tl.match(ids, ids[len(ids) // 2 :][:1].copy()).ranks,
    "short lists for one item": lambda ids: tl.match(
        ids.reshape(-1, 100), ids.reshape(-1, 100)[:, 50:51].copy()
    ).ranks,
    "nobody's items": lambda ids: tl.match(ids[::2].copy(), ids[1::2].copy()).ranks,
    "many short lists": lambda ids: tl.match(
        ids.reshape(-1, 100), ids.reshape(-1, 100)[:, :30]
    ).ranks,
    "a chain below the budget": lambda ids: tl.match(
        ids[::2].copy(), np.concatenate([ids[:400], -np.arange(1, len(ids) // 2)])
    ).ranks,
    "repeats in a truth": lambda ids: tl.match(ids, np.repeat(mixed(ids), 2)).ranks,
    "users of a log": lambda ids: loo.leave_one_out((ids, ids, np.arange(len(ids)))).report.n_users,
    "users of gauc": lambda ids: (
        pointwise.gauc(ids, np.arange(len(ids)) % 2, np.arange(len(ids))) is None
    ),
    "a catalogue": lambda ids: beyond.item_coverage(ids.reshape(-1, 100), k=100, catalogue=ids),
}  # fmt: skip


@pytest.mark.parametrize("case", KERNEL_CASES)
def test_b1_ids_chosen_to_collide_are_joined_in_time(case):
    not_quadratic(KERNEL_CASES[case], PLAIN, CHOSEN)


def test_b1_a_repeat_among_colliding_ids_is_found_and_named():
    ids = np.append(CHOSEN, CHOSEN[7])
    with pytest.raises(ValueError, match=f"item {CHOSEN[7]} at ranks 8 and {N + 1}"):
        tl.match(ids, CHOSEN[:3].copy())
    first = tl.match(ids, CHOSEN[[7, 5]], duplicates="first")
    assert first.ranks.tolist() == [6, 8]


def test_b1_grades_of_colliding_items_stay_with_them():
    rng = np.random.default_rng(2)
    grades = rng.integers(1, 5, N).astype(float)
    found = []
    for ids in (PLAIN, CHOSEN):
        truth = dict(zip(ids.tolist(), grades.tolist(), strict=True))
        found.append(tl.match(ids[SHUFFLED][:5_000], truth))
    assert np.array_equal(found[0].gains, found[1].gains)
    assert np.array_equal(found[1].gains, grades[SHUFFLED][:5_000])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_b1_users_of_a_frame(library):
    frames = pytest.importorskip(library)

    def evaluate(ids):
        lists = frames.DataFrame({"user_id": ids, "item_id": ids, "rank": np.ones(len(ids), int)})
        truth = frames.DataFrame({"user_id": ids[::-1], "item_id": ids})
        return tl.top_k_eval(lists, truth, k=1)["hit@1"]

    not_quadratic(evaluate, PLAIN, CHOSEN)


def test_b1_numbering_does_not_depend_on_the_table():
    plain, chosen = Numbering(), Numbering()
    rows = np.random.default_rng(3).integers(0, 90_000, 400_000)
    for part in np.split(rows, 4):
        assert np.array_equal(plain.number(PLAIN[part]), chosen.number(CHOSEN[part]))
    assert len(plain) == len(chosen)
    renamed = dict(zip(PLAIN.tolist(), CHOSEN.tolist(), strict=True))
    assert [renamed[code] for code in plain.codes.tolist()] == chosen.codes.tolist()
    assert np.array_equal(plain.find(PLAIN), chosen.find(CHOSEN))
    assert np.array_equal(Numbering().find(CHOSEN[:3]), [-1] * 3)


def test_b1_look_ups_are_bounded_too():
    numbering = Numbering()
    numbering.number(CHOSEN[:60])  # within the budget: they stay in the table
    assert numbering._slow is None
    assert numbering.find(np.repeat(CHOSEN[59], 1_000_000)).tolist() == [59] * 1_000_000
    assert numbering._slow is not None  # 59 probes for each row are too many


def test_b1_kernels_give_up_within_their_budget():
    for n in (1_000, 10_000, 100_000):
        ids, table = CHOSEN[:n], np.full(4 << n.bit_length(), -1)
        known, rows = np.empty((2, n), np.int64)
        assert grouping.number(ids, table, known, 0, rows) == -1
        entered = np.count_nonzero(table >= 0)
        most = hashing.most_probes_of_rows(n)
        assert entered * (entered - 1) / 2 <= most + entered


@pytest.mark.parametrize("n", [1, 5, 40, 3_000])
def test_b1_users_with_colliding_ids_among_others_are_joined_exactly(n):
    """Hits, repeats and gains of each user, whichever of the users are joined by sorting."""
    rng = np.random.default_rng(n)
    renamed = dict(zip(PLAIN.tolist(), CHOSEN.tolist(), strict=True))
    for seed in range(12):
        lists, truths = [], []
        for size in rng.integers(0, 2 * n, 6):
            drawn = PLAIN[rng.permutation(3 * n)[:size]]
            lists.append(np.append(drawn, drawn[: seed % 3]))
            truths.append(rng.choice(PLAIN[: 3 * n], size + seed % 2))
        of_user = [rng.random() < 0.6 for _ in lists]
        some = [
            [[renamed[one] for one in row.tolist()] if chosen else row for row, chosen in
             zip(rows, of_user, strict=True)]
            for rows in (lists, truths)
        ]  # fmt: skip
        duplicates = "first" if seed % 3 else "raise"
        plain, chosen = (
            tl.match(*map(in_lists, rows), duplicates=duplicates)
            for rows in ((lists, truths), some)
        )
        for name in ("offsets", "ranks", "n_relevant", "n_listed"):
            assert np.array_equal(getattr(chosen, name), getattr(plain, name))


def in_lists(rows):
    """Return ragged arrays as `Lists`."""
    sizes = np.array([len(row) for row in rows])
    ids = np.concatenate([np.asarray(row, np.int64) for row in rows])
    return tl.Lists(np.append(0, np.cumsum(sizes)), ids)


def test_b1_ids_in_any_order_of_their_own_are_joined_by_the_table():
    rows, shift = np.arange(N), np.uint64(64 - 20)
    for ids in (
        rows,
        rows * 1_000,
        rows << 40,
        rows**2,
        -rows,
        PLAIN,
        rows // 37 << 22 | rows % 37,
    ):
        slots, chain = np.zeros(1 << 20, np.int32), np.empty(N, np.int32)
        assert join._enter(ids, shift, slots, chain) == N
        numbering = Numbering()
        assert np.array_equal(numbering.number(ids), rows) and numbering._slow is None
    assert join._enter(CHOSEN, shift, np.zeros(1 << 20, np.int32), chain) == -1


def test_b1_fingerprints_of_colliding_ids_do_not_depend_on_their_order():
    truths = CHOSEN.reshape(-1, 100)
    whole, parts = tl.match(truths, truths), tl.match(truths[:, ::-1].copy(), truths[:, ::-1])
    single = sum(tl.match(row, row).fingerprints[0].total for row in truths) % 2**64
    assert whole.fingerprints == parts.fingerprints and whole.fingerprints[0].total == single


@pytest.fixture(scope="module")
def texts():
    """Return plain texts, texts of one hash, and texts whose hashes share 40 bits."""
    plain = [f"item-{number:011d}" for number in np.random.default_rng(0).permutation(20_000)]
    return plain, colliding_texts(20_000), colliding_texts(20_000, 40)


def read_twice(ids):
    """Return the codes of texts as the readers of files number them, in two blocks."""
    numbers = Texts()
    return np.concatenate([numbers.encode(joined(part)) for part in (ids[::2], ids)])


TEXT_CASES = {
    "numbered": lambda ids: Texts().encode(joined(ids * 2)),
    "numbered in files": read_twice,
    "lists": lambda ids: (
        tl.match(
            [ids[i : i + 100] for i in range(0, len(ids), 100)],
            [ids[i : i + 20] for i in range(0, len(ids), 100)],
        ).ranks
    ),
    "one list": lambda ids: tl.match(ids, set(ids[::7])).ranks,
}


@pytest.mark.parametrize("case", TEXT_CASES)
def test_b1_texts_chosen_to_collide(case, texts):
    for chosen in texts[1:]:
        not_quadratic(TEXT_CASES[case], texts[0], chosen)
    names = Texts()
    codes = names.encode(joined(texts[1]))
    assert list(names) == texts[1] and np.array_equal(codes, np.arange(len(names)))


def test_b1_texts_chosen_to_be_neighbours_in_the_table():
    plain = [f"item{number:08d}" for number in np.random.default_rng(0).permutation(20_000)]
    chosen = neighbouring_texts(20_000)
    not_quadratic(lambda ids: Texts().encode(joined(ids * 2)), plain, chosen)
    names = Texts()
    assert np.array_equal(names.encode(joined(chosen)), np.arange(20_000))
    assert list(names) == chosen and names._slow is not None


def test_b1_texts_of_a_dictionary_keep_their_words(texts):
    names = Texts()
    codes = names.encode(joined(texts[1]))
    assert names._slow is not None
    assert np.array_equal(names.hashes(codes), hashes_of(texts[1]))
    assert names.index(texts[1][7]) == 7 and texts[0][7] not in names
    assert names.encode(joined([texts[0][7], "", texts[1][7]])).tolist() == [20_000, 20_001, 7]
    assert names.decoded(np.array([20_001, 20_000, 7])) == ["", texts[0][7], texts[1][7]]
    lists = [texts[1][i : i + 100] for i in range(0, 20_000, 100)]
    one, other = tl.match(lists, lists), tl.match(lists, lists[::-1])
    assert one.fingerprints[0].total == other.fingerprints[0].total


def test_b1_a_table_of_a_file_that_grows_keeps_the_codes_of_its_texts():
    """Texts that collide and fit into the rows of a block, but not into a table of only them."""
    chosen, plain = neighbouring_texts(1_500), [f"item-{i}" for i in range(3_000)]
    rows = [*chosen, *["7"] * 100_000, *plain, *chosen, *plain]
    names = Texts()
    codes = names.encode(joined(rows))
    assert names._slow is not None
    assert len(names) == len(np.unique(codes)) == 4_501


def test_b1_long_texts_of_one_hash():
    n, length = 300, 8_000
    words = np.arange(1, n + 1, dtype=np.uint64)
    second = (np.full(n, length, np.uint64) * hashing.GOLDEN ^ words) * hashing.GOLDEN
    second ^= second >> np.uint64(32)  # what follows the first eight bytes undoes them
    text = np.zeros((n, length), np.uint8)
    text[:, :16] = np.stack([words, second], axis=1).view(np.uint8)
    starts = np.append(np.arange(n) * length, np.zeros(20_000, int))  # the rest is nothing
    ends = np.append(starts[:n] + length, np.zeros(20_000, int))
    names = Texts()
    codes = names.number(Spans(text.ravel(), starts, ends))
    assert len(np.unique(codes)) == len(names) == n + 1


def test_b1_look_ups_of_texts_are_bounded_too():
    chosen, names = neighbouring_texts(600), Texts()
    names.encode(joined(chosen + ["a"] * 20_000))  # within the budget: they stay in the table
    assert names._slow is None
    assert names.encode(joined(chosen[-2:] * 50_000)).tolist() == [598, 599] * 50_000
    assert names._slow is not None  # hundreds of probes for each row


def test_b1_a_table_that_gives_up_as_it_grows_keeps_its_integers():
    chain, far, numbering = CHOSEN[:2_200], -np.arange(1, 65_537), Numbering()
    for part in np.split(chain, [1_300, 1_800]):  # each within the budget of its rows
        numbering.number(np.append(part, np.repeat(part[0], 60_000)))
    numbering.number(PLAIN[:65_000])
    assert numbering._slow is None
    numbering.number(far)
    assert numbering._slow is not None
    expected = np.concatenate([chain, PLAIN[:65_000], far])
    assert np.array_equal(numbering.codes, expected)
    assert np.array_equal(numbering.find(expected), np.arange(len(expected)))


def test_b1_the_chosen_texts_do_collide(texts):
    hashes = np.empty((3, 20_000), np.int64)
    for row, given in zip(hashes, texts, strict=True):
        data = np.frombuffer(("\0".join(given) + "\0").encode(), np.uint8)
        text_kernels.hash_strings(data, np.flatnonzero(data == 0), row)
    distinct = [len(np.unique(row)) for row in hashes]
    assert distinct[:2] == [20_000, 1] and distinct[2] > 19_000
    assert len(np.unique(hashes[2].view(np.uint64) << np.uint64(24))) == 1


SLOW = """
import sys, time, numpy as np
from toplist import parallel
def block(lo, hi):
    time.sleep(0.05)
    return lo
print("ready", flush=True)
blocks = [(i, i + 1) for i in range(10_000)]
if sys.argv[1] == "inside":
    for _ in parallel.run(block, blocks, 2):
        pass
else:
    running = parallel.run(block, blocks, 2)
    next(running)
    time.sleep(60)
"""
EVALUATION = """
import sys, numpy as np, toplist as tl
rng = np.random.default_rng(0)
lists = rng.integers(0, 2**60, (20_000, 100))
truth = lists[:, ::5].copy()
tl.top_k_eval(lists[:10], truth[:10], k=50, n_threads=int(sys.argv[1]))
print("ready", flush=True)
while True:
    tl.top_k_eval(lists, truth, k=50, n_threads=int(sys.argv[1]))
"""


@pytest.mark.parametrize(
    ("code", "argument"),
    [(SLOW, "inside"), (SLOW, "outside"), (EVALUATION, "1"), (EVALUATION, "2")],
    ids=["waiting", "in the caller", "one thread", "two threads"],
)
def test_ctrl_c_ends_an_evaluation_at_once(code, argument):
    # the best of three, since other work may hold the cores of the machine
    assert any(seconds_to_end(code, argument) < 2 for _ in range(3))


def seconds_to_end(code, argument):
    """Run code, press Ctrl-C, and return how long it took to end, which it must."""
    with subprocess.Popen(
        [sys.executable, "-c", code, argument],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        start = time.perf_counter()
        process.send_signal(signal.SIGINT)
        error = process.communicate(timeout=30)[1]
    took = time.perf_counter() - start
    assert "KeyboardInterrupt" in error and process.returncode != 0
    return took


def test_blocks_that_wait_are_cancelled_by_an_error():
    done = []

    def block(lo, hi):
        done.append(lo)
        time.sleep(0.002)
        if lo == 3:
            raise ValueError("three")

    with pytest.raises(ValueError, match="three"):
        list(parallel.run(block, [(i, i + 1) for i in range(1_000)], 2))
    assert len(done) < 40


@pytest.mark.parametrize("started", [0, 1])
def test_b4_without_a_thread_the_work_goes_on_in_this_one(monkeypatch, started):
    start, left = threading.Thread.start, [started]

    def scarce(self):
        if left[0] == 0:
            raise RuntimeError("can't start new thread")
        left[0] -= 1
        start(self)

    monkeypatch.setattr(threading.Thread, "start", scarce)
    blocks = [(i, i + 1) for i in range(50)]
    assert list(parallel.run(lambda lo, hi: lo, blocks, 4)) == list(range(50))
    left[0] = started
    assert list(parallel.ahead(lambda step: -step, range(9), 2)) == [-step for step in range(9)]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_b4_a_memory_error_passes_through(n_threads):
    def block(lo, hi):
        raise MemoryError

    with pytest.raises(MemoryError):
        list(parallel.run(block, [(0, 1), (1, 2)], n_threads))


FORKS = """
import os, sys, threading, time, warnings
warnings.simplefilter("ignore")
import numpy as np, toplist as tl
from toplist.checks import cached

class Result:
    @cached
    def total(self):
        time.sleep(0.001)
        return 7

rng = np.random.default_rng(0)
lists = rng.permuted(np.tile(np.arange(200), (500, 1)), axis=1)[:, :20]
truth = lists[:, ::3].copy()

def evaluate():
    result = tl.top_k_eval(lists, truth, k=20, n_threads=1) if sys.argv[2] == "whole" else None
    return Result().total if result is None else (result["ndcg@10"], result.std("map@5"))

evaluate()
stop = []
def work():
    while not stop:
        evaluate()

threads = [threading.Thread(target=work) for _ in range(4)]
[thread.start() for thread in threads]
hung = 0
for _ in range(int(sys.argv[1])):
    time.sleep(0.01)
    child = os.fork()
    if child == 0:
        evaluate()
        os._exit(0)
    end = time.time() + 10
    while time.time() < end and os.waitpid(child, os.WNOHANG) == (0, 0):
        time.sleep(0.005)
    if time.time() >= end:
        hung += 1
        os.kill(child, 9)
        os.waitpid(child, 0)
        break
stop.append(True)
print(hung)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_b2_a_child_forked_while_others_compute_does_not_hang():
    command = [sys.executable, "-c", FORKS, "8", "cached"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "0\n"


def test_b2_cached_is_computed_once_and_works_on_frozen_dataclasses():
    @dataclass(frozen=True)
    class One:
        x: int

        @cached
        def twice(self):
            """Twice x."""
            return [2 * self.x]

    one = One(3)
    assert one.twice is one.twice and one.twice == [6]
    assert One.twice.__doc__ == "Twice x." and pickle.loads(pickle.dumps([6])) == one.twice


T = 1_700_000_000_000_000_000


def test_a4_integer_scores_are_compared_as_integers():
    for dtype, low in ((np.int64, T), (np.uint64, 2**63 + 5), (np.int64, -(2**63))):
        scores = np.array([[low, low + 100, low + 1]], dtype)
        assert tls.top_k(scores, 3)[0].tolist() == [1, 2, 0]
        assert tls.dcg(scores, relevance=[[0, 1, 0]]).tolist() == [[1, 1, 1]]
        assert tls.ndcg(scores, relevance=[[0, 0, 1]], k=1).tolist() == [[0]]
        assert loo.ranks_of(scores, [2], ties="order").tolist() == [2]
        assert loo.sampled_ranks(scores, [0], n=2).ranks.tolist() == [3]
    assert tls.top_k([[2**53 + 1, 2**53]], 2)[0].tolist() == [0, 1]
    assert tls.top_k([[2**63, -1, 2**63 + 1]], 3)[0].tolist() == [2, 0, 1]
    assert tls.top_k([[2**80, 2**80 + 1, 0.5]], 3)[0].tolist() == [1, 0, 2]
    assert tls.top_k([[2**53, 2**53 + 1, -np.inf]], 3)[0].tolist() == [1, 0]


def test_a4_integers_order_lists_of_a_table():
    scores = np.array([T, T + 100, T + 1, -(2**63), 2**63 - 1, 0])
    offsets, items = np.array([0, 3, 6]), np.arange(6)
    assert not grouping.scores_in_order(scores, offsets, False)
    assert grouping.sort_by_score(offsets, scores, items) == -1
    assert items.tolist() == [1, 2, 0, 4, 5, 3]
    assert grouping.scores_in_order(scores[items], offsets, False)


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_e_ties_keep_the_order_of_the_table_in_long_lists(dtype):
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 4, 600).astype(dtype)
    offsets, items = np.array([0, 100, 600]), np.arange(600)
    grouping.sort_by_score(offsets, scores, items)
    expected = [
        *sorted(range(100), key=lambda i: -scores[i]),
        *sorted(range(100, 600), key=lambda i: -scores[i]),
    ]
    assert items.tolist() == expected


@pytest.mark.parametrize("grouped", [True, False])
def test_e_ties_of_long_lists_in_frames_and_streams(tmp_path, grouped):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    users, items = np.repeat(np.arange(3), 200), np.tile(np.arange(200), 3)
    order = np.arange(600) if grouped else rng.permutation(600)
    frame = pandas.DataFrame(
        {"user_id": users, "item_id": items, "score": rng.integers(0, 3, 600)}
    ).iloc[order]
    wanted = frame.sort_values("score", ascending=False, kind="stable")
    lists = {user: part["item_id"].tolist() for user, part in wanted.groupby("user_id")}
    truth = {user: [5, 50, 150, 199] for user in range(3)}
    expected = tl.top_k_eval(lists, truth, k=200).per_user("map")
    pairs = [(user, item) for user, row in truth.items() for item in row]
    truths = pandas.DataFrame(pairs, columns=["user_id", "item_id"])
    assert np.array_equal(tl.top_k_eval(frame, truths, k=200).per_user("map"), expected)
    if grouped:
        frame.to_csv(tmp_path / "lists.csv", index=False)
        truths.to_csv(tmp_path / "truth.csv", index=False)
        found = tl.top_k_eval(tmp_path / "lists.csv", tmp_path / "truth.csv", k=200)
        assert found["map"].tolist() == tl.top_k_eval(lists, truth, k=200)["map"].tolist()


Y2020 = "2020-01-01T00:00:00"
ROWS = [1, 1, 1], ["a", "b", "c"]


@pytest.mark.parametrize(
    "times",
    [
        np.array([T, T + 100, T + 50]),
        np.array([2**63 + 1, 2**63 + 3, 2**63 + 2], np.uint64),
        np.array([T, T + 100, T + 50]).view("datetime64[ns]"),
        [f"2020-01-01T00:00:00.000000{digit}" for digit in (1, 3, 2)],
        ["1e3", "1.002e3", "1001"],
    ],
    ids=str,
)  # fmt: skip
def test_a10_times_are_compared_exactly(times):
    for seed in range(8):  # ties would fall at random
        split = loo.leave_one_out((*ROWS, times), validation=True, seed=seed)
        assert (split.truths(), split.truths("validation")) == ({1: ["b"]}, {1: ["c"]})
        assert split.report.n_tied == 0


def test_a10_ties_stay_ties():
    same = ["2020-01-01T00:00:00.100", "2020-01-01 00:00:00.1", "2020-01-01T00:00:00.1000000"]
    assert loo.leave_one_out((*ROWS, same)).report.n_tied == 1
    assert loo.leave_one_out((*ROWS, ["1.0", "1", "10e-1"])).report.n_tied == 1


@pytest.mark.parametrize(
    ("times", "threshold", "expected"),
    [
        (np.array([2**53, 2**53 + 1, 5]), 2.0**53, "ab"),
        (np.array([0.1, 0.2, 0.3]), "0.3", "c"),
        (np.array([50, 51, 40]).view("datetime64[Y]"), "2020-01-02", "b"),
        (np.array([2**63 + 1, 2**63 + 3, 0], np.uint64), 2**63 + 2, "b"),
        (np.array([T, T + 1, 0]).view("datetime64[ns]"), np.datetime64(T + 1, "ns"), "b"),
        (np.array([600, 601, 0]).view("datetime64[M]"), "2020-02-01", "b"),
        (["2020-01-01", f"{Y2020}.0000001", "2019-01-01"], f"{Y2020}.00000005", "b"),
        ([5, 2**63 - 1, 0], 2**63 - 1, "b"),
        ([1, 2, 3], 2**90, ""),
        ([1, 2, 3], -(2**90), "abc"),
    ],
)  # fmt: skip
def test_a10_thresholds_compare_exactly(times, threshold, expected):
    truths = loo.holdout((*ROWS, times), time=threshold).truths()
    assert truths == ({1: list(expected)} if expected else {})


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([2**80, 1], f"row 0: timestamp {2**80} is beyond 64 bits"),
        ([2**63, -1], f"row 0: timestamp {2**63} is beyond 63 bits beside negative ones"),
        ([0.5, 2**53 + 1], f"row 1: timestamp {2**53 + 1} is beyond 53 bits beside decimals"),
        (["2020-01-01", "9999-12-31"], "row 1: timestamp '9999-12-31'.* from 1677-09-22 to 2262"),
        (["2020-01-01T00:00:00.0000000001"], "row 0: timestamp '2020.*kept in nanoseconds"),
        (np.array([0, 8_000]).view("datetime64[Y]"), "row 1: timestamp '9970'.*nanoseconds"),
        (np.array([1, 1_000]).view("datetime64[ps]"), "row 0: timestamp '1970.*nanoseconds"),
    ],
)
def test_a10_times_that_64_bits_do_not_hold_are_refused(times, message):
    with pytest.raises(ValueError, match=message):
        times_of(times)


def test_a10_months_of_any_year_begin_where_numpy_says():
    months = np.arange(-3_500, 3_500, 7).view("datetime64[M]")
    days = months.astype("datetime64[D]")
    times = times_of(months)
    for threshold in ("1970-01-01", "1969-12-31T23:59:59.9", "1904-02-29", "2200-03-01"):
        expected = days.astype("datetime64[ms]") >= np.datetime64(threshold, "ms")
        assert np.array_equal(times.since(instant(threshold)), expected)


@pytest.mark.parametrize(
    "text", ["1_000", "１", "٣", "0x10", "inf", "1e", ".", "2020-1-1", "2020-01-01T12:30.5", True]
)
def test_a10_what_is_no_plain_number_or_date_is_refused_with_its_row(text):
    with pytest.raises(ValueError, match=re.escape(f"row 1: timestamp {text!r} is neither")):
        loo.leave_one_out(([1, 1], [5, 6], ["3", text]))


def test_a16_items_beside_a_heavy_one_can_be_drawn():
    held = np.full(3_000, 3)
    drawn = loo.negatives(held, 2, n_items=4, popularity=[1e300, 1, 2, 0])
    assert np.all(drawn[:, 0] == 0)
    assert 0.62 < np.mean(drawn[:, 1] == 2) < 0.71
    drawn = loo.negatives(held, 3, n_items=4, popularity=[1.7e308, 1.7e308, 5e-324, 0])
    assert 0.45 < np.mean(drawn[:, 0] == 0) < 0.55 and np.all(drawn[:, 2] == 2)


@pytest.mark.parametrize("name", ["dcg", "ndcg"])
def test_a18_relevance_is_named(name):
    function = getattr(tls, name)
    line = re.escape(f"scores.{name}(scores, relevance=relevance)")
    with pytest.raises(TypeError, match=f"keyword only, since sklearn.*reverse order.*{line}"):
        function([[3, 1]], [[1, 0]])
    with pytest.raises(TypeError, match="relevance=relevance, k=10"):
        function([[3, 1]], [[1, 0]], 2)
    with pytest.raises(TypeError, match="needs the grades"):
        function([[3, 1]])


def test_a19_lists_of_nothing_but_relevant_items_are_found():
    truths = {user: [user, user + 1, user + 2] for user in range(40)}
    lists = {user: row[:2] for user, row in truths.items()}
    lists[7] = [7, 99]
    found = audit.check(lists, truths)
    assert found.counts["all_relevant"] == 39 and not found.ok
    assert "39 of 40 lists hold nothing but relevant items" in str(found)
    lists |= {1: [99], 2: [98]}
    assert audit.check(lists, truths).counts["all_relevant"] == 0


def test_e_an_item_twice_and_then_another_of_the_same_place():
    back = inverse(hashing.GOLDEN)
    same, other, *rest = (np.uint64(t * back % 2**64).astype(np.int64).item() for t in (1, 2, 3, 4))
    for row in ([same, same, other], [same, *rest, same, other]):
        with pytest.raises(ValueError, match=f"item {same} at ranks 1 and"):
            tl.match([row], [[5]])


def test_e_gains_of_leave_one_out_belong_to_their_users_in_every_block():
    n, length = 40_000, 60
    lists = np.tile(np.arange(length), (n, 1))
    grades = np.arange(n) % 7 + 1.0
    hits = tl.match(
        list(lists), [{user % length: grade} for user, grade in enumerate(grades.tolist())]
    )
    assert len(parallel.bounds(hits.offsets + np.arange(n + 1) * length)) > 2
    assert np.array_equal(hits.gains, grades)


def test_e_a_share_is_taken_in_exact_arithmetic():
    log = [1] * 100, list(range(100)), list(range(100))
    assert loo.holdout(log, 0.29).report.rows["test"] == 29
