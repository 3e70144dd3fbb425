# SPDX-License-Identifier: Apache-2.0
"""holotrace.history: the store of many runs, from Python."""
import sqlite3

import pytest

import holotrace


def test_a_session_is_added_and_asked_for(examples, tmp_path):
    store = tmp_path / "runs.db"
    with holotrace.open(examples / "ddp") as session:
        table = holotrace.history(store, add=session, label="abc", view="series", path="step")
        slowest = {}
        for row in session.steps():
            if row["step"] is not None:
                slowest.setdefault(row["step"], []).append(row["step_time_ns"])
    step = next(row for row in table if row["metric"] == "step_time")
    assert step["label"] == "abc" and step["path"] == "step"
    # the first step is one of its own kind, and stays out
    del slowest[min(slowest)]
    assert step["max"] == max(max(times) for times in slowest.values())
    assert step["n"] == len(slowest)
    assert not table.check_failed and all(row["path"].split("/")[0] == "step" for row in table)


def test_paths_are_opened(examples, tmp_path):
    holotrace.history(tmp_path / "runs.db", add=[examples / "ddp"], label="a")
    table = holotrace.history(tmp_path / "runs.db", add=examples / "ddp", label="b", view="latest", top=3, columns=["path", "label"])
    assert table.columns == ["path", "label"] and [row["label"] for row in table] == ["b"] * 3
    with sqlite3.connect(tmp_path / "runs.db") as file:
        (first,), (second,) = file.execute("SELECT source FROM runs ORDER BY id")
    assert first == second == str(examples / "ddp")


def test_runs_of_other_programs(tmp_path):
    lines = ["label,latency"] + [f"c{i},{(100 if i < 12 else 120) + i % 2}" for i in range(24)]
    (tmp_path / "runs.csv").write_text("\n".join(lines) + "\n")
    table = holotrace.history(tmp_path / "runs.db", file=tmp_path / "runs.csv")
    assert table.check_failed and [(row["change"], row["label"]) for row in table] == [("regression", "c12")]
    assert table[0]["before"] == pytest.approx(100.5) and table[0]["after"] == pytest.approx(120.5)
    assert not holotrace.history(tmp_path / "runs.db", since="c20").check_failed
    assert not holotrace.history(tmp_path / "runs.db", min_change=0.5).check_failed


def test_mistakes_are_told(examples, tmp_path):
    with pytest.raises(holotrace.UsageError, match="go together"):
        holotrace.history(tmp_path / "runs.db", add=examples / "ddp")
    with pytest.raises(holotrace.InputError, match="cannot open"):
        holotrace.history(tmp_path / "absent.db")
    (tmp_path / "text.db").write_text("no database")
    with pytest.raises(holotrace.InputError, match="no history of runs"):
        holotrace.history(tmp_path / "text.db")
    session = holotrace.open(examples / "ddp")
    session.close()
    with pytest.raises(ValueError, match="closed"):
        holotrace.history(tmp_path / "runs.db", add=session, label="x")
    assert not (tmp_path / "runs.db").exists()
