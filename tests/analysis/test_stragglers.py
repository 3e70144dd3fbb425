# SPDX-License-Identifier: Apache-2.0
"""Ranks that keep others waiting."""
import pytest

from tiny import EXAMPLES, Tiny, close, notes, rows

GROUP = {"Process Group Name": "0", "Process Group Ranks": "[0, 1, 2]",
         "Collective name": "allreduce", "In msg nelems": 64}


def write(folder, starts, end=100, base_ns=1_000_000_000, args=None, steps=True,
          name="ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"):
    """starts[rank] = start of each collective in us; all ranks leave a collective together."""
    for rank, times in enumerate(starts):
        t = Tiny(base_ns)
        if steps:
            t.step(1, 0, 1000 * len(times))
        for i, at in enumerate(times):
            t.work(name, 1000 * i + at, end - at, launch=1000 * i, stream=20, args=args)
        t.write(folder, rank)
    return folder


def table(*args):
    return {r["rank"]: r for r in rows("stragglers", *args)}


@pytest.mark.parametrize("steps", [True, False])
@pytest.mark.parametrize("args", [GROUP, None])
def test_late_and_delay(tmp_path, args, steps):
    """The example of stragglers.c, and a second collective in which rank 0 is last."""
    found = table(write(tmp_path, [[0, 4], [1, 0], [9, 1]], args=args, steps=steps))
    assert list(found) == ["2", "0", "1"]  # largest delay first
    two = found["2"]
    assert (two["delay_ns"], two["times_last"], two["collectives"]) == ("8000", "1", "2")
    assert two["late_max_ns"] == "9000" and float(two["late_mean_ns"]) == 5000
    assert {found[r]["candidate"] for r in "201"} == {"false"}  # late once is no habit
    assert found["0"]["delay_ns"] == "3000" and found["1"]["delay_ns"] == "0"


def slow(folder, extra, n_steps=4, n_ranks=4):
    """extra(rank, step) us more of gemm before the allreduce of each step of 1000 us; it ends at 900 on all."""
    for rank in range(n_ranks):
        t = Tiny(1_000_000_000)
        for i in range(n_steps):
            at, more = 1000 * i, extra(rank, i)
            t.step(i, at, 1000)
            t.work("gemm", at + 10, 200 + more, launch=at + 5)
            t.work("ncclDevKernel_AllReduce", at + 220 + more, 680 - more, launch=at + 6, stream=20,
                   args=dict(GROUP, **{"Process Group Ranks": str(list(range(n_ranks)))}))
        t.write(folder, rank)
    return folder


def candidates(*args):
    found = table(*args)
    return [r for r in found if found[r]["candidate"] == "true"]


def test_late_in_most_steps(tmp_path):
    """300 us more in every step, or in three of four, are a habit; in two of four they are not."""
    assert candidates(slow(tmp_path / "each", lambda r, i: 300 * (r == 2)), "--step", "all") == ["2"]
    assert candidates(slow(tmp_path / "most", lambda r, i: 300 * (r == 2 and i != 1)), "--step",
                      "all") == ["2"]
    assert candidates(slow(tmp_path / "half", lambda r, i: 300 * (r == 2 and i % 2)), "--step",
                      "all") == []


def test_not_beyond_the_others(tmp_path):
    """Ranks that differ by 0, 40, 80 us: one that is 100 us later than the middle is among them, one by 300 not."""
    base = [0, 40, 80]
    for more, expected in ((140, []), (340, ["3"])):
        folder = slow(tmp_path / str(more), lambda r, i: base[r] if r < 3 else more)
        assert candidates(folder, "--step", "all") == expected


def test_not_beyond_its_own_variation(tmp_path):
    """Late by 20 to 420 us from step to step: the middle half varies by 210, more than most steps are late. Two levels
    are no such variation: the rank is late in each step, more or less."""
    by = [20, 90, 190, 300, 420]
    assert candidates(slow(tmp_path / "a", lambda r, i: (r == 1) * by[i], n_steps=5), "--step", "all") == []
    assert candidates(slow(tmp_path / "b", lambda r, i: (r == 1) * [60, 300, 60, 300][i]), "--step", "all") == ["1"]


def test_not_worth_a_name(tmp_path):
    """Less than 3 % of the step of 1000 us, however little of it the GPU works."""
    assert candidates(slow(tmp_path / "a", lambda r, i: 29 * (r == 1)), "--step", "all") == []
    assert candidates(slow(tmp_path / "b", lambda r, i: 31 * (r == 1)), "--step", "all") == ["1"]


def test_two_of_eight(tmp_path):
    """Two slow ranks do not hide each other; num-candidates cuts the list."""
    folder = slow(tmp_path, lambda r, i: 300 * (r == 2) + 320 * (r == 5), n_ranks=8)
    assert sorted(candidates(folder, "--step", "all")) == ["2", "5"]
    assert candidates(folder, "--step", "all", "--num-candidates", "1") == ["5"]


def test_collectives_name_the_last_rank(tmp_path):
    found = rows("stragglers", write(tmp_path, [[0, 4], [1, 0], [9, 1]], args=GROUP), "--view",
                 "collectives")
    assert [(r["nth"], r["first_rank"], r["last_rank"], r["late_ns"], r["last_delay_ns"])
            for r in found] == [("0", "0", "2", "9000", "8000"), ("1", "1", "0", "4000", "3000")]
    assert {(r["step"], r["collective"], r["group"], r["elements"], r["ranks"]) for r in found} == {
        ("1", "allreduce", "0 [0, 1, 2]", "64", "3")}


def test_without_a_common_clock_durations_tell(tmp_path):
    """Rank 1's clock is an hour off; it leaves with the others, so its short wait shows it is late."""
    for rank, (at, shift) in enumerate(((0, 0), (50, 3_600_000_000), (10, 0))):
        t = Tiny()
        t.work("ncclDevKernel_AllReduce", at + shift, 100 - at, launch=shift, stream=20)
        t.write(tmp_path, rank)
    found = table(tmp_path)
    if "cannot be compared" in " ".join(notes("stragglers", tmp_path)):
        assert list(found)[0] == "1" and found["1"]["delay_ns"] == "40000"


def test_groups_and_pairs_are_kept_apart(tmp_path):
    """Ranks 0 1 and 2 3 reduce among themselves; 0 sends to 2."""
    for rank in range(4):
        t = Tiny(1_000_000_000)
        pair = [0, 1] if rank < 2 else [2, 3]
        t.work("ncclDevKernel_AllReduce", 10 * rank, 50, launch=0, stream=20,
               args={"Process Group Name": "1", "Process Group Ranks": str(pair),
                     "Collective name": "allreduce"})
        if rank in (0, 2):
            peer = {"Dst Rank": 2} if rank == 0 else {"Src Rank": 0}
            t.work("ncclDevKernel_SendRecv", 100 + rank, 5, launch=90, stream=21,
                   args=dict(peer, **{"Process Group Name": "0", "Process Group Ranks": "[0,1,2,3]",
                                      "Collective name": "send" if rank == 0 else "recv"}))
        t.write(tmp_path, rank)
    found = rows("stragglers", tmp_path, "--view", "collectives")
    assert {(r["group"], r["last_rank"], r["late_ns"]) for r in found} == {
        ("1 [0, 1]", "1", "10000"), ("1 [2, 3]", "3", "10000")}  # the order of a pair is no lateness


def test_sequence_numbers_decide(tmp_path):
    """Rank 1's window starts one collective later."""
    for rank, first in ((0, 5), (1, 6)):
        t = Tiny(1_000_000_000)
        for seq in range(first, 8):
            t.work("ncclDevKernel_AllReduce", 100 * seq + rank, 10, launch=100 * seq, stream=20,
                   args=dict(GROUP, Seq=seq))
        t.write(tmp_path, rank)
    found = rows("stragglers", tmp_path, "--view", "collectives")
    assert sorted((r["nth"], r["late_ns"]) for r in found) == [("6", "1000"), ("7", "1000")]
    assert "1 of 5 calls have no counterpart" in " ".join(notes("stragglers", tmp_path))


def test_excess_names_the_reason(tmp_path):
    for rank in range(3):
        t = Tiny(1_000_000_000)
        t.step(1, 0, 1000)
        t.add("user_annotation", "## data ##", 10, 300 if rank == 1 else 20)
        t.add("user_annotation", "## forward ##", 400, 100)
        # the others wait for the GPU in a runtime call, which is no work
        if rank != 1:
            t.add("cuda_runtime", "cudaStreamSynchronize", 410, 80)
        t.work("gemm", 500, 200 if rank == 2 else 100, launch=401)
        t.work("ncclDevKernel_AllReduce", 800 + rank, 10, launch=450, stream=20)
        t.write(tmp_path, rank)
    found = table(tmp_path)
    assert (found["1"]["host_excess_name"], found["1"]["host_excess_ns"]) == ("## data ##", "280000")
    assert (found["2"]["gpu_excess_name"], found["2"]["gpu_excess_ns"]) == ("gemm", "100000")
    assert found["0"]["gpu_excess_name"] is None


def test_the_planted_stragglers_are_found():
    """Rank 2's GPU has extra work in every step, rank 1's host sleeps in ## data ##."""
    found = table(EXAMPLES / "straggler")
    assert list(found)[0] == "2"
    assert [r for r in found if found[r]["candidate"] == "true"] == ["2"]  # rank 1 is hidden behind it
    assert (found["2"]["late_steps"], found["2"]["steps"], found["2"]["cause"]) == ("6", "6", "kernel")
    assert "gemm" in found["2"]["cause_name"] and int(found["2"]["cause_row"]) > 0
    assert int(found["2"]["delay_ns"]) > 300_000_000
    assert int(found["2"]["gpu_excess_ns"]) > 60_000_000  # of a step
    assert found["1"]["host_excess_name"] == "## data ##"
    assert int(found["1"]["host_excess_ns"]) > 10_000_000
    worst = rows("stragglers", EXAMPLES / "straggler", "--view", "collectives")[0]
    assert worst["last_rank"] == "2" and worst["collective"] == "allreduce"


def test_nothing_to_compare(tmp_path):
    one = write(tmp_path, [[0]])
    assert rows("stragglers", one) == [] and "one rank" in notes("stragglers", one)[0]
    assert rows("stragglers", EXAMPLES / "train") == []
    t = Tiny()
    t.add("cpu_op", "aten::add", 0, 1)
    (tmp_path / "quiet").mkdir()
    for rank in range(2):
        t.write(tmp_path / "quiet", rank)
    assert "no communication" in notes("stragglers", tmp_path / "quiet")[0]


def test_a_healthy_run_is_silent():
    found = table(EXAMPLES / "ddp")
    assert {r["candidate"] for r in found.values()} == {"false"}
    assert "no rank delays the others" in notes("stragglers", EXAMPLES / "ddp")[0]


def test_permuting_ranks_permutes_rows():
    files = sorted((EXAMPLES / "straggler").glob("*.json.gz"))
    order = [2, 0, 3, 1]
    before = table(*files)
    after = table(*[f"{order.index(i)}={files[i]}" for i in range(4)])
    for i in range(4):
        a, b = before[str(i)], after[str(order.index(i))]
        assert {k: v for k, v in a.items() if k != "rank"} == {
            k: v for k, v in b.items() if k != "rank"}
        assert close(a["delay_share"], b["delay_share"], 0)
