# SPDX-License-Identifier: Apache-2.0
"""What a device did, straight from the definitions, one nanosecond border at a time.

Works on a list of pieces of GPU work of one rank; quadratic and plain on purpose.
"""
import collections

Piece = collections.namedtuple("Piece", "start end device stream cls launch chosen")
CLASSES = ("compute", "communication", "memcpy", "memset", "other")


def moments(pieces):
    """(from, to, classes of chosen work that runs, whether anything runs) of every stretch of time."""
    borders = sorted({t for p in pieces for t in (p.start, p.end)})
    for a, b in zip(borders, borders[1:]):
        running = [p for p in pieces if p.start <= a and p.end >= b]
        yield a, b, {p.cls for p in running if p.chosen}, bool(running)


def temporal(pieces):
    """The row of one device, or None without chosen work."""
    chosen = [p for p in pieces if p.chosen]
    if not chosen:
        return None
    first, last = min(p.start for p in chosen), max(p.end for p in chosen)
    launches = [p.launch for p in pieces if p.launch is not None]
    row = collections.Counter(span=last - first)
    borders = moments(pieces + [p._replace(start=t, end=t) for p in chosen[:1] for t in launches])
    for a, b, classes, busy in borders:
        if a < first or b > last:
            continue
        if not busy:
            row["idle"] += b - a
            row["leading"] += (b - a) * bool(launches and b <= min(launches))
        elif not classes:
            row["outside"] += b - a
        else:
            row[next(c for c in CLASSES if c in classes)] += b - a
            row["overlap"] += (b - a) * ({"compute", "communication"} <= classes)
    return row


def idle(pieces, threshold, leads_to, traffic):
    """{category: [lengths]} of one stream or device: gaps between the latest end and the next start; traffic is
    the communication of the device."""
    found = collections.defaultdict(list)
    # of what starts at once, the gap waited for what was launched first; an unknown launch was before
    order = sorted(pieces, key=lambda p: (p.start, p.launch is not None, p.launch or 0))
    first = min(p.start for p in order if p.chosen)
    last = max(p.start for p in order if p.chosen)
    end = None
    for p in order:
        if end is not None and p.start > end and first < p.start <= last:
            split(found, max(end, first), p, threshold, leads_to, traffic)
        end = p.end if end is None else max(end, p.end)
    return found


def split(found, at, piece, threshold, leads_to, traffic):
    """One gap up to a piece of work."""
    if leads_to is not None and leads_to > at:
        found["leading"].append(min(leads_to, piece.start) - at)
        at = min(leads_to, piece.start)
    if piece.launch is not None and piece.launch > at < piece.start:
        found["host_wait"].append(min(piece.launch, piece.start) - at)
        at = min(piece.launch, piece.start)
    rest = piece.start - at
    if 0 < rest < threshold:
        found["kernel_wait"].append(rest)
    elif rest > 0:
        busy = [(max(p.start, at), min(p.end, piece.start)) for p in traffic]
        covered = sum(b - a for a, b in zip(*[iter(merged(busy))] * 2))
        found["communication_wait"] += [covered] * (covered > 0)
        found["other"] += [rest - covered] * (rest > covered)


def merged(spans):
    """Starts and ends of the union, in a row."""
    out = []
    for start, end in sorted(s for s in spans if s[0] < s[1]):
        if out and start <= out[-1]:
            out[-1] = max(out[-1], end)
        else:
            out += [start, end]
    return out


def labels(pieces):
    """{set of types: time} of the chosen work."""
    types = {"memcpy": "memory", "memset": "memory"}
    found = collections.Counter()
    for a, b, classes, _ in moments([p for p in pieces if p.chosen]):
        if classes:
            found[frozenset(types.get(c, c) for c in classes)] += b - a
    return found
