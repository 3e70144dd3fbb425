/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sniff.c - what is in a file, from its first bytes.
 *
 * Looks at the keys of the outermost object, or of the first object of an outermost array:
 *   traceEvents                          a trace, as is any key that only profilers write in front
 *   ph                                   an event: an array of events, or lines of events
 *   schema with nodes, or workload_graph an execution trace
 * The walk only follows strings and brackets, so that a trace broken further on is still recognised.
 */
#include "read/sniff.h"
#include "base/io.h"
#include "json/events_key.h"

#include <string.h>

enum key {
	KEY_TRACE = 1,      /* traceEvents */
	KEY_HEADER = 2,     /* stands before traceEvents in some trace */
	KEY_PH = 4,         /* an event's phase */
	KEY_TS = 8,         /* an event's time, for the odd event without a phase */
	KEY_SCHEMA = 16,    /* execution trace: version */
	KEY_NODES = 32,     /* execution trace: content */
	KEY_WORKLOAD = 64,  /* execution trace converted for simulators */
	KEY_COMPLETE = 128, /* the object was seen to its end */
};

static const struct {
	const char *name;
	enum key key;
} known_keys[] = {
	{ "traceEvents", KEY_TRACE },
	{ "schemaVersion", KEY_HEADER },
	{ "deviceProperties", KEY_HEADER },
	{ "distributedInfo", KEY_HEADER },
	{ "baseTimeNanoseconds", KEY_HEADER },
	{ "displayTimeUnit", KEY_HEADER },
	{ "record_shapes", KEY_HEADER },
	{ "profile_memory", KEY_HEADER },
	{ "with_stack", KEY_HEADER },
	{ "with_flops", KEY_HEADER },
	{ "with_modules", KEY_HEADER },
	{ "trace_id", KEY_HEADER },
	{ "traceName", KEY_HEADER },
	{ "otherData", KEY_HEADER },
	{ "stackFrames", KEY_HEADER },
	{ "systemTraceEvents", KEY_HEADER },
	{ "ph", KEY_PH },
	{ "ts", KEY_TS },
	{ "schema", KEY_SCHEMA },
	{ "nodes", KEY_NODES },
	{ "workload_graph", KEY_WORKLOAD },
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t skip_blanks(const char *text, size_t n, size_t i)
{
	while (i < n && is_blank(text[i]))
		i++;
	return i;
}

static unsigned key_of(const char *name, size_t n)
{
	for (size_t i = 0; i < HT_COUNT(known_keys); i++)
		if (strlen(known_keys[i].name) == n && !memcmp(known_keys[i].name, name, n))
			return known_keys[i].key;
	return 0;
}

bool ht_is_header_key(const char *name, size_t n)
{
	return (key_of(name, n) & (KEY_TRACE | KEY_HEADER)) != 0;
}

/* The end of the string whose opening quote is at i: the index of the closing one, or n. */
static size_t string_end(const char *text, size_t n, size_t i)
{
	for (i++; i < n && text[i] != '"'; i++)
		if (text[i] == '\\')
			i++;
	return i < n ? i : n;
}

/* The set of known keys of the object that opens at i, not of those inside it. */
static unsigned object_keys(const char *text, size_t n, size_t i)
{
	unsigned keys = 0;
	size_t depth = 0;
	for (; i < n; i++) {
		char c = text[i];
		if (c == '{' || c == '[') {
			depth++;
		} else if (c == '}' || c == ']') {
			if (--depth == 0)
				return keys | KEY_COMPLETE;
		} else if (c == '"') {
			size_t end = string_end(text, n, i), after = skip_blanks(text, n, end + 1);
			if (depth == 1 && after < n && text[after] == ':')
				keys |= key_of(text + i + 1, end - i - 1);
			if (keys & KEY_TRACE)
				return keys;
			i = end;
		}
	}
	return keys;
}

static struct ht_sniff other(const char *what)
{
	return (struct ht_sniff){ HT_SNIFF_OTHER, what };
}

static struct ht_sniff sniff_object(const char *text, size_t n, size_t i, bool is_all)
{
	unsigned keys = object_keys(text, n, i);
	if (keys & KEY_TRACE)
		return (struct ht_sniff){ HT_SNIFF_OBJECT, "a trace" };
	if (keys & KEY_WORKLOAD || (keys & KEY_SCHEMA && keys & KEY_NODES))
		return (struct ht_sniff){ HT_SNIFF_EXECUTION_TRACE, "an execution trace" };
	if (keys & KEY_PH)
		return (struct ht_sniff){ HT_SNIFF_LINES, "lines of events" };
	/* damage may close the object before its events */
	if (keys & KEY_HEADER && (!(keys & KEY_COMPLETE) || ht_find_events_key(text, n)))
		return (struct ht_sniff){ HT_SNIFF_OBJECT, "a trace" };
	return other(is_all || keys & KEY_COMPLETE ? "JSON without traceEvents"
	                                           : "JSON without traceEvents near its start");
}

static struct ht_sniff sniff_array(const char *text, size_t n, size_t i)
{
	static const struct ht_sniff events = { HT_SNIFF_ARRAY, "an array of events" };
	i = skip_blanks(text, n, i + 1);
	if (i == n || text[i] == ']')
		return events;
	bool nested = text[i] == '[';
	while (i < n && text[i] == '[')
		i = skip_blanks(text, n, i + 1);
	if (i == n)
		return events;
	if (nested && (text[i] == '-' || (text[i] >= '0' && text[i] <= '9')))
		return (struct ht_sniff){ HT_SNIFF_MEMORY_TIMELINE, "a memory timeline" };
	if (text[i] != '{')
		return other("a JSON array without events");
	unsigned keys = object_keys(text, n, i);
	if (keys & (KEY_PH | KEY_TS) || !(keys & KEY_COMPLETE))
		return events;
	return other("a JSON array without events");
}

const char *ht_sniff_magic(const char *p, size_t n)
{
	static const struct {
		const char *magic;
		size_t n;
		const char *what;
	} known[] = { { "\x89PNG", 4, "a PNG image" }, { "PK\x03\x04", 4, "a zip archive" },
		{ "\x7f"
		  "ELF",
		        4, "a program" },
		{ "%PDF", 4, "a PDF" }, { "<!", 2, "HTML or XML" }, { "<?", 2, "HTML or XML" },
		{ "SQLite", 6, "an SQLite database" }, { "\x0a", 1, "a binary file" },
		{ "\xff\xfe\0\0", 4, "UTF-32, not UTF-8" }, { "\xff\xfe", 2, "UTF-16, not UTF-8" },
		{ "\xfe\xff", 2, "UTF-16, not UTF-8" }, { "BZh", 3, "bzip2 data" },
		{ "\xfd"
		  "7zXZ",
		        5, "xz data" },
		{ "\x80\2", 2, "a Python pickle" }, { "\x80\3", 2, "a Python pickle" },
		{ "\x80\4", 2, "a Python pickle" }, { "\x80\5", 2, "a Python pickle" },
		{ "version https://git-lfs", 23,
		        "a Git LFS pointer (git lfs pull fetches its file)" },
		{ "/annex/objects/", 15, "a git-annex pointer (git annex get fetches its file)" } };
	if (n && !*p)
		return "zero bytes";
	if (ht_compression_of(p, n) != HT_PLAIN)
		return "data that are compressed once more";
	if (n > 1 && *p == '<' && ((p[1] | 0x20) >= 'a' && (p[1] | 0x20) <= 'z'))
		return "HTML or XML";
	for (size_t i = 0; i < HT_COUNT(known); i++)
		if (n >= known[i].n && !memcmp(p, known[i].magic, known[i].n))
			return known[i].what;
	return NULL;
}

struct ht_sniff ht_sniff_trace(const char *text, size_t n, bool is_all)
{
	size_t i = n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
	i = skip_blanks(text, n, i);
	if (i == n)
		return other(is_all ? "empty" : "not JSON: only blanks at its start");
	if (text[i] == '{')
		return sniff_object(text, n, i, is_all);
	if (text[i] == '[')
		return sniff_array(text, n, i);
	const char *what = ht_sniff_magic(text + i, n - i);
	return other(what ? what : "not JSON");
}

bool ht_sniff_is_trace(enum ht_sniff_kind kind)
{
	return kind == HT_SNIFF_OBJECT || kind == HT_SNIFF_ARRAY || kind == HT_SNIFF_LINES;
}
