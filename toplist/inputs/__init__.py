"""What goes in: every form of lists, tables and ids; and what happens at the edges.

Ranked lists
------------

Per user, best first. Rows by position (lists, arrays) meet rows by position; what has users (dicts,
Series, tables) meets by user, in any order.

- one user's list of ids; a list of lists; a 2-D array of ids; flat arrays with offsets
  (`toplist.inputs.Lists`)
- a dict user -> list; a pandas Series of lists, keyed by its index
- a table of pandas, polars or pyarrow, or of any library that speaks Arrow: user_id, item_id, and
  rank (1..n) or score (equal scores: as the rows stand, or by item with ``ties=``)
- a table with a row per user: item_id a list (lists of Arrow are not copied)
- an Arrow array or polars Series of lists, by position; tensors
- a pair (ids, scores) of implicit, ``torch.topk`` or faiss (``padding=-1`` for its filler)
- ``{query: {document: score}}`` (pytrec_eval, BEIR, MTEB); hits of sentence-transformers; responses
  of Elasticsearch; ranx ``Run``; LensKit ``ItemListCollection``; datasets of Hugging Face, pyarrow
- scores, users x items: `toplist.scores.top_k`, then as lists
- hits that are known already: ``tl.Hits.from_matrix(...)``, ``tl.Hits.from_ranks(...)``

Ground truths
-------------

- a set, a list, a dict item -> grade, or one bare id, for each user; a 1-D array is one id each
  (leave-one-out)
- a dict user -> any of these; a Series
- a table: user_id, item_id and, with grades, relevance; or a row per user with lists. Under the
  header of BEIR (query-id, corpus-id, score) the score is the relevance; any other column that is
  called score is an error, unless there is a relevance, which is then read alone
- a scipy sparse matrix (users x items, values are grades); of 0/1 or grades as an array:
  ``tl.inputs.Lists.from_matrix(matrix)``
- ranx ``Qrels`` and the others above
- ``tl.Groups({"q1": [["a", "x"], ["c"]]})``: any id of a group will do, all groups are wanted; or
  a table with a column of groups that is named, ``columns={"group": "nugget"}``
- ``tl.GroundTruths(any of these, or a path)``: read, checked and encoded once, for the lists of
  many checkpoints or systems, of any form and from any source

Ids are integers of any width, strings, bytes or other hashables, of one kind on both sides; not
floats, bools, None or containers. An integer 2-D truth is read as ids. Tables with other column
names: ``columns={"user_id": "userId"}``; a key of two columns is a tuple, as of a session,
``columns={"user_id": ["user", "time"]}``. Spark, Modin and Dask frames are refused with the line to
write (`toplist.spark` evaluates the first). A tensor on a device is copied to the host once; on the
host it is read where it lies.

>>> import toplist as tl
>>> lists = {"ann": ["tea", "jam"], "bob": ["fig", "tea"]}
>>> tl.recall(lists, {"bob": {"tea"}, "ann": {"jam", "rye"}})      # rows follow the truth
array([[0. , 1. ],
       [0. , 0.5]])

What happens at the edges
-------------------------

Stated once, applied alike to every metric; a convention may choose otherwise, also one of yours,
``convention=tl.CONVENTIONS["standard"].replace(empty="zero", missing="skip")``.

- *a user with an empty ground truth*: NaN per user, left out of the mean, counted in `n_skipped`:
  ``empty`` is "skip"; or "zero", "one", "raise"
- *a user with a truth but no list, or an empty one*: scores 0, in the mean, counted in `n_missing`:
  ``missing`` is "zero"; or "skip", "raise"
- *a user with a list but no truth*: no row, counted in `n_extra`
- *no user in common; lists by position of another number*: an error
- *an item twice in one list*: an error that names the user, the item and both ranks;
  ``duplicates="first"``: later copies earn nothing and keep their place; ``"collapse"``: they
  leave, and ranks close up, so that k counts what is left; lists of users without a truth are not
  joined, and not looked at
- *chunks of documents*: ``items_as={chunk: document}`` evaluates documents, each at the place of
  its first chunk, with the largest grade of its chunks; an id without a document is an error
- *a listed item without a grade*: a miss; ``unjudged="drop"``: it leaves and ranks close up, which
  is an error where no item is judged not relevant
- *an item twice in a truth*: counted once; with two grades an error
- *grades*: relevant if above 0; ``relevant_from=``; below 0: judged, not
  relevant, gain 0; NaN or infinite ones are an error
- *groups*: an id may be in several, and counts once in all metrics but `group_recall` and
  `alpha_ndcg`; no group is an empty truth; a group without ids, and groups beside grades, are an
  error
- *padding ids in rectangular arrays*: none assumed; ``padding=-1`` is dropped from the ends
- *ids of two kinds* (1 and "1"), floats, bools, None, NaN: an error with an example and the way out
- *ground truths without any user* beside lists: an error; a user's own may be empty, ``{"u": []}``
- *a list shorter than k*: the missing places are misses
- *rounding*: never; tables show 4 decimals
"""

from toplist.inputs.lists import Lists as Lists

__all__ = ["Lists"]
