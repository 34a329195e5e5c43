"""Lists of users side by side (`show`), and one page about an evaluation (`report`).

The page is a file to read, to send and to print, without a server.

What is on it
-------------

``tl.report({"base": lists, "new": others}, truth, k=10, path="report.html")`` writes it, and so
does ``toplist report base.csv new.csv truth.csv -m ndcg@10 -o report.html``. Needs jinja2, the
extra ``report``. The first system is the baseline.

- The answer in a sentence, about one primary metric: ndcg@10, or what is nearest to it, or
  ``primary="recall@20"``; all systems with their intervals, the best first; and a table of all
  metrics
- Curves over k, which end where the lists do
- Is the difference more than chance? With all other comparisons folded beneath it
- Segments, ``by={user: label}``
- How alike the lists are, and how many items they show
- The users with the largest differences, and some at random, with both lists: what was hit, what
  was missed, and where that stands. ``titles={item: text}`` says what the items are
- Who was counted, how many had no list or no ground truth, what `toplist.audit` finds in the data,
  the files, the command, and all means as JSON

In print it has a few sheets: tables that are folded on the screen are left out.

Every number is one of the public functions: nothing is computed for the page. Options of
`toplist.top_k_eval` are given as there.

What is safe
------------

The page loads nothing from anywhere, and a policy in it (Content-Security-Policy) forbids scripts
but its own, of 2 KB, which sorts and filters. Ids and titles are text, whatever they hold. The page
has the ids of the users that it shows: ``pseudonyms=True`` numbers them, ``n_users=0`` leaves them
out; ids of items stay. The same data make the same bytes. 1,000,000 users make a page as large as
that of 1,000.
"""

from toplist.reporting.page import report
from toplist.reporting.showing import show

__all__ = ["report", "show"]


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
