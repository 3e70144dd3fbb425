# SPDX-License-Identifier: Apache-2.0
"""A client of the Model Context Protocol over the program's standard input and output, for the tests."""
import json
import subprocess

import support

VERSION = "2025-06-18"


class Client:
    def __init__(self, *args, version=VERSION, greets=True):
        self.process = subprocess.Popen(
            [support.EXE, "mcp", *map(str, args)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=support.environment(), preexec_fn=support.default_signals)
        self.n = 0
        self.heard = []  # notifications, and answers that nobody waits for yet
        if greets:
            self.welcome = self.ask("initialize", protocolVersion=version, capabilities={},
                                    clientInfo={"name": "tests", "version": "1"})["result"]
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.rest = self.process.stdout.read()
        self.errors = self.process.stderr.read().decode()
        self.code = self.process.wait(timeout=60)
        self.process.stdout.close()
        self.process.stderr.close()

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.write(json.dumps(message).encode() + b"\n")

    def receive(self):
        line = self.process.stdout.readline()
        assert line, "the server ended"
        self.size = len(line)
        return json.loads(line)

    def start(self, method, **params):
        self.n += 1
        self.send({"jsonrpc": "2.0", "id": self.n, "method": method, "params": params})
        return self.n

    def wait(self, number):
        for i, message in enumerate(self.heard):
            if message.get("id") == number and "method" not in message:
                return self.heard.pop(i)
        while True:
            message = self.receive()
            if message.get("id") == number and "method" not in message:
                return message
            self.heard.append(message)

    def ask(self, method, **params):
        return self.wait(self.start(method, **params))

    def call(self, tool, **arguments):
        """The result of a tool, which must not be an error of the protocol."""
        answer = self.ask("tools/call", name=tool, arguments=arguments)
        assert "result" in answer, answer
        return answer["result"]


def text_of(result):
    return "\n".join(part["text"] for part in result["content"] if part["type"] == "text")
