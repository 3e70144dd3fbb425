# SPDX-License-Identifier: Apache-2.0
"""The small process that measures commands for the tests of a file."""
import pytest

import support
from meter import Meter


@pytest.fixture(scope="module")
def meter():
    process = Meter(support.environment())
    yield process
    process.close()
