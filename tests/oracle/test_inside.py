# SPDX-License-Identifier: Apache-2.0
"""kernel-annotations, --annotation and --kernels-under against the definition, on every trace there is."""
import collections

import pytest

import inside
import support

TRACES = [p for p in support.sample_traces() + support.extra_traces()
          if any(part.encode() in support.trace_bytes(p) for part in ('"kernel"', '"Kernel"'))]


@pytest.mark.parametrize("path", TRACES, ids=support.short)
def test_annotations(path):
    try:
        trace = inside.Trace(support.trace_bytes(path).decode("utf-8", "replace"))
    except (ValueError, KeyError, TypeError):
        pytest.skip("not a trace that json reads")
    launches = trace.launches()
    names, rows = support.read_csv(support.output(
        "kernel-annotations", path, "--group-by", "none", "--step", "all", "--format", "csv", "--columns",
        "index,annotation,annotation_stack,via"))
    ours = {int(row[0]): row[1:] for row in rows}
    assert set(launches) <= set(ours)
    by_name = collections.defaultdict(set)
    for work, launch in launches.items():
        around = trace.around(launch)
        stack = [trace.name(row) for row in around]
        assert ours[work][0] == (stack[-1] if stack else None), f"row {work}"
        if len(stack) <= 16:
            assert ours[work][1] == (" / ".join(stack) if stack else None), f"row {work}"
        own = around and trace.thread(around[-1]) == trace.thread(launch)
        assert ours[work][2] == (None if not stack else "launch" if own else "backward"), f"row {work}"
        for name in stack:
            by_name[name].add(work)
    largest = sorted(by_name, key=lambda name: (-len(by_name[name]), name))[:4]
    for name in largest:
        wanted = {work for other, works in by_name.items() if name in other for work in works}
        for options in (["--annotation", name], ["--kernels-under", name]):
            _, found = support.read_csv(support.output(
                "events", path, "--step", "all", "--only", "gpu", *options, "--format", "csv", "--columns", "index"))
            found = {int(index) for index, in found} & set(launches)
            assert found == (wanted if options[0] == "--annotation" else by_name[name]), f"{options}"
