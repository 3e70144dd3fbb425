# SPDX-License-Identifier: Apache-2.0
"""docs/cluster.md: what it tells to do in a job works as it stands there."""
import json
import os
import re
import subprocess

from support import EXE, ROOT, environment

GUIDE = (ROOT / "docs/cluster.md").read_text()


def write_ranks(folder, n):
    folder.mkdir()
    for rank in range(n):
        events = [{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "pid": 0, "tid": 7, "ts": 100 + rank, "dur": 5 + rank,
                   "args": {"device": 0, "stream": 7, "correlation": 1}}]
        (folder / f"rank{rank}.json.gz").write_text(
            json.dumps({"distributedInfo": {"rank": rank, "world_size": n}, "traceEvents": events}))


def test_options_come_after_the_analysis():
    """merge --partial VERB said that there is no such option."""
    for verb in ("part", "merge"):
        done = subprocess.run([EXE, verb, "--partial", "kernel-types", "x"], env=environment(), stderr=subprocess.PIPE, text=True)
        assert done.returncode == 2 and f"an analysis follows, then its options: holotrace {verb} VERB [options] " in done.stderr


def test_the_kubernetes_job(tmp_path):
    """Its script in a shell, once for each index, then the merge: the table of one process over all files."""
    job = re.search(r"```\n(apiVersion: batch/v1.*?)```", GUIDE, re.S)[1]
    n_jobs = int(re.search(r"completions: (\d+)", job)[1])
    script = re.search(r"args:\n +- \|\n(.*?)\n +volumeMounts", job, re.S)[1]
    merge = re.search(r"`(holotrace merge stragglers [^`]*)`", GUIDE)[1]
    traces = tmp_path / "traces"
    write_ranks(traces, 16 * n_jobs)
    env = dict(environment(), PATH=os.path.dirname(EXE) + ":" + os.environ["PATH"])

    def shell(text, **variables):
        return subprocess.run(["sh", "-c", text.replace("/traces", str(traces))], env=dict(env, **variables), check=True,
                              stdout=subprocess.PIPE).stdout

    for index in range(n_jobs):
        shell(script, JOB_COMPLETION_INDEX=str(index))
    merged = shell(merge + " --format csv")
    assert merged.count(b"\n") > 1
    assert merged == shell("holotrace stragglers /traces --format csv")
