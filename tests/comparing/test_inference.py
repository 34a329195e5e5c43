"""toplist.inference: bands, and the cautions of tests."""

import numpy as np
import pytest
from systems import results

import toplist as tl
from toplist import inference


def test_a_band_is_that_of_the_values_and_of_one_k_the_t_interval():
    compared = tl.compare({name: results()[name] for name in "ab"})
    found, test = compared.band("ndcg"), compared.test("ndcg@2")[0]
    a, b = (one.per_user("ndcg") for one in compared.results.values())
    same = inference.band(b, a, name="ndcg", names=("b", "a"))
    assert np.allclose(found.difference, same.difference) and np.allclose(found.low, same.low)
    assert (found.low[1], found.high[1]) == pytest.approx((test.low, test.high), rel=1e-9)
    assert np.all(found.low_all <= found.low) and np.all(found.high <= found.high_all)
    assert [*found.differ] == [1, 2, 3] and found.differ[2] == test.wins + test.losses
    assert repr(found).startswith("b - a ndcg") and "95 % at all k" in repr(found)
    # so is Tukey's test of two systems
    assert compared.tukey("ndcg@2")[0].p_adjusted == pytest.approx(test.p, abs=1e-6)


def test_cautions_go_by_the_users_who_differ_and_by_how_skewed_they_are():
    for differ, said in ((29, {"SKEWED", "FEW DIFFER"}), (99, {"SKEWED"}), (100, set())):
        far = np.where(np.arange(1000) < differ, 5.0, 0.0)
        a, b = far * (np.arange(1000) % 10 == 0) * (differ < 100) + (far > 0), np.zeros(1000)
        both = {"a": a, "b": b}
        assert {*inference.paired_tests(both, alternative="greater")[0].cautions} == said
        drawn = str(inference.paired_tests(both, method="bootstrap", n_resamples=99))
        liberal = "the bootstrap is liberal where fewer than 100 rows differ"
        assert (liberal in drawn) == (differ < 100)
        assert "liberal" not in str(inference.paired_tests(both))
    few = (np.arange(1000) < 29) * 1.0
    band = inference.band(np.stack([few, few], axis=1), np.zeros((1000, 2)))
    assert "FEW DIFFER: fewer than 30 rows differ (@1, @2)" in str(band)
