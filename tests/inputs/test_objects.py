"""Objects of other libraries, as they are: the same results, bit for bit, as plain lists.

What a library itself makes is tested where it is installed.
"""

from collections import UserDict, namedtuple

import numpy as np
import pytest
from doors import by_words
from listwise import listwise
from shared_inputs import RANKED, RUN, TRUTHS, equal_results, library, said, same

import toplist as tl


@pytest.mark.libraries
def test_torch_topk():
    torch = library("torch")
    scores = torch.rand((6, 50), generator=torch.Generator().manual_seed(3))
    truths = [{3, 5, 7}] * 6
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
        found = scores.to(dtype).topk(10)
        assert type(found).__module__ == "torch.return_types"
        equal_results(found, truths, (found.indices.tolist(), truths))


def collections():
    """Return LensKit's collections of lists and truths, and the same as plain dicts."""
    data = library("lenskit.data")
    lists, truths = {5: [7, 3, 9], 2: [8], 3: [], 9: [1]}, {2: [8, 4], 5: [9], 3: [1], 6: [2]}
    ranks = {
        user: data.ItemList(ids, scores=np.linspace(1, 0, len(ids)), ordered=True)
        for user, ids in lists.items()
    }
    grades = {user: data.ItemList(ids, rating=[3.5] * len(ids)) for user, ids in truths.items()}
    make = data.ItemListCollection.from_dict
    return (make(ranks, "user_id"), make(grades, "user_id")), (lists, truths)


@pytest.mark.libraries
def test_lenskit():
    given, plain = collections()
    assert str(tl.audit.check(*given)) == str(tl.audit.check(*plain))
    equal_results(*given, plain)
    equal_results(given[0], plain[1], plain)
    equal_results(plain[0], given[1], plain)
    graded = {user: dict.fromkeys(items, 3.5) for user, items in plain[1].items()}
    columns = {"ground_truths": {"relevance": "rating"}}
    assert same(tl.match(*given, columns=columns), tl.match(plain[0], graded))
    both = [listwise.item_coverage(lists, 2, catalogue=10) for lists in (given[0], plain[0])]
    assert np.array_equal(*both)


@pytest.mark.libraries
def test_lenskit_lists_without_an_order():
    data = library("lenskit.data")
    scored = data.ItemList(["a", "b", "c"], scores=[0.1, 0.9, 0.5])
    make = data.ItemListCollection.from_dict
    assert tl.match(make({"u": scored}, "user_id"), {"u": {"c"}}).ranks.tolist() == [2]
    with pytest.raises(TypeError, match=r"neither an order nor scores.*ordered=True"):
        tl.match(make({"u": data.ItemList(["a"])}, "user_id"), {"u": {"c"}})
    with pytest.raises(TypeError, match=r"ranks is an ItemList, .*give ranks\.ids\(\)"):
        tl.match(scored, {"c"})
    other = make({"u": scored}, "query_id")
    assert tl.match(other, {"u": {"c"}}).ranks.tolist() == [2]


LONG = {"user_id": [5, 5, 2, 5], "item_id": ["a", "b", "a", "c"], "rank": [2, 1, 1, 3]}
OF_LONG = {5: ["b", "a", "c"], 2: ["a"]}
LONG_TRUTHS = {5: {"c", "d"}, 2: {"a"}}


@pytest.mark.libraries
def test_hugging_face():
    datasets = library("datasets")
    ranks = datasets.Dataset.from_dict(LONG)
    truths = datasets.Dataset.from_dict({"user_id": [5, 2, 5], "item_id": ["c", "a", "d"]})
    expected = OF_LONG, {5: ["c", "d"], 2: ["a"]}
    equal_results(ranks, truths, expected)
    equal_results(ranks.shuffle(seed=1), truths, expected)
    equal_results(ranks.with_format("numpy").select([3, 1, 0, 2]), truths, expected)
    two = ranks.filter(lambda row: row["user_id"] == 5)  # its Arrow table has all rows
    assert tl.match(two, truths).n_listed.tolist() == [3, 0]
    lists = datasets.Dataset.from_dict({"user_id": [5, 2], "item_id": list(OF_LONG.values())})
    lists = lists.add_column("rank", [[1, 2, 3], [1]])
    equal_results(lists, truths, expected)
    assert tl.audit.check(ranks, truths).ok
    scored = datasets.Dataset.from_dict({"label": [0, 1], "prediction": [0.25, 0.5]})
    assert tl.pointwise.auc(scored) == 1.0
    with pytest.raises(TypeError, match=r"DatasetDict of 'train', 'test'.*ranks\[SPLIT\]"):
        tl.match(datasets.DatasetDict(train=ranks, test=ranks), truths)
    with pytest.raises(TypeError, match=r"IterableDataset.*from_list\(list\(ground_truths\)\)"):
        tl.match(ranks, truths.to_iterable_dataset())


def test_datasets_of_arrow(tmp_path):
    pyarrow = library("pyarrow")
    dataset, parquet = library("pyarrow.dataset"), library("pyarrow.parquet")
    table = pyarrow.table(LONG)
    for part in range(2):
        parquet.write_table(table.slice(2 * part, 2), tmp_path / f"{part}.parquet")
    ranks = dataset.dataset(tmp_path)
    truths = pyarrow.table({"user_id": [5, 2, 5], "item_id": ["c", "a", "d"]})
    expected = OF_LONG, {5: ["c", "d"], 2: ["a"]}
    equal_results(ranks, dataset.dataset(truths), expected)
    equal_results(ranks.scanner(), LONG_TRUTHS, (OF_LONG, LONG_TRUTHS))
    only = ranks.filter(dataset.field("user_id") == 5)
    assert tl.match(only, LONG_TRUTHS).n_listed.tolist() == [3, 0]
    split = tl.loo.holdout(ranks, ratio=0.5, by="random", seed=0)
    assert len(split.train) + len(split.test) == 4
    scored = dataset.dataset(pyarrow.table({"label": [0, 1], "prediction": [0.25, 0.5]}))
    assert tl.pointwise.auc(scored) == 1.0


class OfSpark:
    """Stands in for a frame of Spark: the module of its class, and the names that are looked at."""

    columns = ("user_id", "item_id")

    def collect(self):
        raise AssertionError("collects a cluster")

    toPandas = collect  # noqa: N815


OfSpark.__module__ = "pyspark.sql.dataframe"


@pytest.mark.parametrize("side", ["ranks", "ground_truths"])
def test_frames_of_a_cluster_name_the_way(side):
    sides = {"ranks": {1: [2]}, "ground_truths": {1: [2]}} | {side: OfSpark()}
    words = rf"{side} is a Spark .*toplist\.top_k_eval .*{side}\.toPandas\(\)"
    with pytest.raises(TypeError, match=words):
        by_words(k=3, **sides)


@pytest.mark.libraries
def test_real_frames_of_spark():
    sql = library("pyspark.sql")
    frame = object.__new__(sql.DataFrame)  # as one of a cluster, which is not asked
    with pytest.raises(TypeError, match=r"ranks is a Spark DataFrame.*ranks\.toPandas\(\)"):
        tl.match(frame, {1: [2]})


@pytest.mark.libraries
def test_modin():
    library("modin.config").Engine.put("Dask")
    library("dask.distributed")
    modin = library("modin.pandas")
    for value in (modin.DataFrame, modin.Series):
        frame = value.__new__(value)  # one without its workers
        with pytest.raises(TypeError, match=rf"Modin {value.__name__}.*ranks\.modin\.to_pandas"):
            tl.match(frame, {1: [2]})


def test_frames_of_dask_that_are_computed():
    frame = type("DataFrame", (OfSpark,), {"compute": None, "__module__": "dask.dataframe"})()
    said("a Dask DataFrame ... give ground_truths.compute()", tl.match, OF_LONG, frame)


CLICKS = [("a", 1, 0.75), ("a", 0, 0.5), ("b", 0, 0.25), ("b", 1, 0.125), ("b", 1, 0.5)]


def test_predictions_like_those_of_surprise():
    """Without Surprise: a tuple with its fields."""
    Prediction = namedtuple("Prediction", ["uid", "iid", "r_ui", "est", "details"])
    given = [Prediction("a", "x", 4.0, 3.5, {}), Prediction("a", "y", 1.0, 2.5, {})]
    assert tl.pointwise.mae(given) == tl.pointwise.mae([4.0, 1.0], [3.5, 2.5]) == 1.0
    unrated = [given[1], given[0]._replace(r_ui=None)]
    said("labels are 0 or 1; of ratings, compare first", tl.pointwise.auc, given)
    said("what Surprise predicts, holds labels ... alone", tl.pointwise.mae, given, [3.5, 2.5])
    said("user 'a', item 'x' has no rating, r_ui is None", tl.pointwise.mae, unrated)
    clicks = [Prediction(user, "i", y, p, {}) for user, y, p in CLICKS]
    users, labels, predictions = zip(*CLICKS, strict=True)
    assert tl.pointwise.auc(clicks) == tl.pointwise.auc(labels, predictions)
    assert tl.pointwise.gauc(clicks) == tl.pointwise.gauc(users, labels, predictions)


class RunOfLibrary(UserDict):
    """Scores by user, as runs of libraries are: `to_dict`, and users alone find a row."""

    def __missing__(self, user):
        raise TypeError(f"no text: {user!r}")

    def to_dict(self):
        return dict(self.data)


def test_a_mapping_with_to_dict_is_no_series():
    equal_results(RunOfLibrary(RUN), TRUTHS, (RANKED, TRUTHS))
