/* SPDX-License-Identifier: Apache-2.0 */
/*
 * skipped.c - see skipped.h.
 */
#include "read/skipped.h"

const char ht_not_by_name[] = "not a trace by its name";

bool ht_is_unnamed_database(const struct ht_skipped *skipped)
{
	return skipped->why == ht_not_by_name;
}
