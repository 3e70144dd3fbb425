# SPDX-License-Identifier: Apache-2.0
"""Build what connects the recorder with the torch that is installed.

PyTorch's RecordFunction is C++ without a stable interface, so shim.cpp is compiled here, once for each
version of torch and of this package. The library lands in the user's cache, or in the folder that
HOLOTRACE_TORCH_DIR names, under a name that holds what it was built from: another torch never loads it.
"""
import hashlib
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

from .._errors import Error, MissingError

PACKAGE = pathlib.Path(__file__).resolve().parent.parent
SOURCE = PACKAGE / "torch" / "shim.cpp"
#: the second is included as "holotrace/status.h", and this package is called holotrace, too
HEADERS = [PACKAGE / "holotrace-record.h", PACKAGE / "status.h"]


def _import_torch():
    try:
        import torch
    except ImportError:
        raise MissingError("torch cannot be imported", hint="install PyTorch in this environment") from None
    return torch


def target():
    """Where the library for this torch belongs, whether it is there or not."""
    torch = _import_torch()
    told = hashlib.sha256()
    for text in (torch.__version__, str(torch._C._GLIBCXX_USE_CXX11_ABI), torch.version.git_version or ""):
        told.update(text.encode() + b"\0")
    for file in (SOURCE, *HEADERS):
        told.update(file.read_bytes())
    folder = os.environ.get("HOLOTRACE_TORCH_DIR")
    if not folder:
        cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
        folder = pathlib.Path(cache) / "holotrace" / "torch"
    return pathlib.Path(folder) / f"shim-{torch.__version__}-{told.hexdigest()[:16]}.so"


def compiler():
    """The C++ compiler: $CXX, or the first of the usual names."""
    named = shlex.split(os.environ.get("CXX", ""))
    for command in ([named] if named else []) + [["c++"], ["g++"], ["clang++"]]:
        if shutil.which(command[0]):
            return command
    raise MissingError("no C++ compiler was found",
                       hint="install g++ (Debian: apt-get install g++), or name one in CXX")


def loaded(name):
    """The file of a library that this process has loaded (its name may go on with a version), or None."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            path = line.split(maxsplit=5)[-1].strip()
            if os.path.basename(path).startswith(name) and os.path.exists(path):
                return path
    return None


def command(output):
    """The compiler's command line."""
    torch = _import_torch()
    root = pathlib.Path(torch.__file__).parent
    include = root / "include"
    if not (include / "ATen" / "record_function.h").exists():
        raise MissingError(f"this torch ({torch.__version__}) came without its C++ headers",
                           hint="install a wheel from pytorch.org or PyPI, which has them")
    abi = int(torch._C._GLIBCXX_USE_CXX11_ABI)
    # The C++ library that torch uses, named by its file: where only a static one is installed for
    # developers, the shim would get a second one inside, and streams and exceptions cannot cross that.
    cxx = [path for path in [loaded("libstdc++.so.6")] if path]
    # RecordFunction has another layout in debug builds of torch.
    debug = [] if getattr(torch.version, "debug", False) else ["-DNDEBUG"]
    return [*compiler(), "-std=c++17", "-O2", "-fPIC", "-shared", *debug, f"-D_GLIBCXX_USE_CXX11_ABI={abi}",
            f"-I{PACKAGE}", "-iquote", str(PACKAGE.parent), f"-I{include}", f"-I{include}/torch/csrc/api/include",
            str(SOURCE), "-o", str(output), f"-L{root}/lib", "-lc10", "-ltorch_cpu", *cxx]


def build(force=False, say=lambda text: None):
    """Build the library unless it is there; its path."""
    path = target()
    if path.exists() and not force:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    # Under another name first: several ranks may build at once, and each load only what is whole.
    handle, name = tempfile.mkstemp(suffix=".so", dir=path.parent)
    os.close(handle)
    try:
        line = command(name)
        say(shlex.join(line))
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace")
        if done.returncode != 0:
            raise Error(f"the compiler failed (exit {done.returncode}):\n{done.stdout.strip()[-4000:]}")
        os.chmod(name, 0o755)
        os.replace(name, path)
    finally:
        if os.path.exists(name):
            os.unlink(name)
    return path


def find():
    """The library for this torch; says how to make it when there is none."""
    path = target()
    if not path.exists():
        torch = _import_torch()
        raise MissingError(f"the recorder is not built for torch {torch.__version__}",
                           hint=f"run `{os.path.basename(sys.executable)} -m holotrace.torch build` once")
    return path
