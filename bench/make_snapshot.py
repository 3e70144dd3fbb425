#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Write a synthetic memory snapshot of any size, as Python's pickler would: protocol 4, memoized, stacks of shared frames.

    bench/make_snapshot.py 1000 /tmp/big.pickle        1000 MB
    bench/make_snapshot.py 1000 /tmp/big.pickle 8      the same, one allocation in 8 stays: the address map has 60,000 blocks
    /usr/bin/time -v build/holotrace memory-snapshot --no-cache /tmp/big.pickle

Steps of 64 allocations of 64 stacks, 120 frames each, each freed in reverse order but one in 4,096, which stays: some 700 bytes an
event, as in recordings with C++ frames. Segments are of 2 MiB: those of blocks that stay are full of them, the others free.
"""
import struct
import sys

N_FRAMES, DEPTH, STACKS, SEGMENT = 4000, 120, 64, 1 << 21


class Writer:
    def __init__(self, file):
        self.file, self.n_memo, self.texts = file, 0, {}

    def memoize(self):
        self.n_memo += 1
        return b"\x94"

    def text(self, text):
        if text in self.texts:
            return get(self.texts[text])
        self.texts[text] = self.n_memo
        data = text.encode()
        return b"\x8c" + bytes([len(data)]) + data + self.memoize()


def get(index):
    return b"h" + bytes([index]) if index < 256 else b"j" + struct.pack("<I", index)


def number(value):
    if 0 <= value < 256:
        return b"K" + bytes([value])
    if 0 <= value < 2**31:
        return b"J" + struct.pack("<i", value)
    data = value.to_bytes(8, "little").rstrip(b"\0")
    data += b"\0" if data[-1] & 0x80 else b""
    return b"\x8a" + bytes([len(data)]) + data


def main():
    n_bytes, path = int(float(sys.argv[1]) * 1e6), sys.argv[2]
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 4096
    with open(path, "wb", buffering=1 << 20) as file:
        w = Writer(file)
        out = [b"\x80\x04}", w.memoize(), b"(", w.text("frames_used"), b"]", w.memoize(), b"("]
        frames = []
        for i in range(N_FRAMES):
            out += [b"}", w.memoize(), b"("]
            frames.append(w.n_memo - 1)
            out += [w.text("name"), w.text(f"function_{i}"), w.text("filename"),
                    w.text(f"/home/user/project/module_{i // 40}.{'py' if i % 3 else 'cpp'}"), w.text("line"),
                    number(i % 3000), b"u"]
        out += [b"e", w.text("device_traces"), b"]", w.memoize(), b"]", w.memoize(), b"("]
        names = ("action", "addr", "size", "stream", "time_us", "frames", "compile_context", "user_metadata")
        values = ("alloc", "free_requested", "free_completed", "N/A", "")
        # texts go to the memo and off the stack again
        out += [w.text(text) + b"0" for text in names + values]
        keys = {k: get(w.texts[k]) for k in names}
        words = {k: get(w.texts[k]) for k in values}
        file.write(b"".join(out))
        written = file.tell()
        stacks = [b"".join(get(frames[(s * 61 + d * 37) % N_FRAMES]) for d in range(DEPTH)) for s in range(STACKS)]
        k, n_batch, time_us, live = 0, 0, 1_700_000_000_000_000, []

        def event(action, addr, size, stack):
            nonlocal written, n_batch, time_us
            time_us += 3
            # as the C++ side does, every event has a list of its own
            data = (b"}" + w.memoize() + b"(" + keys["action"] + words[action] + keys["addr"] + number(addr)
                    + keys["size"] + number(size) + keys["stream"] + b"K\0" + keys["time_us"] + number(time_us)
                    + keys["compile_context"] + words["N/A"] + keys["user_metadata"] + words[""]
                    + keys["frames"] + b"]" + w.memoize() + b"(" + stacks[stack] + b"e" + b"u")
            file.write(data)
            written += len(data)
            n_batch += 1
            if n_batch == 1000:
                file.write(b"e(")
                n_batch = 0

        addr, kept, n_kept = 0x7F0000000000, 0x7E0000000000, 0
        while written < n_bytes:
            for s in range(STACKS):
                k += 1
                if k % every:
                    live.append((addr + k % 100000 * 2048, 1024 + s, s))
                    event("alloc", *live[-1])
                else:
                    event("alloc", kept + n_kept * 4096, 4096, s)
                    n_kept += 1
            while live:
                item = live.pop()
                event("free_requested", *item)
                event("free_completed", *item)
        file.write(b"ea" + w.text("segments") + b"]" + w.memoize() + b"(")
        for at in range(addr, addr + 100000 * 2048, SEGMENT):
            file.write(segment(w, at, [(at, SEGMENT, "inactive")]))
        for first in range(0, n_kept, SEGMENT // 4096):
            n = min(SEGMENT // 4096, n_kept - first)
            at = kept + first * 4096
            rest = [(at + n * 4096, SEGMENT - n * 4096, "inactive")] if n * 4096 < SEGMENT else []
            file.write(segment(w, at, [(at + i * 4096, 4096, "active_allocated") for i in range(n)] + rest))
        file.write(b"eu.")


def segment(w, at, blocks):
    held = sum(size for _, size, state in blocks if state != "inactive")
    out = [b"}", w.memoize(), b"("]
    for name, value in (("device", 0), ("address", at), ("total_size", SEGMENT), ("allocated_size", held), ("active_size", held),
                        ("requested_size", held), ("stream", 0)):
        out += [w.text(name), number(value)]
    out += [w.text("segment_type"), w.text("small"), w.text("segment_pool_id"), b"K\0K\0\x86" + w.memoize(), w.text("is_expandable"),
            b"\x89", w.text("frames"), b"]", w.memoize(), w.text("blocks"), b"]", w.memoize(), b"("]
    for address, size, state in blocks:
        out += [b"}", w.memoize(), b"(", w.text("address"), number(address), w.text("size"), number(size), w.text("requested_size"),
                number(size), w.text("state"), w.text(state), w.text("frames"), b"]", w.memoize(), b"u"]
    return b"".join(out + [b"eu"])


if __name__ == "__main__":
    main()
