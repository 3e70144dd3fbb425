# SPDX-License-Identifier: Apache-2.0
"""The library behind the server is loaded by who serves, and by nobody else."""
import json
import os
import pathlib
import subprocess

import pytest
import support

EXAMPLES = support.ROOT / "examples"
BUILD = pathlib.Path(support.EXE).parent


@pytest.fixture
def loaded_late():
    """The name of the library; skips where it is part of the program."""
    if b"no server" in support.output("version"):
        pytest.skip("this build has no web server")
    options = {option["name"]: option["value"]
               for option in json.loads((BUILD / "meson-info" / "intro-buildoptions.json").read_text())}
    if any(options[name] for name in ("portable", "static", "wheel", "prefer_static")) or os.uname().sysname != "Linux":
        pytest.skip("this build is linked with the library")
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    command, = (entry["command"] for entry in commands if entry["file"].endswith("serve/mhd.c"))
    return command.split('SERVE_MHD="')[1].split('"')[0]


def test_other_verbs_start_without_it(loaded_late):
    env = support.environment(LD_TRACE_LOADED_OBJECTS="1")
    said = subprocess.run([support.EXE], env=env, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert "libc.so" in said and "microhttpd" not in said and "gnutls" not in said


def test_one_that_lacks_calls_is_named(loaded_late, tmp_path):
    source = tmp_path / "empty.c"
    source.write_text("int MHD_get_version;\n")
    subprocess.run([*os.environ.get("CC", "cc").split(), "-shared", "-fPIC", f"-Wl,-soname,{loaded_late}", "-o",
                    tmp_path / loaded_late, source], check=True)
    env = {"LD_LIBRARY_PATH": os.fspath(tmp_path)}
    done = support.run("serve", EXAMPLES, "--port", "0", env=env)
    assert (done.returncode, done.stdout) == (2, b"")
    assert f"the web server needs libmicrohttpd, which cannot be loaded: {loaded_late} has no MHD_" in done.stderr.decode()
    assert b", no server, " in support.output("version", env=env)
    assert support.output("steps", EXAMPLES / "ddp", env=env) == support.output("steps", EXAMPLES / "ddp")
