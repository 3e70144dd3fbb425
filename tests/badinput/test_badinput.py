# SPDX-License-Identifier: Apache-2.0
"""Input that cannot be read, or wants to hurt: a clear message, exit 3 or 4, bounded memory and time.

"Cannot be read" is exit 3, beyond an explicit limit exit 4, with the file's name and what to do. Input that is odd but holds events is
read; it only has to stay within the memory limit. No case may end by a signal.
"""
import functools
import gzip
import json
import lzma
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import zlib

import pytest

import support

MEMORY = support.GIB
TIMEOUT = 120
#: Many: more than any small number counts. Under sanitizers, which make each cost much more, still more than 16 bits count.
MILLION = 200_000 if support.is_sanitized() else 1_000_000
#: An event or a header value may be as long as 64 MiB; this is longer.
TOO_LONG = 65 << 20
PNG = (b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 1, 1, 8, 2, 0, 0, 0)
       + b"\x90wS\xde" + os.urandom(4096))
EVENT = b'{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1'


@pytest.fixture
def folder():
    """A folder on the large disk: some inputs are big (sparse) files."""
    with tempfile.TemporaryDirectory(prefix="holotrace-bad-") as name:
        yield pathlib.Path(name)


def attempt(*args, **options):
    options.setdefault("timeout", TIMEOUT)
    done = support.run(*args, "--no-cache", memory_bytes=options.pop("memory_bytes", MEMORY), **options)
    assert done.returncode >= 0, f"ended by {signal.Signals(-done.returncode).name}: {done.stderr[-2000:]!r}"
    return done


def refused(path, *args, code=3, **options):
    """The file is refused as it should be; answers the message. An explicit limit is code 4."""
    done = attempt("info", path, *args, **options)
    message = done.stderr.decode(errors="replace")
    assert done.returncode == code, f"exit {done.returncode}: {message}"
    assert not done.stdout
    assert message.startswith("holotrace: "), message
    assert os.path.basename(path) in message, f"the message does not name the file: {message}"
    assert "Traceback" not in message and len(message) < 2000
    assert len(re.split(r"[.;:!?]\s", message.strip())) >= 2, f"no hint: {message}"
    return message


def survived(path, **options):
    """Read or refused, but nothing worse; exit 4 is an explicit limit."""
    done = attempt("events", path, "--format", "csv", "--columns", "index,ts_ns", **options)
    assert done.returncode in (0, 3, 4), done.stderr.decode(errors="replace")
    if done.returncode:
        assert os.path.basename(path).encode() in done.stderr
    return done


def put(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return path


def test_missing_file(folder):
    assert "no such file" in refused(folder / "absent.json").lower()


def test_empty_file(folder):
    assert "empty" in refused(put(folder, "empty.json", b"")).lower()


@pytest.mark.parametrize("text", [b" ", b"\n" * 10_000, b"{", b"{}", b"null", b"17", b'"text"',
                                  b'{"traceEvents": 5}', b'{"a": {"traceEvents": []}}', b"hello\n", b'[{}]', b'[{"a": 1}, {"b": [2]}]',
                                  b'{"a": 1, "ts": 5}\n{"b": 2}\n', b'{"traceEvents": [{"x": {"name": "y"}}]}',
                                  b"\xef\xbb\xbf", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"}" * 1000])
def test_no_trace(folder, text):
    refused(put(folder, "thing.json", text))


def test_png(folder):
    refused(put(folder, "picture.png", PNG))


@pytest.mark.parametrize("data, what", [(json.dumps({"traceEvents": []}).encode("utf-16"), "UTF-16"),
                                        (json.dumps({"traceEvents": []}).encode("utf-32"), "UTF-32"),
                                        (lzma.compress(b'{"traceEvents": []}'), "xz"),
                                        (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n", "git lfs pull"),
                                        (b"/annex/objects/MD5E-s4--4d7a.json.gz\n", "git annex get")],
                         ids=["utf-16", "utf-32", "xz", "git-lfs", "git-annex"])
def test_what_is_not_the_trace_itself(folder, data, what):
    """Also of a folder that has nothing else."""
    assert what in refused(put(folder, "t.json", data))
    assert what in refused(folder)


def test_png_named_json(folder):
    refused(put(folder, "picture.json", PNG))


def test_random_bytes(folder):
    refused(put(folder, "noise.json", os.urandom(1 << 20).replace(b"{", b"x").replace(b"[", b"x")))


def test_directory_without_traces(folder):
    (folder / "run").mkdir()
    put(folder / "run", "notes.txt", b"no trace")
    refused(folder / "run")
    (folder / "void").mkdir()
    refused(folder / "void")


def test_sparse_10_gb(folder):
    path = folder / "sparse.json"
    with open(path, "wb") as file:
        file.truncate(10 * support.GIB)
    refused(path)


def test_sparse_gigabytes_after_events(folder):
    """A disk that filled up leaves zeros behind good events; with HOLOTRACE_LONG more than 32 bits count."""
    path = put(folder, "tail.json", b'{"traceEvents": [' + EVENT + b"},")
    with open(path, "r+b") as file:
        file.truncate(5 * support.GIB if support.LONG and not support.is_sanitized() else support.GIB)
    done = survived(path, memory_bytes=7 * support.GIB, timeout=300)
    if done.returncode == 0:
        assert done.stdout == b"index,ts_ns\n0,1000\n"


@pytest.mark.parametrize("n_blanks", [100, 5000])
def test_blanks_instead_of_an_event_s_end(folder, n_blanks):
    """A list in an event is not that of the events, however far the next event is: what follows is no header."""
    def event(index, args):
        return b'{"ph": "X", "name": "e", "ts": %d, "dur": 1, "pid": 1, "tid": 1, "args": {%s' % (index, args)
    whole = [event(index, b'"a": [[1], []], "b": 1}}') for index in range(4)]
    path = put(folder, "blanks.json", b'{"traceEvents": [' + event(9, b'"a": [[1], []], "b": [[2],') + b" " * n_blanks +
               b",\n".join(whole) + b'], "traceName": "t"}')
    done = survived(path)
    assert done.stdout == b"index,ts_ns\n" + b"".join(b"%d,%d\n" % (index, index * 1000) for index in range(4))


def bomb(path, block, total, head=b""):
    """A gzip file that inflates to head and then total times the byte block, made in little time."""
    with open(path, "wb") as file:
        file.write(gzip.compress(head + block, 9))
        member = gzip.compress(block * (16 << 20), 9)
        for _ in range(total // (16 << 20)):
            file.write(member)


@pytest.mark.parametrize("block", [b"\0", b" "], ids=["zeros", "blanks"])
def test_gzip_bomb(folder, block):
    path = folder / "bomb.json.gz"
    bomb(path, block, 10 * support.GIB)
    refused(path, timeout=300, code=3 if block == b"\0" else 4)


def test_gzip_bomb_one_member(folder):
    """One member that never ends: a streaming reader must not hold what it inflated."""
    path = folder / "bomb.json.gz"
    packer, blanks = zlib.compressobj(1, zlib.DEFLATED, 31), b" " * (1 << 20)
    first = packer.compress(blanks) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(blanks) + packer.flush(zlib.Z_FULL_FLUSH)  # refers to nothing before it, and so does any repetition
    crc = functools.reduce(lambda crc, _: zlib.crc32(blanks, crc), range(700), 0)
    path.write_bytes(first + 699 * again + b"\3\0" + struct.pack("<II", crc, 700 << 20))
    with gzip.open(path) as file:
        assert file.read(1 << 20) == blanks
    refused(path, timeout=300)


def test_gzip_bomb_inside_string(folder):
    """The bomb is a name: the text would be 2 GB, and memory is half of that."""
    path = folder / "bomb.json.gz"
    bomb(path, b"x", 2 * support.GIB, head=b'{"traceEvents": [{"ph": "X", "name": "')
    survived(path, timeout=300)


def test_zstd_bomb(folder):
    path = folder / "bomb.json.zst"
    with open(path, "wb") as file:
        zeros = subprocess.Popen(["head", "-c", str(2 * support.GIB), "/dev/zero"], stdout=subprocess.PIPE)
        subprocess.run(["zstd", "-q", "-c", "-1"], stdin=zeros.stdout, stdout=file, check=True)
        zeros.wait()
    refused(path, timeout=300)


@pytest.mark.parametrize("inner", ["gzip", "zstd", "zstd after a frame that is skipped"])
def test_compressed_twice(folder, inner):
    text = b'{"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 1, "pid": 1, "tid": 1}]}'
    packed = gzip.compress(text) if inner == "gzip" else \
        subprocess.run(["zstd", "-q", "-c"], input=text, stdout=subprocess.PIPE, check=True).stdout
    if "skipped" in inner:
        packed = b"\x5f\x2a\x4d\x18\x01\0\0\0x" + packed
    assert support.run("events", put(folder, "once.json", packed)).returncode == 0
    assert "compressed once more" in refused(put(folder, "twice.json.gz", gzip.compress(packed)))


def test_no_permission(folder):
    path = put(folder, "secret.json", b'{"traceEvents": []}')
    path.chmod(0)
    folder.chmod(0o755)
    if os.geteuid() != 0:
        assert "permission" in refused(path).lower()
        return
    if not shutil.which("setpriv"):
        pytest.skip("skipped: root reads every file and setpriv is not here")
    done = subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", support.EXE, "info",
         "--no-cache", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=support.environment())
    if done.returncode in (126, 127):
        pytest.skip("skipped: the program's own folder is closed to other users")
    assert done.returncode == 3
    assert b"secret.json" in done.stderr and b"ermission" in done.stderr


@pytest.mark.parametrize("text", [b"[" * 1_000_000, b'{"traceEvents": ' + b"[" * 1_000_000,
                                  b'{"a":' * 1_000_000, b"[" * 1_000_000 + b"]" * 1_000_000],
                         ids=["array", "events", "objects", "closed"])
def test_million_brackets(folder, text):
    refused(put(folder, "deep.json", text))


def test_million_nested_objects_in_args(folder):
    deep = b'{"a":' * 1_000_000 + b"1" + b"}" * 1_000_000
    text = b'{"traceEvents": [' + EVENT + b', "args": ' + deep + b"}," + EVENT + b"}]}"
    survived(put(folder, "deep.json", text))


def test_million_brackets_in_arg(folder):
    """Closed and unclosed; the unclosed one swallows the rest of the file."""
    for end in (b"]" * 1_000_000 + b"}},", b""):
        text = b'{"traceEvents": [' + EVENT + b', "args": {"v": ' + b"[" * 1_000_000 + end + EVENT + b"}]}"
        survived(put(folder, "deep.json", text))


def test_name_that_is_too_long(folder):
    text = (b'{"traceEvents": [{"ph": "X", "name": "' + b"n" * TOO_LONG
            + b'", "pid": 1, "tid": 1, "ts": 2, "dur": 1},' + EVENT + b"}]}")
    assert "at byte 17." in refused(put(folder, "long.json", text), code=4)


def test_name_that_is_too_long_without_end(folder):
    survived(put(folder, "long.json", b'{"traceEvents": [' + EVENT + b'}, {"name": "' + b"n" * TOO_LONG))


def test_key_that_is_too_long(folder):
    text = b'{"traceEvents": [' + EVENT + b', "args": {"' + b"k" * TOO_LONG + b'": 1}}]}'
    survived(put(folder, "long.json", text))


def test_million_arg_keys(folder):
    """Every event brings a key of its own."""
    events = b",".join(EVENT + b', "args": {"k%d": 1}}' % i for i in range(MILLION))
    survived(put(folder, "keys.json", b'{"traceEvents": [' + events + b"]}"), timeout=300)


def test_million_header_keys(folder):
    keys = b",".join(b'"h%d": 1' % i for i in range(MILLION))
    survived(put(folder, "keys.json", b"{" + keys + b', "traceEvents": [' + EVENT + b"}]}"), timeout=300)


def test_million_documents(folder):
    """More documents than a 16-bit number can count."""
    survived(put(folder, "many.json", b'{"traceEvents": []}\n' * MILLION), timeout=300)


def test_million_tracks(folder):
    events = b",".join(b'{"ph":"X","name":"a","pid":%d,"tid":"t%d","ts":1,"dur":1}' % (i, i)
                       for i in range(MILLION))
    survived(put(folder, "tracks.json", b'{"traceEvents": [' + events + b"]}"), timeout=300)


def test_hundred_thousand_categories(folder):
    """More categories than a 16-bit number can count."""
    events = b",".join(b'{"ph":"X","cat":"c%d","name":"a","pid":1,"tid":1,"ts":1,"dur":1}' % i
                       for i in range(100_000))
    survived(put(folder, "cats.json", b'{"traceEvents": [' + events + b"]}"))


def test_all_open_begins(folder):
    """A million B events without E, on one thread: the stack must not be the machine's."""
    events = b",".join(b'{"ph":"B","name":"a","pid":1,"tid":1,"ts":%d}' % i for i in range(MILLION))
    survived(put(folder, "open.json", b'{"traceEvents": [' + events + b"]}"), timeout=300)


def test_million_nested_spans(folder):
    """A call tree of a million levels."""
    events = b",".join(b'{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":%d,"dur":%d}'
                       % (i, 2 * MILLION - 2 * i) for i in range(MILLION))
    survived(put(folder, "nested.json", b'{"traceEvents": [' + events + b"]}"), timeout=300)


@pytest.mark.parametrize("text", [
    b'"ts": 1e999999999', b'"ts": -1e999999999', b'"ts": 1e-999999999', b'"ts": ' + b"9" * 100_000,
    b'"ts": 0.' + b"0" * 100_000 + b"1", b'"ts": -', b'"ts": 1.', b'"ts": .5', b'"ts": +1', b'"ts": 0x10',
    b'"ts": 1e', b'"ts": 9223372036854775807', b'"ts": -9223372036854775808', b'"ts": ""',
    b'"ts": 9223372036854775.808', b'"ts": [1]', b'"ts": {"ts": 1}', b'"ts": true'],
    ids=lambda t: t.decode()[:24])
def test_odd_numbers(folder, text):
    event = b'{"ph": "X", "cat": "c", "name": "odd", "pid": 1, "tid": 1, ' + text + b', "dur": 1}'
    path = put(folder, "odd.json", b'{"traceEvents": [' + event + b"," + EVENT + b"}]}")
    done = survived(path)
    assert done.returncode == 0
    assert b",1000\n" in done.stdout, "the event after the odd one was lost"
    assert attempt("health", path).returncode == 0


@pytest.mark.parametrize("key", ["pid", "tid", "dur", "cat", "name", "ph", "args"])
@pytest.mark.parametrize("value", ["null", "[]", "{}", "true", "1e400", "-0", '"\\ud800"', '""', "99999999999999999999"])
def test_odd_values(folder, key, value):
    event = json.loads(EVENT + b"}")
    event[key] = "@"
    text = json.dumps(event).replace('"@"', value).encode()
    path = put(folder, "odd.json", b'{"schemaVersion": 1, "traceEvents": [' + text + b"," + EVENT + b"}]}")
    done = survived(path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(b"\n") == 3, "both events are kept"
    assert attempt("health", path).returncode == 0


#: Files that are no trace and no list of paths, though a line of them could be taken for a path or a pattern.
NO_LISTS = {
    "files of a package": b'{"files": [' + b", ".join(b'"/usr/lib/python3/%d.py"' % i for i in range(4000)) + b"]}",
    "a pattern of slashes": b"{}[" + b"/b" * 15_000,
    "slashes": b"/" * 100_000,
    "stars": b"/*" * 50_000,
    "brackets": b"[[" + b"/[a" * 30_000,
    "a path and markup": b"/\n<html>\n",
    "a path and JSON": b"/\n{}\n",
    "a path and bytes": b"/\n\x01\n",
    "a path and a long line": b"/\n" + b"a" * 5000 + b"\n",
}


@pytest.mark.parametrize("name", NO_LISTS)
def test_no_list(folder, name):
    """Lists are told by their form; what is none is no trace either, and is not expanded."""
    assert "line " not in refused(put(folder, "thing.json", NO_LISTS[name]), timeout=20)


def test_forced_list_is_bounded(folder):
    """@FILE is a list whatever it looks like, but not without end."""
    for text in (b"a" * 5000, b"/*" * 50_000, b"/dev/null\n" * 70_000):
        put(folder, "list.txt", text)
        done = attempt("info", f"@{folder / 'list.txt'}", timeout=60)
        assert done.returncode in (3, 4) and b"list.txt" in done.stderr


def test_damaged_trace_is_no_list(folder):
    """A one-line trace with any of its brackets deleted is read, or refused as a trace."""
    text = (b'{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "/"}, {"id": 1, "name": "/*"}], '
            b'"distributedInfo": {"rank": 0, "ranks": [0, 1]}, "traceEvents": ['
            + EVENT + b', "args": {"v": [1, [2]]}},' + EVENT + b'}], "traceName": "/tmp/[a]*/b.json"}')
    for at in [i for i, c in enumerate(text) if c in b"[]{}"]:
        done = survived(put(folder, "line.json", text[:at] + text[at + 1:]))
        assert done.returncode == 0 and done.stdout.count(b"\n") >= 2, (at, done.stderr)


def test_many_keys_keep_the_first(folder):
    """Of more keys than can be kept the first of the file are, whatever threads and chunks."""
    events = [EVENT + b', "args": {"k%d": %d, "last%d": 1}}' % (i, i, i % 7) for i in range(20_000)]
    path = put(folder, "keys.json", b'{"schemaVersion": 1, "traceEvents": [' + b",\n".join(events) + b"]}")
    whole = support.dump(path, "--no-cache", "--jobs", "1")
    for chunk, jobs in ((0, 4), (5000, 3), (70_000, 2), (70_000, 8)):
        assert support.dump(path, "--no-cache", "--chunk-bytes", str(chunk), "--jobs", str(jobs)) == whole
    lost = support.health(path, "--no-cache")
    assert lost["too_many_keys"] == 20_000 - (16_384 - 7), lost
    cells = support.read_csv(support.output(
        "events", path, "--no-cache", "--format", "csv", "--columns", "args.k0,args.k16376,args.last3"))[1]
    assert cells[0][0] == "0" and cells[16_376][1] == "16376" and cells[19_995][2] == "1"


#: Texts that made a reader look at the rest of the file again and again, once for each piece.
UNCLOSED = [b'{"ph":"X","args":{"v":[', b'{"ph":"X","name":"abc', b'{"ph":"X","a":{"k":', b'},{"a":[', b'"', b"}],",
            b'[[{}],"k":1},{"a":', b',"a":[{"b":', b'{"traceEvents":', b'"traceEvents:', b'}],"k":',
            b'{"ph":"X","a":' + b"[" * 300 + b"},", b'{"name":"' + b"x" * 1500]


@pytest.mark.parametrize("unit", UNCLOSED, ids=lambda u: u[:24].decode())
@pytest.mark.parametrize("head", [b'{"traceEvents":[', b'{"x":'], ids=["events", "header"])
def test_unclosed_again_and_again(folder, head, unit):
    """Damage everywhere takes time in proportion to the file."""
    done = survived(put(folder, "open.json", head + unit * (400_000 // len(unit))), timeout=60)
    assert done.returncode in (0, 3)


def small_gzip():
    return gzip.compress(support.trace_bytes(support.ROOT / "examples" / "et" / "with_kineto.json.gz"), 6, mtime=0)


def test_truncated_gzip(folder):
    data = small_gzip()
    for n in (11, 20, 200, len(data) // 2, len(data) - 9, len(data) - 4, len(data) - 1):
        survived(put(folder, "cut.json.gz", data[:n]))
    done = survived(put(folder, "cut.json.gz", data[:len(data) // 2]))
    assert done.returncode == 0 and len(done.stdout) > 1000, "nothing was kept of half a file"
    assert attempt("info", folder / "cut.json.gz", "--strict").returncode == 3


def test_flipped_gzip(folder):
    data = small_gzip()
    for at in [*range(0, 16), *range(16, len(data), max(1, len(data) // 60))]:
        flipped = data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1:]
        survived(put(folder, "flip.json.gz", flipped))


def test_flipped_gzip_strict(folder):
    data = bytearray(small_gzip())
    data[len(data) // 2] ^= 0xff
    done = attempt("info", put(folder, "flip.json.gz", bytes(data)), "--strict")
    assert done.returncode == 3 and b"flip.json.gz" in done.stderr


def test_gzip_with_trailing_garbage(folder):
    """zcat ignores it; so do we, and the events are all there."""
    done = survived(put(folder, "tail.json.gz", small_gzip() + b"\0" * 512 + b"junk"))
    assert done.returncode == 0


def test_fifo(folder):
    path = folder / "pipe.json"
    os.mkfifo(path)
    text = b'{"traceEvents": [' + EVENT + b"}]}"
    writer = threading.Thread(target=path.write_bytes, args=(text,), daemon=True)
    writer.start()
    done = attempt("events", path, "--format", "csv", "--columns", "index,ts_ns", timeout=30)
    if done.returncode == 0:
        assert done.stdout == b"index,ts_ns\n0,1000\n"
    else:
        assert done.returncode == 3 and b"pipe.json" in done.stderr


def test_device(folder):
    """A device that never ends."""
    done = attempt("info", "/dev/zero", timeout=60)
    assert done.returncode in (3, 4), done.stderr


def test_standard_input_closed():
    done = subprocess.run([support.EXE, "info", "-"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=support.environment(), timeout=60)
    assert done.returncode == 3 and b"standard input" in done.stderr.lower()


def test_one_bad_rank_among_good(folder):
    """One unreadable file of a set is named; the run does not silently go on without it."""
    good = b'{"schemaVersion": 1, "distributedInfo": {"rank": %d}, "traceEvents": [' + EVENT + b"}]}"
    for rank in range(3):
        put(folder, f"r{rank}.json", good % rank)
    put(folder, "r1.json", b"")
    done = attempt("info", folder / "r0.json", folder / "r1.json", folder / "r2.json")
    assert b"r1.json" in done.stderr


def test_output_full(folder):
    """A full disk while writing is an error that is told, never silence."""
    if not os.path.exists("/dev/full"):
        pytest.skip("skipped: no /dev/full here")
    path = put(folder, "t.json", b'{"traceEvents": [' + EVENT + b"}]}")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([support.EXE, "events", path, "--format", "csv"], stdout=full,
                              stderr=subprocess.PIPE, env=support.environment(), timeout=60)
    assert done.returncode != 0 and done.stderr


def test_usage():
    for args in ([], ["no-such-verb"], ["events"], ["events", "x.json", "--no-such-option"],
                 ["events", "x.json", "--format", "docx"], ["events", "x.json", "--jobs", "many"]):
        done = support.run(*args)
        assert done.returncode == 2 or not args, (args, done.returncode, done.stderr)
