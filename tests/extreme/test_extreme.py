"""No number in a file, however large, makes arithmetic overflow: every verb and option on extreme traces.

Under `make sanitize` the program reports signed overflow, bad shifts and conversions itself, and any report fails
here. Without sanitizers the test still sees crashes, hangs and exit codes that are none of ours.
"""
import json
import os

import pytest

import extreme
import support

N_TRACES = int(os.environ.get("HOLOTRACE_EXTREME_TRACES", "1"))
SEED = os.environ.get("HOLOTRACE_EXTREME_SEED", "1")
TRACES = list(extreme.traces(SEED, N_TRACES))
LINES = list(extreme.command_lines())


def check(folder, verb, n_sets, options, paths):
    arguments = [paths[0]] * 2 if n_sets == 2 else paths
    if verb == "gate":
        arguments = ["--base", paths[0], "--test", paths[0]]
    done = support.run(verb, *arguments, *options, "--no-cache", "--format", "csv", cwd=folder, timeout=120,
                       env={"UBSAN_OPTIONS": "print_stacktrace=1"})
    text = done.stderr.decode(errors="replace")
    line = " ".join([verb, *options])
    assert "runtime error" not in text and "AddressSanitizer" not in text, f"{line}: {text[:3000]}"
    assert done.returncode in (0, 2, 3, 4), f"{line}: exit {done.returncode}: {text[:3000]}"


@pytest.mark.parametrize("name, document", TRACES, ids=[name for name, _ in TRACES])
def test_every_verb(tmp_path, name, document):
    """As a file of its own, and as one of two ranks with clocks of their own."""
    (tmp_path / "a.json").write_text(json.dumps(document))
    other = dict(document, distributedInfo={"rank": 1, "world_size": 2}, baseTimeNanoseconds=1 << 60)
    (tmp_path / "b.json").write_text(json.dumps(other))
    for i, (verb, n_sets, options) in enumerate(LINES):
        check(tmp_path, verb, n_sets, options, ["a.json", "b.json"] if i % 2 else ["a.json"])


@pytest.mark.parametrize("verb", sorted({verb for verb, _, _ in LINES}))
def test_sums_beyond_64_bits(tmp_path_factory, verb):
    folder = tmp_path_factory.getbasetemp()
    if not (folder / "long.json").exists():
        (folder / "long.json").write_text(json.dumps(extreme.long_run()))
    n_sets = {v: n for v, n, _ in LINES}[verb]
    for options in ([], ["--hta-compat"]):
        check(folder, verb, n_sets, options, ["long.json"])
