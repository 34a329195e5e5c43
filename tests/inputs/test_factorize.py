"""Integers are numbered in order of appearance, in bounded time whatever they are."""

import numpy as np
from collisions import CHOSEN, PLAIN

from toplist.inputs.factorize import Numbering
from toplist.kernels import grouping, hashing


def test_numbering_does_not_depend_on_the_table():
    plain, chosen = Numbering(), Numbering()
    rows = np.random.default_rng(3).integers(0, 90_000, 400_000)
    for part in np.split(rows, 4):
        assert np.array_equal(plain.number(PLAIN[part]), chosen.number(CHOSEN[part]))
    assert len(plain) == len(chosen)
    renamed = dict(zip(PLAIN.tolist(), CHOSEN.tolist(), strict=True))
    assert [renamed[code] for code in plain.codes.tolist()] == chosen.codes.tolist()
    assert np.array_equal(plain.find(PLAIN), chosen.find(CHOSEN))
    assert np.array_equal(Numbering().find(CHOSEN[:3]), [-1] * 3)


def test_look_ups_are_bounded_too():
    numbering = Numbering()
    numbering.number(CHOSEN[:60])  # within the budget: they stay in the table
    assert numbering._slow is None
    assert numbering.find(np.repeat(CHOSEN[59], 1_000_000)).tolist() == [59] * 1_000_000
    assert numbering._slow is not None  # 59 probes for each row are too many


def test_kernels_give_up_within_their_budget():
    for n in (1_000, 10_000, 100_000):
        ids, table = CHOSEN[:n], np.full(4 << n.bit_length(), -1)
        known, rows = np.empty((2, n), np.int64)
        assert grouping.number(ids, table, known, 0, rows) == -1
        entered = np.count_nonzero(table >= 0)
        most = hashing.most_probes_of_rows(n)
        assert entered * (entered - 1) / 2 <= most + entered


def test_a_table_that_gives_up_as_it_grows_keeps_its_integers():
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
