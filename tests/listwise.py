"""How a metric of the lists is asked for with parameters and facts of the items, in one place.

``listwise.gini(lists, k, catalogue=8, divisor="n-1")`` are its values at every k: a parameter is
written in its name, a fact is given as `toplist.Items`. Rows of tests know these words alone.
"""

import toplist as tl
from toplist.inputs.options import ITEMS

READING = ("duplicates", "padding", "columns", "n_threads", "items_as")
OF_TRUTH = ("serendipity", "hit_share")


class Listwise:
    """Metrics of the lists by name, each a function of lists, truths where it reads them, and k."""

    def __getattr__(self, name):
        """Return the function of a metric."""
        if name.startswith("_"):
            raise AttributeError(name)

        def curves(ranks, *rest, **words):
            truths, k = rest[0] if name in OF_TRUTH else None, words.pop("k", None)
            if len(rest) > (name in OF_TRUTH):
                k = rest[-1]
            facts = {one: words.pop(one) for one in ITEMS if words.get(one) is not None}
            if words.get("unknown") in ("raise", "skip"):
                facts["unknown"] = words.pop("unknown")
            how = {one: words.pop(one) for one in READING if one in words}
            if facts:
                how["items"] = tl.Items(**facts)
            given = ",".join(f"{one}={word}" for one, word in words.items() if word is not None)
            metric = f"{name}({given})" if given else name
            return tl.curves(metric, ranks, truths, k, **how)

        return curves


listwise = Listwise()
