/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_nvtx.c - a program's NVTX ranges as annotations.
 *
 * NVTX is headers only: at its first call a program loads the library that NVTX_INJECTION64_PATH names
 * and lets it fill in a table of functions. A pushed range ends at the pop of its domain on its thread, a
 * started one wherever its id is given back. Marks are annotations without length. Categories, colours
 * and payloads are not kept.
 */
#include "record/inject.h"

#include "holotrace-record.h"

#include <stdbool.h>
#include <string.h>
#include <wchar.h>

#define N_OPEN 256 /* ranges pushed on one thread; deeper ones are not recorded */

enum { EXPORT_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum { TEXT_BYTES = 1, TEXT_WIDE = 2, TEXT_REGISTERED = 3 };

/* nvtxEventAttributes_t, version 1 and later. */
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

typedef void (*any_fn)(void);

struct callbacks_table {
	size_t size;
	int (*get_module)(int module, any_fn ***ret_table, unsigned *ret_size);
};

struct open_range {
	const void *domain;
	uint64_t token;
};

static _Thread_local struct {
	unsigned n;
	struct open_range ranges[N_OPEN];
} pushed;

/* UTF-32 to UTF-8, as far as it fits. */
static uint32_t name_of_wide(const wchar_t *text)
{
	char bytes[1024];
	size_t n = 0;
	for (; *text && n + 4 < sizeof bytes; text++) {
		uint32_t c = (uint32_t)*text;
		if (c < 0x80) {
			bytes[n++] = (char)c;
		} else if (c < 0x800) {
			bytes[n++] = (char)(0xc0 | c >> 6);
			bytes[n++] = (char)(0x80 | (c & 0x3f));
		} else if (c < 0x10000) {
			bytes[n++] = (char)(0xe0 | c >> 12);
			bytes[n++] = (char)(0x80 | (c >> 6 & 0x3f));
			bytes[n++] = (char)(0x80 | (c & 0x3f));
		} else {
			bytes[n++] = (char)(0xf0 | (c >> 18 & 7));
			bytes[n++] = (char)(0x80 | (c >> 12 & 0x3f));
			bytes[n++] = (char)(0x80 | (c >> 6 & 0x3f));
			bytes[n++] = (char)(0x80 | (c & 0x3f));
		}
	}
	return ht_record_name(bytes, n);
}

static uint32_t name_of(const char *text)
{
	return text ? ht_record_name(text, strlen(text)) : 0;
}

static uint32_t name_of_event(const struct attributes *a)
{
	if (!a || a->size < sizeof *a || !a->message)
		return 0;
	switch (a->message_type) {
	case TEXT_BYTES: return name_of(a->message);
	case TEXT_WIDE: return name_of_wide(a->message);
	case TEXT_REGISTERED: return (uint32_t)(uintptr_t)a->message;
	default: return 0;
	}
}

static uint64_t begin(uint32_t name)
{
	struct ht_record_call call = {
		.name = name, .scope = HT_RECORD_ANNOTATION, .sequence = -1
	};
	return ht_record_begin(&call);
}

static int push(const void *domain, uint32_t name)
{
	if (pushed.n < N_OPEN)
		pushed.ranges[pushed.n] = (struct open_range){ domain, begin(name) };
	return (int)pushed.n++;
}

static int pop(const void *domain)
{
	if (pushed.n > N_OPEN)
		return (int)--pushed.n;
	for (unsigned i = pushed.n; i-- > 0;) {
		if (pushed.ranges[i].domain != domain)
			continue;
		ht_record_end(pushed.ranges[i].token, NULL);
		memmove(&pushed.ranges[i], &pushed.ranges[i + 1],
		        (pushed.n - i - 1) * sizeof pushed.ranges[0]);
		return (int)--pushed.n;
	}
	return -1;
}

static void mark(uint32_t name)
{
	ht_record_end(begin(name), NULL);
}

/* ---- the functions of the tables --------------------------------------------------------------- */

static void mark_ex(const struct attributes *a)
{
	mark(name_of_event(a));
}

static void mark_a(const char *text)
{
	mark(name_of(text));
}

static void mark_w(const wchar_t *text)
{
	mark(name_of_wide(text));
}

static uint64_t start_ex(const struct attributes *a)
{
	return begin(name_of_event(a));
}

static uint64_t start_a(const char *text)
{
	return begin(name_of(text));
}

static uint64_t start_w(const wchar_t *text)
{
	return begin(name_of_wide(text));
}

static void end(uint64_t id)
{
	ht_record_end(id, NULL);
}

static int push_ex(const struct attributes *a)
{
	return push(NULL, name_of_event(a));
}

static int push_a(const char *text)
{
	return push(NULL, name_of(text));
}

static int push_w(const wchar_t *text)
{
	return push(NULL, name_of_wide(text));
}

static int pop_default(void)
{
	return pop(NULL);
}

static void domain_mark(const void *domain, const struct attributes *a)
{
	(void)domain;
	mark_ex(a);
}

static uint64_t domain_start(const void *domain, const struct attributes *a)
{
	(void)domain;
	return start_ex(a);
}

static void domain_end(const void *domain, uint64_t id)
{
	(void)domain;
	end(id);
}

static int domain_push(const void *domain, const struct attributes *a)
{
	return push(domain, name_of_event(a));
}

/* Handles are numbers of names; a domain's is as good as any. */
static const void *register_a(const void *domain, const char *text)
{
	(void)domain;
	return (const void *)(uintptr_t)name_of(text);
}

static const void *register_w(const void *domain, const wchar_t *text)
{
	(void)domain;
	return (const void *)(uintptr_t)name_of_wide(text);
}

static const void *domain_a(const char *text)
{
	return (const void *)(uintptr_t)name_of(text);
}

static const void *domain_w(const wchar_t *text)
{
	return (const void *)(uintptr_t)name_of_wide(text);
}

/* ---- attaching --------------------------------------------------------------------------------- */

struct slot {
	unsigned index; /* NVTX's number of the function */
	any_fn function;
};

static void fill(
        const struct callbacks_table *callbacks, int module, const struct slot *slots, size_t n)
{
	any_fn **table = NULL;
	unsigned size = 0;
	if (!callbacks->get_module(module, &table, &size) || !table)
		return;
	for (size_t i = 0; i < n; i++)
		if (slots[i].index < size && table[slots[i].index])
			*table[slots[i].index] = slots[i].function;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(export_table_fn export_table);

int InitializeInjectionNvtx2(export_table_fn export_table)
{
	static const struct slot core[] = { { 1, (any_fn)mark_ex }, { 2, (any_fn)mark_a },
		{ 3, (any_fn)mark_w }, { 4, (any_fn)start_ex }, { 5, (any_fn)start_a },
		{ 6, (any_fn)start_w }, { 7, (any_fn)end }, { 8, (any_fn)push_ex },
		{ 9, (any_fn)push_a }, { 10, (any_fn)push_w }, { 11, (any_fn)pop_default } };
	static const struct slot core2[] = { { 1, (any_fn)domain_mark },
		{ 2, (any_fn)domain_start }, { 3, (any_fn)domain_end }, { 4, (any_fn)domain_push },
		{ 5, (any_fn)pop }, { 10, (any_fn)register_a }, { 11, (any_fn)register_w },
		{ 12, (any_fn)domain_a }, { 13, (any_fn)domain_w } };
	const struct callbacks_table *callbacks = export_table(EXPORT_CALLBACKS);
	if (!callbacks || callbacks->size < sizeof *callbacks || !inject_start())
		return 0;
	fill(callbacks, MODULE_CORE, core, sizeof core / sizeof core[0]);
	fill(callbacks, MODULE_CORE2, core2, sizeof core2 / sizeof core2[0]);
	return 1;
}
