"""Metrics of the lists: no bit hangs on the form, nor on what is asked beside; nor do tests."""

import json

import numpy as np
import pytest
from doors import by_words
from listwise import listwise
from shared_inputs import frame_of, library

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
    for other in others(how, 7 if k < 7 else 1):
        both = evaluated(k=k, beside=[other], **HOWS[how])
        assert bits(both, k=k, users=TRUTHS) == alone, other


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


# Forms


def long(lists):
    rows = [(user, item, r) for user, row in lists.items() for r, item in enumerate(row, 1)]
    return dict(
        zip(("user_id", "item_id", "rank"), map(list, zip(*rows, strict=True)), strict=True)
    )


def long_truth(truths):
    rows = [(user, *one) for user, row in truths.items() for one in row.items()]
    names = "user_id", "item_id", "relevance"
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def by_position(lists, truths):
    """Return sides by position, in one order of users."""
    users = [*lists, *(user for user in truths if user not in lists)]
    return [lists.get(u, []) for u in users], [truths.get(u, {}) for u in users], users


def padded(rows, width, pad=""):
    return [[*row, *[pad] * (width - len(row))] for row in rows]


def of_dict(kind):
    def made(folder, lists, truths):
        return {user: kind(row) for user, row in lists.items()}, truths, {}

    return made


def of_rows(folder, lists, truths):
    *sides, users = by_position(lists, truths)
    return *sides, {"users": users}


def of_array(folder, lists, truths):
    *sides, users = by_position(lists, truths)
    return np.array(padded(sides[0], 8)), sides[1], {"users": users, "padding": ""}


def of_table(name):
    def made(folder, lists, truths):
        return frame_of(name, long(lists)), frame_of(name, long_truth(truths)), {}

    return made


def of_wide_table(name):
    def made(folder, lists, truths):
        columns = {"user_id": [*lists], "item_id": [*lists.values()]}
        return frame_of(name, columns), frame_of(name, long_truth(truths)), {}

    return made


def of_files(ending, **how):
    def made(folder, lists, truths):
        sides = long(lists), long_truth(truths)
        paths = [folder / f"{name}.{ending}" for name in ("lists", "truths")]
        for path, side in zip(paths, sides, strict=True):
            if ending == "parquet":
                library("pyarrow.parquet").write_table(frame_of("pyarrow", side), path)
            elif ending == "csv":
                rows = [side, *zip(*side.values(), strict=True)]
                path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
            else:
                rows = (
                    dict(zip(side, row, strict=True)) for row in zip(*side.values(), strict=True)
                )
                path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return *paths, how

    return made


def of_jsonl(folder, lists, truths):
    paths = folder / "lists.jsonl", folder / "truths.jsonl"
    rows = [{"user_id": user, "item_id": row} for user, row in lists.items()]
    paths[0].write_text("".join(json.dumps(row) + "\n" for row in rows))
    rows = [
        {"user_id": user, "item_id": [*row], "relevance": [*row.values()]}
        for user, row in truths.items()
    ]
    paths[1].write_text("".join(json.dumps(row) + "\n" for row in rows))
    return *paths, {}


FORMS = {
    "dict of tuples": of_dict(tuple),
    "dict of arrays": of_dict(lambda row: np.array(row, str)),
    "lists by position": of_rows,
    "array": of_array,
    **{f"{name} table": of_table(name) for name in ("pandas", "polars", "pyarrow")},
    **{f"{name} table of lists": of_wide_table(name) for name in ("pandas", "polars", "pyarrow")},
    **{f"{ending} in memory": of_files(ending, keep="users") for ending in ("csv", "parquet")},
    **{f"{ending} in parts": of_files(ending) for ending in ("csv", "parquet")},
    "jsonl": of_jsonl,
}
KEYED = [form for form in FORMS if form not in ("lists by position", "array")]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("beside", [[], ["mrr@7", "judged@5"]])
def test_every_form_gives_the_same_bits(form, beside, tmp_path):
    lists, truths, how = FORMS[form](tmp_path, LISTS, TRUTHS)
    found, plain = evaluated(lists, truths, beside=beside, **how), evaluated()
    if form.endswith(("in parts", "jsonl")):  # whose averages are added up
        for name in plain.names():
            numbers = [(one[name], one.std(name), one.n_of(name)) for one in (found, plain)]
            assert numbers[0] == pytest.approx(numbers[1], rel=1e-13, nan_ok=True), name
    else:
        assert bits(found) == bits(plain)


PAD = "-"
USERS = [*TRUTHS, "z"]


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

    def told(results):
        tests = tl.compare(results).test(correction="none")
        return {one.name: (one.n, one.difference, one.p) for one in tests}

    alone = told(both([]))
    for beside in ([], *([other] for other in others(how)), ["judged@2", "mrr@2", "recall@7"]):
        results = both(beside)
        check_tests(results, tl.compare(results).test())
        assert alone.items() <= told(results).items()


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


@pytest.mark.parametrize("form", [*KEYED, "saved"])
def test_tests_of_every_form_are_over_the_users_of_the_means(form, tmp_path):
    results = {}
    for name, lists in (("a", LISTS), ("b", turned(LISTS))):
        folder = tmp_path / name
        folder.mkdir()
        *sides, how = FORMS.get(form, of_dict(list))(folder, lists, TRUTHS)
        keep = {"keep": "users"} if form.endswith(("parts", "jsonl")) else {}
        results[name] = evaluated(
            *sides, names=OF_USERS, beside=["mrr@3", "judged@3"], **how, **keep
        )
        if form == "saved":
            results[name].save(folder / "result.npz")
            results[name] = tl.TopKResult.load(folder / "result.npz")
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


@pytest.mark.parametrize("form", ["dict of tuples", "array", *FORMS])
@pytest.mark.parametrize(
    "more", [{}, {"unjudged": "drop"}, {"relevant_from": 2}, {"items_as": SAME}]
)
def test_judged_does_not_hang_on_what_r_counts(form, more, tmp_path):
    lists, truths, how = FORMS[form](tmp_path, LISTS, TRUTHS)
    names = [f"judged@{k}" for k in (1, 3, 7)]
    every, listed = (
        by_words(lists, truths, metrics=[*names, *more_names], relevant=one, **how, **more)
        for one, more_names in (("all", []), ("listed", ["hit@3", "recall@3"]))
    )
    for name in names:
        assert every[name].hex() == listed[name].hex()
        assert every.std(name) == pytest.approx(listed.std(name), rel=1e-12)
        assert every.n_of(name) == listed.n_of(name)


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
