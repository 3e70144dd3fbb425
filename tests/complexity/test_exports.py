# SPDX-License-Identifier: Apache-2.0
"""Time grows with an export of Nsight Systems, however many processes, devices or names of it there are."""
import sqlite3

import pytest

import support
from meter import Meter, is_linear


@pytest.fixture(name="meter", scope="module")
def small_process():
    if b"SQLite" not in support.output("version"):
        pytest.skip("skipped: built without SQLite")
    meter = Meter(support.environment())
    yield meter
    meter.close()


def export(path, n_processes, n_kernels):
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
    db.execute("INSERT INTO StringIds VALUES (1, 'k')")
    db.execute('CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, "end", deviceId, streamId, correlationId, globalPid, demangledName)')
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 7, ?, ?, 1)",
                   ((10 * i, 10 * i + 5, i, (i % n_processes + 1) << 24) for i in range(n_kernels)))
    db.commit()
    db.close()
    return path


def seconds(meter, path, code):
    used, memory, got, message = meter.measure([support.EXE, "info", path, "--jobs", "1", "--no-cache"])
    assert got == code, message
    assert memory < 96 << 20
    return used, message


@pytest.mark.skipif(support.is_sanitized(), reason="sanitizers cost time and memory of their own")
def test_processes(meter, tmp_path):
    small, large = (export(tmp_path / f"{n}.sqlite", n, 32_000) for n in (2_000, 32_000))
    first, message = seconds(meter, small, 4)
    assert "2000 processes with GPU activity, more than the 256" in message and f"{small}#1" in message
    # of the same rows; what grows with the number of processes alone is below what is noticed
    assert is_linear(seconds(meter, large, 4)[0], lambda: seconds(meter, large, 4)[0], lambda: first)
    # the first has the rows of those that are no rank besides, the last has not
    for pid in (1, 2_000):
        one, other = f"{small}#{pid}", f"{large}#{pid}"
        assert is_linear(seconds(meter, other, 0)[0], lambda: seconds(meter, other, 0)[0], lambda: seconds(meter, one, 0)[0])
    count = support.output("sql", f"{small}#7", "SELECT count(*), sum(dur_ns) FROM events WHERE cat = 'kernel'", "--format", "csv", "--no-cache")
    assert count.split()[-1] == b"16,80"


@pytest.mark.skipif(support.is_sanitized(), reason="sanitizers cost time and memory of their own")
def test_devices(meter, tmp_path):
    paths = []
    for n in (5_000, 20_000):
        path = export(tmp_path / f"devices{n}.sqlite", 1, 10)
        db = sqlite3.connect(path)
        db.execute("CREATE TABLE TARGET_INFO_GPU (id, name, smCount)")
        db.execute("CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid)")
        db.executemany("INSERT INTO TARGET_INFO_GPU VALUES (?, 'NVIDIA H100', 132)", ((i,) for i in range(n)))
        db.executemany("INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (?, ?, 1)", ((i, i) for i in range(n)))
        db.commit()
        db.close()
        paths.append(path)
    assert is_linear(seconds(meter, paths[1], 0)[0], lambda: seconds(meter, paths[1], 0)[0], lambda: seconds(meter, paths[0], 0)[0])
