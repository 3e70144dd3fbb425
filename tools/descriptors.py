# SPDX-License-Identifier: Apache-2.0
"""What the tools that write pages share: the program's description of itself, and how its options are spelled."""
import json
import subprocess


def description(program):
    """What the program says about itself: its version, and its verbs without the hidden ones."""
    said = json.loads(subprocess.run([program, "help", "--json"], check=True, stdout=subprocess.PIPE).stdout)
    return said["version"], [verb for verb in said["verbs"] if not verb["hidden"]]


def option_spelling(option, sep=" "):
    """-o, --output FILE"""
    short = f"-{option['letter']}, " if option["letter"] else ""
    value = f"{sep}{option['value']}" if option["value"] else ""
    return f"{short}--{option['name']}{value}"


def option_help(option):
    default = f" (default: {option['default']})" if option["default"] else ""
    return option["help"] + default


def headings(verb):
    """Options grouped by heading, in order."""
    groups = {}
    for option in verb["options"]:
        groups.setdefault(option["heading"], []).append(option)
    return groups.items()


def usage(verb, options, form):
    """Its arguments, with the options where they belong: those of an analysis come after it."""
    words = verb["usage"]
    return form(words).replace(form("[options]"), options) if "[options]" in words else f"{options} {form(words)}"
