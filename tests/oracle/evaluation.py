"""One evaluation by the definitions: values of users, means, and who is counted."""

import math
from collections import Counter
from dataclasses import dataclass

from oracle import beyond, hits, intervals, judgements, policies, propensities
from oracle.population import NAN, mean, std, weighted_mean
from oracle.reading import groups_of, read

INSTEAD = {"skip": NAN, "zero": 0.0, "one": 1.0}
WITHOUT_K = ("bpref",)
OF_TRUTH = ("serendipity", "hit_share")  # metrics of the lists over the users of the truth


@dataclass
class Expected:
    """What an evaluation should say; keys are "metric@k", or "metric" where it has no k.

    `values` are those of the users of the truth, in their order; `averaged` are those of all users
    that a mean is over, by user. `intervals` are of 95 %.
    """

    users: list
    means: dict
    std: dict
    intervals: dict
    n: dict
    counts: dict
    values: dict
    averaged: dict


class Rules:
    """A convention with what the options change."""

    def __init__(self, options):
        self.name = options.get("convention", "standard")
        self.options = options
        empty, missing = policies.POLICIES[self.name]
        self.missing = options.get("missing") or missing
        self.empty = options.get("empty") or empty
        if options.get("weighting") == "ips":
            self.empty = "zero"
        usual = "listed" if self.name in policies.LISTED else "all"
        self.listed = (options.get("relevant") or usual) == "listed"
        gains = options.get("gains")
        if gains is None and self.name in policies.EXPONENTIAL:
            gains = "exponential"
        self.gains = gains

    def empty_of(self, base):
        """Return the policy of a metric for empty truths."""
        if self.options.get("empty"):
            return self.empty
        return policies.EMPTY_OF.get((self.name, base), self.empty)

    def is_pooled(self, base):
        """Return whether a mean is a ratio of sums."""
        if self.options.get("aggregate"):
            return self.options["aggregate"] == "pooled"
        return (self.name, base) in policies.POOLED


def entries(options, longest):
    """Return (name, base, parameters, ks) of every metric that is asked for.

    >>> entries({"metrics": ["rbp(p=0.5)@3", "hit"], "k": [1, 2]}, 9)
    [('rbp(p=0.5)', 'rbp', {'p': 0.5}, [3]), ('hit', 'hit', {}, [1, 2])]
    """
    k, found = options.get("k"), []
    common = [longest] if k is None else [k] if isinstance(k, int) else list(k)
    for spec in options["metrics"]:
        name, _, own = spec.partition("@")
        base, _, inside = name.rstrip(")").partition("(")
        parameters = dict(part.split("=") for part in inside.split(",") if part)
        parameters = {key: number(value) for key, value in parameters.items()}
        found.append((name, base, parameters, [int(own)] if own else common))
    return found


def number(text):
    """Read a number, or leave a word.

    >>> number("0.5"), number("kl")
    (0.5, 'kl')
    """
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text


def evaluate(world, options, ties="order"):
    """Return what an evaluation of a world under options should say; `ties` is the source's own."""
    read_lists, truths = read(world, options, ties)
    users = list(truths)
    found = Expected(users, {}, {}, {}, {}, {}, {}, {})
    of_hits = Hits(read_lists, truths, Rules(options), options, world)
    longest = max(map(len, of_hits.lists.values()), default=0)
    of_lists = OfLists(read_lists, of_hits, options, world)
    for name, base, parameters, ks in entries(options, longest):
        for k in ks:
            key = name if base in WITHOUT_K else f"{name}@{k}"
            part = of_hits if base in of_hits.known else of_lists
            mean_, std_, n, values, rows = part.metric(base, parameters, k)
            found.means[key], found.std[key], found.n[key] = mean_, std_, n
            found.intervals[key] = part.interval(base, rows, parameters)
            if values is not None:
                found.values[key] = [values.get(user, NAN) for user in users]
                found.averaged[key] = {user: one for user, one in values.items() if one == one}
    found.counts = of_hits.counts()
    return found


class Hits:
    """Metrics of hits, over the users of the truth."""

    def __init__(self, lists_read, truths, rules, options, world):
        self.rules, self.options, self.world = rules, options, world
        self.users, self.truths = list(truths), truths
        self.lists = {user: lists_read.get(user, []) for user in truths}
        self.n_extra = sum(1 for user in lists_read if user not in truths)
        self.before = self.lists
        self.threshold = options.get("relevant_from")
        if options.get("unjudged") == "drop":
            rows = list(self.lists.values()), list(truths.values())
            rows = rows[0], [without_negative(one) for one in rows[1]]
            kept = hits.without_unjudged(*rows)
            self.lists = dict(zip(self.users, kept, strict=True))
        known = hits.CONVENTIONS[rules.name]
        self.known = {**judgements.OF_ITEMS, **hits.METRICS, **known}
        if rules.name != "standard":  # the convention's own, and those that no convention has
            self.known = {**judgements.OF_ITEMS, **known}
        self.groups = groups_of(world, options) if options.get("groups") else None
        self.largest = max((g for one in truths.values() for g in one.values()), default=0)

    def truth_of(self, user, base):
        """Return the grades that count for a user, under `relevant`."""
        truth = self.truths[user]
        return truth if base == "judged" or not self.rules.listed else self.listed(user)

    def listed(self, user):
        """Return the grades of what is in the user's whole list."""
        return hits.listed_truth(self.before[user], self.truths[user])

    def relevant(self, user, rel=None, listed=None):
        """Return the relevant items of a user."""
        listed = self.rules.listed if listed is None else listed
        truth = self.listed(user) if listed else self.truths[user]
        return hits.relevant_items(truth, self.threshold if rel is None else rel)

    def value(self, user, base, parameters, k):
        """Return a user's value of a metric, or NaN for who is left out."""
        parameters, twin = dict(parameters), self.known[base]
        rel = parameters.pop("rel", None)
        threshold = self.threshold if rel is None else rel
        truth, given = self.truth_of(user, base), self.before[user]
        missing = self.rules.missing
        empty = self.rules.empty_of(base)
        if base == "judged":
            if not truth:
                return NAN
            return hits.judged(given, truth, k) if given else INSTEAD[missing]
        everything = getattr(twin, "reads_no_threshold", False)
        if everything and rel is not None:  # which is of this metric alone
            twin, everything = everything, False
        enough = hits.relevant_items(truth, threshold)
        if everything and empty == "zero" and given and hits.relevant_items(truth):
            enough = hits.relevant_items(truth)
        if not enough:
            return NAN if missing == "skip" and not given else INSTEAD[empty]
        if not given:
            return INSTEAD[missing]
        ranked = self.lists[user]
        if self.groups is not None and base in judgements.OF_GROUPS:
            groups = self.groups[user]
            if self.rules.listed:  # those that hold a listed id, by these ids
                groups = [set(one) & set(given) for one in groups]
                groups = [one for one in groups if one]
            return judgements.OF_GROUPS[base](ranked, groups, k, **parameters)
        return self.measured(twin, base, parameters, ranked, truth, k, threshold, everything)

    def measured(self, twin, base, parameters, ranked, truth, k, threshold, everything):
        """Return the value of the twin of a metric."""
        given = dict(parameters)
        if base == "iprec" and self.rules.name == "trec_eval":
            given["needed"] = judgements.trec_needed
        if base in ("err", "nerr"):
            kept = hits.relevant_items(truth, threshold)
            truth = {item: grade if item in kept else 0 for item, grade in truth.items()}
            return twin(ranked, truth, k, max=given.get("max", self.largest))
        if base == "bpref":
            return twin(ranked, without_negative(truth), relevant_from=threshold)
        gains = self.rules.gains
        if base in policies.GRADED and isinstance(gains, dict):
            least = None if everything else threshold
            kept = hits.relevant_items(truth, least)
            truth = {item: gains.get(truth[item], 0) if item in kept else 0 for item in truth}
            threshold = None
        elif base in policies.GRADED and gains == "exponential":
            given["exponential"] = True
        return twin(ranked, truth, k, relevant_from=threshold, **given)

    def metric(self, base, parameters, k):
        """Return mean, std, number of users, values and rows of a metric."""
        if self.options.get("propensities"):
            rows = self.estimated(base, k)
            return intervals.ratio(rows) if rows else NAN, None, None, None, rows
        values = {user: self.value(user, base, parameters, k) for user in self.users}
        kept = {user: one for user, one in values.items() if one == one and self.weight(user)}
        if self.rules.is_pooled(base):
            below = {user: self.divisor(base, user, k, parameters.get("rel")) for user in kept}
            rows = [self.row(user, one * below[user], below[user]) for user, one in kept.items()]
            return intervals.ratio(rows) if rows else NAN, NAN, len(kept), values, rows
        rows = [self.row(user, one) for user, one in kept.items()]
        if self.options.get("weights"):
            weights = [self.weight(user) for user in self.users]
            return weighted_mean(values.values(), weights), None, len(kept), values, rows
        return mean(kept.values()), std(kept.values()), len(kept), values, rows

    def row(self, user, above, below=1.0, weight=1.0):
        """Return what a user adds to a mean."""
        clustered = self.options.get("clusters")
        cluster = self.world.clusters.get(user) if clustered else user
        return intervals.Row(above, below, weight * self.weight(user), cluster)

    def interval(self, base, rows, parameters):
        """Return the interval of the mean of a metric."""
        estimated, pooled = self.options.get("propensities"), self.rules.is_pooled(base)
        relevant = [(user, self.relevant(user)) for user in self.users]
        single = all(len(items) <= 1 for _, items in relevant) and all(
            not self.world.graded or self.truths[user][item] == 1
            for user, items in relevant
            for item in items
        )
        within_one = base not in intervals.OPEN or (single and base != "alpha_ndcg")
        if estimated:  # SNIPS is a mean over relevant items, each by itself
            within_one = self.options.get("weighting") != "ips"
        labels = [self.world.clusters.get(user) for user in self.users]
        # clusters of one row each are none, and so are weights of one value
        clustered = self.options.get("clusters") and len({*labels}) < len(labels)
        if estimated and not clustered:
            return intervals.of_estimate(rows, within_one)
        if clustered or not intervals.are_alike(rows):
            return intervals.of_clusters(rows, within_one)
        if base in intervals.PROPORTIONS and not pooled:
            return intervals.of_proportion(rows)
        return intervals.of_mean(rows, within_one)

    def weight(self, user):
        """Return how much a user counts."""
        return self.world.weights[user] if self.options.get("weights") else 1

    def divisor(self, base, user, k, rel=None):
        """Return the divisor of a metric of convention "standard", or of implicit's precision."""
        ranked = self.lists[user]
        if base == "ndcg":
            truth = self.truth_of(user, base)
            everything = getattr(self.known[base], "reads_no_threshold", False)
            threshold = None if everything else self.threshold
            best = hits.best_list(truth, threshold)
            if self.rules.name == "neurec":  # which knows no grades
                return hits.ideal_dcg(min(k, len(ranked), len(best)))
            return self.measured(hits.dcg, "dcg", {}, best, truth, k, threshold, False)
        name = DIVISORS.get((self.rules.name, base)) or DIVISORS.get(base, "1")
        return hits.DIVISORS[name](k, len(self.relevant(user, rel)), len(ranked))

    def estimated(self, base, k):
        """Return the rows of an estimate under propensities, SNIPS or IPS.

        SNIPS is a mean over relevant items, so that a user weighs as much as his items do.
        """
        snips = self.options.get("weighting", "snips") == "snips"
        w = propensities.weights(self.world.propensities, self.options.get("clip"))
        rows = []
        for user in self.users:
            listed, relevant = self.before[user], self.relevant(user)
            if not listed and (not relevant or self.rules.missing == "skip"):
                continue
            found = propensities.hits(once_in_place(self.lists[user]), relevant, k)
            places = min(k, len(listed)) if (self.rules.name, base) in SHORT else k
            worth = propensities.WORTH.get(base, lambda rank, n=places: 1 / n)
            above = math.fsum(w[item] * worth(rank) for rank, item in found)
            below = math.fsum(w[item] for item in relevant) if snips else 1.0
            if below:
                rows.append(self.row(user, above / below, weight=below))
        return [row for row in rows if row.w]

    @property
    def skipped(self):
        """The users who are not counted, by the default policies."""
        nothing = {user for user in self.users if not self.relevant(user)}
        listless = {user for user in self.users if not self.before[user]}
        skipped = {user for user in self.users if not self.weight(user)}
        if self.rules.missing == "skip":
            skipped |= listless
        if self.rules.empty == "skip" or self.options.get("propensities"):
            skipped |= nothing & listless if self.options.get("weighting") == "ips" else nothing
        return skipped

    def counts(self):
        """Return who is counted, by the default policies."""
        relevant = {user: self.relevant(user) for user in self.users}
        missing = {u for u in self.users if relevant[u] and not self.before[u] and self.weight(u)}
        return {
            "n_users": len(self.users),
            "n_evaluated": len(self.users) - len(self.skipped),
            "n_skipped": len(self.skipped),
            "n_missing": len(missing),
            "n_extra": self.n_extra,
        }


def without_negative(truth):
    """Leave out what is graded below 0: it is as good as unjudged, as in trec_eval.

    >>> without_negative({"a": 1, "b": -1, "c": 0})
    {'a': 1, 'c': 0}
    """
    return {item: grade for item, grade in truth.items() if grade >= 0}


# Where the places of a short list are those that it has.
SHORT = {("neurec", "precision"), ("xgboost", "precision")}
# What a ratio of sums divides by, where that is not 1: of a convention, or of most.
DIVISORS = {
    "precision": "k",
    "recall": "R",
    "map": "min(k,R)",
    ("trec_eval", "map"): "R",
    ("neurec", "precision"): "min(k,n)",
    ("neurec", "map"): "sum(min(i,R))",
    ("implicit", "precision"): "min(k,R)",
}


# Metrics of the lists themselves


class OfLists:
    """Metrics of the lists themselves: of all lists given, but those of the truth of its users."""

    def __init__(self, lists_read, of_hits, options, world):
        self.lists = {user: once_in_place(one) for user, one in lists_read.items() if one}
        self.hits, self.options, self.world = of_hits, options, world
        items_as = options.get("items_as")
        self.document = world.documents.get if items_as else None
        self.skips = options.get("unknown") == "skip"

    def of_user(self, name, user):
        """Return what a user had or could expect, of documents where lists are."""
        items = getattr(self.world, name).get(user)
        if items is None or self.document is None:
            return items
        return [self.document(item, item) for item in items]

    def metric(self, base, parameters, k):
        """Return mean, std, number of users, values and rows of a metric."""
        if base in OF_ALL:
            return OF_ALL[base](self, k, **parameters), NAN, None, None, []
        values = {user: self.value(user, base, k, parameters) for user in self.everyone(base)}
        kept = {u: one for u, one in values.items() if one == one and self.hits.weight(u)}
        rows = [self.hits.row(user, one) for user, one in kept.items()]
        if self.options.get("weights"):
            weights = [self.hits.weight(user) for user in values]
            return weighted_mean(values.values(), weights), None, len(kept), values, rows
        return mean(kept.values()), std(kept.values()), len(kept), values, rows

    def interval(self, base, rows, parameters):
        """Return the interval of the mean of a metric; none of lists whose cluster is not known."""
        bounded, clustered = ("jaccard", "hellinger"), self.options.get("clusters")
        within_one = base not in intervals.OPEN or parameters.get("distance") in bounded
        if clustered and base not in OF_TRUTH and self.hits.n_extra:
            return intervals.NOTHING
        if clustered or not intervals.are_alike(rows):
            return intervals.of_clusters(rows, within_one)
        return intervals.of_mean(rows, within_one)

    def everyone(self, base):
        """Return the users that a metric is over."""
        return self.hits.users if base in OF_TRUTH else list(self.lists)

    def value(self, user, base, k, parameters):
        """Return a user's value, NaN where there is none."""
        return OF_USERS[base](self, user, self.lists.get(user, []), k, **parameters)

    def mean_of(self, ranked, k, value):
        """Average a value over the items of a list that have one."""
        return beyond.mean_of(ranked, k, lambda item: None if item is None else value(item))


def once_in_place(ranked):
    """Put nothing in the place of a later copy.

    >>> once_in_place(["a", "b", "a"])
    ['a', 'b', None]
    """
    return [item if item not in ranked[:row] else None for row, item in enumerate(ranked)]


def novelty(self, user, ranked, k, total=None, unknown=None):
    counts = self.world.counts
    total = total or sum(counts.values())

    def bits(item):
        count = counts.get(item, unknown)
        return None if count is None else math.log2(total / count)

    return self.mean_of(ranked, k, bits)


def popularity(self, user, ranked, k, unknown=None):
    return self.mean_of(ranked, k, lambda item: self.world.counts.get(item, unknown))


def tail(self, user, ranked, k, share=0.1, n_items=None, max_count=None, unknown=None):
    counts, other = self.world.counts, {"tail": 1.0, "head": 0.0, None: None}[unknown]
    few = beyond.recbole_tail(counts, share)
    if n_items is not None:
        few = sorted(counts, key=lambda item: (counts[item], item))[:n_items]
    if max_count is not None:
        few = {item for item, count in counts.items() if count <= max_count}
    return self.mean_of(ranked, k, lambda item: float(item in few) if item in counts else other)


def lift(self, user, ranked, k):
    history = self.of_user("history", user) or ()
    return beyond.popularity_lift(ranked, k, history, self.world.counts)


def diversity(self, user, ranked, k, distance="cosine", single=0.0):
    facts = {"jaccard": "labels", "given": "distances"}.get(distance, "features")
    held = getattr(self.world, facts)
    place = {item: row for row, item in enumerate(held)}
    items = [item for item in ranked[:k] if item is not None]
    if distance == "given":
        rows = {item: item for item in held}
        return beyond.intra_list_diversity(items, k, rows, lambda i, j: held[i][place[j]], single)
    apart = getattr(beyond, f"{distance}_distance")
    return beyond.intra_list_diversity(items, k, held, apart, single)


def calibration(self, user, ranked, k, **how):
    history = self.of_user("history", user)
    labels = self.world.labels
    return beyond.calibration(ranked, k, history or [], labels, **how)


def serendipity(self, user, ranked, k, divisor="k"):
    expected = self.of_user("expected", user) or []
    ranked = ranked if divisor == "k" else [item for item in ranked if item is not None]
    return beyond.serendipity(ranked, self.hits.relevant(user), k, expected, divisor)


def exposure_share(self, user, ranked, k, label):
    labels = self.world.labels
    places = [(row + 2, item) for row, item in enumerate(ranked[:k]) if item in labels]
    total = math.fsum(1 / math.log2(place) for place, _ in places)
    mine = [
        1 / math.log2(place) / len(labels[item])
        for place, item in places
        if label in labels.get(item, ())
    ]
    return math.fsum(mine) / total if total else NAN


def hit_share(self, user, ranked, k, label):
    labels, relevant = self.world.labels, self.hits.relevant(user)
    relevant = relevant & labels.keys() if self.skips else relevant
    return beyond.label_hits(ranked, relevant, k, labels, label)


OF_USERS = {
    "average_popularity": popularity,
    "novelty": novelty,
    "tail_percentage": tail,
    "popularity_lift": lift,
    "intra_list_diversity": diversity,
    "calibration": calibration,
    "unexpectedness": lambda self, user, ranked, k: self.mean_of(
        ranked, k, lambda item: float(item not in self.of_user("expected", user))
    ),
    "serendipity": serendipity,
    "exposure_share": exposure_share,
    "hit_share": hit_share,
}


def is_item(self, item):
    """Return whether a place holds an item that counts."""
    return item is not None and not (self.skips and item not in self.world.catalogue)


def counts_of(self, k):
    """Return how many lists hold an item within k as often: count -> number of items."""
    lists = [[item for item in one[:k] if is_item(self, item)] for one in self.lists.values()]
    return Counter(beyond.listings(lists, k).values())


def item_coverage(self, k):
    return beyond.coverage_of_counts(counts_of(self, k), len(self.world.catalogue))


def gini(self, k, divisor="n", over="catalogue"):
    n_items = len(self.world.catalogue) if over == "catalogue" else None
    return beyond.gini_of_counts(counts_of(self, k), n_items, divisor)


def entropy(self, k, unit="nats", normalised=None):
    counts = counts_of(self, k)
    found, n_listed = beyond.entropy_of_counts(counts), sum(counts.values())
    if normalised == "recbole":
        return found / n_listed if n_listed else NAN
    n_items = {"catalogue": len(self.world.catalogue), "recommended": n_listed}.get(normalised)
    if n_items:
        return found / math.log(n_items) if n_items > 1 else 0.0
    return found / math.log(2) if unit == "bits" else found


def personalisation(self, k):
    lists = [[item for item in one[:k] if is_item(self, item)] for one in self.lists.values()]
    lists = [one or [object()] for one in lists]  # of items left out: it shares nothing
    return beyond.personalisation(lists, k)


OF_ALL = {
    "item_coverage": item_coverage,
    "gini": gini,
    "shannon_entropy": entropy,
    "personalisation": personalisation,
}
