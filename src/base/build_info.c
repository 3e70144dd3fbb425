/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_info.c - what this build of the library uses, for bug reports.
 */
#include "base/io_deflate.h"
#include "base/platform.h"

#include <stdio.h>
#include <zstd.h>

#if HT_HAS_MREMAP
#define MEMORY ""
#else
#define MEMORY ", portable memory"
#endif

#ifdef HT_HAVE_SQLITE
#define DATABASES ", SQLite"
#else
#define DATABASES ", no databases"
#endif

static char text[128];

static void write_text(void)
{
	snprintf(text, sizeof text, "gzip by %s, zstd %s" DATABASES MEMORY, ht_deflate_library(),
	        ZSTD_versionString());
}

const char *ht_build_info(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, write_text);
	return text;
}
