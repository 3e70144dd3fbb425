"""data_provider: run one test method on several inputs."""

import functools
from typing import Any, Callable, Iterable


def data_provider(data_function: Callable[[], Iterable[Any]]):
    """Decorator: call the method once per item; dicts are passed as keyword arguments."""

    def decorate(method):
        @functools.wraps(method)
        def run_all(self):
            for item in data_function():
                with self.subTest(item=item):
                    if isinstance(item, dict):
                        method(self, **item)
                    elif isinstance(item, tuple):
                        method(self, *item)
                    else:
                        method(self, item)

        return run_all

    return decorate
