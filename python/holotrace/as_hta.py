# SPDX-License-Identifier: Apache-2.0
"""Importing this makes `import hta...` find Holotrace: programs, notebooks and tests of HTA run unchanged.

    import holotrace.as_hta
    from hta.trace_analysis import TraceAnalysis      # is holotrace.trace_analysis.TraceAnalysis

    python -c "import holotrace.as_hta, runpy; runpy.run_path('my_script.py', run_name='__main__')"
    python -m pytest -p holotrace.as_hta tests/

hta.x is the module holotrace.x itself, not a copy: classes are the same under both names, and what is
replaced in one is replaced in the other. hta.__version__ is that of the HTA whose interface this is.
An HTA that is installed is not touched; it is only not found from then on.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types

from holotrace.version import HTA_VERSION

_NAME = "hta"


def _top() -> types.ModuleType:
    """The package hta, which has nothing of its own but its version.

    Its file is that of an HTA on the path, so that data beside it is found, or else this one.
    """
    module = types.ModuleType(_NAME, __doc__)
    real = importlib.machinery.PathFinder.find_spec(_NAME)
    module.__file__ = real.origin if real is not None and real.origin else __file__
    module.__path__ = []
    module.__version__ = ".".join(str(part) for part in HTA_VERSION)
    return module


def _version() -> types.ModuleType:
    module = types.ModuleType(f"{_NAME}.version", "The version of HTA whose interface this is.")
    module.__version_tuple__ = HTA_VERSION
    return module


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds hta and hta.x, and loads holotrace.x for it."""

    own = {_NAME: _top, f"{_NAME}.version": _version}

    def find_spec(self, fullname, path=None, target=None):
        parts = fullname.split(".")
        if parts[0] != _NAME or any(part.startswith("_") for part in parts):
            return None
        if fullname not in self.own:
            try:
                if importlib.util.find_spec(_ours(fullname)) is None:
                    return None
            except ModuleNotFoundError:
                return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=fullname == _NAME)

    def create_module(self, spec):
        if spec.name in self.own:
            return self.own[spec.name]()
        module = importlib.import_module(_ours(spec.name))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module):
        # The import system has given the module the alias's spec; it stays holotrace.x.
        if module.__name__ != module.__spec__.name:
            module.__spec__ = module.__spec__.loader_state


def _ours(fullname: str) -> str:
    return "holotrace" + fullname[len(_NAME):]


def install() -> None:
    """What importing does."""
    already = sys.modules.get(_NAME)
    if already is not None and not isinstance(getattr(already, "__loader__", None), _Alias):
        raise ImportError(f"hta is imported already, from {getattr(already, '__file__', 'elsewhere')}; "
                          "import holotrace.as_hta before it")
    if not any(isinstance(finder, _Alias) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Alias())


install()
