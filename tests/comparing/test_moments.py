"""Systems tested without their users, from merged moments: the figures of the users' values."""

import re
from dataclasses import fields, replace

import numpy as np
import pytest
from doors import by_words

import toplist as tl
from toplist import spark
from toplist.comparing import samples
from toplist.comparing.samples import moments_of, shape_of
from toplist.inputs.options import Options
from toplist.stats import systems as in_systems
from toplist.stats.systems import PairedMoments, SystemRef

OPTIONS = {"k": [1, 5, 10], "metrics": ["ndcg", "recall", "map", "hit"]}

N = 397


def data(seed=0, n=N):
    """Return four systems and the truth: twins, one that lacks users, one that is better."""
    rng = np.random.default_rng(seed)
    truth = {u: set(rng.permutation(60)[: 1 + rng.integers(6)].tolist()) for u in range(n)}
    lists = [{u: rng.permutation(60)[:15].tolist() for u in truth} for _ in range(2)]
    better = {u: [*truth[u], *some] if u % 9 == 0 else some for u, some in lists[0].items()}
    better = {u: list(dict.fromkeys(some)) for u, some in better.items()}
    fewer = {u: some for u, some in lists[1].items() if u % 3}
    return {"better": better, "fewer": fewer, "one": lists[0], "twin": lists[0]}, truth


def evaluated(systems, truth, **options):
    return {name: by_words(some, truth, **OPTIONS | options) for name, some in systems.items()}


def on_parts(systems, truth, n_parts=3, **options):
    """Return results without users, tested by moments that were sent from parts of the users."""
    sent = []
    for part in range(n_parts):
        some = {u: one for u, one in truth.items() if u % n_parts == part}
        lists = {name: {u: one[u] for u in one if u in some} for name, one in systems.items()}
        sent.append(moments_of(evaluated(lists, some, **options)).to_bytes())
    whole = evaluated(systems, truth, **options)
    shape = shape_of(list(systems), whole["one"].terms)
    merged = PairedMoments.merged(PairedMoments.from_bytes(shape, one) for one in sent)
    return {
        name: replace(one.without_users(), paired=SystemRef(merged, name))
        for name, one in whole.items()
    }


def same(found, expected, rel=1e-12):
    """Check that two dataclasses have the same numbers."""
    for field in fields(expected):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        if isinstance(other, (float, np.ndarray)):
            other = pytest.approx(other, rel=rel, abs=1e-15, nan_ok=True)
        assert one == other, field.name


def same_tests(found, expected):
    """Check that two families of tests have the same figures, in the same order."""
    for one, other in zip(found, expected, strict=True):
        same(one, other)


@pytest.fixture(scope="module")
def both():
    """The results of data() with users, and without."""
    return evaluated(*data()), on_parts(*data())


# Whatever is asked of a comparison: its figures, and all that is printed
ASKED = {
    **{
        correction: lambda one, how=correction: one.test(correction=how, n_resamples=2_000)
        for correction in ("holm", "maxt", "bh", "none")
    },
    "of two": lambda one: one.test(["ndcg@10", "hit@1"], family="metric", alternative="greater"),
    "equivalence": lambda one: one.equivalence(margin=0.01),
    "power": lambda one: one.power("ndcg@10", difference=0.01),
    "tukey": lambda one: one.tukey("ndcg@10"),
    "band": lambda one: one.band("map", "fewer", "twin", n_resamples=2_000),
    "table": lambda one: one,
}


BESIDE_TWO = [(ask, ["better", "fewer"]) for ask in ("holm", "maxt", "table")]


@pytest.mark.parametrize(("ask", "baseline"), [*((ask, None) for ask in ASKED), *BESIDE_TWO])
def test_whatever_is_asked_is_that_of_the_users(both, ask, baseline):
    users, found = (ASKED[ask](tl.compare(one, baseline)) for one in both)
    assert str(found) == str(users)
    if isinstance(users, tl.inference.Tests):
        same_tests(found, users)
        assert found.plan == users.plan and found.sentence() == users.sentence()


def test_identical_systems_differ_in_exactly_nothing(both):
    compared = tl.compare(both[1])
    twins = [one for one in compared.test() if {one.system, one.baseline} == {"one", "twin"}]
    assert twins
    for test in twins:
        assert (test.difference, test.error, test.statistic, test.p) == (0, 0, 0, 1)
        assert (test.wins, test.ties, test.losses, test.d_z) == (0, N, 0, 0)
    band = compared.band("ndcg", "one", "twin")
    assert not np.any([band.difference, band.low_all, band.high_all])


def test_users_whom_some_systems_do_not_count():
    systems, truth = data()
    found = on_parts(systems, truth, missing="skip")
    compared = tl.compare(found, "one")
    with pytest.raises(ValueError, match="133 are in some of better, .*; users='common' tests"):
        compared.test()
    expected = tl.compare(evaluated(systems, truth, missing="skip"), "one").test(users="common")
    same_tests(compared.test(users="common"), expected)
    fewer = tl.compare({name: found[name] for name in ("fewer", "one")})
    with pytest.raises(ValueError, match="not those of fewer systems: compare all of them"):
        fewer.test(users="common")


REFUSED = {
    "'wilcoxon' needs the values of users": lambda one: one.test(method="wilcoxon"),
    "method='t' works; or collect the DataFrames": lambda one: one.test(method="bootstrap"),
    "clusters= needs the values of users": lambda one: one.test(clusters={0: 1}),
    "give its k to top_k_eval; known are ndcg@1, ndcg@5": lambda one: one.test("ndcg@7"),
    "movers() needs the values of users": lambda one: one.movers("ndcg@10", "twin", "one"),
    "by() needs the values of users": lambda one: one.by({0: "new"}),
    "evaluate the truth of every segment by itself": lambda one: one.by({0: "new"}),
    "users='both'": lambda one: one.test(users="both"),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_needs_values_is_refused_in_a_line(both, words):
    with pytest.raises(ValueError, match=re.escape(words)) as caught:
        REFUSED[words](tl.compare(both[1]))
    assert "\n" not in str(caught.value)


def test_results_of_several_evaluations(both):
    users, found = both
    other = on_parts(*data(3), n_parts=2)
    words = "fewer and one are not of one evaluation, so the differences of their users are unknown"
    for fewer in (other["fewer"], users["fewer"]):
        with pytest.raises(ValueError, match=words):
            tl.compare({"one": found["one"], "fewer": fewer}).test()
    with pytest.raises(ValueError, match="several runs"):
        tl.compare({"one": [found["one"], found["twin"]], "fewer": found["fewer"]}).test()
    again = on_parts(*data())
    assert len(tl.compare({"one": found["one"], "fewer": again["fewer"]}).test("map@5")) == 1


def test_size_does_not_depend_on_the_number_of_users():
    few, many = (moments_of(evaluated(*data(0, n))).to_bytes() for n in (50, 800))
    assert len(many) < 1.2 * len(few) < 60_000


def test_what_is_too_large_to_send(monkeypatch):
    monkeypatch.setattr(in_systems, "MOST", 100)
    monkeypatch.setattr(samples, "MOST", 100)
    systems, truth = data()
    found = tl.compare(on_parts(systems, truth))
    expected = tl.compare(evaluated(systems, truth))
    same_tests(found.test(), expected.test())
    with pytest.raises(ValueError, match="no band of ndcg: over all k, .* to a smaller k"):
        found.band("ndcg", "one", "twin")
    with pytest.raises(ValueError, match="correction='maxt' needs the covariances .* give 'holm'"):
        found.test(correction="maxt")


def test_nobody():
    systems, truth = data()
    part, whole = (
        moments_of(evaluated(*of))
        for of in (({name: {} for name in systems}, {}), (systems, truth))
    )
    again = PairedMoments.from_bytes(part.shape, part.to_bytes())
    assert again.find("one", "twin", "ndcg@5")[0] == 0
    merged = PairedMoments.merged([again, whole, again])
    assert np.array_equal(merged.pairs["ndcg@5"], whole.pairs["ndcg@5"])
    bare = {
        name: replace(one.without_users(), paired=SystemRef(part, name))
        for name, one in evaluated(systems, truth).items()
    }
    with pytest.raises(ValueError, match="nobody to test: no user is in all of better, fewer"):
        tl.compare(bare).test()


def test_without_a_metric_of_users():
    systems, truth = data()
    part = moments_of(evaluated(systems, truth, metrics=["personalisation"]))
    again = PairedMoments.from_bytes(part.shape, part.to_bytes())
    assert PairedMoments.merged([again, part]).pairs == {}


def batches_of(systems, truth, users, size=97):
    """Return what a worker of Spark is sent: both sides of some users, sorted by user."""
    pa = pytest.importorskip("pyarrow")
    rows = []
    for u in sorted(users):
        for name, some in systems.items():
            rows += [(0, u, i, r, name, None) for r, i in enumerate(some.get(u, []), 1)]
        rows += [(1, u, None, None, None, i) for i in sorted(truth.get(u, ()))]
    names = ["side", "user_id", "item", "rank", "system", "relevant"]
    kinds = [pa.int32(), pa.int64(), pa.int64(), pa.int64(), pa.string(), pa.int64()]
    columns = zip(*rows, strict=True) if rows else [[]] * 6
    arrays = [pa.array(one, kind) for one, kind in zip(columns, kinds, strict=True)]
    return iter(pa.table(arrays, names=names).to_batches(max_chunksize=size))


def test_the_work_of_spark_without_spark(monkeypatch):
    monkeypatch.setattr(spark, "BYTES", 25_000)
    systems, truth = data(4, 60)
    names = tuple(systems)
    options = Options(metrics=OPTIONS["metrics"], ties="item", n_threads=1)
    own = {"user_id": "user_id", "item_id": "item", "rank": "rank"}
    sent = {"ranks": own, "ground_truths": {"user_id": "user_id", "item_id": "relevant"}}
    evaluate = spark.Work(OPTIONS["k"], options, sent, names, True)
    parts = [[u for u in truth if u % 2 == part] for part in range(2)] + [[]]
    sent = [one for users in parts for one in evaluate(batches_of(systems, truth, users))]
    again = list(spark.Merge(names)(iter(sent[:2])))
    single = [batch.slice(row, 1) for batch in sent for row in range(len(batch))]
    dealt = [one for row in single for one in spark.Merge(names)(iter([row]))]
    rows = [row for batch in again + sent[2:] for row in batch.to_pylist()]
    found = spark.collected(rows, names)
    alone = spark.collected([row for batch in dealt for row in batch.to_pylist()], names)
    same_tests(tl.compare(alone).test(), tl.compare(found).test())
    assert spark.collected(rows[::-1], names)["one"].std("map@5") == found["one"].std("map@5")
    expected = evaluated(systems, truth)
    for baseline in (None, "one"):
        tests = tl.compare(found, baseline).test()
        same_tests(tests, tl.compare(expected, baseline).test())
    pair = "better", "twin"
    same(tl.compare(found).band("ndcg", *pair), tl.compare(expected).band("ndcg", *pair))
