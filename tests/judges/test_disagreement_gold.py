"""Gold is split off once: it is no user."""

from karat import judges


def test_gold_in_the_same_table_is_no_other_user() -> None:
    said = {"ann": [2, 1, 0, 2], "bob": [2, 0, 0, 1], "eve": [1, 1, 0, 2]}
    rows = [
        {"query": f"q{d}", "doc": "d", "label": label, "judge": judge, "group": "crowd"}
        for judge, labels in said.items()
        for d, label in enumerate(labels)
    ]
    gold = [{"query": f"q{d}", "doc": "d", "label": 2, "judge": "gus", "group": "gold"} for d in range(4)]
    alone, beside = (judges.disagreement(labels, draws=0).p.tolist() for labels in (rows, rows + gold))
    assert alone == beside
