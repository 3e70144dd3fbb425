/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sources.h - what the user names to be served.
 */
#ifndef SERVE_SOURCES_H
#define SERVE_SOURCES_H

#include <stddef.h>

/* What names are relative to: a log directory, or where the paths of several sources part. The caller frees it. */
char *sources_root(const char *const *sources, size_t n_sources);
/* The path of a source: what is behind "12=". */
const char *source_path(const char *source);

#endif
