/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_nvtx.c - NVTX of an export: ranges of threads, ranges that end anywhere, marks.
 *
 * PyTorch's emit_nvtx names the ranges of operators "aten::mm, seq = 12, op_id = 90, sizes = [[2, 3], [3, 4]]": such are
 * operators, and what follows the name are their args. Names of modules, as hooks of serving engines write them
 * ("{'Module': 'layers.0', ...}"), become those of Kineto. Other ranges of the default domain are the user's annotations;
 * those of a library's domain are its calls.
 *
 * Names of domains and categories are rows of the same table, in no order: the first row that needs one has it looked through.
 */
#include "read/rows.h"

#if defined(HT_HAVE_SQLITE)

#include "base/text_compare.h"
#include "json/json_text.h"
#include "read/nsys/nsys.h"
#include "read/nsys/nsys_payload.h"
#include "read/nsys/nsys_schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Kinds of rows: KIND(name, code, as ENUM_NSYS_EVENT_TYPE calls it). Those with a T come from imported text. */
#define NVTX_KINDS(KIND)                                                                           \
	KIND(CATEGORY, 33, "NvtxCategory")                                                         \
	KIND(MARK, 34, "NvtxMark")                                                                 \
	KIND(RANGE, 59, "NvtxPushPopRange")                                                        \
	KIND(START_END, 60, "NvtxStartEndRange")                                                   \
	KIND(T_CATEGORY, 64, "NvtxtCategory")                                                      \
	KIND(T_MARK, 65, "NvtxtMark")                                                              \
	KIND(T_RANGE, 70, "NvtxtPushPopRange")                                                     \
	KIND(T_START_END, 71, "NvtxtStartEndRange")                                                \
	KIND(DOMAIN, 75, "NvtxDomainCreate")
enum nvtx_kind {
#define KIND(name, code, text) NVTX_##name,
	NVTX_KINDS(KIND)
#undef KIND
	        N_NVTX_KINDS
};

enum {
	N_START,
	N_END,
	N_TYPE,
	N_TEXT,
	N_TID,
	N_DOMAIN,
	N_CATEGORY,
	N_COLOR,
	N_RANGE,
	N_END_TID,
	N_PAYLOAD,
	N_JSON,
	N_BYTES
};
/* Texts are there, or their ids: older exporters write an empty text beside these. Of the values there is one at most. */
static const char *const nvtx_columns[] = { "start", "end", "eventType", "text||textId",
	"globalTid", "domainId", "category", "color", "rangeId", "endGlobalTid",
	"uint64Value|int64Value|uint32Value|int32Value|doubleValue|floatValue",
	"jsonText||jsonTextId", "binaryData", NULL };

struct text {
	const char *at;
	size_t n;
};

#define MAX_KNOWN 8192

struct nvtx {
	struct ht_nsys *n;
	struct ht_db_words domains, categories; /* by number */
	uint32_t arg_inputs, arg_domain, arg_category, arg_finished, arg_json;
	struct ht_nsys_payload_args payload;
	struct ht_nsys_schemas schemas;
	int64_t codes[N_NVTX_KINDS]; /* what the kinds are called in the table */
	bool has_names;              /* of domains and categories */
	/* by string id, of shapes, which repeat by the million: 0 not looked at, 1 no, 2 yes */
	uint8_t is_json[MAX_KNOWN];
	char name[512];
};

/* A text, or what its id stands for. */
static struct text row_text(struct nvtx *x, sqlite3_stmt *query, int column)
{
	struct ht_db *db = &x->n->db;
	int type = sqlite3_column_type(query, column);
	if (type != SQLITE_INTEGER) {
		struct text t = { NULL, 0 };
		if (type != SQLITE_NULL)
			t.at = ht_database_text(&db->file, query, column, &t.n);
		return t;
	}
	const struct ht_db_word *word =
	        ht_db_words_find(&db->strings, sqlite3_column_int64(query, column));
	return word ? (struct text){ word->text, word->n } : (struct text){ NULL, 0 };
}

/* ---- names of domains and categories ---- */

static enum ht_status keep_name(
        struct nvtx *x, struct ht_db_words *words, int64_t key, struct text text)
{
	if (!text.at || ht_db_words_find(words, key))
		return HT_OK;
	struct ht_db_word *word = ht_db_words_add(&x->n->db, words, key);
	char *copy = word ? ht_arena_strndup(&x->n->arena, text.at, text.n) : NULL;
	if (!copy)
		return ht_fail_nomem(x->n->db.ctx);
	word->text = copy;
	word->n = text.n;
	word->str = HT_NO_STR;
	return HT_OK;
}

static int64_t category_key(sqlite3_stmt *query)
{
	return ht_db_i64(query, N_DOMAIN, 0) << 32 | (ht_db_i64(query, N_CATEGORY, 0) & UINT32_MAX);
}

/* Once, when the first row needs it: mostly none does. */
static enum ht_status read_dictionary(struct nvtx *x)
{
	struct ht_db *db = &x->n->db;
	uint64_t n_rows = db->n_rows;
	x->has_names = true;
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	if (!ht_database_has_column(&db->file, "NVTX_EVENTS", "eventType"))
		return HT_OK;
	char where[160];
	(void)snprintf(where, sizeof where,
	        "WHERE t.eventType IN (%" PRId64 ", %" PRId64 ", %" PRId64 ")",
	        x->codes[NVTX_DOMAIN], x->codes[NVTX_CATEGORY], x->codes[NVTX_T_CATEGORY]);
	HT_TRY(ht_db_select(db, "NVTX_EVENTS", nvtx_columns, where, &query));
	/* damage is told once, by the reading of all rows */
	const char *table = db->table;
	db->table = NULL;
	while (ht_db_next(db, query, &status)) {
		struct text text = row_text(x, query, N_TEXT);
		status = ht_db_i64(query, N_TYPE, 0) == x->codes[NVTX_DOMAIN]
		                 ? keep_name(x, &x->domains, ht_db_i64(query, N_DOMAIN, 0), text)
		                 : keep_name(x, &x->categories, category_key(query), text);
	}
	db->table = table;
	db->n_rows = n_rows;
	sqlite3_finalize(query);
	return status;
}

/* ---- operators ---- */

/* What emit_nvtx adds to a name, in this order; each is there or not. */
enum { SUFFIX_SEQ, SUFFIX_OP_ID, SUFFIX_SIZES, SUFFIX_INPUTS, N_SUFFIXES };
static const struct {
	const char *text;
	size_t n;
} suffixes[N_SUFFIXES] = { { ", seq = ", 8 }, { ", op_id = ", 10 }, { ", sizes = ", 10 },
	{ ", input_op_ids = ", 17 } };

/* An operator's text taken apart: where its name ends, and what follows each key; NULL: not there. */
struct op_text {
	size_t n_name;
	struct text of[N_SUFFIXES];
};

static size_t suffix_at(struct text t, size_t at)
{
	/* most commas are those of shapes, before a digit or a bracket */
	char c = t.n - at < 3 ? '\0' : t.at[at + 2];
	if (c != 's' && c != 'o' && c != 'i')
		return N_SUFFIXES;
	for (size_t i = 0; i < N_SUFFIXES; i++)
		if (t.n - at > suffixes[i].n && !memcmp(t.at + at, suffixes[i].text, suffixes[i].n))
			return i;
	return N_SUFFIXES;
}

/* One walk over the commas. */
static struct op_text take_apart(struct text t)
{
	struct op_text op = { .n_name = t.n };
	size_t last = N_SUFFIXES;
	if (!t.n)
		return op;
	for (const char *at = t.at, *end = t.at + t.n; (at = memchr(at, ',', (size_t)(end - at)));
	        at++) {
		size_t place = (size_t)(at - t.at), i = suffix_at(t, place);
		if (i == N_SUFFIXES || op.of[i].at)
			continue;
		if (last == N_SUFFIXES)
			op.n_name = place;
		else
			op.of[last].n = (size_t)(at - op.of[last].at);
		last = i;
		op.of[i] = (struct text){ at + suffixes[i].n, 0 };
	}
	if (last != N_SUFFIXES)
		op.of[last].n = (size_t)(t.at + t.n - op.of[last].at);
	return op;
}

static bool number_of(struct text t, int64_t *ret_value)
{
	int64_t value = 0;
	size_t i = 0;
	if (!t.at)
		return false;
	for (; i < t.n && i < 18 && t.at[i] >= '0' && t.at[i] <= '9'; i++)
		value = value * 10 + (t.at[i] - '0');
	*ret_value = value;
	return i != 0 && i == t.n;
}

/* "aten::mm": a namespace and a name, nothing else. */
static bool is_op_name(struct text t)
{
	const char *colons = t.n ? memmem(t.at, t.n, "::", 2) : NULL;
	if (!colons || colons == t.at || colons + 2 == t.at + t.n)
		return false;
	for (size_t i = 0; i < t.n; i++) {
		char c = t.at[i];
		bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		               (c >= '0' && c <= '9') || c == '_' || c == '.' || c == ':';
		if (!is_word)
			return false;
	}
	return true;
}

static void put_dims(struct nvtx *x, struct text sizes)
{
	struct ht_rows *rows = &x->n->db.rows;
	uint32_t id = ht_rows_text(rows, sizes.at, sizes.n);
	uint8_t *known = id < MAX_KNOWN ? &x->is_json[id] : NULL;
	uint8_t is_json = known ? *known : 0;
	if (!is_json)
		is_json = ht_json_valid(sizes.at, sizes.n) ? 2 : 1;
	if (known)
		*known = is_json;
	if (is_json == 2)
		ht_nsys_put(x->n, HT_NSYS_DIMS, id);
}

static void put_op_args(struct nvtx *x, const struct op_text *op)
{
	struct text sizes = op->of[SUFFIX_SIZES], inputs = op->of[SUFFIX_INPUTS];
	struct ht_rows *rows = &x->n->db.rows;
	int64_t number;
	if (number_of(op->of[SUFFIX_SEQ], &number))
		ht_nsys_put(x->n, HT_NSYS_SEQUENCE, number);
	if (number_of(op->of[SUFFIX_OP_ID], &number))
		ht_nsys_put(x->n, HT_NSYS_OP_ID, number);
	if (sizes.at)
		put_dims(x, sizes);
	if (inputs.at)
		ht_row_put(rows, x->arg_inputs, ht_rows_text(rows, inputs.at, inputs.n));
}

/* The module of "{'Module': 'layers.0', ...}". */
static bool find_module(struct text t, struct text *ret_module)
{
	static const char start[] = "{'Module': '";
	size_t n = sizeof start - 1;
	if (t.n <= n || memcmp(t.at, start, n) != 0)
		return false;
	const char *end = memchr(t.at + n, '\'', t.n - n);
	*ret_module = (struct text){ t.at + n, end ? (size_t)(end - t.at) - n : 0 };
	return end != NULL;
}

/* ---- rows ---- */

static bool is_library(const struct ht_db_word *domain, struct text text)
{
	static const char *const names[] = { "NCCL", "CUBLAS", "cuBLAS", "CUDNN", "cuDNN", "CCCL",
		"NVSHMEM", "cuSPARSE", "CUSOLVER", "cuFFT", "TensorRT", "MPI", "UCX" };
	for (size_t i = 0; domain && i < HT_COUNT(names); i++)
		if (ht_text_starts(domain->text, names[i]))
			return true;
	return text.n > 4 && !memcmp(text.at, "nccl", 4) && text.at[4] >= 'A' && text.at[4] <= 'Z';
}

/* What rarely is there. */
static enum ht_status put_extras(
        struct nvtx *x, sqlite3_stmt *query, const struct ht_db_word *domain, struct text text)
{
	struct ht_nsys *n = x->n;
	if (domain)
		ht_row_put(&n->db.rows, x->arg_domain,
		        ht_rows_text(&n->db.rows, domain->text, domain->n));
	const struct ht_db_word *category =
	        x->categories.n ? ht_db_words_find(&x->categories, category_key(query)) : NULL;
	if (category)
		ht_row_put(&n->db.rows, x->arg_category,
		        ht_rows_text(&n->db.rows, category->text, category->n));
	ht_nsys_put_cell(n, HT_NSYS_COLOR, query, N_COLOR);
	if (sqlite3_column_type(query, N_PAYLOAD) == SQLITE_FLOAT)
		ht_nsys_put_f64(n, HT_NSYS_PAYLOAD, sqlite3_column_double(query, N_PAYLOAD));
	else
		ht_nsys_put_cell(n, HT_NSYS_PAYLOAD, query, N_PAYLOAD);
	int64_t i_domain = ht_db_i64(query, N_DOMAIN, 0);
	if (ht_db_is_null(query, N_JSON) && ht_db_is_null(query, N_BYTES))
		return HT_OK;
	struct text json = row_text(x, query, N_JSON);
	if (!json.at)
		HT_TRY(ht_nsys_schema_decode(
		        n, &x->schemas, i_domain, query, N_BYTES, &json.at, &json.n));
	if (json.at && ht_json_valid(json.at, json.n))
		ht_row_put(&n->db.rows, x->arg_json, ht_rows_text(&n->db.rows, json.at, json.n));
	struct ht_nsys_payload payload;
	unsigned char bytes[64];
	size_t n_bytes =
	        json.at ? 0 : ht_nsys_schema_payload(query, N_BYTES, i_domain, bytes, sizeof bytes);
	bool has_payload =
	        ht_nsys_payload_read(text.at, text.n, json.at, json.n, bytes, n_bytes, &payload);
	return has_payload ? ht_nsys_payload_put(n, &x->payload, text.at, text.n, &payload) : HT_OK;
}

/* The name of an event that is no operator. */
static uint32_t plain_name(struct nvtx *x, const struct ht_db_word *domain, struct text text)
{
	struct text module;
	int length;
	if (find_module(text, &module))
		length = snprintf(x->name, sizeof x->name, "nn.Module: %.*s",
		        (int)(module.n < 480 ? module.n : 480), module.at);
	else if (domain && text.n + domain->n + 2 < sizeof x->name)
		length = snprintf(
		        x->name, sizeof x->name, "%s:%.*s", domain->text, (int)text.n, text.at);
	else
		return ht_rows_text(&x->n->db.rows, text.at ? text.at : "", text.n);
	return ht_rows_text(&x->n->db.rows, x->name, (size_t)length);
}

static enum ht_status put_end(struct nvtx *x, sqlite3_stmt *query, uint32_t name)
{
	int64_t tid = ht_db_i64(query, N_END_TID, ht_db_i64(query, N_TID, 0));
	ht_nsys_begin(x->n, 'e', HT_NSYS_CAT_RANGE, name);
	ht_row_process(&x->n->db.rows, ht_nsys_pid(tid), ht_nsys_tid(tid));
	ht_row_time(&x->n->db.rows, sqlite3_column_int64(query, N_END));
	ht_nsys_put_cell(x->n, HT_NSYS_RANGE_ID, query, N_RANGE);
	return ht_nsys_end(x->n);
}

/* A rank that programs say: "rank 3", "rank=3". */
static void look_for_rank(struct nvtx *x, struct text text)
{
	int64_t rank;
	if (x->n->rank == HT_NO_I64 && text.n >= 6 && text.n < 16 && !memcmp(text.at, "rank", 4) &&
	        strchr(" =:_", text.at[4]) &&
	        number_of((struct text){ text.at + 5, text.n - 5 }, &rank))
		x->n->rank = rank;
}

static enum ht_status put_row(struct nvtx *x, sqlite3_stmt *query)
{
	struct ht_nsys *n = x->n;
	struct ht_rows *rows = &n->db.rows;
	const int64_t *codes = x->codes;
	int64_t start_ns, dur_ns, type = ht_db_i64(query, N_TYPE, codes[NVTX_RANGE]),
	                          tid = ht_db_i64(query, N_TID, 0),
	                          i_domain = ht_db_i64(query, N_DOMAIN, 0);
	bool is_open,
	        is_range = type == codes[NVTX_RANGE] || type == codes[NVTX_T_RANGE],
	        is_mark = type == codes[NVTX_MARK] || type == codes[NVTX_T_MARK],
	        is_start_end = type == codes[NVTX_START_END] || type == codes[NVTX_T_START_END];
	if (!is_range && !is_mark && !is_start_end)
		return HT_OK;
	if (!ht_nsys_times(n, query, &start_ns, &dur_ns, &is_open))
		return HT_OK;
	struct text text = row_text(x, query, N_TEXT);
	if (!x->has_names && (i_domain || !ht_db_is_null(query, N_CATEGORY)))
		HT_TRY(read_dictionary(x));
	const struct ht_db_word *domain = i_domain ? ht_db_words_find(&x->domains, i_domain) : NULL;
	struct op_text op = { .n_name = text.n };
	if (text.at && is_range && !i_domain)
		op = take_apart(text);
	bool is_op = is_range && !i_domain && text.at && (op.n_name < text.n || is_op_name(text));
	look_for_rank(x, text);
	uint32_t name =
	        is_op ? ht_rows_text(rows, text.at, op.n_name) : plain_name(x, domain, text);
	ht_nsys_begin(n,
	        is_range  ? 'X'
	        : is_mark ? 'i'
	                  : 'b',
	        is_op                      ? HT_NSYS_CAT_OP
	        : is_mark                  ? HT_NSYS_CAT_MARK
	        : is_start_end             ? HT_NSYS_CAT_RANGE
	        : is_library(domain, text) ? HT_NSYS_CAT_LIBRARY
	                                   : HT_NSYS_CAT_ANNOTATION,
	        name);
	ht_row_process(rows, ht_nsys_pid(tid), ht_nsys_tid(tid));
	ht_row_time(rows, start_ns);
	if (is_range)
		ht_row_duration(rows, dur_ns);
	if (is_start_end)
		ht_nsys_put_cell(n, HT_NSYS_RANGE_ID, query, N_RANGE);
	if (is_op)
		put_op_args(x, &op);
	if (is_open && !is_mark)
		ht_row_put(rows, x->arg_finished, 0);
	HT_TRY(put_extras(x, query, domain, text));
	HT_TRY(ht_nsys_end(n));
	return is_start_end && !is_open ? put_end(x, query, name) : HT_OK;
}

/* By name, where the file has them; else those that all versions have had. */
static enum ht_status find_codes(struct nvtx *x)
{
	static const struct {
		int64_t code;
		const char *text;
	} kinds[] = {
#define KIND(name, code, text) { code, text },
		NVTX_KINDS(KIND)
#undef KIND
	};
	struct ht_db_words types = { 0 };
	for (size_t k = 0; k < N_NVTX_KINDS; k++)
		x->codes[k] = kinds[k].code;
	enum ht_status status =
	        ht_db_words_read(&x->n->db, "ENUM_NSYS_EVENT_TYPE", "id", "name", &types);
	for (size_t i = 0; i < types.cap; i++)
		for (size_t k = 0; types.list[i].text && k < N_NVTX_KINDS; k++)
			if (!strcmp(types.list[i].text, kinds[k].text))
				x->codes[k] = types.list[i].key;
	ht_db_words_done(&x->n->db, &types);
	return status;
}

enum ht_status ht_nsys_read_nvtx(struct ht_nsys *n)
{
	struct ht_rows *rows = &n->db.rows;
	struct nvtx x = { .n = n };
	sqlite3_stmt *query = NULL;
	HT_TRY(find_codes(&x));
	ht_nsys_schemas_init(&x.schemas, n->db.builder->mem);
	x.arg_inputs = ht_nsys_text_arg(n, "input_op_ids");
	x.arg_domain = ht_nsys_text_arg(n, "domain");
	x.arg_category = ht_nsys_text_arg(n, "nvtx category");
	x.arg_json = ht_rows_column(rows, "payload data", 12, HT_ARG_JSON);
	x.arg_finished = ht_rows_column(rows, "finished", 8, HT_ARG_BOOL);
	ht_nsys_payload_args_make(n, &x.payload);
	enum ht_status status = ht_nsys_select(n, "NVTX_EVENTS", nvtx_columns, "globalTid", &query);
	while (ht_db_next(&n->db, query, &status))
		status = put_row(&x, query);
	sqlite3_finalize(query);
	ht_db_words_done(&n->db, &x.domains);
	ht_db_words_done(&n->db, &x.categories);
	ht_nsys_schemas_done(&x.schemas, n->db.builder->mem);
	return status;
}

#endif
