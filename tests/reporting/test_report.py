"""The page: its numbers are those of the public functions, and no text of the data does harm."""

import base64
import hashlib
import json
import re
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from doors import by_words
from listwise import listwise
from reporting.pages import HOSTILE, Reader, systems

import toplist as tl
from toplist.results import describe
from toplist.results.tables import LOOK, probability

pd = pytest.importorskip("pandas")
jinja2 = pytest.importorskip("jinja2")
SKIPPING = tl.CONVENTIONS["standard"].replace(missing="skip")
METRICS = ["ndcg", "recall"]


def results_of(given, truth):
    return {
        name: tl.top_k_eval(lists, truth, [1, 5, 10], metrics=METRICS)
        for name, lists in given.items()
    }


@pytest.fixture
def page(tmp_path):
    """Write a page and return its text."""

    def write(given, truth=None, k=(1, 5, 10), **options):
        path = tmp_path / "page.html"
        tl.report(given, truth, k, path=path, **{"metrics": METRICS, "n_users": 8, **options})
        return path.read_text("utf-8")

    return write


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A page of which most options are the usual ones, as it is read."""
    given, truth = systems()
    path = tmp_path_factory.mktemp("plain") / "page.html"
    tl.report(given, truth, (1, 5, 10), path=path, metrics=METRICS, n_users=25)
    return Reader(path.read_text()), results_of(given, truth), given, truth


def of_people(read):
    """Return what is shown of each user."""
    return [one for one in read.by_tag["details"] if re.match(r"u\d+ ", one)]


def chart_of(text, title):
    return re.search(f"<figcaption>{title}.*?</svg>", text, re.DOTALL)[0]


# Numbers


def test_means_are_those_of_the_results(plain):
    read, results, _, _ = plain
    ((header, *rows),) = read.tables["Means with 95 % intervals"]
    assert header == ["system", "ndcg@10", "recall@10"]
    assert [row[0] for row in rows] == ["new", "base"]  # the best first
    tests = tl.compare(results, baseline="base").test()
    for system, *cells in rows:
        for name, shown in zip(METRICS, cells, strict=True):
            known = describe.cell(results[system], f"{name}@10")
            sign = tests[system, f"{name}@10"].sign if system == "new" else ""
            assert shown == f"{known.mean}{sign} {known.interval}"
    data = next(text for text in read.by_tag["script"] if text.startswith("{"))
    means = json.loads(data)["means"]
    assert means == tl.compare(results).to_dict()
    for system, result in results.items():
        ((header, *rows),) = read.tables[f"Means of {system}"]
        assert header == ["", "@1", "@5", "@10"] and len(rows) == 2
        for name, *cells in rows:
            for k, shown in zip((1, 5, 10), cells, strict=True):
                known = describe.cell(result, f"{name}@{k}")
                assert shown == f"{known.mean} {known.interval}"
                assert float(shown.split()[0]) == pytest.approx(result[f"{name}@{k}"], abs=6e-5)
        assert "ndcg@k = " in read.shown
    assert read.shown.count("95 % interval, ± half or [low, high]: ") == len(results) + 1
    assert "Segments: by={user: label} in Python" in read.shown


def test_tests_are_those_of_the_comparison(plain):
    read, results, _, _ = plain
    both = tl.compare(results, baseline="base")
    tests = both.test("ndcg@10")
    test = tests["new", "ndcg@10"]
    ((header, row),) = read.tables["Tests in ndcg@10"]
    words = dict(zip(header, row, strict=True))
    known = {
        "base": f"{test.baseline_mean:.4f}",
        "new": f"{test.mean:.4f}",
        "difference": LOOK.signed(test.difference) + test.sign,
        "95 % interval": f"[{LOOK.signed(test.low)}, {LOOK.signed(test.high)}]",
        "win/tie/loss": f"{test.wins}/{test.ties}/{test.losses}",
        "p (Holm)": probability(test.p_adjusted),
    }
    assert known.items() <= words.items() and tests.sentence() in read.shown
    means = f"ndcg@10 {test.baseline_mean:.4f} → {test.mean:.4f}, {100 * test.relative:+.3g} %"
    assert f"new is better than base: {means}, 200 users." in read.shown
    assert f"All {len(both.test())} comparisons" in read.shown
    assert f"critical value {both.band('ndcg').critical:.2f}" in read.shown


def test_the_answer_comes_first_and_says_what_is_not_shown(page):
    given, truth = systems(60)
    twin = {user: [*row[1:2], *row[:1], *row[2:]] for user, row in given["base"].items()}
    read = Reader(page({"base": given["base"], "twin": twin}, truth))
    test = tl.compare(results_of({"base": given["base"], "twin": twin}, truth)).test("ndcg@10")[0]
    assert "A difference of twin from base is not shown: ndcg@10 " in read.shown
    assert f"anything from {test.low:+.4f} to {test.high:+.4f}." in read.shown
    hollow = [a for tag, a in read.elements if a.get("class") == "hollow"]
    assert len(hollow) == 1
    same = Reader(page({"base": given["base"], "copy": given["base"]}, truth)).shown
    assert "copy and base have the same ndcg@10 everywhere: " in same
    assert "anything from" not in same
    alike = {"a": [["x", "y"]] * 2, "b": [["y", "x"]] * 2}  # both users lose as much
    shown = Reader(page(alike, ["x"] * 2, 2)).shown
    assert "A difference of b from a is not shown" in shown and "anything from" not in shown
    tied = Reader(page({**given, "copy": given["new"]}, truth)).shown
    assert "new and copy have the highest ndcg@10 of 3 systems: " in tied
    four = {**given, "twin": twin, "worst": {user: ["i00"] for user in truth}}
    text = page(four, truth)
    read = Reader(text)
    assert "new has the highest ndcg@10 of 4 systems: " in read.shown
    assert "Better than base: new +" in read.shown and "Worse than base: worst -" in read.shown
    assert "Not shown to differ from base: twin " in read.shown
    assert text.index("has the highest") < text.index("<svg") < text.index("<table")
    ((_, *rows),) = read.tables["Means with 95 % intervals"]
    means = [float(row[1][:6]) for row in rows]
    assert means == sorted(means, reverse=True)


def test_the_page_is_about_ndcg_at_10_or_what_is_nearest(page):
    for primary, metrics, k in (
        ("ndcg@5", ["recall", "ndcg"], [1, 5, 20]),
        ("ndcg@15", ["ndcg"], [15, 20]),
        ("recall@5", ["recall@5", "mrr@10"], None),
    ):
        read = Reader(page(*systems(20), k=k, metrics=metrics))
        assert read.by_tag["h1"] == [f"new and base: {primary}"]


def test_names_at_the_ends_of_lines_do_not_touch(page):
    _, truth = systems(30)
    best = {user: sorted(items) for user, items in truth.items()}
    worst = {user: ["x"] for user in truth}
    given = {f"system {i}": best if i else worst for i in range(7)}  # six end at the top
    text = page(given, truth, metrics="ndcg")
    chart = chart_of(text, "ndcg over k")
    found = re.findall(r'y="([\d.]+)" stroke="none">(system \d)<', chart)
    assert len(found) == 7 == len({name for _, name in found})
    places = sorted(float(y) for y, _ in found)
    assert all(b - a >= 13.9 for a, b in pairwise(places))
    assert places[0] > 0 and places[-1] <= 204.1


def test_curves_have_few_points_and_end_with_their_lists(page):
    truth = {f"u{i}": {i, i + 150} for i in range(20)}
    long = {user: [*range(300)] for user in truth}
    short = {user: [*range(8)] for user in truth}
    text = page({"long": long, "short": short}, truth, [10, 300], metrics="recall")
    chart = chart_of(text, "recall over k")
    lines = [line.split() for line in re.findall(r'<polyline points="([^"]+)"', chart)]
    assert [len(line) for line in lines] == [100, lines[1].index(lines[1][-1]) + 1]
    ends = [tuple(map(float, line[-1].split(","))) for line in lines]
    assert ends[0][0] == 318 and ends[1][0] < 70
    (stop,) = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', chart)
    assert tuple(map(float, stop)) == ends[1]
    assert "A dot ends a curve where no list is longer." in text


def test_bars_and_curves_are_those_of_the_results(plain):
    read, results, _, _ = plain
    values = [one.per_user("ndcg@10") for one in results.values()]
    heights = [float(a["height"]) for tag, a in read.elements if tag == "rect"]
    d = values[1] - values[0]
    counts, _ = np.histogram(d[d != 0], 40, (-abs(d).max(), abs(d).max()))
    expected = counts[counts > 0] / counts.max() * max(heights)
    np.testing.assert_allclose(heights, expected, atol=0.06)
    # the points of a line are in proportion to the values
    lines = [a["points"] for tag, a in read.elements if tag == "polyline"][:2]
    heights = [float(point.split(",")[1]) for line in lines for point in line.split()]
    curves = np.concatenate([result["ndcg"] for result in results.values()])
    assert len(heights) == 20
    assert np.corrcoef(heights, curves)[0, 1] < -0.999


def test_who_was_counted_and_the_data_checks_are_those_of_the_public_functions(page):
    given, truth = systems(40)
    assert "None of the 12 checks found anything." in Reader(page(given, truth)).shown
    del given["new"]["u003"]
    found = tl.audit.check(given["new"], truth).findings
    assert [one.name for one in found] == ["without_list"]
    given["new"]["u005"] = given["new"]["u005"][:4]
    given["base"]["stranger"] = ["i01"]
    truth["u007"] = set()
    read = Reader(page(given, truth, primary="ndcg@10"))
    assert "others differ, see below" in read.by_tag["header"][0]
    assert f"warning new: {found[0].text}" in read.shown
    assert "1 without a list (counted as 0)" in read.shown and "'u003'" in read.shown
    assert "'u005'" in read.shown  # whose list is short, by the data checks
    for result in results_of(given, truth).values():
        assert describe.account(result) in read.shown
    # an option that takes care of a flaw makes it a note; else it stands at the head
    given["base"]["u001"] = [*given["base"]["u001"][:3], given["base"]["u001"][0]]
    read = Reader(page(given, truth, duplicates="first"))
    assert "listed items repeat one of their list" in read.shown
    assert "note base: 1 of " in read.shown and "(duplicates=first)" in read.shown
    queries = {name: tl.Ranks(one, unit="queries") for name, one in given.items()}
    read = Reader(page({"new": queries["new"]}, truth))
    assert "1 of 40 queries of ground_truths have no list: 'u003'" in read.shown
    perfect = {user: sorted(items) for user, items in truth.items()}
    shown = Reader(page({"all": perfect}, truth)).shown
    assert re.search(r"warning all: \d+ of \d+ lists hold nothing but", shown)


def test_segments_are_those_of_the_comparison(page):
    given, truth = systems(100)
    labels = {user: "odd" if int(user[1:]) % 2 else "even" for user in truth}
    read = Reader(page(given, truth, primary="recall@5", by=labels))
    tests = tl.compare(results_of(given, truth), baseline="base").by(labels).test("recall@5")
    ((_, *rows),) = read.tables["recall@5"]
    assert [row[0] for row in rows] == ["even", "odd"]
    for segment, n, _, _, difference, *_, p in rows:
        test = tests[segment, "new", "recall@5"]
        assert (n, p) == (str(test.n), probability(test.p_adjusted))
        assert difference.rstrip("†‡ ") == LOOK.signed(test.difference)
    assert "between segments (Welch F(" in read.shown
    many = Reader(page(given, truth, by={user: int(user[1:]) % 41 for user in truth}))
    assert "40 of 41 segments shown." in many.shown


def test_beyond_accuracy_is_that_of_beyond(plain):
    read, _, given, _ = plain
    overlap = tl.beyond.overlap(given["base"], given["new"], 10)
    low, high = overlap.interval()
    ((_, first, second),) = read.tables["The lists at k = 10"]
    assert second[1] == f"{overlap.mean[9]:.4f} [{low[9]:.4f}, {high[9]:.4f}]"
    for row, lists in zip((first, second), given.values(), strict=True):
        assert row[2] == str(len({item for one in lists.values() for item in one[:10]}))
        assert row[3] == f"{listwise.gini(lists, 10, over='recommended')[-1]:.4f}"
    assert "item_coverage, gini, average_popularity, novelty: as metrics they" in read.shown


# Users


def test_users_are_the_worst_and_best_with_more_relevant_first(plain):
    read, results, _, truth = plain
    values = {s: r.per_user("ndcg@10", keyed=True) for s, r in results.items()}
    differences = {user: values["new"][user] - values["base"][user] for user in truth}

    def expected(sign):
        some = [user for user, value in differences.items() if sign * value < 0]
        some.sort(key=lambda user: (sign * differences[user], -len(truth[user]), user))
        return some[:25]

    summaries = [one for one in read.by_tag["summary"] if re.match(r"u\d+ ", one)]
    users = [one.split()[0] for one in summaries]
    assert users[:25] == expected(1) and users[25:50] == expected(-1)
    assert len(users) == len({*users}) == 53
    n_worse = sum(value < 0 for value in differences.values())
    assert f"Worse (25 of {n_worse})" in read.shown and "At random (3, seed 0)" in read.shown
    for user, summary in zip(users, summaries, strict=True):
        assert f"{values['base'][user]:.4f} → {values['new'][user]:.4f}" in summary
        assert f"{differences[user]:+.4f}" in summary
        assert f"{len(truth[user])} relevant" in summary


def test_lists_go_on_below_k_down_to_a_depth(page):
    truth = {"ann": {"tea", "jam", "fig", "oil"}, "bob": {"tea"}, "cy": {"jam"}}
    base = {"ann": ["tea", "x1", "x2", "fig"], "bob": ["x1", "x2"], "cy": ["jam", "x1"]}
    new = {"ann": ["x2", "jam", "x4", "fig", "x5"], "bob": ["tea", "x1"], "cy": ["jam", "x1"]}
    read = Reader(page({"base": base, "new": new}, truth, k=2, metrics="ndcg", depth=4))
    ann = next(text for text in read.by_tag["details"] if text.startswith("ann"))
    lines = [line.strip() for line in ann.splitlines()]
    assert "2✓ hit jam only here" in lines and "4✓ hit fig" in lines and "x5" not in ann
    cuts = [a for tag, a in read.elements if tag == "li" and a.get("class") == "cut"]
    assert len(cuts) == 2  # of ann's two lists


def test_history_catalogue_and_titles_of_the_users_shown(page):
    given, truth = systems(60)
    past = {user: [f"h{user}", *sorted(items)[:1]] for user, items in truth.items()}
    some = [f"i{n:02}" for n in range(20)]
    titles = {f"h{user}": f"Past of {user}" for user in truth}
    beside = {"items": tl.Items(history=past, catalogue=some), "titles": titles}
    beside["user_titles"] = {user: f"Query <{user}>" for user in truth}
    read = Reader(page(given, truth, primary="ndcg@10", **beside))
    assert len(of_people(read)) > 16
    for text in of_people(read):
        user = text.split()[0]
        assert text.startswith(f"{user} Query <{user}> ")
        assert f"2 items in the history: h{user} Past of {user}, {past[user][1]}" in text
        for item, where in re.findall(r"(i\d\d) base: (not [a-z ]+); new: not [a-z ]+", text):
            assert where.startswith("not listed" if item in some else "not in the catalogue")
    hidden = page(given, truth, user_titles=beside["user_titles"], pseudonyms=True)
    assert (
        "Query" not in hidden and "user_titles=..., n_users=8, pseudonyms" in Reader(hidden).shown
    )
    with pytest.raises(ValueError, match="no user is in both: .*history has 'nobody'"):
        page(given, truth, items=tl.Items(history={"nobody": ["a"]}))


def test_padding_is_no_item_of_a_ground_truth_nor_of_a_history(page):
    rows = {"a": [[1, 2, -1], [3, 4, 5]], "b": [[2, 1, -1], [5, 9, 4]]}
    options = {"k": 2, "metrics": "ndcg", "padding": -1}
    options["items"] = tl.Items(history=[[7, -1], [8, 6]], catalogue=10)
    read = Reader(page(rows, [{2: 1, 9: 2}, {3: 1, -1: 2}], **options))
    assert not re.search(r"(?<![\d.])-1 a:", read.shown)
    assert "1 item in the history: 7" in read.shown and "not in the catalogue" not in read.shown


def test_grades_are_shown_beside_the_same_users(page):
    given, truth = systems(30, items=int)
    graded = {u: {**dict.fromkeys(one, 2), 99: 1} for u, one in truth.items()}

    def shown(truth, **options):
        return of_people(Reader(page(given, truth, primary="recall@10", **options)))

    expected = shown(truth)
    found = shown(graded, relevant_from=2)
    assert "✓ hit 2 " in found[0] and " (grade 2)" in "".join(found)
    bare = [one.replace("✓ hit 2 ", "✓ hit ").replace(" (grade 2)", "") for one in found]
    assert bare == expected


def test_files_and_the_command_line_show_the_same_page(page, tmp_path, cli):
    given, truth = systems(30)
    for name, lists in given.items():
        rows = [f"{u},{i},{r}" for u, one in lists.items() for r, i in enumerate(one, 1)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["user_id,item_id,rank", *rows]))
    rows = [f"{u},{i}" for u, one in truth.items() for i in sorted(one)]
    (tmp_path / "truth.csv").write_text("\n".join(["user_id,item_id", *rows]))
    paths = {name: str(tmp_path / f"{name}.csv") for name in given}
    of_lists = Reader(page(given, truth, primary="ndcg@10"))
    of_files = Reader(page(paths, tmp_path / "truth.csv", primary="ndcg@10"))
    out = tmp_path / "cli.html"
    names = ["-k", "1", "5", "10", "-m", *METRICS, "--users", "8", "-o", out]
    assert cli("report", *paths.values(), tmp_path / "truth.csv", *names)[0] == 0
    of_command = Reader(out.read_text())
    assert of_lists.by_tag["details"] == of_files.by_tag["details"] == of_command.by_tag["details"]
    assert of_lists.tables == of_files.tables
    digest = hashlib.sha256((tmp_path / "base.csv").read_bytes()).hexdigest()[:12]
    assert digest in [row[2] for row in of_command.tables.pop("Files")[0]]
    assert of_command.tables == of_lists.tables
    assert f"toplist report {paths['base']} " in of_command.shown


def test_saved_results_show_the_ranks_of_hits(page, plain, tmp_path):
    whole, results, given, truth = plain
    for name, result in results.items():
        result.save(tmp_path / f"{name}.npz")
    loaded = {name: tl.TopKResult.load(tmp_path / f"{name}.npz") for name in given}
    read = Reader(page(loaded, k=None, metrics=None, n_users=25))
    assert "saved results hold the ranks of hits alone" in read.shown
    assert [*map(str.split, read.by_tag["summary"])] == [*map(str.split, whole.by_tag["summary"])]
    first = of_people(read)[0]
    user = first.split()[0]
    ranks = [r for r, item in enumerate(given["base"][user], 1) if item in truth[user] and r <= 10]
    assert f"baseHits at ranks: {', '.join(map(str, ranks)) or 'none'}" in first


def test_lists_that_options_change_are_not_shown(page):
    given, truth = systems(20)
    graded = {user: {**dict.fromkeys(one, 1), "i00": 0} for user, one in truth.items()}
    chunks = {f"i{n:02}": n // 2 for n in range(40)}
    for options in ({"items_as": chunks}, {"unjudged": "drop"}, {"duplicates": "collapse"}):
        shown = Reader(page(given, graded if "unjudged" in options else truth, **options)).shown
        assert "hits are told by their ranks alone" in shown


def test_users_with_lower_is_better_are_turned(page):
    given, truth = systems(60)
    lower = replace(tl.METRICS["recall"], name="misses", higher_is_better=False)
    read = Reader(page(given, truth, metrics=[lower], primary="misses@10"))
    first = next(s for s in read.by_tag["summary"] if "relevant" in s)
    assert "new is worse than base: misses@10 " in read.shown
    assert float(re.search(r"[+-]\d\.\d+", first)[0]) > 0  # the worst have more of it


def test_where_neither_direction_is_better_it_is_higher_or_lower(page):
    given, truth = systems(120)
    counts = {item: 1 + place for place, item in enumerate(sorted(set().union(*truth.values())))}
    given["rare"] = {u: sorted(some, key=counts.get)[:3] for u, some in given["base"].items()}
    how = {"metrics": ["ndcg", "novelty"], "items": tl.Items(counts=counts), "k": 3}
    read = Reader(page(given, truth, primary="novelty@3", **how))
    assert "rare has the highest novelty@3 of 3 systems" in read.shown
    assert "Higher than base: rare +" in read.shown
    assert re.search(r"Of 120 users: \d+ lower, \d+ equal, \d+ higher", read.shown)
    assert not re.search(r"better|worse", read.shown.partition("How to repeat")[0])


@pytest.mark.parametrize("what", ["clusters", "weights"])
def test_clusters_and_weights_are_tested_without_a_band(page, what):
    given, truth = systems(120)
    values = {user: 1 + int(user[1:]) % 9 for user in truth}
    read = Reader(page(given, truth, metrics="ndcg", primary="ndcg@10", **{what: values}))
    results = {
        name: by_words(lists, truth, [1, 5, 10], metrics="ndcg", **{what: values})
        for name, lists in given.items()
    }
    assert tl.compare(results, baseline="base").test("ndcg@10").sentence() in read.shown
    whose = "rows are in" if what == "clusters" else "users have"
    assert f"no band over k: the {whose} {what}" in read.shown


def test_systems_that_count_other_users_are_tested_over_common_ones(page):
    given, truth = systems(120)
    del given["new"]["u001"], given["base"]["u002"]
    read = Reader(page(given, truth, metrics="ndcg", primary="ndcg@10", convention=SKIPPING))
    assert "over 118 users" in read.shown and "DIFFERENT USERS" in read.shown
    assert "Of 118 users: " in read.shown
    equal = re.search(r"Of 118 users: \d+ worse, (\d+) equal", read.shown)[1]
    title = f"Users by difference in ndcg@10: new - base, without {equal} equal users"
    assert title in read.by_tag["figcaption"]
    assert "Not shown: no" not in read.shown and "is not shown" not in read.shown


def test_of_many_systems_the_best_are_drawn_with_fewer_users(page):
    given, truth = systems(80)
    long = "two-tower-v3-with-a-rather-long-name"
    many = {f"{long}-{i}": given["new" if i % 2 else "base"] for i in range(10)}
    text = page(many, truth, n_users=25)
    read = Reader(text)
    assert {one for one in read.by_tag["text"] if one[0] == "…"} >= {"…0", "…1"}
    assert "Of 10 systems the baseline and the 6 best are drawn." in read.shown
    lines = [a for tag, a in read.elements if tag == "polyline"]
    assert len(lines) == (len(METRICS) + 1) * 7  # and bands
    assert "2 more systems are without users here: at most 8" in read.shown
    assert len([a for _, a in read.elements if a.get("class") == "pair"]) == 7
    assert len(text) < 500_000
    assert len({*read.ids()}) == len(read.ids())


def test_one_system_is_a_page_too(page):
    given, truth = systems(60)
    read = Reader(page({"new": given["new"]}, truth, primary="recall@5"))
    new = results_of(given, truth)["new"]
    mean, (low, high) = new["recall@5"], new.interval("recall@5")
    assert f"new: recall@5 is {mean:.4f} (95 % interval {low:.4f} to {high:.4f}), 60" in read.shown
    assert "one system, nothing to compare" in read.shown


# Safety


def is_safe(page):
    """Check that a page has no element, handler or address but its own; return it as read."""
    read = Reader(page)
    assert {tag for tag, _ in read.elements} <= ELEMENTS
    assert [text for text in read.by_tag["script"] if not text.startswith("{")] == [SCRIPT]
    for tag, attributes in read.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "srcdoc"]
        assert not {"src", "action", "formaction", "xlink:href", "autofocus"} & {*attributes}
        assert attributes.get("href", "#")[0] == "#", tag
    assert not re.search(r"url\s*\(|@import", "".join(read.by_tag["style"]))
    assert not re.search(
        "[\\0-\\x08\\x0b-\\x1f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069]", page
    )
    page.encode("utf-8")
    return read


SCRIPT = (Path(tl.__file__).parent / "reporting" / "page.js").read_text().strip()
# All elements of a page.
ELEMENTS = {
    *("html", "head", "meta", "title", "style", "body", "header", "nav", "main", "section", "div"),
    *("footer", "script", "h1", "h2", "h3", "h4", "h5", "p", "pre", "a", "strong", "b", "i"),
    *("small", "span", "bdi", "ul", "ol", "li", "details", "summary", "table", "caption", "thead"),
    *("tbody", "tr", "th", "td", "figure", "figcaption", "svg", "text", "g", "path", "polygon"),
    *("polyline", "circle", "rect"),
}


def test_no_text_of_the_data_does_harm(page):
    def users(n):
        return f"{HOSTILE[n % len(HOSTILE)]}{n}"

    def items(n):
        return f"{n}{HOSTILE[n % len(HOSTILE)]}"

    given, truth = systems(60, users=users, items=items)
    named = {HOSTILE[n]: lists for n, lists in enumerate(given.values())}
    titles = {items(n): HOSTILE[-1 - n % len(HOSTILE)] for n in range(40)}
    labels = {user: HOSTILE[n % 12] for n, user in enumerate(truth)}
    named[HOSTILE[1]].pop(users(3))
    read = is_safe(page(named, truth, by=labels, titles=titles, stamp=HOSTILE[1]))
    assert HOSTILE[1] in read.shown  # as text
    assert "a\\nb\\r\\tc\\x00d" in read.shown
    assert "x" * 79 + "…" in read.shown and "x" * 500 not in "".join(read.by_tag["main"])
    data = next(text for text in read.by_tag["script"] if text.startswith("{"))
    assert HOSTILE[1] in json.loads(data)["means"]
    assert "<" not in data


def test_names_of_files_do_no_harm(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = HOSTILE[0]
    given, truth = systems(20)
    for file, lists in zip((name, "b"), given.values(), strict=True):
        rows = [{"user_id": u, "item_id": one} for u, one in lists.items()]
        Path(f"{file}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    rows = [{"user_id": u, "item_id": sorted(one)} for u, one in truth.items()]
    Path("truth.jsonl").write_text("\n".join(map(json.dumps, rows)))
    status, out, _ = cli("report", f"./{name}.jsonl", "b.jsonl", "truth.jsonl", "-o", "out.html")
    assert (status, out) == (0, "")
    is_safe(Path("out.html").read_text())


def test_the_policy_allows_the_script_of_the_page_alone(plain):
    read = plain[0]
    policy = next(a["content"] for _, a in read.elements if "http-equiv" in a)
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "img-src data:"
    )
    assert len(SCRIPT.encode()) <= 2048 and "innerHTML" not in SCRIPT
    assert "localStorage" not in SCRIPT and "http" not in read.page.replace("http-equiv", "")


def test_the_page_can_be_read_by_anyone(plain):
    read = plain[0]
    tags = [tag for tag, _ in read.elements]
    levels = [int(tag[1]) for tag in tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    assert tags.count("table") == tags.count("caption") and tags.count("main") == 1
    assert all("scope" in a for tag, a in read.elements if tag == "th")
    pictures = [i for i, (tag, a) in enumerate(read.elements) if tag == "svg"]
    assert all(read.elements[i][1]["role"] == "img" and tags[i + 1] == "title" for i in pictures)
    anchors = {a["href"][1:] for tag, a in read.elements if tag == "a"}
    assert anchors <= {*read.ids()} and len({*read.ids()}) == len(read.ids())


def test_ids_of_users_are_left_out_or_numbered(page, tmp_path):
    given, truth = systems(30, users="person-{:03}".format)
    del given["new"]["person-004"]
    given["base"]["person-005"] = given["base"]["person-005"][:3]
    assert "person-004" in page(given, truth)
    without = page(given, truth, n_users=0)
    assert "person-" not in without and "No user is shown, as was asked." in without
    assert "of ground_truths have no list" in without  # without an example
    numbered = page(given, truth, pseudonyms=True)
    assert "person-" not in numbered and "user 1" in Reader(numbered).shown
    assert "n_users=8, pseudonyms=True, path=..." in Reader(numbered).shown  # to repeat it so
    tl.report(given, truth, path=tmp_path / "usual.html", depth=5, by=dict.fromkeys(truth, "x"))
    usual = Reader((tmp_path / "usual.html").read_text("utf-8")).shown
    assert "...}, truth, depth=5, by=..., path=...)" in usual
    rows = {name: [lists.get(user, []) for user in truth] for name, lists in given.items()}
    named = {n: tl.Ranks(one, users=list(truth)) for n, one in rows.items()}
    keyed = page(named, [*truth.values()], n_users=0)
    assert "person-" not in keyed and "metrics=['ndcg', 'recall']" in Reader(keyed).shown


# Bytes and sizes


def test_the_same_data_make_the_same_bytes(page, plain):
    read, _, given, truth = plain
    turned = {user: given["base"][user] for user in reversed(given["base"])}
    orders = {user: sorted(items, reverse=True) for user, items in truth.items()}  # of their sets
    assert page({**given, "base": turned}, orders, n_users=25) == read.page
    assert not re.search(r"\b20\d\d-\d\d", read.page)
    stamped = page(given, truth, n_users=25, stamp="2026-01-02")
    assert stamped.replace(", 2026-01-02", "") == read.page


def test_the_template_is_compiled_once(page, plain, monkeypatch):
    monkeypatch.setattr(jinja2.Environment, "compile", Mock(side_effect=AssertionError("again")))
    assert page(*plain[2:], n_users=25) == plain[0].page


def test_a_page_is_small_whatever_texts_are_in_it(page, plain):
    assert len(plain[0].page) < 250_000
    given, truth = systems(60, items=lambda n: f"{n}" + "x" * 5_000)
    long = {item: "y" * 5000 for one in truth.values() for item in one}
    assert len(page(given, truth, titles=long, primary="ndcg@10", n_users=25)) < 2_500_000


def test_more_users_than_are_looked_at_are_drawn(page, plain, monkeypatch):
    whole, _, given, truth = plain
    monkeypatch.setattr("toplist.reporting.sections.LOOKED_AT", 50)
    read = Reader(page(given, truth, n_users=25))
    assert "Looked at: 50 of 200 users, drawn with seed 0." in read.shown
    assert [row[2:] for row in read.tables["The lists at k = 10"][0][1:]] == [["-", "-"]] * 2
    assert read.by_tag["summary"] == whole.by_tag["summary"]


def test_a_page_that_is_too_large_is_refused_and_nothing_is_written(page, tmp_path, monkeypatch):
    monkeypatch.setattr("toplist.reporting.LARGEST", 50_000)
    with pytest.raises(ValueError, match=r"the page would have 0\.\d MB, more than .*--users"):
        page(*systems())
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_what_was_there(page, tmp_path, monkeypatch):
    (tmp_path / "page.html").write_text("before")
    monkeypatch.setattr("os.replace", Mock(side_effect=OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space left"):
        page(*systems(20))
    assert [one.read_text() for one in tmp_path.iterdir()] == ["before"]


# Mistakes


def test_mistakes_are_told_in_one_line(page, tmp_path):
    given, truth = systems(20)
    twice = {**given, "new": {"u001": ["a", "a"]}}
    wrong = [
        (TypeError, "report takes a dict of system", [given["base"]], truth, {}),
        (TypeError, "'a' has the list of one user", {"a": ["i01"]}, {"i01"}, {}),
        (TypeError, "'base' has lists: give their truth", given, None, {}),
        (ValueError, "primary: 'map@10'.*has ndcg", given, truth, {"primary": "map@10"}),
        (ValueError, "depth must be", given, truth, {"depth": 0}),
        (TypeError, "system= names systems in one table", given, truth, {"system": "model"}),
        (TypeError, "system 'base': .*'catalog'", given, truth, {"catalog": 3}),
        (ValueError, "'new': user 'u001' has item 'a' at ranks 1 and 2", twice, truth, {}),
    ]
    for kind, message, systems_, truths, options in wrong:
        with pytest.raises(kind, match=message):
            page(systems_, truths, **options)
    with pytest.raises(OSError, match="nowhere"):
        tl.report(given, truth, 5, path=tmp_path / "nowhere" / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_without_jinja2_one_line_says_what_to_install(page, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"a report is written through jinja2"):
        page(*systems(20))
