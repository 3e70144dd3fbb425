# SPDX-License-Identifier: Apache-2.0
"""What programs use: processor seconds, peak resident bytes, exit code, and what they say to standard error.

A process begins its peak where the process that started it stood, so whatever measures must itself be small; a test
runner that has been at work for minutes is not. So this file is also a program, which runs commands for a Meter: a line
of JSON in, the words of a command; a line out. One does for all commands: to start one costs more than most of them.
"""
import json
import os
import subprocess
import sys
import tempfile

#: Four times as much may take so many times as long; the square would be 16.
FACTOR = 8


class Meter:
    """Runs commands, one after the other, from a small process."""

    def __init__(self, env=None):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen([sys.executable, "-I", "-S", __file__], env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors, text=True)

    def measure(self, command):
        """(processor seconds, peak resident bytes, exit code, message)."""
        self.errors.seek(0)
        self.errors.truncate()
        self.process.stdin.write(json.dumps([os.fspath(word) for word in command]) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        self.errors.seek(0)
        message = self.errors.read().decode(errors="replace")
        assert answer, message
        return *json.loads(answer), message

    def close(self):
        self.process.communicate()
        self.errors.close()


def is_linear(seconds, again, small, least=0.05):
    """Are the processor seconds of four times as much those that it may take? `again` measures it once more and `small` a quarter of it,
    where that is needed: below `least` what a quarter takes is noise. What else a machine does makes a run longer, never shorter,
    and what grows too fast does so each time."""
    if seconds < FACTOR * least:
        return True
    most = FACTOR * max(min(small() for _ in range(3)), least)
    return seconds < most or any(again() < most for _ in range(5))


def run(words):
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execv(words[0], words)
    _, status, usage = os.wait4(pid, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)
