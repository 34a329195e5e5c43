"""Mutated files of lists and truths, read streamed and in memory.

Every file is read or refused in one line; what is streamed gives the means of what is in memory, or
both are refused. `fuzz` returns what is wrong.
"""

import gzip
import os
import random
import tempfile
import time
import warnings
from functools import partial
from math import isclose
from pathlib import Path

from doors import by_words
from file_helpers import jsonl

from toplist.files import read_ranks, read_truths

SLOW = 20.0  # seconds of CPU, of which kernels that are compiled first take 5: longer is a hang
CELLS = [
    *("", " ", "0", "-1", "1.5", "1e400", "inf", "nan", "1_0", "１", "٣", "0x1", "true", "null"),
    *("9007199254740993", "18446744073709551616", "user_id", "item_id", "rank", "#", '"', "\x00"),
    *("\ufeff", "\r", "\n", "\t", ",", "a b", "é", "1" * 400, "[1]", "{}", "2.0", "-0"),
]
BYTES = [
    *(b"\xff", b"\x00", b'"', b"\r", b"\n", b"\r\n", b" ", b"\t", b",", b"\xef\xbb\xbf", b"#"),
    b"e",
]


def records(rng, users, ranked):
    for user in rng.sample(users, rng.randint(1, len(users))):
        items = rng.sample(range(12), rng.randint(1, 6))
        for rank, item in enumerate(items, start=1):
            number = rank if ranked else rng.choice([0, 1, 1, 2, 0.5])
            yield user, item, number


def as_text(rng, format, users, ranked):
    """Return a good file of a format."""
    rows = list(records(rng, users, ranked))
    name = ("rank" if rng.random() < 0.5 else "score") if ranked else "relevance"
    if name == "score":
        rows = [(u, i, rng.choice([2, 1.5, 2**53 + value, -value])) for u, i, value in rows]
    names = ("user_id", "item_id", name)[: 3 if ranked or rng.random() < 0.5 else 2]
    if format == "trec":
        line = "{} Q0 {} 1 {} t\n" if ranked else "{} 0 {} {}\n"
        return "".join(line.format(*row) for row in rows)
    if format == "jsonl" and rng.random() < 0.5:
        return jsonl(*(dict(zip(names, row, strict=False)) for row in rows))
    if format == "jsonl":
        lists = {}
        for user, *pair in rows:
            lists.setdefault(user, []).append(pair)
        columns = ((user, *map(list, zip(*pairs, strict=True))) for user, pairs in lists.items())
        return jsonl(*(dict(zip(names, row, strict=False)) for row in columns))
    comma = "," if format == "csv" else "\t"
    return "".join(comma.join(map(str, row[: len(names)])) + "\n" for row in [names, *rows])


def mutated(rng, data, format):
    """Return the bytes of a file with a fault, or some."""
    for _ in range(rng.choice([0, 1, 1, 1, 2, 4])):
        lines = data.splitlines(keepends=True) or [b""]
        at, place = rng.randrange(len(lines)), rng.randrange(len(data) + 1)
        kind = rng.randrange(9)
        if kind == 0 and data:
            flipped = bytearray(data)
            flipped[place % len(data)] ^= 1 << rng.randrange(8)
            data = bytes(flipped)
        elif kind == 1:
            data = data[:place]
        elif kind == 2:
            data = b"".join([*lines[:at], lines[at], *lines[at:]])
        elif kind == 3:
            data = data[:place] + rng.choice(BYTES) + data[place:]
        elif kind == 4:
            data = b"".join([*lines[:at], rng.choice([b"\n", b"  \n", b"\r\n"]), *lines[at:]])
        elif kind == 5:
            data = data + b"".join(lines[at:])
        elif kind == 6:
            rng.shuffle(lines)
            data = b"".join(lines)
        elif kind == 7:
            data = data.replace(b"\n", rng.choice([b"\r\n", b"\r"]))
        else:
            cut = {"csv": b",", "tsv": b"\t", "jsonl": b" "}.get(format, b" ")
            cells = lines[at].rstrip(b"\n").split(cut)
            cells[rng.randrange(len(cells))] = rng.choice(CELLS).encode()
            lines[at] = cut.join(cells) + b"\n"
            data = b"".join(lines)
    return data


def outcome(call):
    """Return what a call gives, or the error of one line that it raises."""
    try:
        return "value", call()
    except (ValueError, TypeError, OSError) as error:
        text = str(error)
        if "\n" in text or "\r" in text or len(text) > 2400 or type(error) is UnicodeDecodeError:
            return "ugly", f"{type(error).__name__}: {text[:300]!r}"
        return "error", type(error).__name__ + ": " + text
    except Exception as error:
        return "traceback", f"{type(error).__name__}: {error}"[:300]


def means(recs, truth, **options):
    result = by_words(recs, truth, [1, 3], **options)
    numbers = {name: -1.0 if value != value else value for name, value in result.to_dict().items()}
    return numbers, result.n_users, result.n_missing, result.n_extra


def agree(a, b):
    """Whether two outcomes are the same means, or errors of one kind."""
    if a[0] != "value" or b[0] != "value":
        return a[0] == b[0] and a[1].split(":")[0] == b[1].split(":")[0]
    # graded means are sums of doubles, in the order in which users are met
    close = (isclose(x, b[1][0][name], rel_tol=1e-12) for name, x in a[1][0].items())
    return a[1][1:] == b[1][1:] and all(close)


def one(rng, folder):
    """Mutate one pair of files; return what is wrong, if anything is."""
    found = []
    paths = []
    users = [f"u{n}" for n in range(6)] if rng.random() < 0.6 else list(range(6))
    for ranked in (True, False):
        format = rng.choice(["csv", "tsv", "jsonl", "trec", "csv", "jsonl"])
        data = as_text(rng, format, users, ranked).encode()
        if ranked or rng.random() < 0.3:
            data = mutated(rng, data, format)
        ending = {"trec": "run" if ranked else "qrels"}.get(format, format)
        if rng.random() < 0.15:
            ending, data = ending + ".gz", gzip.compress(data, mtime=0)
            if rng.random() < 0.4:
                data = mutated(rng, data, "gz")
        paths.append(os.path.join(folder, f"{'recs' if ranked else 'truth'}.{ending}"))
        with open(paths[-1], "wb") as file:
            file.write(data)
    start = time.process_time()  # however busy the machine is
    results = []
    if rng.random() < 0.5:
        options = {"duplicates": rng.choice(["raise", "first"])}
        options |= {"order": "file"} if rng.random() < 0.2 else {}
        for keep in (None, "users"):
            results.append(outcome(partial(means, *paths, keep=keep, **options)))
        streamed = results[0]
        apart = streamed[0] == "error" and "again in line" in streamed[1]
        if not agree(*results) and not apart:
            found.append(("difference", results))
    else:
        results = [outcome(lambda: read_ranks(paths[0])), outcome(lambda: read_truths(paths[1]))]
    if time.process_time() - start > SLOW:
        found.append(("hang", results))
    found += [(kind, text) for kind, text in results if kind in ("traceback", "ugly")]
    for kind, text in results:
        if kind == "error" and not any(path in text for path in paths):
            found.append(("no file named", text))
    return [(kind, text, [Path(path).read_bytes() for path in paths]) for kind, text in found]


def fuzz(n, seed=0):
    """Return what is wrong with n mutated pairs, and how many of them were read."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in range(n):
            wrong += one(random.Random(f"{seed} {number}"), folder)
            for name in os.listdir(folder):
                os.unlink(os.path.join(folder, name))
    return wrong
