"""Switches that HTA reads from the environment. "1" is on.

HTA rounds fractional microseconds unless HTA_DISABLE_NS_ROUNDING is set, and then has the noise of
doubles. Here times are exact; with the variable set they are the doubles that HTA has then.
"""

import os

CP_LAUNCH_EDGE_ENV = "CRITICAL_PATH_ADD_ZERO_WEIGHT_LAUNCH_EDGE"
CP_LAUNCH_EDGE_SHOW_ENV = "CRITICAL_PATH_SHOW_ZERO_WEIGHT_LAUNCH_EDGE"
CP_STRICT_NEG_WEIGHT_CHECK_ENV = "CRITICAL_PATH_STRICT_NEGATIVE_WEIGHT_CHECKS"
HTA_DISABLE_CG_DEPTH_ENV = "HTA_DISABLE_CG_DEPTH"
HTA_DISABLE_NS_ROUNDING_ENV = "HTA_DISABLE_NS_ROUNDING"


def _is_on(name: str) -> bool:
    return os.environ.get(name, "0") == "1"


def critical_path_add_zero_weight_launch_edges() -> bool:
    return _is_on(CP_LAUNCH_EDGE_ENV)


def critical_path_show_zero_weight_launch_edges() -> bool:
    return _is_on(CP_LAUNCH_EDGE_SHOW_ENV)


def critical_path_strict_negative_weight_check() -> bool:
    return _is_on(CP_STRICT_NEG_WEIGHT_CHECK_ENV)


def disable_call_graph_depth() -> bool:
    return _is_on(HTA_DISABLE_CG_DEPTH_ENV)


def disable_ns_rounding() -> bool:
    return _is_on(HTA_DISABLE_NS_ROUNDING_ENV)


def get_options() -> str:
    """One line per switch."""
    switches = {
        "disable_ns_rounding": disable_ns_rounding(),
        "disable_call_graph_depth": disable_call_graph_depth(),
        "critical_path_add_zero_weight_launch_edges": critical_path_add_zero_weight_launch_edges(),
        "critical_path_show_zero_weight_launch_edges": critical_path_show_zero_weight_launch_edges(),
        "critical_path_strict_negative_weight_check": critical_path_strict_negative_weight_check(),
    }
    return "\n".join(f"{name}={int(value)}" for name, value in switches.items())
