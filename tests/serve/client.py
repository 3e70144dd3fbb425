# SPDX-License-Identifier: Apache-2.0
"""A server for tests, and plain requests to it."""
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import urllib.parse

import pytest
import support


def quote(text):
    return urllib.parse.quote(text, safe="")


def cpu_seconds(pid):
    """Of all threads, those that have ended too; in steps of 10 ms."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Answer:
    def __init__(self, response, body):
        self.status, self.headers, self.body = response.status, response.headers, body

    def json(self):
        return json.loads(self.body)


class Server:
    """`holotrace serve` as a child; ends with the test."""

    def __init__(self, *args, port="0", preexec_fn=support.default_signals):
        self.started = time.monotonic()
        port = [] if port is None else ["--port", port]
        self.process = subprocess.Popen([support.EXE, "serve", *map(str, args), *port, "--rescan", "1"],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=support.environment(), preexec_fn=preexec_fn)
        line = self.process.stdout.readline().decode()
        self.seconds_to_url = time.monotonic() - self.started
        if not line:
            self.error = self.process.stderr.read().decode()
            self.code = self.process.wait(60)
            self.process.stdout.close()
            self.process.stderr.close()
            if "has no web server" in self.error:
                pytest.skip(self.error)
            return
        self.url = line.strip()
        self.port = int(re.search(r":(\d+)/", self.url)[1])

    def ask(self, path, method="GET", body=None, host=None, timeout=60, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if host is not None:
            headers["Host"] = host
        try:
            connection.request(method, path, body=body, headers=headers)
            response = connection.getresponse()
            return Answer(response, response.read())
        finally:
            connection.close()

    def runs(self, **query):
        return self.ask("/api/v1/runs" + ("?" + urllib.parse.urlencode(query) if query else "")).json()

    def until(self, holds, seconds=60, every=0.03):
        """The runs, as soon as something holds of them. Each look costs the server time for all files that it has."""
        last = None

        def held():
            nonlocal last
            last = self.runs()
            return last if holds(last) else None

        try:
            return support.wait_until(held, seconds, every)
        except AssertionError:
            raise AssertionError(f"never held; the last answer was {json.dumps(last, indent=1)}") from None

    def ready(self):
        """The runs when everything is read and checked."""
        return self.until(lambda runs: not runs["scanning"] and runs["runs"] and all(
            run["state"] in ("ready", "failed") and (run["state"] == "failed" or run["health"]["level"] != "unknown")
            for run in runs["runs"]))

    def table(self, run, verb, **query):
        return self.ask(f"/api/v1/runs/{quote(run)}/table/{verb}?" + urllib.parse.urlencode(query, doseq=True))

    def raw(self, data, seconds=5):
        """What comes back for raw bytes, until the server closes or is silent."""
        got = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as connection:
            with contextlib.suppress(OSError):
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                while part := connection.recv(65536):
                    got += part
        return got

    def stop(self, number=signal.SIGINT):
        """The exit status, and what it said."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said.decode()


@contextlib.contextmanager
def serving(*args, **options):
    server = Server(*args, **options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            code, said = server.stop()
            assert code == 0, said
            assert "ERROR: AddressSanitizer" not in said and "runtime error" not in said, said
