# SPDX-License-Identifier: Apache-2.0
"""The line of the user's own code in the panels of kernels, operators and events: bold, with the stack behind it, copied, and opened in an
editor that somebody chose."""
import json
import re
import shutil

import served
import support
from web import evaluate, needs_browser, needs_node

#: Frames, and whether they are the user's own: the rule is written twice, for rows of a trace and for frames of a call stack.
OWN = json.loads((support.ROOT / "tests" / "page" / "own_frames.json").read_text())
VSCODE = "vscode://file/{file}:{line}"


@needs_node
def test_addresses_that_open_a_line():
    """None without an editor, a line or a folder that finds the file; never one that would run in the page."""
    source = 'import { editorLink } from "./app/editor"; answer = input.map(([s, template, root]: any) => editorLink(s, { template, root }));'
    cases = [
        (["/home/u/train.py(55): step", VSCODE, ""], "vscode://file/home/u/train.py:55"),
        (["train.py(55): step", VSCODE, "/src/"], "vscode://file/src/train.py:55"),
        (["C:\\p\\a b.py(3): f", VSCODE, ""], "vscode://file/C:/p/a%20b.py:3"),
        (["/p/a?#.py(3): f", VSCODE, ""], "vscode://file/p/a%3F%23.py:3"),
        (["/p/$&.py(3): f", VSCODE, ""], "vscode://file/p/$&.py:3"),
        (["lib/m.py(7): f", "https://host/tree/{file}#L{line}", ""], "https://host/tree/lib/m.py#L7"),
        (["train.py(55): step", VSCODE, ""], None),
        (["/home/u/train.py(55): step", "", ""], None),
        (["<built-in method mm>", VSCODE, ""], None),
        (["/a.py(1): f", "javascript://x/{file}", ""], None),
        (["/a.py(1): f", "JavaScript:alert(1)//{file}", ""], None),
        (["/a.py(1): f", "data://text/html,{file}", ""], None),
        (["/a.py(1): f", "{file}", ""], None),
    ]
    assert evaluate(source, [case for case, _ in cases]) == [wanted for _, wanted in cases]


@needs_node
def test_frames():
    """Whose a frame is, as the test below asks the engine; addresses go as they do in operators --by stack."""
    source = ('import { framesOf, isOwn, ownFrame } from "./app/frames"; '
              'answer = { own: input.frames.map(isOwn), of: framesOf(input.stack), first: ownFrame(framesOf(input.stack)) };')
    stack = "<method f of Op object at 0x7f31c0>;\r\ntorch/a.py(1): g;\r\ntrain.py(3): step;main.py(1): <module>"
    answer = evaluate(source, {"frames": list(OWN), "stack": stack})
    assert dict(zip(OWN, answer["own"])) == OWN
    assert answer["of"] == ["<method f of Op object>", "torch/a.py(1): g", "train.py(3): step", "main.py(1): <module>"]
    assert answer["first"] == "train.py(3): step"


@needs_node
def test_standard_modules():
    """All of the list, which the engine searches by halves."""
    text = (support.ROOT / "src" / "model" / "origin" / "standard_modules.def").read_text()
    modules = re.findall(r'^STANDARD_MODULE\("(\w+)"\)$', text, re.M)
    assert modules == sorted(set(modules)) and {"abc", "typing", "zipfile"} <= set(modules)
    frames = [f"{module}{rest}" for module in modules for rest in (".py(1): f", "/a.py(2): g", "\\a.py(3): g", "_own.py(4): f")]
    own = evaluate('import { isOwn } from "./app/frames"; answer = input.map(isOwn);', frames)
    assert own == ["_own" in frame for frame in frames]


def test_frames_of_the_engine(tmp_path):
    """A kernel below each frame: its line is the frame where that is the user's own, and otherwise unknown."""
    events = []
    for i, frame in enumerate(OWN):
        at, one = 100 * i, {"ph": "X", "pid": 1, "tid": 1}
        events += [dict(one, cat="python_function", name=frame, ts=at, dur=50, args={"Python id": i, "Python parent id": None}),
                   dict(one, cat="cpu_op", name="aten::mm", ts=at + 1, dur=40, args={"External id": i + 1}),
                   dict(one, cat="cuda_runtime", name="cudaLaunchKernel", ts=at + 2, dur=5, args={"correlation": i + 1, "External id": i + 1}),
                   {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": at + 20, "dur": 10,
                    "args": {"device": 0, "stream": 7, "correlation": i + 1, "External id": i + 1}}]
    (tmp_path / "trace.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    rows = served.table("events", tmp_path / "trace.json", "--where", "kind == kernel", "--sort", "ts_ns", "--columns", "origin_source")["rows"]
    assert [row[0] for row in rows] == [frame if own else None for frame, own in OWN.items()]


@needs_browser
@served.needs_serve
def test_panels(tmp_path):
    """Of the kernel with a line that takes most time: what the panel shows is the engine's."""
    shutil.copytree(support.ROOT / "examples" / "train", tmp_path / "train")
    fields = ["id", "name", "origin_source", "origin_op"]
    rows = served.table("events", tmp_path / "train", "--where", "kind == kernel and origin_source is not null and origin_op is not null",
                        "--sort", "-dur_ns", "--top", "1", "--columns", ",".join(fields))["rows"]
    event, name, source, op = rows[0]
    with served.serving(tmp_path) as url:
        served.wait_ready(url, 1)
        wanted = {"run": "train", "event": event, "name": name, "source": source, "op": op, "backward": backward_of(url, tmp_path / "train")}
        served.drive("your_code.mjs", url, json.dumps(wanted))


def backward_of(url, run):
    """The longest kernel of a name that has no line anywhere, and the innermost frame of no library around its forward operator."""
    columns = "id,name,origin_source"
    rows = served.table("events", run, "--where", "kind == kernel", "--sort", "-dur_ns", "--columns", columns)["rows"]
    known = {name for _, name, source in rows if source is not None}
    for id_, name, _ in rows:
        if name in known:
            continue
        known.add(name)  # the others of the name are shorter
        links = served.get(url, f"runs/train/event?id={id_}")["links"]
        forward = [link["id"] for link in links if link["link"] == "forward" and not link["outgoing"]]
        around = [frame["name"] for frame in served.get(url, f"runs/train/event?id={forward[0]}")["stack"]] if forward else []
        own = [frame for frame in around if re.match(r"[^<>/]+\.py\(\d+\): ", frame)]
        if own:
            return {"name": name, "source": own[0]}
    raise AssertionError("no kernel of the backward pass")
