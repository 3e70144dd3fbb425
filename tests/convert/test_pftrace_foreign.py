# SPDX-License-Identifier: Apache-2.0
"""Perfetto traces of a made-up producer: Chrome's events, threads with tracks, GPU work, compressed packets, cut anywhere. What
verbs say is held against the events that were put in, and of cut files against those whose packets are whole."""
import random
import zlib
from collections import Counter, defaultdict

import pytest

import support
from pftrace import BEGIN, END, fields, field, message, packet
from test_pftrace import rows, zstd

STAGES = ["gemm", "softmax", "layer_norm"]
SPANS = ["parse", "layout", "paint", "decode"]
MONOTONIC, BOOTTIME, OFFSET = 3, 6, 500_000


class Producer:
    """Packets, and beside each the event that is whole with it: (name, start, duration, pid, tid)."""

    def __init__(self, seed):
        self.chance, self.packets, self.truth = random.Random(seed), [], []

    def put(self, *pairs, event=None):
        self.packets.append(message(*pairs))
        self.truth.append(event)

    def chrome(self, sequence, pid, tid, start_us):
        """Whole spans and pairs on one thread, a difference of time each."""
        self.put((10, sequence), (13, 1), (44, message((1, pid), (2, tid), (5, f"thread {tid}"), (6, start_us))), (12, message(
            *[(2, message((1, i + 1), (2, name))) for i, name in enumerate(SPANS)])))
        now = start_us
        for _ in range(30):
            step, iid, length = self.chance.randint(40, 90), self.chance.randint(1, len(SPANS)), self.chance.randint(1, 30)
            now += step
            legacy = lambda phase, *more: (6, message((2, ord(phase)), *more))
            name, at = SPANS[iid - 1], now * 1000 + OFFSET
            if self.chance.random() < .5:
                self.put((10, sequence), (13, 2), (11, message((1, step), legacy("X", (1, iid), (3, length)))), event=(name, at, length * 1000, pid, tid))
            else:
                self.put((10, sequence), (13, 2), (11, message((1, step), legacy("B", (1, iid)))))
                self.put((10, sequence), (13, 2), (11, message((1, length), legacy("E"))), event=(name, at, length * 1000, pid, tid))
                now += length

    def modern(self, sequence, pid, tid):
        uuid = 1000 + tid
        self.put((60, message((1, uuid), (4, message((1, pid), (2, tid), (5, f"thread {tid}"))))))
        now = 10_000_000
        for _ in range(30):
            now += self.chance.randint(1000, 9000)
            end, name = now + self.chance.randint(1, 900), self.chance.choice(SPANS)
            self.put((8, now), (10, sequence), (11, message((9, BEGIN), (11, uuid), (23, name))))
            self.put((8, end), (10, sequence), (11, message((9, END), (11, uuid))), event=(name, now, end - now, pid, tid))

    def gpu(self, sequence):
        self.put((10, sequence), (13, 1), (12, message((24, message((1, 9), (2, "queue 9"))))))
        now = 11_000_000
        for _ in range(40):
            length, name = self.chance.randint(100, 5000), self.chance.choice(STAGES)
            self.put((8, now), (10, sequence), (13, 2), (53, message((2, length), (11, 0), (13, 9), (17, name))), event=(name, now, length, 0, 9))
            now += length + self.chance.choice((0, 200, 3000))


def snapshot():
    """Monotonic time 1 ms is that of boot + OFFSET."""
    return message((10, 1), (6, message((1, message((1, MONOTONIC), (2, 1_000_000))), (1, message((1, BOOTTIME), (2, 1_000_000 + OFFSET))))))


def make(seed):
    p = Producer(seed)
    p.packets.append(snapshot())
    p.truth.append(None)
    p.chrome(1, 7, 71, 12_000)
    p.modern(2, 7, 72)
    p.gpu(3)
    p.chrome(4, 8, 81, 13_000)
    return p


def found(path, where="ph = X"):
    return Counter((r["name"], int(r["ts_ns"]), int(r["dur_ns"]), int(r["pid"]), int(r["tid"]))
                   for r in rows(path, "events", "--where", where, "--columns", "name,ts_ns,dur_ns,pid,tid", "--top", "0"))


def check(path, truth, is_whole=True):
    every = [e for e in truth if e]
    assert not Counter(every) - found(path)
    kernels = [e for e in every if e[3:] == (0, 9)]
    want = defaultdict(lambda: [0, 0])
    for name, _, length, _, _ in kernels:
        want[name][0] += 1
        want[name][1] += length
    assert {r["name"]: [int(r["calls"]), int(r["total_ns"])] for r in rows(path, "kernels")} == want
    if not kernels:
        return
    row, = rows(path, "temporal-breakdown")
    span = kernels[-1][1] + kernels[-1][2] - kernels[0][1]
    assert (int(row["span_ns"]), int(row["compute_ns"])) == (span, sum(k[2] for k in kernels))
    support.output("summary", path, "--no-cache")
    if is_whole:
        assert found(path) == Counter(every)
        assert not [r for r in rows(path, "health") if r["severity"] in ("data loss", "repair", "severe")]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("wrap", ["plain", "zlib", "zstd"])
def test_what_was_put_in_is_there(tmp_path, seed, wrap):
    p = make(seed)
    path = tmp_path / "t.pftrace"
    whole = b"".join(field(1, body) for body in p.packets)
    if wrap == "plain":
        path.write_bytes(whole)
    else:
        half = b"".join(field(1, body) for body in p.packets[:60])
        squeeze = (lambda data: (50, zlib.compress(data))) if wrap == "zlib" else (lambda data: (133, zstd(data)))
        path.write_bytes(packet(squeeze(half)) + packet(squeeze(whole[len(half):])))
    check(path, p.truth)
    names = {r["value"] for r in rows(path, "info") if r["item"] == "dialect"}
    assert any("Perfetto" in n for n in names), names


@pytest.mark.parametrize("seed", range(6))
def test_cut_anywhere(tmp_path, seed):
    p = make(seed)
    whole = b"".join(field(1, body) for body in p.packets)
    cut = random.Random(seed).randrange(len(whole) // 3, len(whole))
    path = tmp_path / "t.pftrace"
    path.write_bytes(whole[:cut])
    # an own decoder says how many packets are whole
    n, at = 0, 0
    while True:
        size = len(field(1, p.packets[n])) if n < len(p.packets) else 0
        if not size or at + size > cut:
            break
        n, at = n + 1, at + size
    assert len(list(fields(whole[:at]))) == n
    check(path, p.truth[:n], is_whole=False)
    if at < cut:
        assert [r["count"] for r in rows(path, "health") if r["check"] == "truncated"] == ["1"]
