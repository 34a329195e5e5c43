"""Groups, incomplete judgements, ERR, levels of recall: a list with its grades or groups.

A peer answers by values of users. Of a user whom it does not know it says nothing, here 0.
"""

import math
import random
import re
import shutil
from dataclasses import dataclass, replace
from typing import Any

import engine
from engine import Peer, Question, peers_of
from oracle import hits
from oracle import judgements as oracle

SEED = 20_261
KS = [1, 3, 10, 20]  # pyndeval goes no further


@dataclass(eq=False)
class Population(engine.Population):
    """Ranked lists, grades and groups by user, and the cut-offs; ids are text."""

    ks: list[Any]
    lists: dict[str, list[str]]
    grades: dict[str, dict[str, int]]
    groups: dict[str, list[list[str]]]
    kind: str = ""

    def of(self, kind: str) -> "Population":
        """Return the same with one kind of truths: grades where it does not say."""
        return replace(self, kind=kind)

    def cuts(self, theirs: str) -> list[Any]:
        """Return the cut-offs, or None in their place, where the words have none."""
        return self.ks if "{k}" in theirs else [None]

    @property
    def truths(self) -> dict[str, Any]:
        """The grades, "groups" of sets, or the "relevant" items: above 0."""
        if self.kind.startswith("groups"):
            return {user: [{*group} for group in row] for user, row in self.groups.items()}
        if self.kind == "relevant":
            return {u: {i for i, grade in row.items() if grade} for u, row in self.grades.items()}
        return self.grades

    def run(self) -> dict[str, dict[str, float]]:
        """Return the lists that hold something as scores that fall."""
        lists = {user: row for user, row in self.lists.items() if row}
        return {user: {i: -float(r) for r, i in enumerate(row)} for user, row in lists.items()}

    def shown(self, user: str, k: int | None) -> str:
        """Say what a value was computed from."""
        return f"{self.lists[user][:k]}, {self.grades[user]}, {self.groups[user]}"

    def by_subject(self, found: dict[str, float] | None) -> dict[str, float] | None:
        """Return 0 of users of whom a peer says nothing."""
        return found and dict.fromkeys(self.lists, 0.0) | found

    def here(self, side: str, question: Question) -> dict[int | None, dict[str, float]]:
        """Return the values of users; those without a relevant item score 0."""
        import sides

        lists, truths, given = self.lists, self.truths, dict(question.given)
        if "gains" in given:  # a table's keys are text
            given["gains"] = {int(grade): gain for grade, gain in given["gains"].items()}
        if self.kind == "groups as integers":
            lists = {user: [*map(int, row)] for user, row in lists.items()}
            truths = {user: [{*map(int, one)} for one in row] for user, row in truths.items()}
        ks = self.cuts(question.theirs)
        return getattr(sides, side)(question.ours, lists, truths, ks, **given)


def drawn(peer: Peer, n_inputs: int) -> list[Population]:
    """Draw users: lists of up to 30 ids, some empty; up to 12 grades, now and then 40; groups."""
    source = random.Random(SEED)
    lists, grades, groups = {}, {}, {}
    for user in map(str, range(1, n_inputs + 1)):
        items = [*map(str, range(source.randint(3, 60)))]
        lists[user] = source.sample(items, source.randint(0, min(30, len(items))))
        n_judged = source.randint(1, min(40 if source.random() < 0.3 else 12, len(items)))
        scale = source.choice([(0, 1), (0, 1, 2, 3, 4), (1, 1, 1, 0), (0, 0, 0, 2)])
        grades[user] = {one: source.choice(scale) for one in source.sample(items, n_judged)}
        near = source.sample(items, min(len(items), source.randint(2, 10)))
        groups[user] = [
            source.sample(near, source.randint(1, min(4, len(near))))
            for _ in range(source.randint(1, 5))
        ]
    return [Population(KS, lists, grades, groups)]


# What peers give instead, where it is stated


def nan_of_0_over_0(case: Population, question: Question, user: str, k: None) -> float:
    """Say NaN where no document is judged and none is asked for."""
    import sides

    ranked, truth = case.lists[user], case.grades[user]
    words = dict(re.findall(r"(\w+)=([\d.]+)", question.ours))
    (left,) = hits.without_unjudged([ranked], [truth])
    least = int(words["rel"]) if "rel" in words else None
    n_relevant = len(hits.relevant_items(truth, least))
    if ranked and not left and not oracle.trec_needed(float(words["recall"]), n_relevant):
        return math.nan
    return sides.value(question.ours, ranked, truth, k, **question.given)


def ties_by_text(case: Population, question: Question, user: str, k: int) -> float:
    """Evaluate groups of text."""
    return oracle.alpha_ndcg(case.lists[user], case.truths[user], k)


# The peers


def ir_measures(case: Population, theirs: str, k: int | None) -> dict[str, float] | None:
    """Return measures as they are written there; groups are subtopics, a qrel's iteration."""
    import ir_measures as package

    measure = eval(theirs.replace("{k}", str(k)), vars(package))
    if measure.NAME == "ERR" and not shutil.which("perl"):
        return None
    rows = []
    for user, truth in case.truths.items():
        if isinstance(truth, list):
            rows += [(user, i, 1, str(n)) for n, group in enumerate(truth) for i in sorted(group)]
        else:
            judged = truth if isinstance(truth, dict) else dict.fromkeys(sorted(truth), 1)
            rows += [(user, item, grade, "0") for item, grade in judged.items()]
    qrels = [package.GenericQrel(*row) for row in rows]
    found = package.iter_calc([measure], qrels, case.run())
    return {one.query_id: float(one.value) for one in found}


def pytrec_eval(case: Population, theirs: str, k: int | None) -> dict[str, float]:
    """Return measures with the options of trec_eval: -l, the least grade, and -J."""
    from pytrec_eval import RelevanceEvaluator

    name, *options = theirs.replace("{k}", str(k)).split()
    least = int(options[options.index("-l") + 1]) if "-l" in options else 1
    how = {"relevance_level": least, "judged_docs_only_flag": "-J" in options}
    found = RelevanceEvaluator(case.grades, {name}, **how).evaluate(case.run())
    return {user: row[name] for user, row in found.items()}


PEERS = peers_of("judgements")
