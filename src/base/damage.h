/* SPDX-License-Identifier: Apache-2.0 */
/*
 * damage.h - what is wrong with compressed data that were read as far as they go.
 */
#ifndef HT_BASE_DAMAGE_H
#define HT_BASE_DAMAGE_H

#include <stdint.h>

enum ht_damage_kind {
	HT_DAMAGE_NONE,
	HT_DAMAGE_TRUNCATED, /* the file ends early */
	HT_DAMAGE_CORRUPT,   /* the data contradict themselves */
};

struct ht_damage {
	enum ht_damage_kind kind;
	uint64_t offset;  /* in the compressed file, where it was noticed */
	const char *text; /* static; "checksum does not match" */
};

#endif
