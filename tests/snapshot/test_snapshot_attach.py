# SPDX-License-Identifier: Apache-2.0
"""A snapshot and the trace of the same run, recorded on our own GPU; both are larger than what the repository bundles."""
import csv
import io

import pytest

import support


def test_every_allocation_of_the_trace_is_in_the_snapshot():
    snapshots = [p for p in support.extra_files("snapshot.pickle.gz") if (p.parent / "memprof.json.gz").exists()]
    if not snapshots:
        pytest.skip("HOLOTRACE_EXTRA_DATA has no snapshot with its trace")
    text = support.output("memory-snapshot", "--no-cache", snapshots[0].parent / "memprof.json.gz", "--attach",
                          snapshots[0], "--view", "peak", "--by", "operator", "--at", "end", "--format", "csv").decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    # 65 MiB that the program keeps are older than the trace
    assert sum(int(row["bytes"]) for row in rows) == 68157440
    info = support.output("info", "--no-cache", snapshots[0].parent / "memprof.json.gz", "--attach", snapshots[0],
                          "--format", "csv").decode()
    assert "658 of 658 allocations on GPUs" in info
