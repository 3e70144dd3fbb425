/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poison.h - bytes that nobody may touch, for the address sanitizer: it knows what malloc gave, not what we cut out of that.
 */
#ifndef HT_BASE_POISON_H
#define HT_BASE_POISON_H

#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HT_HAS_POISON 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(HT_HAS_POISON)
#define HT_HAS_POISON 1
#endif

#ifdef HT_HAS_POISON
#include <sanitizer/asan_interface.h>
/* Behind each piece of a block, so that one does not end where the next begins. */
#define HT_RED_ZONE ((size_t)16)
#else
#define HT_RED_ZONE ((size_t)0)
#endif

static inline void ht_poison(void *at, size_t n)
{
#ifdef HT_HAS_POISON
	ASAN_POISON_MEMORY_REGION(at, n);
#else
	(void)at;
	(void)n;
#endif
}

static inline void ht_unpoison(void *at, size_t n)
{
#ifdef HT_HAS_POISON
	ASAN_UNPOISON_MEMORY_REGION(at, n);
#else
	(void)at;
	(void)n;
#endif
}

#endif
