# SPDX-License-Identifier: Apache-2.0
"""The prompt of `holotrace sql`, at a terminal of its own."""
import fcntl
import os
import pathlib
import pty
import select
import subprocess
import termios
import time

import pytest

import support

#: Whether lines are edited: libedit reads key by key, the terminal alone hands lines over.
EDITS = b"libedit.so" in pathlib.Path(support.EXE).read_bytes()
TRAIN = support.ROOT / "examples" / "train" / "train.json.gz"


def own_terminal():
    """In the child: what is typed at its standard input becomes its signals."""
    support.default_signals()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """The program behind a pseudo-terminal."""

    def __init__(self, home):
        self.master, slave = pty.openpty()
        env = support.environment(HOME=str(home), XDG_STATE_HOME=str(home / "state"), TERM="dumb", COLUMNS="100")
        self.program = subprocess.Popen([support.EXE, "sql", TRAIN], stdin=slave, stdout=slave, stderr=slave, env=env,
                                        start_new_session=True, preexec_fn=own_terminal)
        os.close(slave)

    def until(self, text, seconds=20):
        """What is shown up to a text."""
        shown, end = "", time.monotonic() + seconds
        while text not in shown:
            left = end - time.monotonic()
            assert left > 0, f"{text!r} did not come in {shown!r}"
            if select.select([self.master], [], [], left)[0]:
                shown += os.read(self.master, 4096).decode(errors="replace")
        return shown

    def is_canonical(self):
        """Does the terminal hand over whole lines, as it does while nobody edits one?"""
        return bool(termios.tcgetattr(self.master)[3] & termios.ICANON)

    def seconds_used(self):
        """What the program has computed so far."""
        words = pathlib.Path(f"/proc/{self.program.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def interrupt(self):
        """Ctrl-C while a query computes."""
        before = self.seconds_used()
        support.wait_until(lambda: self.is_canonical() and self.seconds_used() > before + 0.1)
        os.write(self.master, b"\x03")

    def say(self, text):
        """As people do: the line editor takes the terminal over after its prompt is shown, and what is typed before that
        counts as text."""
        if EDITS:
            support.wait_until(lambda: not self.is_canonical())
        os.write(self.master, text.encode())


@pytest.fixture
def terminal(tmp_path):
    if b"no databases" in support.output("version"):
        pytest.skip("the program was built without SQLite")
    terminal = Terminal(tmp_path)
    terminal.until("sql> ")
    yield terminal
    if terminal.program.poll() is None:
        terminal.program.kill()
    terminal.program.wait()
    os.close(terminal.master)


def test_statements_and_commands(terminal):
    terminal.say("SELECT 40 +\n")
    terminal.until("...> ")
    terminal.say("2 AS answer;\n")
    assert "42" in terminal.until("sql> ")
    terminal.say(".schema ranks\n")
    assert "rank of the trace" in terminal.until("sql> ")
    terminal.say("SELECT * FROM gpus;\n")
    assert "Did you mean gpu" in terminal.until("sql> ")
    terminal.say(".quit\n")
    assert terminal.program.wait(20) == 0


def test_ctrl_c_ends_the_query_and_not_the_prompt(terminal):
    terminal.say("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n;\n")
    terminal.interrupt()
    assert "cancelled" in terminal.until("sql> ")
    terminal.say("SELECT 6 * 7 AS answer;\n")
    assert "42" in terminal.until("sql> ")
    terminal.say("\x04")
    assert terminal.program.wait(20) == 0


def test_completion_and_history(tmp_path):
    if b"no databases" in support.output("version"):
        pytest.skip("the program was built without SQLite")
    if not EDITS:
        pytest.skip("the program was built without libedit")
    for start in range(2):
        terminal = Terminal(tmp_path)
        terminal.until("sql> ")
        if start == 0:
            terminal.say("SELECT 1,human_\t")
            terminal.until("1,human_ns(")
            terminal.say("5) AS n, min(b.idle_s\t")
            terminal.until("b.idle_share")
            terminal.say(") AS least FROM temporal_b\t")
            terminal.until("temporal_breakdown")
            terminal.say("b;\n")
        else:
            # the last but one of the former time: what was typed, without what came twice
            terminal.say("\x1b[A\x1b[A\n")
        assert "least" in terminal.until("\nsql> ").split("Query", 1)[1]
        terminal.say(".help\n")
        terminal.until("sql> ")
        terminal.say(".help\n")
        terminal.until("sql> ")
        terminal.say("\x04")
        assert terminal.program.wait(20) == 0
        os.close(terminal.master)
