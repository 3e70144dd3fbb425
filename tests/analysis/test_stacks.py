# SPDX-License-Identifier: Apache-2.0
"""Stacks of more names than anyone reads."""
from tiny import rows


def test_beyond_the_largest_stacks_are_one_row(tmp_path):
    n_names, most = 65_600, 65_536
    with open(tmp_path / "a.json", "w", encoding="utf-8") as file:
        file.write('{"traceEvents": [')
        file.write(",\n".join(f'{{"ph": "X", "cat": "cpu_op", "name": "op{i}", "pid": 1, "tid": 1, "ts": {10 * i}, '
                              f'"dur": {1 + (i % 7 != 0)}}}' for i in range(n_names)))
        file.write("]}")
    found, everything = rows("stacks", tmp_path / "a.json"), rows("stacks", tmp_path / "a.json", "--all-rows")
    assert len(found) == most + 1 and len(everything) == n_names
    assert found[:most] == everything[:most]
    assert found[-1]["stack"] == "others" and int(found[-1]["count"]) == n_names - most
    # the shortest are left: those of 1 us
    assert int(found[-1]["self_ns"]) == 1000 * (n_names - most)
    assert sum(int(r["self_ns"]) for r in found) == sum(int(r["self_ns"]) for r in everything)
    assert [r["stack"] for r in everything[:3]] == ["op1", "op10", "op100"]


def test_modules_deeper_than_any_are_counted_with_those_around_them(tmp_path):
    n, most = 4_200, 4_096
    with open(tmp_path / "a.json", "w", encoding="utf-8") as file:
        file.write('{"traceEvents": [')
        file.write(",\n".join(f'{{"ph": "X", "cat": "python_function", "name": "nn.Module: M_{i}", "pid": 1, "tid": 1, '
                              f'"ts": {i}, "dur": {3 * n - 2 * i}}}' for i in range(n)))
        file.write("]}")
    found = rows("modules", tmp_path / "a.json")
    assert len(found) == most and max(int(r["depth"]) for r in found) == most
    assert sum(int(r["host_self_ns"]) for r in found) == 3 * n * 1000
    (deepest,) = [r for r in found if int(r["depth"]) == most]
    # 2 us of each module are its own; of the innermost all
    assert int(deepest["host_self_ns"]) == int(deepest["host_total_ns"]) == (3 * n - 2 * (most - 1)) * 1000
