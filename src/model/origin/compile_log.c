/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compile_log.c - see compile_log.h.
 */
#include "model/origin/compile_log.h"

#include "base/md5.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/text_compare.h"
#include "json/json_text.h"
#include "model/origin/compile_span.h"
#include "model/origin/graph_lines.h"
#include "model/origin/log_events.h"
#include "model/origin/parameters.h"
#include "model/origin/wrapper.h"

#include <inttypes.h>
#include <string.h>

/* A record: the JSON of its line, and its payload without the tabs. */
struct record {
	struct ht_json_value json;
	char *payload; /* "" when there is none */
	size_t n_payload;
};

/* A graph on its way: its parts come one after the other. */
struct reading {
	ht_ctx *ctx;
	struct ht_compile_log *log;
	struct ht_vec calls;        /* struct ht_compiled_call */
	const char *file, *code_id; /* of the code: the wrapper, the compilation */
	bool has_code, is_backward;
	/* lines of the graph before the code, and of the one that Dynamo captured last, with its compilation */
	struct ht_graph_lines lines, captured;
	const char *captured_id;
	struct ht_parameters parameters;
	struct ht_log_events events;
};

/* Behind "V0521 11:50:39.474000 3054118 path/file.py:1864] ", or NULL. */
static char *find_json(char *line)
{
	char *p = line;
	if (ht_text_starts(p, "[rank")) {
		p += strspn(p + 5, "0123456789") + 5;
		if (!ht_text_starts(p, "]:"))
			return NULL;
		p += 2 + strspn(p + 2, " ");
	}
	if (!*p || !strchr("VIWEC", *p) || strspn(p + 1, "0123456789") != 4 || p[5] != ' ')
		return NULL;
	char *end = memmem(p, strcspn(p, "\n"), "] {", 3);
	return end ? end + 2 : NULL;
}

bool ht_compile_log_sniff(const char *text, size_t n)
{
	char line[512];
	size_t n_line = n < sizeof line - 1 ? n : sizeof line - 1;
	memcpy(line, text, n_line);
	line[n_line] = '\0';
	return memchr(text, '\0', n_line) == NULL && find_json(line) != NULL;
}

static char *keep_text(struct reading *r, const char *text, size_t n)
{
	return ht_arena_strndup(&r->log->arena, text, n);
}

static bool is_text(const struct ht_json_value *value, const char *text)
{
	return value->type == HT_JSON_STRING && value->n == strlen(text) + 2 &&
	       !memcmp(value->text + 1, text, value->n - 2);
}

static const char *compile_id_of(struct reading *r, const struct ht_json_value *json)
{
	struct ht_json_value frame = ht_json_get(json, "frame_id");
	struct ht_json_value compile = ht_json_get(json, "frame_compile_id");
	struct ht_json_value attempt = ht_json_get(json, "attempt");
	int64_t f, c, a = 0;
	if (!ht_json_i64(&frame, &f) || !ht_json_i64(&compile, &c))
		return "";
	if (ht_json_i64(&attempt, &a) && a > 0)
		return ht_arena_printf(&r->log->arena, "%" PRId64 "/%" PRId64 "/%" PRId64, f, c, a);
	return ht_arena_printf(&r->log->arena, "%" PRId64 "/%" PRId64, f, c);
}

/* ---- records ---- */

/* Calls without a stack have the lines of their nodes in the graph: of a forward pass nodes as Dynamo captured them, of a backward pass those
 * of its own, and some of the forward pass. */
static enum ht_status add_lines(struct reading *r, const char *compile_id)
{
	struct ht_compiled_call *calls = r->calls.data;
	bool has_captured = ht_text_same(r->captured_id, compile_id);
	bool is_turned = has_captured && !r->is_backward;
	const struct ht_graph_lines *graphs[] = { is_turned ? &r->captured : &r->lines,
		is_turned      ? &r->lines
		: has_captured ? &r->captured
		               : NULL };
	for (size_t i = 0; i < r->calls.n; i++) {
		for (size_t k = 0; k < 2 && graphs[k] && !calls[i].source; k++)
			HT_TRY(ht_graph_lines_add(r->ctx, &r->log->arena, graphs[k], &calls[i]));
		HT_TRY(ht_graph_lines_weigh(r->ctx, &r->log->arena, graphs, &calls[i]));
	}
	r->lines.nodes.n = 0;
	return ht_parameters_fill(r->ctx, &r->log->arena, &r->calls);
}

static enum ht_status push_graph(struct reading *r, const char *key, const char *compile_id)
{
	struct ht_compile_log *log = r->log;
	size_t n = r->calls.n;
	HT_TRY(add_lines(r, compile_id));
	struct ht_compiled_graph graph = { .key = key,
		.compile_id = compile_id,
		.file = r->file ? r->file : "",
		.calls = ht_arena_alloc(&log->arena, (n + 1) * sizeof *graph.calls),
		.n = n };
	if (!graph.calls || !key || !compile_id)
		return ht_fail_nomem(r->ctx);
	if (n)
		memcpy(graph.calls, r->calls.data, n * sizeof *graph.calls);
	r->calls.n = 0;
	r->file = NULL;
	r->has_code = false;
	return HT_VEC_PUSH(log->mem, &log->graphs, struct ht_compiled_graph, graph)
	               ? HT_OK
	               : ht_fail_nomem(r->ctx);
}

static enum ht_status read_code(struct reading *r, const struct record *record)
{
	struct ht_json_value code = ht_json_get(&record->json, "inductor_output_code");
	struct ht_json_value file = ht_json_get(&code, "filename");
	const char *compile_id = compile_id_of(r, &record->json);
	if (r->has_code)
		HT_TRY(push_graph(r, "", r->code_id));
	r->code_id = compile_id;
	r->file = ht_log_string(&r->log->arena, &file);
	r->has_code = true;
	const char *title = strstr(record->payload, "_backward']");
	r->is_backward =
	        title && (size_t)(title - record->payload) < strcspn(record->payload, "\n");
	HT_TRY(ht_wrapper_read(r->ctx, &r->log->arena, record->payload, &r->calls));
	return ht_parameters_apply(
	        r->ctx, &r->log->arena, &r->parameters, compile_id, record->payload, &r->calls);
}

static enum ht_status read_source(
        struct reading *r, const struct record *record, const struct ht_json_value *described)
{
	struct ht_json_value value = ht_json_get(described, "source");
	const char *source = ht_log_string(&r->log->arena, &value);
	const char *compile_id = compile_id_of(r, &record->json);
	return !source ? HT_OK
	               : ht_parameters_add_source(
	                         r->ctx, &r->log->arena, &r->parameters, compile_id, source);
}

static enum ht_status read_captured(struct reading *r, const struct record *record)
{
	r->captured_id = compile_id_of(r, &record->json);
	HT_TRY(ht_parameters_read_graph(
	        r->ctx, &r->log->arena, &r->parameters, r->captured_id, record->payload));
	return ht_graph_lines_read(r->ctx, record->payload, &r->captured);
}

/* {"triton_poi_fused_add_0:1": ["  File \"a.py\", line 3, in f\n ...", ...], ...}: older handles may be repeated. */
static enum ht_status read_stacks(struct reading *r, const struct record *record)
{
	struct ht_json reader = { record->payload };
	struct ht_json_value all, key, value;
	struct ht_call_index index;
	enum ht_status status = HT_OK;
	if (!ht_json_valid(record->payload, record->n_payload)) {
		r->log->n_bad += record->n_payload > 0; /* of code from a cache there is none */
		return HT_OK;
	}
	all = ht_json_next(&reader);
	if (all.type != HT_JSON_OBJECT)
		return HT_OK;
	reader = ht_json_enter(&all);
	HT_TRY(ht_call_index_make(r->ctx, r->calls.data, r->calls.n, &index));
	while (status == HT_OK && ht_json_member(&reader, &key, &value))
		status = ht_wrapper_add_stacks(r->ctx, &r->log->arena, &index, &key, &value);
	ht_call_index_done(r->ctx, &index);
	return status;
}

static enum ht_status read_key(struct reading *r, const struct record *record)
{
	struct ht_json reader = { record->payload };
	if (!ht_json_valid(record->payload, record->n_payload)) {
		r->log->n_bad++;
		return HT_OK;
	}
	struct ht_json_value all = ht_json_next(&reader), key = ht_json_get(&all, "key");
	const char *text = ht_log_string(&r->log->arena, &key);
	return text ? push_graph(r, text, compile_id_of(r, &record->json)) : HT_OK;
}

/* Between the two places that a log has a reason in, there are no more than so many other reasons. */
#define MAX_REASONS_BETWEEN 64

/* Once for a compilation: the log may have it in two places. */
static enum ht_status push_reason(
        struct reading *r, const struct record *record, const char *text, size_t n)
{
	const struct ht_recompile *list = r->log->recompiles.data;
	struct ht_recompile recompile = { compile_id_of(r, &record->json), keep_text(r, text, n) };
	if (!recompile.reason || !recompile.compile_id)
		return ht_fail_nomem(r->ctx);
	size_t n_all = r->log->recompiles.n;
	for (size_t i = 0; i < n_all && i < MAX_REASONS_BETWEEN; i++)
		if (!strcmp(list[n_all - 1 - i].compile_id, recompile.compile_id))
			return HT_OK;
	return HT_VEC_PUSH(r->log->mem, &r->log->recompiles, struct ht_recompile, recompile)
	               ? HT_OK
	               : ht_fail_nomem(r->ctx);
}

static enum ht_status read_reason(struct reading *r, const struct record *record)
{
	/* "0/0: tensor 'idx' size mismatch ...": of which compilation the guard is, comes first */
	return push_reason(r, record, record->payload, strcspn(record->payload, "\n"));
}

/* What a compilation was like; logs without the artifact have the reason only here. */
static enum ht_status read_metrics(
        struct reading *r, const struct record *record, const struct ht_json_value *metrics)
{
	struct ht_json_value value = ht_json_get(metrics, "recompile_reason");
	const char *text = ht_log_string(&r->log->arena, &value);
	return text && *text ? push_reason(r, record, text, strcspn(text, "\n")) : HT_OK;
}

static enum ht_status read_artifact(struct reading *r, const struct record *record)
{
	struct ht_json_value artifact = ht_json_get(&record->json, "artifact");
	struct ht_json_value name = ht_json_get(&artifact, "name");
	if (is_text(&name, "inductor_provenance_tracking_kernel_stack_traces"))
		return read_stacks(r, record);
	if (is_text(&name, "fx_graph_cache_hit") || is_text(&name, "fx_graph_cache_miss") ||
	        is_text(&name, "fx_graph_cache_bypass"))
		return read_key(r, record);
	return is_text(&name, "recompile_reasons") ? read_reason(r, record) : HT_OK;
}

/* Whether a payload is what was written: its checksum is in the line before it. */
static bool is_whole(const struct record *record)
{
	struct ht_json_value wanted = ht_json_get(&record->json, "has_payload");
	char found[33];
	size_t n = record->n_payload;
	if (wanted.type != HT_JSON_STRING || wanted.n != sizeof found + 1)
		return true;
	/* the line break behind the last line is the log's */
	n -= n && record->payload[n - 1] == '\n';
	ht_md5(record->payload, n, found);
	return !memcmp(wanted.text + 1, found, sizeof found - 1);
}

static enum ht_status read_event(struct reading *r, const struct record *record)
{
	bool is_good;
	HT_TRY(ht_log_events_take(
	        r->ctx, &r->events, record->payload, &r->log->arena, &r->log->spans, &is_good));
	r->log->n_bad += !is_good;
	return HT_OK;
}

static enum ht_status read_record(struct reading *r, const struct record *record)
{
	struct ht_json_value described = ht_json_get(&record->json, "describe_source");
	struct ht_json_value metrics = ht_json_get(&record->json, "compilation_metrics");
	r->log->n_records++;
	r->log->n_changed += !is_whole(record);
	if (ht_json_get(&record->json, "chromium_event").type != HT_JSON_END)
		return read_event(r, record);
	if (ht_json_get(&record->json, "inductor_output_code").type != HT_JSON_END)
		return read_code(r, record);
	if (ht_json_get(&record->json, "inductor_post_grad_graph").type != HT_JSON_END) {
		if (r->has_code)
			HT_TRY(push_graph(r, "", r->code_id));
		return ht_graph_lines_read(r->ctx, record->payload, &r->lines);
	}
	if (ht_json_get(&record->json, "dynamo_output_graph").type != HT_JSON_END)
		return read_captured(r, record);
	if (described.type != HT_JSON_END)
		return read_source(r, record, &described);
	if (metrics.type != HT_JSON_END)
		return read_metrics(r, record, &metrics);
	if (ht_json_get(&record->json, "artifact").type != HT_JSON_END)
		return read_artifact(r, record);
	return HT_OK;
}

/* Move the payload's lines, each behind a tab, together; the first byte after it. */
static char *take_payload(char *at, struct record *record)
{
	char *to = at;
	record->payload = at;
	while (*at == '\t') {
		size_t n = strcspn(at + 1, "\n");
		memmove(to, at + 1, n);
		to += n;
		at += 1 + n;
		if (*at == '\n') {
			at++;
			*to++ = '\n';
		}
	}
	record->n_payload = (size_t)(to - record->payload);
	return at;
}

static enum ht_status read_records(struct reading *r, char *text)
{
	for (char *at = text; *at;) {
		char *json = find_json(at), *end = at + strcspn(at, "\n");
		char *next = *end ? end + 1 : end;
		struct record record = { .payload = "" };
		if (*end)
			*end = '\0';
		size_t n = json ? strlen(json) : 0;
		if (!json || !ht_json_valid(json, n)) {
			r->log->n_bad += at[0] != '\0';
			at = next;
			continue;
		}
		struct ht_json reader = { json };
		record.json = ht_json_next(&reader);
		char *behind = take_payload(next, &record);
		/* every line of it has moved by its tab, so there is room for an end */
		if (record.n_payload)
			record.payload[record.n_payload] = '\0';
		else
			record.payload = "";
		HT_TRY(read_record(r, &record));
		at = behind;
	}
	return HT_OK;
}

/* ---- names ---- */

static int by_name(const void *left, const void *right)
{
	const struct ht_log_name *a = left, *b = right;
	int by = strcmp(a->name, b->name);
	return by ? by : (a->place > b->place) - (a->place < b->place);
}

/* The last place of a name + 1; 0: none. */
static size_t find_last(const struct ht_log_name *names, size_t n, const char *name)
{
	size_t end = HT_LOWER_BOUND(i, n, strcmp(names[i].name, name) <= 0);
	return end && !strcmp(names[end - 1].name, name) ? names[end - 1].place + 1 : 0;
}

static enum ht_status sort_names(ht_ctx *ctx, struct ht_compile_log *log)
{
	const struct ht_compiled_graph *graphs = log->graphs.data;
	const struct ht_recompile *recompiles = log->recompiles.data;
	size_t n_keys = log->graphs.n, n_ids = log->recompiles.n;
	log->keys = ht_arena_room(&log->arena, (n_keys + 1) * sizeof *log->keys);
	log->ids = ht_arena_room(&log->arena, (n_ids + 1) * sizeof *log->ids);
	if (!log->keys || !log->ids)
		return ht_fail_nomem(ctx);
	for (uint32_t i = 0; i < n_keys; i++)
		log->keys[i] = (struct ht_log_name){ graphs[i].key, i };
	for (uint32_t i = 0; i < n_ids; i++)
		log->ids[i] = (struct ht_log_name){ recompiles[i].compile_id, i };
	ht_sort_items(ctx->mem, log->keys, n_keys, sizeof *log->keys, by_name);
	ht_sort_items(ctx->mem, log->ids, n_ids, sizeof *log->ids, by_name);
	return HT_OK;
}

enum ht_status ht_compile_log_new(ht_ctx *ctx, struct ht_compile_log **ret_log)
{
	struct ht_compile_log *log = ht_mem_zalloc(ctx->mem, sizeof *log);
	if (!log)
		return ht_fail_nomem(ctx);
	log->mem = ht_mem_retain(ctx->mem);
	ht_arena_init(&log->arena, log->mem);
	*ret_log = log;
	return HT_OK;
}

enum ht_status ht_compile_log_read(
        ht_ctx *ctx, char *text, size_t n, struct ht_compile_log **ret_log)
{
	struct ht_compile_log *log = NULL;
	HT_TRY(ht_compile_log_new(ctx, &log));
	struct reading r = { .ctx = ctx, .log = log };
	/* what is behind a zero byte is no text */
	text[n] = '\0';
	enum ht_status status = read_records(&r, text);
	if (status == HT_OK && r.has_code)
		status = push_graph(&r, "", r.code_id);
	if (status == HT_OK)
		status = sort_names(ctx, log);
	ht_vec_free(log->mem, &r.calls, sizeof(struct ht_compiled_call));
	ht_log_events_done(ctx, &r.events);
	ht_graph_lines_done(ctx, &r.lines);
	ht_graph_lines_done(ctx, &r.captured);
	ht_parameters_done(ctx, &r.parameters);
	if (status != HT_OK) {
		ht_compile_log_free(log);
		return status;
	}
	*ret_log = log;
	return HT_OK;
}

void ht_compile_log_free(struct ht_compile_log *log)
{
	if (!log)
		return;
	struct ht_mem *mem = log->mem;
	ht_vec_free(mem, &log->graphs, sizeof(struct ht_compiled_graph));
	ht_vec_free(mem, &log->recompiles, sizeof(struct ht_recompile));
	ht_vec_free(mem, &log->spans, sizeof(struct ht_compile_span));
	ht_arena_done(&log->arena);
	ht_mem_free(mem, log, sizeof *log);
	ht_mem_release(mem);
}

const struct ht_compiled_graph *ht_compile_log_graph(
        const struct ht_compile_log *log, const char *key)
{
	size_t found = find_last(log->keys, log->graphs.n, key);
	return found ? (const struct ht_compiled_graph *)log->graphs.data + found - 1 : NULL;
}

const char *ht_compile_log_reason(const struct ht_compile_log *log, const char *compile_id)
{
	const struct ht_recompile *list = log->recompiles.data;
	size_t found = find_last(log->ids, log->recompiles.n, compile_id);
	return found ? list[found - 1].reason : NULL;
}
