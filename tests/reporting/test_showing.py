"""`show`: what is marked, what moved, what is missed; all forms of lists; hostile ids as text."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reporting.pages import HOSTILE, Reader
from strategies import graded_populations, populations

import toplist as tl
from toplist.files import write_text

pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))

OLD = ["tea", "jam", "oat", "rye"]
NEW = ["rye", "fig", "tea", "oat"]
TRUTH = {"jam", "oat", "fig", "pea"}
BOTH = {"old": {"ann": OLD, "bob": ["x"]}, "new": {"bob": ["y"], "ann": NEW}}
TRUTHS = {"bob": {"x"}, "ann": TRUTH}

FRAME = pd.DataFrame(
    [(u, i, -r) for u, row in BOTH["old"].items() for r, i in enumerate(row)],
    columns=["user_id", "item_id", "score"],
)
FORMS = {
    "dict": BOTH["old"],
    "scores": {u: {i: -r for r, i in enumerate(row)} for u, row in BOTH["old"].items()},
    "pandas": FRAME.sample(frac=1, random_state=1),
    "polars": pl.from_pandas(FRAME),
    "pyarrow": pa.Table.from_pandas(FRAME),
    "series": pd.Series(BOTH["old"]),
}
TRUTH_ROWS = [(u, i) for u, row in TRUTHS.items() for i in sorted(row)]
TRUTH_FORMS = {
    "kept": tl.GroundTruths(TRUTHS),
    "table": pd.DataFrame(TRUTH_ROWS, columns=["user_id", "item_id"]),
    "kept table": tl.GroundTruths(pd.DataFrame(TRUTH_ROWS, columns=["user_id", "item_id"])),
    "grades": {u: {**dict.fromkeys(sorted(row), 1), "tea": 0} for u, row in TRUTHS.items()},
    "groups": tl.Groups({"bob": [["x"]], "ann": [["jam", "oat"], ["fig", "pea"]]}),
}


def moves(shown):
    return {name: [one.moved for one in row] for name, row in shown.lists.items()}


def test_hits_moves_and_what_is_missed():
    found = tl.show("ann", BOTH, TRUTHS, {"pea": "Green pea", "tea": None}, k=3)
    assert [one.item for one in found.lists["old"]] == OLD[:3]
    assert [one.hit for one in found.lists["old"]] == [False, True, True]
    assert moves(found) == {
        "old": ["▼2", "only here", "▼1"],
        "new": ["▲3 (was 4)", "only here", "▼2 (was 1)"],
    }
    assert [tuple(one) for one in found.missed] == [("pea", "Green pea", (None, None), True, None)]
    assert (found.n_relevant, found.lengths) == (4, {"old": 4, "new": 4})
    expected = tl.top_k_eval(BOTH["new"], TRUTHS, k=3, metrics=["ndcg", "recall"])
    for name in ("ndcg@3", "recall@3"):
        assert found.values["new"][name] == expected.per_user(name, keyed=True)["ann"]
    below = tl.show("ann", BOTH, TRUTHS, k=1).missed
    assert [(one.item, *one.places) for one in below] == [
        *(("fig", "not listed", "rank 2"), ("jam", "rank 2", "not listed")),
        *(("oat", "rank 3", "rank 4"), ("pea", "not listed", "not listed")),
    ]


def test_history_and_catalogue():
    past = {"ann": [*"abcdef", "a"], "bob": ["x"]}
    titles = {"a": "Apple", "pea": "Pea"}
    for form in (past, pd.Series(past)):
        items = tl.Items(history=form, catalogue={"tea", "jam"})
        found = tl.show("ann", BOTH, TRUTHS, titles, k=3, items=items)
        assert found.before == "6 items in the history: a Apple, b, c, d, e, ..."
        assert found.to_text().splitlines()[1] == found.before
        assert f"<bdi>{found.before}</bdi>" in found.to_html()
    (missed,) = found.missed
    assert missed.known is False and missed.places == ["not in the catalogue"] * 2
    assert "pea Pea  old: not in the catalogue, new: not in the catalogue" in found.to_text()
    (missed,) = tl.show("ann", BOTH, TRUTHS, k=3, items=tl.Items(catalogue=["pea"])).missed
    assert missed.known and missed.places == ["not listed"] * 2
    without = tl.show("ann", BOTH, TRUTHS, k=3)
    assert without.history is None and "history" not in without.to_text()
    of_others = tl.show("ann", BOTH, TRUTHS, items=tl.Items(history={"bob": ["x"]}))
    assert of_others.before == "0 items in the history"
    items = tl.Items(history=[[7], [8]], catalogue=9)
    by_row = tl.show(1, {"a": [[1], [2]]}, [{3}, {2}], items=items)
    assert by_row.before == "1 item in the history: 8"
    with pytest.raises(TypeError, match="users of two kinds, 7 in history and 'ann' in ground_tr"):
        tl.show("ann", BOTH, TRUTHS, items=tl.Items(history={7: ["a"]}))


def test_grades_of_hits_and_of_what_is_missed():
    grades = {"ann": {"jam": 3, "oat": 1, "fig": 0.5, "pea": 2, "tea": 0}, "bob": {"x": 1}}
    found = tl.show("ann", BOTH, grades, k=3)
    assert [one.mark for one in found.lists["old"]] == ["", "✓ hit 3", "✓ hit 1"]
    text, html = found.to_text(), found.to_html()
    assert "  2 ✓ hit 3   jam" in text and "2 ✓ hit 0.5 fig" in text and "✓ hit 3" in html
    assert "  pea (grade 2)  old: not listed, new: not listed" in text
    assert "pea</bdi></span> (grade 2)" in html
    for least, marks in ((2, ["", "✓ hit 3", ""]), (0, ["✓ hit 0", "✓ hit 3", "✓ hit 1"])):
        some = tl.show("ann", BOTH, grades, k=3, relevant_from=least)
        assert [one.mark for one in some.lists["old"]] == marks
    assert "grade" not in tl.show("bob", BOTH, grades).to_text()


# Truths of which a number of "ann" hangs on those of "bob", and what is asked of them.
OTHERS = {
    "largest grade": ({"bob": {"x": 3}, "ann": dict.fromkeys(sorted(TRUTH), 1)}, ["err", "nerr"]),
    "judged": ({"bob": {"x": 1, "q": 0}, "ann": {"jam": 2, "oat": 1}}, ["bpref", "judged"]),
    "threshold": ({"bob": {"x": 2}, "ann": {"jam": 1}}, ["precision(rel=2)"]),
    "groups": (TRUTH_FORMS["groups"], ["group_recall", "alpha_ndcg", "recall"]),
    "of the lists": (TRUTHS, ["novelty", "unexpectedness", "serendipity"]),
    "plain": (TRUTHS, ["ndcg", "err"]),
}
GIVEN = tl.Items(counts=dict.fromkeys([*OLD, *NEW, "x", "y"], 2), expected={"bob": ["x"]})
STRICT = tl.CONVENTIONS["standard"].replace(missing="raise")


@pytest.mark.parametrize(("truth", "metrics"), OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("convention", ["standard", STRICT], ids=["standard", "strict"])
def test_numbers_are_those_of_the_evaluation(truth, metrics, convention):
    how = {"metrics": metrics, "convention": convention, "items": GIVEN}
    for kept in (truth, tl.GroundTruths(truth)):
        shown = {user: tl.show(user, BOTH, kept, k=3, **how).values for user in TRUTHS}
        for system, lists in BOTH.items():
            result = tl.top_k_eval(lists, kept, 3, **how)
            for name in result.names():
                found = {user: values[system][name] for user, values in shown.items()}
                np.testing.assert_equal(found, result.per_user(name, keyed=True))


def test_what_others_lack_is_no_error():
    truth = {"ann": TRUTH, "bob": set(), "eve": {"x"}}
    for convention in ("standard", "llamaindex"):
        found = tl.show("ann", BOTH, truth, k=2, metrics="mrr", convention=convention)
        assert found.values == {"old": {"mrr@2": 0.5}, "new": {"mrr@2": 0.5}}


def test_numbers_of_all_lists_together_are_of_no_user():
    with pytest.raises(ValueError, match="system 'old': personalisation .* no values per user"):
        tl.show("ann", BOTH, TRUTHS, metrics="personalization")


def test_several_systems_are_compared_with_the_first():
    lists = {"a": [["x", "y", "z"]], "b": [["z", "q"]], "c": [["q", "z", "w"]]}
    assert moves(tl.show(0, lists, [{"x", "w"}])) == {
        "a": ["only here", "only here", ""],
        "b": ["▲2 (was 3)", "not in a"],
        "c": ["not in a", "▲1 (was 3)", "only here"],
    }
    assert moves(tl.show(0, {"a": [["x"]]}, [{"x"}])) == {"a": [""]}


@settings(deadline=None, max_examples=25)
@given(st.data(), populations(max_users=3) | graded_populations(max_users=3), st.integers(1, 6))
def test_each_relevant_item_is_above_or_below_and_every_hit_is_marked(data, population, k):
    lists, truths = population
    user = data.draw(st.integers(0, len(lists) - 1))
    n = data.draw(st.integers(1, 3))
    systems = {f"s{i}": data.draw(st.permutations(lists)) for i in range(n)}
    found = tl.show(user, systems, truths, k=k)
    truth = truths[user]
    relevant = {i for i in truth if not isinstance(truth, dict) or truth[i] > 0}
    above = set()
    for name, given_lists in systems.items():
        row = given_lists[user]
        assert [one.item for one in found.lists[name]] == row[:k]
        assert [one.hit for one in found.lists[name]] == [item in relevant for item in row[:k]]
        above |= relevant & {*row[:k]}
    below = [one.item for one in found.missed]
    assert len(below) == len({*below}) and {*below} == relevant - above
    best = [min(filter(None, one.ranks), default=99) for one in found.missed]
    assert best == sorted(best)
    for one in found.missed:
        rows = [some[user] for some in systems.values()]
        assert one.ranks == tuple(r.index(one.item) + 1 if one.item in r else None for r in rows)
    for at, row in enumerate(found.lists.values()):
        for rank, one in enumerate(row, 1):
            base = systems["s0"][user]
            if at and (arrow := re.match(r"([▲▼])(\d+) \(was (\d+)\)", one.moved)):
                moved = int(arrow[2]) * (1 if arrow[1] == "▲" else -1)
                assert base.index(one.item) + 1 == int(arrow[3]) == rank + moved
            elif at and not one.moved:
                assert base[rank - 1] == one.item
    text = found.to_text()
    assert text.count("✓ hit") == sum(one.hit for row in found.lists.values() for one in row)
    assert found.to_html().count("✓ hit") == text.count("✓ hit")


def test_forms_of_lists_and_truths():
    sides = [(one, TRUTHS) for one in FORMS.values()]
    sides += [(FORMS["dict"], one) for one in TRUTH_FORMS.values()]
    expected = tl.show("ann", {"a": BOTH["old"], "b": BOTH["new"]}, TRUTHS, k=3)
    for lists, truth in sides:
        found = tl.show("ann", {"a": lists, "b": BOTH["new"]}, truth, k=3)
        assert found.to_text() == expected.to_text()


def test_rows_by_position_with_padding_and_repeats():
    lists, truth = np.array([[1, 2, -1], [3, 4, 5]]), np.array([[2, 9], [3, -1]])
    found = tl.show(1, {"a": lists}, truth, padding=-1)
    assert (found.n_relevant, found.lengths) == (1, {"a": 3})
    assert tl.show(0, {"a": lists}, truth, padding=-1).lengths == {"a": 2}
    twice = {"u": ["a", "b", "a", "c"]}
    with pytest.raises(ValueError, match="system 'm': user 'u' has item 'a' at ranks 1 and 3"):
        tl.show("u", {"m": twice}, {"u": {"a"}})
    kept = tl.show("u", {"m": twice}, {"u": {"a"}}, duplicates="first").lists["m"]
    assert [(one.hit, one.moved) for one in kept][::2] == [(True, ""), (False, "again, see 1")]
    collapsed = tl.show("u", {"m": twice}, {"u": {"a"}}, duplicates="collapse").lists["m"]
    assert [one.item for one in collapsed] == ["a", "b", "c"]


def test_no_list_and_no_relevant_item():
    found = tl.show("ann", {"a": {"bob": ["x"]}, "b": BOTH["new"]}, {**TRUTHS, "eve": set()})
    assert found.lists["a"] == () and "no list" in found.to_text() and "no list" in found.to_html()
    nothing = tl.show("eve", BOTH, {**TRUTHS, "eve": set()})
    assert (nothing.n_relevant, nothing.missed) == (0, ())
    assert nothing.to_text().split("\n")[2].split() == ["old", "-", "-", "-"]


def test_titles_of_items_and_users():
    titles, query = {"tea": "Green tea", "jam": ""}, "how do I sort <b>?"
    table = pd.DataFrame({"item_id": [*titles], "title": [*titles.values()]})
    expected = tl.show("ann", BOTH, TRUTHS, titles).to_text()
    assert "tea Green" in expected
    for form in (pl.from_pandas(table), pd.Series(titles)):
        assert tl.show("ann", BOTH, TRUTHS, form).to_text() == expected
    users = pd.DataFrame([("ann", query), ("bob", None)], columns=["user_id", "text"])
    for titles in (pd.Series({"ann": query}), users):
        found = tl.show("ann", BOTH, TRUTHS, user_titles=titles)
        assert found.to_text().startswith(f"user ann {query}: 4 relevant items\n")
        assert "<bdi>ann</bdi> <bdi>how do I sort &lt;b&gt;?</bdi>: 4 relev" in found.to_html()
    assert tl.show("bob", BOTH, TRUTHS, user_titles=users).to_text().startswith("user bob: 1 rel")
    for name, form, error, said in (
        ("titles", ["tea"], TypeError, "titles is a list: give a dict item -> title"),
        ("titles", pd.Series(["tea"]), TypeError, "titles is a Series that counts its rows"),
        ("user_titles", users[["text"]], ValueError, "table of user_id and one column of titl"),
    ):
        with pytest.raises(error, match=said):
            tl.show("ann", BOTH, TRUTHS, **{name: form})


# Files


@pytest.fixture
def texts(tmp_path):
    """Write lists and truths; of "apart.csv", the rows of a user are not together."""
    rows = [f"{u},{i},{r}\n" for u, row in BOTH["old"].items() for r, i in enumerate(row, 1)]
    apart = [rows[0], rows[-1], *rows[1:-1]]
    write_text(tmp_path / "apart.csv", "user_id,item_id,rank\n" + "".join(apart))
    pairs = "".join(f"{u},{i}\n" for u, i in TRUTH_ROWS)
    write_text(tmp_path / "truth.csv", f"user_id,item_id\n{pairs}")
    run = [f"{u} Q0 {i} 0 {-r} x\n" for u, row in BOTH["old"].items() for r, i in enumerate(row)]
    write_text(tmp_path / "old.run", "".join(run))
    qrels = [f"{u} 0 {i} 1\n" for u, i in TRUTH_ROWS]
    write_text(tmp_path / "truth.qrels", "".join(qrels) + "ann 0 tea 0\nann 0 rye -1\n")
    FRAME.to_parquet(tmp_path / "old.parquet")
    write_text(tmp_path / "numbers.jsonl", '{"user_id": 7, "item_id": [1, 2]}\n')
    return tmp_path


FILES = [("apart.csv", "truth.csv"), ("old.run", "truth.qrels"), ("old.parquet", "truth.csv")]


@pytest.mark.parametrize(("name", "truth"), FILES)
def test_files(texts, name, truth):
    expected = tl.show("ann", BOTH, TRUTHS, k=3).to_text()
    for side in (texts / truth, tl.GroundTruths(texts / truth)):
        found = tl.show("ann", {**BOTH, "old": str(texts / name)}, side, k=3)
        assert found.to_text() == expected


GRADED = {"user_id": ["bob", "ann", "bob"], "item_id": ["x", "jam", "q"], "relevance": [3, 2, 0]}
GROUPED = {"user_id": ["bob", "ann", "ann"], "item_id": ["x", "jam", "jam"], "nugget": [1, 2, 3]}
OF_GROUPS = {"ground_truths": {"group": "nugget"}}


@pytest.mark.parametrize("convention", ["standard", STRICT], ids=["standard", "strict"])
@pytest.mark.parametrize("extension", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("truth", "metrics", "columns"),
    [(GRADED, ["err", "bpref", "precision(rel=2)"], None), (GROUPED, ["alpha_ndcg"], OF_GROUPS)],
    ids=["grades", "groups"],
)
def test_numbers_of_files(texts, cli, truth, metrics, columns, extension, convention):
    path, lists = str(texts / f"whole.{extension}"), str(texts / "old.parquet")
    table, how = pd.DataFrame(truth), {"metrics": metrics, "convention": convention}
    table.to_csv(path, index=False) if extension == "csv" else table.to_parquet(path)
    result = tl.top_k_eval(lists, path, 3, keep="users", columns=columns, **how)
    expected = [result.per_user(name, keyed=True)["ann"] for name in result.names()]
    for side in (path, tl.GroundTruths(path, columns=columns), table):
        found = tl.show("ann", {"old": lists}, side, k=3, columns=columns, **how)
        assert [*found.values["old"].values()] == expected
    line = ["show", "ann", lists, path, "-k", 3, "-m", *metrics]
    status, out, _ = cli(*line, *(["--columns", "ground_truths:group=nugget"] if columns else []))
    assert status == 0
    assert out.splitlines()[2].split() == ["old", *(f"{value:.4f}" for value in expected)]


def test_items_of_equal_scores(texts):
    write_text(texts / "tied.csv", "user_id,item_id,score\nu,b,1\nu,a,1\n")
    for lists in (texts / "tied.csv", {"u": {"b": 1, "a": 1}}):
        for ties, first in ((None, "b"), ("item", "a"), ("item_desc", "b"), ("order", "b")):
            found = tl.show("u", {"m": tl.Ranks(lists, ties=ties)}, {"u": {"a"}})
            assert found.lists["m"][0].item == first


def test_users_of_files_are_compared_as_text(texts):
    for user in (7, "7"):
        found = tl.show(user, {"m": texts / "numbers.jsonl"}, {user: {2}})
        assert [one.hit for one in found.lists["m"]] == [False, True]


def test_who_is_not_there_is_said_with_who_may_be_meant(texts):
    rows, ids = {"m": [[1], [2]]}, [{1}, {2}]
    for user, systems, truth, said in (
        ("anna", BOTH, TRUTHS, "no user 'anna' in the ground truth of 2 users (did you mean 'ann'"),
        ("Ann", {"m": texts / "apart.csv"}, texts / "truth.csv", "truth.csv: no user 'Ann' in the"),
        ("7", {"m": {7: [1]}}, {7: {1}}, "in the ground truth of 1 user (did you mean 7?)"),
        ("q", BOTH, TRUTHS, "of 2 users; the first is 'bob'"),
        (-1, rows, ids, "no user -1 in the ground truth of 2 users"),
        ("u", {"m": {}}, {}, "no user 'u' in the ground truth of 0 users"),
    ):
        with pytest.raises(ValueError, match=re.escape(said)):
            tl.show(user, systems, truth)


@pytest.mark.parametrize(
    ("systems", "truth", "said"),
    [
        ([BOTH], TRUTHS, "systems: give a dict of name -> ranked lists"),
        ({"m": iter([])}, TRUTHS, "system 'm': ranks is a list_iterator, read once only"),
        ({"m": [OLD]}, TRUTHS, "system 'm': ground_truths is keyed by user, ranks is not"),
        ({"m": {"ann": {"a"}}}, TRUTHS, "system 'm': ranks: user 'ann' has {'a'} where a list"),
    ],
)
def test_what_is_no_list_is_one_line(systems, truth, said):
    with pytest.raises((TypeError, ValueError), match=re.escape(said)) as caught:
        tl.show("ann", systems, truth)
    assert "\n" not in str(caught.value)


# What is text stays text


def page_of(words):
    """Return what is shown of words in the places of an item, its title, the user, the system."""
    item, title, user, system = words
    lists = {system: {user: [item, "q"]}, "b": {user: ["q"]}}
    return tl.show(user, lists, {user: {item, "r"}}, {item: title, "r": title}, k=1)


@pytest.mark.parametrize("place", range(4), ids=["item", "title", "user", "system"])
def test_hostile_text_makes_no_element(place):
    plain = ["plain"] * 4
    tags = [tag for tag, _ in Reader(page_of(plain).to_html()).elements]
    for text in [*HOSTILE, "</td></table><!-- <style>*{}</style>", "nul\0\x1b[31m"]:
        shown = page_of([*plain[:place], text, *plain[place + 1 :]])
        found = Reader(shown.to_html())
        assert [tag for tag, _ in found.elements] == tags
        names = {name for _, attributes in found.elements for name in attributes}
        assert names <= {"scope", "style", "title"}
        assert not set("\0\x1b") & {*found.shown} and "\n" not in "".join(found.by_tag["bdi"])
        if len(text) > 200:
            titles = [attributes.get("title") for _, attributes in found.elements]
            assert text not in found.shown and text in titles
        elif text.isprintable():
            assert text[:29] in found.shown
        lines = shown.to_text().split("\n")
        assert all(line.isprintable() for line in lines)
        assert place > 1 or max(map(len, lines[:6])) <= 80


def test_two_lists_fit_the_screen():
    systems = {name: {"u": [f"{name}{i}" * 9 for i in range(20)]} for name in ("a" * 50, "日本")}
    titles = {item: "タイトル" * 30 for one in systems.values() for item in one["u"]}
    found = tl.show("u", systems, {"u": {titles and next(iter(titles)), "z" * 300}}, titles)
    for width in (80, 60, 40, 1):
        from unicodedata import east_asian_width

        rows = found.to_text(width).split(" k = 10 ")[0].split("\n")[5:-1]
        wide = [sum(1 + (east_asian_width(one) in "WF") for one in row) for row in rows]
        assert max(wide) <= max(width, 30)
    assert repr(found) == found.to_text(80) and found._repr_html_() == found.to_html()
