"""The peers of the table of agreement: how each is asked, and which differences are stated.

Facts about a peer's formulas stand in its convention; here stands what its package is, what it can
be given, and where it does not do what it says.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from case import Case

TOLERANCE = 1e-9
SINGLE = 1e-5  # of sums in single precision that may exceed 10
ROUNDED = 5e-6 + TOLERANCE  # to 5 decimals


def graded(case: Case, k: int) -> set[str]:
    """Return the users who have a grade above 1."""
    return {user for user, truth in case.truths.items() if max(truth.values()) > 1}


def with_neither(case: Case, k: int) -> set[str]:
    """Return the users who have neither a relevant item nor a list."""
    return {user for user in case.truths.keys() - case.relevant if not case.ranks.get(user)}


def ending_in_a_hit(case: Case, k: int) -> set[str]:
    """Return the users whose list is shorter than k and has a relevant item at its end."""
    lists = {user: row for user, row in case.ranks.items() if 0 < len(row) < k}
    return {user for user, row in lists.items() if row[-1] in case.relevant.get(user, ())}


class Stated(NamedTuple):
    """A difference that is stated: why, and where it may be.

    Parameters
    ----------
    reason : str
    options : mapping, optional
        The options under which none may be left.
    users : callable
        Without options: of a population and a k, the users whose values may differ. If there are
        any, the mean may.
    """

    reason: str
    options: Mapping[str, str] | None = None
    users: Callable[[Case, int], set[str]] = graded


class Peer(NamedTuple):
    """How to ask a peer.

    Parameters
    ----------
    package : str
        Whose version is told.
    convention : str
        Which of toplist's is compared.
    installs : tuple of tuple of str
        Arguments of ``pip install``, once per call.
    takes : str
        What its populations may hold: "grades"; users with an "empty" truth, "missing" or with a
        "blank" list, or "extra" ones, in the lists alone. "whole": every list ranks every item.
        "shallow": no k is beyond the longest list.
    apart : mapping of metric to options
        Metrics that another convention or option computes.
    stated : mapping of metric to Stated
    silent : str
        What it is not asked, and why.
    share : float
        Of the populations: less for a slow peer, more for one that answers at few k's.
    tolerance : float
        By how much values may differ: more where a peer counts in single precision, or rounds.
    """

    package: str
    convention: str
    installs: tuple[tuple[str, ...], ...]
    takes: str = ""
    apart: Mapping[str, Mapping[str, str]] = {}
    stated: Mapping[str, Stated] = {}
    silent: str = ""
    share: float = 1.0
    tolerance: float = TOLERANCE


PEERS = {
    "rectools": Peer("rectools", "rectools", (("rectools",),), "empty missing extra"),
    "ranx": Peer(
        "ranx",
        "ranx",
        (("ranx",),),
        "grades empty missing blank extra",
        stated={
            "rbp": Stated("its rank-biased precision adds up grades, which its own formula has not")
        },
    ),
    "pytrec_eval": Peer(
        "pytrec-eval-terrier",
        "trec_eval",
        (("pytrec-eval-terrier", "numpy"),),
        "grades empty missing extra",
        silent="empty lists, which its dicts have and trec_eval's files have not: 0, and counted",
    ),
    "sklearn": Peer("scikit-learn", "sklearn", (("scikit-learn",),), "grades empty whole"),
    "recommenders": Peer(
        "recommenders",
        "recommenders",
        (("--no-deps", "recommenders"), ("pandas<3", "scikit-learn")),
        "grades empty missing extra",
        stated={
            "ndcg": Stated("its nDCG alone counts users without a list, as 0", {"missing": "zero"})
        },
    ),
    "lenskit": Peer(
        "lenskit",
        "lenskit",
        (("lenskit",),),
        "grades missing",
        silent="empty lists and lists of users without a truth: its summary counts both as 0, "
        "but leaves missing lists out; and its average precision divides by 0 without a truth",
    ),
    "irspack": Peer("irspack", "irspack", (("irspack",),), "empty missing extra"),
    "implicit": Peer("implicit", "implicit", (("implicit",),), "empty missing blank extra"),
    "rs_metrics": Peer(
        "rs_metrics",
        "standard",
        (("rs_metrics",),),
        "extra",
        apart={"precision": {"convention": "irspack"}, "map": {"convention": "irspack"}},
        silent="empty truths and missing lists: values are NaN, and so is the mean",
    ),
    "recbole": Peer(
        "recbole",
        "recbole",
        (
            ("--no-deps", "recbole"),
            # Its MAP needs np.float, which left numpy in 1.24.
            ("torch==2.13.0", "numpy<1.24", "scipy<1.12", "pandas<2.1", "scikit-learn<1.4"),
            ("colorama", "colorlog", "psutil", "pyyaml", "tensorboard", "texttable", "tqdm"),
        ),
        "missing blank",
        silent="users without a truth, whose recall is NaN; nor its own means, which it rounds "
        "to 4 decimals: these are means of its values per user",
    ),
    "rectorch": Peer(
        "rectorch",
        "rectorch",
        (("--no-deps", "rectorch"), ("numpy", "Bottleneck")),
        "whole",
        silent="users without a truth, whose recall and nDCG are NaN",
    ),
    "spark": Peer("pyspark", "spark", (("pyspark", "numpy"),), "empty missing blank", share=0.025),
    # Search and retrieval
    "llamaindex": Peer(
        "llama-index-core",
        "llamaindex",
        (("llama-index-core",),),
        silent="empty truths and lists, which it refuses",
    ),
    "haystack": Peer("haystack-ai", "haystack", (("haystack-ai",),), "grades empty missing blank"),
    "haystack_2025": Peer(
        "haystack-ai", "haystack-2025", (("haystack-ai==2.19.0",),), "grades empty missing blank"
    ),
    "mlflow": Peer(
        "mlflow",
        "mlflow",
        (("mlflow",),),
        "empty missing blank",
        stated={
            metric: Stated(
                "1 for a user with neither relevant items nor a list", users=with_neither
            )
            for metric in ("recall", "ndcg")
        },
    ),
    "ragas": Peer(
        "ragas",
        "ragas",
        # It imports a module that langchain-community 0.4 has not.
        (("ragas", "langchain-community<0.4"),),
        "empty missing blank",
        stated={
            "precision": Stated(
                "its precision alone leaves out users without a list, as NaN", {"missing": "skip"}
            )
        },
    ),
    "sentence_transformers": Peer(
        "sentence-transformers",
        "sentence-transformers",
        (("torch==2.13.0", "sentence-transformers"),),
        "empty missing blank extra",
    ),
    "mteb": Peer(
        "mteb",
        "mteb",
        (("torch==2.13.0", "mteb"),),
        "grades empty missing",
        silent="empty lists, as pytrec_eval; nor its own means, which it rounds to 5 decimals: "
        "these are means of its values per query",
    ),
    "beir": Peer(
        "beir",
        "mteb",
        (("torch==2.13.0", "beir"),),
        "grades missing",
        apart={metric: {"missing": "zero"} for metric in ("hit", "mrr", "r_cap")},
        silent="queries without relevant documents, by whose number its capped recall divides",
        tolerance=ROUNDED,
    ),
    # Labels of the listed items
    "torchmetrics": Peer(
        "torchmetrics",
        "torchmetrics",
        (("torch==2.13.0", "torchmetrics"),),
        "grades empty missing blank",
        tolerance=SINGLE,
    ),
    "lightgbm": Peer(
        "lightgbm",
        "lightgbm",
        (("lightgbm", "numpy"),),
        "grades empty missing blank",
    ),
    "tf_ranking": Peer(
        "tensorflow-ranking",
        "tf-ranking",
        # The last TensorFlow of which Keras 2 is a part.
        (("tensorflow==2.15.*",), ("--no-deps", "tensorflow-ranking")),
        "grades empty missing blank",
        tolerance=SINGLE,
    ),
    "evidently": Peer(
        "evidently",
        "evidently",
        # It imports a function that pandas 3 has not.
        (("evidently", "pandas<3"),),
        "grades empty missing blank shallow",
        stated={
            metric: Stated(
                "past the end of a list it adds the list's last hit again", users=ending_in_a_hit
            )
            for metric in ("map", "mar")
        },
        silent="k beyond the longest list, for which it has no value",
        share=1.6,
    ),
    # Recommenders
    "replay": Peer(
        "replay-rec",
        "replay",
        (("replay-rec", "torch==2.13.0"),),
        "empty missing blank extra",
    ),
    "cornac": Peer(
        "cornac",
        "cornac",
        (("cornac",),),
        "empty missing blank extra",
        silent="MRR where a user has no hit, which is an error there; MAP, which ranks every item",
    ),
    "recpack": Peer(
        "recpack", "recpack", (("torch==2.13.0", "recpack"),), "empty missing blank extra"
    ),
    "elliot": Peer(
        "elliot",
        "elliot",
        # On no package index; what it asks for is of 2020, and its metrics need none of it.
        (
            ("numpy", "pandas", "scipy", "pyyaml", "tqdm", "setuptools<70", "wheel"),
            (
                *("--no-deps", "--no-build-isolation", "-e"),
                "git+https://github.com/sisinflab/elliot"
                "@fc27efedaddf4a57294db14b4bcaa5553a0015d2#egg=elliot",
            ),
        ),
        "grades empty missing extra",
        silent="empty lists, which it counts as 0, but leaves missing lists out; MAP and MAR, "
        "which are means over 1..k",
    ),
    # Ranking and retrieval, further
    "xgboost": Peer("xgboost", "xgboost", (("xgboost",),), "grades empty missing blank"),
    "catboost": Peer("catboost", "catboost", (("catboost",),), "grades empty missing blank"),
    "pytorch_metric_learning": Peer(
        "pytorch-metric-learning",
        "pytorch-metric-learning",
        (("torch==2.13.0", "pytorch-metric-learning"),),
        "empty whole shallow",
        silent="lists of fewer than k neighbours, which it never makes",
        share=1.15,
        tolerance=1e-7,
    ),
    # Sources that are read, not installed: answers_read.py follows them.
    "longmemeval": Peer("LongMemEval@9e0b455", "longmemeval", (), "empty missing blank"),
    "autorag": Peer("AutoRAG@a35d321", "autorag", (), "empty missing blank"),
    "elasticsearch": Peer(
        "elasticsearch@d04e400", "elasticsearch", (), "grades empty missing blank"
    ),
    "opensearch": Peer(
        "search-relevance@d8be5d1",
        "opensearch",
        (),
        "grades empty missing blank",
        silent="its rounding of every query to 2 decimals",
    ),
    "quepid": Peer("quepid@f80322f", "quepid", (), "grades empty missing blank"),
    "transformers4rec": Peer(
        "Transformers4Rec@8bf122f", "transformers4rec", (), "empty whole shallow", share=1.15
    ),
    "bwhite": Peer("bwhite/3726239", "bwhite", (), "grades empty missing blank"),
}
