/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overlay.c - see overlay.h.
 */
#include "overlay.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_KEPT   12
#define MAX_SERIES 4096
#define MAX_SPANS  20000
#define N_SLOTS    (2 * MAX_SERIES) /* a power of two */

/* NULL: nothing of it is over time. */
static const struct ht_analysis_info *find_drawn(const char *name)
{
	const struct ht_analysis_info *info = ht_analysis_find(name);
	return info != NULL && info->over_time != NULL ? info : NULL;
}

static bool is_spans(const struct ht_analysis_info *info)
{
	return info->over_time->n_keys == 0;
}

bool serve_overlay_exists(const char *name)
{
	return find_drawn(name) != NULL;
}

/* ---- tables that are kept ---- */

struct kept {
	const struct ht_analysis_info *info; /* NULL: free */
	int64_t rank;
	ht_table *table;
	uint64_t used; /* when, in questions */
	size_t n_users;
};

struct serve_overlays {
	pthread_mutex_t lock;
	struct kept kept[MAX_KEPT];
	uint64_t n_questions;
};

struct serve_overlays *serve_overlays_new(void)
{
	struct serve_overlays *overlays = calloc(1, sizeof(*overlays));
	if (overlays != NULL)
		pthread_mutex_init(&overlays->lock, NULL);
	return overlays;
}

void serve_overlays_free(struct serve_overlays *overlays)
{
	if (overlays == NULL)
		return;
	for (size_t i = 0; i < MAX_KEPT; i++)
		ht_table_free(overlays->kept[i].table);
	pthread_mutex_destroy(&overlays->lock);
	free(overlays);
}

static enum ht_status run_drawn(ht_ctx *ctx, ht_set *set, const struct ht_analysis_info *info,
        int64_t rank, ht_table **ret_table)
{
	const struct ht_over_time *of = info->over_time;
	char text[32], where[96], sort[64];
	struct ht_arg args[] = { { info->chosen_by, of->view }, { "step", "all" }, { "rank", text },
		{ of->points, "0" } };
	struct ht_view view = { .struct_size = sizeof(view), .columns = of->columns };
	snprintf(text, sizeof(text), "%" PRId64, rank);
	if (is_spans(info)) {
		int n_start = (int)strcspn(of->columns, ",");
		const char *length = of->columns + n_start + 1;
		snprintf(sort, sizeof(sort), "%.*s", n_start, of->columns);
		snprintf(where, sizeof(where), "%.*s > 0", (int)strcspn(length, ","), length);
		view.sort = sort;
		view.where = where;
	}
	return ht_ask(ctx, &set, 1,
	        &(struct ht_query){ sizeof(struct ht_query), info->name, args,
	                of->points != NULL ? 4 : 3, &view },
	        ret_table);
}

static const ht_table *take_kept(
        struct serve_overlays *overlays, const struct ht_analysis_info *info, int64_t rank)
{
	const ht_table *table = NULL;
	pthread_mutex_lock(&overlays->lock);
	overlays->n_questions++;
	for (size_t i = 0; i < MAX_KEPT && table == NULL; i++) {
		struct kept *kept = &overlays->kept[i];
		if (kept->info != info || kept->rank != rank)
			continue;
		kept->n_users++;
		kept->used = overlays->n_questions;
		table = kept->table;
	}
	pthread_mutex_unlock(&overlays->lock);
	return table;
}

/* Takes the table over when there is room or something that nobody looks at; false: the caller keeps it. */
static bool keep(struct serve_overlays *overlays, const struct ht_analysis_info *info, int64_t rank,
        ht_table *table)
{
	struct kept *place = NULL;
	pthread_mutex_lock(&overlays->lock);
	for (size_t i = 0; i < MAX_KEPT; i++) {
		struct kept *kept = &overlays->kept[i];
		if (kept->n_users == 0 && (place == NULL || kept->used < place->used))
			place = kept;
	}
	if (place != NULL) {
		ht_table_free(place->table);
		*place = (struct kept){ .info = info,
			.rank = rank,
			.table = table,
			.used = overlays->n_questions,
			.n_users = 1 };
	}
	pthread_mutex_unlock(&overlays->lock);
	return place != NULL;
}

static void give_back(struct serve_overlays *overlays, const ht_table *table)
{
	pthread_mutex_lock(&overlays->lock);
	for (size_t i = 0; i < MAX_KEPT; i++)
		overlays->kept[i].n_users -= overlays->kept[i].table == table;
	pthread_mutex_unlock(&overlays->lock);
}

/* ---- what holds over the stretch ---- */

/* A value holds until the next one; what the last one is followed by nobody knows. */
struct held {
	bool has_value; /* the one that holds now, and since when */
	double value;
	int64_t since_ns;
	bool any; /* in the stretch: least, most, and what the mean is made of */
	double least, most, area;
	int64_t covered_ns;
};

static void hold_extremes(struct held *held, double value)
{
	held->least = held->any && held->least < value ? held->least : value;
	held->most = held->any && held->most > value ? held->most : value;
	held->any = true;
}

static void hold_value(
        struct held *held, const struct serve_overlay_question *q, int64_t at_ns, double value)
{
	int64_t from_ns = held->since_ns > q->from_ns ? held->since_ns : q->from_ns;
	int64_t to_ns = at_ns < q->to_ns ? at_ns : q->to_ns;
	if (held->has_value && to_ns > from_ns) {
		hold_extremes(held, held->value);
		held->area += held->value * (double)(to_ns - from_ns);
		held->covered_ns += to_ns - from_ns;
	}
	if (at_ns >= q->from_ns && at_ns < q->to_ns)
		hold_extremes(held, value);
	held->has_value = true;
	held->value = value;
	held->since_ns = at_ns;
}

static void put_held(const struct held *held, struct serve_json *json)
{
	double mean = held->covered_ns > 0 ? held->area / (double)held->covered_ns : NAN;
	serve_puts(json->out, ",\"range\":");
	if (!held->any) {
		serve_puts(json->out, "null");
		return;
	}
	serve_printf(json->out, "{\"min\":%.17g,\"max\":%.17g,\"mean\":", held->least, held->most);
	if (isfinite(mean))
		serve_printf(json->out, "%.17g}", mean);
	else
		serve_puts(json->out, "null}");
}

/* ---- curves ---- */

struct curve {
	char name[160];
	bool is_wanted;
	size_t key_row; /* a row of it */
	size_t value;   /* which of the row's values */
	struct serve_buffer points;
	/* the point that is being made; piece -1: what lies before the stretch */
	bool has_point;
	int64_t piece, at_ns;
	double least, most, last, highest;
	struct held held;
};

struct curves {
	size_t n_keys; /* columns behind the time; values follow */
	const ht_table *table;
	const struct serve_overlay_question *question;
	int64_t piece_ns;
	struct curve *list;
	size_t n, cap;
	uint32_t slots[N_SLOTS]; /* by hash of key and value: place in the list, from 1; 0: free */
};

static double number_at(const ht_table *table, size_t row, size_t column)
{
	enum ht_type type = ht_table_column(table, column)->type;
	return type == HT_F64 || type == HT_RATIO || type == HT_DURATION_F64
	               ? ht_table_f64(table, row, column)
	               : (double)ht_table_i64(table, row, column);
}

static size_t n_values(const struct curves *c)
{
	return ht_table_n_columns(c->table) - 1 - c->n_keys;
}

static bool has_key(const struct curves *c, const struct curve *curve, size_t row)
{
	for (size_t k = 1; k <= c->n_keys; k++) {
		if (ht_table_is_null(c->table, row, k) !=
		        ht_table_is_null(c->table, curve->key_row, k))
			return false;
		bool same = ht_table_column(c->table, k)->type == HT_STR
		                    ? !strcmp(ht_table_str(c->table, row, k),
		                              ht_table_str(c->table, curve->key_row, k))
		                    : ht_table_i64(c->table, row, k) ==
		                              ht_table_i64(c->table, curve->key_row, k);
		if (!same)
			return false;
	}
	return true;
}

/* "device 0 stream 7"; of several values also which: "cuda:0 allocated". */
static void name_curve(const struct curves *c, struct curve *curve)
{
	struct serve_buffer text = { .max = sizeof(curve->name) - 1 };
	for (size_t k = 1; k <= c->n_keys; k++) {
		const struct ht_column *column = ht_table_column(c->table, k);
		if (ht_table_is_null(c->table, curve->key_row, k))
			continue;
		if (column->type == HT_STR)
			serve_printf(&text, "%.60s ", ht_table_str(c->table, curve->key_row, k));
		else
			serve_printf(&text, "%s %" PRId64 " ", column->name,
			        ht_table_i64(c->table, curve->key_row, k));
	}
	const char *value = ht_table_column(c->table, 1 + c->n_keys + curve->value)->name;
	if (n_values(c) > 1)
		serve_put(&text, value, strcspn(value, "_"));
	while (text.n > 0 && text.bytes[text.n - 1] == ' ')
		text.n--;
	memcpy(curve->name, text.bytes, text.n);
	curve->name[text.n] = '\0';
	serve_buffer_done(&text);
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
	return hash;
}

/* The slot of a row's curve, or the free one where it belongs. */
static uint32_t *slot_of(struct curves *c, size_t row, size_t value)
{
	uint64_t hash = mix(14695981039346656037u, &value, sizeof(value));
	for (size_t k = 1; k <= c->n_keys; k++) {
		int64_t number = 0;
		if (ht_table_is_null(c->table, row, k))
			continue;
		if (ht_table_column(c->table, k)->type == HT_STR) {
			const char *text = ht_table_str(c->table, row, k);
			hash = mix(hash, text, strlen(text));
			continue;
		}
		number = ht_table_i64(c->table, row, k);
		hash = mix(hash, &number, sizeof(number));
	}
	hash ^= hash >> 32;
	for (size_t at = hash % N_SLOTS;; at = (at + 1) % N_SLOTS) {
		const struct curve *curve = c->slots[at] != 0 ? &c->list[c->slots[at] - 1] : NULL;
		if (curve == NULL || (curve->value == value && has_key(c, curve, row)))
			return &c->slots[at];
	}
}

/* NULL when there is no room for one more. */
static struct curve *curve_of(struct curves *c, size_t row, size_t value)
{
	uint32_t *slot = slot_of(c, row, value);
	if (*slot != 0)
		return &c->list[*slot - 1];
	if (c->n == c->cap) {
		size_t cap = c->cap > 0 ? 2 * c->cap : 16;
		struct curve *grown =
		        c->n < MAX_SERIES ? realloc(c->list, cap * sizeof(*grown)) : NULL;
		if (grown == NULL)
			return NULL;
		c->list = grown;
		c->cap = cap;
	}
	struct curve *curve = &c->list[c->n++];
	*slot = (uint32_t)c->n;
	*curve = (struct curve){ .key_row = row, .value = value };
	name_curve(c, curve);
	const char *wanted = c->question->series;
	curve->is_wanted = wanted == NULL || strcmp(wanted, curve->name) == 0;
	return curve;
}

static void end_point(const struct curves *c, struct curve *curve)
{
	if (!curve->has_point)
		return;
	/* what was before the stretch counts from its start */
	int64_t at_ns = curve->piece < 0 ? c->question->from_ns : curve->at_ns;
	double least = curve->piece < 0 ? curve->last : curve->least;
	double most = curve->piece < 0 ? curve->last : curve->most;
	serve_printf(&curve->points, "%s[%" PRId64 ",%.17g,%.17g,%.17g]",
	        curve->points.n > 0 ? "," : "", at_ns, least, most, curve->last);
	curve->has_point = false;
}

static void add_value(const struct curves *c, struct curve *curve, int64_t at_ns, double value)
{
	const struct serve_overlay_question *q = c->question;
	int64_t piece = at_ns < q->from_ns ? -1 : (at_ns - q->from_ns) / c->piece_ns;
	if (value > curve->highest)
		curve->highest = value;
	hold_value(&curve->held, q, at_ns, value);
	if (at_ns >= q->to_ns)
		return;
	if (curve->has_point && curve->piece != piece)
		end_point(c, curve);
	if (!curve->has_point) {
		curve->has_point = true;
		curve->piece = piece;
		curve->at_ns = at_ns;
		curve->least = curve->most = value;
	}
	curve->least = value < curve->least ? value : curve->least;
	curve->most = value > curve->most ? value : curve->most;
	curve->last = value;
}

static void put_curves(struct curves *c, struct serve_json *json)
{
	for (size_t row = 0; row < ht_table_n_rows(c->table); row++) {
		for (size_t v = 0; v < n_values(c); v++) {
			size_t column = 1 + c->n_keys + v;
			struct curve *curve = ht_table_is_null(c->table, row, column)
			                              ? NULL
			                              : curve_of(c, row, v);
			if (curve != NULL && curve->is_wanted)
				add_value(c, curve, ht_table_i64(c->table, row, 0),
				        number_at(c->table, row, column));
		}
	}
	for (size_t i = 0; i < c->n; i++) {
		struct curve *curve = &c->list[i];
		if (!curve->is_wanted)
			continue;
		end_point(c, curve);
		serve_json_open(json, '{');
		serve_json_key(json, "name");
		serve_json_str(json, curve->name);
		serve_json_key(json, "max");
		serve_printf(json->out, "%.17g,\"points\":[", curve->highest);
		serve_put(json->out, curve->points.bytes, curve->points.n);
		serve_puts(json->out, "]");
		put_held(&curve->held, json);
		serve_puts(json->out, "}");
		json->has_item = true;
		json->out->failed |= curve->points.failed;
		serve_buffer_done(&curve->points);
	}
}

/* ---- spans ---- */

struct joined {
	int64_t start_ns, end_ns, longest_ns;
	size_t row; /* of the longest */
};

static void put_span(
        const ht_table *table, int64_t rank, const struct joined *span, struct serve_json *json)
{
	serve_json_open(json, '[');
	serve_json_i64(json, span->start_ns);
	serve_json_i64(json, span->end_ns);
	serve_json_str(json, ht_table_str(table, span->row, 2));
	serve_json_str(json, ht_table_str(table, span->row, 3));
	if (ht_table_is_null(table, span->row, 4))
		serve_json_null(json);
	else
		serve_json_event(
		        json, ht_event_id(rank, (uint32_t)ht_table_i64(table, span->row, 4)));
	serve_json_close(json, ']');
}

/* Those that are shorter than a piece and begin in the same one come together. */
static void put_spans(const ht_table *table, const struct serve_overlay_question *q,
        int64_t piece_ns, struct serve_json *json)
{
	struct joined joined = { .longest_ns = -1 };
	size_t n = 0;
	for (size_t row = 0; row < ht_table_n_rows(table) && n < MAX_SPANS; row++) {
		int64_t start = ht_table_i64(table, row, 0), length = ht_table_i64(table, row, 1);
		struct joined one = { start, start + length, length, row };
		if (start >= q->to_ns || one.end_ns <= q->from_ns)
			continue;
		bool joins = joined.longest_ns >= 0 && length < piece_ns &&
		             joined.longest_ns < piece_ns &&
		             (start - q->from_ns) / piece_ns ==
		                     (joined.start_ns - q->from_ns) / piece_ns;
		if (joins) {
			joined.end_ns = one.end_ns > joined.end_ns ? one.end_ns : joined.end_ns;
			if (length > joined.longest_ns) {
				joined.longest_ns = length;
				joined.row = row;
			}
			continue;
		}
		if (joined.longest_ns >= 0) {
			put_span(table, q->rank, &joined, json);
			n++;
		}
		joined = one;
	}
	if (joined.longest_ns >= 0)
		put_span(table, q->rank, &joined, json);
}

/* ---- all of it ---- */

static void put_overlay(const ht_table *table, const struct ht_analysis_info *info,
        const struct serve_overlay_question *q, struct serve_json *json)
{
	int64_t piece_ns = (q->to_ns - q->from_ns) / (q->n_points > 0 ? q->n_points : 1);
	struct curves *curves = calloc(1, sizeof(*curves));
	if (curves == NULL) {
		json->out->failed = true;
		return;
	}
	piece_ns = piece_ns > 0 ? piece_ns : 1;
	*curves = (struct curves){ .n_keys = info->over_time->n_keys,
		.table = table,
		.question = q,
		.piece_ns = piece_ns };
	serve_json_open(json, '{');
	serve_json_key(json, "unit");
	serve_json_str(json, is_spans(info) ? NULL
	                                    : ht_column_unit(ht_table_column(
	                                              table, 1 + info->over_time->n_keys)));
	serve_json_key(json, "series");
	serve_json_open(json, '[');
	if (!is_spans(info))
		put_curves(curves, json);
	serve_json_close(json, ']');
	serve_json_key(json, "spans");
	serve_json_open(json, '[');
	if (is_spans(info))
		put_spans(table, q, piece_ns, json);
	serve_json_close(json, ']');
	serve_json_close(json, '}');
	free(curves->list);
	free(curves);
}

enum ht_status serve_overlay_write(struct serve_overlays *overlays, ht_set *set,
        const struct serve_overlay_question *question, struct serve_json *json)
{
	const struct ht_analysis_info *info = find_drawn(question->name);
	if (info == NULL || question->to_ns <= question->from_ns)
		return HT_USAGE;
	const ht_table *kept = take_kept(overlays, info, question->rank);
	if (kept != NULL) {
		put_overlay(kept, info, question, json);
		give_back(overlays, kept);
		return HT_OK;
	}
	ht_table *table;
	enum ht_status status = run_drawn(json->ctx, set, info, question->rank, &table);
	if (status != HT_OK)
		return status;
	put_overlay(table, info, question, json);
	if (keep(overlays, info, question->rank, table))
		give_back(overlays, table);
	else
		ht_table_free(table);
	return HT_OK;
}
