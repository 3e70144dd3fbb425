"""Checks of a trace file: validate_trace_format(path) -> (ok, errors)."""

import sys
from typing import Any, Dict, List, Tuple

import pandas as pd

from holotrace.common.trace_file import read_trace
from holotrace.configs.default_values import AttributeSpec, ValueType
from holotrace.configs.parser_config import ParserConfig

_TYPES = {ValueType.Int: int, ValueType.Float: (int, float), ValueType.String: str}


def get_argument_spec(level: str = "default") -> List[AttributeSpec]:
    """The arguments that a level knows: minimal, standard (default) or complete."""
    if level == "minimal":
        return ParserConfig.ARGS_MINIMUM
    if level == "complete":
        return ParserConfig.ARGS_COMPLETE + ParserConfig.ARGS_INFO
    if level in ("default", "standard"):
        return ParserConfig.ARGS_DEFAULT
    raise ValueError(f"level is minimal, standard or complete, not {level!r}")


def get_expected_arguments(attribute_specs: List[AttributeSpec]) -> pd.DataFrame:
    return pd.DataFrame([(spec.raw_name, spec.value_type.name, spec.default_value)
                         for spec in attribute_specs], columns=["raw_name", "value_type", "default"])


def validate_trace_format(trace_file_path: str, level: str = "standard",
                          ignore_missing_arguments: bool = True) -> Tuple[bool, Dict[str, Any]]:
    """Whether a file is a trace whose arguments have the types that analyses expect."""
    errors: Dict[str, Any] = {}
    try:
        document = read_trace(trace_file_path)
    except (OSError, ValueError) as error:
        return False, {"trace_read_error": str(error)}
    events = document.get("traceEvents") if isinstance(document, dict) else None
    if not isinstance(events, list):
        return False, {"trace_data_error": "there is no list traceEvents"}
    known = {spec.raw_name: spec for spec in get_argument_spec(level)}
    unknown: Dict[str, int] = {}
    violations: Dict[str, str] = {}
    for event in events:
        args = event.get("args", {}) if isinstance(event, dict) else {}
        if not isinstance(args, dict):
            errors["args_data_type"] = f"args of {event.get('name')!r} is no object"
            continue
        for key, value in args.items():
            spec = known.get(key)
            if spec is None:
                unknown[key] = unknown.get(key, 0) + 1
            elif spec.value_type in _TYPES and not isinstance(value, _TYPES[spec.value_type]):
                violations[key] = f"{value!r} is not of type {spec.value_type.name}"
    if violations:
        errors["type_violations"] = violations
    if unknown and not ignore_missing_arguments:
        errors["skipped_arguments"] = unknown
    return not errors, errors


def main() -> int:
    ok = True
    for path in sys.argv[1:]:
        good, errors = validate_trace_format(path)
        print(f"{path}: {'ok' if good else errors}")
        ok &= good
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
