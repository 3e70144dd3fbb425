/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_link.h - what moves between the CPU's memory and a device at best, by the name of the device.
 */
#ifndef HT_MODEL_DEVICE_HOST_LINK_H
#define HT_MODEL_DEVICE_HOST_LINK_H

#include <stdint.h>

/* Bytes per second in one direction of the link that the device is made for; 0: not known. The slot may have less. */
int64_t ht_host_link_rate(const char *device_name);

#endif
