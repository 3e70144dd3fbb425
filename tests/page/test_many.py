# SPDX-License-Identifier: Apache-2.0
"""Charts of runs with hundreds of steps or ranks: neighbours come together, what stands out is named, and labels keep apart."""
import json
import random
import statistics

import pytest

import served
from web import evaluate, needs_browser, needs_node

SLOW_STEP, SLOW_RANK = 217, 133
STEP_US = 1000


def write_rank(path, rank, n_ranks, n_steps, slow):
    """Steps of a kernel and an all-reduce, which ends on all ranks together. slow: microseconds more, by rank and step."""
    events, at = [], 0
    ranks = json.dumps(list(range(n_ranks)))
    for step in range(n_steps):
        corr = 10 * step
        late = [slow(r, step) for r in range(n_ranks)]
        kernel = 300 + 5 * (step % 7) + late[rank]
        ends = at + 300 + 5 * (step % 7) + max(late) + 250
        base = {"ph": "X", "pid": 9, "tid": 9}
        events += [
            dict(base, cat="user_annotation", name=f"ProfilerStep#{step}", ts=at, dur=STEP_US - 2 + max(late)),
            dict(base, cat="cpu_op", name="aten::mm", ts=at + 5, dur=40, args={"External id": corr}),
            dict(base, cat="cuda_runtime", name="cudaLaunchKernel", ts=at + 10, dur=5, args={"correlation": corr + 1, "External id": corr}),
            dict(base, cat="kernel", name="gemm", pid=0, tid=7, ts=at + 20, dur=kernel, args={"device": 0, "stream": 7, "correlation": corr + 1}),
            dict(base, cat="cuda_runtime", name="cudaLaunchKernel", ts=at + 50, dur=5, args={"correlation": corr + 2}),
            dict(base, cat="kernel", name="ncclDevKernel_AllReduce", pid=0, tid=20, ts=at + 30 + kernel, dur=ends - at - 30 - kernel,
                 args={"device": 0, "stream": 20, "correlation": corr + 2, "Collective name": "allreduce", "dtype": "Float", "In msg nelems": 1000,
                       "Out msg nelems": 1000, "Group size": n_ranks, "Process Group Name": "0", "Process Group Ranks": ranks}),
        ]
        at += STEP_US + max(late)
    path.write_text(json.dumps({"schemaVersion": 1, "baseTimeNanoseconds": 10**18, "distributedInfo": {"rank": rank, "world_size": n_ranks},
                                "deviceProperties": [{"id": 0, "name": "NVIDIA H200"}], "traceEvents": events}))


def write_run(root, name, n_ranks, n_steps, slow):
    (root / name).mkdir()
    for rank in range(n_ranks):
        write_rank(root / name / f"rank{rank:03}.json", rank, n_ranks, n_steps, slow)


@needs_browser
@served.needs_serve
def test_hundreds_of_steps_and_ranks(tmp_path):
    root = tmp_path / "runs"
    root.mkdir()
    write_run(root, "steps", 2, 400, lambda rank, step: 700 if (rank, step) == (1, SLOW_STEP) else 0)
    write_run(root, "ranks", 200, 3, lambda rank, step: 400 if rank == SLOW_RANK else rank % 5)
    # a step is as long on every rank, so none stands out
    with served.serving(root) as url:
        served.wait_ready(url, 2)
        served.drive("many.mjs", url, json.dumps({"step": f"step {SLOW_STEP}", "rank": "at most"}))


@needs_node
@pytest.mark.parametrize("n, room", [(400, 300), (400, 1200), (401, 640), (37, 20), (8, 300)])
def test_bins(n, room):
    """Bars of bins are as high as the mean of what is in them; least, median and most are those of the wholes; the unknown is not zero."""
    rand = random.Random(n)
    parts = [[None if rand.random() < 0.2 else rand.randint(0, 1000) for _ in range(n)] for _ in range(3)]
    for part in parts:
        part[3] = None
    source = """import { binBars, binCells } from "./ui/charts/bins";
const series = input.parts.map((values: any, i: number) => ({ name: String(i), color: "", values }));
answer = { bars: binBars(input.names, series, input.room, 5, 8), cells: binCells(input.names, input.parts, input.room, 3) };"""
    names = [f"step {i}" for i in range(n)]
    said = evaluate(source, {"parts": parts, "names": names, "room": room})
    bars, cells = said["bars"], said["cells"]
    k = bars["k"]
    assert (k == 1) == (n * 5 <= room) and (k == 1 or len(bars["names"]) * 8 <= room)
    whole = [None if all(part[i] is None for part in parts) else sum(part[i] or 0 for part in parts) for i in range(n)]
    for at, first in enumerate(range(0, n, k)):
        last = min(first + k, n)
        assert bars["first"][at] == names[first]
        known = [value for value in whole[first:last] if value is not None]
        drawn = [part["values"][at] for part in bars["series"]]
        if k == 1:
            assert drawn == [part[first] for part in parts]
        elif known:
            spread = bars["spreads"][at]
            assert sum(value or 0 for value in drawn) == pytest.approx(statistics.mean(known))
            assert [spread["least"], spread["median"], spread["most"]] == [min(known), statistics.median(known), max(known)]
            assert spread["alone"] == (whole.count(max(known)) == 1)
            assert whole[spread["at"]] == max(known) and first <= spread["at"] < last
        else:
            assert drawn == [None] * 3
    for row, part in zip(range(3), parts):
        for at, first in enumerate(range(0, n, cells["k"])):
            known = [value for value in part[first:first + cells["k"]] if value is not None]
            assert cells["values"][row][at] == (max(known) if known else None)
            assert not known or part[cells["at"][row][at]] == max(known)
