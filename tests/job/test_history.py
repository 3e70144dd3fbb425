# SPDX-License-Identifier: Apache-2.0
"""`history`: runs in a store, change points by their definition, and which of them count.

The oracle finds change points by the definition of Hunter's algorithm, sum by sum; Apache Otava itself is asked where it is installed.
"""
import csv
import io
import math
import random
import sqlite3

import pytest

import support

DDP = support.ROOT / "examples" / "ddp"


def history(store, *args, code=0):
    done = support.run("history", str(store), *map(str, args), "--format", "csv")
    assert done.returncode == code or code is None, (done.returncode, done.stderr)
    return list(csv.DictReader(io.StringIO(done.stdout.decode())))


def store_of(folder, columns, labels=None, code=0, args=()):
    """The changes of series that are given as lists by name."""
    length = len(next(iter(columns.values())))
    labels = labels or [f"c{i}" for i in range(length)]
    with open(folder / "runs.csv", "w") as file:
        writer = csv.writer(file)
        writer.writerow(["label", *columns])
        for i in range(length):
            writer.writerow([labels[i], *("" if values[i] is None else repr(values[i]) for values in columns.values())])
    return history(folder / "store.db", "--import", folder / "runs.csv", *args, code=code)


# ---- the definition ----

def t_chance(t, df):
    """Two-sided, by integrating the density of Student's t (Simpson, after x = tan)."""
    if math.isinf(t):
        return 0.0
    scale = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
    low, high, n = math.atan(abs(t)), math.pi / 2, 20000
    total = 0.0
    for i in range(n + 1):
        angle = low + (high - low) * i / n
        cos = max(math.cos(angle), 1e-300)
        value = scale * (1 + (math.tan(angle) ** 2) / df) ** (-(df + 1) / 2) / cos ** 2 if cos > 1e-12 else 0.0
        total += value * (1 if i in (0, n) else 4 if i % 2 else 2)
    return 2 * total * (high - low) / n / 3


def statistics_of(left, right):
    n, m = len(left), len(right)
    before, after = sum(left) / n, sum(right) / m
    squares = sum((x - before) ** 2 for x in left) * (n - 1) / n + sum((x - after) ** 2 for x in right) * (m - 1) / m
    if n + m == 2:
        return 1.0
    error = math.sqrt(squares / (n + m - 2) * (1 / n + 1 / m))
    if error == 0:
        return math.nan if before == after else 0.0
    return t_chance((before - after) / error, n + m - 2)


def divergence(z, s, tau, kappa):
    n, m = tau - s, kappa - tau
    across = sum(abs(z[i] - z[j]) for i in range(s, tau) for j in range(tau, kappa))
    first = sum(abs(z[i] - z[j]) for i in range(s, tau) for j in range(i + 1, tau))
    second = sum(abs(z[i] - z[j]) for i in range(tau, kappa) for j in range(i + 1, kappa))
    q = 2 / (n + m) * across
    if n > 1:
        q -= 2 * m / ((n + m) * (n - 1)) * first
    if m > 1:
        q -= 2 * n / ((n + m) * (m - 1)) * second
    return q


def changes_of(z, window=50, max_p=0.001):
    """Indexes for series that fit into one window."""
    assert len(z) <= window
    found = []
    starts = [0]
    start = 0
    while start < len(z):
        part, own = z[start:start + window], []
        while True:
            best = None
            for a, b in zip([0, *own], [*own, len(part)]):
                for tau in range(a + 1, b):
                    for kappa in range(tau + 1, b + 1):
                        q = divergence(part, a, tau, kappa)
                        if best is None or q > best[0] + 1e-9:
                            best = (q, tau, a, b)
            if best is None or not statistics_of(part[best[2]:best[1]], part[best[1]:best[3]]) <= 10 * max_p:
                break
            own = sorted([*own, best[1]])
        found += [start + i for i in own if start + i not in found]
        start = max(start + own[-1] if own else 0, start + window // 2)
        starts.append(start)
    found.sort()
    chances = [statistics_of(z[a:i], z[i:b]) for a, i, b in zip([0, *found], found, [*found[1:], len(z)])]
    while found:
        weakest = max(range(len(found)), key=lambda i: chances[i])
        if chances[weakest] < max_p:
            break
        del found[weakest], chances[weakest]
        for i in (weakest, weakest + 1):
            if i < len(found):
                chances[i] = statistics_of(z[found[i - 1] if i else 0:found[i]],
                                           z[found[i]:found[i + 1] if i + 1 < len(found) else len(z)])
    return dict(zip(found, chances))


def random_series(rng, n):
    level = rng.uniform(1, 1000)
    noise, values, now = level * rng.choice([0.002, 0.01, 0.05]), [], level
    for _ in range(n):
        if rng.random() < 0.08:
            now = level * rng.uniform(0.8, 1.3)
        values.append(now + rng.gauss(0, noise))
    return values


def test_worked_example(tmp_path):
    """100 -+ 0.5 ten times, then 110 -+ 0.5: t = -44.7214 with 18 degrees of freedom."""
    values = [(100 if i < 10 else 110) + (0.5 if i % 2 else -0.5) for i in range(20)]
    rows = store_of(tmp_path, {"metric": values}, code=1)
    assert [(row["index"], row["label"], row["previous_label"], row["change"]) for row in rows] == \
        [("10", "c10", "c9", "regression")]
    assert float(rows[0]["p_value"]) == pytest.approx(6.6556e-20, rel=1e-4)
    assert float(rows[0]["change_share"]) == pytest.approx(0.10)


def test_changes_are_those_of_the_definition(tmp_path):
    rng = random.Random(1)
    columns = {f"s{i:02}": random_series(rng, 16) for i in range(20)}
    got = {}
    for row in store_of(tmp_path, columns, code=1):
        got.setdefault(row["path"], {})[int(row["index"])] = float(row["p_value"])
    for name, values in columns.items():
        want = changes_of(values)
        assert set(got.get(name, {})) == set(want), name
        for index, chance in want.items():
            assert got[name][index] == pytest.approx(chance, rel=1e-6, abs=1e-18)


def test_changes_are_those_of_otava(tmp_path):
    """Levels, noise and missing values; 1,000 series with HOLOTRACE_LONG."""
    otava = pytest.importorskip("otava.analysis", reason="apache-otava is not installed")
    rng = random.Random(2)
    columns = {f"s{i:03}": random_series(rng, rng.choice([40, 120, 250])) for i in range(1000 if support.LONG else 100)}
    for values in columns.values():
        for i in range(1, len(values)):
            if rng.random() < 0.03:
                values[i] = None
        values += [None] * (250 - len(values))
    got, n_changes = {}, 0
    for row in store_of(tmp_path, columns, code=1):
        got.setdefault(row["path"], {})[int(row["index"])] = float(row["p_value"])
    for name, values in columns.items():
        values = values[:]
        otava.fill_missing(values)
        want = {int(c.index): float(c.stats.pvalue) for c in otava.compute_change_points(values)[0]}
        assert set(got.get(name, {})) == set(want), name
        for index, chance in want.items():
            assert got[name][index] == pytest.approx(chance, rel=1e-9)
        n_changes += len(want)
    assert n_changes > 2 * len(columns)


# ---- which of them count ----

def noisy(rng, levels):
    return [level + rng.gauss(0, abs(level) * 0.005) for level in levels]


def test_a_change_that_went_away_is_no_alarm(tmp_path):
    rng = random.Random(3)
    rows = store_of(tmp_path, {"step": noisy(rng, [100] * 15 + [110] * 10 + [100] * 15)})
    assert {row["change"] for row in rows} <= {"went away", "improvement", "part"}
    assert any(row["change"] == "went away" and row["index"] == "15" for row in rows)


def test_cost_that_moves_to_a_sibling_is_no_regression(tmp_path):
    """a takes 20 of what b loses; the sum of both, which is their parent, stays"""
    rng = random.Random(4)
    a, b = noisy(rng, [50] * 15 + [70] * 15), noisy(rng, [80] * 15 + [60] * 15)
    rows = store_of(tmp_path, {"all": [x + y for x, y in zip(a, b)], "all/a": a, "all/b": b})
    assert {(row["path"], row["change"]) for row in rows} == {("all/a", "cost shift"), ("all/b", "cost shift")}


def test_parts_are_told_with_the_whole(tmp_path):
    rng = random.Random(5)
    a, b = noisy(rng, [50] * 15 + [70] * 15), noisy(rng, [80] * 30)
    rows = store_of(tmp_path, {"all": [x + y for x, y in zip(a, b)], "all/a": a, "all/b": b}, code=1)
    assert [(row["path"], row["change"]) for row in rows] == [("all", "regression"), ("all/a", "part")]
    assert rows[0]["children"].startswith("all/a +40.")


def test_since_accepts_what_came_before(tmp_path):
    values = noisy(random.Random(6), [100] * 15 + [120] * 15)
    assert [row["index"] for row in store_of(tmp_path, {"step": values}, code=1)] == ["15"]
    assert not history(tmp_path / "store.db", "--since", "c20")
    assert history(tmp_path / "store.db", "--since", "c15", code=1)
    support_run = support.run("history", str(tmp_path / "store.db"), "--since", "no such run")
    assert support_run.returncode == 2 and b"no run has the label 'no such run'" in support_run.stderr


def test_runs_that_do_not_differ_raise_no_alarm(tmp_path):
    """Stores with 50 series each at a level of 5 %: one in 20 may. More than 5 of 20, or than 38 of 400 (HOLOTRACE_LONG), are impossible (p < 1e-4)."""
    rng, alarms, (n, most) = random.Random(7), [], (400, 38) if support.LONG else (20, 5)
    for k in range(n):
        columns = {f"s{i:02}": noisy(rng, [100] * 30) for i in range(50)}
        store = tmp_path / "store.db"
        done = support.run("history", str(store), "--import", write(tmp_path, columns), "--format", "csv")
        assert done.returncode in (0, 1), done.stderr
        alarms += [k] if done.returncode else []
        store.unlink()
    assert len(alarms) <= most, alarms


def write(folder, columns):
    with open(folder / "import.csv", "w") as file:
        writer = csv.writer(file)
        writer.writerow(["label", *columns])
        writer.writerows([f"c{i}", *values] for i, values in enumerate(zip(*columns.values())))
    return str(folder / "import.csv")


def test_three_percent_are_found(tmp_path):
    """30 runs with 1 % noise, 3 % more from the 15th on: in more than 95 of 100 series, alone in their store as well"""
    rng, n = random.Random(8), 2000 if support.LONG else 200
    columns = {f"s{i:04}": [(103 if k >= 15 else 100) + rng.gauss(0, 1) for k in range(30)] for i in range(n)}
    rows = store_of(tmp_path, columns, code=1)
    found = {row["path"] for row in rows if row["change"] == "regression" and abs(int(row["index"]) - 15) <= 3}
    assert len(found) > 0.95 * n
    alone = 0
    for k, values in enumerate(list(columns.values())[:n // 10]):
        (tmp_path / str(k)).mkdir()
        alone += support.run("history", str(tmp_path / str(k) / "store.db"), "--import", write(tmp_path / str(k), {"step": values})).returncode == 1
    assert alone > 0.95 * (n // 10) - (not support.LONG)  # of 20, two may be missed: with a chance of 2 % for each, 0.7 % of such samples miss more


# ---- runs of traces ----

def test_a_run_of_traces_is_kept(tmp_path):
    store = tmp_path / "store.db"
    rows = history(store, "--add", DDP, "--label", "abc", "--view", "series")
    values = {(row["metric"], row["path"]): row for row in rows}
    assert {row["label"] for row in rows} == {"abc"}
    steps = support.run("steps", str(DDP), "--format", "csv")
    by_step, first = {}, set()
    for row in csv.DictReader(io.StringIO(steps.stdout.decode())):
        if row["step"]:
            by_step.setdefault(row["step"], []).append(int(row["step_time_ns"]))
            first |= {row["step"]} if row["part"] == "first" else set()
    slowest = sorted(max(times) for step, times in by_step.items() if step not in first)
    assert len(first) == 1 and len(slowest) > 1  # the first stays out, as it does of all medians
    step = values["step_time", "step"]
    assert float(step["n"]) == len(slowest)
    assert float(step["median"]) == slowest[len(slowest) // 2] if len(slowest) % 2 else True
    assert (float(step["min"]), float(step["max"])) == (slowest[0], slowest[-1])
    assert ("time", "step/exposed communication") in values and ("hfu", "efficiency") in values
    kernels = [float(row["value"]) for (_, path), row in values.items() if path.startswith("gpu/kernels/")]
    assert float(values["time", "gpu/kernels"]["value"]) == pytest.approx(sum(kernels))


def test_stores_that_are_none_are_refused(tmp_path):
    (tmp_path / "text.db").write_text("no database at all, but long enough to be looked at " * 100)
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE t(x)")
    for name, code in (("text.db", 3), ("other.db", 3), ("absent.db", 3)):
        done = support.run("history", str(tmp_path / name))
        assert done.returncode == code and done.stderr, name
    good = tmp_path / "good.db"
    history(good, "--import", write(tmp_path, {"x": [1.0, 2.0]}))
    with sqlite3.connect(good) as changed:
        changed.execute("INSERT INTO points(series, run, value) VALUES(99, 1, 5), (1, 99, 5)")
        changed.execute("UPDATE points SET value = 'text' WHERE series = 1 AND run = 1")
        changed.execute("UPDATE runs SET label = x'ff00' WHERE id = 2")
    assert len(history(good, "--view", "series")) == 2
    data = bytearray(good.read_bytes())
    rng = random.Random(9)
    for _ in range(60):
        damaged = bytearray(data)
        for _ in range(8):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        good.write_bytes(damaged)
        assert support.run("history", str(good), "--format", "csv").returncode in (0, 1, 3, 4)


@pytest.mark.parametrize("more", [
    "CREATE TRIGGER t AFTER INSERT ON runs BEGIN UPDATE runs SET source = hex(zeroblob(20000000)); END",
    "CREATE INDEX i ON runs(hex(zeroblob(20000000)))", "CREATE VIEW v AS SELECT 1", "CREATE TABLE other(x)",
    "ALTER TABLE runs ADD COLUMN more TEXT AS (hex(zeroblob(20000000)))"])
def test_nothing_is_added_to_a_store_that_runs_something(tmp_path, more):
    """Triggers, indexes of expressions and computed columns would run with every row that is added; reading evaluates none of them."""
    store, runs = tmp_path / "h.db", write(tmp_path, {"x": [1.0, 2.0]})
    history(store, "--import", runs)
    with sqlite3.connect(store) as changed:
        changed.execute(more)
    before = store.stat().st_size
    done = support.run("history", str(store), "--import", str(runs))
    assert done.returncode == 3 and b"that are not of one" in done.stderr
    assert store.stat().st_size == before
    assert len(history(store, "--view", "series")) == 2


def test_an_import_is_there_whole_or_not_at_all(tmp_path):
    """Lines before a bad one are not kept, neither in a store that has runs nor in one that is made; once mended, each is there once. Readers
    see all of an import or nothing of it: it is one transaction."""
    store = tmp_path / "store.db"
    (tmp_path / "bad.csv").write_text("label,x\n" + "".join(f"r{i},{i}\n" for i in range(500)) + "b,no number\n")
    for name in ("store.db", "new.db"):
        if name == "store.db":
            history(store, "--import", write(tmp_path, {"x": [1.0, 2.0]}))
            before = store.read_bytes()
        done = support.run("history", str(tmp_path / name), "--import", str(tmp_path / "bad.csv"))
        assert done.returncode == 3 and b"line 502" in done.stderr
    assert store.read_bytes() == before
    (tmp_path / "good.csv").write_text((tmp_path / "bad.csv").read_text().replace("no number", "7"))
    for name, n in (("store.db", 503), ("new.db", 501)):
        # every transaction adds one to the change counter in the header of the file
        changes = int.from_bytes((tmp_path / name).read_bytes()[24:28], "big")
        history(tmp_path / name, "--import", tmp_path / "good.csv", code=None)
        assert int.from_bytes((tmp_path / name).read_bytes()[24:28], "big") - changes == 1
        assert len(history(tmp_path / name, "--view", "series")) == n


def test_an_import_with_a_bad_cell_says_where(tmp_path):
    (tmp_path / "bad.csv").write_text("label,x\na,1\nb,nan\n")
    done = support.run("history", str(tmp_path / "store.db"), "--import", str(tmp_path / "bad.csv"))
    assert done.returncode == 3 and b"line 3: x is 'nan'" in done.stderr
    done = support.run("history", str(tmp_path / "store.db"), "--label", "x")
    assert done.returncode == 2 and b"go together" in done.stderr
