"""What each convention says besides its formulas: who is averaged, and how grades are read."""

BY_POLICIES = {  # empty truths, missing lists: the conventions
    ("skip", "zero"): (
        "standard neurec-cpp rectorch recbole rectools implicit sentence-transformers ragas "
        "replay recpack cornac longmemeval pytorch-metric-learning"
    ),
    ("zero", "zero"): (
        "neurec sklearn ranx spark mlflow haystack haystack-2025 elasticsearch transformers4rec "
        "bwhite"
    ),
    ("zero", "skip"): "trec_eval mteb tf-ranking torchmetrics catboost opensearch quepid",
    ("skip", "skip"): "lenskit recommenders irspack evidently elliot autorag",
    ("raise", "raise"): "llamaindex",
    ("one", "skip"): "lightgbm xgboost",
}
POLICIES = {name: both for both, names in BY_POLICIES.items() for name in names.split()}
EMPTY_OF = {
    ("mteb", "r_cap"): "skip",
    ("ragas", "precision"): "zero",
    ("xgboost", "precision"): "zero",
    ("catboost", "recall"): "one",
    ("catboost", "ndcg"): "one",
}
LISTED = {"evidently", "tf-ranking", "lightgbm", "torchmetrics", "xgboost", "catboost", "bwhite"}
EXPONENTIAL = {"tf-ranking", "lightgbm", "elliot", "xgboost", "elasticsearch", "opensearch"}
EXPONENTIAL |= {"quepid"}
POOLED = {("implicit", "precision")}  # all others are means over users
GRADED = {"cg", "dcg", "ndcg", "err", "nerr"}
