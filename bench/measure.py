# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks share: traces made from the bundled ones, processes timed in turns, the machine in words.

Nothing but Python's own library is needed. A folder with the programs may bring their shared libraries in lib/ (see
bench/cores --pack).
"""
import gzip
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRAIN = ROOT / "examples/train/train.json.gz"
ET = ROOT / "tests/data/et/train.et.json.gz"
DDP = [ROOT / f"examples/ddp/ddp_rank{r}.json.gz" for r in range(4)]
MIB = 1 << 20
#: Libraries that every system brings itself.
OF_THE_SYSTEM = re.compile(r"/(libc|libm|ld-linux[^/]*)\.so")
#: What makes train a trace whose events are mostly Python frames, with times in whole microseconds.
STACKS = ("--frames", "5", "--whole-us")
#: Verbs over many ranks, and how long they may take over 128 ranks with 16 threads.
RANK_VERBS = (("launch-stats", 1.0), ("report", 1.5), ("temporal-breakdown", 0.2), ("stragglers", 0.25))


def size(text):
    units = {"K": 1 << 10, "M": MIB, "G": 1 << 30}
    return int(text[:-1]) * units[text[-1].upper()] if text[-1].isalpha() else int(text)


def say(text):
    print(f"  {text}", file=sys.stderr, flush=True)


def machine():
    model = platform.processor() or platform.machine()
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return f"{model}, {os.cpu_count()} CPUs, {memory:.0f} GiB, {platform.machine()}"


def libraries(program):
    """The paths of the shared libraries that a program names, and those that they name."""
    said = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    return set(re.findall(r"=> (/\S+)", said))


def pack(folder, programs, leave=frozenset()):
    """Programs and their libraries into a folder, as far as another system may lack them; those to leave are not."""
    (folder / "lib").mkdir(parents=True, exist_ok=True)
    for program in programs:
        copy = shutil.copy(program, folder)
        for library in libraries(program) - set(leave):
            if not OF_THE_SYSTEM.search(library):
                shutil.copy(library, folder / "lib")
        subprocess.run(["strip", copy], check=False)


def forget(command):
    """Of the cache that a command reads, what runs before it found out: its answer would be read, not made. Columns stay."""
    if "--cache-dir" in command:
        for part in pathlib.Path(command[command.index("--cache-dir") + 1]).glob("*.part-*"):
            part.unlink()


def warm(path):
    """Into the page cache."""
    with open(path, "rb", buffering=0) as file:
        while file.read(16 * MIB):
            pass
    return path


#: Ids in an execution trace: of nodes, parents and calls, and of tensors and their storages.
ET_IDS = re.compile(r'"id": (\d+)|"ctrl_deps": (\d+)|"(rf_id|fw_parent)", "type": "uint64", "value": (\d+)|\[(\d+),(\d+),(?=\d+,\d+,\d+,")')


def shifted(text, by):
    """The text of nodes with all ids moved up; 0, the process node's 1 and no storage stay."""
    def move(match):
        node, parent, attr, value, tensor, storage = match.groups()
        if node:
            return f'"id": {int(node) + by}'
        if parent:
            return f'"ctrl_deps": {int(parent) + by if parent != "1" else 1}'
        if attr:
            return f'"{attr}", "type": "uint64", "value": {int(value) + by if value != "0" else 0}'
        return f"[{int(tensor) + by},{int(storage) + by if storage != '0' else 0},"
    return ET_IDS.sub(move, text)


class Programs:
    """The built programs of one folder, their traces, and how long they take."""

    def __init__(self, build, runs):
        self.build, self.runs = build, runs
        self.exe = build / "holotrace"
        self.data = build / "bench-data"
        self.data.mkdir(exist_ok=True)
        self.env = dict(os.environ)
        if (build / "lib").is_dir():
            self.env["LD_LIBRARY_PATH"] = str((build / "lib").resolve())

    def igzip(self):
        """The yardstick for compressed files; None where it is not installed."""
        packed = self.build / "igzip"
        return packed if packed.exists() else shutil.which("igzip")

    def timed(self, *command):
        """(seconds, peak resident bytes) of one process."""
        forget(command)
        start = time.perf_counter()
        process = subprocess.Popen([os.fspath(c) for c in command], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, env=self.env)
        message = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"bench: {' '.join(map(str, command))}: exit {process.returncode}\n"
                     f"{message.decode(errors='replace')}")
        return seconds, usage.ru_maxrss * 1024

    def median(self, *commands, least=1):
        """Median seconds and largest memory per command, the commands run in turns."""
        results = [[] for _ in commands]
        for _ in range(max(self.runs, least)):
            for i, command in enumerate(commands):
                results[i].append(self.timed(*command))
        return [(statistics.median(s for s, _ in r), max(m for _, m in r)) for r in results]

    def load(self, *paths, jobs, more=("--no-cache",)):
        return (self.exe, "load", *paths, "--jobs", str(jobs), *more)

    def verb(self, name, *paths, jobs, more=()):
        """A verb whose whole table is made and written in binary, or the report."""
        form = () if name == "report" else ("--format", "arrow", "-o", os.devnull)
        return (self.exe, name, *paths, *form, "--jobs", str(jobs), *more)

    def trace(self, name, source, n_bytes, *rank, how=()):
        path = self.data / f"{name}-{n_bytes}.json"
        if not path.exists():
            say(f"making {path.name}")
            part = path.with_suffix(".part")
            subprocess.run([self.build / "bench_generate", *how, source, str(n_bytes), part, *rank], check=True,
                           env=self.env)
            part.rename(path)
        return warm(path)

    def execution_trace(self, n_bytes):
        """The bundled one over and over: threads, nodes and tensors are others each time, as in a longer run."""
        path = self.data / f"et-{n_bytes}.json"
        if path.exists():
            return warm(path)
        say(f"making {path.name}")
        text = gzip.decompress(ET.read_bytes()).decode()
        begin = text.index('"nodes": [') + len('"nodes": [')
        process = text.rindex("{", 0, text.rindex("execution_trace|process"))
        nodes, part = text[begin:process], path.with_suffix(".part")
        step = max(int(i) for match in ET_IDS.finditer(nodes) for i in match.group(1, 5, 6) if i) + 1
        with open(part, "w") as file:
            file.write(text[:begin])
            for i in range(max(n_bytes // len(nodes), 1)):
                file.write(shifted(nodes, i * step))
            file.write(text[process:])
        part.rename(path)
        return warm(path)

    def gzip(self, path):
        packed = path.with_suffix(".json.gz")
        if not packed.exists():
            say(f"making {packed.name}")
            part = packed.with_suffix(".part")
            with open(part, "wb") as file:
                subprocess.run(["gzip", "-6", "-n", "-c", path], stdout=file, check=True)
            part.rename(packed)
        return warm(packed)
