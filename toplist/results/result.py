"""`TopKResult`: what an evaluation returns, displayed as a table."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from toplist.checks import choice, equal, prefixed
from toplist.matching.about import together
from toplist.metrics import properties
from toplist.metrics.names import AnyName, Name, Names, keys_of, metric_meant
from toplist.results.markup import Display
from toplist.results.means import Means, merge
from toplist.results.tables import LOOK, Grid, Look, Page
from toplist.results.terms import chosen

# What few need is imported by them, as `import toplist` must be quick.
if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from toplist.results.saved import PathLike
    from toplist.results.segments import Bounds, Segments


class TopKResult(Means, Display):
    """Means of metrics over users, at every k up to the largest asked for.

    Returned by `toplist.top_k_eval`. Iterating yields one value per entry of its `metrics`: a
    float for one k or ``"ndcg@10"``, else an array over the k's. ``result["ndcg@7"]`` is the mean
    at any k up to the largest, ``result["ndcg"]`` the whole curve. Values are rounded only in
    print. ``a + b`` merges two results over different users, `toplist.merge` many.

    ``a == b`` is True where both say the same to the last bit: what was asked, by which rules, of
    how many users, and every mean and spread at every k; NaN equals NaN. The users themselves are
    no part of it, so that a result equals itself without users. (Parts that were merged have the
    means of the whole to the last bit, but standard deviations may differ in the last digits.)
    Results are not hashable: keep them in a dict by the name of the system.

    Attributes
    ----------
    ks : tuple of int
        The k's asked for, rising.
    n_users : int
        Users of the ground truth: `n_evaluated` + `n_skipped`.
    n_evaluated, n_skipped : int
        Users in the means, and users left out: those with an empty ground truth, those without a
        list under the policy ``missing="skip"``, and those of weight 0.
    n_missing : int
        Users with relevant items but without a list, or with an empty one; none of weight 0.
    n_extra : int
        Users with a list but without a ground truth; they have no row.
    users : sequence
        The users' keys in the order of the rows; their positions where there are no keys.
    weights : (n_users,) float64, or None
        The weight of each user in the means.
    clusters : sequence, or None
        The cluster of each row, such as the user of a session; intervals and tests are by these.
    n_clusters : int
        Clusters with a row in the means; ``n_clusters_of("bpref")`` of one metric. 0 without any.
    hits, counted : Hits and (n_users,) bool, or None
        The hits, and whose are in the means; values per user and segments follow from them.
    terms : Terms
        What was asked, and by which rules.
    histograms : Histograms
        The counts of hits that the means follow from.
    lists : ListResult or None
        The metrics of the lists themselves (coverage, Gini, popularity), where asked for.
    fingerprints : tuple of Fingerprint
        The ground truths, one per part: by them, parts over the same users are refused.
    unmatched : Unmatched or None
        Of files read in parts, examples of ids where nobody has a hit.
    graded : bool
        Whether ground truths had grades, other than 1 for all that is relevant.
    longest : int or None
        The length of the longest list, as deep as lists were read; None where it is unknown.
    scored : Scored or None
        Of lists with scores, how many items share theirs with a neighbour, of how many.
    listed : (n_users,) uint64 or None
        Of ``keep="part"``, words of the users, by which `toplist.merge` knows who is in no part.
    notes : tuple of str
        What was done to read the lists, a line each: that a file was sorted, say.
    exposed : Exposed or None
        Under ``propensities=``, how many relevant items count 1 / p, and their effective number.
    paired : SystemRef or None
        Of several systems in one evaluation on Spark, the moments of their differences, by
        which they are tested without users. Neither ``+`` nor `save` keeps them.

    Examples
    --------
    >>> from toplist import top_k_eval
    >>> a = top_k_eval([[1, 2]], [{2}], k=2, metrics=["mrr"])
    >>> b = top_k_eval([[1, 2], [3]], [{1}, {9}], k=2, metrics=["mrr"])
    >>> (a + b)["mrr@2"], (a + b).per_user("mrr@2").tolist()
    (0.5, [0.5, 1.0, 0.0])
    >>> a == a.without_users(), a == b
    (True, False)
    """

    if not TYPE_CHECKING:  # a type checker is to find wrong names itself

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError; for ``result.ndcg`` it says ``result["ndcg"]``."""
            text = f"{type(self).__name__!r} object has no attribute {name!r}"
            # "terms" is absent while a result is unpickled
            private = name.startswith("_") or name == "terms"
            meant = None if private else metric_meant(name, self.terms.asked)
            if meant is None or meant not in self:
                raise AttributeError(text, name=name, obj=self)
            raise AttributeError(f"{text} (did you mean result[{meant!r}]?)")

    def __iter__(self) -> Iterator[Any]:
        """Yield one value per entry of `metrics`: a float, or an array over the k's."""
        for entry in self.terms.entries:
            means = [self[f"{entry.metric.name}@{k}"] for k in entry.ks]
            yield means[0] if entry.scalar else np.array(means)

    def __contains__(self, name: object) -> bool:
        """Return whether ``result[name]`` exists."""
        try:
            self.terms.find(name)  # type: ignore[arg-type]
        except KeyError:
            return False
        return True

    def __eq__(self, other: object) -> bool:
        """Return whether both say the same to the last bit; users are no part of it."""
        if not isinstance(other, TopKResult):
            return NotImplemented
        mine, theirs = (
            (
                *(one.terms, one.n_users, one.n_missing, one.n_extra, one.graded, one.histograms),
                None if one.clusters is None else one._cluster_of,
                None if one.lists is None else one.lists.averages(),
            )
            for one in (self, other)
        )
        return equal(mine, theirs)

    def _ipython_key_completions_(self) -> list[str]:
        """Return what IPython and Jupyter complete after ``result["``: means, then curves."""
        return [*self.names(), *self.terms.asked]

    def to_dict(self, at: str = "@") -> dict[str, float]:
        """Return the means asked for, ``{"ndcg@10": 0.1, ...}``.

        Parameters
        ----------
        at : str
            What stands between the name and k. With another one than ``"@"``, all that is no
            letter, digit or underscore in the name becomes an underscore: such keys are taken by
            MLflow, which refuses ``@`` and parentheses, and by W&B.

        Raises
        ------
        ValueError
            If two names have one key, as those of metrics named "a.b" and "a_b".

        Examples
        --------
        >>> from toplist import top_k_eval
        >>> result = top_k_eval([[1, 2]], [{2}], k=2, metrics=["mrr", "rbp(p=0.5)"])
        >>> result.to_dict()
        {'mrr@2': 0.5, 'rbp(p=0.5)@2': 0.25}
        >>> result.to_dict(at="_at_")    # mlflow.log_metrics(...), run.log(...)
        {'mrr_at_2': 0.5, 'rbp_p_0_5_at_2': 0.25}
        """
        return {key: self[name] for name, key in keys_of(self.names(), at).items()}

    def __float__(self) -> float:
        """Return the mean of a result that has exactly one, as a scorer or an optimizer wants it.

        Raises
        ------
        TypeError
            If there are several.

        Examples
        --------
        >>> from toplist import top_k_eval
        >>> float(top_k_eval([[1, 2]], [{2}], metrics="mrr@2"))
        0.5
        """
        names = self.names()
        if len(names) == 1:
            return float(self[names[0]])
        shown = ", ".join(names[:6]) + ", ..." * (len(names) > 6)
        raise TypeError(
            f"this result has {len(names)} means, {shown}: take one, result[{names[0]!r}], or ask "
            f"for one alone, metrics={names[0]!r}"
        )

    def __add__(self, other: TopKResult) -> TopKResult:
        """Merge two results over different users.

        Raises
        ------
        ValueError
            If metrics, k, convention or policies differ, or a user is in both; of users by
            position, if both parts have the same ground truths.
        """
        return merge([self, other]) if isinstance(other, TopKResult) else NotImplemented

    def __radd__(self, other: Any) -> TopKResult:
        """Let ``sum(results)`` start from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def formula(self, name: AnyName, style: properties.Style = "text") -> str:
        """Return the exact formula of a metric, with its policies and the number of users.

        Parameters
        ----------
        name : str
            ``"name"`` or ``"name@k"``.
        style : {"text", "latex"}
            LaTeX (amsmath): an equation, and a paragraph for each note.
        """
        choice("style", style, properties.STYLES)
        from toplist.results import describe

        return describe.explanation(self, self.terms.find(name)[0], style)

    def bounds(self, name: AnyName) -> Bounds:
        """Return the least and the largest mean for all judgements of the unjudged items.

        Each unjudged item of the first k may be not relevant, or relevant with a gain up to the
        largest of all ground truths (1 where no grade is above 0; of listed items, where R counts
        these). R grows by those that are, and so does nDCG's ideal list. Both ends are reached by
        some judgement. The width shows what the holes of the judgements can hide (Moffat and Zobel
        2008 call it the residual of RBP).

        Where no relevant item lowers a metric, `low` is the mean as it is, and `high` that if all
        unjudged items are relevant: of hit, precision, recall, mrr, f1, rbp, cg, dcg and err. Of
        map, ndcg, r_precision and the like it is not so: one more relevant item makes R grow, and
        may stand below the hits. Their bounds are of users one by one; with grades, ndcg and nerr
        have none.

        An item is judged that has a grade, 0 included. Where no truth has a grade 0, as with sets,
        every item that is not in the truth counts as unjudged. So do later copies of an item
        (``duplicates="first"``), which no judgement makes relevant: the mean is then within the
        bounds, but `low` may be too low and `high` too high. The users are those of the mean.

        Parameters
        ----------
        name : str
            ``"precision@3"``; without k where the metric was asked for at one k.

        Returns
        -------
        Bounds
            A named tuple (low, high) of floats.

        Raises
        ------
        KeyError
            For a name that the result does not have.
        ValueError
            For metrics that do not read what is relevant (of the lists themselves, and judged),
            bpref and functions of your own, of grades also ndcg and nerr, with ``empty="one"`` also
            cg, dcg and err, and as pooled ratios; for ground truths of groups; for results of
            ``unjudged="drop"``, with propensities, and without hits.

        Examples
        --------
        >>> from toplist import top_k_eval
        >>> grades = {"a": 1, "b": 0, "c": 2}
        >>> result = top_k_eval(["x", "a", "b", "c"], grades, 3, metrics=["precision", "rbp"])
        >>> [round(end, 4) for end in result.bounds("precision@3")]
        [0.3333, 0.6667]
        >>> [round(end, 4) for end in result.bounds("rbp@3")]
        [0.16, 0.36]
        """
        from toplist.results import segments

        return segments.bounds(self, name)

    def without_users(self) -> TopKResult:
        """Return the same means, spreads, intervals and counts without anything of single users.

        Its size does not depend on the number of users; it has no values per user, no segments and
        no keys, and still merges with others.

        Examples
        --------
        >>> from toplist import top_k_eval
        >>> result = top_k_eval([[1, 2], [3]], [{2}, {3}], k=2, metrics=["mrr"])
        >>> bare = result.without_users()
        >>> bare["mrr@2"], bare.hits is None, bare.n_evaluated
        (0.75, True, 2)
        """
        if self.clusters is not None:
            raise ValueError(
                "intervals by clusters follow from the rows, and nothing is left of these: save "
                "the result as it is, and to_dict() and to_pandas() give its figures"
            )
        whole = (together(self.prints),) if self.prints else ()
        lists = None if self.lists is None else self.lists.without_users()
        return replace(self, hits=None, counted=None, weights=None, lists=lists, fingerprints=whole)

    def to_json(self) -> str:
        """Return what people and other programs read of the result, as JSON.

        It has the means, standard deviations, intervals and numbers of users at the k's asked for,
        the convention, the policies and the formulas, as ``toplist eval --format json`` prints
        them. It is not read back: `save` keeps a result. ``result.to_pandas(per_user=True)`` has
        values of users to read, for ``.to_parquet(path)`` or ``.to_csv(path)``.

        Examples
        --------
        >>> import json
        >>> from toplist import top_k_eval
        >>> found = json.loads(top_k_eval([[1, 2], [3]], [{2}, {3}], k=2).to_json())
        >>> found["values"]["mrr@2"], found["n_evaluated"]
        (0.75, 2)
        """
        from toplist.results import describe

        return describe.text_of(describe.content(self))

    def save(self, path: PathLike) -> None:
        """Write the result to a file that `load` reads, with its users if it has them.

        Of files and streams it has them by ``keep="users"``; tests and gates need them.

        The file is numpy's npz, without pickle and with a version; files of 0.4 are read by all of
        0.x. The result that is loaded is this one to the last bit: values per user, tests,
        segments, bounds and merging work; but not the ids of relevant items, for `by_item`. Of
        metrics of the lists it has the values of users at the k's asked for, 8 bytes each at most,
        and the means at every k; of several systems in one evaluation on Spark, not the moments of
        their differences (`paired`). ``result.without_users().save(path)`` keeps no user.

        Parameters
        ----------
        path : str or path
            ``"base.npz"``. A file that is there is replaced. It is written whole or not at all.

        Raises
        ------
        ValueError
            For another name; for metrics with functions of their own, as these have no way back;
            for users or clusters that are neither text nor numbers, nor tuples of these.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import os, tempfile
        >>> from toplist import TopKResult, top_k_eval
        >>> result = top_k_eval({"ann": [1, 2], "bob": [3]}, {"ann": {2}, "bob": {3}}, k=2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     base = os.path.join(folder, "base.npz")
        ...     result.save(base)
        ...     again = TopKResult.load(base)
        >>> again == result, again.users, again.per_user("mrr@2").tolist()
        (True, ['ann', 'bob'], [0.5, 1.0])
        """
        from toplist.results import saved

        saved.check_name("save: ", path)
        saved.write_all({path: saved.dump(self)})

    @staticmethod
    def load(path: PathLike) -> TopKResult:
        """Return the result that `save` wrote, with its users if it has them.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        OSError
            If there is no such file.
        ValueError
            For a file that `save` did not write, a damaged or changed one, and one of another
            version of the format; for JSON, which is written for readers.
        """
        from toplist.results import saved

        with open(path, "rb") as stream:
            data = stream.read()
        try:
            return saved.read(data, TopKResult)
        except ValueError as error:
            raise prefixed(f"{os.fsdecode(path)}: ", error) from None

    def by(self, labels: Any) -> Segments[TopKResult]:
        """Split the users by an attribute: a result for every label.

        Parameters
        ----------
        labels : one label per user, or dict user -> label
            An array or list in the order of `users`; or a dict or pandas Series keyed by user,
            where users may be absent. Users whose label is absent, None or NaN are a segment of
            their own, None. A Series with an index of its own is refused where users are known by
            position, and a default index where they have keys. Segments are in the order of ordered
            categories (a Categorical of pandas, an Enum of polars), else sorted.

        Returns
        -------
        Segments
            A mapping label -> TopKResult, a table when printed. Every user of this result is
            in one segment. Metrics of the lists that are means over users split too, over the
            users of the ground truth. Those of all lists together, such as coverage, are left out.

        Raises
        ------
        TypeError, ValueError
            If there is not one label per user, if the labels are keyed by other users or by none
            where users have keys, or if the result does not hold its hits.

        Examples
        --------
        >>> from toplist import top_k_eval
        >>> result = top_k_eval({"a": [1], "b": [2], "c": [3]}, {"a": 1, "b": 9, "c": 3}, k=1)
        >>> {label: part["hit@1"] for label, part in result.by({"a": "new", "b": "new"}).items()}
        {'new': 0.5, None: 1.0}
        """
        from toplist.results import segments

        return segments.by(self, labels)

    def by_item(self, labels: Any, *, order: Iterable[Any] | None = None) -> Segments[TopKResult]:
        """Split the relevant items by an attribute: a result for every label, one pass over all.

        The ground truth of a slice are the relevant items of its label. Lists stay as they are, and
        so do ranks: each slice is what an evaluation of the same lists with such truths says, of
        the users who have any. So R, and the ideal of nDCG, are of the slice; precision is the
        slice's share of the k places. Users without a relevant item of a slice are not in it. The
        largest grade, which err and nerr need, stays that of all.

        Parameters
        ----------
        labels : dict item -> label, pandas Series, or table
            One label per item, keyed by item: the index of a Series; the column item_id of a table
            (pandas, polars, pyarrow), which has one more. Items whose label is absent, None, NaN or
            "" are a slice of their own, None. With `items_as`, items are documents.
        order : labels, optional
            In the order of the slices. Default: that of ordered categories (a Categorical of
            pandas, an Enum of polars), else sorted.

        Returns
        -------
        Segments
            A mapping label -> TopKResult, a table when printed. Metrics of the lists themselves,
            `judged` and `bpref` are left out. No slice is empty.

        Raises
        ------
        TypeError
            For other forms, and items of another kind than those of the ground truths (text,
            integers).
        ValueError
            If no relevant item has a label, if an item has two or `order` lacks one, for two that
            are written alike (1 and "1"), for ground truths of groups and ``unjudged="drop"``, and
            if the result does not hold its hits and their items: hits made by hand, saved results,
            those of files read in parts, of Spark.

        Examples
        --------
        >>> from toplist import top_k_eval
        >>> lists = {"ann": ["a", "b", "c"], "bob": ["b", "a", "d"]}
        >>> truth = {"ann": {"b", "c"}, "bob": {"d"}}
        >>> result = top_k_eval(lists, truth, k=3, metrics=["recall", "mrr"])
        >>> slices = result.by_item({"a": "head", "b": "head", "c": "tail", "d": "tail"})
        >>> {label: (part.n_users, round(part["mrr@3"], 4)) for label, part in slices.items()}
        {'head': (1, 0.5), 'tail': (2, 0.3333)}
        """
        from toplist.results import segments

        return segments.by_item(self, labels, order)

    def to_pandas(self, per_user: bool = False, *, names: Names | None = None) -> DataFrame:
        """Return a DataFrame: a row per metric and k, or per user.

        Parameters
        ----------
        per_user : bool
            False: columns metric, k, mean, std, low, high (95 % interval), n, rough (why the
            interval is; "" where it is not). True: a row per user, with user_id and one column per
            metric and k.
        names : str or several, optional
            The means to show; default: all.
        """
        from toplist.results import describe

        if not per_user:
            return super().to_pandas(names=names)
        shown = self if names is None else self._only(names)
        return Grid({"user_id": list(shown.users), **describe.of_users(shown)}).to_pandas()

    def _only(self, names: Names) -> TopKResult:
        return replace(self, terms=chosen({"this result": self.terms}, names)["this result"])

    def _page(self, look: Look = LOOK) -> Page:
        """Return a table of metrics x k with 95 % intervals, and who was counted."""
        from toplist.results import describe

        return describe.page(self, look)

    def _grid(self) -> Grid:
        """Return a row per metric and k: mean, standard deviation, interval, number of users."""
        from toplist.results import describe

        return describe.grid(self)

    def plot(
        self,
        metrics: Name | str | Sequence[Name | str] | None = None,
        *,
        level: float = 0.95,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw metrics over k with their confidence bands; the caption says who was counted.

        Parameters
        ----------
        metrics : str or several, optional
            Names without ``@``; default: all of this result.
        level : float
            Of the bands, between 0 and 1.
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise, which a notebook shows.

        Returns
        -------
        matplotlib Axes
            ``.figure.savefig("curves.pdf")`` writes a file. More charts: `toplist.plots`.
        """
        from toplist import plots

        return plots.curves(self, metrics, level=level, ax=ax)
