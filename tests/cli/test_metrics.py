"""toplist metrics: what each metric is, by each convention."""

import re

import pytest

from toplist import CONVENTIONS, METRICS


@pytest.mark.parametrize(
    ("name", "needs"),
    [("gini", "--catalogue"), ("novelty", "--counts"), ("intra_list_diversity", "--features")],
)
def test_what_a_metric_of_lists_needs(good, name, needs):
    assert f"needs {needs}\n" in good("metrics", name)


@pytest.mark.parametrize("name", [*METRICS, "rbp(p=0.5)"])
def test_one_metric_and_all(good, name):
    out = good("metrics", name)
    assert f"{name}@k = sum over" in out
    written = name.replace("_", r"\_")
    assert rf"\mathrm{{{written}}}@k = " in out
    if name in METRICS:
        every = good("metrics")
        assert f"{name}@k = " in every and METRICS[name].text in every


def test_metrics_of_a_convention(good):
    assert "divided by min(k,R)" in good("metrics", "map")
    assert "divided by sum(min(i,R))" in good("metrics", "map", "--convention", "neurec")
    for convention, rules in CONVENTIONS.items():
        out = good("metrics", "--convention", convention)
        assert re.findall(r"^(\S+)", out, re.MULTILINE) == list(rules.metrics)


def test_the_words_of_a_metric_name_its_divisor(good):
    map_ = "average precision: sum of the precision at each hit, over min(k, R)"
    assert good("metrics", "map").startswith(f"{map_}\n")
    assert good("metrics", "map", "--convention", "trec_eval").startswith(f"{map_}; here over R\n")
    lenskit = good("metrics", "--convention", "lenskit")
    assert "share of the first k ranks that are hits; here over min(k,n)\n" in lenskit
    assert "ideal order (Jarvelin, Kekalainen 2002)\n" in lenskit


def test_the_formula_of_rbp_is_as_people_write_it(good):
    lines = good("metrics", "rbp(p=0.5)").splitlines()
    assert lines[1] == "rbp(p=0.5)@k = sum over r_j <= k of 0.5 * 0.5^(r_j-1)"
    assert lines[2] == r"\mathrm{rbp(p=0.5)}@k = \sum_{j : r_j \le k} 0.5 \cdot 0.5^{r_j - 1}"
