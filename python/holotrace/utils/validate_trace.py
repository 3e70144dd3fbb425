# SPDX-License-Identifier: Apache-2.0
"""Checks of a trace file: validate_trace_format(path) -> (ok, errors)."""

import sys
from collections import Counter
from typing import Any, Dict, List, Tuple

import pandas as pd

from holotrace.common.trace_file import read_trace
from holotrace.configs.default_values import AttributeSpec, ValueType
from holotrace.configs.parser_config import ParserConfig

_TYPES = {ValueType.Int: int, ValueType.Float: (int, float), ValueType.String: str}
_LEVELS = {
    "minimal": ParserConfig.ARGS_MINIMUM,
    "standard": ParserConfig.ARGS_DEFAULT,
    "default": ParserConfig.ARGS_DEFAULT,
    "complete": ParserConfig.ARGS_COMPLETE,
}


def get_argument_spec(level: str = "default") -> List[AttributeSpec]:
    """The arguments that a level knows: minimal, standard (default) or complete; else KeyError."""
    if level not in _LEVELS:
        raise KeyError(f"level is minimal, standard or complete, not {level!r}")
    return _LEVELS[level]


def get_expected_arguments(attribute_specs: List[AttributeSpec]) -> pd.DataFrame:
    """The specs as a table: key in the file, type, default, and column of t.traces."""
    return pd.DataFrame({
        "arg_keys": [spec.raw_name for spec in attribute_specs],
        "arg_value_types": [spec.value_type for spec in attribute_specs],
        "arg_default_values": pd.Series([spec.default_value for spec in attribute_specs], dtype=object),
        "trace_df_column_name": [spec.name for spec in attribute_specs],
    })


def _get_argument_value_types(expected: pd.DataFrame) -> Dict[str, Tuple[ValueType, Any]]:
    return {key: (kind, default) for key, kind, default in zip(
        expected["arg_keys"], expected["arg_value_types"], expected["arg_default_values"])}


def _check_args(args: Dict[str, Any], arg_type_map: Dict[str, Tuple[ValueType, Any]],
                skipped: Dict[str, int], violations: Dict[str, str]) -> None:
    """Count keys that nobody knows, and note values of the wrong type."""
    for key, value in args.items():
        kind = arg_type_map[key][0] if key in arg_type_map else None
        if kind is None:
            skipped[key] += 1
        elif kind in _TYPES and not isinstance(value, _TYPES[kind]):
            violations[key] = f"{value!r} is not of type {kind.name}"


def validate_trace_format(trace_file_path: str, level: str = "standard",
                          ignore_missing_arguments: bool = True) -> Tuple[bool, Dict[str, Any]]:
    """Whether a file is a trace whose arguments have the types that analyses expect.

    level                      which arguments are known: "minimal", "standard" or "complete"
    ignore_missing_arguments   False: arguments that are not known are errors too

    Returns (ok, errors); errors has trace_read_error, trace_data_error, args_data_type,
    type_violations or skipped_arguments, each with what was found.
    """
    errors: Dict[str, Any] = {}
    try:
        document = read_trace(trace_file_path)
    except (OSError, ValueError) as error:
        return False, {"trace_read_error": str(error)}
    events = document.get("traceEvents") if isinstance(document, dict) else None
    if not isinstance(events, list):
        return False, {"trace_data_error": "there is no list traceEvents"}
    known = _get_argument_value_types(get_expected_arguments(get_argument_spec(level)))
    skipped: Counter = Counter()
    violations: Dict[str, str] = {}
    for event in events:
        args = event.get("args", {}) if isinstance(event, dict) else {}
        if isinstance(args, dict):
            _check_args(args, known, skipped, violations)
        else:
            errors["args_data_type"] = f"args of {event.get('name')!r} is no object"
    if violations:
        errors["type_violations"] = violations
    if skipped and not ignore_missing_arguments:
        errors["skipped_arguments"] = dict(skipped)
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
