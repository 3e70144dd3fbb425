# SPDX-License-Identifier: Apache-2.0
"""HtaConfig: settings from JSON files, later files overriding earlier ones."""

import json
import logging
import logging.config
import os
from typing import Any, List, Optional

from holotrace.configs.default_values import DEFAULT_CONFIG_FILENAME
from holotrace.utils.test_utils import data_roots
from holotrace.utils.utils import get_value_from_dict

logger = logging.getLogger("hta")


def setup_logger(config_file: str = "logging.config") -> None:
    """Configure logging from a file when it exists, else plainly to standard error."""
    if os.path.exists(config_file):
        logging.config.fileConfig(config_file, disable_existing_loggers=False)
    else:
        logging.basicConfig(level=logging.WARNING)


def _merge(into: dict, other: dict) -> None:
    for key, value in other.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value


class HtaConfig:
    """Settings by dotted path: HtaConfig().get_config("a.b.c", default)."""

    @staticmethod
    def get_default_paths() -> List[str]:
        folders = [os.path.dirname(os.path.abspath(__file__)), os.path.expanduser("~/.hta"),
                   os.getcwd()]
        return [os.path.join(folder, DEFAULT_CONFIG_FILENAME) for folder in folders]

    def __init__(self, config_file_path: Optional[str] = None,
                 load_default_paths: Optional[bool] = True):
        paths = self.get_default_paths() if load_default_paths else []
        if config_file_path:
            paths.append(config_file_path)
        self.config: dict = {}
        self.config_file_paths: List[str] = []
        for path in paths:
            if not os.path.exists(path):
                continue
            with open(path, encoding="utf-8") as file:
                _merge(self.config, json.load(file))
            self.config_file_paths.append(path)

    def get_config_file_paths(self) -> List[str]:
        return self.config_file_paths

    def get_config(self, dot_path: Optional[str] = None, default_value: Any = None) -> Any:
        return get_value_from_dict(self.config, dot_path, default_value) if dot_path else self.config

    def show(self):
        print(json.dumps(self.config, indent=4))

    @staticmethod
    def get_test_data_path(dataset: str) -> str:
        """Where a data set of HTA's tests is, or would be: below $HTA_TEST_DATA_PATH or tests/data."""
        given = os.environ.get("HTA_TEST_DATA_PATH")
        roots = [given] if given else [os.path.join(root, "tests", "data") for root in data_roots()]
        paths = [os.path.join(root, dataset) for root in roots]
        return next((path for path in paths if os.path.exists(path)), paths[-1])
