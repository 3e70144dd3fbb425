# SPDX-License-Identifier: Apache-2.0
"""Perfetto traces in Python: a writer of fields, and a decoder that knows nothing of Holotrace.

Both are written from Perfetto's message definitions, so that neither can agree with the C code by accident.
"""
import struct
from collections import defaultdict

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """One field: numbers as varints, doubles as 8 bytes, texts and messages with their length."""
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def fixed64(number, value):
    return varint(number << 3 | 1) + struct.pack("<Q", value)


def message(*pairs):
    return b"".join(field(number, value) for number, value in pairs)


def packet(*pairs):
    return field(1, message(*pairs))


def fields(data):
    """(number, value) of each field; bytes for texts and messages."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
        elif key & 7 == 1:
            yield key >> 3, data[at:at + 8]
            at += 8
        elif key & 7 == 2:
            n = number()
            assert at + n <= len(data)
            yield key >> 3, data[at:at + n]
            at += n
        else:
            raise ValueError(f"wire type {key & 7}")


def one(data, number, default=None):
    found = default
    for key, value in fields(data):
        if key == number:
            found = value
    return found


class Trace:
    """What trace_processor would make of a file whose sequences have one incremental clock, 64."""

    def __init__(self, data):
        self.slices = []      # (track, ts, dur, name, category, args, flows)
        self.instants = []
        self.counters = defaultdict(list)  # by track: (ts, value)
        self.tracks = {}      # uuid: descriptor
        self.names = {}
        self.unclosed = 0
        clock, last, interned, defaults = {}, {}, defaultdict(dict), {}
        events = []
        for number, body in fields(data):
            assert number == 1
            sequence, time = one(body, 10), one(body, 8)
            for key, value in fields(body):
                if key == 6:
                    clock[sequence] = {one(c, 1): one(c, 2) for n, c in fields(value) if n == 1}
                    last[sequence] = 0
                elif key == 59:
                    defaults[sequence] = one(one(value, 11, b""), 11, 0)
                elif key == 12:
                    for kind, entry in fields(value):
                        interned[sequence, kind][one(entry, 1)] = one(entry, 2).decode()
                elif key == 60:
                    self.tracks[one(value, 1, 0)] = value
            if time is not None:
                last[sequence] += time
            event = one(body, 11)
            if event is not None:
                events.append((clock[sequence][6] + last[sequence], sequence, event))
        events.sort(key=lambda e: e[0])  # stable: of one time in the order of the file
        self.replay(events, interned, defaults)

    def replay(self, events, interned, defaults):
        stacks = defaultdict(list)
        for ts, sequence, event in events:
            uuid = one(event, 11, defaults[sequence])
            assert uuid in self.tracks
            kind = one(event, 9)
            if kind == COUNTER:
                value = one(event, 30)
                if value is None:
                    value = struct.unpack("<d", one(event, 44))[0]
                self.counters[uuid].append((ts, value))
                continue
            if kind == END:
                begun = stacks[uuid].pop()
                self.slices.append((uuid, begun[0], ts - begun[0]) + begun[1:])
                continue
            name = interned[sequence, 2].get(one(event, 10))
            cat = interned[sequence, 1].get(one(event, 3))
            args = {interned[sequence, 3][one(a, 1)]: a for n, a in fields(event) if n == 4}
            flows = [struct.unpack("<Q", f)[0] for n, f in fields(event) if n == 47]
            if kind == INSTANT:
                self.instants.append((uuid, ts, name, cat))
            else:
                stacks[uuid].append((ts, name, cat, args, flows))
        self.unclosed = sum(map(len, stacks.values()))
