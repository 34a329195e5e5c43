"""Tables of columns: catalogues, counts, features and logs."""

from file_helpers import fault

from toplist.files import tables


def test_a_second_header_in_column_files(put):
    text = "item_id,count\na,1\nb,2\nitem_id,count\nc,3\n"
    for kind in ("ids", "counts", "numbers"):
        assert fault(tables.facts, put("a.csv", text), kind).startswith("a.csv:4: a second header")
    assert fault(tables.read_table, put("a.csv", text)).startswith("a.csv:4: a second header")
    marked = put("b.csv", "item_id\na\n\ufeffitem_id\n")
    assert fault(tables.facts, marked, "ids").startswith("b.csv:3")
    assert tables.facts(put("c.csv", "item_id,name\na,item_id\n"), "ids").items == ["a"]
