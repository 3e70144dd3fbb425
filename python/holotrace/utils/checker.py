"""Checks of what a user passes."""

import os
from dataclasses import dataclass


@dataclass
class OperationOutcome:
    success: bool
    reason: str


def is_valid_directory(path_to_directory: str, must_be_writable: bool = False) -> OperationOutcome:
    """Whether the path is a directory, and one that files can be written to if asked."""
    if not path_to_directory or not os.path.exists(path_to_directory):
        return OperationOutcome(False, f"{path_to_directory} does not exist")
    if not os.path.isdir(path_to_directory):
        return OperationOutcome(False, f"{path_to_directory} is not a directory")
    if must_be_writable and not os.access(path_to_directory, os.W_OK):
        return OperationOutcome(False, f"{path_to_directory} is not writable")
    return OperationOutcome(True, "")
