# SPDX-License-Identifier: Apache-2.0
"""Checks of what a user passes."""

import os
from dataclasses import dataclass


@dataclass
class OperationOutcome:
    """Whether something can be done, and why not."""

    success: bool
    reason: str


def is_valid_directory(path_to_directory: str, must_be_writable: bool = False) -> OperationOutcome:
    """Whether the path is a directory that can be read, and one that files can be written to if asked."""
    if not path_to_directory:
        return OperationOutcome(False, "a directory is a non-empty string")
    if not os.path.exists(path_to_directory):
        return OperationOutcome(False, f"{path_to_directory} does not exist")
    if not os.path.isdir(path_to_directory):
        return OperationOutcome(False, f"{path_to_directory} is not a directory")
    if must_be_writable and not os.access(path_to_directory, os.W_OK):
        return OperationOutcome(False, f"{path_to_directory} is not writable")
    if not os.access(path_to_directory, os.R_OK):
        return OperationOutcome(False, f"{path_to_directory} is not a valid path: it cannot be read")
    return OperationOutcome(True, "")
