# SPDX-License-Identifier: Apache-2.0
"""The store equals what a plain Python derivation gives, for every trace at hand.

A sample of the bundled traces runs always, all of them with HOLOTRACE_LONG; those below $HOLOTRACE_EXTRA_DATA when it is set. Compared are the
summaries (readable when they differ), then every event, then every value of every arg key.
"""
import collections
import decimal
import json
import pathlib
import re
import sys

import pytest

import support

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import oracle  # noqa: E402

BASE = "index,ts_ns,dur_ns,ph,cat,name,pid,tid,correlation"
TRACES = support.sample_traces() + support.extra_traces()
KEYS_PER_RUN = 40


def engine_rows(path, columns):
    names, rows = support.read_csv(
        support.output("events", path, "--format", "csv", "--columns", columns))
    assert names == columns.split(",")
    return rows


def as_int(cell):
    return None if cell is None else int(cell)


def engine_events(path):
    return [oracle.Event(int(r[0]), r[3], r[4], r[5], r[6], r[7], as_int(r[1]), as_int(r[2]),
                         {"correlation": r[8]}, {}) for r in engine_rows(path, BASE)]


def text(value):
    """A pid, tid or name as the event list prints it; absent and empty look the same."""
    return "" if value is None else str(value)


def same_time(ours, theirs):
    if isinstance(theirs, decimal.Decimal):
        return ours is not None and abs(ours - theirs) <= 1
    return ours == theirs


def same_value(cell, value):
    """One arg: the CSV cell against the JSON value."""
    if value is None:
        return cell in (None, "null")
    if isinstance(value, bool):
        return cell == ("true" if value else "false")
    if isinstance(value, str):
        return (cell or "") == value
    if isinstance(value, int):
        return cell == str(value) or abs(value) >= 2**63 and float(cell) == float(value)
    if isinstance(value, decimal.Decimal):
        return cell is not None and float(cell) == float(value)
    return cell is not None and json.loads(cell, parse_float=decimal.Decimal) == value


def compare_summaries(ours, theirs):
    for what, expected in theirs.items():
        got = ours[what]
        if isinstance(expected, collections.Counter):
            missing, extra = expected - got, got - expected
            assert not missing and not extra, f"{what}: missing {missing}, too many {extra}"
        else:
            assert got == expected, what


def ours_for_summary(events):
    """The engine's rows with cat as None when it is shown as empty or 'unknown'."""
    return [e._replace(cat=e.cat or None, name=e.name or None) for e in events]


def allowed_cuts(path):
    return support.health(path).get("absurd_duration", 0)


def compare_events(ours, theirs, n_cuts):
    cut = 0
    for a, b in zip(ours, theirs):
        assert a.index == b.index
        for field in ("ph", "cat", "name", "pid", "tid"):
            assert text(getattr(a, field)) == text(getattr(b, field)), f"event {b.index}: {field}"
        assert same_time(a.ts_ns, b.ts_ns), f"event {b.index}: ts {a.ts_ns}, expected {b.ts_ns}"
        if not same_time(a.dur_ns, b.dur_ns):
            assert a.dur_ns is not None and b.dur_ns is not None and a.dur_ns < b.dur_ns, (
                f"event {b.index}: dur {a.dur_ns}, expected {b.dur_ns}")
            cut += 1
    assert cut <= n_cuts, f"{cut} durations are shorter than in the file, health says {n_cuts}"


def compare_args(path, theirs, attribute, prefix):
    keys = sorted({k for e in theirs for k in getattr(e, attribute)})
    keys = [k for k in keys if k and "," not in k and k.strip() == k]
    for first in range(0, len(keys), KEYS_PER_RUN):
        some = keys[first:first + KEYS_PER_RUN]
        rows = engine_rows(path, ",".join(prefix + k for k in some))
        assert len(rows) == len(theirs)
        for column, key in enumerate(some):
            for row, event in zip(rows, theirs):
                values = getattr(event, attribute)
                assert same_value(row[column], values.get(key)), (
                    f"event {event.index}: {prefix}{key} is {row[column]!r}, "
                    f"the file has {values.get(key)!r}")


def kinds_of(path):
    """Members of the document; of events phases, categories, and keys with the type of their value."""
    document = json.loads(support.trace_bytes(path), strict=False)
    found = {("document", key) for key in document}
    for event in document["traceEvents"]:
        cat = event.get("cat")
        found.add(("event", event.get("ph"), cat))
        found.update(("event", key) for key in event)
        found.update((cat, key, type(value).__name__) for key, value in (event.get("args") or {}).items())
    return found


def test_the_sample_has_what_all_have():
    """What is looked at with every change lacks nothing that a bundled trace has. Ranks of a run are of one kind."""
    first = {path.parent / re.sub(r"[0-9]+", "", path.name): path for path in reversed(support.bundled_traces())}
    sample = set().union(*(kinds_of(support.ROOT / name) for name in support.SAMPLE))
    assert len(first) > 15 and len(sample) > 100
    lacking = {support.short(path): sorted(map(str, kinds_of(path) - sample)) for path in first.values()}
    assert not {path: kinds for path, kinds in lacking.items() if kinds}


@pytest.mark.parametrize("path", TRACES, ids=support.short)
def test_store_equals_oracle(path):
    try:
        theirs = oracle.derive(path)
    except oracle.Unreadable as reason:
        pytest.skip(f"skipped, {reason}")
    ours = engine_events(path)
    assert len(ours) == len(theirs), "number of events"
    n_cuts = allowed_cuts(path)
    ours_sum, theirs_sum = oracle.summary(ours_for_summary(ours)), oracle.summary(theirs)
    for sums in (ours_sum, theirs_sum):
        del sums["args per key"]
        if n_cuts:
            del sums["sum of dur"]
    if any(isinstance(t, decimal.Decimal) for e in theirs for t in (e.ts_ns, e.dur_ns)):
        for sums in (ours_sum, theirs_sum):
            del sums["sum of ts"]
            sums.pop("sum of dur", None)
    compare_summaries(ours_sum, theirs_sum)
    compare_events(ours, theirs, n_cuts)
    compare_args(path, theirs, "args", "args.")
    compare_args(path, theirs, "extra", "event.")
