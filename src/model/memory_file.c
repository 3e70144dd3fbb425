/*
 * memory_file.c - see memory_file.h.
 */
#include "model/memory_file.h"
#include "base/io.h"
#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)4 << 30)

struct scan {
	ht_ctx *ctx;
	const char *path, *text, *at;
};

struct event {
	int64_t time_ns, bytes, category;
};

const char *ht_memory_category_name(size_t category)
{
	static const char *const names[HT_N_MEMORY_CATEGORIES] = { "parameter", "optimizer_state",
		"input", "temporary", "activation", "gradient", "autograd_detail", "unknown" };
	return category < HT_N_MEMORY_CATEGORIES ? names[category] : "unknown";
}

static enum ht_status wrong(const struct scan *scan, const char *expected)
{
	return ht_fail(scan->ctx, HT_FORMAT, scan->path, scan->at - scan->text,
	        "give a file written by export_memory_timeline with a name that ends in .raw.json.gz",
	        "not a raw memory timeline: %s expected", expected);
}

static bool skip(struct scan *scan, char wanted)
{
	while (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\t' || *scan->at == '\r')
		scan->at++;
	if (*scan->at != wanted)
		return false;
	scan->at++;
	return true;
}

/* A whole number; a fraction, if any, is cut. */
static bool number(struct scan *scan, int64_t *ret_value)
{
	while (*scan->at == ' ' || *scan->at == '\n')
		scan->at++;
	char *end;
	long long value = strtoll(scan->at, &end, 10);
	if (end == scan->at)
		return false;
	if (*end == '.')
		end += 1 + strspn(end + 1, "0123456789");
	scan->at = end;
	*ret_value = value;
	return true;
}

/* The action: a number, or a word in quotes. */
static bool action(struct scan *scan)
{
	int64_t ignored;
	if (!skip(scan, '"'))
		return number(scan, &ignored);
	while (*scan->at && *scan->at != '"')
		scan->at++;
	return skip(scan, '"');
}

static enum ht_status parse_event(struct scan *scan, struct event *ret_event)
{
	if (!skip(scan, '[') || !number(scan, &ret_event->time_ns) || !skip(scan, ',') ||
	        !action(scan) || !skip(scan, ',') || !number(scan, &ret_event->bytes) ||
	        !skip(scan, ',') || !number(scan, &ret_event->category) || !skip(scan, ']'))
		return wrong(scan, "[time, action, bytes, category]");
	if (ret_event->category < 0 || ret_event->category >= HT_N_MEMORY_CATEGORIES)
		return wrong(scan, "a category from 0 to 7");
	return HT_OK;
}

static enum ht_status parse(struct scan *scan, struct ht_vec *events)
{
	if (!skip(scan, '['))
		return wrong(scan, "a list");
	if (skip(scan, ']'))
		return HT_OK;
	do {
		struct event event;
		HT_TRY(parse_event(scan, &event));
		if (!HT_VEC_PUSH(scan->ctx->mem, events, struct event, event))
			return ht_fail_nomem(scan->ctx);
	} while (skip(scan, ','));
	return skip(scan, ']') ? HT_OK : wrong(scan, "the end of the list");
}

static enum ht_status make_samples(ht_ctx *ctx, const struct event *events, size_t n,
        struct ht_arena *arena, const struct ht_memory_sample **ret_samples, size_t *ret_n)
{
	int64_t first_ns = INT64_MAX;
	size_t n_samples = 0;
	for (size_t i = 0; i < n; i++) {
		if (events[i].time_ns >= 0 && events[i].time_ns < first_ns)
			first_ns = events[i].time_ns;
		n_samples += i == 0 || events[i].time_ns != events[i - 1].time_ns;
	}
	if (first_ns == INT64_MAX)
		first_ns = 0;
	struct ht_memory_sample *samples = ht_arena_alloc(arena, (n_samples + 1) * sizeof *samples);
	if (!samples)
		return ht_fail_nomem(ctx);
	struct ht_memory_sample *sample = samples;
	for (size_t i = 0; i < n; i++) {
		if (i && events[i].time_ns != events[i - 1].time_ns) {
			sample[1] = sample[0];
			sample++;
		}
		sample->unix_ns = events[i].time_ns >= 0 ? events[i].time_ns : first_ns;
		ht_sum(&sample->bytes[events[i].category], events[i].bytes);
	}
	*ret_samples = samples;
	*ret_n = n_samples;
	return HT_OK;
}

enum ht_status ht_memory_file_read(ht_ctx *ctx, const char *path, struct ht_arena *arena,
        const struct ht_memory_sample **ret_samples, size_t *ret_n)
{
	struct ht_vec text = { 0 }, events = { 0 };
	HT_TRY(ht_read_all(ctx, path, MAX_BYTES, &text));
	struct scan scan = { ctx, path, text.data, text.data };
	enum ht_status status = parse(&scan, &events);
	if (status == HT_OK)
		status = make_samples(ctx, events.data, events.n, arena, ret_samples, ret_n);
	ht_vec_free(ctx->mem, &text, 1);
	ht_vec_free(ctx->mem, &events, sizeof(struct event));
	return status;
}
