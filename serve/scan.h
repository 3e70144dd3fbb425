/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.h - looking for files: what the directory holds now becomes the list of runs.
 */
#ifndef SERVE_SCAN_H
#define SERVE_SCAN_H

#include "server.h"

/* Look once; what is gone is forgotten, or shown as gone. Files that were written a moment ago are read when they did not change by the next look. */
void scan(struct server *server, bool forgets_gone);

#endif
