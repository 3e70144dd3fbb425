# SPDX-License-Identifier: Apache-2.0
"""Traces, symbols, filters and call graphs under HTA's names."""

import holotrace._hta  # noqa: F401  says what is missing without pandas
