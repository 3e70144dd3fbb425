/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops_read.c - see ops.h: the table of operations and what is known of the job, from files.
 *
 * The table is CSV, plain or compressed, with a header; columns are found by name and others are passed over. What is known of the
 * job is the part of YAML that the published traces use: a line "key: value" each, comments and blank lines. Nothing is guessed: a
 * value that is no number ends reading, with its line.
 */
#include "job/ops.h"

#include "base/csv_line.h"
#include "base/io.h"
#include "base/number.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MAX_BYTES      ((size_t)4 << 30)
#define MAX_META_BYTES ((size_t)1 << 20)
#define MAX_SIZE       1000000 /* of any dimension of a job */
#define MAX_COLUMNS    256

/* A compressed file that is cut would be a job with fewer steps. */
static enum ht_status read_file(ht_ctx *ctx, const char *path, size_t max, struct ht_vec *text)
{
	struct ht_source *source;
	HT_TRY(ht_source_open(ctx, path, &source));
	enum ht_status status = ht_source_read_all(ctx, source, max, text);
	const struct ht_damage *damage = ht_source_damage(source);
	if (status == HT_OK && damage->kind != HT_DAMAGE_NONE)
		status = ht_fail(ctx, HT_FORMAT, path, (int64_t)damage->offset,
		        "write or copy the file again", "the file is damaged: %s", damage->text);
	ht_source_close(source);
	return status;
}

/* ---- what is known of the job ---- */

struct size_key {
	const char *name;
	bool is_needed;
	int64_t value;
};
enum { META_DP, META_DSP, META_PP, META_TP, META_VPP, META_WORLD, N_META };

static enum ht_status bad_meta(ht_ctx *ctx, const char *path, size_t line, const char *why)
{
	return ht_fail(ctx, HT_FORMAT, path, -1,
	        "lines are 'key: value'; dp_size and pp_size are needed, dsp_size, tp_size and vpp_size "
	        "are 1 when absent",
	        "line %zu %s", line, why);
}

/* "dp_size: 4   # four of them" */
static enum ht_status read_meta_line(
        ht_ctx *ctx, const char *path, size_t number, char *line, struct size_key *keys)
{
	char *comment = strchr(line, '#');
	if (comment && (comment == line || comment[-1] == ' '))
		*comment = '\0';
	size_t n = strlen(line);
	while (n && strchr(" \t\r", line[n - 1]))
		line[--n] = '\0';
	char *colon = strchr(line, ':');
	if (!n || !strcmp(line, "---") || !strcmp(line, "..."))
		return HT_OK;
	if (!colon || (colon[1] && colon[1] != ' '))
		return bad_meta(ctx, path, number, "is not 'key: value'");
	*colon = '\0';
	const char *value = colon + 1 + strspn(colon + 1, " \t");
	for (size_t i = 0; i < N_META; i++) {
		if (strcmp(keys[i].name, line) != 0)
			continue;
		struct ht_number parsed = ht_number_parse(value);
		if (parsed.type != HT_NUMBER_I64 || *parsed.end || parsed.i < 1 ||
		        parsed.i > MAX_SIZE)
			return bad_meta(ctx, path, number,
			        "has a size that is no number from 1 to 1000000");
		keys[i].value = parsed.i;
	}
	return HT_OK;
}

static enum ht_status read_meta(ht_ctx *ctx, const char *path, char *text, struct ht_ops_shape *ret)
{
	struct size_key keys[N_META] = { { "dp_size", true, 0 }, { "dsp_size", false, 1 },
		{ "pp_size", true, 0 }, { "tp_size", false, 1 }, { "vpp_size", false, 1 },
		{ "world_size", false, 0 } };
	size_t number = 0;
	for (char *line; (line = ht_csv_line(&text));)
		HT_TRY(read_meta_line(ctx, path, ++number, line, keys));
	for (size_t i = 0; i < N_META; i++)
		if (keys[i].is_needed && !keys[i].value)
			return ht_fail(ctx, HT_FORMAT, path, -1,
			        "the file has lines such as 'pp_size: 4'", "%s is missing",
			        keys[i].name);
	*ret = (struct ht_ops_shape){ .n_stages = keys[META_PP].value,
		.n_chunks = keys[META_VPP].value,
		.n_data = keys[META_DP].value * keys[META_DSP].value };
	/* sizes are at most 10^6: only the product of all may be too large for 64 bits */
	double n_ranks = (double)ret->n_data * (double)ret->n_stages * (double)keys[META_TP].value;
	if (keys[META_WORLD].value && (double)keys[META_WORLD].value != n_ranks)
		return ht_fail(ctx, HT_FORMAT, path, -1,
		        "world_size is dp_size * dsp_size * pp_size * tp_size",
		        "world_size is %" PRId64 ", but the others make %.0f",
		        keys[META_WORLD].value, n_ranks);
	return HT_OK;
}

/* ---- the operations ---- */

enum { DP_RANK, STAGE, RANK, STEP, OPTYPE, START_TS, DURATION, SEQ_ID, MC, GMC, N_FIELDS };
static const char *const fields[N_FIELDS] = { "dp_rank", "stage", "rank", "step", "optype",
	"start_ts", "duration", "seq_id", "mc", "gmc" };

struct reading {
	ht_ctx *ctx;
	const char *path;
	size_t line;
	size_t column_of[N_FIELDS]; /* SIZE_MAX: not there */
	const char *cells[MAX_COLUMNS];
	size_t n_cells;
};

static enum ht_status bad_line(const struct reading *r, const char *column, const char *text)
{
	return ht_fail(r->ctx, HT_FORMAT, r->path, -1,
	        "ids are whole numbers, start_ts and duration seconds of 0 or more",
	        "line %zu: %s is '%.40s'", r->line, column, text);
}

static enum ht_status read_header(struct reading *r, char *line)
{
	/* what spreadsheets put before UTF-8 */
	line += strncmp(line, "\xef\xbb\xbf", 3) ? 0 : 3;
	if (!ht_csv_split(line, r->cells, MAX_COLUMNS, &r->n_cells))
		return ht_fail(r->ctx, HT_FORMAT, r->path, -1, "columns are separated by commas",
		        "the first line is no header of CSV");
	for (size_t f = 0; f < N_FIELDS; f++) {
		r->column_of[f] = SIZE_MAX;
		for (size_t i = 0; i < r->n_cells; i++)
			if (!strcmp(r->cells[i], fields[f]))
				r->column_of[f] = i;
		if (r->column_of[f] == SIZE_MAX)
			return ht_fail(r->ctx, HT_FORMAT, r->path, -1,
			        "the columns are dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,"
			        "mc,gmc, in any order",
			        "there is no column %s", fields[f]);
	}
	return HT_OK;
}

static enum ht_status read_ids(struct reading *r, struct ht_ops_row *row)
{
	const struct {
		size_t field;
		int64_t *value;
	} ids[] = { { DP_RANK, &row->data_rank }, { STAGE, &row->stage }, { RANK, &row->rank },
		{ STEP, &row->step }, { SEQ_ID, &row->seq }, { MC, &row->chunk },
		{ GMC, &row->global } };
	for (size_t i = 0; i < HT_COUNT(ids); i++) {
		const char *text = r->cells[r->column_of[ids[i].field]];
		struct ht_number number = ht_number_parse(text);
		if (number.type != HT_NUMBER_I64 || *number.end)
			return bad_line(r, fields[ids[i].field], text);
		*ids[i].value = number.i;
	}
	return HT_OK;
}

static enum ht_status read_seconds(const struct reading *r, size_t field, float *ret)
{
	const char *text = r->cells[r->column_of[field]];
	struct ht_number number = ht_number_parse(text);
	double value = number.type == HT_NUMBER_I64   ? (double)number.i
	               : number.type == HT_NUMBER_F64 ? number.f
	                                              : NAN;
	/* a thousand years of seconds are more than any step has */
	if (!(value >= 0 && value < 1e11) || *number.end)
		return bad_line(r, fields[field], text);
	*ret = (float)value;
	return HT_OK;
}

static enum ht_status read_row(struct reading *r, char *line, size_t n_columns, struct ht_vec *rows)
{
	struct ht_ops_row row = { 0 };
	if (!ht_csv_split(line, r->cells, MAX_COLUMNS, &r->n_cells) || r->n_cells != n_columns)
		return ht_fail(r->ctx, HT_FORMAT, r->path, -1,
		        "all lines have the columns of the first",
		        "line %zu does not have %zu cells", r->line, n_columns);
	HT_TRY(read_ids(r, &row));
	HT_TRY(read_seconds(r, START_TS, &row.start_s));
	HT_TRY(read_seconds(r, DURATION, &row.dur_s));
	const char *name = r->cells[r->column_of[OPTYPE]];
	row.type = (uint8_t)ht_ops_type_find(name);
	if (row.type == HT_OPS_N_TYPES)
		return bad_line(r, "optype", name);
	return HT_VEC_PUSH(r->ctx->mem, rows, struct ht_ops_row, row) ? HT_OK
	                                                              : ht_fail_nomem(r->ctx);
}

static enum ht_status read_rows(
        ht_ctx *ctx, const char *path, struct ht_vec *text, struct ht_vec *rows)
{
	struct reading r = { .ctx = ctx, .path = path };
	size_t n_columns = 0;
	if (memchr(text->data, '\0', text->n))
		return ht_fail(ctx, HT_FORMAT, path, -1,
		        "operations are read from CSV; Parquet files are "
		        "written as CSV by pandas: read_parquet(...).to_csv(...)",
		        "the file is no text");
	char *rest = text->data;
	for (char *line; (line = ht_csv_line(&rest));) {
		r.line++;
		if (r.line == 1) {
			HT_TRY(read_header(&r, line));
			n_columns = r.n_cells;
		} else if (*line) {
			HT_TRY(read_row(&r, line, n_columns, rows));
		}
	}
	return HT_OK;
}

enum ht_status ht_ops_read(ht_ctx *ctx, const char *operations, const char *meta,
        struct ht_arena *arena, struct ht_ops *ret)
{
	struct ht_vec text = { 0 }, known = { 0 }, rows = { 0 };
	struct ht_ops_shape shape;
	enum ht_status status = read_file(ctx, meta, MAX_META_BYTES, &known);
	if (status == HT_OK)
		status = read_meta(ctx, meta, known.data, &shape);
	if (status == HT_OK)
		status = read_file(ctx, operations, MAX_BYTES, &text);
	if (status == HT_OK)
		status = read_rows(ctx, operations, &text, &rows);
	ht_vec_free(ctx->mem, &text, 1);
	ht_vec_free(ctx->mem, &known, 1);
	if (status == HT_OK) {
		status = ht_ops_make(ctx, rows.data, rows.n, &shape, arena, ret);
		if (status != HT_OK)
			ht_error_in_file(ctx, operations);
	}
	ht_vec_free(ctx->mem, &rows, sizeof(struct ht_ops_row));
	return status;
}
