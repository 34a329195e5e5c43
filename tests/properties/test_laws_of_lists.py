"""Metrics of the lists: no bit hangs on the form, nor on what is asked beside; nor do tests."""

import numpy as np
import pytest
from doors import DOORS, FACTS, Case, by_words, call, seen
from listwise import listwise
from shared_inputs import frame_of
from world import draw

import toplist as tl

# f has no relevant item, e no list, g an empty one, of h's nothing is judged, and z has no truth;
# lists are of several lengths.
LISTS = {
    "a": ["p", "q", "r", "s", "t"],
    "b": ["q", "p"],
    "c": ["t", "u", "v", "w"],
    "d": ["v", "u", "p", "q", "s", "x", "y"],
    "f": ["w", "x", "r"],
    "g": [],
    "h": ["y", "x"],
    "z": ["w", "p", "q"],
}
TRUTHS = {
    "a": {"q": 2, "r": 0, "x": 1},
    "b": {"p": 1},
    "c": {"t": 1, "w": 3, "p": 0},
    "d": {"q": 1, "x": 1, "u": 0},
    "e": {"t": 1},
    "f": {"r": 0},
    "g": {"p": 1, "q": 2},
    "h": {"p": 1},
}
ITEMS = "pqrstuvwxy"
HISTORY = {
    "a": ["p", "p", "t"],
    "b": ["q", "r", "r", "s"],
    "c": ["u"],
    "d": ["y", "x", "x"],
    "f": ["p", "w"],
    "z": ["s", "t", "t"],
}
BASELINE = {user: [*"pqt"[: 1 + row % 3]] for row, user in enumerate("abcdfz")}
KNOWN = {
    "catalogue": list(ITEMS),
    "counts": {item: 3 * row + 1 for row, item in enumerate(ITEMS)},
    "features": {item: [row + 1.0, row % 3, 2.0 - row % 2] for row, item in enumerate(ITEMS)},
    "labels": {item: [("war", "love", "fun")[row % 3]] for row, item in enumerate(ITEMS)},
    "distances": {
        item: [abs(row - other) / 10 for other in range(10)] for row, item in enumerate(ITEMS)
    },
    "history": HISTORY,
    "expected": BASELINE,
}
WHOLE = ["item_coverage", "gini", "shannon_entropy", "personalisation"]
OF_USERS = [
    *("average_popularity", "tail_percentage", "novelty", "popularity_lift"),
    *(f"intra_list_diversity{one}" for one in ("", "(distance=jaccard)", "(distance=given)")),
    *(f"calibration{one}" for one in ("", "(distance=hellinger)", "(weights=rank)")),
    *("unexpectedness", "serendipity", "exposure_share(label=war)", "hit_share(label=love)"),
]
NAMES = WHOLE + OF_USERS
K = 3
SAME = {item: item for item in ITEMS}


def evaluated(lists=LISTS, truths=TRUTHS, names=NAMES, k=K, beside=(), **options):
    """Evaluate metrics of the lists at k, and others beside them, as they are written."""
    metrics = [*(f"{name}@{k}" for name in names), *beside]
    return by_words(lists, truths, metrics=metrics, **KNOWN | options)


def bits(result, names=NAMES, k=K, users=None):
    """Return all that a result says of metrics of the lists, bit for bit."""
    found = {}
    for name in (f"{one}@{k}" for one in names):
        numbers = [result[name], result.std(name), *result.interval(name)]
        found[name] = result.n_of(name), *(float(one).hex() for one in numbers)
        if users is not None and name.partition("@")[0] in OF_USERS:
            values = dict(zip(result.users, result.per_user(name).tolist(), strict=True))
            found[name] += tuple(values[user].hex() for user in users)
    return found


# What is asked beside


HOWS = {
    "plain": {},
    "unjudged": {"unjudged": "drop"},
    "collapse": {"duplicates": "collapse"},
    "mapped": {"items_as": SAME},
    "listed": {"relevant": "listed"},
    "trec_eval": {"convention": "trec_eval"},
    "mapped, unjudged": {"items_as": SAME, "unjudged": "drop"},
}


def others(how, k=7):
    """Return all metrics of hits of a convention at a k; bpref has none."""
    known = tl.CONVENTIONS[HOWS[how].get("convention", "standard")].metrics
    return [f"{name}@{k}" for name in known if name != "bpref"] + ["bpref"]


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("k", [1, K, 10])
def test_no_metric_of_hits_beside_changes_a_bit(how, k):
    alone = bits(evaluated(k=k, **HOWS[how]), k=k, users=TRUTHS)
    every = others(how, 7 if k < 7 else 1)
    for beside in (every, every[:1], every[1:2], ["bpref"]):
        both = evaluated(k=k, beside=beside, **HOWS[how])
        assert bits(both, k=k, users=TRUTHS) == alone, beside


def test_no_metric_of_hits_beside_changes_a_bit_of_many_lists():
    """Of so many that they are averaged in blocks, whose sizes follow the largest k."""
    rng = np.random.default_rng(0)
    lists = np.argsort(rng.random((3000, 120)), axis=1)
    known = {"counts": rng.random(120), "expected": set(range(40))}
    names = ["average_popularity@10", "novelty@10", "unexpectedness@10", "serendipity@10"]
    truths = rng.integers(0, 120, 3000)
    alone, both = (
        by_words(lists, truths, metrics=[*names, *beside], **known) for beside in ([], ["mrr@120"])
    )
    for name in names:
        assert alone[name].hex() == both[name].hex(), name
        assert alone.std(name).hex() == both.std(name).hex(), name


def test_values_at_every_k_are_those_that_are_asked_for_there():
    """Lists are read to the largest k of all, whatever asks for it."""
    result = evaluated(k=2, beside=["bpref", "mrr@9"], unjudged="drop")
    for k in range(1, 10):
        asked = evaluated(k=k, unjudged="drop")
        for name in (f"{one}@{k}" for one in NAMES):
            assert result[name] == pytest.approx(asked[name], rel=1e-13, nan_ok=True), name


def test_whole_lists_are_read_as_they_are_given():
    """Where unjudged items leave what is asked beside, the longest list is as long as it was."""
    metrics = ["item_coverage", "serendipity", "mrr"]
    found = by_words(LISTS, TRUTHS, metrics=metrics, unjudged="drop", **KNOWN)
    assert found.names()[:2] == ["item_coverage@7", "serendipity@7"]
    plain = by_words(LISTS, TRUTHS, metrics=metrics, **KNOWN)
    for name in found.names()[:2]:
        assert found[name] == plain[name]


# Doors

BASES = [name for name in FACTS if name not in ("exposure_share", "hit_share")]
BASES += [
    "shannon_entropy",
    "personalisation",
    "exposure_share(label=war)",
    "hit_share(label=love)",
]
BASES += ["calibration(distance=hellinger)", "calibration(weights=rank)"]
EVERY = {"metrics": [f"{name}@3" for name in BASES]}
KEPT = {"keep": "users"}
IN_PARTS = {door: {} for door in ("merged", "stream", "beir", "csv", "tsv", "jsonl", "parquet")}
WHOLES = {door: {} for door in ("rows", "array", "saved", "nested")}
WHOLES |= {door: {} for door in ("pandas", "polars", "pyarrow")}
WHOLES |= {f"{door}, kept": KEPT for door in ("stream", "csv", "jsonl", "parquet")}
NEEDED = {"nested": "pandas", "stream": "pyarrow", "parquet": "pyarrow"}


def through(door, options, seed=5):
    """Return the door, the options and the world that it sees; skip what is not installed."""
    name = door.partition(",")[0]
    if name in ("pandas", "polars", "pyarrow", *NEEDED):
        pytest.importorskip(NEEDED.get(name, name))
    options = options | WHOLES.get(door, {})
    return name, options, seen(draw(seed), options, name)


@pytest.mark.parametrize("beside", [[], ["mrr@7", "judged@5"]])
@pytest.mark.parametrize("door", [*WHOLES, *IN_PARTS])
def test_every_door_gives_the_same_bits(door, beside):
    options = {"metrics": EVERY["metrics"] + beside}
    name, options, world = through(door, options)
    both = call(world, options, name), call(world, EVERY, "dicts")
    for key in EVERY["metrics"]:
        numbers = [
            [one.means[key], one.std[key], *one.intervals[key], one.n[key] or 0] for one in both
        ]
        if door in IN_PARTS:  # whose averages are added up
            assert numbers[0] == pytest.approx(numbers[1], rel=1e-13, nan_ok=True), key
            continue
        assert [float(one).hex() for one in numbers[0]] == [float(one).hex() for one in numbers[1]]
        if key in both[1].values:
            users = world.users if name in ("rows", "array") else both[0].users
            rows = zip((users, both[1].users), both, strict=True)
            values = [dict(zip(of, one.values[key], strict=True)) for of, one in rows]
            assert {u: one.hex() for u, one in values[0].items()} == {
                u: one.hex() for u, one in values[1].items()
            }, key


PAD = "-"
USERS = [*TRUTHS, "z"]


def padded(rows, width, pad=""):
    return [[*row, *[pad] * (width - len(row))] for row in rows]


def with_pads(rows, n=2):
    return {user: [*row, *[PAD] * n] for user, row in rows.items()}


WAYS = {
    "padding": ({}, {"padding": PAD}),
    "padding in lists": ({"lists": with_pads(LISTS)}, {"padding": PAD}),
    "one pad": ({"lists": with_pads(LISTS, 1)}, {"padding": PAD}),
    "padding in baseline and history": (
        {"lists": with_pads(LISTS)},
        {"padding": PAD, "expected": with_pads(BASELINE), "history": with_pads(HISTORY)},
    ),
    "padding in sets": (
        {"lists": with_pads(LISTS)},
        {"padding": PAD, "expected": {user: {*row, PAD} for user, row in BASELINE.items()}},
    ),
    "padding of lists of nothing": (
        {"lists": {**with_pads(LISTS), "y": [PAD] * 4}},
        {"padding": PAD},
    ),
    "ties": ({}, {"ties": "item_desc"}),
    "first": ({}, {"duplicates": "first"}),
    "collapse": (
        {"lists": {u: [*row[:1], *row] for u, row in LISTS.items()}},
        {"duplicates": "collapse"},
    ),
    "mapped": ({}, {"items_as": SAME}),
    "mapped, by a function": ({}, {"items_as": list}),
    "mapped, padded": ({"lists": with_pads(LISTS)}, {"items_as": SAME, "padding": PAD}),
    "collapse, padded": ({"lists": with_pads(LISTS)}, {"duplicates": "collapse", "padding": PAD}),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_says_nothing_changes_no_bit(way):
    given, how = WAYS[way]
    lists = {user: [*row] for user, row in given.get("lists", LISTS).items()}
    for k in (K, 9):
        assert bits(evaluated(lists, k=k, **how), k=k, users=TRUTHS) == bits(
            evaluated(k=k), k=k, users=TRUTHS
        )


def tables_of(rows, kind):
    rows = [(user, item) for user, row in rows.items() for item in row]
    users, items = map(list, zip(*rows, strict=True))
    return frame_of(kind, {"user_id": users, "item_id": items})


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("how", [{}, {"padding": PAD}, {"items_as": SAME}])
def test_a_history_and_a_baseline_are_the_same_in_every_form(kind, how):
    """An item of a history counts as often as it is there."""
    fill = with_pads if "padding" in how else dict
    tables = {name: tables_of(fill(KNOWN[name]), kind) for name in ("history", "expected")}
    lists = fill(LISTS)
    assert bits(evaluated(lists, **how, **tables), users=TRUTHS) == bits(evaluated(), users=TRUTHS)


FUNCTIONS = {
    "item_coverage": ["catalogue"],
    "gini": ["catalogue"],
    "shannon_entropy": [],
    "personalisation": [],
    "average_popularity": ["counts"],
    "tail_percentage": ["counts"],
    "novelty": ["counts"],
    "popularity_lift": ["history", "counts"],
    "intra_list_diversity": ["features"],
    "calibration": ["history", "labels"],
    "unexpectedness": ["expected"],
    "serendipity": ["expected"],
    "exposure_share": ["labels"],
    "hit_share": ["labels"],
}
SHARED = [user for user in LISTS if user in TRUTHS]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("form", ["dict", "rows", "array"])
def test_functions_of_lists_know_no_padding(name, form):
    """Also in a history and a baseline; beside lists by position they are by position too."""
    needs = FUNCTIONS[name]

    def found(n_pads, **how):
        pad = lambda rows, extra=0: {  # noqa: E731
            user: padded([rows.get(user, [])], 9 + extra, PAD)[0] if n_pads else rows.get(user, [])
            for user in SHARED
        }
        lists, of_truth = pad(LISTS), pad({user: [*row] for user, row in TRUTHS.items()}, 1)
        known = {one: KNOWN[one] for one in needs}
        known |= {one: pad(KNOWN[one]) for one in ("history", "expected") if one in needs}
        if form != "dict":
            lists, of_truth = [*lists.values()], [*of_truth.values()]
            known |= {
                one: [*known[one].values()] for one in ("history", "expected") if one in needs
            }
        if form == "array" and n_pads:
            lists = np.array(lists)
        sides = (lists, of_truth) if name in ("serendipity", "hit_share") else (lists,)
        label = {"label": "war"} if name.endswith("_share") else {}
        return getattr(listwise, name)(*sides, 5, **known, **label, **how)

    assert found(0).tobytes() == found(2, padding=PAD).tobytes()


# Tests of differences


def turned(lists):
    return {user: row[::-1] for user, row in lists.items()}


def check_tests(results, tests):
    """Check that a tested difference is that of the means, over as many users."""
    a, b = results.values()
    assert len(tests)
    for one in tests:
        assert one.difference == pytest.approx(b[one.name] - a[one.name], rel=1e-9, abs=1e-12)
        assert one.n == a.n_of(one.name) == b.n_of(one.name), one.name


@pytest.mark.parametrize("how", ["plain", "unjudged", "mapped", "trec_eval"])
@pytest.mark.parametrize("names", [OF_USERS, ["average_popularity"]])
def test_tests_are_over_the_users_of_the_means(how, names):
    def both(beside):
        sides = ("a", LISTS), ("b", turned(LISTS))
        return {
            system: evaluated(lists, names=names, beside=beside, **HOWS[how])
            for system, lists in sides
        }

    def tested(beside):
        results = both(beside)
        tests = tl.compare(results).test(correction="none")
        check_tests(results, tests)
        return {one.name: (one.n, one.difference, one.p) for one in tests}

    alone = tested([])
    for beside in (others(how), ["judged@2", "mrr@2", "recall@7"]):
        assert alone.items() <= tested(beside).items()


@pytest.mark.parametrize("beside", [[], ["judged@3"], ["judged@3", "judged@7"]])
def test_tests_are_over_the_users_of_the_means_where_r_counts_listed_items(beside):
    names = [name for name in OF_USERS if name not in ("serendipity", "hit_share(label=love)")]
    results = {
        name: evaluated(some, names=names, beside=beside, relevant="listed")
        for name, some in (("a", LISTS), ("b", turned(LISTS)))
    }
    tests = tl.compare(results).test()
    check_tests(results, tests)
    assert {one.name.partition("@")[0] for one in tests} == {
        *names,
        *(["judged"] if beside else []),
    }


@pytest.mark.parametrize("door", [*WHOLES, "dicts"])
def test_tests_through_every_door_are_over_the_users_of_the_means(door, tmp_path):
    options = {"metrics": [*EVERY["metrics"], "mrr@3", "judged@3"]}
    name, options, world = through(door, options)
    results = {}
    for system, side in (("a", world), ("b", world.of_other())):
        folder = tmp_path / system
        folder.mkdir()
        results[system] = DOORS[name](Case(side, options), folder)
    tests = tl.compare(results).test()
    check_tests(results, tests)
    names = {one.name.partition("@")[0] for one in tests}
    assert {"novelty", "popularity_lift", "serendipity", "mrr", "judged"} <= names


def test_clusters_and_the_lists_that_have_none():
    """z has a list and no truth, so no cluster: what counts it is not tested by clusters."""
    clusters = {user: row // 2 for row, user in enumerate(TRUTHS)}
    for extra in (True, False):
        results = {
            name: evaluated(
                {u: row for u, row in some.items() if extra or u in TRUTHS},
                names=["novelty", "serendipity"],
                clusters=clusters,
            )
            for name, some in (("a", LISTS), ("b", turned(LISTS)))
        }
        tests = tl.compare(results).test()
        check_tests(results, tests)
        assert {one.name for one in tests} == {"serendipity@3", *([] if extra else ["novelty@3"])}
        assert (
            "not tested: novelty@3: lists without a ground truth are in these" in str(tests)
        ) is extra
    by_user = tl.compare(
        {
            name: evaluated(some, names=["novelty"])
            for name, some in (("a", LISTS), ("b", turned(LISTS)))
        }
    ).test(clusters=clusters | {"z": "z"})
    assert by_user["b", "novelty@3"].n == 7


# judged


@pytest.mark.parametrize("door", ["dicts", "array", "pandas", "csv"])
@pytest.mark.parametrize(
    "more", [{}, {"unjudged": "drop"}, {"relevant_from": 2}, {"items_as": True}]
)
def test_judged_does_not_hang_on_what_r_counts(door, more):
    names = [f"judged@{k}" for k in (1, 3, 7)]
    every, listed = (
        call(world, asked, name)
        for one, beside in (("all", []), ("listed", ["hit@3", "recall@3"]))
        for name, asked, world in [
            through(door, {"metrics": [*names, *beside], "relevant": one, **more})
        ]
    )
    for name in names:
        assert every.means[name].hex() == listed.means[name].hex()
        assert every.std[name] == pytest.approx(listed.std[name], rel=1e-12)
        assert every.n[name] == listed.n[name]


def test_judged_of_listed_truths_in_parts_segments_and_files(tmp_path):
    def asked(users, relevant):
        sides = ({u: side[u] for u in users if u in side} for side in (LISTS, TRUTHS))
        return tl.top_k_eval(
            *sides,
            3,
            metrics=["judged", "hit"],
            convention=tl.CONVENTIONS["standard"].replace(relevant=relevant),
        )

    every, listed = (asked(USERS, one) for one in ("all", "listed"))
    parts = asked("abc", "listed") + asked("defghz", "listed")
    listed.save(tmp_path / "result.npz")
    again = tl.TopKResult.load(tmp_path / "result.npz")
    for found in (listed, parts, again):
        assert found["judged@3"] == pytest.approx(every["judged@3"], rel=1e-15)
        assert found.n_of("judged@3") == every.n_of("judged@3") == 8
    labels = {user: user in "ace" for user in USERS}
    for label, part in every.by(labels).items():
        for found in (listed, parts, again):
            assert found.by(labels)[label]["judged@3"] == part["judged@3"]
    hits = tl.match(LISTS, TRUTHS)
    assert tl.curves("judged", hits.listed()).tobytes() == tl.curves("judged", hits).tobytes()
