/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.h - the routes: a line each in routes.def, which openapi.json must match (tests/serve).
 *
 *     ROUTE(GET, "/api/v1/runs/{run}/tile", tile, ROUTE_RUN)
 *
 * stands for the function
 *
 *     enum ht_status serve_tile(struct serve_request *request, struct serve_response *response);
 *
 * {run} is looked up before; other names in braces are one part of the path each.
 */
#ifndef SERVE_ROUTE_H
#define SERVE_ROUTE_H

#include "request.h"
#include "response.h"

#define ROUTE_ALLOWED_BYTES 32

enum route_flags {
	ROUTE_RUN = 1,   /* has {run}: 404 without one, 503 while nothing of it is read */
	ROUTE_WAITS = 2, /* about all runs; ?after=GENERATION waits for news */
	ROUTE_ACTS = 4,  /* changes something: done at once, never kept */
	ROUTE_OPEN = 8,  /* the page itself, which others may link to */
	ROUTE_ALL = 16,  /* about all runs, as they are now */
	ROUTE_MCP = 32,  /* messages of sessions, see sessions.h */
	ROUTE_QUICK =
	        64, /* answered before tables: it takes milliseconds, or somebody draws with it */
	ROUTE_TABLE =
	        128, /* an analysis, the second name of the pattern: what it takes is learnt */
};

/* An answer follows from the route, the query and the generation of what it is about, unless the route acts: it gets
 * an ETag, and is kept for others. */

typedef enum ht_status (*route_fn)(struct serve_request *request, struct serve_response *response);

struct route {
	const char *method, *pattern;
	route_fn answer;
	unsigned flags;
};

#define ROUTE(method, pattern, name, flags)                                                        \
	enum ht_status serve_##name(struct serve_request *, struct serve_response *);
#include "routes.def"
#undef ROUTE

/* The route of a path, with the parts that stand for names; NULL when there is none. allowed lists the methods
 * of the path when only the method is wrong, else it is empty. Parts point into path, which is cut at them. */
const struct route *route_find(const char *method, char *path, const char *names[3],
        char ret_allowed[ROUTE_ALLOWED_BYTES]);
const struct route *route_at(size_t i);

#endif
