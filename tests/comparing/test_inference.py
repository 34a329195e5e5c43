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
# By formulas that allow for few units and few runs, and take the variance of users in runs once,
# with numpy's matrices and scipy.
FIELDS = "error", "df", "t", "p", "low", "high"
CHANGED = {
    "clusters retail ndcg@10": "0.007344119903165123 18.74319165642254 2.4508189641043567 "
    "0.024253546529934243 0.002613421590884695 0.03338479507578198",
    "weights retail ndcg@10": "0.009809883302839056 122.13093984311125 3.013298073633707 "
    "0.0031426957545677785 0.010140667206146401 0.04897953771188639",
    "runs retail": "0.010443880333545862 63.897633363287405 0.11736740291574588 "
    "0.9080507561849733 -0.021469545825463447 0.023921088047685668",
    "runs paired retail": "0.009505474360760924 119.0 0.1250799696385976 "
    "0.9006712975064824 -0.017632844162962874 0.020010733051851762",
}
DECIDED = {
    name: dict(zip(FIELDS, map(float, row.split()), strict=True)) for name, row in CHANGED.items()
}
DECIDED["clusters retail ndcg@10"]["n_clusters"] = 1 + 18.74319165642254  # the adapter's: df + 1
# Decided since: differences that are all the same have the p of sign flips, and no interval.
DECIDED["constant difference"] = {"p": 2**-5, "low": None, "high": None}


# Of the specification, but no part of the package any more.
GONE_METHODS = "anova", "randomized_tukey"
GONE = {"g_z", "glass", "d_av", "superiority", "skewness", "effect", "p_single_step"}


def without_gone(expected):
    """Return the numbers of a case that the package still has."""
    gone = GONE | ({"critical"} if "p_single_step" in expected else set())
    found = {key: one for key, one in expected.items() if key not in gone}
    return {key: without_gone(one) if isinstance(one, dict) else one for key, one in found.items()}


def cases(end_to_end):
    """Mark a test to run once per case of the specification, of one kind."""
    found = json.loads(CASES.read_text())["cases"] if CASES.exists() else []
    found = [one for one in found if one["method"] not in GONE_METHODS]
    chosen = [one for one in found if (one["method"] == "end_to_end") == end_to_end]
    lacking = pytest.mark.skip("needs ../shared, which stands beside the repository")
    return pytest.mark.parametrize(
        "case",
        [pytest.param(one, id=one["id"]) for one in chosen] or [pytest.param(None, marks=lacking)],
    )


def effects_of(a, b):
    """Return the comparison of a case by the names of its fields."""
    return vars(inference.paired_tests({"a": a, "b": b}, baseline="b", correction="none")[0])


def maxt_of(method, n_resamples):
    """Return a function that tests the columns of a case together, against 0."""

    def found(columns):
        systems = {f"column {i}": column for i, column in enumerate(columns)}
        systems["0"] = np.zeros(len(columns[0]))
        how = {"method": method, "correction": "maxt", "n_resamples": n_resamples}
        rows = inference.paired_tests(systems, baseline="0", **how)
        fields = {"t": "statistic", "p_raw": "p", "p_step_down": "p_adjusted"}
        return {key: [getattr(one, name) for one in rows] for key, name in fields.items()}

    return found


def tukey_of(values, names):
    """Return Tukey's test of a case, by pair."""
    systems = dict(zip(names or map(str, range(len(values))), values, strict=True))
    return {
        f"{one.system} - {one.baseline}": vars(one) | {"q": one.statistic, "p": one.p_adjusted}
        for one in inference.tukey(systems)
    }


@pytest.fixture(scope="module")
def checker():
    """Return the functions that run a case, and the public names they run it with."""
    sys.path.insert(0, str(STATS))
    try:
        adapter = importlib.import_module("adapter")
        adapter.tl = inference  # which has paired_tests
        adapter.effects, adapter.tukey_hsd = effects_of, tukey_of
        adapter.maxt_randomization = maxt_of("randomization", 10_000)
        adapter.maxt_t = maxt_of("t", 100_000)
        yield importlib.import_module("check_cases"), adapter
    finally:
        sys.path.remove(str(STATS))


@cases(end_to_end=False)
def test_the_cases_of_the_specification(case, checker):
    check, public = checker
    data = json.loads(CASES.read_text())["datasets"]
    got, bad = check.run(case, data, public), []
    wanted = without_gone(case["expected"])
    for key, expected in wanted.get("rejected_at_05", {}).items():
        assert int((np.asarray(got[key]) <= 0.05).sum()) == expected
    check.compare(case, got, wanted | DECIDED.get(case["id"], {}), [], bad)
    assert not bad


@cases(end_to_end=True)
def test_the_cases_end_to_end(case, retrieved):
    compared = tl.compare(retrieved, baseline=case["inputs"]["b"])
    name, expected = case["inputs"]["name"], without_gone(case["expected"])
    found = compared.test(name, correction="none")[case["inputs"]["a"], name]
    renamed = {"mean_a": "mean", "mean_b": "baseline_mean", "t": "statistic"}
    for key, value in expected.items():
        if key in ("p_greater", "p_less"):
            one = compared.test(name, correction="none", alternative=key[2:])[0]
            assert one.p == pytest.approx(value, rel=1e-9)
        else:
            assert getattr(found, renamed.get(key, key)) == pytest.approx(value, rel=1e-9)


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
    alone = inference.band(a[:, :1], b[:, :1])
    assert alone.critical * alone.error[0] == pytest.approx(alone.high[0] - alone.difference[0])
    # so is Tukey's test of two systems
    assert compared.tukey("ndcg@2")[0].p_adjusted == pytest.approx(test.p, abs=1e-6)


def test_no_other_library_is_loaded():
    code = (
        "import sys, toplist as tl\n"
        "from toplist.comparing.contrasts import METHODS\n"
        "for method in METHODS:\n"
        "    tl.inference.paired_tests({'a': [1.0, 2, 4], 'b': [0.0, 1, 1]}, method=method)\n"
        "assert not {'scipy.stats', 'statsmodels', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=600)


def test_equivalence_of_runs_prints_the_margins_p_for_these_models():
    rng = np.random.default_rng(0)
    a, b = [rng.random(600) * 0.1 + 0.02 for _ in range(5)], [rng.random(600) * 0.1] * 5
    tests = inference.equivalence({"a": a, "b": b}, baseline="b", margin=0.01, runs="independent")
    assert tests[0].p_users > 0.99 and "for these trained models p 1.000" in str(tests)


def test_cautions_go_by_the_users_who_differ_and_by_how_skewed_they_are():
    for differ, said in ((29, {"SKEWED", "FEW DIFFER"}), (99, {"SKEWED"}), (100, set())):
        far = np.where(np.arange(1000) < differ, 5.0, 0.0)
        a, b = far * (np.arange(1000) % 10 == 0) * (differ < 100) + (far > 0), np.zeros(1000)
        both = {"a": a, "b": b}
        assert {*inference.paired_tests(both, alternative="greater")[0].cautions} == said
        drawn = str(inference.paired_tests(both, method="bootstrap", n_resamples=99))
        liberal = "the bootstrap is liberal where fewer than 100 users differ"
        assert (liberal in drawn) == (differ < 100)
        assert "liberal" not in str(inference.paired_tests(both))
    few = (np.arange(1000) < 29) * 1.0
    band = inference.band(np.stack([few, few], axis=1), np.zeros((1000, 2)))
    assert "FEW DIFFER: fewer than 30 users differ (@1, @2)" in str(band)
