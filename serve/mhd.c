/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mhd.c - see mhd.h.
 *
 * It is looked for by the name that a linker would have noted, then where it was when this was built, as programs
 * find libraries that they were linked with. Once loaded it stays.
 */
#include "mhd.h"

#ifdef SERVE_MHD
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

struct mhd_calls mhd;
static char problem[300];

static void load(void)
{
	static const struct {
		const char *name;
		void *to;
	} calls[] = {
#define CALL(name) { "MHD_" #name, &mhd.name },
		MHD_CALLS(CALL)
#undef CALL
	};
	void *library = dlopen(SERVE_MHD, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		library = dlopen(SERVE_MHD_PATH, RTLD_NOW | RTLD_LOCAL);
	const char *text = library == NULL ? dlerror() : NULL;
	if (library == NULL)
		snprintf(problem, sizeof(problem), "%s", text != NULL ? text : SERVE_MHD);
	for (size_t i = 0; problem[0] == '\0' && i < sizeof(calls) / sizeof(calls[0]); i++) {
		void *call = dlsym(library, calls[i].name);
		if (call == NULL)
			snprintf(
			        problem, sizeof(problem), "%s has no %s", SERVE_MHD, calls[i].name);
		*(void **)calls[i].to = call;
	}
}

const char *mhd_load(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, load);
	return problem[0] != '\0' ? problem : NULL;
}
#else
struct mhd_calls mhd = {
#define CALL(name) .name = MHD_##name,
	MHD_CALLS(CALL)
#undef CALL
};

const char *mhd_load(void)
{
	return NULL;
}
#endif
