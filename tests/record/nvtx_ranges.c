/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx_ranges.c - a program with NVTX ranges and no CUDA, for `holotrace record`.
 *
 * NVTX is headers only, and those may not be here; so this does what they do: load the library that the
 * environment names, let it fill in a table of functions, and call them.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

typedef void (*any_fn)(void);

/* nvtxEventAttributes_t of version 3 */
struct attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

static any_fn core[16], core2[16];
static any_fn *core_table[16], *core2_table[16];

static int get_module(int module, any_fn ***ret_table, unsigned *ret_size)
{
	for (int i = 0; i < 16; i++) {
		core_table[i] = &core[i];
		core2_table[i] = &core2[i];
	}
	*ret_table = module == 1 ? core_table : module == 5 ? core2_table : NULL;
	*ret_size = 16;
	return *ret_table != NULL;
}

static const void *export_table(uint32_t id)
{
	static const struct {
		size_t size;
		int (*get_module)(int, any_fn ***, unsigned *);
	} callbacks = { sizeof callbacks, get_module };
	return id == 1 ? &callbacks : NULL;
}

static void *on_thread(void *user)
{
	((void (*)(uint64_t))core[7])(*(uint64_t *)user);
	((int (*)(const char *))core[9])("thread");
	((int (*)(void))core[11])();
	return NULL;
}

int main(int argc, char **argv)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*init)(const void *(*)(uint32_t)) = NULL;
	if (library)
		*(void **)&init = dlsym(library, "InitializeInjectionNvtx2");
	if (!init || !init(export_table)) {
		fprintf(stderr, "no injection\n");
		return 3;
	}
	int (*push)(const char *) = (int (*)(const char *))core[9];
	int (*pop)(void) = (int (*)(void))core[11];
	push("outer \"quoted\"");
	push("inner");
	pop();
	const void *domain = ((const void *(*)(const char *))core2[12])("domain");
	const void *text =
	        ((const void *(*)(const void *, const char *))core2[10])(domain, "registered");
	struct attributes a = { 3, sizeof a, 0, 0, 0, 0, 0, 0, 3, text };
	struct attributes wide = { 3, sizeof wide, 0, 0, 0, 0, 0, 0, 2, L"wide \u00e9" };
	((int (*)(const void *, const struct attributes *))core2[4])(domain, &a);
	((void (*)(const struct attributes *))core[1])(&wide);
	pop(); /* of the default domain: "outer" */
	((int (*)(const void *))core2[5])(domain);
	uint64_t id = ((uint64_t(*)(const char *))core[5])("started");
	pthread_t thread;
	pthread_create(&thread, NULL, on_thread, &id);
	pthread_join(thread, NULL);
	if (argc > 1 && !strcmp(argv[1], "abort"))
		abort();
	return argc > 1 ? 7 : 0;
}
