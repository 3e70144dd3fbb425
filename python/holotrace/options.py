# SPDX-License-Identifier: Apache-2.0
"""What applies to every call that does not say otherwise: holotrace.options.

    holotrace.options.hta_compat = True           HTA's values where its oddities are selectable
    with holotrace.options.override(jobs=1): ...  for a while
"""
import os

_DEFAULTS = {
    "hta_compat": False,
    "cache": None,
    "cache_dir": None,
    "cache_max_bytes": 0,
    "jobs": 0,
    "memory_limit": 0,
    "progress": None,
    "max_rows": 20,
}
_COUNTS = ("cache_max_bytes", "jobs", "memory_limit", "max_rows")


class Options:
    """Defaults of the package.

    hta_compat        reproduce HTA's selectable oddities
    cache             keep parsed traces on disk; None: unless HOLOTRACE_NO_CACHE is set
    cache_dir         where; None: holotrace below $XDG_CACHE_HOME or ~/.cache
    cache_max_bytes   how large it may grow; 0: 8 GiB
    jobs              threads; 0: one per CPU
    memory_limit      bytes that a session may use; 0: no limit
    progress          True, False, or None: on terminals and in notebooks
    max_rows          rows that a table shows
    """

    __slots__ = tuple(_DEFAULTS)

    def __init__(self):
        self.reset()

    def __setattr__(self, name, value):
        if name not in _DEFAULTS:
            known = ", ".join(_DEFAULTS)
            raise AttributeError(f"holotrace has no option {name!r}; there are {known}")
        if name in _COUNTS and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            raise ValueError(f"option {name} must be a number, 0 or more, not {value!r}")
        if name == "hta_compat":
            value = bool(value)
        object.__setattr__(self, name, value)

    def __repr__(self):
        return "".join(f"holotrace.options.{name} = {getattr(self, name)!r}\n" for name in _DEFAULTS)

    def reset(self):
        """Back to the defaults."""
        for name, value in _DEFAULTS.items():
            setattr(self, name, value)

    def override(self, **values):
        """Set options for the length of a with block."""
        return _Override(self, values)


class _Override:
    def __init__(self, target, values):
        self.target, self.values = target, values

    def __enter__(self):
        self.before = {name: getattr(self.target, name) for name in _DEFAULTS}
        try:
            for name, value in self.values.items():
                setattr(self.target, name, value)
        except BaseException:
            self.__exit__()
            raise
        return self.target

    def __exit__(self, *unused):
        for name, value in self.before.items():
            setattr(self.target, name, value)


options = Options()


def use_cache():
    """Whether to use the cache when a call does not say."""
    if options.cache is not None:
        return bool(options.cache)
    return os.environ.get("HOLOTRACE_NO_CACHE", "") in ("", "0")


def cache_dir():
    """The cache's place, the same as the command line's; None when there is no home."""
    if options.cache_dir is not None:
        return os.fspath(options.cache_dir)
    for variable, below in (("XDG_CACHE_HOME", "holotrace"), ("HOME", ".cache/holotrace")):
        base = os.environ.get(variable, "")
        if base.startswith("/"):
            return os.path.join(base, below)
    return None
