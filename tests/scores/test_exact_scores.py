"""Scores of all items: integers compared as integers; relevance by its name."""

import re

import numpy as np
import pytest

from toplist import loo
from toplist import scores as tls

T = 1_700_000_000_000_000_000  # nanoseconds: beyond 2^53 neighbours are one float


def test_integer_scores_are_compared_as_integers():
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


@pytest.mark.parametrize("name", ["dcg", "ndcg"])
def test_relevance_is_named(name):
    function = getattr(tls, name)
    line = re.escape(f"scores.{name}(scores, relevance=relevance)")
    with pytest.raises(TypeError, match=f"keyword only, since sklearn.*reverse order.*{line}"):
        function([[3, 1]], [[1, 0]])
    with pytest.raises(TypeError, match="relevance=relevance, k=10"):
        function([[3, 1]], [[1, 0]], 2)
    with pytest.raises(TypeError, match="needs the grades"):
        function([[3, 1]])
