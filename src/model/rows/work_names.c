/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_names.c - see work_names.h.
 */
#include "model/rows/work_names.h"

#include "model/policy.h"

#include <string.h>

enum ht_work_type ht_work_type_of_class(enum ht_class class_)
{
	switch (class_) {
	case HT_CLASS_COMPUTE: return HT_WORK_COMPUTE;
	case HT_CLASS_COMM: return HT_WORK_COMM;
	case HT_CLASS_MEMCPY:
	case HT_CLASS_MEMSET: return HT_WORK_MEMORY;
	default: return HT_WORK_OTHER;
	}
}

const char *ht_work_type_word(const struct ht_run *run, enum ht_work_type type)
{
	static const char *const words[HT_WORK_N_TYPES] = { "compute", "communication", "memory",
		"other" };
	return run->policy->type_words ? run->policy->type_words[type] : words[type];
}

static bool starts(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

bool ht_name_is_memory(const char *name)
{
	static const char *const prefixes[] = { "Memcpy", "Memset", "hipMemcpy", "hipMemset",
		"dma" };
	for (size_t i = 0; i < HT_COUNT(prefixes); i++)
		if (starts(name, prefixes[i]))
			return true;
	return false;
}

const char *ht_copy_kind(struct ht_arena *arena, const char *name)
{
	if (starts(name, "Memset"))
		return "Memset";
	if (!starts(name, "Memcpy"))
		return "Memcpy Unknown";
	return ht_arena_strndup(arena, name, strnlen(name, strlen("Memcpy DtoH")));
}

/* A closing bracket takes the output back to before its opening one, or to nothing when there is none: HTA's
 * rule, whose short names people know. */
static size_t take_back(const char *out, size_t n, char open)
{
	while (n && out[n - 1] != open)
		n--;
	return n ? n - 1 : 0;
}

/* Nothing of it is worth keeping, and the colons go with it. */
static const char unnamed[] = "(anonymous namespace)::";

const char *ht_name_shorten(const struct ht_run *run, const char *name)
{
	if (ht_name_is_memory(name) || !strpbrk(name, "<("))
		return name;
	size_t length = strlen(name), n = 0;
	char *out = ht_arena_alloc(run->scratch, length + 1);
	if (!out)
		return NULL;
	for (size_t i = 0; i < length; i++) {
		if (name[i] == unnamed[0] && !run->policy->raw_short_names &&
		        starts(name + i, unnamed))
			i += sizeof unnamed - 2;
		else if (name[i] == '-' && name[i + 1] == '>')
			i++;
		else if (name[i] == '>')
			n = take_back(out, n, '<');
		else if (name[i] == ')')
			n = take_back(out, n, '(');
		else
			out[n++] = name[i];
	}
	out[n] = '\0';
	char *space = strrchr(out, ' ');
	const char *left = space ? space + 1 : out;
	/* More words than a return type and a name: no C++, and brackets may mean something. */
	bool words = space && memchr(out, ' ', (size_t)(space - out));
	return run->policy->raw_short_names || (*left && !words) ? left : name;
}

const char *ht_name_common(struct ht_arena *arena, const char *name)
{
	const char *numbers = starts(name, "hcom_") ? strstr(name, "__") : NULL;
	if (!numbers || !numbers[2] || strspn(numbers, "_0123456789") != strlen(numbers))
		return name;
	return ht_arena_strndup(arena, name, (size_t)(numbers + 2 - name));
}
