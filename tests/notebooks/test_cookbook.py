"""The recipes of notebooks/cookbook.md: each run as it stands, against the real library.

Recipes without a library are doctests. Each other one has a test here, in the order of the page: it
makes what the recipe says you hold, runs the recipe's own lines, and compares the answer with plain
lists. That a convention has the library's numbers is held by benchmarks/conformance.
"""

import copy
import json
import re
import sys
import time
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from doors import by_words

import toplist as tl


class Recipe(NamedTuple):
    words: str
    code: str
    examples: int


PAGE = (Path(__file__).parents[2] / "notebooks" / "cookbook.md").read_text(encoding="utf-8")


def recipes():
    """Return the recipes of the page by heading."""
    parts = re.split(r"^### (.*)\n", re.sub(r"^## .*\n", "", PAGE, flags=re.MULTILINE), flags=re.M)
    found = {}
    for heading, body in zip(parts[1::2], parts[2::2], strict=True):
        blocks = re.findall(r"```python\n(.*?)```", body, flags=re.DOTALL)
        code = "\n".join(block for block in blocks if not block.startswith(">>>")).strip()
        found[heading] = Recipe(body.strip().partition("\n\n")[0], code, body.count(">>> "))
    return found


RECIPES = recipes()
WITH_A_LIBRARY = [heading for heading, recipe in RECIPES.items() if recipe.code]


def run(heading, **given):
    """Run the lines of a recipe with what the reader holds; return all names."""
    names = {"np": np, "tl": tl, **given}
    exec(compile(RECIPES[heading].code, f"<recipe {heading}>", "exec"), names)
    return names


def is_of(result, ranks, truths, **options):
    """Whether a result is that of plain lists, and of some hits at all."""
    expected = by_words(ranks, truths, list(result.ks), **options)
    assert result.to_dict() == pytest.approx(expected.to_dict(), rel=1e-14)
    assert result.n_missing == expected.n_missing and result.n_skipped == expected.n_skipped
    return sum(expected.to_dict().values()) > 0


def test_the_list_of_recipes_is_complete():
    listed = " ".join(PAGE.partition("Most end with")[0].split())
    places = [listed.lower().index(heading.rstrip("?").lower()) for heading in RECIPES]
    assert places == sorted(places)


def test_recipes_are_short_and_say_what_you_hold():
    for heading, recipe in RECIPES.items():
        assert len(recipe.code.splitlines()) <= 15, heading
        assert len(recipe.words.splitlines()) <= 8, heading
        assert not recipe.code or recipe.words.startswith("You hold"), heading
        assert recipe.code or recipe.examples or heading == "Files, and Spark"


def test_every_recipe_with_a_library_is_run_in_the_order_of_the_page():
    source = Path(__file__).read_text(encoding="utf-8")
    assert re.findall(r'= run\("([^"]+)"', source) == WITH_A_LIBRARY


# Recommenders


def choices(n_users=40, n_items=60, share=0.3):
    """Return who chose what, and which choices are of the test; user 0 has seen nearly all."""
    rng = np.random.default_rng(0)
    chosen = rng.random((n_users, n_items)) < share
    chosen[0] = True
    users, items = np.nonzero(chosen)
    held_out = rng.random(len(users)) < 0.25
    held_out[users == 0] = items[users == 0] >= n_items - 4
    held_out[users == 1] = False  # a user without a test
    return users, items, held_out


def truths_of(users, items):
    found = {}
    for user, item in zip(users.tolist(), items.tolist(), strict=True):
        found.setdefault(user, set()).add(item)
    return found


@pytest.mark.libraries
def test_implicit():
    implicit = pytest.importorskip("implicit")
    from scipy.sparse import csr_matrix

    users, items, held_out = choices()
    plays = np.random.default_rng(1).integers(1, 9, len(users)).astype(float)
    train, test = (
        csr_matrix((plays[part], (users[part], items[part])), (40, 60))
        for part in (~held_out, held_out)
    )
    model = implicit.als.AlternatingLeastSquares(factors=4, iterations=3, random_state=0)
    model.fit(train, show_progress=False)
    names = run("implicit", model=model, train=train, test=test)
    result, seen = names["result"], truths_of(users[~held_out], items[~held_out])
    assert len(names["users"]) == len(result.users) == 39
    lists = {
        user: [item for item in row if item != -1]
        for user, row in zip(names["users"].tolist(), names["ids"].tolist(), strict=True)
    }
    unseen = {user: [i for i in row if i not in seen[user]] for user, row in lists.items()}
    assert len(unseen[0]) <= 4 and max(map(len, unseen.values())) > 20
    assert lists == unseen
    assert is_of(result, unseen, truths_of(users[held_out], items[held_out]))


@pytest.mark.libraries
def test_rectools():
    rectools = pytest.importorskip("rectools")
    from pandas import DataFrame, Timestamp
    from rectools.dataset import Dataset
    from rectools.models import EASEModel

    assert (rectools.Columns.User, rectools.Columns.Item) == ("user_id", "item_id")
    users, items, held_out = choices()
    log = DataFrame({"user_id": users + 100, "item_id": items**2, "weight": 2.0})
    log["datetime"] = Timestamp("2026-01-01")
    new = log.iloc[:1].assign(user_id=999)
    test = rectools.dataset.interactions.pd.concat([log[held_out], new])
    dataset = Dataset.construct(log[~held_out])
    names = run("RecTools", model=EASEModel().fit(dataset), dataset=dataset, test=test)
    result, reco = names["result"], names["reco"]
    lists = {user: rows["item_id"].tolist() for user, rows in reco.groupby("user_id")}
    assert result.n_missing == 1 and 999 not in lists and len(lists[100]) == 4
    assert is_of(result, lists, truths_of(test["user_id"].values, test["item_id"].values))


@pytest.mark.libraries
def test_recbole(tmp_path, monkeypatch):
    pytest.importorskip("recbole")
    from recbole.config import Config
    from recbole.data import create_dataset, data_preparation
    from recbole.utils import get_model, get_trainer, init_seed

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["train"])  # of which RecBole reads options
    users, items, _ = choices(share=0.4)
    pairs = zip(users[users > 0], items[users > 0], strict=True)  # user 0 has chosen every item
    rows = [f"u{user}\ti{item}" for user, item in pairs]
    (tmp_path / "tiny").mkdir()
    header = "user_id:token\titem_id:token"
    (tmp_path / "tiny" / "tiny.inter").write_text("\n".join([header, *rows]) + "\n")
    options = {"data_path": str(tmp_path), "epochs": 2, "topk": [10], "metrics": ["MRR"]}
    options |= {"valid_metric": "MRR@10", "use_gpu": False}
    config = Config(model="BPR", dataset="tiny", config_dict=options)
    init_seed(0, True)
    dataset = create_dataset(config)
    train_data, valid_data, test_data = data_preparation(config, dataset)
    model = get_model("BPR")(config, train_data.dataset)
    trainer = get_trainer(config["MODEL_TYPE"], "BPR")(config, model)
    trainer.fit(train_data, valid_data, saved=False, verbose=False)
    names = run("RecBole", model=model, config=config, dataset=dataset, test_data=test_data)
    result, table = names["result"], test_data.dataset.inter_feat
    tokens = dataset.id2token(dataset.iid_field, names["lists"].cpu())
    of_test = (
        dataset.id2token(dataset.uid_field, table["user_id"]),
        dataset.id2token(dataset.iid_field, table["item_id"]),
    )
    lists = dict(zip(names["users"].tolist(), tokens.tolist(), strict=True))
    assert set(result.users) == set(of_test[0].tolist()) and result.users[0].startswith("u")
    assert is_of(result, lists, truths_of(*of_test))


@pytest.mark.libraries
def test_lenskit():
    pytest.importorskip("lenskit")
    from lenskit.data import from_interactions_df
    from lenskit.knn import ItemKNNScorer
    from lenskit.pipeline import topn_pipeline
    from lenskit.splitting import SampleN, sample_users
    from pandas import DataFrame

    users, items, _ = choices()
    ratings = np.random.default_rng(2).integers(1, 6, len(users))
    log = DataFrame({"user_id": users, "item_id": items, "rating": ratings})
    split = sample_users(from_interactions_df(log), 20, SampleN(4), rng=42)
    pipe = topn_pipeline(ItemKNNScorer(max_nbrs=5))
    pipe.train(split.train)
    names = run("LensKit", pipe=pipe, split=split)
    lists, relevant = (
        {key.user_id: some.ids().tolist() for key, some in collection}
        for collection in (names["recs"], split.test)
    )
    assert is_of(names["result"], lists, relevant)


@pytest.mark.libraries
def test_surprise():
    surprise = pytest.importorskip("surprise")
    from pandas import DataFrame

    users, items, held_out = choices()
    ratings = np.random.default_rng(3).integers(1, 6, len(users)).astype(float)
    log = DataFrame({"u": users, "i": items, "r": ratings})
    reader = surprise.Reader(rating_scale=(1, 5))
    trainset = surprise.Dataset.load_from_df(log[~held_out], reader).build_full_trainset()
    testset = list(log[held_out].itertuples(index=False, name=None))
    algo = surprise.SVD(n_epochs=60, random_state=0).fit(trainset)
    names = run("Surprise", algo=algo, trainset=trainset, testset=testset)
    rmse = surprise.accuracy.rmse(algo.test(testset), verbose=False)
    assert names["rmse"] == pytest.approx(rmse, rel=1e-14)
    seen = truths_of(users[~held_out], items[~held_out])
    assert all(set(row) == set(range(60)) - seen[user] for user, row in names["run"].items())
    lists = {user: sorted(row, key=row.get, reverse=True) for user, row in names["run"].items()}
    good = held_out & (ratings >= 4)
    relevant = {user: set() for user in users[held_out].tolist()}
    relevant |= truths_of(users[good], items[good])
    assert is_of(names["result"], lists, relevant)


@pytest.mark.libraries
def test_torch():
    torch = pytest.importorskip("torch")

    rng = np.random.default_rng(4)
    scores, seen = torch.tensor(rng.random((2100, 70))), torch.tensor(rng.random((2100, 70)) < 0.2)
    relevant = [set(rng.choice(np.flatnonzero(~row), 3).tolist()) for row in seen.numpy()]
    held = {"model": lambda users: scores[users], "seen": seen, "relevant": relevant}
    names = run("torch", torch=torch, **held)
    assert len(names["best"]) == 3
    order = np.argsort(-scores.masked_fill(seen, -torch.inf).numpy(), axis=1)
    assert is_of(names["result"], order[:, :50].tolist(), relevant)


# Search and retrieval


def searched(seed=5, ties=False):
    """Return a run and qrels; one query has no row in the run."""
    rng = np.random.default_rng(seed)
    documents = [f"d{n}" for n in range(150)]
    run, qrels = {}, {}
    for query in (f"q{n}" for n in range(20)):
        scores = rng.integers(0, 20, 120) / 4 if ties else rng.random(120)
        run[query] = dict(zip(rng.permutation(documents)[:120].tolist(), scores.tolist()))  # noqa: B905
        grades = rng.integers(1, 3, 8).tolist()
        qrels[query] = dict(zip(rng.permutation(documents)[:8].tolist(), grades, strict=True))
    del run["q3"]
    return run, qrels


def ranked(run, ties="order"):
    def by_score(row):
        items = sorted(row, reverse=True) if ties == "item_desc" else row
        return sorted(items, key=row.get, reverse=True)

    return {query: by_score(row) for query, row in run.items()}


@pytest.mark.libraries
def test_ranx():
    ranx = pytest.importorskip("ranx")
    rows, qrels = searched()
    other, _ = searched(6)
    runs = [ranx.Run(rows, name="bm25"), ranx.Run(other, name="dense")]
    names = run("ranx", bm25=runs[0], dense=runs[1], qrels=ranx.Qrels(qrels))
    compared = names["comparison"]
    assert list(compared.results) == ["bm25", "dense"] and compared.baselines == ("bm25",)
    for result, plain in zip(compared.results.values(), (rows, other), strict=True):
        assert is_of(result, ranked(plain), qrels) and result.n_missing == 1


@pytest.mark.libraries
def test_pytrec_eval():
    rows, qrels = searched(ties=True)
    names = run("pytrec_eval", run=rows, qrels=qrels)
    options = {"convention": "trec_eval"}
    assert is_of(names["result"], ranked(rows, "item_desc"), qrels, **options)


TEXTS = {
    "tea": "green tea grows in the hills and black tea is dried longer",
    "jam": "plum jam is boiled with sugar and fig jam keeps for a year",
    "rye": "rye bread is dark and sour and rye needs little warmth",
    "plum": "a plum is sour while it is green",
    "q2": "is dark bread sour",
}
QUERIES = {"q1": "how is plum jam boiled", "q2": "is dark bread sour", "q3": "where tea grows"}
RELEVANT = {"q1": {"jam": 2, "plum": 1}, "q2": {"rye": 1}, "q3": {"tea": 1}}


def counts_of_words(text):
    vector = np.zeros(64, np.float32)
    for word in text.lower().strip(".").split():
        vector[zlib.crc32(word.encode()) % 64] += 1
    return vector


@pytest.mark.libraries
def test_beir():
    pytest.importorskip("beir")
    from beir.retrieval.evaluation import EvaluateRetrieval
    from beir.retrieval.search.dense import DenseRetrievalExactSearch
    from torch import tensor

    class Model:
        def encode_queries(self, queries, **options):
            return tensor(np.array([counts_of_words(text) for text in queries]))

        def encode_corpus(self, corpus, **options):
            return self.encode_queries([one["text"] for one in corpus])

    class Retriever(EvaluateRetrieval):
        """Finds a query among the documents, too."""

        def retrieve(self, corpus, queries):
            found = super().retrieve(corpus, queries)
            return {query: row | {query: 2.0} for query, row in found.items()}

    search = DenseRetrievalExactSearch(Model(), batch_size=8)
    retriever = Retriever(search, k_values=[1, 3, 100], score_function="cos_sim")
    corpus = {name: {"title": "", "text": text} for name, text in TEXTS.items()}
    names = run("BEIR", retriever=retriever, corpus=corpus, queries=QUERIES, qrels=RELEVANT)
    assert all(query not in row for query, row in names["run"].items())
    lists = ranked(names["run"], "item_desc")
    assert is_of(names["result"], lists, RELEVANT, convention="mteb")


class TextModel:
    """A model of which each text has a random vector of its own."""

    def encode(self, texts):
        seeds = [zlib.crc32(text.encode()) for text in texts]
        return np.array([np.random.default_rng(seed).random(16, np.float32) for seed in seeds])


@pytest.mark.libraries
def test_sentence_transformers():
    pytest.importorskip("sentence_transformers")
    model = TextModel()
    relevant = {query: set(row) for query, row in RELEVANT.items()}
    held = {"model": model, "queries": QUERIES, "corpus": TEXTS, "relevant": relevant}
    names = run("sentence-transformers", **held)
    vectors = [model.encode(list(texts.values())) for texts in (QUERIES, TEXTS)]
    lengths = [np.linalg.norm(one, axis=1, keepdims=True) for one in vectors]
    order = np.argsort(-(vectors[0] / lengths[0]) @ (vectors[1] / lengths[1]).T, kind="stable")
    documents = list(TEXTS)
    lists = {q: [documents[n] for n in row] for q, row in zip(QUERIES, order, strict=True)}
    assert is_of(names["result"], lists, relevant)
    places = [{documents.index(one) for one in row} for row in relevant.values()]
    assert tl.top_k_eval(names["hits"], places, k=10)["ndcg@10"] == names["result"]["ndcg@10"]


@pytest.mark.libraries
def test_faiss():
    faiss = pytest.importorskip("faiss")
    rng = np.random.default_rng(7)
    vectors, documents = (rng.random((n, 8), np.float32) for n in (30, 80))
    index = faiss.IndexFlatIP(8)
    index.add(documents)
    relevant = [set(rng.choice(80, 4).tolist()) for _ in range(30)]
    names = run("faiss", index=index, vectors=vectors, relevant=relevant)
    assert (names["found"][1][:, 80:] == -1).all()
    assert is_of(names["result"], np.argsort(-vectors @ documents.T, axis=1).tolist(), relevant)


@pytest.mark.libraries
def test_hugging_face():
    datasets = pytest.importorskip("datasets")
    rows, qrels = searched()

    def dataset(by_query):
        rows = [(q, d, value) for q, row in by_query.items() for d, value in row.items()]
        names = "query-id", "corpus-id", "score"
        return datasets.Dataset.from_dict(dict(zip(names, zip(*rows, strict=True), strict=True)))

    names = run("Hugging Face datasets", run=dataset(rows).shuffle(seed=0), qrels=dataset(qrels))
    assert is_of(names["result"], ranked(rows), qrels)
    binary = {query: set(row) for query, row in qrels.items()}
    assert names["result"]["ndcg@10"] != tl.top_k_eval(ranked(rows), binary, 10)["ndcg@10"]


@pytest.mark.libraries
def test_llama_index():
    core = pytest.importorskip("llama_index.core")
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode

    class Words(BaseEmbedding):
        def _get_text_embedding(self, text):
            return counts_of_words(text).tolist()

        _get_query_embedding = _get_text_embedding

        async def _aget_query_embedding(self, text):
            return self._get_text_embedding(text)

    nodes = []
    for name, text in TEXTS.items():
        for part in text.split(" and "):
            source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=name)}
            nodes.append(TextNode(id_=f"{name}/{part}", text=part, relationships=source))
    index = core.VectorStoreIndex(nodes, embed_model=Words())
    retriever = index.as_retriever(similarity_top_k=8)
    relevant = {QUERIES[query]: set(row) for query, row in RELEVANT.items()}
    names = run("LlamaIndex", retriever=retriever, relevant=relevant)
    found = {text: [one.node_id for one in retriever.retrieve(text)] for text in relevant}
    lists = {}
    for text, ids in found.items():
        documents = [one.partition("/")[0] for one in ids]
        lists[text] = [d for place, d in enumerate(documents) if d not in documents[:place]]
        assert len(lists[text]) < len(ids)
    assert is_of(names["result"], lists, relevant)


# Where the data lies


def test_duckdb():
    duckdb, pyarrow = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
    rng = np.random.default_rng(8)
    lists = {user: rng.permutation(90)[:60].tolist() for user in range(50)}
    chosen = {user: set(rng.choice(90, 5).tolist()) for user in range(2, 52)}
    con = duckdb.connect()
    scored = [(u, item, n // 3 / -4) for u, row in lists.items() for n, item in enumerate(row)]
    pairs = [(u, item) for u, row in chosen.items() for item in row]
    names = "user_id", "item_id", "score"
    for table, rows in (("recs", scored), ("chosen", pairs)):
        shuffled = [rows[place] for place in rng.permutation(len(rows))]
        columns = dict(zip(names, map(list, zip(*shuffled, strict=True)), strict=False))
        con.register("given", pyarrow.table(columns))
        con.execute(f"CREATE TABLE {table} AS FROM given")
    names = run("DuckDB", con=con)
    with pytest.raises((ValueError, duckdb.Error), match=r"recs: no rows; .*cursor|open result"):
        tl.top_k_eval(con.sql("FROM recs"), con.sql("FROM chosen"), k=10)
    ordered = {
        user: [item for _, item in sorted((n // 3, item) for n, item in enumerate(row))]
        for user, row in lists.items()
    }
    assert is_of(names["result"], ordered, chosen) and names["result"].n_missing == 2


# Training and experiments


@pytest.mark.libraries
def test_early_stopping():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(9)
    seen = rng.random((40, 60)) < 0.3
    validation = {u: {*rng.choice(np.flatnonzero(~row), 3).tolist()} for u, row in enumerate(seen)}
    good = np.array([[item in wanted for item in range(60)] for wanted in validation.values()])
    shares = 0.2, 0.6, 0.9, 0.1, 0.1, 0.1, 0.1, 0.1  # the third epoch is the best, five are not
    states = [share * good + rng.random((40, 60)) for share in shares]
    epochs = iter(states)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scores = torch.nn.Parameter(torch.zeros((40, 60), dtype=torch.float64))

        def forward(self):
            return 1 * self.scores

    def train_epoch(model):
        with torch.no_grad():
            model.scores.copy_(torch.tensor(next(epochs)))

    model = Model()
    held = {"model": model, "train_epoch": train_epoch, "validation": validation, "seen": seen}
    names = run("Early stopping", torch=torch, copy=copy, **held)
    lists = np.argsort(-np.where(seen, -np.inf, states[2]), axis=1)[:, :10].tolist()
    expected = tl.top_k_eval(dict(enumerate(lists)), validation, metrics="ndcg@10")["ndcg@10"]
    assert names["best"] == expected and names["epoch_of_best"] == 2
    assert names["epoch"] == len(states) - 1
    assert np.array_equal(model().detach().numpy(), states[2])


def a_result():
    ranks, truths = {"ann": [3, 1, 2], "bob": [2, 4]}, {"ann": {1}, "bob": {2, 9}}
    return tl.top_k_eval(ranks, truths, k=[1, 3])


@pytest.mark.libraries
def test_mlflow(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    result = a_result()
    with mlflow.start_run() as started, pytest.raises(mlflow.MlflowException, match="ndcg@1"):
        mlflow.log_metrics({"ndcg@1": 0.5})
    with mlflow.start_run(run_id=started.info.run_id):
        names = run("MLflow", mlflow=mlflow, result=result, epoch=3)
    logged = mlflow.get_run(started.info.run_id).data.metrics
    assert logged == {name.replace("@", "_at_"): v for name, v in result.to_dict().items()}
    of_run = {"run_id": started.info.run_id, "artifact_path": "result.npz"}
    path = mlflow.artifacts.download_artifacts(**of_run)
    assert tl.TopKResult.load(path) == names["result"]


@pytest.mark.libraries
def test_wandb(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    monkeypatch.chdir(tmp_path)
    result = a_result()
    started = wandb.init(project="recipes", mode="offline", dir=tmp_path)
    names = run("Weights & Biases", run=started, result=result, epoch=3)
    started.log({}, step=4)  # the row of the epoch is complete
    expected = {name.replace("@", "_at_"): value for name, value in result.to_dict().items()}
    end = time.monotonic() + 30
    while not (found := expected.items() <= dict(names["run"].summary).items()):
        if time.monotonic() > end:
            break
        time.sleep(0.1)  # written by another process
    started.finish()
    assert found


# Results


def test_a_gate_in_ci(tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    truth = "".join(f"u{user},a\n" for user in range(400))
    Path("truth.csv").write_text(f"user_id,item_id\n{truth}")
    for name, item in (("base", "a"), ("good", "a"), ("bad", "b")):
        rows = (f"u{u},{item if u % 3 else 'b'},1\nu{u},c,2\n" for u in range(400))
        Path(f"{name}.csv").write_text("user_id,item_id,rank\n" + "".join(rows))
    [command] = re.findall(r"run: >-\s+toplist (.*?)\n- if", PAGE, flags=re.DOTALL)
    Path("new.csv").write_text(Path("good.csv").read_text())
    names = run("A gate in CI")
    names["test_new_lists_are_not_worse"]()
    status, out, _ = cli(*command.split())
    shown = Path("gate.md").read_text()
    assert (status, out) == (0, "") and shown.startswith("**Gate: not worse**")
    assert "| ndcg@10 |" in shown
    Path("new.csv").write_text(Path("bad.csv").read_text())
    with pytest.raises(AssertionError, match=r"recall@10 -0.6650 .*: worse than -0.005"):
        names["test_new_lists_are_not_worse"]()
    status, _, _ = cli(*command.split())
    assert status == 1 and "| **below the floor 0.2** |" in Path("gate.md").read_text()
    [saving] = re.findall(r"`toplist (eval base.csv .*? base.npz)`", PAGE)
    assert cli(*saving.split())[0] == 0
    assert cli(*command.replace("base.csv", "base.npz").split())[0] == 1


def test_saving_and_loading(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = a_result()
    names = run("Saving and loading", result=result)
    assert names["again"] == result and names["again"].to_text() == result.to_text()
    values = names["again"].per_user("ndcg@3").tolist()
    assert values == result.per_user("ndcg@3").tolist()
    with pytest.raises(ValueError, match="holds no hits"):
        tl.TopKResult.load("bare.npz").per_user("ndcg@3")
    assert json.loads(names["text"])["values"] == result.to_dict()
