# SPDX-License-Identifier: Apache-2.0
"""Settings under HTA's names."""
