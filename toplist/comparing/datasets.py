"""`across`: systems put side by side over several data sets, whose users are never merged."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, get_args

import numpy as np

from toplist.checks import Floats, choice, prefixed
from toplist.comparing import aligning, comparison, testing
from toplist.comparing.comparison import Comparison, Given
from toplist.comparing.pairwise import TestSpec
from toplist.comparing.rankings import Across, differences
from toplist.inputs.id_hashes import hashes_of
from toplist.metrics.names import AnyName
from toplist.stats import datasets as statistics
from toplist.stats import randomization
from toplist.stats.datasets import OF, DatasetsAre

# What is done with a system that has no result in some data set.
MissingSystem = Literal["error", "last"]
MISSING: tuple[MissingSystem, ...] = get_args(MissingSystem)
RESAMPLES = 2000


def across(
    datasets: Mapping[str, Comparison | Mapping[str, Given]],
    name: AnyName,
    *,
    baseline: str | None = None,
    missing: MissingSystem = "error",
    of: DatasetsAre = "these",
    n_resamples: int = RESAMPLES,
    seed: int = 0,
    n_threads: int | None = None,
) -> Across:
    """Put systems side by side over several data sets: means, ranks, votes, and what is chance.

    Parameters
    ----------
    datasets : dict of data set -> Comparison, or dict of system -> result
        As `compare` takes or returns it. Within a data set the systems have the same users;
        across data sets users have nothing to do with each other, even where their keys are equal.
    name : str
        The measure, ``"ndcg@10"``, by one convention in all data sets.
    baseline : str, optional
        The system that the others are compared with.
    missing : {"error", "last"}
        What is done with a system that some data set does not have: refused, or last there,
        without votes.
    of : {"these", "sample"}
        What the interval of the difference from the baseline is about: these data sets, or sets
        like these. The latter is printed from six data sets on; `Across.contrast` has both.
    n_resamples, seed, n_threads
        Of the users drawn again in each data set, for the intervals of ranks.

    Returns
    -------
    Across
        A table when printed: a row per system, the best mean rank first.

    Raises
    ------
    TypeError, ValueError
        For fewer than two data sets or systems, systems over other users or by other rules, other
        rules in one data set than in another, and a system that a data set lacks.
    KeyError
        For a name that a system does not have.

    Examples
    --------
    >>> import toplist as tl
    >>> rng = np.random.default_rng(0)
    >>> def evaluated(shift):
    ...     ranks = {name: rng.integers(1, 6 + at, 400) for at, name in enumerate("abc", shift)}
    ...     hits = {name: tl.Hits.from_ranks(some, n_listed=20) for name, some in ranks.items()}
    ...     return {name: tl.top_k_eval(one, k=5, metrics="mrr") for name, one in hits.items()}
    >>> found = tl.across(
    ...     {"ml": evaluated(0), "yelp": evaluated(4)}, "mrr@5", baseline="c"
    ... )
    >>> found.systems, found.borda.tolist()
    (('a', 'b', 'c'), [4.0, 2.0, 0.0])
    """
    choice("missing", missing, MISSING)
    choice("of", of, OF)
    randomization.seeded(seed)
    randomization.resamples(n_resamples)
    if not isinstance(datasets, Mapping):
        kind = type(datasets).__name__
        raise TypeError(f"across takes a dict of data set -> comparison, not {kind}")
    if len(datasets) < 2:
        raise ValueError(f"across: two data sets are needed, and there is {len(datasets)}")
    found, names = {}, set[str]()
    for key, given in datasets.items():
        dataset = comparison._name(key)
        if not isinstance(dataset, str) or not dataset:
            raise TypeError(f"across: {key!r} is no name of a data set: give text or a number")
        with _about(dataset):
            at, found[dataset] = _read(given, name)
            names.add(at)
    for line in differences(found):
        if not line.startswith("DIFFERENT CANDIDATES"):  # a note says so
            raise ValueError(f"these data sets cannot be put together: {line}")
    systems = list(dict.fromkeys(system for one in found.values() for system in one.systems))
    if len(systems) < 2:
        raise ValueError(f"across: two systems are needed, and there is {systems[0]}")
    for system in systems if missing == "error" else ():
        lacking = [dataset for dataset, one in found.items() if system not in one.systems]
        if lacking:
            raise ValueError(
                f"{lacking[0]} has no result of {system}: leave {system} out, or give "
                "missing='last', by which it is last there, without votes"
            )
    if baseline is not None and (baseline := comparison._name(baseline)) not in systems:
        raise ValueError(f"baseline {baseline!r} is none of the systems: {', '.join(systems)}")
    asked = baseline, of, n_resamples, seed
    return _ranked(names.pop(), found, systems, asked, n_threads)


@contextmanager
def _about(dataset: str) -> Iterator[None]:
    """Let an error say which data set it is about."""
    try:
        yield
    except KeyError as error:
        raise KeyError(f"{dataset}: {error.args[0]}") from None
    except (TypeError, ValueError) as error:
        raise prefixed(f"{dataset}: ", error) from None


def _read(given: Comparison | Mapping[str, Given], name: str) -> tuple[str, Comparison]:
    """Return the ``name@k`` as it is spelled, and the systems of a data set with its metric."""
    whole = given if isinstance(given, Comparison) else comparison.compare(given)
    some = testing._names(whole, name)
    if len(some) > 1:
        raise ValueError(f"across is of one name@k, not of {', '.join(some)}")
    one = whole._only(some[0].rpartition("@")[0])  # other metrics may have other rules
    if not one.comparable:
        raise ValueError(f"these systems cannot be compared: {one.differences[0]}")
    nobody = [system for system, result in one.results.items() if not result.n_evaluated]
    if nobody:
        raise ValueError(f"no user is in the mean of {nobody[0]}: leave it out")
    return some[0], one


def _ranked(
    name: str,
    found: Mapping[str, Comparison],
    systems: Sequence[str],
    asked: tuple[str | None, DatasetsAre, int, int],
    n_threads: int | None,
) -> Across:
    """Return the table of all means, sorted, with what is known of its ranks."""
    metric = next(iter(found.values()))._directed(name)[1]
    sign = 1.0 if metric.higher_is_better else -1.0
    means = np.array(
        [
            [one._mean(s, name) if s in one.systems else math.nan for s in systems]
            for one in found.values()
        ]
    )
    order = np.argsort(statistics.mid_ranks(sign * means).mean(axis=0), kind="stable")
    systems, means = [systems[place] for place in order], means[:, order]
    unknown = [d for d, c in found.items() if any(r.hits is None for r in c.results.values())]
    if unknown:
        why = f"the users of {aligning.few_of(unknown)} are unknown"
        return Across(name, metric, tuple(systems), found, means, *asked, why=why)
    drawn = []
    for dataset, one in found.items():
        # by its name, so that the order of data sets changes nothing
        how = {"n_resamples": asked[2], "seed": asked[3] ^ int(hashes_of([dataset])[0])}
        with _about(dataset):
            of_set = np.full((asked[2], len(systems)), math.nan)
            places = [systems.index(system) for system in one.systems]
            of_set[:, places] = sign * _drawn(one, name, n_threads=n_threads, **how)
            drawn.append(of_set)
    ends = statistics.rank_intervals(sign * means, drawn)
    behind = statistics.behind_first([statistics.mid_ranks(of_set) for of_set in drawn], 0)
    return Across(name, metric, tuple(systems), found, means, *asked, *ends, behind)


def _drawn(one: Comparison, name: str, **how: Any) -> Floats:
    """Return the means of the systems of a data set, of its users drawn again."""
    source: Any = testing._source(one, [name], TestSpec())
    values = [
        np.mean([source.values(run, name) for run in one.runs.get(system, (system,))], axis=0)
        for system in one.systems
    ]
    return statistics.resampled(values, testing._units(source.found, None), **how)
