# SPDX-License-Identifier: Apache-2.0
"""What the program says about a simulated run (runs.py), held against its truth: by cells, never by sentences."""
import csv
import io
import os
import pathlib
import subprocess

PROGRAM = os.environ.get("HOLOTRACE", str(pathlib.Path(__file__).parents[2] / "build/holotrace"))
# how far the cost of a slow set may be off: of it, and in microseconds
COST_SHARE, COST_US = 0.15, 60.0


def ask(verb, *arguments, whole=True):
    chosen = ["--step", "all"] if whole else []
    out = subprocess.run([PROGRAM, verb, *map(str, arguments), *chosen, "--format", "csv", "--no-cache", "--quiet"],
                         stdout=subprocess.PIPE, text=True, check=verb != "gate").stdout
    return list(csv.DictReader(io.StringIO(out)))


def number(text):
    return float(text) if text not in ("", None) else None


def judge(run, folder):
    """Sentences about what is wrong; none: right."""
    run.job.write(folder, **run.write)
    truth, wrong = run.truth, []
    summary = {row["topic"]: row for row in ask("summary", folder)}
    advice = ask("advice", folder)
    if "slow" in truth:
        wrong += judge_ranks(truth, folder, summary, advice)
    if "bound" in truth:
        wrong += judge_bound(truth, summary)
    fired = {row["rule"]: row for row in advice}
    wrong += [f"advice {rule} is missing: {list(fired)}" for rule in truth.get("advice", []) if rule not in fired]
    wrong += [f"advice {rule} is wrong" for rule in truth.get("not_advice", []) if rule in fired]
    wrong += [f"{row['rule']} advises {words}" for words in truth.get("no_words", []) for row in advice if words in row["advice"]]
    if "slow_steps" in truth:
        wrong += judge_slow_steps(truth, summary)
    if "saves_most_us" in truth:
        saves = max([number(row["saves_ns"]) or 0 for row in summary.values()])
        costs = max([number(row["cost_ns"]) or 0 for row in advice], default=0)
        if max(saves, costs) > 1e3 * truth["saves_most_us"]:
            wrong.append(f"saves {saves / 1e3} us, costs {costs / 1e3}")
    return wrong


def judge_ranks(truth, folder, summary, advice):
    wrong, slow = [], summary["slow rank"]
    ranks = ask("stragglers", folder)
    found = sorted(int(row["rank"]) for row in ranks if row["candidate"] == "true")
    fired = {row["rule"]: row for row in advice}
    if truth["slow"] is None:
        if found:
            wrong.append(f"candidates {found}, where a rank is missing")
        if slow["state"] == "found" or number(slow["value_ns"]) is not None:
            wrong.append(f"summary says {slow['state']}, where a rank is missing")
        return wrong
    if found != truth["slow"]:
        return [f"candidates {found}, not {truth['slow']}"]
    if not found:
        wrong += [f"advice {rule}: {fired[rule]['finding']}" for rule in ("slow-rank", "late-votes") if rule in fired]
        if number(slow["value_ns"]) is not None:
            wrong.append(f"summary: {slow['finding']}")
        return wrong
    us = truth["cost_us"]
    most_us = truth.get("at_most_us", us)
    for where, cell in (("summary", slow["value_ns"]), ("advice", fired.get("slow-rank", {}).get("cost_ns")),
                        ("stragglers", max((number(row["step_cost_ns"]) or 0 for row in ranks), default=0))):
        value = number(cell)
        least, most = us - max(COST_SHARE * us, COST_US), most_us + max(COST_SHARE * most_us, COST_US)
        if value is None or not least <= value / 1e3 <= most:
            wrong.append(f"{where}: {cell and value / 1e3} us a step, not {us:.1f}")
    for row in ranks:
        if row["candidate"] != "true":
            continue
        if truth.get("cause") and row["cause_name"] not in truth["cause"]:
            wrong.append(f"rank {row['rank']}: cause {row['cause_name']!r}, not {truth['cause']}")
        if "late_steps" in truth and abs(int(row["late_steps"]) - truth["late_steps"]) > 1:
            wrong.append(f"rank {row['rank']} late in {row['late_steps']}, not {truth['late_steps']}")
    return wrong


def judge_bound(truth, summary):
    row = summary["bound by"]
    return [] if row["subject"] in truth["bound"] else [f"bound by {row['subject']!r} ({row['share']}), not {truth['bound']}"]


def judge_slow_steps(truth, summary):
    return [] if "slow steps" in summary else [f"slow steps {truth['slow_steps']} were not found"]
