/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_link.c - see host_link.h. Links are those of the data sheets, 16 lanes: PCIe 3.0 16 GB/s, 4.0 32 GB/s, 5.0 64 GB/s; a Grace
 * CPU and its GPU have NVLink-C2C, 450 GB/s. More about devices is in model/efficiency/devices.def.
 */
#include "model/device/host_link.h"

#include "base/status.h"
#include "base/glob.h"
#include "base/text_compare.h"

#include <string.h>

static const struct {
	const char *pattern;
	int gb;
} links[] = { { "GH200*", 450 }, { "GB200*", 450 }, { "H100*", 64 }, { "H200*", 64 },
	{ "H20*", 64 }, { "B200*", 64 }, { "A100*", 32 }, { "A30", 32 }, { "A40", 32 },
	{ "A10", 32 }, { "L40*", 32 }, { "GeForce RTX 30*", 32 }, { "GeForce RTX 40*", 32 },
	{ "Tesla V100*", 16 }, { "Tesla T4", 16 }, { "Instinct MI2*", 32 },
	{ "Instinct MI3*", 64 } };

int64_t ht_host_link_rate(const char *name)
{
	static const char *const makers[] = { "NVIDIA ", "AMD " };
	for (size_t i = 0; i < HT_COUNT(makers); i++)
		name += ht_text_starts(name, makers[i]) ? strlen(makers[i]) : 0;
	for (size_t i = 0; i < HT_COUNT(links); i++)
		if (ht_glob_matches(links[i].pattern, name))
			return (int64_t)links[i].gb * 1000000000;
	return 0;
}
