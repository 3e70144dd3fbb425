# SPDX-License-Identifier: Apache-2.0
"""Every verb, and options that take other paths through the program, for measuring on hard shapes."""

#: Options beside the plain verbs that take other paths through the program.
MORE = [("events", "--columns", "annotation_stack,module,forward_op"), ("events", "--kernels-under", "op1"),
        ("events", "--descendants-of", "0"), ("events", "--leaves"), ("kernel-annotations", "--group-by", "stack"),
        ("kernel-annotations", "--source", "gpu"), ("operators", "--by", "shape-stack"), ("kernels", "--by", "properties"),
        ("stacks", "--time", "device"), ("steps", "--view", "gpu"),
        ("call-tree", "--monitor-cat", "cpu_op,user_annotation", "--preset", "all", "--no-lists", "--aggregate"),
        ("diff", "--view", "operators"), ("diff", "--view", "modules"),
        ("kernel-breakdown", "--annotation", "a"), ("diff", "--by", "path"), ("diff", "--by", "path", "--all-rows"),
        ("temporal-breakdown", "--by", "step"), ("comm-overlap", "--by", "group")]

#: Analyses that HTA has no definition of.
OURS = {"info", "health", "events", "tables", "summary", "advice", "steps", "operators", "kernels", "modules", "stacks",
        "call-tree", "memory-curve", "memory-events", "memory-stats", "distributed"}


def command_lines(verbs):
    """Every analysis of (name, number of sets), plain and as HTA, and the options above."""
    for name, _ in verbs:
        yield (name,)
        if name not in OURS:
            yield (name, "--hta-compat")
    yield from MORE
