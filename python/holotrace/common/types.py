# SPDX-License-Identifier: Apache-2.0
"""Groups of names and categories as patterns, and device types."""

import re
from dataclasses import dataclass
from enum import Enum
from typing import List, Optional, Pattern, Union

import pandas as pd


class DeviceType(Enum):
    UNKNOWN = 0
    CPU = 1
    GPU = 2
    ALL = 3


class MemcpyType(Enum):
    DTOD = 0
    DTOH = 1
    HTOD = 2
    UNKNOWN = 3


MEMCPY_TYPE_TO_STR = {
    MemcpyType.DTOD: "memcpy_dtod",
    MemcpyType.DTOH: "memcpy_dtoh",
    MemcpyType.HTOD: "memcpy_htod",
    MemcpyType.UNKNOWN: "memcpy_type_unknown",
}


@dataclass
class GroupingPattern:
    """A pattern that matches at the start of a text, or must not match with inverse_match."""

    pattern: Pattern[str]
    inverse_match: bool = False
    group_name: str = ""

    def match(self, name: str) -> bool:
        return (self.pattern.match(name) is not None) != self.inverse_match

    def __hash__(self) -> int:
        return hash((self.pattern.pattern, self.pattern.flags, self.inverse_match))


def to_grouping_pattern(pattern: Union[str, List[str], Pattern[str], GroupingPattern],
                        group_name: Optional[str] = None,
                        inverse_match: Optional[bool] = None) -> GroupingPattern:
    """A GroupingPattern from an expression or a list of them; one that is one already is returned."""
    if isinstance(pattern, GroupingPattern):
        return pattern
    if isinstance(pattern, list):
        pattern = "|".join(f"({one})" for one in pattern)
    if isinstance(pattern, str):
        pattern = re.compile(pattern)
    if not isinstance(pattern, re.Pattern):
        raise ValueError(f"Unsupported pattern type {type(pattern).__name__}; a pattern is text, a list of "
                         "texts, a compiled expression or a GroupingPattern")
    return GroupingPattern(pattern, bool(inverse_match), group_name or "")


def _group(text: str, name: str, inverse: bool = False) -> GroupingPattern:
    return GroupingPattern(re.compile(text), inverse, name)


ProfilerStepGroupingPattern = _group(r"^ProfilerStep#(\d+)", "Profiler Step")
MemoryKernelGroupingPattern = _group(r"(^(hip)?Memcpy)|(^(hip)?Memset)|(^dma)", "Memory")
MTIAMemoryKernelGroupingPattern = _group(r"(^dma)", "MTIA Memory")
CommunicateKernelGroupingPattern = _group(r"(^nccl)", "Communicate")
ComputeKernelGroupingPattern = _group(
    r"(^nccl)|(.*Memcpy)|(.*Memset)|(.*dma)|(^.*Sync)|(cuda.*LaunchKernel)|(^runFunction)",
    "Compute", inverse=True)
KERNEL_CATEGORY_PATTERN = _group(r"(kernel)|(gpu_mem.+)|(mtia_ccp_events)", "GPU Kernels")
MEMORY_CATEGORY_PATTERN = _group(r"(gpu_mem.+)|(mtia_ccp_events)", "Memory")
KERNEL_LAUNCH_CATEGORY_PATTERN = _group(
    r"(cuda.*LaunchKernel)|(cuLaunchKernel)|(^runFunction)", "Kernel Launch")
CPU_OP_CATEGORY_PATTERN = _group(r"(cpu_op)|(user_annotation)", "CPU Ops")
CPU_EVENTS_CATEGORY_PATTERN = _group(r"(cpu_op)|(user_annotation)|(^(.+)_runtime)", "CPU Events")
DEVICE_RUNTIME_CATEGORY_PATTERN = _group(r"(cuda_runtime)|(mtia_runtime)", "Device Runtimes")
GPU_EVENT_CATEGORY_PATTERN = _group(
    r"(.*kernel)|(^gpu_mem)|(^mtia_ccp_events)|(^cuda_sync)", "GPU Events")
CPU_AND_GPU_EVENTS_CATEGORY_PATTERN = _group(
    r"(cpu_op)|(user_annotation)|(cuda_runtime)|(.*kernel)|(^gpu_mem)|(^mtia_ccp_events)"
    r"|(^cuda_sync)", "CPU and GPU Events")
CUDA_SYNC_PATTERN = _group(r"(cuda_sync)", "CUDA Sync")
PYTHON_FUNCTION_PATTERN = _group(r"(python_function)", "Python Functions")
ALL_CATEGORY_PATTERN = _group(r".*", "All")

common_grouping_patterns = {
    "memory_kernels": MemoryKernelGroupingPattern,
    "compute_kernels": ComputeKernelGroupingPattern,
    "communicate_kernels": CommunicateKernelGroupingPattern,
    "profiler_steps": ProfilerStepGroupingPattern,
}


def infer_device_type(df: pd.DataFrame) -> DeviceType:
    """What the rows of one thread or stream are: by their streams, and by the process and thread 0
    that only GPU rows have."""
    if "stream" not in df.columns or df.empty:
        return DeviceType.UNKNOWN
    if (df["stream"] >= 0).all():
        return DeviceType.GPU
    if {"pid", "tid"} <= set(df.columns) and ((df["pid"] == 0).all() or (df["tid"] == 0).all()):
        return DeviceType.GPU
    return DeviceType.CPU if (df["stream"] < 0).all() else DeviceType.UNKNOWN
