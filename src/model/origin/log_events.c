/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_events.c - see log_events.h.
 */
#include "model/origin/log_events.h"

#include "base/checked.h"
#include "model/origin/compile_span.h"

#include <string.h>

/* More that has begun and never ends is no log of ours. */
#define MAX_OPEN 4096

struct open {
	struct ht_compile_span span;
	int64_t thread;
};

char *ht_log_string(struct ht_arena *arena, const struct ht_json_value *value)
{
	size_t bad;
	if (value->type != HT_JSON_STRING || value->n < 2)
		return NULL;
	/* an escape that is none becomes three bytes */
	char *text = ht_arena_room(arena, 3 * value->n);
	if (text)
		text[ht_json_decode(value->text + 1, value->n - 2, text, &bad)] = '\0';
	return text;
}

/* Microseconds as nanoseconds; false for what is none. */
static bool read_time(const struct ht_json_value *value, int64_t *ret_ns)
{
	if (value->type != HT_JSON_NUMBER)
		return false;
	struct ht_time time = ht_time_parse_slow(value->text);
	*ret_ns = time.ns;
	return time.end != NULL;
}

static enum ht_status begin(ht_ctx *ctx, struct ht_log_events *events, const struct open *open)
{
	if (events->open.n >= MAX_OPEN)
		events->open.n = 0;
	return HT_VEC_PUSH(ctx->mem, &events->open, struct open, *open) ? HT_OK
	                                                                : ht_fail_nomem(ctx);
}

/* The last one of its name and thread ends; those inside it that did not are forgotten. */
static enum ht_status end(
        ht_ctx *ctx, struct ht_log_events *events, const struct open *ended, struct ht_vec *spans)
{
	struct open *list = events->open.data;
	size_t i = events->open.n, n_kept;
	while (i > 0 && (list[i - 1].thread != ended->thread ||
	                        strcmp(list[i - 1].span.name, ended->span.name) != 0))
		i--;
	if (!i)
		return HT_OK;
	struct ht_compile_span span = list[i - 1].span;
	span.dur_ns = ht_sub_sat(ended->span.ts_ns, span.ts_ns);
	n_kept = i - 1;
	for (size_t k = i; k < events->open.n; k++)
		if (list[k].thread != ended->thread)
			list[n_kept++] = list[k];
	events->open.n = n_kept;
	if (span.dur_ns < 0)
		return HT_OK;
	return HT_VEC_PUSH(ctx->mem, spans, struct ht_compile_span, span) ? HT_OK
	                                                                  : ht_fail_nomem(ctx);
}

static uint32_t depth_of(const struct ht_log_events *events, int64_t thread)
{
	const struct open *list = events->open.data;
	uint32_t depth = 0;
	for (size_t i = 0; i < events->open.n; i++)
		depth += list[i].thread == thread;
	return depth;
}

enum ht_status ht_log_events_take(ht_ctx *ctx, struct ht_log_events *events, const char *payload,
        struct ht_arena *arena, struct ht_vec *spans, bool *ret_is_good)
{
	struct ht_json reader = { payload };
	*ret_is_good = false;
	if (!ht_json_valid(payload, strlen(payload)))
		return HT_OK;
	struct ht_json_value all = ht_json_next(&reader);
	if (all.type != HT_JSON_OBJECT)
		return HT_OK;
	struct ht_json_value name = ht_json_get(&all, "name"), ph = ht_json_get(&all, "ph");
	struct ht_json_value ts = ht_json_get(&all, "ts"), tid = ht_json_get(&all, "tid");
	struct ht_json_value args = ht_json_get(&all, "args");
	struct ht_json_value id = ht_json_get(&args, "compile_id");
	struct open one = { .span = { .row = UINT32_MAX } };
	bool is_span = ph.type == HT_JSON_STRING && ph.n == 3;
	if (name.type != HT_JSON_STRING || !is_span || !read_time(&ts, &one.span.ts_ns))
		return HT_OK;
	*ret_is_good = true;
	(void)ht_json_i64(&tid, &one.thread);
	if (ph.text[1] != 'B' && ph.text[1] != 'E')
		return HT_OK;
	one.span.name = ht_log_string(arena, &name);
	one.span.compile_id = id.type == HT_JSON_STRING ? ht_log_string(arena, &id) : NULL;
	if (!one.span.name || (id.type == HT_JSON_STRING && !one.span.compile_id))
		return ht_fail_nomem(ctx);
	if (ph.text[1] == 'E')
		return end(ctx, events, &one, spans);
	one.span.depth = depth_of(events, one.thread);
	return begin(ctx, events, &one);
}

void ht_log_events_done(ht_ctx *ctx, struct ht_log_events *events)
{
	ht_vec_free(ctx->mem, &events->open, sizeof(struct open));
}
