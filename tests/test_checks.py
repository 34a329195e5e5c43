"""Messages that all packages share: wrong choices, prefixes of errors, missing columns."""

import pytest

import toplist as tl
from toplist.checks import choice, prefixed


def test_a_wrong_choice_keeps_its_keyword():
    for value, text in (("never", "ties='never'"), (None, "ties=None"), (0, "ties=0")):
        with pytest.raises(ValueError, match=f"{text}: choose from 'order', 'average'"):
            choice("ties", value, ["order", "average"])


def test_a_prefix_keeps_the_type_of_an_error():
    assert type(prefixed("a: ", TypeError("b"))) is TypeError
    broken = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
    assert str(prefixed("a: ", broken)).startswith("a: 'utf-8' codec")


def test_all_missing_columns_of_tables_in_memory():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"who": [1], "what": [2]})
    with pytest.raises(ValueError, match=r"ranks has no columns 'user_id', 'item_id', only 'who'"):
        tl.match(table, {1: [2]})
    with pytest.raises(ValueError, match=r"no columns 'user_id', 'item_id'; it has 'who', 'what'"):
        tl.loo.leave_one_out(table)
    with pytest.raises(ValueError, match=r"no columns 'label', 'prediction', only 'who', 'what'"):
        tl.pointwise.auc(table)
