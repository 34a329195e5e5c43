"""Systems over several data sets: the table, its ranks and differences, and what is refused."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from doors import by_words
from systems import results

import toplist as tl
from toplist.stats import datasets as statistics

SYSTEMS = "popularity", "knn", "ease"


def evaluated(seed, n=300, shift=(0, 2, 6), keys=True, **options):
    """Evaluate systems that find the one relevant item of a user earlier by `shift` places."""
    rng = np.random.default_rng(seed)
    hard = rng.integers(1, 12, n)
    users = [f"user {i}" for i in range(n)] if keys else None
    found = {}
    for system, less in zip(SYSTEMS, shift, strict=True):
        ranks = np.clip(hard + rng.integers(0, 9, n) - less, 1, None)
        hits = tl.Hits.from_ranks(np.where(ranks <= 10, ranks, 0), n_listed=10)
        hits = replace(hits, users=users)
        found[system] = by_words(hits, k=10, metrics=["ndcg", "mrr"], **options)
    return found


@pytest.fixture(scope="module")
def sets():
    return {"ml": evaluated(1), "yelp": evaluated(2, 500), "movies": evaluated(3, 200)}


@pytest.fixture(scope="module")
def found(sets):
    return tl.across(sets, "ndcg@10", baseline="popularity", n_resamples=500)


def test_the_means_the_ranks_and_the_votes(sets, found):
    assert found.systems == ("ease", "knn", "popularity")
    assert found.datasets == ("ml", "yelp", "movies")
    expected = [[one[system]["ndcg@10"] for system in found.systems] for one in sets.values()]
    assert found.means.tolist() == expected
    assert found.macro == pytest.approx(np.mean(expected, axis=0))
    assert found.mean_ranks.tolist() == statistics.mid_ranks(expected).mean(axis=0).tolist()
    assert found.borda.tolist() == statistics.borda(expected).tolist()
    assert found.friedman.p == statistics.friedman(expected).p
    # intervals of ranks are those of the users drawn again
    assert (found.rank_low <= found.mean_ranks).all()
    assert (found.mean_ranks <= found.rank_high).all()
    assert found.behind.tolist() == [False, True, True]
    more = tl.across(sets, "ndcg@10", n_resamples=500, seed=3)
    assert (more.n_resamples, more.seed) == (500, 3)
    # users of two data sets have nothing to do with each other, equal keys or not
    alone = tl.across({"a": sets["ml"], "b": sets["yelp"]}, "ndcg@10", n_resamples=99)
    unnamed = {"a": evaluated(1, keys=False), "b": evaluated(2, 500, keys=False)}
    assert tl.across(unnamed, "ndcg@10", n_resamples=99).means.tolist() == alone.means.tolist()


def test_no_order_changes_a_figure(sets, found):
    """Neither of data sets nor of systems or users."""

    def turned(result):
        hits = result.hits.subset(np.arange(len(result.hits))[::-1])
        return tl.top_k_eval(hits, k=10, metrics=["ndcg"])

    other = {
        dataset: {system: turned(one[system]) for system in SYSTEMS}
        for dataset, one in reversed(sets.items())
    }
    again = tl.across(other, "ndcg@10", baseline="popularity", n_resamples=500)
    assert again.systems == found.systems
    assert again.rank_low.tolist() == found.rank_low.tolist()
    assert again.rank_high.tolist() == found.rank_high.tolist()
    mine, theirs = (one.contrast("ease").these for one in (found, again))
    assert mine.p == pytest.approx(theirs.p, rel=1e-9)


def test_a_contrast_is_of_the_tests_of_every_data_set(sets, found):
    rows = [
        tl.compare(one, baseline="popularity").test("ndcg@10", correction="none")["ease", "ndcg@10"]
        for one in sets.values()
    ]
    columns = ([getattr(row, key) for row in rows] for key in ("difference", "error", "df"))
    expected = tl.inference.over_datasets(*columns)
    contrast = found.contrast("ease")
    for key in ("difference", "error", "df", "p", "low", "high"):
        assert getattr(contrast.these, key) == pytest.approx(getattr(expected, key), rel=1e-9)
    sample = tl.inference.over_datasets([row.difference for row in rows], of="sample")
    assert contrast.sample.p == pytest.approx(sample.p, rel=1e-9)
    assert contrast.these.mean == pytest.approx(found.macro[0])
    assert contrast.sample.baseline_mean == pytest.approx(found.macro[2])
    assert (contrast.of("these"), contrast.of("sample")) == (contrast.these, contrast.sample)
    assert contrast.better == pytest.approx(
        {dataset: row.p / 2 for dataset, row in zip(sets, rows, strict=True)}
    )
    assert contrast.replicated.k == tl.inference.replicability([*contrast.better.values()]).k == 3
    worse = found.contrast("popularity", "ease")
    assert worse.replicated.k == 0 and worse.these.difference == -contrast.these.difference


def test_the_table_and_the_frame(found):
    text, rows = found.to_text(), found.to_dict()["systems"]
    lines = text.splitlines()
    header = "ndcg@10 ml yelp movies mean rank Borda less popularity better in"
    assert lines[0].split() == header.split()
    assert lines[1].split()[:2] == ["ease", f"*{found.means[0, 0]:.4f}"]
    low, high = found.rank_low[0], found.rank_high[0]
    assert f"{found.mean_ranks[0]:.2f} [{low:.2f}, {high:.2f}]" in lines[1]
    test = found.contrast("ease").these
    assert f"{test.difference:+.4f} ±{(test.high - test.low) / 2:.4f}" in lines[1]
    assert lines[1].endswith(" 3") and lines[3].split()[-2:] == ["-", "-"]
    for words in (
        "for these data sets: who is surely ahead or behind",
        "500 resamples, seed 0",
        "in mean rank all others are behind ease by more than chance (of all sets together",
        f"Friedman χ² {found.friedman.statistic:.2f}, df 2",
        f"ranks less than {found.friedman.critical_difference:.2f} apart",
        "better in: better than popularity in so many data sets at least",
        "users: ml 300, yelp 500, movies 200",
    ):
        assert words in text
    means = found.to_text(intervals=False)
    assert not re.search(r"\[|±|, wider|interval of", means) and "500 resamples" in means
    assert "less popularity: difference of the means over the data sets that have both\n" in means
    assert "less" not in tl.across(found.comparisons, "ndcg@10", n_resamples=99).to_text()[:200]
    assert "| ease | **" in found.to_markdown() and r"ease & \textbf{" in found.to_latex()
    assert rows["knn"]["p"] == found.contrast("knn").these.p
    pytest.importorskip("pandas")
    frame = found.to_pandas().set_index("system")
    assert [*frame.index] == [*rows] == [*found.systems]
    for system, row in rows.items():
        assert frame.loc[system, [*found.datasets]].tolist() == [*row["means"].values()]
        assert frame.loc[system, "rank_low"] == row["rank_low"]


ONE_LARGE = np.where(np.arange(300) == 0, 600.0, 1.0)
CLUSTERS = np.arange(300) // 100


def test_what_is_rough_in_a_data_set_is_said_and_over_whom_means_are():
    few = {"ml": evaluated(1, 9), "yelp": evaluated(2)}
    for baseline in (None, "popularity"):
        said = tl.across(few, "ndcg@10", baseline=baseline, n_resamples=99)
        assert "FEW DIFFER: fewer than 30 users differ (ml)" in said.to_text()
        assert "FEW DIFFER" in said.to_dict()["cautions"]["ml"]
    assert "FEW DIFFER" in said.contrast("ease").cautions["ml"]
    for given, whose, sizes in (
        ({"weights": ONE_LARGE}, "weighted mean over users", "users: one 300, two 300"),
        (
            {"clusters": CLUSTERS},
            "mean over rows",
            "rows: one 300 in 3 clusters, two 300 in 3 clusters",
        ),
    ):
        both = {name: evaluated(seed, **given) for seed, name in enumerate(("one", "two"))}
        text = tl.across(both, "ndcg@10", n_resamples=99).to_text()
        assert "UNEQUAL: weights or clusters are so few or unequal" in text and "(one, two)" in text
        assert f": {whose}; mean: over data sets" in text and sizes in text


def test_one_data_set_under_two_names_is_seen(sets, found):
    twice = tl.across({"ml": sets["ml"], "copy": sets["ml"]}, "ndcg@10", n_resamples=99).to_text()
    assert "TWICE? ml and copy have the same means over as many users" in twice
    assert "TWICE" not in found.to_text()


def test_sets_like_these_have_an_interval_from_six_on():
    six = {f"set {i}": evaluated(i, 60) for i in range(6)}
    asked = {"baseline": "knn", "of": "sample", "n_resamples": 99}
    all_six = tl.across(six, "mrr@10", **asked)
    test = all_six.contrast("ease").sample
    assert f"{test.difference:+.4f} ±{(test.high - test.low) / 2:.4f}" in all_six.to_text()
    assert "for sets like these" in all_six.to_text()
    five = tl.across({name: six[name] for name in [*six][:5]}, "mrr@10", **asked)
    assert "no interval for sets like these: fewer than 6 data sets" in five.to_text()
    assert "±" not in five.to_text().partition("±MARGIN")[0].splitlines()[1]
    assert five.contrast("ease").sample.low == pytest.approx(
        five.to_dict()["systems"]["ease"]["low"]
    )


def test_a_system_that_a_data_set_lacks(sets):
    fewer = dict(sets) | {"yelp": {s: sets["yelp"][s] for s in SYSTEMS if s != "ease"}}
    with pytest.raises(ValueError, match="yelp has no result of ease.*missing='last'"):
        tl.across(fewer, "ndcg@10")
    found = tl.across(fewer, "ndcg@10", missing="last", baseline="ease", n_resamples=200)
    place = found.systems.index("ease")
    assert math.isnan(found.means[1, place]) and math.isnan(found.macro[place])
    assert found.mean_ranks[place] == pytest.approx(5 / 3) and found.borda[place] == 4
    assert "MISSING: ease in yelp: last there, without votes; no mean" in found.to_text()
    contrast = found.contrast("knn")
    assert contrast.these.n == 2 and [*contrast.better] == ["ml", "movies"]
    row = found.to_dict()["systems"]["ease"]
    assert row["means"]["yelp"] is None and row["mean"] is None
    json.dumps(found.to_dict(), allow_nan=False)
    # in one data set alone there is no contrast; two that lack it share the last rank
    few = {"ml": sets["ml"], "yelp": {"knn": sets["yelp"]["knn"]}}
    once = tl.across(few, "ndcg@10", baseline="ease", missing="last", n_resamples=99)
    assert once.borda.tolist() == [3.0, 2.0, 0.0] and once.mean_ranks.sum() == 6.0
    with pytest.raises(ValueError, match="both in 1 data set alone: two are needed"):
        once.contrast("knn")
    assert once.to_dict()["systems"]["knn"]["difference"] is None


def test_results_without_users(sets):
    bare = {
        dataset: {system: one.without_users() for system, one in some.items()}
        for dataset, some in sets.items()
    }
    found = tl.across(bare, "ndcg@10", baseline="knn")
    whole = tl.across(sets, "ndcg@10", baseline="knn", n_resamples=99)
    assert found.friedman.p == whole.friedman.p and found.borda.tolist() == whole.borda.tolist()
    assert found.rank_low is found.behind is None
    contrast = found.contrast("ease")
    assert contrast.these is None and contrast.replicated is None
    assert "knn: this result holds no hits, so its users are unknown" in contrast.why
    assert contrast.sample == whole.contrast("ease").sample
    assert "no intervals of ranks: the users of ml, yelp, movies are unknown" in found.to_text()
    mixed = tl.across(dict(bare) | {"ml": sets["ml"]}, "ndcg@10")
    assert mixed.why.startswith("the users of yelp, movies are unknown")


def test_users_too_few_to_draw_again():
    """Of one user each drawing says nothing: every difference would be more than chance."""
    lists = {"good": [[1, 2]] * 5, "poor": [[2, 1]] * 5}
    for n, why in ((4, "fewer than 5 users, or clusters of them, in one, two"), (5, "")):
        both = {name: tl.top_k_eval(some[:n], [{1}] * n, k=2) for name, some in lists.items()}
        found = tl.across({"one": both, "two": both}, "mrr@2", baseline="poor", n_resamples=99)
        assert found.why == why and why in found.to_text()
        assert "±" not in found.to_text().splitlines()[1]  # all differ by the same number
        assert "for these data sets; without it where all differ" in found.to_text()
        assert (found.behind is None) == (found.rank_low is None) == bool(why)


def test_what_is_refused(sets):
    def refused(words, given=sets, name="ndcg@10", error=ValueError, **options):
        with pytest.raises(error, match=words):
            tl.across(given, name, **options)

    refused("dict of data set -> comparison, not list", [sets], error=TypeError)
    refused("None is no name of a data set", {**sets, None: sets["ml"]}, error=TypeError)
    refused("two data sets are needed, and there is 1", {"a": sets["ml"]})
    refused("ml: knn|ml: popularity: .*'map@10'", name="map@10", error=KeyError)
    refused("ml: 'ndcg' is a whole curve", name="ndcg")
    refused("ml: across is of one name@k", name=["ndcg@10", "mrr@10"])
    refused("baseline 'als' is none of the systems: ", baseline="als")
    refused(r"baseline \['knn', 'ease'\] is none of the systems: ", baseline=["knn", "ease"])
    refused("missing='first'.*choose from 'error', 'last'", missing="first")
    refused("of='all'.*choose from 'these', 'sample'", of="all")
    one_each = {dataset: {"knn": some["knn"]} for dataset, some in sets.items()}
    refused("two systems are needed, and there is knn", one_each)
    empty = dict.fromkeys(SYSTEMS, tl.top_k_eval({}, {}, k=10, metrics="ndcg"))
    refused("empty: no user is in the mean of popularity", sets | {"empty": empty})
    # other rules, other users, clusters in one alone
    trec, weights = evaluated(4, convention="trec_eval"), np.ones(300) + np.arange(300) % 2
    refused("DIFFERENT CONVENTIONS: .*trec: ", sets | {"trec": trec})
    refused("DIFFERENT AVERAGES", sets | {"w": evaluated(4, weights=weights)})
    odd = {"knn": results(n=50)["a"], "ease": results(n=60)["b"]}
    other = "^odd: these systems cannot be compared: DIFFERENT USERS"
    refused(other, sets | {"odd": odd}, "ndcg@3")
    some = {"a": results()["a"], "b": results(clusters={f"u{i}": i // 4 for i in range(60)})["b"]}
    refused("^one: b has clusters and a has none", dict.fromkeys(("one", "two"), some), "mrr@3")


def test_contrasts_and_metrics_beside(sets, found):
    with pytest.raises(ValueError, match="'als' is none of the systems: ease, knn, popularity"):
        found.contrast("als")
    with pytest.raises(ValueError, match="both the system and its baseline"):
        found.contrast("knn", "knn")
