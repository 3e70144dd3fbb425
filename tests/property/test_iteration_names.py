# SPDX-License-Identifier: Apache-2.0
"""Annotations of serving engines, made up from their grammars: what `iterations` reads of each is what went into it."""
import csv
import io
import json
import random

import pytest

from support import output


def sums(pick, kv):
    return f"(sq{pick.randrange(9999)}sk{kv}sqsq{pick.randrange(9999)}sqsk{pick.randrange(9999)})"


def vllm(pick, c, g, tokens_c, tokens_g, kv):
    return f"execute_context_{c}({tokens_c})_generation_{g}({tokens_g})", c + g, tokens_c + tokens_g, None


def vllm_detailed(pick, c, g, tokens_c, tokens_g, kv):
    return f"execute_{tokens_c + tokens_g}_context_{c}{sums(pick, 7)}_generation_{g}{sums(pick, kv)}", c + g, tokens_c + tokens_g, kv


def sglang(pick, c, g, tokens_c, tokens_g, kv):
    if c and g:
        return f"step[MIXED bs={c + g} c={c} g={g} toks={tokens_c + tokens_g}]", c + g, tokens_c + tokens_g, None
    return (f"step[EXTEND bs={c} toks={tokens_c}]", c, tokens_c, None) if c else (f"step[DECODE bs={g}]", g, g, None)


def atom(pick, c, g, tokens_c, tokens_g, kv):
    if c:
        return f"prefill[bs={c} tok={tokens_c} ctx=[{', '.join(str(pick.randrange(99)) for _ in range(c))}]]", c, tokens_c, None
    return f"decode[bs={g}/{g + pick.randrange(9)} tok={g} d={g}]", g, g, None


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("engine", [vllm, vllm_detailed, sglang, atom])
def test_what_is_read_is_what_was_written(tmp_path, engine, seed):
    pick = random.Random(seed)
    events, wanted = [], []
    for i in range(80):
        c, g = pick.choice([(0, 1), (1, 0), (1, 1)] if engine is not atom else [(0, 1), (1, 0)])
        c, g = c * pick.randrange(1, 300), g * pick.randrange(1, 300)
        tokens_c, tokens_g, kv = c and c * pick.randrange(1, 5000), g, g and g * pick.randrange(1, 5000)
        name, requests, tokens, kv = engine(pick, c, g, tokens_c, tokens_g, kv)
        events.append({"ph": "X", "cat": "user_annotation", "name": name, "pid": 9, "tid": 9, "ts": 100 * i, "dur": 50})
        wanted.append((name, "decode" if not c else "prefill" if not g else "mixed", str(requests), str(tokens), kv))
    # near misses are of no grammar
    events += [{"ph": "X", "cat": "user_annotation", "name": name.rstrip(")]"), "pid": 9, "tid": 9, "ts": 100 * i + 60, "dur": 5}
               for i, (name, *_) in enumerate(wanted)]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    rows = list(csv.DictReader(io.StringIO(output("iterations", path, "--view", "list", "--format", "csv").decode())))
    assert [(r["name"], r["phase"], r["requests"], r["tokens"]) for r in rows] == [row[:4] for row in wanted]
    phases = {r["phase"]: r for r in csv.DictReader(io.StringIO(output("iterations", path, "--format", "csv").decode()))}
    for phase in {row[1] for row in wanted}:
        of = [row for row in wanted if row[1] == phase]
        assert int(phases[phase]["tokens"]) == sum(int(row[3]) for row in of) and int(phases[phase]["iterations"]) == len(of)
        if engine is vllm_detailed:
            assert int(phases[phase]["kv_tokens"]) == sum(row[4] for row in of)
