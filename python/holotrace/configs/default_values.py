# SPDX-License-Identifier: Apache-2.0
"""Which arguments of an event HTA's tables show, and constants of HTA's configuration."""

from enum import Enum
from typing import Any, Dict, List, NamedTuple

DEFAULT_CONFIG_FILENAME = "trace_analyzer.json"
DEFAULT_TRACE_DIR = "/tmp/trace"
DF_SYMBOL_COLUMNS = ["cat", "name"]
IS_DEBUG_ENABLED = False
MAX_NUM_PROCESSES = 32
MAX_NUM_PROCESSES_SMALL = 4


class ValueType(Enum):
    """Type of an argument; Object is a list, an object, or text that stands for one."""

    Int = 1
    Float = 2
    String = 3
    Object = 4


class YamlVersion(NamedTuple):
    """A version of the list of arguments: YamlVersion(1, 0, 0)."""

    major: int
    minor: int
    patch: int

    def get_version_str(self) -> str:
        """The version as text: 1.0.0."""
        return f"{self.major}.{self.minor}.{self.patch}"

    @staticmethod
    def from_string(version_str: str) -> "YamlVersion":
        """From "1.0.0"; ValueError when the text is no version."""
        parts = version_str.split(".")
        if len(parts) != 3 or not all(part.isdigit() for part in parts):
            raise ValueError(f"a version is three numbers like 1.0.0, not {version_str!r}")
        return YamlVersion(*(int(part) for part in parts))


class AttributeSpec(NamedTuple):
    """An argument: the name of its column, its key in the file, its type, and what absence reads as.

    Two specs are equal when these four are, whatever version they came with.
    """

    name: str
    raw_name: str
    value_type: ValueType
    default_value: Any
    min_supported_version: YamlVersion

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AttributeSpec) and self[:4] == other[:4]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self[:3])


class EventArgs(NamedTuple):
    AVAILABLE_ARGS: Dict[str, AttributeSpec]
    ARGS_INPUT_SHAPE: List[AttributeSpec]
    ARGS_BANDWIDTH: List[AttributeSpec]
    ARGS_SYNC: List[AttributeSpec]
    ARGS_MINIMUM: List[AttributeSpec]
    ARGS_COMPLETE: List[AttributeSpec]
    ARGS_INFO: List[AttributeSpec]
    ARGS_COMMUNICATION: List[AttributeSpec]
    ARGS_TRITON_KERNELS: List[AttributeSpec]
    ARGS_DEFAULT: List[AttributeSpec]


VERSION = YamlVersion(1, 0, 0)
_I, _F, _S, _O = ValueType.Int, ValueType.Float, ValueType.String, ValueType.Object

# group::key, column, key in the file, type, default
_ARGS = [
    ("index::ev_idx", "ev_idx", "Ev Idx", _I, -1),
    ("index::external_id", "external_id", "External id", _I, -1),
    ("index::python_id", "python_id", "Python id", _I, -1),
    ("index::python_parent_id", "python_parent_id", "Python parent id", _I, -1),
    ("cpu_op::concrete_inputs", "concrete_inputs", "Concrete Inputs", _O, "[]"),
    ("cpu_op::fwd_thread", "fwd_thread_id", "Fwd thread id", _I, -1),
    ("cpu_op::input_dims", "input_dims", "Input Dims", _O, "-1"),
    ("cpu_op::input_type", "input_type", "Input type", _O, "-1"),
    ("cpu_op::input_strides", "input_strides", "Input Strides", _O, "-1"),
    ("cpu_op::sequence_number", "sequence", "Sequence number", _I, -1),
    ("cpu_op::kernel_backend", "kernel_backend", "kernel_backend", _S, ""),
    ("cpu_op::kernel_hash", "kernel_hash", "kernel_hash", _S, ""),
    ("correlation::cbid", "cbid", "cbid", _I, -1),
    ("correlation::cpu_gpu", "correlation", "correlation", _I, -1),
    ("sm::blocks", "blocks_per_sm", "blocks per SM", _O, "[]"),
    ("sm::occupancy", "est_occupancy", "est. achieved occupancy %", _I, -1),
    ("sm::warps", "warps_per_sm", "warps per SM", _F, 0.0),
    ("data::bytes", "bytes", "bytes", _I, -1),
    ("data::bandwidth", "memory_bw_gbps", "memory bandwidth (GB/s)", _F, 0.0),
    ("cuda::context", "context", "context", _I, -1),
    ("cuda::device", "device", "device", _I, -1),
    ("cuda::stream", "stream", "stream", _I, -1),
    ("kernel::queued", "queued", "queued", _I, -1),
    ("kernel::shared_memory", "shared_memory", "shared memory", _I, -1),
    ("threads::block", "block", "block", _O, "[]"),
    ("threads::grid", "grid", "grid", _O, "[]"),
    ("threads::registers", "registers_per_thread", "registers per thread", _I, -1),
    ("cuda_sync::stream", "wait_on_stream", "wait_on_stream", _I, -1),
    ("cuda_sync::event", "wait_on_cuda_event_record_corr_id", "wait_on_cuda_event_record_corr_id",
     _I, -1),
    ("info::finished", "finished", "finished", _S, ""),
    ("info::labels", "labels", "labels", _S, ""),
    ("info::name", "name", "name", _I, -1),
    ("info::op_count", "op_count", "Op count", _I, -1),
    ("info::sort_index", "sort_index", "sort_index", _I, -1),
    ("nccl::collective_name", "collective_name", "Collective name", _S, ""),
    ("nccl::in_msg_nelems", "in_msg_nelems", "In msg nelems", _I, 0),
    ("nccl::out_msg_nelems", "out_msg_nelems", "Out msg nelems", _I, 0),
    ("nccl::in_msg_size", "in_msg_size", "In msg size", _I, 0),
    ("nccl::out_msg_size", "out_msg_size", "Out msg size", _I, 0),
    ("nccl::group_size", "group_size", "Group size", _I, 0),
    ("nccl::dtype", "msg_dtype", "dtype", _S, ""),
    ("nccl::in_split_size", "in_split_size", "In split size", _O, "[]"),
    ("nccl::out_split_size", "out_split_size", "Out split size", _O, "[]"),
    ("nccl::input_tensors_start", "input_tensors_start", "Input Tensors start", _O, "[]"),
    ("nccl::output_tensors_start", "output_tensors_start", "Output Tensors start", _O, "[]"),
    ("nccl::process_group_name", "process_group_name", "Process Group Name", _S, ""),
    ("nccl::process_group_desc", "process_group_desc", "Process Group Description", _S, ""),
    ("nccl::process_group_ranks", "process_group_ranks", "Process Group Ranks", _O, "[]"),
    ("nccl::rank", "process_rank", "Rank", _I, -1),
    ("nccl::seq_num", "seq_num", "Seq", _I, -1),
    ("inference::batch_size", "batch_size", "batchSize", _I, -1),
    ("inference::batch_id", "batch_id", "batchId", _S, ""),
    ("inference::pre_grad_nodes", "pre_grad_nodes", "pre_grad_nodes", _S, ""),
]

AVAILABLE_ARGS: Dict[str, AttributeSpec] = {
    key: AttributeSpec(name, raw, kind, default, VERSION) for key, name, raw, kind, default in _ARGS
}


#: Groups of arguments, by their keys.
ARG_GROUPS: Dict[str, List[str]] = {
    "minimum": ["cuda::stream", "correlation::cpu_gpu"],
    "bandwidth": ["data::bytes", "data::bandwidth"],
    "sync": ["cuda_sync::stream", "cuda_sync::event"],
    "input_shape": ["cpu_op::input_dims", "cpu_op::input_type", "cpu_op::input_strides"],
    "index": ["index::external_id", "index::python_id", "index::python_parent_id"],
    "communication": ["nccl::collective_name", "nccl::in_msg_nelems", "nccl::out_msg_nelems",
                      "nccl::dtype", "nccl::group_size", "nccl::rank", "nccl::in_split_size",
                      "nccl::out_split_size"],
    "triton_kernels": ["cpu_op::kernel_backend", "cpu_op::kernel_hash"],
    "info": ["info::labels", "info::name", "info::sort_index"],
}
_DEFAULT_GROUPS = ("minimum", "bandwidth", "sync", "input_shape", "index", "communication")


def args_of(available: Dict[str, AttributeSpec], *groups: str) -> List[AttributeSpec]:
    """The arguments of some groups, as far as they are available."""
    return [available[key] for group in groups for key in ARG_GROUPS[group] if key in available]


def event_args(available: Dict[str, AttributeSpec]) -> EventArgs:
    """All groups of the arguments that are available."""
    return EventArgs(
        AVAILABLE_ARGS=available,
        ARGS_INPUT_SHAPE=args_of(available, "input_shape"),
        ARGS_BANDWIDTH=args_of(available, "bandwidth"),
        ARGS_SYNC=args_of(available, "sync"),
        ARGS_MINIMUM=args_of(available, "minimum"),
        ARGS_COMPLETE=[spec for key, spec in available.items() if not key.startswith("info::")],
        ARGS_INFO=args_of(available, "info"),
        ARGS_COMMUNICATION=args_of(available, "communication"),
        ARGS_TRITON_KERNELS=args_of(available, "triton_kernels"),
        ARGS_DEFAULT=args_of(available, *_DEFAULT_GROUPS),
    )


EVENT_ARGS = event_args(AVAILABLE_ARGS)
