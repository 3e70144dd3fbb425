# SPDX-License-Identifier: Apache-2.0
"""ParserConfig: which arguments become columns of t.traces, and which events are skipped.

Every backend name is accepted and means the same reader. max_event_duration_us is enforced by the
reader itself: longer spans are cut at the capture window and counted in `holotrace health`.
"""

import copy
import re
from enum import Enum
from typing import Any, Dict, List, Optional, Set, Tuple

from holotrace.configs.default_values import (AVAILABLE_ARGS, EVENT_ARGS, VERSION, AttributeSpec,
                                              ValueType, YamlVersion)
from holotrace.configs.event_args_yaml_parser import parse_event_args_yaml

DEFAULT_PARSE_VERSION = VERSION
DEFAULT_VER_EVENT_ARGS = parse_event_args_yaml(DEFAULT_PARSE_VERSION)
MAX_EVENT_DURATION_US = 7 * 24 * 3600 * 1_000_000


class ParserBackend(str, Enum):
    JSON = "json"
    IJSON = "ijson"
    IJSON_BATCHED = "ijson_batched"
    IJSON_BATCH_AND_COMPRESS = "ijson_batch_and_compress"


class TraceType(str, Enum):
    Training = "training"
    TrainingWoProfilerstepAnnot = "training_wo_profilerstep_annot"
    Inference = "inference"


class ParserConfig:
    """What to take from the events' arguments."""

    ARGS_INPUT_SHAPE = EVENT_ARGS.ARGS_INPUT_SHAPE
    ARGS_BANDWIDTH = EVENT_ARGS.ARGS_BANDWIDTH
    ARGS_SYNC = EVENT_ARGS.ARGS_SYNC
    ARGS_MINIMUM = EVENT_ARGS.ARGS_MINIMUM
    ARGS_COMPLETE = EVENT_ARGS.ARGS_COMPLETE
    ARGS_INFO = EVENT_ARGS.ARGS_INFO
    ARGS_TRITON_KERNELS = EVENT_ARGS.ARGS_TRITON_KERNELS
    ARGS_COMMUNICATION = EVENT_ARGS.ARGS_COMMUNICATION
    ARGS_DEFAULT = EVENT_ARGS.ARGS_DEFAULT
    DEFAULT_MIN_REQUIRED_COLS = ["ts", "dur", "name", "cat", "pid", "tid"]

    def __init__(self, args: Optional[List[AttributeSpec]] = None,
                 user_provide_trace_type: Optional[TraceType] = None,
                 version: YamlVersion = VERSION, parse_all_args: bool = False,
                 selected_arg_keys: Optional[List[str]] = None,
                 skip_event_types: Optional[Set[str]] = None) -> None:
        self.args: List[AttributeSpec] = list(args) if args else self.get_default_args(version)
        self.parser_backend: Optional[ParserBackend] = None
        self.trace_memory = False
        self.user_provide_trace_type = user_provide_trace_type
        self.min_required_cols = list(self.DEFAULT_MIN_REQUIRED_COLS)
        self.drop_gpu_user_annotation = True
        self.version = version
        self.parse_all_args = parse_all_args
        self.batch_size = 1000
        self.convert_ts_to_integer = True
        self.max_event_duration_us = MAX_EVENT_DURATION_US
        self.selected_arg_keys: Optional[List[str]] = None
        self.skip_event_types: Set[str] = (
            {"python_function"} if skip_event_types is None else set(skip_event_types))
        if selected_arg_keys:
            self.set_args_selector(selected_arg_keys)

    def __repr__(self) -> str:
        shown = {key: value for key, value in vars(self).items() if value not in (None, False)}
        shown["args"] = [spec.name for spec in self.get_args()]
        shown["skip_event_types"] = sorted(self.skip_event_types)
        return f"ParserConfig({', '.join(f'{key}={value!r}' for key, value in shown.items())})"

    def clone(self) -> "ParserConfig":
        return copy.deepcopy(self)

    @classmethod
    def get_default_cfg(cls) -> "ParserConfig":
        return _default_config.clone()

    @classmethod
    def get_versioned_cfg(cls, version: YamlVersion) -> "ParserConfig":
        return cls(version=version)

    @classmethod
    def set_default_cfg(cls, cfg: "ParserConfig") -> None:
        global _default_config
        _default_config = cfg.clone()

    @classmethod
    def get_minimum_args(cls, version: YamlVersion = VERSION) -> List[AttributeSpec]:
        return list(cls.ARGS_MINIMUM)

    @classmethod
    def get_default_args(cls, version: YamlVersion = VERSION) -> List[AttributeSpec]:
        return list(cls.ARGS_DEFAULT)

    @classmethod
    def get_info_args(cls, version: YamlVersion = VERSION) -> List[AttributeSpec]:
        return list(cls.ARGS_INFO)

    def set_args(self, args: List[AttributeSpec]) -> None:
        self.args = list(args)

    def get_args(self) -> List[AttributeSpec]:
        """The arguments that become columns, after the selector."""
        if self.selected_arg_keys is None:
            return self.args
        return [spec for spec in self.args if spec.name in self.selected_arg_keys]

    def add_args(self, args: List[AttributeSpec]) -> None:
        names = {spec.name for spec in self.args}
        for spec in args:
            if spec.name not in names:
                names.add(spec.name)
                self.args.append(spec)

    def set_min_required_cols(self, cols: List[str]) -> None:
        self.min_required_cols = list(cols)

    def get_min_required_cols(self) -> List[str]:
        return self.min_required_cols

    def set_trace_memory(self, trace_memory: bool) -> None:
        self.trace_memory = trace_memory

    def set_drop_gpu_user_annotation(self, should_drop: bool) -> None:
        self.drop_gpu_user_annotation = should_drop

    def set_parser_backend(self, parser_backend: ParserBackend) -> None:
        self.parser_backend = parser_backend

    def set_parse_all_args(self, parse_all_args: bool) -> "ParserConfig":
        self.parse_all_args = parse_all_args
        return self

    def set_args_selector(self, selected_arg_keys: Optional[List[str]] = None) -> "ParserConfig":
        self.selected_arg_keys = None if selected_arg_keys is None else list(selected_arg_keys)
        return self

    def set_skip_event_types(self, skip_event_types: Optional[Set[str]] = None) -> "ParserConfig":
        self.skip_event_types = set(skip_event_types or ())
        return self

    def get_fingerprint_key(self) -> Tuple[Tuple[str, ...], bool]:
        return tuple(sorted(spec.name for spec in self.get_args())), self.parse_all_args

    @classmethod
    def enable_communication_args(cls, cfg: Optional["ParserConfig"] = None,
                                  version: YamlVersion = VERSION) -> "ParserConfig":
        cfg = cfg.clone() if cfg else cls.get_default_cfg()
        cfg.add_args(cls.ARGS_COMMUNICATION)
        return cfg

    @staticmethod
    def set_global_parser_config_version(version: YamlVersion) -> None:
        _default_config.version = version

    @classmethod
    def get_all_available_args(cls) -> Dict[str, AttributeSpec]:
        return AVAILABLE_ARGS

    @classmethod
    def show_available_args(cls) -> None:
        for key, spec in AVAILABLE_ARGS.items():
            print(f"{key}: {spec.name} <- {spec.raw_name!r} ({spec.value_type.name})")

    @classmethod
    def transform_arg_name(cls, arg: str) -> str:
        """Column of an argument that has no spec: "est. occupancy (%)" becomes "est_occupancy"."""
        text = re.sub(r"\([^)]*\)", "", arg).lower()
        text = re.sub(r"_+", "_", re.sub(r"[ \-/.%]+", "_", text)).strip("_")
        return "arg_name" if text == "name" else text

    @classmethod
    def make_attribute_spec(cls, raw_name: str, value: object,
                            min_supported_version: YamlVersion = VERSION) -> AttributeSpec:
        kinds: List[Tuple[type, ValueType, Any]] = [
            (int, ValueType.Int, 0), (float, ValueType.Float, 0.0), (str, ValueType.String, "")]
        for kind, value_type, default in kinds:
            if isinstance(value, kind):
                return AttributeSpec(cls.transform_arg_name(raw_name), raw_name, value_type, default,
                                     min_supported_version)
        return AttributeSpec(cls.transform_arg_name(raw_name), raw_name, ValueType.Object, None,
                             min_supported_version)

    @classmethod
    def infer_attribute_specs(cls, args, reference_specs: Optional[Dict[str, AttributeSpec]] = None
                              ) -> Dict[str, AttributeSpec]:
        """Specs of all keys in a series of argument dicts; known keys keep theirs."""
        known = {spec.raw_name: spec for spec in (reference_specs or AVAILABLE_ARGS).values()}
        specs: Dict[str, AttributeSpec] = {}
        for one in args:
            for key, value in one.items() if isinstance(one, dict) else ():
                if key not in specs:
                    specs[key] = known.get(key) or cls.make_attribute_spec(key, value)
        return specs


_default_config = ParserConfig()
