# SPDX-License-Identifier: Apache-2.0
"""What the modules with HTA's names share. Nothing here is public."""

try:
    import numpy  # noqa: F401
    import pandas  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"HTA's classes answer with DataFrames and need {error.name}, which is not installed: "
        'pip install "holotrace[pandas]". holotrace.open() and its tables need neither.',
        name=error.name) from None
