# SPDX-License-Identifier: Apache-2.0
"""A job of 64 ranks on eight nodes on the page: grouped, slowest first, opened group by group; only ranks that are looked at are opened by the server; and what
is said while ranks are still being read."""
import json
import urllib.error

import pytest

import served
from test_many import write_rank
from web import evaluate, needs_browser, needs_node

N_RANKS, NODE, SLOW_NODE, N_STEPS = 64, 8, 5, 3


def write_job(folder):
    """Tensor parallelism 8 and data parallelism 8; the ranks of one node take 400 us longer in every step."""
    folder.mkdir(parents=True)
    for rank in range(N_RANKS):
        path = folder / f"rank{rank:03}.json"
        write_rank(path, rank, N_RANKS, N_STEPS, lambda r, _: 400 if r // NODE == SLOW_NODE else r % 3)
        trace = json.loads(path.read_text())
        first = rank // NODE * NODE
        trace["distributedInfo"]["pg_config"] = [
            {"pg_name": "1", "pg_desc": "mesh_tp", "pg_size": NODE, "ranks": list(range(first, first + NODE))},
            {"pg_name": "2", "pg_desc": "mesh_dp", "pg_size": N_RANKS // NODE, "ranks": list(range(rank % NODE, N_RANKS, NODE))}]
        path.write_text(json.dumps(trace))


def rows_of(table):
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


@needs_browser
@served.needs_serve
def test_a_job_by_nodes_and_groups(tmp_path):
    write_job(tmp_path / "runs" / "job")
    late = {row["rank"]: row for row in rows_of(served.table("stragglers", tmp_path / "runs" / "job"))}
    slow = range(SLOW_NODE * NODE, (SLOW_NODE + 1) * NODE)
    assert all(late[rank]["candidate"] for rank in slow), "the planted node is found by the engine"
    worst = max(late[rank]["lateness_ns"] for rank in slow)
    with served.serving(tmp_path / "runs") as url:
        served.wait_ready(url)
        # the clock of all, and the tracks of those that are asked for
        tracks = served.get(url, "runs/job/tracks?open=3,5-6")
        assert [one["rank"] for one in tracks["ranks"]] == list(range(N_RANKS))
        assert {one["rank"] for one in tracks["tracks"]} == {3, 5, 6} == {one["rank"] for one in tracks["steps"]}
        whole = served.get(url, "runs/job/tracks")
        assert {one["rank"] for one in whole["tracks"]} == set(range(N_RANKS))
        for name in ("ranks", "from_ns", "to_ns", "aligned", "kinds"):
            assert whole[name] == tracks[name]
        assert served.get(url, "runs/job/tracks?open=-")["tracks"] == []
        with pytest.raises(urllib.error.HTTPError):
            served.get(url, "runs/job/tracks?rank=99")
        served.drive("ranks.mjs", url, json.dumps({"node": str(SLOW_NODE), "ranks": list(slow), "worst": worst, "steps": N_STEPS}))


@needs_browser
@served.needs_serve
def test_a_provisional_verdict_says_so(tmp_path):
    write_job(tmp_path / "runs" / "job")
    with served.serving(tmp_path / "runs") as url:
        served.wait_ready(url)
        served.drive("provisional.mjs", url)


@needs_node
def test_pace():
    """60 MB in 2 s are 30 MB/s, and 90 MB more take 3 s; of a moment, or without progress, nothing is known."""
    source = """import { paceText, rateOf } from "./app/progress";
answer = { rate: rateOf([{ at: 1000, done: 10e6 }, { at: 2000, done: 30e6 }, { at: 3000, done: 70e6 }]), soon: rateOf([{ at: 0, done: 0 }, { at: 500, done: 1e6 }]),
  still: rateOf([{ at: 0, done: 5 }, { at: 9000, done: 5 }]), text: paceText(30e6, 90e6), end: paceText(30e6, 1e6), none: paceText(null, 90e6) };"""
    said = evaluate(source, {})
    assert said == {"rate": 30e6, "soon": None, "still": None, "text": "30.0 MB/s, 3.00 s left", "end": "30.0 MB/s, less than 1 s left", "none": ""}


@needs_node
def test_cells_that_share_a_pixel():
    """Six rows by four columns on three by two pixels: each pixel has the largest of its four cells; closer, a cell has pixels of its own. What is unknown is not
    drawn; paler is a quarter as strong."""
    values = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 0, 0, 0], [0, 0, 0, None], [None, None, 1, 1], [None, None, 1, 1]]
    source = """import { shade, wholeOf, zoomed } from "./ui/charts/ZoomMap";
const colors = Uint32Array.from({ length: 256 }, (_, i) => i + 1);
const grid = { rows: ["a", "b", "c", "d", "e", "f"], columns: ["0", "1", "2", "3"], values: Float64Array.from(input.values.flat().map((v: any) => v ?? NaN)),
  faint: Uint8Array.from(input.values.flat().map((v: any) => (v === 7 ? 1 : 0))) };
const drawn = (view: any, w: number, h: number) => { const out = new Uint32Array(w * h); shade(grid, view, w, h, 8, colors, out); return [...out]; };
answer = { whole: drawn(wholeOf(grid), 2, 3), close: drawn({ r0: 1, r1: 2, c0: 2, c1: 4 }, 4, 2), zoomed: zoomed(wholeOf(grid), 0.5, 6, 0, grid), out: zoomed({ r0: 1, r1: 3, c0: 1, c1: 2 }, 100, 2, 1, grid) };"""
    said = evaluate(source, {"values": values})
    level = lambda value, share=1: round(share * value / 8 * 255) + 1
    assert said["whole"] == [level(5), level(7, 0.25), level(8), level(0), 0, level(1)]
    assert said["close"] == [level(6), level(6), level(7, 0.25), level(7, 0.25)] * 2
    assert said["zoomed"] == {"r0": 3, "r1": 6, "c0": 0, "c1": 2}
    assert said["out"] == {"r0": 0, "r1": 6, "c0": 0, "c1": 4}
