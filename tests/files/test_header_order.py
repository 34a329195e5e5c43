"""A second header within a file, whose columns stand in another order."""

import pytest
from shared_inputs import csv_of

import toplist as tl


def test_a_second_header_in_another_order_is_refused(tmp_path):
    truth = csv_of(tmp_path / "t.csv", "user_id,item_id", "a,x", "y,b")
    recs = csv_of(tmp_path / "r.csv", "user_id,item_id", "a,x", "item_id,user_id", "y,b")
    with pytest.raises(ValueError, match="r.csv:3: a second header"):
        tl.top_k_eval(tl.Ranks(recs, order="file"), truth, k=1)
