/* SPDX-License-Identifier: Apache-2.0 */
/*
 * publish.h - from files that are read to what is shown of a run.
 */
#ifndef SERVE_PUBLISH_H
#define SERVE_PUBLISH_H

#include "server.h"

/* Make snapshots of the runs that have changed; of a run that is still being read only so often. The milliseconds
 * until the next one is due, UINT64_MAX when none is. */
uint64_t publish(struct server *server);

#endif
