# SPDX-License-Identifier: Apache-2.0
"""Limits that HTA's analyses know."""

CUDA_MAX_LAUNCH_QUEUE_PER_STREAM = 1024
KERNEL_KERNEL_DELAY_THRESHOLD_US = 1500
