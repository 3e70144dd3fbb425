# SPDX-License-Identifier: Apache-2.0
"""The build backend: meson-python, with wheels marked for what the extension really needs.

The extension uses CPython's limited API of 3.9, so one wheel serves every later version. meson-python
marks a wheel with the Python that built it, and only newer ones can be told of the limited API at all,
which is why the mark is set here. Libraries that are missing are named in one sentence, before meson-python
starts and buries the matter under its own output.
"""
import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import zipfile

import mesonpy

PYTHON_TAG, ABI_TAG = "cp39", "abi3"
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def __getattr__(name):
    """Every other hook, as far as the installed meson-python has it; but the one that is asked for the metadata of a wheel before
    the wheel: older ones compile everything for that, and again for the wheel. Without it pip builds once and takes both."""
    if name == "prepare_metadata_for_build_wheel":
        raise AttributeError(name)
    return getattr(mesonpy, name)


def check_libraries():
    """End the process with the sentence when a library is missing."""
    done = subprocess.run(["sh", ROOT / "tools" / "packages", "check"], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(done.stdout.strip(), file=sys.stderr, flush=True)
        sys.exit(1)


def get_requires_for_build_wheel(config_settings=None):
    check_libraries()
    return mesonpy.get_requires_for_build_wheel(config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    check_libraries()
    name = mesonpy.build_wheel(wheel_directory, config_settings, metadata_directory)
    return retag(pathlib.Path(wheel_directory) / name)


def retag(path):
    """Rewrite a wheel under its name for the limited API; the new name."""
    project, version, *_, platform = path.stem.split("-")
    target = path.with_name(f"{project}-{version}-{PYTHON_TAG}-{ABI_TAG}-{platform}.whl")
    info = f"{project}-{version}.dist-info"
    with zipfile.ZipFile(path) as wheel:
        contents = [(entry, wheel.read(entry)) for entry in wheel.infolist()]
    changed = {}
    for entry, data in contents:
        if entry.filename == f"{info}/WHEEL":
            tag = f"Tag: {PYTHON_TAG}-{ABI_TAG}-{platform}".encode()
            changed[entry.filename] = re.sub(rb"^Tag: .*$", tag, data, flags=re.MULTILINE)
    for entry, data in contents:
        if entry.filename == f"{info}/RECORD":
            changed[entry.filename] = record(data.decode(), changed).encode()
    path.unlink()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as wheel:
        for entry, data in contents:
            wheel.writestr(entry, changed.get(entry.filename, data), zipfile.ZIP_DEFLATED)
    return target.name


def record(text, changed):
    """RECORD with the hashes and sizes of changed files."""
    lines = []
    for line in text.splitlines():
        name = line.split(",")[0]
        if name in changed:
            digest = base64.urlsafe_b64encode(hashlib.sha256(changed[name]).digest()).rstrip(b"=")
            line = f"{name},sha256={digest.decode()},{len(changed[name])}"
        lines.append(line)
    return "\n".join(lines) + "\n"
