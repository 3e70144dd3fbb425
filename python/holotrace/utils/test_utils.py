# SPDX-License-Identifier: Apache-2.0
"""Helpers of HTA's tests: data_provider runs one test method on several inputs, and where data is."""

import contextlib
import functools
import os
import sys
from typing import Any, Callable, Iterable


def data_provider(data_function: Callable[[], Iterable[Any]]):
    """Decorator: call the method once per item; dicts are passed as keyword arguments."""

    def decorate(method):
        @functools.wraps(method)
        def run_all(self, *args, **kwargs):
            for item in data_function():
                part = self.subTest(item=item) if hasattr(self, "subTest") else contextlib.nullcontext()
                with part:
                    if isinstance(item, dict):
                        method(self, *args, **{**kwargs, **item})
                    elif isinstance(item, tuple):
                        method(self, *args, *item, **kwargs)
                    else:
                        method(self, *args, item, **kwargs)

        return run_all

    return decorate


def data_roots() -> list:
    """Folders that may hold tests/data: $TEST_DATA_PREFIX_PATH, or else where hta lies, or else here."""
    prefix = os.environ.get("TEST_DATA_PREFIX_PATH")
    if prefix:
        return [prefix]
    place = getattr(sys.modules.get("hta"), "__file__", None)
    beside = [os.path.dirname(os.path.dirname(os.path.abspath(place)))] if place else []
    return [*beside, os.getcwd()]


def get_test_data_dir(*subdirs: str) -> str:
    """tests/data, or a folder in it; FileNotFoundError when there is none."""
    tried = [os.path.join(root, "tests", "data", *subdirs) for root in data_roots()]
    for path in tried:
        if os.path.isdir(path):
            return path
    raise FileNotFoundError(f"there is no {' or '.join(tried)}")
