# SPDX-License-Identifier: Apache-2.0
"""How much memory the columns of a frame take."""

import pandas as pd


def analyze_memory_usage(df: pd.DataFrame) -> pd.DataFrame:
    """Per column: megabytes with the texts that it refers to, rows, type, and bytes per row."""
    used = df.memory_usage(deep=True, index=False)
    return pd.DataFrame({
        "Memory (MB)": used / 2**20,
        "Count": df.count(),
        "DType": df.dtypes.astype(str),
        "Memory Per Item (B)": used / max(1, len(df)),
    })
