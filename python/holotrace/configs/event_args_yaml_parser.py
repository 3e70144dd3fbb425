# SPDX-License-Identifier: Apache-2.0
"""The arguments that HTA knows, by version, and functions that pick groups of them. There is one version."""

from typing import Callable, Dict, List

from holotrace.configs.default_values import (AVAILABLE_ARGS, EVENT_ARGS, VERSION, AttributeSpec,
                                              EventArgs, ValueType, YamlVersion, args_of, event_args)

__all__ = ["AVAILABLE_ARGS", "AttributeSpec", "EventArgs", "ValueType", "YamlVersion",
           "parse_event_args_yaml"]

v1_0_0 = VERSION


def _picker(group: str) -> Callable[[Dict[str, AttributeSpec]], List[AttributeSpec]]:
    return lambda available_args: args_of(available_args, group)


ARGS_INPUT_SHAPE_FUNC = _picker("input_shape")
ARGS_BANDWIDTH_FUNC = _picker("bandwidth")
ARGS_SYNC_FUNC = _picker("sync")
ARGS_MINIMUM_FUNC = _picker("minimum")
ARGS_INFO_FUNC = _picker("info")
ARGS_INDEX_FUNC = _picker("index")
ARGS_COMMUNICATION_FUNC = _picker("communication")
ARGS_TRITON_KERNELS_FUNC = _picker("triton_kernels")


def ARGS_COMPLETE_FUNC(available_args: Dict[str, AttributeSpec]) -> List[AttributeSpec]:
    return event_args(available_args).ARGS_COMPLETE


def ARGS_DEFAULT_FUNC(available_args: Dict[str, AttributeSpec]) -> List[AttributeSpec]:
    return event_args(available_args).ARGS_DEFAULT


def parse_event_args_yaml(version: YamlVersion = VERSION) -> EventArgs:
    """The arguments of a version; every version is read as the one there is."""
    return EVENT_ARGS


def main() -> None:
    for key, spec in AVAILABLE_ARGS.items():
        print(f"{key}: {spec.name} <- {spec.raw_name!r} ({spec.value_type.name})")


if __name__ == "__main__":
    main()
