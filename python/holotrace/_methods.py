# SPDX-License-Identifier: Apache-2.0
"""Methods from descriptors: one per analysis of the engine, with a signature, types and a docstring.

The source of a method is text, from which Session gets its methods and tools/gen_python_stubs the stub.
"""
from ._speech import argument, with_names

#: Options that choose what of a result is kept; the engine calls them the view.
VIEW = (
    ("columns", "str | Iterable[str] | None", "which columns, in which order: \"a,b\" or a list"),
    ("where", "str | None", "keep rows for which this holds: \"dur_ns > 1ms and name ~ nccl\""),
    ("sort", "str | Iterable[str] | None", "order by columns; a minus means descending: \"-sum_ns,name\""),
    ("top", "int", "only the first rows; 0: all"),
)

_TYPES = {
    "int64": "int", "uint64": "int", "bytes": "int", "float64": "float", "ratio": "float",
    "bool": "bool", "duration": "int | str", "duration_float": "float | str", "time": "int | str",
    "string": "str",
}


def method_name(analysis):
    """"kernel-types" → kernel_types"""
    return analysis["name"].replace("-", "_")


def argument_name(param):
    """A name that Python can use."""
    return argument(param["name"])


def default_of(param):
    """The default as a Python value; durations and texts stay text."""
    text, kind = param["default"], param["type"]
    if kind == "bool":
        return text in ("true", "yes", "on", "1")
    if text is None:
        return None
    try:
        if kind in ("int64", "uint64", "bytes"):
            return int(text)
        if kind in ("float64", "ratio"):
            return float(text)
    except ValueError:
        pass
    return text


def type_of(param):
    """The annotation of an argument."""
    name = param["name"]
    if name in ("rank", "step"):
        return "int | str | Iterable[int] | None"
    if name == "hta-compat":
        return "bool | None"
    if param["choices"]:
        kind = f"Literal[{', '.join(repr(word) for word in param['choices'].split('|'))}]"
    else:
        kind = _TYPES.get(param["type"], "str")
    if kind == "str" and param["default"] is None:
        return "str | Iterable[str] | None"
    return f"{kind} | None" if param["default"] is None and kind != "bool" else kind


def parameters(analysis, common):
    """The analysis's own parameters, then those of every analysis."""
    own = list(analysis["params"])
    names = {param["name"] for param in own}
    return own + [param for param in common if param["name"] not in names]


def signature(analysis, common):
    """The text between the parentheses of a method."""
    others = "Session | Iterable[Session]" if analysis["sides"][0] else "Session"
    items = ["self"] + ([f"other: {others}"] if analysis["n_sets"] == 2 else []) + ["*"]
    for param in parameters(analysis, common):
        default = None if param["name"] == "hta-compat" else default_of(param)
        items.append(f"{argument_name(param)}: {type_of(param)} = {default!r}")
    items += [f"{name}: {kind} = {0 if name == 'top' else None}" for name, kind, _ in VIEW]
    return items


def example(analysis):
    """A call that works on any session."""
    name = method_name(analysis)
    if analysis["n_sets"] == 2:
        return f'holotrace.open("before/").{name}(holotrace.open("after/"))'
    return f'holotrace.open("traces/").{name}(top=10)'


def docstring(analysis, common):
    """Question, method, example, arguments and columns, as help() shows them."""
    lines = [analysis["question"], "", analysis["method"], "", f"    {example(analysis)}", ""]
    if analysis["hta"]:
        lines += [f"Answers what {analysis['hta']} of HTA answers.", ""]
    lines.append("Arguments:")
    if analysis["sides"][0]:
        first, second = analysis["sides"]
        lines.append(f"    other: the other sessions: those of {first} besides self, then those of {second}")
    elif analysis["n_sets"] == 2:
        lines.append("    other: the session to compare with; self is the baseline")
    for param in parameters(analysis, common):
        choices = f" ({param['choices'].replace('|', ', ')})" if param["choices"] else ""
        lines.append(f"    {argument_name(param)}: {param['help']}{choices}")
    lines += [f"    {name}: {text}" for name, _, text in VIEW]
    lines += ["", "Columns:"]
    for column in analysis["columns"]:
        unit = f" [{column['unit']}]" if column["unit"] else ""
        lines.append(f"    {column['name']}{unit}: {column['sentence']}")
    names = [param["name"] for param in parameters(analysis, common)]
    return "\n".join(with_names(line, names) for line in lines)


def source(analysis, common):
    """The method as Python text."""
    names = [param["name"] for param in parameters(analysis, common)]
    values = ", ".join(f"{param['name']!r}: {argument_name(param)}"
                       for param in parameters(analysis, common))
    other = "other" if analysis["n_sets"] == 2 else "None"
    assert "rank" in names
    arguments = [argument_name(param) for param in parameters(analysis, common)]
    arguments += [view[0] for view in VIEW]
    return (f"def {method_name(analysis)}({', '.join(signature(analysis, common))}, **unknown) -> Table:\n"
            f"    if unknown:\n"
            f"        self._refuse({method_name(analysis)!r}, unknown, {arguments!r})\n"
            f"    return self._run({analysis['name']!r}, {{{values}}}, {other}, columns, where, sort, top)\n")
