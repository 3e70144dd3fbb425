/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_read.c - an execution trace from a file: envelope, list of nodes, recovery.
 *
 * The text passes through a buffer of some pieces; a node that does not end in it is read again when more has
 * come, so memory is that of the store and of the longest node. What is no node is skipped up to the next place
 * where one begins. A list without an end is that of a run that was killed: its nodes stand, and a process node
 * is made, for it would have been the last.
 */
#include "et/et_reader.h"
#include "store/import_stats.h"

#include "base/io.h"
#include "base/mem.h"
#include "json/block_base.h"
#include "json/json_text.h"
#include "store/event.h"

#include <string.h>

#define PIECE_BYTES    ((size_t)1 << 20)
#define MAX_TEXT_BYTES ((size_t)1 << 40)
#define SNIFF_BYTES    ((size_t)4 << 10)
/* Bytes that may be looked at in vain: some, and so many times those read. */
#define FREE_FAILED_BYTES ((uint64_t)64 << 20)
#define MAX_FAILED_TIMES  8
/* Chakra's files are not streamed; they are a tenth of the traces they come from. */
#define MAX_CHAKRA_BYTES ((size_t)8 << 30)

const struct ht_et_stat_info *ht_et_stat_info(enum ht_et_stat_code code)
{
	static const struct ht_et_stat_info infos[] = {
#define STAT(name, severity, sentence, defect)                                                     \
	{ #name, sentence, defect, severity >= HT_DATA_LOSS },
#include "et/et_stats.def"
#undef STAT
	};
	return &infos[code];
}

/* ---- text in hand ---- */

struct input {
	struct ht_et_reader r;
	struct ht_source *source;
	struct ht_vec text; /* zeros behind it */
	size_t at;          /* used up so far */
	bool at_end, has_room;
	bool is_strict;  /* whether the text is valid JSON is asked for */
	bool is_invalid; /* it is not */
};

static const char *here(const struct input *in)
{
	return in->r.text + in->at;
}

/* Room for the nodes and tensors of a file that goes on as it began: a block that is large from the start has fewer
 * page faults than one that grows. Nothing is lost where there is no such room, or the size is not known. */
static void reserve_columns(struct input *in)
{
	struct ht_et *et = in->r.et;
	const struct ht_source_info *info = ht_source_info(in->source);
	size_t used = (size_t)in->r.base + in->at;
	if (in->has_room || !et->nodes.n || !used || info->compression != HT_PLAIN)
		return;
	in->has_room = true;
	size_t times = (size_t)(info->file_bytes / used) + 1;
	size_t n_nodes = et->nodes.n * times, n_tensors = et->tensors.n * times;
	/* not for a file whose first nodes are unusually small */
	if (n_nodes * sizeof(struct ht_et_node) + n_tensors * sizeof(struct ht_et_tensor) >
	        info->file_bytes)
		return;
	(void)ht_vec_reserve(et->mem, &et->nodes, sizeof(struct ht_et_node), n_nodes);
	(void)ht_vec_reserve(et->mem, &et->tensors, sizeof(struct ht_et_tensor), n_tensors);
}

/* Drop what is used up and read on. */
static enum ht_status fill(struct input *in)
{
	size_t left = in->text.n - in->at, n;
	char *text = in->text.data;
	reserve_columns(in);
	if (left && in->at)
		memmove(text, text + in->at, left);
	in->r.base += (int64_t)in->at;
	in->text.n = left;
	in->at = 0;
	/* a node that fills the buffer needs a larger one, and is not looked at again before it has doubled */
	size_t want = left < PIECE_BYTES ? PIECE_BYTES : left;
	if (!ht_vec_reserve(in->r.ctx->mem, &in->text, 1, want + HT_PADDING))
		return ht_fail_nomem(in->r.ctx);
	text = in->text.data;
	HT_TRY(ht_source_read(in->r.ctx, in->source, text + left, want, &n));
	in->text.n += n;
	in->at_end = n < want;
	memset(text + in->text.n, 0, HT_PADDING);
	in->r.text = text;
	in->r.end = text + in->text.n;
	uint64_t pos = ht_source_file_pos(in->source);
	return ht_progress(in->r.ctx, "Reading", pos, ht_source_info(in->source)->file_bytes);
}

/* At least n bytes, or all there are. */
static enum ht_status want(struct input *in, size_t n)
{
	while (in->text.n - in->at < n && !in->at_end)
		HT_TRY(fill(in));
	return HT_OK;
}

/* Blanks skipped, with a byte in hand unless the text ends. */
static enum ht_status skip_blanks(struct input *in)
{
	for (;;) {
		in->at = (size_t)(ht_skip_space(here(in)) - in->r.text);
		if (in->at < in->text.n || in->at_end)
			return HT_OK;
		HT_TRY(fill(in));
	}
}

/* ---- envelope ---- */

static const struct {
	const char *name;
	enum ht_et_header flag;
} known_keys[] = { { "schema", HT_ET_HAS_SCHEMA }, { "pid", HT_ET_HAS_PID },
	{ "time", HT_ET_HAS_TIME }, { "start_ts", HT_ET_HAS_START }, { "nodes", HT_ET_HAS_NODES },
	{ "finish_ts", HT_ET_HAS_FINISH } };

static enum ht_et_header header_of(const char *key, size_t n)
{
	for (size_t i = 0; i < HT_COUNT(known_keys); i++)
		if (strlen(known_keys[i].name) == n && !memcmp(known_keys[i].name, key, n))
			return known_keys[i].flag;
	return 0;
}

struct key {
	const char *text;
	size_t n;
	unsigned traits;
};

static bool set_header(struct input *in, enum ht_et_header flag, const struct key *key,
        const char *value, size_t n, unsigned traits)
{
	struct ht_et *et = in->r.et;
	struct ht_et_attr head = { .type = HT_ET_NO_STR };
	bool is_string = n >= 2 && *value == '"', fits = false, kept = true;
	int64_t *number = flag == HT_ET_HAS_PID      ? &et->pid
	                  : flag == HT_ET_HAS_START  ? &et->start_ts
	                  : flag == HT_ET_HAS_FINISH ? &et->finish_ts
	                                             : NULL;
	if (number) {
		fits = ht_et_parse_i64(value, n, number);
	} else if ((flag == HT_ET_HAS_SCHEMA || flag == HT_ET_HAS_TIME) && is_string) {
		kept = ht_et_intern_string(&in->r, value + 1, n - 2, traits,
		        flag == HT_ET_HAS_SCHEMA ? &et->schema : &et->time);
		fits = true;
	}
	if (fits)
		et->headers |= flag;
	/* one of ours that is not what it should be counts as missing: what is written has its own */
	if (fits || !kept || flag)
		return kept;
	return ht_et_intern_string(&in->r, key->text, key->n, key->traits, &head.name) &&
	       ht_et_intern_json(&in->r, value, n, traits, &head.value) &&
	       HT_VEC_PUSH(et->mem, &et->more_heads, struct ht_et_attr, head);
}

/* A value must be JSON to the letter: reading passes over much of it. */
static void demand_valid(struct input *in, const char *start, const char *end)
{
	if (in->is_strict && !ht_json_valid(start, (size_t)(ht_skip_space(end) - start)))
		in->is_invalid = true;
}

enum step { STEP_NEXT, STEP_NODES, STEP_END };

/* One key and its value, or the start of the list of nodes. */
static enum ht_et_parse parse_head(struct input *in, enum step *ret_step)
{
	unsigned traits = 0, key_traits = 0;
	bool bad = false;
	struct ht_et_reader *r = &in->r;
	const char *p = here(in);
	const char *end = *p == '"' ? ht_et_string_end(r, p, &key_traits) : NULL;
	if (!end)
		return *p && *p != '"' ? HT_ET_BAD : HT_ET_SHORT;
	const char *value = ht_skip_space(end);
	if (*value != ':')
		return value >= r->end ? HT_ET_SHORT : HT_ET_BAD;
	value = ht_skip_space(value + 1);
	enum ht_et_header flag = header_of(p + 1, (size_t)(end - p) - 2);
	if (flag == HT_ET_HAS_NODES && *value == '[') {
		in->r.et->headers |= flag;
		in->at = (size_t)(value + 1 - r->text);
		*ret_step = STEP_NODES;
		return HT_ET_PARSED;
	}
	const char *after = ht_et_value_end(r, value, &traits, &bad);
	if (!after)
		return bad ? HT_ET_BAD : HT_ET_SHORT;
	struct key key = { p + 1, (size_t)(end - p) - 2, key_traits };
	if (!set_header(in, flag, &key, value, (size_t)(after - value), traits))
		return HT_ET_FAILED;
	demand_valid(in, p, end);
	demand_valid(in, value, after);
	in->at = (size_t)(after - r->text);
	*ret_step = STEP_NEXT;
	return HT_ET_PARSED;
}

/* ---- list of nodes ---- */

/* Where a node seems to begin at or after p, or NULL. */
static const char *find_node(struct ht_et_reader *r, const char *p)
{
	for (; (p = memchr(p, '{', (size_t)(r->end - p))); p++) {
		const char *key = ht_skip_space(p + 1);
		if (!memcmp(key, "\"id\"", 4) && *ht_skip_space(key + 4) == ':')
			return p;
		if (memcmp(key, "\"name\"", 6) != 0)
			continue;
		/* attributes begin with their names, too, but go on with their types */
		const char *value = ht_skip_space(key + 6);
		unsigned traits = 0;
		if (*value != ':' || *(value = ht_skip_space(value + 1)) != '"')
			continue;
		const char *end = ht_et_string_end(r, value, &traits);
		const char *next = end ? ht_skip_space(end) : r->end;
		if (*next == ',' && !memcmp(ht_skip_space(next + 1), "\"id\"", 4))
			return p;
	}
	return NULL;
}

static void skip_to(struct input *in, const char *to)
{
	ht_et_count(&in->r, HT_ET_STAT_bytes_skipped, (uint64_t)(to - here(in)), here(in));
	in->at = (size_t)(to - in->r.text);
}

/* Skip to where the next node begins; the end of the text when there is none. The last bytes of a piece may be
 * the start of one. */
static enum ht_status resync(struct input *in)
{
	in->is_invalid = true;
	if (in->at < in->text.n)
		skip_to(in, here(in) + 1);
	for (;;) {
		const char *found = find_node(&in->r, here(in));
		if (found) {
			skip_to(in, found);
			return HT_OK;
		}
		size_t keep = in->text.n - in->at < SNIFF_BYTES || in->at_end ? 0 : SNIFF_BYTES;
		skip_to(in, in->r.end - keep);
		if (in->at_end)
			return HT_OK;
		HT_TRY(fill(in));
	}
}

/* Nodes may begin inside of what looked like one and was none, so that text is searched again. Not without end: where
 * much more was looked at in vain than there is text, it is passed over. */
static void skip_failed(struct input *in)
{
	struct ht_et_reader *r = &in->r;
	uint64_t n_read = (uint64_t)r->base + in->at;
	r->n_failed += (uint64_t)(r->reach - here(in));
	if (r->n_failed > FREE_FAILED_BYTES + MAX_FAILED_TIMES * n_read)
		skip_to(in, r->reach - 1);
}

/* One node, read again with more text when it does not end. */
static enum ht_status read_node(struct input *in)
{
	for (;;) {
		const char *at = here(in);
		enum ht_et_parse parsed = ht_et_parse_node(&in->r, &at);
		if (parsed == HT_ET_PARSED) {
			demand_valid(in, here(in), at);
			in->at = (size_t)(at - in->r.text);
			return HT_OK;
		}
		if (parsed == HT_ET_FAILED)
			return ht_fail_nomem(in->r.ctx);
		if (parsed == HT_ET_SHORT && !in->at_end) {
			HT_TRY(fill(in));
			continue;
		}
		/* the last node of a killed run is cut; that is told by the missing end */
		if (parsed == HT_ET_BAD || find_node(&in->r, here(in) + 1))
			ht_et_count(&in->r, HT_ET_STAT_nodes_lost, 1, here(in));
		else if (parsed == HT_ET_SHORT) {
			in->at = in->text.n;
			return HT_OK;
		}
		skip_failed(in);
		return resync(in);
	}
}

/* Whether the bracket in hand ends the list: what follows are keys, the end of the file or another list. */
static enum ht_status ends_list(struct input *in, bool *ret_ends)
{
	HT_TRY(want(in, 64));
	const char *p = ht_skip_space(here(in) + 1);
	*ret_ends = *p == '}' || p >= in->r.end || (*p == ',' && *ht_skip_space(p + 1) == '"');
	return HT_OK;
}

static enum ht_status read_nodes(struct input *in, bool *ret_ended)
{
	struct ht_et_reader *r = &in->r;
	size_t n_commas = 0;
	bool first = true;
	*ret_ended = false;
	for (;;) {
		HT_TRY(skip_blanks(in));
		const char *p = here(in);
		if (p >= r->end)
			return HT_OK;
		if (*p == ',') {
			if (n_commas++ || first)
				ht_et_count(r, HT_ET_STAT_stray_comma, 1, p);
			in->at++;
		} else if (*p == '{') {
			if (!first && !n_commas)
				ht_et_count(r, HT_ET_STAT_missing_comma, 1, p);
			HT_TRY(read_node(in));
			n_commas = 0;
			first = false;
		} else if (*p == ']') {
			HT_TRY(ends_list(in, ret_ended));
			if (*ret_ended && n_commas)
				ht_et_count(r, HT_ET_STAT_stray_comma, 1, here(in));
			if (!*ret_ended)
				ht_et_count(r, HT_ET_STAT_stray_brace, 1, here(in));
			in->at++;
			if (*ret_ended)
				return HT_OK;
		} else if (*p == '}') {
			ht_et_count(r, HT_ET_STAT_stray_brace, 1, p);
			in->at++;
		} else {
			HT_TRY(resync(in));
		}
	}
}

/* ---- the whole ---- */

static enum ht_status wrong_kind(ht_ctx *ctx, const char *path, bool is_empty, bool is_trace)
{
	if (is_empty)
		return ht_fail(ctx, HT_FORMAT, path, 0,
		        "the observer may not have been unregistered", "the file is empty");
	return ht_fail(ctx, HT_FORMAT, path, 0,
	        is_trace
	                ? "this is a profiler trace; give the file that ExecutionTraceObserver wrote"
	                : "expected a JSON object with schema and nodes, or Chakra's messages",
	        "not an execution trace");
}

/* One member of the outermost object, or all that follows the start of the list of nodes. */
static enum ht_status read_member(struct input *in, enum step *ret_step, bool *ret_ended)
{
	for (;;) {
		enum ht_et_parse parsed = parse_head(in, ret_step);
		if (parsed == HT_ET_FAILED)
			return ht_fail_nomem(in->r.ctx);
		if (parsed == HT_ET_SHORT && !in->at_end) {
			HT_TRY(fill(in));
			continue;
		}
		if (parsed != HT_ET_PARSED)
			*ret_step = STEP_END;
		return *ret_step == STEP_NODES ? read_nodes(in, ret_ended) : HT_OK;
	}
}

/* Top-level keys, the list of nodes among them. */
static enum ht_status read_object(struct input *in)
{
	bool ended = false, had_nodes = false;
	size_t n_commas = 1; /* as if one had been before the first */
	in->at++;
	for (;;) {
		enum step step = STEP_END;
		HT_TRY(skip_blanks(in));
		if (*here(in) == '}' || here(in) >= in->r.end)
			break;
		if (*here(in) == ',') {
			in->at++;
			n_commas++;
			continue;
		}
		in->is_invalid |= n_commas != 1;
		n_commas = 0;
		HT_TRY(read_member(in, &step, &ended));
		had_nodes |= step == STEP_NODES;
		if (step == STEP_END || (step == STEP_NODES && !ended))
			break;
	}
	const char *p = here(in);
	if (had_nodes && !ended)
		ht_et_count(&in->r, HT_ET_STAT_not_finalised, 1, p);
	else if (had_nodes && p < in->r.end && *p != '}')
		ht_et_count(&in->r, HT_ET_STAT_bytes_skipped, (uint64_t)(in->r.end - p), p);
	if (*p != '}' || (n_commas && had_nodes))
		in->is_invalid = true;
	else
		in->at++;
	HT_TRY(skip_blanks(in));
	in->is_invalid |= here(in) < in->r.end;
	return HT_OK;
}

/* A node that stands for the process, when none of that name was read. */
static enum ht_status complete_root(struct input *in)
{
	static const char name[] = "[pytorch|profiler|execution_trace|process]";
	struct ht_et *et = in->r.et;
	/* it is the last one of a file that has it */
	for (uint32_t row = ht_et_n(et); row > 0; row--)
		if (ht_et_kind(et, row - 1) == HT_ET_PROCESS)
			return HT_OK;
	struct ht_et_node node = { .id = 1,
		.parent_id = 1,
		.seq_id = -1,
		.scope = 7,
		.op_schema = HT_ET_NO_STR,
		.kernel_backend = HT_ET_NO_STR,
		.kernel_file = HT_ET_NO_STR,
		.tensor_range = HT_ET_NO_STR,
		.flags = HT_ET_ID | HT_ET_NAME | HT_ET_PARENT | HT_ET_MADE,
		.in = { HT_ET_NO_STR, HT_ET_NO_STR, HT_ET_NO_STR, HT_ET_NO_STR },
		.out = { HT_ET_NO_STR, HT_ET_NO_STR, HT_ET_NO_STR, HT_ET_NO_STR },
		.first_attr = (uint32_t)et->attrs.n,
		.first_tensor = (uint32_t)et->tensors.n,
		.offset = (int64_t)et->text_bytes };
	ht_et_count(&in->r, HT_ET_STAT_root_made, 1, here(in));
	if (!ht_et_intern(et, name, sizeof name - 1, &node.name) ||
	        !HT_VEC_PUSH(et->mem, &et->nodes, struct ht_et_node, node))
		return ht_fail_nomem(in->r.ctx);
	return HT_OK;
}

/* Whether something was repaired or lost that valid JSON does not have. */
static bool has_defects(const struct ht_et *et)
{
	static const enum ht_et_stat_code defects[] = { HT_ET_STAT_name_unescaped,
		HT_ET_STAT_stray_comma, HT_ET_STAT_missing_comma, HT_ET_STAT_missing_brace,
		HT_ET_STAT_stray_brace, HT_ET_STAT_not_finalised, HT_ET_STAT_cut_gzip };
	for (size_t i = 0; i < HT_COUNT(defects); i++)
		if (et->stats[defects[i]].count)
			return true;
	return false;
}

static enum ht_status read_json(struct input *in)
{
	struct ht_et *et = in->r.et;
	HT_TRY(read_object(in));
	et->is_valid = !in->is_invalid && !has_defects(et);
	et->text_bytes = ht_source_pos(in->source);
	if (ht_source_damage(in->source)->kind != HT_DAMAGE_NONE)
		ht_et_count(&in->r, HT_ET_STAT_cut_gzip, 1, here(in));
	if (!(et->headers & HT_ET_HAS_NODES))
		return ht_fail(in->r.ctx, HT_FORMAT, et->path, (int64_t)et->text_bytes,
		        "the observer may have been killed before it wrote a node",
		        "the execution trace has no list of nodes");
	return complete_root(in);
}

static enum ht_status read_all_chakra(struct input *in)
{
	struct ht_et *et = in->r.et;
	while (!in->at_end) {
		if (in->text.n > MAX_CHAKRA_BYTES)
			return ht_fail(in->r.ctx, HT_LIMIT, et->path, -1, NULL,
			        "the file has more than %zu bytes", MAX_CHAKRA_BYTES);
		HT_TRY(fill(in));
	}
	et->text_bytes = in->text.n;
	et->format = HT_ET_CHAKRA;
	return ht_et_read_chakra(in->r.ctx, in->text.data, in->text.n, et);
}

static enum ht_status read_input(struct input *in)
{
	struct ht_et *et = in->r.et;
	enum ht_et_format format;
	HT_TRY(fill(in));
	HT_TRY(want(in, SNIFF_BYTES));
	et->file_bytes = ht_source_info(in->source)->file_bytes;
	if (!ht_et_sniff(in->r.text, in->text.n, in->at_end, &format))
		return wrong_kind(in->r.ctx, et->path, !in->text.n,
		        memmem(in->r.text, in->text.n, "\"traceEvents\"", 13) ||
		                memmem(in->r.text, in->text.n, "\"ph\"", 4));
	if (format == HT_ET_CHAKRA)
		return read_all_chakra(in);
	if (in->text.n >= 3 && !memcmp(in->r.text, "\xef\xbb\xbf", 3))
		in->at = 3;
	HT_TRY(skip_blanks(in));
	return read_json(in);
}

enum ht_status ht_et_read(ht_ctx *ctx, const char *path, bool is_strict, struct ht_et **ret_et)
{
	struct ht_et *et = ht_mem_zalloc(ctx->mem, sizeof *et);
	if (!et)
		return ht_fail_nomem(ctx);
	et->mem = ht_mem_retain(ctx->mem);
	et->schema = et->time = HT_ET_NO_STR;
	ht_pool_init(&et->pool, et->mem);
	size_t n_path = strlen(path) + 1;
	et->path = ht_mem_alloc(et->mem, n_path);
	struct input in = { .r = { .ctx = ctx, .et = et, .last_device = HT_ET_NO_STR },
		.is_strict = is_strict };
	enum ht_status status = et->path ? HT_OK : ht_fail_nomem(ctx);
	if (et->path)
		memcpy(et->path, path, n_path);
	if (status == HT_OK && !(in.r.habit = ht_mem_zalloc(ctx->mem, sizeof *in.r.habit)))
		status = ht_fail_nomem(ctx);
	if (status == HT_OK)
		status = ht_source_open(ctx, path, &in.source);
	if (status == HT_OK) {
		status = read_input(&in);
		ht_source_close(in.source);
	}
	if (status == HT_OK)
		status = ht_et_index(ctx, et);
	ht_vec_free(ctx->mem, &in.text, 1);
	ht_vec_free(ctx->mem, &in.r.scratch, 1);
	ht_vec_free(ctx->mem, &in.r.lists, sizeof(uint32_t));
	ht_vec_free(ctx->mem, &in.r.steps, 1);
	ht_vec_free(ctx->mem, &in.r.custom_of, sizeof(uint32_t));
	ht_vec_free(ctx->mem, &in.r.customs, sizeof(struct ht_et_custom));
	ht_mem_free(ctx->mem, in.r.habit, sizeof *in.r.habit);
	if (status == HT_NOMEM)
		ht_error_in_file(ctx, path);
	if (status != HT_OK) {
		ht_et_free(et);
		return status;
	}
	*ret_et = et;
	return HT_OK;
}
