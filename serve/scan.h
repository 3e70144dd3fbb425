/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.h - looking for files: what the directory holds now becomes the list of runs.
 */
#ifndef SERVE_SCAN_H
#define SERVE_SCAN_H

#include "server.h"

/* What names are relative to: a log directory, or where the paths of several sources part. The caller frees it. */
char *scan_root(const char *const *sources, size_t n_sources);
/* The path of a source: what is behind "12=". */
const char *scan_path(const char *source);
/* Look once. Files that were written a moment ago are read when they did not change by the next look. */
void scan(struct server *server);

#endif
