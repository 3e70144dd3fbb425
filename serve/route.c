/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.c - see route.h.
 */
#include "route.h"

#include <stdio.h>
#include <string.h>

static const struct route routes[] = {
#define ROUTE(method, pattern, name, flags) { #method, pattern, serve_##name, flags },
#include "routes.def"
#undef ROUTE
};

static size_t n_routes(void)
{
	return sizeof(routes) / sizeof(routes[0]);
}

const struct route *route_at(size_t i)
{
	return &routes[i];
}

/* The next part of a path or pattern, without its slash; false at the end. */
static bool next_part(const char **rest, const char **ret_part, size_t *ret_n)
{
	if (**rest != '/')
		return false;
	*ret_part = *rest + 1;
	*ret_n = strcspn(*ret_part, "/");
	*rest = *ret_part + *ret_n;
	return true;
}

struct name {
	char *text;
	size_t n;
};

/* Whether the path has the form of the pattern; the places of names. */
static bool fits(const char *pattern, char *path, struct name names[3])
{
	const char *wanted, *given, *rest = path;
	size_t n_wanted, n_given, n_names = 0;
	while (next_part(&pattern, &wanted, &n_wanted)) {
		if (!next_part(&rest, &given, &n_given))
			return false;
		if (wanted[0] == '{') {
			if (n_given == 0)
				return false;
			names[n_names++] = (struct name){ path + (given - path), n_given };
		} else if (n_wanted != n_given || memcmp(wanted, given, n_wanted) != 0) {
			return false;
		}
	}
	return *rest == '\0';
}

/* One method more of a path. */
static void allow(char allowed[ROUTE_ALLOWED_BYTES], const char *method)
{
	size_t n = strlen(allowed);
	snprintf(allowed + n, ROUTE_ALLOWED_BYTES - n, "%s%s", n > 0 ? ", " : "",
	        strcmp(method, "GET") == 0 ? "GET, HEAD" : method);
}

const struct route *route_find(
        const char *method, char *path, const char *texts[3], char ret_allowed[ROUTE_ALLOWED_BYTES])
{
	bool is_head = strcmp(method, "HEAD") == 0;
	ret_allowed[0] = '\0';
	for (size_t i = 0; i < n_routes(); i++) {
		struct name names[3] = { 0 };
		if (!fits(routes[i].pattern, path, names))
			continue;
		if (strcmp(routes[i].method, is_head ? "GET" : method) != 0) {
			allow(ret_allowed, routes[i].method);
			continue;
		}
		for (size_t k = 0; k < 3; k++) {
			texts[k] = names[k].text;
			if (names[k].text != NULL)
				names[k].text[names[k].n] = '\0';
		}
		return &routes[i];
	}
	return NULL;
}
