# SPDX-License-Identifier: Apache-2.0
"""Golden results: every bundled run through every analysis, as CSV in this folder.

<run>/<analysis>.csv holds the table as the program prints it. Long tables are cut after the first rows, and so are
long lines; a last line then holds the number of rows and a digest of the whole, so that nothing escapes.
"""
import hashlib
import pathlib
import subprocess

import support

HERE = pathlib.Path(__file__).resolve().parent
MAX_ROWS = 200
MAX_LINE = 6000
RUNS = {
    "cpu": ["examples/cpu"],
    "ddp": ["examples/ddp"],
    "graph": ["examples/graph"],
    "straggler": ["examples/straggler"],
    "train": ["examples/train"],
}
COMPARISONS = {"diff": ["examples/diff/control", "examples/diff/test"]}


def verbs():
    """{analysis: number of sets}, from the program itself."""
    import json
    said = json.loads(support.output("help", "--json"))
    return {verb["name"]: verb["n_sets"] for verb in said["verbs"] if verb["kind"] == "analysis"}


def items():
    """(run, analysis, traces) of every golden file."""
    return [(run, name, traces) for name, n_sets in verbs().items() if n_sets
            for run, traces in (RUNS if n_sets == 1 else COMPARISONS).items()]


def path_of(run, analysis):
    return HERE / run / f"{analysis}.csv"


def cut(table):
    """What is kept of a table: the first rows, of lists in their cells the beginning."""
    lines = table.splitlines(keepends=True)
    longest = max(map(len, lines), default=0)
    if len(lines) <= MAX_ROWS + 1 and longest <= MAX_LINE:
        return table
    digest = hashlib.sha256(table).hexdigest()
    kept = [line if len(line) <= MAX_LINE else line[:MAX_LINE].decode(errors="ignore").encode() + b"...\n"
            for line in lines[:MAX_ROWS + 1]]
    return b"".join(kept) + f"# {len(lines) - 1} lines, sha256 {digest}\n".encode()


def result(analysis, traces):
    """The program's answer now, or a note that says why there is none."""
    try:
        done = support.run(analysis, *traces, "--format", "csv", "--quiet", cwd=support.ROOT)
    except subprocess.TimeoutExpired:
        return b"# timeout\n"
    if done.returncode != 0:
        return b"# exit %d: %s" % (done.returncode, done.stderr)
    return cut(done.stdout)
