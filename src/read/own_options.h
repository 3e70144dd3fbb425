/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_options.h - options of our own programs, whether they are given or not.
 */
#ifndef HT_READ_OWN_OPTIONS_H
#define HT_READ_OWN_OPTIONS_H

#include "holotrace/own.h"

static inline struct ht_open_own ht_open_own(const struct ht_open_options *options)
{
	return options->own ? *options->own : (struct ht_open_own){ 0 };
}

#endif
