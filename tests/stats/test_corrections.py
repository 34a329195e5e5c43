"""Corrections of p for several comparisons, against statsmodels and by what must hold."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from toplist.stats.simultaneous import adjust

NAN, INF = math.nan, math.inf

P_VALUES = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.05, 1.0])), max_size=9)


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(P_VALUES)
def test_corrections_agree_with_statsmodels(p):
    tests = pytest.importorskip("statsmodels.stats.multitest")
    assume(p)
    for method, name in {"holm": "holm", "bonferroni": "bonferroni", "bh": "fdr_bh"}.items():
        expected = tests.multipletests(p, method=name)[1]
        np.testing.assert_allclose(adjust(p, method), expected, rtol=1e-12, atol=1e-300)


@given(P_VALUES, st.lists(st.integers(0, 9)))
@settings(deadline=None)
def test_corrections_keep_the_order_and_ignore_nan(p, places):
    none, holm, bh, bonferroni = (adjust(p, m) for m in ("none", "holm", "bh", "bonferroni"))
    order = np.argsort(p, kind="stable")
    for adjusted in (none, holm, bh, bonferroni):
        assert (np.diff(adjusted[order]) >= 0).all() and (adjusted <= 1).all()
    assert (none <= bh).all() and (bh <= holm).all() and (holm <= bonferroni).all()
    assert none.tolist() == p
    gaps = np.array(p)
    for place in places:
        gaps = np.insert(gaps, min(place, len(gaps)), NAN)
    for method, adjusted in {"holm": holm, "bh": bh, "bonferroni": bonferroni}.items():
        got = adjust(gaps, method)
        assert (np.isnan(got) == np.isnan(gaps)).all()
        assert got[~np.isnan(got)].tolist() == adjusted.tolist()


def test_corrections_keep_shape_and_input():
    p = np.array([[0.01, 0.04], [NAN, 0.03]])
    kept = p.copy()
    np.testing.assert_allclose(adjust(p), [[0.03, 0.06], [NAN, 0.06]])
    np.testing.assert_array_equal(p, kept)
    assert adjust([], "holm").shape == (0,) and adjust([], "holm").dtype == np.float64
    assert np.isnan(adjust([NAN], "bh")).all()


def test_corrections_that_do_not_exist():
    with pytest.raises(ValueError, match="'x': choose from 'holm', 'bh', 'bonferroni', 'none'"):
        adjust([0.1], "x")
    for p in (-0.1, 1.5, INF):
        with pytest.raises(ValueError, match=f"p values lie between 0 and 1, not {p}"):
            adjust([0.1, p, NAN], "none")
