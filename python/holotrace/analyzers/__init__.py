# SPDX-License-Identifier: Apache-2.0
"""The analyses behind TraceAnalysis under HTA's names."""

import holotrace._hta  # noqa: F401  says what is missing without pandas
