# SPDX-License-Identifier: Apache-2.0
"""Time and memory grow with the file, not with its square: every verb on every hard shape, and on each a third of the options that
take other paths through the program, all of them with HOLOTRACE_LONG.

Coarse, for machines that do other things at the same time: processor time, a generous factor, and only what took
noticeably long is measured again at a quarter of the size. `make bench` measures large traces closely.
"""
import functools
import json

import pytest

import commands
import shapes
import support
from meter import is_linear

LARGE, SMALL = (60_000, 15_000) if support.LONG else (24_000, 6_000)
#: Processor seconds below which a command on the small trace is fast whatever it does.
LEAST = 0.05 if support.LONG else 0.02
#: Memory beside the store's; the program itself.
FIXED_BYTES = 48 << 20


class Trace:
    """A file of a shape, opened once, so that commands measure themselves and not the opening."""

    def __init__(self, meter, folder, shape, n):
        self.meter, self.path, self.cache = meter, folder / f"{shape}-{n}.json", folder / f"cache-{n}"
        shapes.write(shape, n, self.path)
        self.opening = self.measure(["load", self.path, "--jobs", "1", "--cache-dir", self.cache])
        self.store_bytes = sum(f.stat().st_size for f in self.cache.rglob("*") if f.is_file())

    def measure(self, words):
        return self.meter.measure([support.EXE, *words])

    def run(self, line):
        # what a run before found out would be read, not made
        for part in self.cache.glob("*.part-*"):
            part.unlink()
        paths = [self.path] * (2 if line[0] == "diff" else 1)
        if line[0] == "gate":
            paths = ["--base", self.path, "--test", self.path]
        return self.measure([line[0], *paths, *line[1:], "--jobs", "1", "--cache-dir", self.cache, "--format", "csv"])


@functools.lru_cache
def verbs():
    said = json.loads(support.output("help", "--json"))
    return [(v["name"], v["n_sets"]) for v in said["verbs"] if v["kind"] == "analysis" and v["n_sets"]]


def lines_of(shape):
    """Every plain verb; of the other lines those whose turn it is."""
    turn = 0
    for line in commands.command_lines(verbs()):
        turn += len(line) > 1
        if support.LONG or len(line) == 1 or (turn + list(shapes.ALL).index(shape)) % 3 == 0:
            yield line


@pytest.mark.skipif(support.is_sanitized(), reason="sanitizers cost time and memory of their own")
@pytest.mark.parametrize("shape", shapes.ALL)
def test_linear(shape, meter, tmp_path):
    large, small = Trace(meter, tmp_path, shape, LARGE), None
    assert large.opening[2] == 0, large.opening[3]
    assert large.store_bytes, "no cache file was written"

    def small_trace():
        nonlocal small
        small = small or Trace(meter, tmp_path, shape, SMALL)
        return small

    slow = []
    if large.opening[1] > 4 * large.store_bytes + FIXED_BYTES:
        slow.append(f"opening needs {large.opening[1] >> 20} MiB for {large.store_bytes >> 20} MiB")
    if not is_linear(large.opening[0], lambda: large.opening[0], lambda: small_trace().opening[0], LEAST):
        slow.append(f"opening takes {large.opening[0]:.2f} s")
    for line in lines_of(shape):
        seconds, memory, code, message = large.run(line)
        # HTA's row selection refuses ids that pair every row with every other
        assert code == 0 or (code == 4 and "--hta-compat" in line), f"{line}: exit {code}: {message!r}"
        if not is_linear(seconds, lambda: large.run(line)[0], lambda: small_trace().run(line)[0], LEAST):
            slow.append(f"{' '.join(line)} takes {seconds:.2f} s")
        store_bytes = large.store_bytes * (2 if line[0] in ("diff", "gate") else 1)
        if memory > 4 * store_bytes + FIXED_BYTES:
            slow.append(f"{' '.join(line)} needs {memory >> 20} MiB for {store_bytes >> 20} MiB")
    assert not slow, "; ".join(slow)


@pytest.mark.skipif(support.is_sanitized(), reason="sanitizers cost time and memory of their own")
@pytest.mark.parametrize("shape, verb", [("all_at_once", "what-if"), ("devices_and_streams", "collectives"), ("devices_and_streams", "advice")])
def test_many_of_one(shape, verb, meter, tmp_path):
    """Points of a thread that are all of one moment, and devices that take turns: it takes many until their square is noticed."""
    large = Trace(meter, tmp_path, shape, 5 * LARGE)
    seconds, _, code, message = large.run((verb,))
    assert code == 0, message
    assert is_linear(seconds, lambda: large.run((verb,))[0],
                     lambda: Trace(meter, tmp_path, shape, 5 * SMALL).run((verb,))[0], LEAST), f"{seconds:.2f} s"


@pytest.mark.skipif(support.is_sanitized(), reason="sanitizers cost time and memory of their own")
@pytest.mark.parametrize("view", ["graph", "edges", "events"])
def test_many_windows(view, meter, tmp_path):
    """A critical path for each of many steps: none of them may look at the whole trace."""
    large = Trace(meter, tmp_path, "named_steps", LARGE)
    line = ("critical-path", "--view", view)
    seconds, memory, code, message = large.run(line)
    assert code == 0, message
    # a table of edges has several rows for each event
    assert memory < 6 * large.store_bytes + FIXED_BYTES
    assert is_linear(seconds, lambda: large.run(line)[0],
                     lambda: Trace(meter, tmp_path, "named_steps", SMALL).run(line)[0], LEAST), f"{seconds:.2f} s"


def test_a_square_is_told_from_noise():
    """16 times as long for four times as much is too long each time; a machine that halts in one of three runs is none."""
    later = iter((1.6, 0.3))
    assert not is_linear(1.6, lambda: 1.6, lambda: 0.1)
    assert is_linear(1.6, lambda: next(later), lambda: 0.1)
    assert is_linear(0.7, lambda: 1.6, lambda: 0.1)
    assert is_linear(0.3, None, None), "what is fast needs no second look"
