"""The pictures of the guide: a line of code for each, drawn from the example data at build time."""

import os
import warnings
from pathlib import Path

import matplotlib as mpl

# What the lines below need; it is run in notebooks/, and shown above the pictures of Plots.
SETUP = """\
import numpy as np, pandas as pd, toplist as tl
from toplist import beyond, files, loo, plots

truth = files.read_truths("retail/truth.jsonl.gz")
names = ["itemknn", "ease", "popularity"]
lists = {name: files.read_ranks(f"retail/{name}.jsonl.gz") for name in names}
metrics = ["recall", "ndcg", "mrr", *(f"iprec(recall={tenth / 10})" for tenth in range(11))]
results = {name: tl.top_k_eval(lists[name], truth, k=50, metrics=metrics) for name in names}
compared, two = tl.compare(results), tl.compare(results, baseline="itemknn")
baskets = pd.read_csv("retail/users.csv.gz", index_col="user_id")["baskets"]
listed = {item for ranks in lists.values() for row in ranks.values() for item in row}

# one product of each customer is held out, and all are scored by their number of buyers
log = pd.read_csv("retail/log.csv.gz")
users, items, held_out, seen = loo.leave_one_out(log).columns()
buyers = log["item_id"].value_counts().reindex(items, fill_value=0)
scores = np.tile(buyers.to_numpy(float), (len(users), 1))
full = tl.Hits.from_ranks(loo.ranks_of(scores, held_out, exclude=seen), n_listed=len(items))
few = loo.sampled_ranks(scores, held_out, n=100, exclude=seen, users=users)
"""

# Of each picture: what it shows, its line, and the chapter that has it, beside that of the plots.
# fmt: off
PICTURES = [
    ("One system: metrics over k, with bands",
     'results["ease"].plot(["recall", "ndcg", "mrr"])', "toplist.results"),
    ("Several systems: one metric over k", 'compared.plot("ndcg")', "toplist.comparing"),
    ("Several systems, or steps of a training, at one k", 'compared.plot("ndcg@10")', ""),
    ("A difference over k; the wide band holds at all k together",
     'two.band("ndcg", "ease").plot()', "toplist.comparing"),
    ("Tests: each difference from the baseline, with its interval",
     'two.test(["ndcg@10", "recall@10"]).plot()', "toplist.inference"),
    ("Who got worse: the differences of all users, and both values of each",
     'two.movers("ndcg@10", "ease").plot()', "toplist.comparing"),
    ("How a metric is spread over users",
     'plots.per_user(results, "ndcg@10")', "toplist.results"),
    ("Segments of users, or slices of items",
     'compared.by(baskets).plot("ndcg@10")', "toplist.results"),
    ("Interpolated precision over recall, the eleven points of TREC",
     "plots.precision_recall(results)", ""),
    ("How evenly the places of the lists are spread over items",
     "plots.exposure({name: beyond.exposure(lists[name], catalogue=listed).counts(10)"
     " for name in names})", "toplist.beyond"),
    ("Sampled candidates beside the full ranking",
     'plots.sampled(tl.top_k_eval(full, k=20), few.evaluate(k=20), "hit")', "toplist.loo"),
    ("Several data sets: mean ranks, as ``tl.across(...).plot()`` draws them",
     'plots.critical_difference({"ease": 1.2, "als": 2.2, "knn": 2.6}, 1.1)', ""),
]
# fmt: on


def draw(root: Path, folder: Path) -> None:
    """Draw all pictures of the guide as SVG."""
    folder.mkdir(parents=True, exist_ok=True)
    before = Path.cwd()
    os.chdir(root / "notebooks")
    try:
        known: dict[str, object] = {}
        exec(SETUP, known)
        for number, (_, line, _) in enumerate(PICTURES):
            with mpl.rc_context({"svg.hashsalt": "toplist"}), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # sampled candidates warn, as they should
                drawn = eval(line, known)
                to = folder / f"{number}.svg"
                getattr(drawn, "figure", drawn).savefig(to, metadata={"Date": None})
    finally:
        os.chdir(before)


def shown(chapter: str) -> list[str]:
    """Return the pictures of a chapter: what each shows, its code, and the picture."""
    everything = chapter == "toplist.plots"
    lines: list[str] = []
    for number, (text, line, of) in enumerate(PICTURES):
        if everything or chapter == of:
            lines += [f"{text}:", "", ".. code-block:: python", "", f"   {line}", ""]
            lines += [
                f".. image:: /pictures/{number}.svg",
                f"   :alt: {text}",
                "   :class: chart",
                "",
            ]
    if not lines:
        return []
    code = [".. code-block:: python", "", *(f"   {one}".rstrip() for one in SETUP.split("\n")), ""]
    where = ["The data are `toplist.plots`'s own.", ""]
    return ["Pictures", "--------", "", *(code if everything else where), *lines]
