# SPDX-License-Identifier: Apache-2.0
"""What is inside what, straight from the definition and as slowly as that takes.

An annotation holds what starts in [start, end) on its thread; its end is not later than that of the operator it
started in. A launch belongs to the annotations that hold it, and, when a backward pass on an autograd thread launched
it, to those that hold its time on the thread of its forward operator.
"""
import collections
import json

HOST_WORK = {"cpu_op", "Operator", "cuda_runtime", "Runtime", "cuda_driver", "user_annotation", "python_function"}
GPU_WORK = {"kernel", "Kernel", "gpu_memcpy", "Memcpy", "gpu_memset", "Memset"}
OPERATORS = {"cpu_op", "Operator"}


def ns(value):
    """Microseconds as written, to nanoseconds; Decimal-free since files have at most 3 digits."""
    whole, _, part = str(value).partition(".")
    sign = -1 if whole.startswith("-") else 1
    return int(whole) * 1000 + sign * int((part + "000")[:3] or 0)


class Trace:
    def __init__(self, text):
        document = json.loads(text, strict=False, parse_float=str)
        events = document["traceEvents"] if isinstance(document, dict) else document
        self.events = [e for e in events]
        self.spans = {i: e for i, e in enumerate(events) if e.get("ph") == "X" and "dur" in e and "ts" in e}
        self.start = {i: ns(e["ts"]) for i, e in self.spans.items()}
        self.end = {i: self.start[i] + max(ns(e["dur"]), 0) for i, e in self.spans.items()}
        self.threads = collections.defaultdict(list)
        for i, e in self.spans.items():
            if e.get("cat") in HOST_WORK:
                self.threads[e["pid"], e["tid"]].append(i)
        self.cut_annotations()
        self.link_backward()

    def thread(self, i):
        return self.spans[i]["pid"], self.spans[i]["tid"]

    def name(self, i):
        return self.spans[i]["name"]

    def argument(self, i, key):
        return self.spans[i].get("args", {}).get(key)

    def is_annotation(self, i):
        return self.spans[i].get("cat") == "user_annotation" or (
            self.spans[i].get("cat") in OPERATORS and self.name(i).startswith("ProfilerStep#"))

    def cut_annotations(self):
        """[(start, end, row)] by thread."""
        self.annotations = {}
        for thread, rows in self.threads.items():
            others = [i for i in rows if not self.is_annotation(i) and self.spans[i]["cat"] != "python_function"]
            self.annotations[thread] = []
            for a in filter(self.is_annotation, rows):
                around = [self.end[o] for o in others
                          if (self.start[o], -self.end[o], o) < (self.start[a], -self.end[a], a)
                          and self.end[o] > self.start[a]]
                self.annotations[thread].append((self.start[a], min([self.end[a], *around]), a))

    def link_backward(self):
        """The thread that waits, by autograd thread and sequence number."""
        forward, backward = collections.defaultdict(list), collections.defaultdict(list)
        for thread, rows in self.threads.items():
            for i in rows:
                if self.spans[i]["cat"] not in OPERATORS:
                    continue
                number = self.argument(i, "Sequence number")
                if self.name(i).startswith("autograd::engine::evaluate_function") or self.argument(i, "Fwd thread id"):
                    backward[thread].append((i, number))
                elif number is not None and number >= 0:
                    forward[number].append((self.start[i], i))
        stepping = {self.thread(i) for i in self.spans if self.spans[i].get("cat") in HOST_WORK
                    and self.name(i).startswith("ProfilerStep#")}
        self.links = {}
        for thread, rows in backward.items():
            links = {}
            for i, number in rows:
                before = [row for at, row in forward.get(number, []) if at < self.start[i]]
                if before:
                    links[i] = self.thread(max(before, key=lambda row: (self.start[row], row)))
            votes = collections.Counter(links.values())
            own = votes.pop(thread, 0)
            if thread in stepping or own > sum(votes.values()):
                continue
            self.links[thread] = (links, votes)
        for thread, (links, votes) in self.links.items():
            for other in self.links:
                votes.pop(other, None)
            main = votes.most_common(1)[0][0] if votes else next(iter(stepping)) if len(stepping) == 1 else None
            self.links[thread] = (links, main)

    def caller(self, launch):
        """The thread that waits while the launch is made; None: nobody."""
        thread = self.thread(launch)
        if thread not in self.links:
            return None
        links, main = self.links[thread]
        around = [i for i in links if self.start[i] <= self.start[launch] and self.end[launch] <= self.end[i]]
        outermost = min(around, key=lambda i: (self.start[i], -self.end[i]), default=None)
        linked = links.get(outermost)
        return linked if linked is not None and linked not in self.links else main

    def holding(self, thread, time):
        found = [(start, -end, row) for start, end, row in self.annotations.get(thread, []) if start <= time < end]
        return [row for _, _, row in sorted(found)]

    def around(self, launch):
        """Rows of the annotations around a launch, outermost first, steps left out."""
        time, caller = self.start[launch], self.caller(launch)
        rows = (self.holding(caller, time) if caller else []) + self.holding(self.thread(launch), time)
        return [row for row in rows if not self.name(row).startswith("ProfilerStep")]

    def launches(self):
        """{row of GPU work: row of its only launch}; work with none or several candidates is left out."""
        calls = collections.defaultdict(list)
        for i, e in self.spans.items():
            if e.get("cat") in ("cuda_runtime", "Runtime", "cuda_driver") and self.argument(i, "correlation"):
                calls[self.argument(i, "correlation")].append(i)
        return {i: calls[self.argument(i, "correlation")][0] for i, e in self.spans.items()
                if e.get("cat") in GPU_WORK and len(calls.get(self.argument(i, "correlation"), ())) == 1}
