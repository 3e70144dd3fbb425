# SPDX-License-Identifier: Apache-2.0
"""What the tools that write pages share: the program's description of itself, and how its options are spelled."""
import json
import re
import subprocess


def description(program):
    """What the program says about itself: version, trace, exit_codes, and its verbs without the hidden ones."""
    said = json.loads(subprocess.run([program, "help", "--json"], check=True, stdout=subprocess.PIPE).stdout)
    return dict(said, verbs=[verb for verb in said["verbs"] if not verb["hidden"]])


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


def section(text, title):
    """What stands under a heading; lines of code blocks are no headings."""
    found, inside, in_code = [], False, False
    for line in text.split("\n"):
        in_code ^= line.startswith("```")
        if line.startswith("## ") and not in_code:
            inside = line == f"## {title}"
        elif inside:
            found.append(line)
    return "\n".join(found)


def first_command(text):
    """The first command of a page with its output, None where there is none."""
    block = re.search(r"```[a-z]*\n(\$ holotrace .*?)\n```", text, re.S)
    return block and block[1]
