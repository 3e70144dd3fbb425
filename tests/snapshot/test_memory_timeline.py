# SPDX-License-Identifier: Apache-2.0
"""Memory timelines of the profiler: the raw file and the one that export_memory_timeline sums up have the same rows.

Both were written by one run. The oracle is the summed file itself, and for times Python's own division.
"""
import csv
import gzip
import io
import json
import pathlib
import random

import support

SUMMED = pathlib.Path(__file__).parent / "data" / "memory_timeline.json.gz"
RAW = support.ROOT / "examples" / "memory" / "memory_timeline.raw.json.gz"


def rows(path, view="rows"):
    text = support.output("memory-timeline", "--no-cache", "--view", view, "--format", "csv", path).decode()
    return list(csv.reader(io.StringIO(text)))[1:]


def test_both_forms_have_the_same_rows():
    times, sums = json.loads(gzip.decompress(SUMMED.read_bytes()))
    wanted = [["0", str(time), *map(str, row[1:])] for time, row in zip(times, sums)]
    assert rows(SUMMED) == wanted
    assert rows(RAW) == wanted


def test_times_are_divided_as_python_divides(tmp_path):
    rng = random.Random(8)
    times = sorted({rng.getrandbits(rng.randrange(11, 62)) for _ in range(2000)} | {1000, 1001, 1999, 2**53, 2**53 + 1})
    path = tmp_path / "x.raw.json"
    path.write_text(json.dumps([[time, 2, 512, 7] for time in times]))
    wanted = []
    for time in times:
        if int(time / 1000) not in wanted[-1:]:
            wanted.append(int(time / 1000))
    assert [int(row[1]) for row in rows(path)] == wanted


def test_rows_without_a_change_stay(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps([[5, 5, 9, 12], [[0, 1, 0, 0, 0, 0, 0, 0, 0]] * 3 + [[0, 0, 0, 0, 0, 7, 0, 0, 0]]]))
    assert rows(path) == [["0", "5", "1", *"0000000"], ["0", "5", "1", *"0000000"], ["0", "9", "1", *"0000000"],
                          ["0", "12", "0", "0", "0", "0", "7", "0", "0", "0"]]
    assert rows(path, "summary")[-1][2:4] == ["total", "7"]


def test_what_does_not_fit_is_an_error(tmp_path):
    path = tmp_path / "x.json"
    for text in ("[[1, 2], [[0, 1, 2, 3, 4, 5, 6, 7, 8]]]", "[[1], [[0, 1, 2]]]", "[[1], [[0, 1, 2, 3, 4, 5, 6, 7, 8]]",
                 "[[-5], [[0, 1, 2, 3, 4, 5, 6, 7, 8]]]", "[[1], [[]]]"):
        path.write_text(text)
        done = support.run("memory-timeline", "--no-cache", path)
        assert done.returncode == 3 and b"not a memory timeline" in done.stderr, (text, done.stderr)


def test_a_folder_with_a_memory_timeline_is_opened(tmp_path):
    (tmp_path / "run.raw.json.gz").write_bytes(RAW.read_bytes())
    (tmp_path / "run.json.gz").write_bytes(SUMMED.read_bytes())
    text = support.output("memory-timeline", "--no-cache", "--format", "csv", tmp_path).decode()
    assert len(text.splitlines()) == 1 + 9  # one rank: the summed form of the same timeline is left out
    assert text == support.output("memory-timeline", "--no-cache", "--format", "csv", RAW).decode()
