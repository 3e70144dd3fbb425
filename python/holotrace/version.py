# SPDX-License-Identifier: Apache-2.0
"""Versions: this package's, and that of the HTA whose names, arguments and tables it has."""

from holotrace._core import version as _version

__version__ = _version()
__version_tuple__ = tuple(int(part) for part in __version__.split("-")[0].split("+")[0].split(".")[:3])
HTA_VERSION = (0, 6, 1)
