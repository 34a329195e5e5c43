"""Propensities: pyxclib, an oracle and toplist side by side on random inputs.

    python benchmarks/propensities.py                 # 2,000 inputs, toplist and the oracle
    python benchmarks/propensities.py --peer PYTHON   # and pyxclib, which this Python imports
    python benchmarks/propensities.py --smoke         # 20 inputs

An input has 1 to 12 users with a list of 10 ids each, some of them without a relevant item, random
propensities, half of them equal, and four k's. The oracle is `tests/oracle/propensities.py`, plain
Python written from the definitions. pyxclib (github.com/kunaldahiya/pyxclib) is not on PyPI: clone
it and build it there, ``python setup.py build_ext --inplace``; PYTHONPATH has the clone. toplist
must give the values of the oracle to 1e-12, and pyxclib, which keeps psndcg in float32, to 1e-6.
"""

import argparse
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

SEED, N_INPUTS, KS, DEPTH = 20_262, 2000, [1, 3, 5, 10], 10


def population(source: random.Random) -> dict[str, Any]:
    """Draw lists, truths, and the propensity of every item."""
    n_items = source.randint(DEPTH, 40)
    levels = [source.uniform(0.01, 1) for _ in range(n_items)]
    if source.random() < 0.5:  # ties
        levels = [source.choice(levels[:3]) for _ in levels]
    n_users = source.randint(1, 12)
    most = source.choice([1, 3, n_items])
    truths = [source.sample(range(n_items), source.randint(0, most)) for _ in range(n_users)]
    truths[0] = truths[0] or [0]
    lists = [source.sample(range(n_items), DEPTH) for _ in range(n_users)]
    counts = [source.randint(0, 500) for _ in range(n_items)]
    return {"lists": lists, "truths": truths, "p": levels, "counts": counts}


def answers(asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return pyxclib's values at every k, and its inverse propensities."""
    import numpy as np
    from scipy.sparse import csr_matrix, lil_matrix
    from xclib.evaluation import xc_metrics

    found = []
    for one in asked:
        truth = lil_matrix((len(one["lists"]), len(one["p"])))
        for user, items in enumerate(one["truths"]):
            truth[user, items] = 1
        sides = np.array(one["lists"]), csr_matrix(truth), 1 / np.array(one["p"])
        values = {}
        for name, function in (("psp", xc_metrics.psprecision), ("psndcg", xc_metrics.psndcg)):
            curve = function(*sides, k=DEPTH, sorted=True)
            values |= {f"{name}@{k}": float(curve[k - 1]) for k in KS}
        rows = max(one["counts"]) + 3  # users of whom as many have each item
        log = csr_matrix([[row < n for n in one["counts"]] for row in range(rows)], dtype=float)
        values["inverse"] = xc_metrics.compute_inv_propesity(log, 0.55, 1.5).tolist()
        found.append(values)
    return found


def compared(drawn: dict[str, Any], peer: dict[str, Any] | None) -> tuple[int, float, float]:
    """Return the number of values, and the largest differences of toplist, and of the peer."""
    from oracle import propensities as oracle

    import toplist as tl

    lists, truths = drawn["lists"], list(map(set, drawn["truths"]))
    p = dict(enumerate(drawn["p"]))
    w = oracle.weights(p)
    ours = {**tl.top_k_eval(lists, truths, KS, metrics=["psp", "psndcg"], propensities=p).to_dict()}
    theirs = {f"psp@{k}": oracle.psp(lists, truths, w, k) for k in KS}
    theirs |= {f"psndcg@{k}": oracle.psndcg(lists, truths, w, k) for k in KS}
    single = max(map(len, truths)) == 1
    for weighting, names in (
        ("snips", oracle.WORTH_ALONE if single else oracle.WORTH),
        ("ips", ("cg", "dcg", "precision", "rbp(p=0.8)")),
    ):
        estimate = getattr(oracle, weighting)
        estimated = tl.Propensities(p, weighting=weighting)
        how = {"metrics": list(names), "propensities": estimated}
        values = tl.top_k_eval(lists, truths, KS, **how).to_dict()
        for name in names:
            for k in KS:
                key = f"{weighting} {name}@{k}"
                ours[key] = values[f"{name}@{k}"]
                theirs[key] = estimate(name, lists, truths, w, k)
    apart = max(abs(ours[key] - theirs[key]) / max(1.0, theirs[key]) for key in theirs)
    if peer is None:
        return len(theirs), apart, 0.0
    inverse = tl.propensities.of_counts(drawn["counts"], max(drawn["counts"]) + 3)
    beside = [abs(1 / inverse[item] - one) for item, one in enumerate(peer.pop("inverse"))]
    beside += [abs(ours[key] - one) for key, one in peer.items()]
    return len(theirs), apart, max(beside)


def main() -> None:
    """Compare all inputs; exit code 1 for a difference."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", help="a Python that imports xclib")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--answers", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answers:
        print(json.dumps(answers(json.load(sys.stdin))))
        return
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    source = random.Random(SEED)
    drawn = [population(source) for _ in range(20 if options.smoke else N_INPUTS)]
    peers: list[Any] = [None] * len(drawn)
    if options.peer:
        command = [options.peer, __file__, "--answers"]
        text = json.dumps(drawn)
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        peers = json.loads(done.stdout.splitlines()[-1])
    found = [compared(one, peer) for one, peer in zip(drawn, peers, strict=True)]
    values, *apart = zip(*found, strict=True)
    n, ours, theirs = sum(values), *map(max, apart)
    print(f"{len(drawn):,} inputs, {n:,} values: toplist is within {ours:.1g} of the oracle")
    if options.peer:
        print(f"pyxclib, psp, psndcg and inverse propensities: within {theirs:.1g} of toplist")
    if ours > 1e-12 or theirs > 1e-6:
        raise SystemExit("values differ")


if __name__ == "__main__":
    main()
