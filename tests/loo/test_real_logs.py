"""Leave-one-out on real logs: ties, orders and kinds; where the data lie beside the repository."""

import subprocess
import sys
from pathlib import Path

import pytest

from toplist import audit, loo

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
RETAIL = DATA / "online-retail" / "interactions.csv.gz"
MOVIES = DATA / "ml-latest-small" / "ratings.csv"
NAMES = {"user_id": "userId", "item_id": "movieId"}

needs_data = pytest.mark.skipif(not (RETAIL.exists() and MOVIES.exists()), reason="no data")


@needs_data
def test_ties_at_the_newest_timestamp_are_as_the_data_sets_note_says():
    """92.4 % of the users of online-retail, 18.9 % of those of ml-latest-small."""
    retail = loo.leave_one_out(RETAIL)
    assert (retail.report.n_users, retail.report.n_items) == (4_339, 3_665)
    assert retail.report.n_rows - retail.report.n_repeats == 266_802
    assert "4,009 users (92.4 %) with several items at their newest timestamp" in str(retail)
    movies = loo.leave_one_out(MOVIES, columns=NAMES)
    assert "127 users (18.9 %) with several items" in str(movies)
    assert movies.report.rows == {"train": 99_333, "test": 671}
    found = audit.check(None, movies.truths(), movies.truths("train"))
    assert found.ok and found.counts["cold_items"] == movies.report.n_cold == 30


def test_the_benchmark_ends_well_without_data(tmp_path):
    command = [sys.executable, str(ROOT / "benchmarks" / "leave_one_out.py"), "--data", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    assert "is absent: nothing to measure" in done.stdout
