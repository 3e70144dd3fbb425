# SPDX-License-Identifier: Apache-2.0
"""What one answer of `holotrace serve` costs: processor seconds and peak resident bytes of a server that has read a trace."""
import json
import os
import pathlib
import subprocess
import time
import urllib.error
import urllib.request

#: Routes that are no tables, with questions that look at all of a trace.
ROUTES = ("runs", "tracks", "tile?rank=0&level=40&index=0", "tile?rank=0&level=20&index=0", "search?q=zzz", "range?from=0&to=1000000000000",
          "event?id=0:0", "flows?id=0:0", "overlay?name=queue-length&rank=0", "sql?select count(*) from events where name like '%7%'")


def cpu_seconds(pid):
    """Of all threads, those that have ended too; in steps of 10 ms."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_bytes(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    return 0


def ask(url, body=None):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data=body), timeout=300) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def until_ready(url, seconds=300):
    """The id of the run when all of it is read and checked."""
    end, after = time.monotonic() + seconds, ""
    while time.monotonic() < end:
        state = json.loads(ask(url + "api/v1/runs" + after)[1])
        if not state["scanning"] and state["runs"] and state["runs"][0]["state"] in ("ready", "failed"):
            if state["runs"][0]["health"]["level"] != "unknown":
                return state["runs"][0]["id"]
        after = f"?after={state['generation']}"
    raise TimeoutError(url)


def measure_route(exe, path, cache, route):
    """[processor seconds, peak resident bytes, exit code]: the code is 4 where the answer is a refusal."""
    server = subprocess.Popen([exe, "serve", path, "--port", "0", "--jobs", "1", "--cache-dir", cache],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        url = server.stdout.readline().strip()
        run = until_ready(url)
        before = cpu_seconds(server.pid)
        name, _, query = route.partition("?")
        if name == "runs":
            status, _ = ask(url + "api/v1/runs")
        elif name == "sql":
            status, _ = ask(f"{url}api/v1/runs/{run}/sql", json.dumps({"query": query}).encode())
        else:
            status, _ = ask(f"{url}api/v1/runs/{run}/{route}")
        return [cpu_seconds(server.pid) - before, peak_bytes(server.pid), 0 if status == 200 else 4]
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()
