"""Results of an automatic judge, corrected by those of people: matched by query, or refused."""

import math

import numpy as np
import pytest
from doors import by_words

import toplist as tl
from toplist.comparing.inference import judge_corrected, ppi, t_ppf

N = 300
RNG = np.random.default_rng(0)
QUERIES = [f"q{i}" for i in range(N)]
LISTS = {query: RNG.permutation(12).tolist() for query in QUERIES}
OTHER = {query: RNG.permutation(12).tolist() for query in QUERIES}
PEOPLE = {query: {item: int(RNG.random() < 0.4) for item in range(10)} for query in QUERIES}
# The judge takes one of five items that are not relevant for relevant.
JUDGE = {
    query: {item: int(grade or RNG.random() < 0.2) for item, grade in truth.items()}
    for query, truth in PEOPLE.items()
}
SAMPLE = [QUERIES[i] for i in RNG.permutation(N)[:60].tolist()]
COVERAGE = {"metric": "item_coverage@5"}


def evaluated(lists, truth, queries=QUERIES, **options):
    given = {"k": 5, "metrics": ["ndcg", "precision"], "empty": "zero"} | options
    return by_words({q: lists[q] for q in queries}, {q: truth[q] for q in queries}, **given)


def sides(lists=LISTS, judge=JUDGE, people=PEOPLE, queries=SAMPLE, **options):
    """Return the keywords `judged` and `human`."""
    judged = evaluated(lists, judge, **options)
    return {"judged": judged, "human": evaluated(lists, people, queries, **options)}


def corrected(metric="ndcg@5", **given):
    return judge_corrected(**{**sides(), **given}, metric=metric)


def in_clusters(clusters):
    some = {q: clusters[q] for q in SAMPLE}
    return {
        "judged": evaluated(LISTS, JUDGE, clusters=clusters),
        "human": evaluated(LISTS, PEOPLE, SAMPLE, clusters=some),
    }


def test_queries_are_matched_by_key_whatever_their_order():
    found = corrected()
    given = sides()
    y = given["human"].per_user("ndcg@5", keyed=True)
    y_hat = given["judged"].per_user("ndcg@5", keyed=True)
    others = [value for query, value in y_hat.items() if query not in y]
    expected = ppi(list(y.values()), [y_hat[query] for query in y], others)
    half = t_ppf(0.975, 59) * expected.error
    ends = {"low": expected.estimate - half, "high": expected.estimate + half}
    wanted = vars(expected) | ends
    assert {name: getattr(found, name) for name in wanted} == pytest.approx(wanted)
    assert (found.n, found.n_unlabelled, found.name, found.pair) == (60, 240, "ndcg@5", None)
    turned = corrected(human=evaluated(LISTS, PEOPLE, SAMPLE[::-1]))
    assert vars(turned) == vars(found)
    assert found.human == pytest.approx(given["human"]["ndcg@5"])
    assert found.judge == pytest.approx(given["judged"]["ndcg@5"])


def test_a_difference_of_two_systems():
    systems = {"a": LISTS, "b": OTHER}
    given = {
        side: {name: evaluated(lists, truth, queries) for name, lists in systems.items()}
        for side, truth, queries in (("judged", JUDGE, QUERIES), ("human", PEOPLE, SAMPLE))
    }
    found = corrected(**given)
    assert found.pair == ("b", "a")
    d_hat, d = (
        {q: y - of_a[q] for q, y in results["b"].per_user("ndcg@5", keyed=True).items()}
        for results in given.values()
        for of_a in [results["a"].per_user("ndcg@5", keyed=True)]
    )
    others = [d_hat[query] for query in QUERIES if query not in d]
    expected = ppi(list(d.values()), [d_hat[query] for query in d], others)
    assert (found.estimate, found.error) == pytest.approx((expected.estimate, expected.error))
    turned = corrected(**given, baseline="b")
    assert turned.pair == ("a", "b") and turned.estimate == pytest.approx(-found.estimate)
    human = dict(reversed(given["human"].items()))
    assert corrected(judged=given["judged"], human=human).estimate == found.estimate
    assert str(found).startswith("b - a ndcg@5  difference ")
    assert f"{found.estimate:+.4f}" in str(found)


def test_the_table_says_how_certain_it_is():
    found = corrected(level=0.9)
    text = str(found)
    for words in (
        f"corrected     {found.estimate:.4f}  [{found.low:.4f}, {found.high:.4f}]",
        "90 % interval",
        f"60 queries judged by people, 240 more by the judge alone (lambda {found.lam:.3f})",
        f"as certain as {found.n_effective:.1f} judged by people alone",
    ):
        assert words in text
    few = corrected(human=evaluated(LISTS, PEOPLE, SAMPLE[:20]))
    assert "rough: fewer than 50 queries of people" in str(few) and "rough" not in text
    # a judge who is right in all of the sample, or nearly all, says little of how wrong it is
    sure = "rough: the judge differs from people in only {} queries, which say how wrong it is"
    assert "differs from people" not in text and found.differ >= 10
    agreed = corrected(**sides(judge=PEOPLE))
    assert agreed.differ == 0 and sure.format("0 of 60") in str(agreed)
    one = PEOPLE | {SAMPLE[0]: {item: 1 - grade for item, grade in PEOPLE[SAMPLE[0]].items()}}
    assert sure.format("1 of 60") in str(corrected(**sides(judge=one)))
    alike = {query: {0: 1} for query in QUERIES}
    lists = {query: [0, 1] for query in QUERIES}
    found = judge_corrected(**sides(lists, alike, alike), metric="ndcg@2")
    assert "corrected     1.0000" in str(found) and math.isnan(found.n_effective)
    assert "as certain as" not in str(found) and "nan" not in str(found)


def human(lists=LISTS, queries=SAMPLE, **options):
    return {"human": evaluated(lists, PEOPLE, queries, **options)}


def two():
    return dict.fromkeys("ab", human()["human"])


VALUE_ERRORS = {
    "people judged 9 values: at least 10 are needed": lambda: human(queries=SAMPLE[:9]),
    "judged values of 7 clusters: at least": lambda: in_clusters({q: q[:2] for q in QUERIES}),
    "nothing is judged by the judge alone": lambda: human(queries=QUERIES),
    "query 'q.*' of human is not in judged, which has queries like 'q.*': judged is of all": (
        lambda: {"judged": evaluated(LISTS, JUDGE, [q for q in QUERIES if q != SAMPLE[0]])}
    ),
    "cannot be put together: DIFFERENT CONVENTIONS": lambda: human(convention="recbole"),
    "judged and human cannot be put together: DIFFERENT POLICIES": lambda: human(empty="skip"),
    "judged lists 5 items for query 'q.*' down to k = 5, and human 4: both must be of the": (
        lambda: human({q: LISTS[q][:4] for q in SAMPLE})
    ),
    "the queries of human have weights": lambda: human(weights=dict.fromkeys(SAMPLE, 2)),
    "the queries of judged have no keys": (
        lambda: {"judged": tl.top_k_eval(list(LISTS.values()), [*JUDGE.values()], 5)}
    ),
    "this result holds no hits, so the queries of human are unknown": (
        lambda: {"human": human()["human"].without_users()}
    ),
    "judged is of one system, and human of a, b: give both": lambda: {"human": two()},
    "two systems are needed, and there is": lambda: {"baseline": "a"},
    "'ndcg' is a whole curve: give name@k": lambda: {"metric": "ndcg"},
    "level must be a number between 0 and 1, not 95": lambda: {"level": 95},
    "item_coverage@5 has no test: one number of all lists": (
        lambda: sides(metrics=["item_coverage"], catalogue=range(12)) | COVERAGE
    ),
    "precision@5 has no test: pooled": (
        lambda: sides(aggregate="pooled") | {"metric": "precision@5"}
    ),
}
TYPE_ERRORS = {
    "human is list: give a result of top_k_eval, or a dict of two": lambda: {"human": [1, 2]},
    "human is a dict of 2: give": lambda: {"human": {"a": 1, "b": 2}},
}


@pytest.mark.parametrize("words", [*VALUE_ERRORS, *TYPE_ERRORS])
def test_what_is_refused(words):
    error = ValueError if words in VALUE_ERRORS else TypeError
    with pytest.raises(error, match=words):
        corrected(**(VALUE_ERRORS | TYPE_ERRORS)[words]())


def test_a_query_that_one_side_leaves_out_is_refused():
    """Of sets: a query without relevant items is in no mean, unless empty='zero'."""
    nothing = {SAMPLE[3]: dict.fromkeys(range(10), 0)}
    people, judge = {"people": PEOPLE | nothing}, {"judge": JUDGE | nothing}
    for sets, said in (
        (people, f"'{SAMPLE[3]}' is in the mean by the judge and not in that"),
        (judge, "in the mean by people and not in that by the judge, as"),
    ):
        with pytest.raises(ValueError, match=said):
            judge_corrected(**sides(**sets, empty="skip"), metric="ndcg@5")
    assert judge_corrected(**sides(**people), metric="ndcg@5").n == 60
    found = judge_corrected(**sides(**people, **judge, empty="skip"), metric="ndcg@5")
    assert (found.n, found.n_unlabelled) == (59, 240)


def test_a_truth_that_grades_part_of_a_pool_is_refused():
    query = SAMPLE[7]
    part = dict(list(PEOPLE[query].items())[1:])
    message = f"truth of human grades 9 items of query '{query}', that of judged 10: people must"
    with pytest.raises(ValueError, match=message):
        judge_corrected(**sides(people=PEOPLE | {query: part}), metric="precision@1")
    more = PEOPLE | {query: PEOPLE[query] | {11: 1}}
    assert judge_corrected(**sides(people=more), metric="ndcg@5").n == 60


def test_of_sets_nothing_says_what_was_judged():
    """Sets on one side alone are grades of 1: they must hold what the judge graded."""
    judge, people = (
        {query: {item for item, grade in truth.items() if grade} for query, truth in side.items()}
        for side in (JUDGE, PEOPLE)
    )
    found = judge_corrected(**sides(judge=judge, people=people), metric="ndcg@5")
    assert found.estimate == pytest.approx(corrected().estimate)
    with pytest.raises(ValueError, match="the truth of human grades . items of query"):
        judge_corrected(**sides(people=people), metric="ndcg@5")
    assert judge_corrected(**sides(judge=judge), metric="ndcg@5").n == 60


def test_queries_in_clusters_go_by_these():
    users, alone = {q: f"u{i // 4}" for i, q in enumerate(QUERIES)}, {q: q for q in QUERIES}

    given = in_clusters(users)
    found, plain = corrected(**given), corrected()
    y, y_hat = (given[side].per_user("ndcg@5", keyed=True) for side in ("human", "judged"))
    others = {query: value for query, value in y_hat.items() if query not in y}
    clusters = [users[query] for query in y], [users[query] for query in others]
    of_y = [y_hat[query] for query in y]
    expected = ppi(list(y.values()), of_y, list(others.values()), clusters=clusters)
    assert (found.estimate, found.error) == pytest.approx((expected.estimate, expected.error))
    assert found.n_clusters == len({users[query] for query in SAMPLE}) and found.df < plain.df
    assert f"60 queries of {found.n_clusters} clusters judged by people" in str(found)
    assert found.differ == len({users[query] for query in y if y[query] != y_hat[query]})
    assert vars(corrected(**in_clusters(alone))) == vars(
        plain
    )  # clusters of one query each are none
    bare = evaluated(LISTS, JUDGE, unit="rows")  # rows of clusters are called so
    with pytest.raises(ValueError, match="human has clusters and judged has none"):
        corrected(judged=bare, human=given["human"])
