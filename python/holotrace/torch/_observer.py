# SPDX-License-Identifier: Apache-2.0
"""torch.profiler.ExecutionTraceObserver, with our recorder behind it.

Differences from PyTorch's, all of them on purpose: a second registration in a process is refused instead
of ignored; a file that cannot be opened is an exception; the resources of x.json.gz are in x_resources, and
hold the source of every recorded kernel, also of those that another process compiled.
"""
import gzip
import json
import os
import pathlib
import shutil
import tempfile
import warnings

from . import _library

_ENABLE = "ENABLE_PYTORCH_EXECUTION_TRACE"


class ExecutionTraceObserver:
    """Records every operator while it runs; usable alone or as profile(execution_trace_observer=...)."""

    def __init__(self):
        self._registered = False
        self._execution_trace_running = False
        self.extra_resources_collection = False
        self.resources_dir = ""
        self.output_file_path = ""

    def __del__(self):
        self.unregister_callback()

    @staticmethod
    def build_execution_trace_obs_from_env():
        """A registered observer when ENABLE_PYTORCH_EXECUTION_TRACE is 1, else None."""
        if os.environ.get(_ENABLE, "0") != "1":
            return None
        handle, path = tempfile.mkstemp(suffix=".et.json")
        os.close(handle)
        observer = ExecutionTraceObserver().register_callback(path)
        observer.set_extra_resource_collection(os.environ.get(_ENABLE + "_EXTRAS", "0") == "1")
        return observer

    # ---- life ------------------------------------------------------------------------------------

    def register_callback(self, output_file_path):
        """Prepare to record to this file, compressed when it ends in .gz; answers the observer itself."""
        if self._registered:
            return self
        shim = _library.shim()
        _library.register(output_file_path)
        self.output_file_path = os.fspath(output_file_path)
        self._registered = True
        self._tell_extras()
        shim.ht_torch_add()
        return self

    def start(self):
        """Record from now on."""
        if not self._registered or self._execution_trace_running:
            return
        _library.check(_library.recorder().ht_record_start())
        _library.shim().ht_torch_start()
        self._execution_trace_running = True
        self._record_process_groups()

    def stop(self):
        """Pause; start() goes on in the same file."""
        if not self._execution_trace_running:
            return
        self._execution_trace_running = False
        _library.shim().ht_torch_stop()
        _library.check(_library.recorder().ht_record_stop())

    def unregister_callback(self):
        """Stop and write the file."""
        if not self._registered:
            return
        self.stop()
        self._registered = False
        _library.shim().ht_torch_remove()
        self._save_kernels()
        _library.check(_library.recorder().ht_record_unregister())
        lost = _library.stats().n_lost
        if lost:
            warnings.warn(f"{self.output_file_path}: {lost} records were lost for want of room",
                          stacklevel=2)
        self._name_dumps()

    def cleanup(self):
        """The same; the profiler calls it at its end."""
        self.unregister_callback()

    @property
    def is_registered(self):
        return self._registered

    def is_running(self):
        return self._execution_trace_running

    def get_output_file_path(self):
        """The path given, or None before the first registration."""
        return self.output_file_path or None

    # ---- resources -------------------------------------------------------------------------------

    def set_extra_resource_collection(self, val):
        """Collect what a replay needs (generated kernels, dumps) in a folder beside the file."""
        self.extra_resources_collection = val
        if val:
            self.get_resources_dir(can_create=True)
            self._tell_extras()

    def get_resources_dir(self, can_create=False):
        if not self.extra_resources_collection:
            return None
        if not self.resources_dir:
            self.resources_dir = self.get_resources_dir_for_et_path(self.output_file_path,
                                                                    create_dir=can_create) or ""
        return self.resources_dir or None

    @staticmethod
    def get_resources_dir_for_et_path(trace_path, create_dir=False):
        path = pathlib.Path(trace_path)
        stem = path.name.removesuffix(".gz").removesuffix(".json")
        folder = path.with_name(stem + "_resources")
        if create_dir:
            try:
                folder.mkdir(exist_ok=True)
            except OSError as error:
                warnings.warn(f"{folder}: {error.strerror}", stacklevel=3)
        return str(folder) if folder.is_dir() else None

    def _tell_extras(self):
        """What of integral arguments is kept, as the environment says."""
        if not self._registered:
            return
        name = _ENABLE + "_SAVE_INTEGRAL_TENSOR_"
        folder = self.get_resources_dir() or ""
        ops = os.environ.get(name + "DATA", "") if folder else ""
        ranges = name + "RANGE" in os.environ or _ENABLE + "_INTEGRAL_TENSOR_RANGE" in os.environ
        _library.shim().ht_torch_extras(int(ranges), os.fsencode(folder), ops.replace(" ", "").encode())

    def _save_kernels(self):
        """Copy the sources of the kernels that were recorded, and the others that Inductor generated."""
        recorded = os.fsdecode(_library.shim().ht_torch_kernels()).splitlines()
        folder = self.get_resources_dir()
        if not folder:
            return
        try:
            from torch._inductor.codecache import PyCodeCache
            generated = [module.__file__ for module in PyCodeCache.modules if getattr(module, "__file__", None)]
        except Exception as error:  # PyTorch's inner parts change; the trace is worth more
            warnings.warn(f"generated kernels were not saved: {error}", stacklevel=3)
            generated = []
        for path in {*recorded, *generated}:
            if os.path.exists(path):
                shutil.copyfile(path, os.path.join(folder, os.path.basename(path)))

    def _name_dumps(self):
        """Dumps are written before nodes have ids: rename rf_R_tid_T.dat to nid_N_tid_T.dat."""
        folder = self.get_resources_dir()
        dumps = list(pathlib.Path(folder).glob("rf_*_tid_*.dat")) if folder else []
        if not dumps:
            return
        opened = gzip.open if self.output_file_path.endswith(".gz") else open
        with opened(self.output_file_path, "rt", encoding="utf-8") as file:
            nodes = json.load(file)["nodes"]
        ids = {attr["value"]: node["id"] for node in nodes for attr in node["attrs"]
               if attr["name"] == "rf_id"}
        for dump in dumps:
            _, record, _, index = dump.stem.split("_")
            if int(record) in ids:
                dump.rename(dump.with_name(f"nid_{ids[int(record)]}_tid_{index}.dat"))

    def _record_process_groups(self):
        """The node "## process_group:init ##", which says who the ranks are."""
        import torch
        if not torch.distributed.is_available() or not torch.distributed.is_initialized():
            return
        groups = torch.distributed.distributed_c10d._world.pg_config_info
        handle = torch.autograd._record_function_with_args_enter("## process_group:init ##",
                                                                 json.dumps(groups, default=int))
        torch.autograd._record_function_with_args_exit(handle)
