"""Pairs of options on Spark: a sample as the oracle says, and what is refused on purpose."""

import os
import random
import re

import matrix
import pytest
from doors import call

# TOPLIST_SPARK=1: then pyspark and Java have to be there
if not os.environ.get("TOPLIST_SPARK"):
    pytest.importorskip("pyspark")
    pytest.importorskip("pyarrow")

# pyspark's own: of newer pandas, of sockets that it leaves open
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("session")]

# What no door but that of files, or of arrays, has words for.
UNSAID = {"whole", "keep", "users"}


def without_bpref(options):
    """Return options as Spark may take them: bpref it never does."""
    return options | {"metrics": [name for name in options["metrics"] if name != "bpref"]}


SAID = [without_bpref(one) for one in matrix.pairs() if UNSAID.isdisjoint(one)]
TAKEN = [one for one in SAID if one["metrics"] and not matrix.refusals_of(one, "spark")]


@pytest.mark.parametrize("text", [True, False], ids=["text", "integers"])
def test_a_sample_of_pairs(text):
    rng = random.Random(f"spark {text}")
    sample = rng.sample(TAKEN, 30)
    found = [matrix.verdict(one, "spark", rng.randrange(100), text) for one in sample]
    assert not [one for one in found if one != ""]


OF_SPARK = [row for row in matrix.REFUSED if row.doors == ("spark",)]


@pytest.mark.parametrize("row", OF_SPARK, ids=[row.reason for row in OF_SPARK])
def test_what_is_refused(row):
    """Of the pairs that a row refuses, one that few others do."""
    some = matrix.pairs() if row.bpref else SAID
    refused = [one for one in some if row.fits(one, "spark") and UNSAID.isdisjoint(one)]
    options = min(refused, key=lambda one: len(matrix.refusals_of(one, "spark")))
    with pytest.raises((ValueError, TypeError), match=re.escape(row.words)):
        call(matrix.world_of(options, 0), options, "spark")
