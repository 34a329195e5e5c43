"""Objects of other libraries, as they are: the same results, bit for bit, as plain lists.

What a library itself makes is tested where it is installed. Stand-ins have the names by which
toplist knows the real class, and no more.
"""

import math

import numpy as np
import pytest
from test_forms import csr

import toplist as tl


def library(name):
    return pytest.importorskip(name)


# tensors of bfloat16, and what to leave out


class Narrow:
    """Stands in for a tensor of torch: numpy cannot read its bfloat16, nor what has gradients."""

    def __init__(self, values, dtype="torch.bfloat16", gradients=True):
        self._values, self.dtype, self._gradients = np.array(values), dtype, gradients
        self.shape, self.ndim = self._values.shape, self._values.ndim

    def detach(self):
        return Narrow(self._values, self.dtype, gradients=False)

    def cpu(self):
        return self

    def float(self):
        return Narrow(self._values.astype(np.float32), "torch.float32", self._gradients)

    def __array__(self, dtype=None, copy=None):
        if self._gradients or self.dtype != "torch.float32":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self._values


def torch_narrow(values):
    torch = library("torch")
    return torch.tensor(values, dtype=torch.bfloat16, requires_grad=True)


def jax_narrow(values):
    return np.array(values).astype(library("ml_dtypes").bfloat16)


SCORES = [[0.5, 0.25, 2.0, 1.0], [-1.0, 3.0, 0.125, -math.inf]]  # exact in 16 bits


@pytest.mark.parametrize("make", [Narrow, torch_narrow])
def test_scores_of_16_bits(make):
    scores = make(SCORES)
    assert tl.scores.top_k(scores, 3).items.tolist() == tl.scores.top_k(SCORES, 3).items.tolist()
    relevance = np.array([[1, 0, 2, 0], [0, 0, 1, 1]])
    expected = tl.scores.ndcg(np.array(SCORES), relevance=relevance)
    assert np.array_equal(tl.scores.ndcg(scores, relevance=relevance), expected)
    assert tl.loo.ranks_of(scores, [0, 0]).tolist() == [3, 3]
    drawn = [tl.loo.sampled_ranks(one, [0, 0], n=2).ranks for one in (scores, np.array(SCORES))]
    assert np.array_equal(*drawn)


def test_scores_of_numpys_extension_types():
    from toplist.inputs.tensors import array

    class OfJax:
        def __array__(self, dtype=None, copy=None):
            return jax_narrow(SCORES)

    assert array(OfJax()).dtype == np.float32
    assert np.array_equal(array(OfJax()), np.float32(SCORES))


def test_exclude_takes_sparse_matrices_and_tensors():
    scores = np.random.default_rng(3).random((3, 10))
    seen = [[1, 2], [], [9, 0, 4]]
    expected = tl.scores.top_k(scores, 10, exclude=seen).items.tolist()
    matrix = csr(seen)
    for kind in ("csr_matrix", "csc_matrix", "coo_matrix", "lil_matrix", "dok_matrix", "csr_array"):
        sparse = getattr(library("scipy.sparse"), kind)(matrix)
        assert tl.scores.top_k(scores, 10, exclude=sparse).items.tolist() == expected
    disliked = matrix * -2.0  # seen as well
    assert tl.scores.top_k(scores, 10, exclude=disliked).items.tolist() == expected
    held = [5, 5, 5]
    ranks = tl.loo.ranks_of(scores, held, exclude=matrix)
    assert ranks.tolist() == tl.loo.ranks_of(scores, held, exclude=seen).tolist()
    drawn = tl.loo.negatives(held, 3, n_items=10, exclude=matrix)
    assert np.array_equal(drawn, tl.loo.negatives(held, 3, n_items=10, exclude=seen))
    with pytest.raises(ValueError, match=r"sparse matrix of shape \(3, 10\): \(1, 10\), users x"):
        tl.scores.top_k(scores[:1], 10, exclude=matrix)


def test_exclude_takes_tensors():
    torch = library("torch")
    scores, seen = np.random.default_rng(3).random((2, 5)), [[1, 2], [0]]
    expected = tl.scores.top_k(scores, 5, exclude=seen).items.tolist()
    flags = torch.zeros((2, 5), dtype=torch.bool)
    flags[0, 1] = flags[0, 2] = flags[1, 0] = True
    for given in (flags, [torch.tensor(row) for row in seen]):
        assert tl.scores.top_k(scores, 5, exclude=given).items.tolist() == expected
