"""A stream that keeps its hits is the result in memory."""

import numpy as np
import pytest
from doors import by_words

import toplist as tl


@pytest.mark.parametrize("relevant_from", [None, 2.0])
@pytest.mark.parametrize("text", [True, False])
def test_a_stream_that_keeps_its_hits_is_the_result_in_memory(
    tmp_path, monkeypatch, relevant_from, text
):
    monkeypatch.setattr("toplist.files.lines.SIZE", 300)  # many parts
    rng = np.random.default_rng(0)
    users = [f"u{i}" if text else i for i in range(80)]
    rows = [
        f"{user},{item},{rank}"
        for user in users[:70]
        for rank, item in enumerate(rng.permutation(30)[: rng.integers(1, 8)].tolist(), 1)
    ]
    truth = [
        f"{user},{item},{rng.integers(1, 4)}"
        for user in users[5:]
        for item in rng.permutation(30)[:6].tolist()
    ]
    for name, last, lines in (("recs", "rank", rows), ("truth", "relevance", truth)):
        content = [f"user_id,item_id,{last}", *lines, ""]
        (tmp_path / f"{name}.csv").write_text("\n".join(content))
    files = tmp_path / "recs.csv", tmp_path / "truth.csv"
    for k in (5, None):
        options = {"k": k, "metrics": ["ndcg", "recall", "map"], "relevant_from": relevant_from}
        options |= {"convention": "trec_eval"} if relevant_from else {}
        kept = by_words(*files, keep="users", **options)
        whole = by_words(*files, keep="users", **options)
        streamed = by_words(*files, **options)
        assert kept.to_dict() == pytest.approx(whole.to_dict(), rel=1e-12)
        assert kept.n_extra == whole.n_extra == streamed.n_extra == 5
        assert sorted(kept.users) == sorted(whole.users)
        for name in kept.names():
            expected = dict(zip(whole.users, whole.per_user(name), strict=True))
            found = dict(zip(kept.users, kept.per_user(name), strict=True))
            assert found.keys() == expected.keys()
            assert all(np.array_equal(found[u], expected[u], equal_nan=True) for u in found)
        test = tl.compare({"a": kept, "b": whole}).test(kept.names()[:1])[0]
        assert (test.n, test.difference, test.p) == (kept.n_evaluated, 0.0, 1.0)
        assert kept.fingerprints == streamed.fingerprints
    with pytest.raises(ValueError, match="keep='all': choose from 'users', 'part'"):
        tl.top_k_eval(*files, keep="all")
