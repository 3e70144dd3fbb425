# SPDX-License-Identifier: Apache-2.0
"""What the engine says, in Python: its messages are written for the command line.

    --by rnk: expected one of rank|all     →  by="rnk": expected one of rank|all
    add --recursive                        →  add recursive=True
    `holotrace health` lists them          →  Session.health() lists them

Only these two are looked for, references to an option and to a verb; tools/check_registry sees that they are there. No sentence is
read: what to ask next comes as data, a verb and its arguments (note_line).
"""
import keyword
import re

from . import _core

#: Switches that are no parameters of an analysis.
_SWITCHES = {"strict", "recursive", "partial", "merge", "with-counters"}
_FLAG = re.compile(r"--([a-z][a-z0-9-]*)(?:[ =](\"[^\"]*\"|[^\s:;,()\"]+))?(?=(:)?)")
_COMMAND = re.compile(r"(`?)holotrace ([a-z][a-z-]*)\1")
_NUMBER = re.compile(r"-?[0-9][0-9.,:-]*%?$")
_known = {}


def _parameters():
    """{name: (whether it is a switch, its choices)} of all parameters, read once."""
    if not _known:
        params = [param for analysis in _core.analyses() for param in analysis["params"]]
        for param in [*params, *_core.common_params()]:
            switch, choices = _known.get(param["name"], (True, set()))
            choices = choices | set((param["choices"] or "").split("|"))
            _known[param["name"]] = (switch and param["type"] == "bool", choices)
    return _known


def argument(name):
    """A parameter's name as Python can use it."""
    name = name.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def _value(text):
    if _NUMBER.match(text):
        return text if re.match(r"-?[0-9]+(\.[0-9]+)?$", text) else f'"{text}"'
    return text if text.startswith('"') else f'"{text}"'


def _flag(found):
    name, value, colon = found.groups()
    switch, choices = _parameters().get(name, (name in _SWITCHES, ()))
    rest = found.group(0)[2 + len(name):]
    if switch:
        return f"{argument(name)}=True{rest}"
    if value is None:
        return f"{argument(name)}="
    if colon or value in choices or value == "all" or _NUMBER.match(value):
        return f"{argument(name)}={_value(value)}"
    if name == "set" and "=" in value:
        return "{{\"{}\": {}}} after the query".format(*value.split("=", 1))
    if value.isupper():
        return f"{argument(name)}={value}"
    return f"{argument(name)}={rest}"


def call_line(verb, arguments):
    """What to ask next, as a method of the session: idle_breakdown(by="device")."""
    given = ", ".join(f"{argument(name)}={'True' if value == 'true' else _value(value)}" for name, value in arguments.items())
    return f"{argument(verb)}({given})"


def note_line(note):
    """A note (Table.findings) as a line, with Python's names for what to ask next."""
    before = "warning: " if note["severity"] == "warning" else ""
    after = f". Next: {call_line(note['next'], note['args'])}" if note["next"] else ""
    return before + in_python(note["sentence"]) + after


def _is_analysis(name):
    return any(analysis["name"] == name for analysis in _core.analyses())


def _command(found):
    name = found.group(2)
    if name == "list":
        return "help(holotrace.Session)"
    if _is_analysis(name):
        return f"Session.{argument(name)}()"
    return found.group(0)


def in_python(text):
    """A message of the engine with Python's names for arguments and methods; None stays None."""
    if not text or not any(sign in text for sign in ("--", "holotrace ")):
        return text
    return _COMMAND.sub(_command, _FLAG.sub(_flag, text))


def nearest(word, words):
    """"did you mean x?" where some word is near, else ""."""
    import difflib  # only when something went wrong

    found = difflib.get_close_matches(str(word), [str(one) for one in words], 1)
    return f"did you mean {found[0]}?" if found else ""


def with_names(text, names):
    """A text about parameters, "num-kernels names", with Python's spelling of their names."""
    for name in names:
        if "-" in name:
            text = re.sub(rf"(?<![\w-]){name}(?![\w-])", argument(name), text)
    return in_python(re.sub(r"(?<![\w])=(true|false)\b", lambda found: found.group(1).capitalize(), text))
