# SPDX-License-Identifier: Apache-2.0
"""What a trace holds, derived with the standard json module and decimal arithmetic.

Slow and plain on purpose: this is the second opinion that the engine is compared with. It reads
strict JSON only; for a file that is not, derive() raises Unreadable with the reason.

    derive(path).events   one Event per element of traceEvents, in file order
    summary(...)          the facts that the tests compare first: counts, sums, names, pairs, keys
"""
import collections
import decimal
import json
import re

import support

GPU_CATS = {"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"}
LAUNCH_CATS = {"cuda_runtime", "cuda_driver", "Runtime"}
NUMERIC = re.compile(r"^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$")
KNOWN = {"ph", "cat", "name", "pid", "tid", "ts", "dur", "args"}

Event = collections.namedtuple("Event", "index ph cat name pid tid ts_ns dur_ns args extra")


class Unreadable(Exception):
    """The file is no strict JSON, or no trace."""


def load(path):
    """(header, list of raw events)."""
    try:
        text = support.trace_bytes(path).decode("utf-8")
        document = json.loads(text, parse_float=decimal.Decimal)
    except UnicodeDecodeError as error:
        raise Unreadable(f"not UTF-8: {error}") from error
    except ValueError as error:
        raise Unreadable(f"not strict JSON: {error}") from error
    if isinstance(document, list):
        return {}, flatten(document)
    if not isinstance(document, dict) or not isinstance(document.get("traceEvents"), list):
        raise Unreadable("no list of events")
    return document, flatten(document["traceEvents"])


def flatten(items):
    events = []
    for item in items:
        if isinstance(item, list):
            events.extend(flatten(item))
        elif isinstance(item, dict):
            events.append(item)
    return events


def number(value):
    """A time as Decimal, from a number or a numeric string; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, decimal.Decimal)):
        return decimal.Decimal(value)
    if isinstance(value, str) and NUMERIC.match(value):
        return decimal.Decimal(value)
    return None


def is_unpadded(header, events):
    """Fractions are unpadded ns counts: of 1, 2 and 3 digits, some of 3 ending in 0, none with a 0 first."""
    fractions = []
    for event in events:
        for key in ("ts", "dur"):
            value = event.get(key)
            if isinstance(value, decimal.Decimal):
                digits = -value.as_tuple().exponent
                fractions.append(f"{abs(value) % 1:.{digits}f}"[2:])
    return ("schemaVersion" in header and len(fractions) >= 200 and {len(f) for f in fractions} == {1, 2, 3}
            and any(len(f) == 3 and f.endswith("0") for f in fractions)
            and not any(len(f) > 1 and f.startswith("0") for f in fractions))


def to_ns(value, unpadded):
    """Microseconds as ns: an int, or a Decimal when there are digits below one ns."""
    us = number(value)
    if us is None:
        return None
    if unpadded and isinstance(value, decimal.Decimal):
        whole = int(us)
        fraction = str(value).split(".")[1] if "." in str(value) else "0"
        return whole * 1000 + int(fraction)
    with decimal.localcontext() as context:
        context.prec = 60
        ns = us * 1000
        return int(ns) if ns == ns.to_integral_value() else ns


def derive(path):
    header, raw = load(path)
    unpadded = is_unpadded(header, raw)
    events = []
    for index, event in enumerate(raw):
        dur = to_ns(event.get("dur"), unpadded)
        args = event.get("args")
        events.append(Event(
            index, event.get("ph"), event.get("cat"), event.get("name"), event.get("pid"),
            event.get("tid"), to_ns(event.get("ts"), unpadded),
            max(dur, 0) if dur is not None else None, args if isinstance(args, dict) else {},
            {k: v for k, v in event.items() if k not in KNOWN}))
    return events


def integer(value):
    """An id as int, from a number or a numeric string."""
    value = number(value)
    return int(value) if value is not None and value == value.to_integral_value() else None


def pairs(rows):
    """Launch and GPU indexes that share a correlation; rows are (index, cat, ph, correlation)."""
    launches, gpu = collections.defaultdict(list), collections.defaultdict(list)
    for index, cat, ph, correlation in rows:
        if ph == "X" and correlation is not None and correlation > 0:
            if cat in LAUNCH_CATS:
                launches[correlation].append(index)
            elif cat in GPU_CATS:
                gpu[correlation].append(index)
    return {(a, b) for c, hosts in launches.items() for a in hosts for b in gpu.get(c, ())}


def summary(events):
    keys = collections.Counter(k for e in events for k, v in e.args.items() if v is not None)
    return {
        "events per (ph, cat)": collections.Counter((e.ph, e.cat or None) for e in events),
        "sum of ts": sum(e.ts_ns for e in events if isinstance(e.ts_ns, int)),
        "sum of dur": sum(e.dur_ns for e in events if isinstance(e.dur_ns, int)),
        "names": collections.Counter(e.name or None for e in events),
        "launch and GPU pairs": pairs((e.index, e.cat, e.ph, integer(e.args.get("correlation")))
                                      for e in events),
        "args per key": keys,
    }
