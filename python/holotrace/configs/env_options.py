# SPDX-License-Identifier: Apache-2.0
"""Switches that HTA reads from the environment. "1" is on.

HTA rounds fractional microseconds unless HTA_DISABLE_NS_ROUNDING is set, and then has the noise of
doubles. Here times are exact; with the variable set they are the doubles that HTA has then.

    HTAEnvOptions.instance().set_disable_ns_rounding(True)     # the same from Python

What is set from Python wins over the environment, which is looked at whenever an option is needed.
"""

import os
from typing import Dict

CP_LAUNCH_EDGE_ENV = "CRITICAL_PATH_ADD_ZERO_WEIGHT_LAUNCH_EDGE"
CP_LAUNCH_EDGE_SHOW_ENV = "CRITICAL_PATH_SHOW_ZERO_WEIGHT_LAUNCH_EDGE"
CP_STRICT_NEG_WEIGHT_CHECK_ENV = "CRITICAL_PATH_STRICT_NEGATIVE_WEIGHT_CHECKS"
HTA_DISABLE_CG_DEPTH_ENV = "HTA_DISABLE_CG_DEPTH"
HTA_DISABLE_NS_ROUNDING_ENV = "HTA_DISABLE_NS_ROUNDING"

_VARIABLES = {
    "disable_ns_rounding": HTA_DISABLE_NS_ROUNDING_ENV,
    "disable_call_graph_depth": HTA_DISABLE_CG_DEPTH_ENV,
    "critical_path_add_zero_weight_launch_edges": CP_LAUNCH_EDGE_ENV,
    "critical_path_show_zero_weight_launch_edges": CP_LAUNCH_EDGE_SHOW_ENV,
    "critical_path_strict_negative_weight_check": CP_STRICT_NEG_WEIGHT_CHECK_ENV,
}


class HTAEnvOptions:
    """The switches; instance() is the one object that the package looks at."""

    _instance = None

    def __init__(self) -> None:
        self._given: Dict[str, bool] = {}

    @classmethod
    def instance(cls) -> "HTAEnvOptions":
        if cls._instance is None:
            cls._instance = cls()
        return cls._instance

    def _is_on(self, option: str) -> bool:
        if option in self._given:
            return self._given[option]
        return os.environ.get(_VARIABLES[option], "0") == "1"

    def disable_ns_rounding(self) -> bool:
        return self._is_on("disable_ns_rounding")

    def set_disable_ns_rounding(self, value: bool) -> None:
        self._given["disable_ns_rounding"] = bool(value)

    def disable_call_graph_depth(self) -> bool:
        return self._is_on("disable_call_graph_depth")

    def set_disable_call_graph_depth(self, value: bool) -> None:
        self._given["disable_call_graph_depth"] = bool(value)

    def critical_path_add_zero_weight_launch_edges(self) -> bool:
        return self._is_on("critical_path_add_zero_weight_launch_edges")

    def set_critical_path_add_zero_weight_launch_edges(self, value: bool) -> None:
        self._given["critical_path_add_zero_weight_launch_edges"] = bool(value)

    def critical_path_show_zero_weight_launch_edges(self) -> bool:
        return self._is_on("critical_path_show_zero_weight_launch_edges")

    def set_critical_path_show_zero_weight_launch_edges(self, value: bool) -> None:
        self._given["critical_path_show_zero_weight_launch_edges"] = bool(value)

    def critical_path_strict_negative_weight_check(self) -> bool:
        return self._is_on("critical_path_strict_negative_weight_check")

    def set_critical_path_strict_negative_weight_check(self, value: bool) -> None:
        self._given["critical_path_strict_negative_weight_check"] = bool(value)

    def get_options_str(self) -> str:
        """One line per switch: its value, and what the environment says."""
        return "\n".join(f"{option}={self._is_on(option)}, {variable}={os.environ.get(variable) or 'unset'}"
                         for option, variable in _VARIABLES.items())


def critical_path_add_zero_weight_launch_edges() -> bool:
    return HTAEnvOptions.instance().critical_path_add_zero_weight_launch_edges()


def critical_path_show_zero_weight_launch_edges() -> bool:
    return HTAEnvOptions.instance().critical_path_show_zero_weight_launch_edges()


def critical_path_strict_negative_weight_check() -> bool:
    return HTAEnvOptions.instance().critical_path_strict_negative_weight_check()


def disable_call_graph_depth() -> bool:
    return HTAEnvOptions.instance().disable_call_graph_depth()


def disable_ns_rounding() -> bool:
    return HTAEnvOptions.instance().disable_ns_rounding()


def get_options() -> str:
    """One line per switch."""
    return HTAEnvOptions.instance().get_options_str()
