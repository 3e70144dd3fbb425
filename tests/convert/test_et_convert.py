# SPDX-License-Identifier: Apache-2.0
"""et-convert: Chakra's messages by an independent decoder, and what is written read again."""
import ast
import csv
import gzip
import io
import json
import re
import shutil
import subprocess

import pytest

import support

ET, KINETO = "examples/et/with_kineto.et.json.gz", "examples/et/with_kineto.json.gz"
PROTO = support.ROOT / "tests/convert/chakra.proto"
TYPES = {"metadata": "METADATA_NODE", "comp": "COMP_NODE", "send": "COMM_SEND_NODE", "recv": "COMM_RECV_NODE",
         "coll": "COMM_COLL_NODE"}


def convert(*args):
    support.output("et-convert", *map(str, args), cwd=support.ROOT)


def rows(path, *args):
    csv.field_size_limit(1 << 30)
    out = support.output("et-nodes", str(path), "--format", "csv", *args, cwd=support.ROOT).decode()
    return list(csv.DictReader(io.StringIO(out)))


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def frames(data):
    """The messages of a file."""
    at, found = 0, []
    while at < len(data):
        n, at = varint(data, at)
        assert at + n <= len(data)
        found.append(data[at:at + n])
        at += n
    return found


def number(value):
    out = b""
    while True:
        out += bytes([value & 127 | (128 if value > 127 else 0)])
        value >>= 7
        if not value:
            return out


def unescape(text):
    """A string of protoc's text form."""
    return ast.literal_eval("b" + text).decode()


def parse_text(lines):
    """protoc's text form as lists of (key, value); messages are lists themselves."""
    found = []
    for line in lines:
        line = line.strip()
        if line == "}":
            return found
        if line.endswith("{"):
            found.append((line.split()[0], parse_text(lines)))
        else:
            key, value = line.split(": ", 1)
            found.append((key, unescape(value) if value.startswith('"') else value))
    return found


def decode(data):
    """{metadata, nodes} as protoc reads the file."""
    if shutil.which("protoc") is None:
        pytest.skip("skipped: no protoc")
    messages = frames(data)
    whole = b"\x0a" + number(len(messages[0])) + messages[0]
    whole += b"".join(b"\x12" + number(len(m)) + m for m in messages[1:])
    done = subprocess.run(["protoc", f"--proto_path={PROTO.parent}", "--decode=ChakraProtoMsg.File", PROTO.name],
                          input=whole, stdout=subprocess.PIPE, check=True)
    return parse_text(iter(done.stdout.decode().splitlines()))


def attributes(node):
    found = {}
    for key, value in node:
        if key == "attr":
            (_, name), *rest = value
            found[name] = rest[0] if rest else None
    return found


def get(node, name, default):
    return next((value for key, value in node if key == name), default)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("et") / "x.0.et"
    convert(ET, "--kineto", KINETO, "-o", path)
    return path


def test_decoder_agrees_with_reader(written):
    """What protoc reads is what our reader reads."""
    decoded = decode(written.read_bytes())
    nodes = [value for key, value in decoded if key == "nodes"]
    read = rows(written)
    assert len(nodes) == len(read) == 182
    for node, row in zip(nodes, read):
        assert int(get(node, "id", 0)) == int(row["id"]) and get(node, "name", "") == row["name"]
        assert get(node, "type", None) == TYPES[row["node_type"]]
        assert [int(v) for k, v in node if k == "data_deps"] == json.loads(row["data_deps"])
        assert int(get(node, "start_time_micros", 0)) == int(row["start_us"])
        assert int(get(node, "duration_micros", 0)) == int(row["duration_us"])
        for side, columns in (("inputs", ("inputs", "input_shapes", "input_types")),
                              ("outputs", ("outputs", "output_shapes", "output_types"))):
            for part, column in zip(("values", "shapes", "types"), columns):
                assert ast.literal_eval(get(get(node, side, []), part, "")) == json.loads(row[column])
        attrs = attributes(node)
        for name in ("rf_id", "fw_parent", "seq_id", "scope", "tid", "fw_tid"):
            assert attrs[name] == ("int64_val", row[name])
        assert attrs["op_schema"] == ("string_val", row["op_schema"])
        others = json.loads(row["other_attrs"])
        assert attrs["is_cpu_op"] == ("bool_val", "true" if others["is_cpu_op"] else "false")
        assert attrs["stream"] == ("int64_val", str(others["stream"]))
    metadata = attributes(get(decoded, "metadata", []))
    with gzip.open(support.ROOT / ET) as file:
        head = json.load(file)
    assert metadata["schema"] == ("string_val", head["schema"]) and metadata["pid"] == ("uint64_val", str(head["pid"]))
    assert metadata["finish_ts"] == ("uint64_val", str(head["finish_ts"]))


def test_what_simulators_need(written):
    """Ids ascend, dependencies exist and go round in no circle, arguments are Python's repr of the lists."""
    read = rows(written)
    ids = [int(row["id"]) for row in read]
    assert ids == sorted(set(ids))
    done = set()
    left = {int(row["id"]): set(json.loads(row["data_deps"])) for row in read}
    assert all(deps <= set(ids) for deps in left.values())
    while left:
        ready = [i for i, deps in left.items() if deps <= done]
        assert ready
        done.update(ready)
        for i in ready:
            del left[i]
    with gzip.open(support.ROOT / ET) as file:
        by_rf = {next(a["value"] for a in n["attrs"] if a["name"] == "rf_id"): n for n in json.load(file)["nodes"]}
    for row, message in zip(read, frames(written.read_bytes())[1:]):
        if json.loads(row["other_attrs"])["is_cpu_op"] and int(row["rf_id"]):
            node = by_rf[int(row["rf_id"])]
            for column, part in (("inputs", "values"), ("input_shapes", "shapes"), ("input_types", "types")):
                assert json.loads(row[column]) == node["inputs"][part]
                assert repr(node["inputs"][part]).encode() in message


def test_peers_of_both_sides(tmp_path):
    """Every send has a receive on the other rank with the same ends, number and size; groups are declared."""
    sent, received = [], []
    for rank in range(4):
        path = tmp_path / f"pp.{rank}.et"
        convert(f"tests/data/et/pp_rank{rank}.et.json.gz", "--kineto", f"tests/data/pipeline/pp_rank{rank}.json.gz", "-o", path)
        groups = None
        for row in rows(path):
            others = json.loads(row["other_attrs"])
            if row["node_type"] == "metadata":
                groups = {g["pg_name"] for g in json.loads(json.loads(row["inputs"])[0])}
            if row["node_type"] in ("send", "recv"):
                key = tuple(others[f"comm_{x}"] for x in ("src", "dst", "tag", "size"))
                (sent if row["node_type"] == "send" else received).append(key)
                assert rank == key[0 if row["node_type"] == "send" else 1]
            if row["node_type"] in ("send", "recv", "coll"):
                assert row["pg_name"] in groups and not others["is_cpu_op"] and others["comm_size"] > 0
            if row["node_type"] == "coll":
                assert others["comm_type"] == 0
    assert len(sent) == 32 and sorted(sent) == sorted(received)


def test_as_chakra(tmp_path):
    """No start times, no edges from the GPU, no peers; calls depend on the call before."""
    path = tmp_path / "x.et"
    convert("tests/data/et/pp_rank0.et.json.gz", "--kineto", "tests/data/pipeline/pp_rank0.json.gz", "--compat", "chakra", "-o", path)
    read = rows(path)
    on_gpu = {int(row["id"]) for row in read if not json.loads(row["other_attrs"])["is_cpu_op"]}
    assert on_gpu and not any(set(json.loads(row["data_deps"])) & on_gpu for row in read)
    assert all(row["start_us"] == "0" and "comm_src" not in row["other_attrs"] for row in read)
    assert {row["node_type"] for row in read} == {"metadata", "comp", "send", "recv", "coll"}


def test_without_kineto(tmp_path):
    """Collectives stand for themselves, off the host."""
    path = tmp_path / "x.et.gz"
    convert("tests/data/et/pp_rank0.et.json.gz", "--to", "chakra", "-o", path)
    read = rows(path)
    comms = [row for row in read if row["node_type"] in ("send", "recv", "coll")]
    assert len(comms) == 32 and all(row["name"] == "record_param_comms" for row in comms)
    assert all(not json.loads(row["other_attrs"])["is_cpu_op"] for row in comms)


def test_chakra_as_json(tmp_path):
    """Arguments, tensors and groups of a Chakra file are those of the trace that it was made of."""
    path, back = tmp_path / "x.et", tmp_path / "x.json"
    et = support.ROOT / "tests/data/et/pp_rank0.et.json.gz"
    convert(et, "--to", "chakra", "-o", path)
    convert(path, "--to", "json", "-o", back)
    columns = ("name", "rf_id", "inputs", "input_shapes", "input_types", "outputs", "output_types", "input_tensors",
               "output_tensors")
    wanted = {row["rf_id"]: row for row in rows(et) if row["rf_id"] != "0"}
    for file in (path, back):
        found = {row["rf_id"]: row for row in rows(file) if row["rf_id"] not in ("", "0")}
        assert found.keys() == wanted.keys()
        for rf_id, row in found.items():
            for column in columns:
                same = json.loads if column.startswith(("in", "out")) else str
                assert same(row[column]) == same(wanted[rf_id][column]), (rf_id, column)
        groups = [row["pg_name"] for row in rows(file, "--view", "groups")]
        assert groups == [row["pg_name"] for row in rows(et, "--view", "groups")] and groups


def test_odd_reprs(tmp_path):
    """Python's escapes, tuples and words; what is no repr is kept as a string."""
    texts = {"['a\\'b', \"c'd\", '\\x41\\u00e9\\U0001F600\\\\']": ["a'b", "c'd", "Aé😀\\"],
             "[(1,), (1, 2), (), [True, None, -1.5e-07, inf]]": [[1], [1, 2], [], [True, None, -1.5e-07, "inf"]],
             "['open": "['open", "[1, 2": "[1, 2", "hello": "hello", "": "", "[1] 2": "[1] 2"}
    metadata = number(0)
    nodes = b""
    for i, text in enumerate(texts):
        values = b"\x0a" + number(len(text.encode())) + text.encode()
        node = b"\x08" + number(i + 1) + b"\x12\x01n" + b"\x42" + number(len(values)) + values
        nodes += number(len(node)) + node
    path = tmp_path / "x.et"
    path.write_bytes(metadata + nodes)
    assert [json.loads(row["inputs"]) for row in rows(path)] == list(texts.values())


def test_json_is_the_same(tmp_path):
    """Written and read again: the same document."""
    for name in (ET, "tests/data/et/compile.et.json.gz", "tests/data/et/pp_rank0.et.json.gz"):
        path = tmp_path / "x.json"
        convert(name, "-o", path)
        with gzip.open(support.ROOT / name) as file:
            assert json.loads(path.read_text()) == json.load(file)


def test_json_repairs(tmp_path):
    """A damaged file comes out as JSON without errors."""
    with gzip.open(support.ROOT / ET, "rt") as file:
        text = file.read()
    cut = text[:len(text) * 9 // 10].replace('"## TEST 1 ##"', '"say "hi" C:\\"')
    (tmp_path / "bad.json").write_text(cut)
    convert(tmp_path / "bad.json", "-o", tmp_path / "good.json")
    nodes = json.loads((tmp_path / "good.json").read_text())["nodes"]
    assert 'say "hi" C:\\' in {node["name"] for node in nodes} and nodes[-1]["id"] == 1


def test_linked(tmp_path):
    """GPU nodes behind their host, remapped parents, times in microseconds."""
    path = tmp_path / "x.json"
    convert(ET, "--kineto", KINETO, "-o", path)
    nodes = json.loads(path.read_text())["nodes"]
    assert [node["id"] for node in nodes] == list(range(183))
    gpu = [node for node in nodes if "cat" in node]
    assert len(gpu) == 36
    for node in gpu:
        host = nodes[node["ctrl_deps"]]
        assert "cat" not in host and host["attrs"] == node["attrs"] and host["inputs"] == node["inputs"]
        assert node["exclusive_dur"] == node["inclusive_dur"] and node["ts"] >= host["ts"]
    calls = [node for node in nodes if "inclusive_dur" in node and "cat" not in node]
    steps = [node for node in calls if "ProfilerStep" in node["name"]]
    total = sum(node["exclusive_dur"] for node in calls) - sum(node["exclusive_dur"] for node in steps)
    assert abs(total - 18229.292) < 1e-6
    assert all(nodes[node["sync_dep"][0]]["cat"] for node in calls if node["sync_dep"])
    assert any(node["inter_thread_dep"] is not None for node in calls)


def test_dot_and_timeline(tmp_path, written):
    """A graph of what Chakra's file says, and a trace that opens."""
    convert(ET, "--kineto", KINETO, "-o", tmp_path / "x.dot")
    edges = re.findall(r"^\tn(\d+) -> n(\d+);$", (tmp_path / "x.dot").read_text(), re.M)
    wanted = [(str(on), row["id"]) for row in rows(written) for on in json.loads(row["data_deps"])]
    assert sorted(edges) == sorted(wanted)
    for args in ([], ["--kineto", KINETO]):
        convert(ET, *args, "--to", "timeline", "-o", tmp_path / "x.trace.json")
        out = support.output("info", str(tmp_path / "x.trace.json"), "--format", "csv").decode()
        assert "events,cpu_op,136" in out and ("events,kernel,26" in out) == bool(args)
    convert(written, "--to", "dot", "-o", tmp_path / "y.dot")
    assert (tmp_path / "y.dot").read_text().count(" -> n") == len(edges)


def test_refusals(tmp_path):
    done = support.run("et-convert", ET, "--to", "linked", "-o", str(tmp_path / "x"), cwd=support.ROOT)
    assert done.returncode == 2 and b"needs the Kineto trace" in done.stderr
    done = support.run("et-convert", "tests/data/et", "-o", str(tmp_path / "x.json"), cwd=support.ROOT)
    assert done.returncode == 2 and b"{rank}" in done.stderr
    done = support.run("et-convert", ET, "--kineto", "examples/train/train.json.gz", "-o", str(tmp_path / "x.et"), cwd=support.ROOT)
    assert done.returncode == 3 and b"not of the same run" in done.stderr
    assert not list(tmp_path.iterdir())
    done = support.run("et-convert", ET, cwd=support.ROOT)
    assert done.returncode == 2
    copy = tmp_path / "copy.json"
    convert(ET, "-o", copy)
    done = support.run("et-convert", str(copy), "-o", str(copy))
    assert done.returncode == 2 and b"being read" in done.stderr


def send_of(path, start=0, stride=1, numel=4, **more):
    """A send to rank 4 of a group that nothing declares, of two tensors of one byte each element."""
    none = {"values": [], "shapes": [], "types": [], "strides": []}

    def node(ident, name, parent, inputs, attrs):
        base = {"rf_id": ("uint64", ident), "fw_parent": ("uint64", 0), "seq_id": ("int64", -1), "scope": ("uint64", 0), "tid": ("uint64", 1),
                "fw_tid": ("uint64", 0), "op_schema": ("string", ""), **attrs}
        return {"id": ident, "name": name, "ctrl_deps": parent, "inputs": inputs, "outputs": none,
                "attrs": [{"name": key, "type": kind, "value": value} for key, (kind, value) in base.items()]}

    tensor = [1, 2, 0, numel, 1, "cpu"]
    inputs = {"values": [tensor, tensor, [1, False], ["0", "d"], 4], "shapes": [[]] * 5, "strides": [[]] * 5,
              "types": ["Tensor(float)", "Tensor(float)", "Tuple[Int,Bool]", "Tuple[String,String]", "Int"]}
    attrs = {"collective_name": ("string", "send"), "pg_name": ("string", "0"), "global_rank_start": ("uint64", start),
             "global_rank_stride": ("uint64", stride), **more}
    path.write_text(json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "time": "x", "start_ts": 1, "nodes": [
        node(3, "record_param_comms", 2, inputs, attrs), node(2, "[pytorch|profiler|execution_trace|thread]", 1, none, {}),
        node(1, "[pytorch|profiler|execution_trace|process]", 1, none, {})], "finish_ts": 2}))
    return path


@pytest.mark.parametrize("start, stride, numel, peer, n_bytes", (
    (3, 2, 4, 11, 8), (3, 2**62, 4, None, 8), (2**63 - 1, 1, 4, None, 8), (3, 1, 2**62 + 5, 7, 2**63 - 1)))
def test_numbers_beyond_64_bits(start, stride, numel, peer, n_bytes, tmp_path):
    """start + stride * 4 is the peer, where that is a rank; twice the tensor is the size, or the most that there is."""
    convert(f"0={send_of(tmp_path / 'x.json', start, stride, numel)}", "--to", "chakra", "-o", tmp_path / "x.et")
    found, = (json.loads(row["other_attrs"]) for row in rows(tmp_path / "x.et") if row["node_type"] == "send")
    assert found.get("comm_dst") == peer and found["comm_size"] == n_bytes


def test_names_of_attributes_are_escaped(tmp_path):
    names = {'a"b': 1, "c\\d": 2, "e\nf": 3}
    path = send_of(tmp_path / "x.json", **{name: ("uint64", value) for name, value in names.items()})
    others, = (row["other_attrs"] for row in rows(path) if row["name"] == "record_param_comms")
    assert {name: value for name, value in json.loads(others).items() if name in names} == names
