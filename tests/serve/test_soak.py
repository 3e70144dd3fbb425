# SPDX-License-Identifier: Apache-2.0
"""Requests of every kind, for as long as is affordable: memory and open files stay where they were."""
import contextlib
import json
import os
import pathlib
import random
import shutil
import socket
import time

import pytest
import support

from client import quote, serving

EXAMPLES = support.ROOT / "examples"
#: How long in `make nightly`, and how many requests otherwise.
SECONDS, REQUESTS = 600, 200


def measure(pid):
    """Resident bytes that are not files' own, and open files."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return int(fields["RssAnon"].split()[0]) << 10, len(os.listdir(f"/proc/{pid}/fd"))


def open_files(server):
    """What is open when no client is connected any more: who leaves in the middle of a request is waited for some seconds."""
    fds = pathlib.Path(f"/proc/{server.process.pid}/fd")
    with contextlib.suppress(OSError):
        names = [os.readlink(fd) for fd in fds.iterdir()]
        if sum(name.startswith("socket:") for name in names) <= 1:
            return names
    return None


def files_at_rest(server):
    """The fewest that are open within a second: the server looks at its folder, and writes its cache, whenever it wants."""
    end, fewest = time.monotonic() + 1, len(support.wait_until(lambda: open_files(server), 30))

    def looked_enough():
        """a second is over"""
        nonlocal fewest
        fewest = min(fewest, len(open_files(server) or range(fewest)))
        return time.monotonic() > end

    support.wait_until(looked_enough, 30, every=0.02)
    return fewest


def wait_for_rest(server, most):
    """Until no more files are open than before: what leaks is never closed. Fewer is what was open for a moment before."""
    names = None

    def is_at_rest():
        nonlocal names
        names = open_files(server)
        return names is not None and len(names) <= most

    try:
        support.wait_until(is_at_rest, 30, every=0.02)
    except AssertionError:
        raise AssertionError(f"{most} files were open, now {names}") from None


class Mixture:
    """One request of some kind, whatever comes back; a server error counts."""

    def __init__(self, server, runs, seed):
        self.server, self.runs, self.random = server, runs, random.Random(seed)
        self.verbs = [a["name"] for a in server.ask("/api/v1/analyses").json()["analyses"]]
        self.n, self.codes = 0, {}

    def ask(self, path, *args, **options):
        answer = self.server.ask(path, *args, **options)
        self.codes[answer.status] = self.codes.get(answer.status, 0) + 1
        # 503: still reading, or a limit of one answer
        assert answer.status < 500 or answer.status == 503, (path, answer.body[:300])

    def table(self, run):
        query = self.random.choice(["", "?top=5", "?format=csv", "?format=arrow", "?step=all", "?where=)(", "?sort=-nothing", "?rank=0"])
        self.ask(f"/api/v1/runs/{run}/table/{self.random.choice(self.verbs)}{query}")

    def sql(self, run):
        text = self.random.choice(["select count(*) from events", "select name, sum(dur) from gpu group by 1", "select", "select * from steps",
                                   "with recursive a(i) as (select 1 union all select i + 1 from a limit 100000) select max(i) from a"])
        self.ask(f"/api/v1/runs/{run}/sql", "POST", json.dumps({"query": text}))

    def other(self, run):
        self.ask(self.random.choice(["/", "/api/v1/runs", f"/api/v1/runs/{run}/nothing", "/%00", "/api/v1/runs/%ff/table/steps", "/api/v1/openapi.json",
                                     f"/api/v1/runs/{run}/tracks", f"/api/v1/runs/{run}/search?text=a",
                                     f"/api/v1/runs/{run}/tile?from=0&to=1000000000&pixels=100", f"/api/v1/runs/{run}/event?id=0"]))

    def cut(self, _):
        """A client who leaves in the middle."""
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.server.port), timeout=5) as connection:
            head = b"POST /api/v1/runs/ddp/sql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{}"
            connection.sendall(head[:self.random.randrange(len(head))])

    def rescan(self, _):
        self.ask("/api/v1/rescan", "POST", "")

    def step(self):
        kind = self.random.choices([self.table, self.sql, self.other, self.cut, self.rescan], [60, 15, 15, 9, 1])[0]
        kind(quote(self.random.choice(self.runs)))
        self.n += 1


@pytest.mark.skipif(support.is_sanitized(), reason="sanitizers keep memory that was freed")
def test_memory_and_files_stay(tmp_path):
    shutil.copytree(EXAMPLES / "ddp", tmp_path / "logs" / "ddp")
    with serving(tmp_path / "logs", "-r") as server:
        runs = [run["id"] for run in server.ready()["runs"]]
        files_before = files_at_rest(server)
        mixture = Mixture(server, runs, 1)
        # answers up to their limit, timelines and what threads keep are there after a while
        begin = time.monotonic()
        while time.monotonic() - begin < SECONDS / 2 if support.LONG else mixture.n < REQUESTS / 2:
            mixture.step()
        before, _ = measure(server.process.pid)
        files_before = min(files_before, files_at_rest(server))
        while time.monotonic() - begin < SECONDS if support.LONG else mixture.n < REQUESTS:
            mixture.step()
        after, _ = measure(server.process.pid)
        print(f"{mixture.n} requests, {before >> 20} to {after >> 20} MiB, {files_before} files before, {mixture.codes}")
        assert mixture.n >= REQUESTS and mixture.codes.get(200)
        wait_for_rest(server, files_before)
        # answers are kept up to 128 MiB, so a short run may still gather them
        assert after < before + (32 << 20 if support.LONG else 160 << 20)
