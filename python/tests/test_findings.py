# SPDX-License-Identifier: Apache-2.0
"""Findings in Python: notes as data, whole sentences, what to ask next as a call."""
import pathlib

import pytest

import holotrace

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def run():
    return holotrace.open(EXAMPLES / "straggler")


def test_notes_are_data(run):
    table = run.temporal_breakdown()
    found = [note for note in table.findings if note["kind"] == "exposed-communication"]
    assert len(found) == 1 and found[0]["state"] == "found" and 0 < found[0]["values"]["share"] < 1
    assert found[0]["next"] == "stragglers" and found[0]["args"] == {}
    assert f"{found[0]['sentence']}. Next: stragglers()" in table.notes


def test_sentences_are_whole(run):
    for table, label in ((run.summary(), "topic"), (run.advice(), "rule")):
        text = " ".join(repr(table).split())
        for row in table:
            assert f"{row[label]} {row['finding']}" in text
            assert " ".join((row["advice"] if label == "rule" else row["finding"]).split()) in text
        assert max(map(len, repr(table).splitlines())) <= 100
        html = table._repr_html_()
        assert html.count("<dt>") == len(table)
    assert 'next: idle_breakdown(by="device")' in repr(run.summary())
    assert "next: critical_path(across=True)" in repr(run.summary())


def test_rows_from_both_ends(run):
    table = run.summary()
    assert table.head(2) == [table[0], table[1]] and table.tail(1) == [table[len(table) - 1]]
    assert len(table.tail(1000)) == len(table) and table.tail(0) == []


def test_a_misspelt_verb_has_a_nearest_one(run):
    with pytest.raises(AttributeError, match="did you mean idle_breakdown"):
        run.idle_breakdwn  # noqa: B018
    assert "holotrace" in run._repr_html_()
