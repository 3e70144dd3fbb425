# SPDX-License-Identifier: Apache-2.0
"""A model of PyTorch's caching allocator that writes memory snapshots: what it says of itself is the truth of planted causes.

Written from the rules that docs/memory.md and the allocator's documentation state, not from our replay: requests are rounded up to
512 B; up to 1 MiB come from 2 MiB segments of the small pool, up to 10 MiB from 20 MiB segments, larger ones from segments of
their own in steps of 2 MiB; the smallest free block of the pool and stream that is large enough is taken (the lowest address of
several), and split when 512 B are left in the small pool, more than 1 MiB in the large one. Freed blocks join free neighbours.
Private pools (CUDA graphs) keep their segments. When the device has no room, free segments of the default pool go back to the driver
first, then the request fails.
"""
import gzip
import pickle

MIB = 1 << 20
ROUND = 512
TORCH = {"filename": "/usr/lib/python3/dist-packages/torch/nn/modules/module.py", "line": 1775, "name": "_call_impl"}


class OutOfMemory(Exception):
    pass


class Block:
    def __init__(self, segment, address, size):
        self.segment, self.address, self.size = segment, address, size
        self.requested, self.frames, self.used = 0, [], False


class Segment:
    def __init__(self, address, size, small, pool, frames):
        self.address, self.size, self.small, self.pool, self.frames = address, size, small, pool, frames
        self.blocks = [Block(self, address, size)]


class Allocator:
    def __init__(self, capacity=80 << 30, limit=None):
        self.capacity, self.limit = capacity, limit
        self.segments, self.events, self.annotations = [], [], []
        self.time_us, self.next_address = 1_700_000_000_000_000, 0x7F0000000000
        self.allocated = self.reserved = self.peak = self.reserved_peak = 0

    def record(self, action, **more):
        self.time_us += 7
        self.events.append({"action": action, "stream": 0, "time_us": self.time_us, "compile_context": "N/A", "user_metadata": "",
                            "frames": [], **more})

    def annotate(self, stage, name):
        self.time_us += 3
        self.annotations.append({"stage": stage, "name": name, "device": 0, "time_us": self.time_us})

    def free_block(self, small, pool, size):
        fitting = [block for segment in self.segments if (segment.small, segment.pool) == (small, pool)
                   for block in segment.blocks if not block.used and block.size >= size]
        return min(fitting, key=lambda block: (block.size, block.address), default=None)

    def driver_free(self):
        return self.capacity - self.reserved

    def release_cached(self):
        for segment in [one for one in self.segments if one.pool == (0, 0) and not any(block.used for block in one.blocks)]:
            self.segments.remove(segment)
            self.reserved -= segment.size
            self.record("segment_free", addr=segment.address, size=segment.size)

    def new_segment(self, rounded, small, pool, frames):
        size = 2 * MIB if small else 20 * MIB if rounded < 10 * MIB else -(-rounded // (2 * MIB)) * 2 * MIB
        room = min(self.capacity, self.limit or self.capacity)
        if self.reserved + size > room:
            self.release_cached()
        if self.reserved + size > room:
            return None
        segment = Segment(self.next_address, size, small, pool, frames)
        self.next_address += max(size, 64 * MIB)
        self.segments.append(segment)
        self.reserved += size
        self.reserved_peak = max(self.reserved_peak, self.reserved)
        self.record("segment_alloc", addr=segment.address, size=size, frames=frames)
        return segment.blocks[0]

    def alloc(self, size, frames, pool=(0, 0)):
        rounded = max(ROUND, -(-size // ROUND) * ROUND)
        small = rounded <= MIB
        block = self.free_block(small, pool, rounded) or self.new_segment(rounded, small, pool, frames)
        if block is None:
            self.record("oom", device_free=self.driver_free(), size=size, frames=frames)
            raise OutOfMemory
        rest = block.size - rounded
        if rest >= ROUND if small else rest > MIB:
            block.size = rounded
            blocks = block.segment.blocks
            blocks.insert(blocks.index(block) + 1, Block(block.segment, block.address + rounded, rest))
        block.used, block.requested, block.frames = True, size, frames
        self.allocated += block.size
        self.peak = max(self.peak, self.allocated)
        self.record("alloc", addr=block.address, size=size, frames=frames)
        return block

    def free(self, block):
        self.record("free_requested", addr=block.address, size=block.requested)
        self.record("free_completed", addr=block.address, size=block.requested)
        self.allocated -= block.size
        block.used = False
        blocks = block.segment.blocks
        at = blocks.index(block)
        for first in (at, at - 1):
            if 0 <= first < len(blocks) - 1 and not blocks[first].used and not blocks[first + 1].used:
                blocks[first].size += blocks[first + 1].size
                del blocks[first + 1]

    def snapshot(self, n_last=None):
        """The dictionary of _snapshot(); n_last: the events that a ring of this size still has."""
        def held(segment, what):
            return sum(getattr(block, what) for block in segment.blocks if block.used)
        segments = [{"device": 0, "address": one.address, "total_size": one.size, "allocated_size": held(one, "size"),
                     "active_size": held(one, "size"), "requested_size": held(one, "requested"), "stream": 0,
                     "segment_type": "small" if one.small else "large", "segment_pool_id": one.pool, "is_expandable": False,
                     "frames": one.frames,
                     "blocks": [{"address": block.address, "size": block.size, "requested_size": block.requested,
                                 "state": "active_allocated" if block.used else "inactive",
                                 "frames": block.frames if block.used else []} for block in one.blocks]}
                    for one in sorted(self.segments, key=lambda one: one.address)]
        return {"segments": segments, "device_traces": [self.events[-n_last:] if n_last else self.events],
                "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "expandable_segments": False, "max_split_size": -1},
                "external_annotations": self.annotations}

    def write(self, path, **more):
        path.write_bytes(gzip.compress(pickle.dumps(self.snapshot(**more)), 1))
        return path


def line(number, name="train", file="/home/user/project/train.py"):
    """A stack whose line of the user's own is file:number."""
    return [TORCH, {"filename": file, "line": number, "name": name},
            {"filename": "/home/user/project/main.py", "line": 7, "name": "<module>"}]
