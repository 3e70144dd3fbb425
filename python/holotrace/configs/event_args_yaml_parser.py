"""The arguments that HTA knows, by version. There is one version."""

from holotrace.configs.default_values import (AVAILABLE_ARGS, EVENT_ARGS, VERSION, AttributeSpec,
                                              EventArgs, ValueType, YamlVersion)

__all__ = ["AVAILABLE_ARGS", "AttributeSpec", "EventArgs", "ValueType", "YamlVersion",
           "parse_event_args_yaml"]


def parse_event_args_yaml(version: YamlVersion = VERSION) -> EventArgs:
    return EVENT_ARGS
