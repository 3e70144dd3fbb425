# SPDX-License-Identifier: Apache-2.0
"""The recorder and its connection to torch, through ctypes."""
import ctypes
import functools
import os

from .._errors import Error, InputError, LimitError, MissingError, UsageError
from . import _build


class Options(ctypes.Structure):
    """struct ht_record_options; what is not named stays zero."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("flags", ctypes.c_uint32), ("max_elements", ctypes.c_uint32),
                ("trace_path", ctypes.c_char_p), ("max_bytes", ctypes.c_uint64),
                ("rank", ctypes.c_int32), ("n_ranks", ctypes.c_int32), ("schedule", ctypes.c_uint32 * 5),
                ("on_cycle", ctypes.c_void_p), ("user", ctypes.c_void_p), ("cupti_path", ctypes.c_char_p)]


class Stats(ctypes.Structure):
    """struct ht_record_stats"""
    _fields_ = [("struct_size", ctypes.c_size_t), ("n_calls", ctypes.c_uint64), ("n_lost", ctypes.c_uint64), ("n_bytes", ctypes.c_uint64),
                ("n_threads", ctypes.c_uint32)]


@functools.lru_cache(maxsize=None)
def recorder():
    """The recorder's functions. Global, so that the shim finds them."""
    path = _build.PACKAGE / "_record.so"
    if not path.exists():
        raise MissingError("this package was built without the recorder",
                           hint="build it on Linux with the option record enabled")
    library = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    library.ht_record_register.argtypes = [ctypes.c_char_p, ctypes.POINTER(Options)]
    library.ht_record_get_stats.argtypes = [ctypes.POINTER(Stats)]
    library.ht_record_error.restype = ctypes.c_char_p
    return library


@functools.lru_cache(maxsize=None)
def shim():
    """The callbacks, for the torch of this process."""
    import torch  # noqa: F401  its libraries must be loaded first
    recorder()
    library = ctypes.CDLL(str(_build.find()))
    library.ht_torch_kernels.restype = ctypes.c_char_p
    library.ht_torch_extras.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p]
    return library


def check(status):
    """Raise what a status of the recorder (enum ht_status) means."""
    if status == 0:
        return
    text = recorder().ht_record_error().decode(errors="replace")
    kinds = {1: LimitError, 2: InputError, 3: InputError, 4: LimitError, 5: UsageError, 6: MissingError}
    raise kinds.get(status, Error)(text)


def stats():
    got = Stats(struct_size=ctypes.sizeof(Stats))
    recorder().ht_record_get_stats(ctypes.byref(got))
    return got


def register(path):
    options = Options(struct_size=ctypes.sizeof(Options))
    check(recorder().ht_record_register(os.fsencode(path), ctypes.byref(options)))
