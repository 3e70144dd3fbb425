# SPDX-License-Identifier: Apache-2.0
"""Every command line on traces that are read once: in_process.py FILE... < LINES

LINES is a JSON list of (verb, number of sets, options), as extreme.command_lines gives them. Each is named on standard
error before it runs, so that what a sanitizer prints has its line above it. A process for each would spend nine tenths of
its time on starting.
"""
import json
import sys

import holotrace


def arguments_of(options):
    """["--view=all", "--step", "2", "--wide"] as keyword arguments."""
    given, rest = {}, list(options)
    while rest:
        name, has_value, value = rest.pop(0).removeprefix("--").partition("=")
        if not has_value and rest and not rest[0].startswith("--"):
            value, has_value = rest.pop(0), True
        given[name.replace("-", "_")] = value if has_value else True
    return given


def main():
    alone = holotrace.open(sys.argv[1], cache=False)
    together = holotrace.open(sys.argv[1:], cache=False) if len(sys.argv) > 2 else alone
    for i, (verb, n_sets, options) in enumerate(json.load(sys.stdin)):
        print(verb, *options, file=sys.stderr, flush=True)
        other = alone if n_sets == 2 or verb == "gate" else None
        session = alone if other else (alone, together)[i % 2]
        try:
            session.run(verb, other, **arguments_of(options)).to_csv()
        except holotrace.Error as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
