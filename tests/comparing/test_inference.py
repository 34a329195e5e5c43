"""toplist.inference: the cases of the specification, bands, draws."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from systems import results

import toplist as tl
from toplist import inference

STATS = Path(__file__).resolve().parents[3] / "shared" / "stats"
CASES = STATS / "cases.json"


def cases(end_to_end):
    """Mark a test to run once per case of the specification, of one kind."""
    found = json.loads(CASES.read_text())["cases"] if CASES.exists() else []
    chosen = [one for one in found if (one["method"] == "end_to_end") == end_to_end]
    lacking = pytest.mark.skip("needs ../shared, which stands beside the repository")
    return pytest.mark.parametrize(
        "case",
        [pytest.param(one, id=one["id"]) for one in chosen] or [pytest.param(None, marks=lacking)],
    )


@pytest.fixture(scope="module")
def checker():
    """Return the functions that run a case, and the public names they run it with."""
    sys.path.insert(0, str(STATS))
    try:
        yield importlib.import_module("check_cases"), importlib.import_module("adapter")
    finally:
        sys.path.remove(str(STATS))


@cases(end_to_end=False)
def test_the_cases_of_the_specification(case, checker):
    check, public = checker
    data = json.loads(CASES.read_text())["datasets"]
    got, bad = check.run(case, data, public), []
    for key, expected in case["expected"].get("rejected_at_05", {}).items():
        assert int((np.asarray(got[key]) <= 0.05).sum()) == expected
    check.compare(case, got, case["expected"], [], bad)
    assert not bad


@cases(end_to_end=True)
def test_the_cases_end_to_end(case, retrieved):
    compared = tl.compare(retrieved, baseline=case["inputs"]["b"])
    name, expected = case["inputs"]["name"], case["expected"]
    found = compared.test(name, correction="none")[case["inputs"]["a"], name]
    renamed = {"mean_a": "mean", "mean_b": "baseline_mean", "t": "statistic"}
    for key, value in expected.items():
        if key in ("p_greater", "p_less"):
            one = compared.test(name, correction="none", alternative=key[2:])[0]
            assert one.p == pytest.approx(value, rel=1e-9)
        else:
            assert getattr(found, renamed.get(key, key)) == pytest.approx(value, rel=1e-9)


def test_a_band_is_that_of_the_values_and_of_one_k_the_t_interval():
    compared = tl.compare({name: one for name, one in results().items() if name != "c"})
    found = compared.band("ndcg")
    a, b = (one.per_user("ndcg") for one in list(results().values())[:2])
    same = inference.band(a, b, name="ndcg", names=("a", "b"))
    assert np.allclose(found.difference, same.difference) and np.allclose(found.low, same.low)
    test = compared.test("ndcg@2")[0]
    assert (found.low[1], found.high[1]) == pytest.approx((test.low, test.high), rel=1e-9)
    assert np.all(found.low_all <= found.low) and np.all(found.high <= found.high_all)
    assert repr(found).startswith("a - b ndcg") and "95 % at all k" in repr(found)
    alone = inference.band(a[:, :1], b[:, :1])
    assert alone.critical * alone.error[0] == pytest.approx(alone.high[0] - alone.difference[0])


def test_no_other_library_is_loaded():
    code = (
        "import sys, toplist as tl\n"
        "from toplist.comparing.pairwise import METHODS\n"
        "for method in METHODS:\n"
        "    tl.paired_tests({'a': [1.0, 2, 4], 'b': [0.0, 1, 1]}, method=method)\n"
        "assert not {'scipy.stats', 'statsmodels', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=600)


@pytest.mark.parametrize(
    "options",
    [{"seed": -1}, {"seed": 2**64}, {"seed": 1.5}, {"n_resamples": 98}, {"n_resamples": 99.5}],
)
def test_seeds_and_resamples_are_checked_alike_everywhere(options):
    systems = {"a": [0.0, 1.0, 2.0], "b": [1.0, 1.0, 4.0]}
    with pytest.raises(ValueError, match="seed must be|n_resamples must be"):
        tl.paired_tests(systems, **options)  # of the t test too, which draws nothing
    with pytest.raises(ValueError, match="seed must be|n_resamples must be"):
        inference.tukey(systems, method="randomization", **options)


def test_anova_and_tukey(retrieved):
    compared = tl.compare(retrieved)
    assert compared.anova("ndcg@10").p_systems < 1e-20  # of two systems: the paired t test
    t = compared.test("ndcg@10")[0]
    assert compared.anova("ndcg@10").f_systems == pytest.approx(t.statistic**2)
    assert compared.tukey("ndcg@10")[0].p_adjusted == pytest.approx(t.p, abs=1e-6)
