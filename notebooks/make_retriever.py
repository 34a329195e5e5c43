"""Write the documents and the ranked lists of the notebook on evaluating a retriever.

Documents: the docstrings of the public functions of numpy 2.4.6, https://numpy.org (BSD-3-Clause;
the notice is in ``retriever/LICENSE-numpy.txt``), shortened as written below. Run
``python make_retriever.py`` with that version of numpy; nothing else is needed and nothing is
downloaded. The files go to ``retriever/`` next to this script, and every run writes the same bytes:

- ``docs.jsonl.gz``: a line per function, {"doc_id": "numpy.argsort", "text": ...}: what stands
  above its parameters and the descriptions of these, cut to `N_WORDS` words. They are those of
  numpy, numpy.linalg, numpy.fft and numpy.random; one with two names (concat, concatenate) is there
  once,
- ``tfidf.json``, ``bm25.json``, ``trigrams.json``: {query_id: {doc_id: score}}, the `TOP_K` best
  documents of every query, best first, equal scores by doc_id. Scores are rounded to 6 decimals,
- ``passages.json``: the same of BM25 over passages: every document is cut into pieces of
  `PASSAGE_WORDS` words, of which "numpy.argsort#1" is the second.

``queries.jsonl`` is read, not written: {"query_id": ..., "query": ..., "judged": {doc_id: grade}}.
The queries and the grades were written by hand for this page: 2 answers the question, 1 helps, 0
looks similar and does not help. The author knew numpy and had seen no list when most of the grades
were written. Then the 3 best documents of TF-IDF and of BM25 were looked at, and those without a
grade were given one; what trigrams found was not looked at. Two queries have no answer in numpy.

What this is good for: to show how retrievers are evaluated. What it is not good for: to say which
retriever is better. The queries are one author's, not a log of what users ask; nobody gave a second
opinion on the grades; the words of a query are often the words of the docstring, since both come
from people who know numpy; documents below rank 3 are mostly not judged; and the documents are
few and short. The retrievers have the settings that are usual, and none was tuned.
"""

import gzip
import inspect
import json
import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent / "retriever"

NUMPY = "2.4.6"
MODULES = [np, np.linalg, np.fft, np.random]
N_WORDS = 100
PASSAGE_WORDS = 25
TOP_K = 20
BM25_K1, BM25_B = 1.2, 0.75


def public_functions():
    """Return the public functions of numpy by their full name, one name per function."""
    found = {}
    for module in MODULES:
        for name in sorted(module.__all__):
            function = getattr(module, name)
            if callable(function) and not isinstance(function, type) and function.__doc__:
                # The name under which it was defined wins: concatenate, not concat.
                own = name == getattr(function, "__name__", name)
                if own or id(function) not in found:
                    found[id(function)] = f"{module.__name__}.{name}", function
    return dict(sorted(found.values(), key=lambda pair: pair[0]))


def shortened(docstring):
    """Return what stands above the parameters, and their descriptions, cut to `N_WORDS` words."""
    docstring = re.sub(r"\.\. \w+::.*", "", docstring)  # notes on versions and the like
    head, _, rest = docstring.partition("\nParameters\n")
    paragraphs = [part for part in head.split("\n\n") if not re.match(r"\s*\w+\(", part)]
    section = re.split(r"\n\w[\w ]*\n-{3,}", rest)[0]
    # Descriptions are indented; the lines "name : type" and the dashes are not.
    described = [line for line in section.splitlines() if line.startswith(" ")]
    words = " ".join([*paragraphs[:2], *described]).split()
    return " ".join(words[:N_WORDS])


def passages_of(docs):
    """Return the passages of all documents: doc_id#number -> text."""
    found = {}
    for name, text in docs.items():
        words = text.split()
        for number, start in enumerate(range(0, len(words), PASSAGE_WORDS)):
            found[f"{name}#{number}"] = " ".join(words[start : start + PASSAGE_WORDS])
    return found


def words_of(text):
    """Return the words of a text in lower case."""
    return re.findall(r"[a-z0-9]+", text.lower())


def trigrams_of(text):
    """Return all runs of three characters within words; a word starts and ends with a space."""
    return [f" {word} "[i : i + 3] for word in words_of(text) for i in range(len(word))]


def count_matrix(texts, terms_of, columns):
    """Return how often each term stands in each text; terms that are no column are left out."""
    matrix = np.zeros((len(texts), len(columns)))
    for row, text in enumerate(texts):
        for term, count in Counter(terms_of(text)).items():
            if term in columns:
                matrix[row, columns[term]] = count
    return matrix


def term_columns(texts, terms_of):
    """Return the column of every term."""
    return {term: i for i, term in enumerate(sorted({t for text in texts for t in terms_of(text)}))}


def tfidf_scores(docs, queries):
    """Return the cosine of tf-idf vectors, tf = 1 + log(count) and idf = log(N / df)."""
    idf = np.log(len(docs) / (docs > 0).sum(axis=0))

    def vectors(counts):
        weights = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0) * idf
        lengths = np.linalg.norm(weights, axis=1, keepdims=True)
        return np.divide(weights, lengths, out=np.zeros_like(weights), where=lengths > 0)

    return vectors(queries) @ vectors(docs).T


def bm25_scores(docs, queries):
    """Return BM25 (Robertson and Zaragoza 2009) with the idf that cannot be negative."""
    df = (docs > 0).sum(axis=0)
    idf = np.log1p((len(docs) - df + 0.5) / (df + 0.5))
    lengths = docs.sum(axis=1, keepdims=True)
    slowed = docs + BM25_K1 * (1 - BM25_B + BM25_B * lengths / lengths.mean())
    return queries @ (idf * docs * (BM25_K1 + 1) / slowed).T


def write_run(name, query_ids, doc_ids, scores):
    """Write the best documents of every query as {query_id: {doc_id: score}}."""
    scores = np.round(scores, 6)
    # Documents stand by doc_id, so a stable sort leaves equal scores in that order.
    order = np.argsort(-scores, axis=1, kind="stable")[:, :TOP_K]
    lines = []
    for query, row, numbers in zip(query_ids, scores, order, strict=True):
        best = {doc_ids[i]: float(row[i]) for i in numbers if row[i] > 0}
        lines.append(f"{json.dumps(query)}: {json.dumps(best)}")
    (FOLDER / name).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def read_queries(doc_ids):
    """Return the queries; a grade of a document that does not exist is an error."""
    with open(FOLDER / "queries.jsonl", encoding="utf-8") as file:
        queries = [json.loads(line) for line in file]
    for query in queries:
        unknown = query["judged"].keys() - set(doc_ids)
        if unknown:
            sys.exit(f"{query['query_id']}: no such document: {', '.join(sorted(unknown))}")
    return queries


def main():
    """Write the documents, rank them by three retrievers and write the lists."""
    if np.__version__ != NUMPY:
        sys.exit(f"this makes the files from the docstrings of numpy {NUMPY}, not {np.__version__}")
    docs = {name: shortened(inspect.getdoc(one)) for name, one in public_functions().items()}
    lines = [json.dumps({"doc_id": name, "text": text}) + "\n" for name, text in docs.items()]
    with (
        open(FOLDER / "docs.jsonl.gz", "wb") as file,
        gzip.GzipFile("", "wb", compresslevel=9, fileobj=file, mtime=0) as packed,
    ):
        packed.write("".join(lines).encode())

    queries = read_queries(list(docs))
    query_ids = [query["query_id"] for query in queries]
    questions = [query["query"] for query in queries]

    def ranked(name, texts, terms_of, scores_of):
        # The name is a part of what is searched: of numpy.linalg.inv, "inv".
        searched = [f"{key.partition('#')[0].rpartition('.')[2]} {texts[key]}" for key in texts]
        columns = term_columns(searched, terms_of)
        counts = [count_matrix(some, terms_of, columns) for some in (searched, questions)]
        write_run(name, query_ids, list(texts), scores_of(*counts))

    ranked("tfidf.json", docs, words_of, tfidf_scores)
    ranked("bm25.json", docs, words_of, bm25_scores)
    ranked("trigrams.json", docs, trigrams_of, tfidf_scores)
    ranked("passages.json", passages_of(docs), words_of, bm25_scores)


if __name__ == "__main__":
    main()
