/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_walk.c - walking the events that a plan asks for, rank by rank.
 *
 *   ranks that fit ─► candidates (rows, GPU work, an index, a slice of a track) ─► tests on numbers ─► SQLite
 *
 * Texts are compared as ids: an equal text is looked up once per rank, a pattern is tried once per text. A value of
 * a type that the column does not have is left to SQLite, which checks everything again.
 */
#if defined(HT_HAVE_SQLITE)

#include "sql/event_table.h"
#include "store/args.h"

#include "base/checked.h"
#include "base/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers of a row ---- */

static int64_t or_null(uint32_t row)
{
	return row == HT_NONE ? HT_NO_I64 : row;
}

static int64_t gpu_number(const struct ht_event_walk *w, enum ht_event_how how)
{
	const struct ht_trace *t = w->trace;
	const struct ht_gpu *gpu =
	        ht_kind_is_gpu_work(t->kind[w->row]) ? ht_gpu_of_row(t, w->row) : NULL;
	if (!gpu)
		return HT_NO_I64;
	return how == HT_HOW_CLASS    ? gpu->class_
	       : how == HT_HOW_LAUNCH ? or_null(gpu->launch)
	                              : or_null(gpu->op);
}

int64_t ht_event_number(struct ht_event_walk *w, enum ht_event_how how)
{
	const struct ht_trace *t = w->trace;
	uint32_t row = w->row;
	switch (how) {
	case HT_HOW_ID: return ht_event_id(w->number, row);
	case HT_HOW_RANK: return w->number;
	case HT_HOW_ROW: return row;
	case HT_HOW_TS: return t->flags[row] & HT_EV_NO_TS ? HT_NO_I64 : t->ts_ns[row];
	case HT_HOW_DUR: return t->flags[row] & HT_EV_NO_DUR ? HT_NO_I64 : t->dur_ns[row];
	case HT_HOW_END:
		return (t->flags[row] & (HT_EV_NO_TS | HT_EV_SPAN)) != HT_EV_SPAN
		               ? HT_NO_I64
		               : ht_end_ns(t, row);
	case HT_HOW_TIME:
		return t->flags[row] & HT_EV_NO_TS ? HT_NO_I64
		                                   : ht_time_moved(&w->move, t->ts_ns[row]);
	case HT_HOW_NAME: return or_null(t->name[row]);
	case HT_HOW_KIND: return t->kind[row];
	case HT_HOW_CAT: return or_null(t->categories[t->cat[row]].name);
	case HT_HOW_TRACK: return t->track[row];
	case HT_HOW_STEP:
		return ht_step_of(t, row) == HT_NONE ? HT_NO_I64
		                                     : t->steps[ht_step_of(t, row)].number;
	case HT_HOW_PARENT: return or_null(t->parent[row]);
	case HT_HOW_CLASS:
	case HT_HOW_LAUNCH:
	case HT_HOW_OP: return gpu_number(w, how);
	default: return HT_NO_I64;
	}
}

/* ---- tests ---- */

static bool is_text(uint8_t how)
{
	return how == HT_HOW_NAME || how == HT_HOW_KIND || how == HT_HOW_CAT || how == HT_HOW_CLASS;
}

/* A number between two whole ones, as a test of whole ones; false when it has none. */
static bool whole_of(double real, struct ht_event_bound *bound)
{
	bool is_below = bound->test.op == SQLITE_INDEX_CONSTRAINT_GT ||
	                bound->test.op == SQLITE_INDEX_CONSTRAINT_GE;
	double whole = is_below ? floor(real) : ceil(real);
	if (bound->test.op == SQLITE_INDEX_CONSTRAINT_EQ || !(fabs(whole) < 4e18))
		return false;
	bound->test.op = is_below ? SQLITE_INDEX_CONSTRAINT_GE : SQLITE_INDEX_CONSTRAINT_LE;
	bound->value = (int64_t)whole;
	return true;
}

/* A text as it will be compared; NULL when it is none, or holds a byte of zero. */
static const char *copy_text(struct ht_event_walk *w, sqlite3_value *value)
{
	const char *text = sqlite3_value_type(value) == SQLITE_TEXT
	                           ? (const char *)sqlite3_value_text(value)
	                           : NULL;
	size_t n = text ? (size_t)sqlite3_value_bytes(value) : 0;
	return text && strlen(text) == n ? ht_arena_strndup(&w->arena, text, n) : NULL;
}

static int compare_values(const void *a, const void *b)
{
	const int64_t *left = a, *right = b;
	return (*left > *right) - (*left < *right);
}

#if SQLITE_VERSION_NUMBER >= 3038000
static size_t count_list(sqlite3_value *list)
{
	sqlite3_value *one = NULL;
	size_t n = 0;
	int code = sqlite3_vtab_in_first(list, &one);
	for (; code == SQLITE_OK && one; code = sqlite3_vtab_in_next(list, &one))
		n++;
	return n;
}

/* The same for a list; nothing equals null, so one in it does not matter. */
static bool bind_list(struct ht_event_walk *w, sqlite3_value *list, struct ht_event_bound *bound)
{
	size_t n = count_list(list);
	sqlite3_value *one = NULL;
	bound->texts = ht_arena_alloc(&w->arena, (n + 1) * sizeof *bound->texts);
	bound->values = ht_arena_alloc(&w->arena, (n + 1) * sizeof *bound->values);
	if (!bound->texts || !bound->values)
		return false;
	int code = sqlite3_vtab_in_first(list, &one);
	for (; code == SQLITE_OK && one && bound->n_listed < n;
	        code = sqlite3_vtab_in_next(list, &one)) {
		int type = sqlite3_value_type(one);
		if (type == SQLITE_NULL)
			continue;
		const char *text = is_text(bound->test.how) ? copy_text(w, one) : NULL;
		if (is_text(bound->test.how) ? !text : type != SQLITE_INTEGER)
			return false;
		bound->texts[bound->n_listed] = text;
		bound->values[bound->n_listed++] = sqlite3_value_int64(one);
	}
	w->is_empty |= !bound->n_listed;
	bound->text = is_text(bound->test.how) ? "" : NULL;
	if (!bound->text)
		qsort(bound->values, bound->n_listed, sizeof *bound->values, compare_values);
	return true;
}
#endif

/* Whether the test can be made here with this value. */
static bool bind_bound(struct ht_event_walk *w, sqlite3_value *value, struct ht_event_bound *bound)
{
#if SQLITE_VERSION_NUMBER >= 3038000
	if (bound->test.op == HT_OP_IN)
		return bind_list(w, value, bound);
#endif
	int type = sqlite3_value_type(value);
	if (type == SQLITE_NULL) {
		w->is_empty = true;
		return false;
	}
	if (is_text(bound->test.how)) {
		bound->text = copy_text(w, value);
		return bound->text != NULL;
	}
	bound->value = sqlite3_value_int64(value);
	return type == SQLITE_INTEGER ||
	       (type == SQLITE_FLOAT && whole_of(sqlite3_value_double(value), bound));
}

static bool compares(int64_t a, uint8_t op, int64_t b)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ: return a == b;
	case SQLITE_INDEX_CONSTRAINT_GT: return a > b;
	case SQLITE_INDEX_CONSTRAINT_LE: return a <= b;
	case SQLITE_INDEX_CONSTRAINT_LT: return a < b;
	default: return a >= b;
	}
}

static bool matches(const struct ht_trace *t, struct ht_event_bound *bound, uint32_t id)
{
	uint8_t *known = &bound->matches[id];
	if (!*known && bound->test.op != HT_OP_IN) {
		const char *text = ht_str(t, id);
		bool same = bound->test.op == SQLITE_INDEX_CONSTRAINT_LIKE
		                    ? !sqlite3_strlike(bound->text, text, 0)
		                    : !sqlite3_strglob(bound->text, text);
		*known = same ? 2 : 1;
	}
	return *known == 2;
}

/* Whether a number fits a bound. */
static bool fits(const struct ht_event_bound *bound, int64_t value)
{
	if (bound->test.op != HT_OP_IN)
		return compares(value, bound->test.op, bound->value);
	return bsearch(&value, bound->values, bound->n_listed, sizeof value, compare_values) !=
	       NULL;
}

static bool passes(struct ht_event_walk *w)
{
	for (size_t i = 0; i < w->n_bounds; i++) {
		struct ht_event_bound *bound = &w->bounds[i];
		enum ht_event_how how = (enum ht_event_how)bound->test.how;
		if (how == HT_HOW_CORRELATION)
			continue;
		int64_t value = ht_event_number(w, how);
		if (value == HT_NO_I64)
			return false;
		if (how == HT_HOW_PARENT || how == HT_HOW_LAUNCH || how == HT_HOW_OP)
			value = ht_event_id(w->number, (uint32_t)value);
		if (bound->matches    ? !matches(w->trace, bound, (uint32_t)value)
		        : bound->text ? value != bound->id
		                      : !fits(bound, value))
			return false;
	}
	return true;
}

/* ---- a rank ---- */

static const struct ht_event_bound *find_bound(
        const struct ht_event_walk *w, enum ht_event_how how, uint8_t op)
{
	for (size_t i = 0; i < w->n_bounds; i++)
		if (w->bounds[i].test.how == how && w->bounds[i].test.op == op)
			return &w->bounds[i];
	return NULL;
}

static const struct ht_event_bound *equal_bound(
        const struct ht_event_walk *w, enum ht_event_how how)
{
	return find_bound(w, how, SQLITE_INDEX_CONSTRAINT_EQ);
}

/* Whether a rank can have rows at all, told by its number alone. */
static bool is_rank_wanted(const struct ht_event_walk *w, int64_t number)
{
	for (size_t i = 0; i < w->n_bounds; i++) {
		const struct ht_event_bound *bound = &w->bounds[i];
		uint8_t how = bound->test.how;
		bool is_event = how == HT_HOW_ID || how == HT_HOW_PARENT || how == HT_HOW_LAUNCH ||
		                how == HT_HOW_OP;
		if (how == HT_HOW_RANK && !fits(bound, number))
			return false;
		if (is_event && bound->test.op != HT_OP_IN && ht_event_rank(bound->value) != number)
			return false;
	}
	return true;
}

static uint32_t code_of(const char *text, const char *(*name)(int), int n)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(name(i), text))
			return (uint32_t)i;
	return HT_NONE;
}

static const char *kind_name(int i)
{
	return ht_kind_name((enum ht_kind)i);
}

static const char *class_name(int i)
{
	return ht_class_name((enum ht_class)i);
}

/* A text as the number that it has in this trace. */
static uint32_t number_of(const struct ht_trace *t, uint8_t how, const char *text)
{
	return how == HT_HOW_KIND    ? code_of(text, kind_name, HT_N_KINDS)
	       : how == HT_HOW_CLASS ? code_of(text, class_name, HT_N_CLASSES)
	                             : ht_str_find(t, text);
}

/* Mark what is in the list; false when nothing of it is in this trace. */
static bool mark_listed(const struct ht_trace *t, struct ht_event_bound *bound)
{
	bool has = false;
	for (size_t i = 0; i < bound->n_listed; i++) {
		uint32_t id = number_of(t, bound->test.how, bound->texts[i]);
		if (id == HT_NONE)
			continue;
		bound->matches[id] = 2;
		has = true;
	}
	return has;
}

/* Texts as the numbers that they have in this trace; false when it cannot have such rows. */
static int find_texts(struct ht_event_walk *w, bool *ret_possible)
{
	const struct ht_trace *t = w->trace;
	*ret_possible = true;
	for (size_t i = 0; i < w->n_bounds; i++) {
		struct ht_event_bound *bound = &w->bounds[i];
		if (!bound->text)
			continue;
		if (bound->test.op != SQLITE_INDEX_CONSTRAINT_EQ) {
			bound->matches = ht_arena_alloc(
			        &w->arena, t->n_string_offsets + HT_N_KINDS + HT_N_CLASSES);
			if (!bound->matches)
				return SQLITE_NOMEM;
			*ret_possible &= bound->test.op != HT_OP_IN || mark_listed(t, bound);
			continue;
		}
		bound->id = number_of(t, bound->test.how, bound->text);
		*ret_possible &= bound->id != HT_NONE;
	}
	return SQLITE_OK;
}

int ht_event_walk_take(struct ht_event_walk *w, size_t i_rank)
{
	struct ht_sql_session *s = w->vtab->common.session;
	w->i_rank = i_rank;
	w->number = s->set->roster.ranks[i_rank].number;
	w->has_move = false;
	return ht_sql_take(s, i_rank, &w->trace);
}

/* ---- candidates ---- */

/* The latest own time whose set time is at most, or the first whose set time is at least, a bound. */
static int64_t own_time(const struct ht_time_move *move, int64_t time, bool first)
{
	int64_t low = -HT_MAX_TIME_NS, high = HT_MAX_TIME_NS;
	while (low < high) {
		int64_t middle = (int64_t)(((__int128)low + high) >> 1);
		if (ht_time_moved(move, middle) < time)
			low = middle + 1;
		else
			high = middle;
	}
	return first ? low : ht_add_sat(low, 1);
}

/* Starts that the bounds allow: [from, to], perhaps a little more. */
static void time_range(const struct ht_event_walk *w, int64_t *ret_from, int64_t *ret_to)
{
	int64_t from = INT64_MIN, to = INT64_MAX;
	for (size_t i = 0; i < w->n_bounds; i++) {
		const struct ht_event_bound *bound = &w->bounds[i];
		uint8_t op = bound->test.op;
		if (bound->test.how != HT_HOW_TS && bound->test.how != HT_HOW_TIME)
			continue;
		bool is_set_time = bound->test.how == HT_HOW_TIME;
		bool is_equal = op == SQLITE_INDEX_CONSTRAINT_EQ;
		if (is_equal || op == SQLITE_INDEX_CONSTRAINT_GT ||
		        op == SQLITE_INDEX_CONSTRAINT_GE) {
			int64_t own =
			        is_set_time ? own_time(&w->move, bound->value, true) : bound->value;
			from = own > from ? own : from;
		}
		if (is_equal || op == SQLITE_INDEX_CONSTRAINT_LT ||
		        op == SQLITE_INDEX_CONSTRAINT_LE) {
			int64_t own = is_set_time ? own_time(&w->move, bound->value, false)
			                          : bound->value;
			to = own < to ? own : to;
		}
	}
	*ret_from = from;
	*ret_to = to;
}

/* Position in a track of the first row that starts at a time or later. */
static size_t first_from(const struct ht_trace *t, const struct ht_track *track, int64_t from)
{
	const uint32_t *rows = t->track_rows + track->first;
	return HT_LOWER_BOUND(i, track->n, t->ts_ns[rows[i]] < from);
}

static void take_list(struct ht_event_walk *w, const uint32_t *rows, size_t n)
{
	w->walk = HT_WALK_LIST;
	w->list = rows;
	w->at = 0;
	w->n = n;
	w->is_natural = false;
}

static void take_slice(struct ht_event_walk *w, uint32_t i_track, int64_t from, int64_t to)
{
	const struct ht_trace *t = w->trace;
	const struct ht_track *track = &t->tracks[i_track];
	size_t first = first_from(t, track, from);
	size_t end = to == INT64_MAX ? track->n : first_from(t, track, to + 1);
	take_list(w, t->track_rows + track->first + first, end > first ? end - first : 0);
}

struct finding {
	struct ht_event_walk *walk;
	bool is_full;
};

static bool find_one(void *user, const struct ht_range_hit *hit)
{
	struct finding *finding = user;
	struct ht_event_walk *w = finding->walk;
	finding->is_full = !HT_VEC_PUSH(w->arena.mem, &w->found, uint32_t, hit->row);
	return !finding->is_full;
}

/* What of a track overlaps the times between the bounds. */
static int take_overlap(struct ht_event_walk *w, uint32_t i_track)
{
	const struct ht_ranges *ranges;
	struct finding finding = { .walk = w };
	int64_t from = INT64_MIN, start, to;
	int code = ht_sql_ranges(w->vtab->common.session, w->i_rank, &ranges);
	if (code != SQLITE_OK)
		return code;
	time_range(w, &start, &to);
	for (size_t i = 0; i < w->n_bounds; i++)
		if (w->bounds[i].test.how == HT_HOW_END &&
		        w->bounds[i].test.op != SQLITE_INDEX_CONSTRAINT_LT &&
		        w->bounds[i].test.op != SQLITE_INDEX_CONSTRAINT_LE &&
		        w->bounds[i].value > from)
			from = w->bounds[i].value;
	w->found.n = 0;
	/* both ends are left open by one: SQLite looks closely */
	ht_track_range(
	        ranges, i_track, ht_sub_sat(from, 1), ht_add_sat(to, 1), 0, find_one, &finding);
	take_list(w, w->found.data, w->found.n);
	return finding.is_full ? SQLITE_NOMEM : SQLITE_OK;
}

/* After all tracks: rows that stand in none. */
static int take_trackless(struct ht_event_walk *w)
{
	const struct ht_sql_trackless *trackless;
	int code = ht_sql_trackless(w->vtab->common.session, w->i_rank, &trackless);
	if (code == SQLITE_OK)
		take_list(w, trackless->rows,
		        w->by_ranges ? trackless->n_all : trackless->n_trackless);
	return code;
}

/* Candidates of the next track, where they come so; none when all were. */
static int take_track(struct ht_event_walk *w, bool *ret_more)
{
	const struct ht_event_bound *only = equal_bound(w, HT_HOW_TRACK);
	size_t n_tracks = w->trace->n_tracks;
	int64_t from, to;
	if (only && !w->i_track)
		w->i_track = only->value >= 0 && (uint64_t)only->value < n_tracks
		                     ? (size_t)only->value
		                     : n_tracks;
	*ret_more = w->i_track <= n_tracks;
	if (w->i_track >= n_tracks) {
		w->i_track = n_tracks + 1;
		return *ret_more ? take_trackless(w) : SQLITE_OK;
	}
	uint32_t i_track = (uint32_t)w->i_track;
	w->i_track = only ? n_tracks : w->i_track + 1;
	if (w->by_ranges)
		return take_overlap(w, i_track);
	time_range(w, &from, &to);
	take_slice(w, i_track, from, to);
	return SQLITE_OK;
}

/* A bit for each row that has an argument. */
static int mark_args(struct ht_event_walk *w)
{
	const struct ht_trace *t = w->trace;
	w->has_args = ht_arena_alloc(&w->arena, ht_n_events(t) / 8 + 1);
	if (!w->has_args)
		return SQLITE_NOMEM;
	for (size_t c = 0; c < t->n_arg_columns; c++) {
		const struct ht_arg_column *column = &t->arg_columns[c];
		for (uint64_t i = 0; i < column->n && !column->top_level; i++) {
			uint32_t row = ht_arg_row(t, column, i);
			w->has_args[row / 8] |= (uint8_t)(1u << row % 8);
		}
	}
	return SQLITE_OK;
}

/* All rows of the table, within bounds on the row. */
static int take_scan(struct ht_event_walk *w)
{
	const struct ht_trace *t = w->trace;
	int64_t first = 0, end = ht_n_events(t);
	for (size_t i = 0; i < w->n_bounds; i++) {
		const struct ht_event_bound *bound = &w->bounds[i];
		uint8_t op = bound->test.op;
		if (bound->test.how != HT_HOW_ROW)
			continue;
		if (op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE)
			first = bound->value > first ? bound->value : first;
		else if (bound->value < end)
			end = bound->value + 1;
	}
	w->walk = HT_WALK_ROWS;
	w->at = (size_t)first;
	w->n = end > first ? (size_t)end : w->at;
	w->is_natural = true;
	switch (w->vtab->table) {
	case HT_SQL_GPU:
		w->walk = HT_WALK_GPU;
		w->at = 0;
		w->n = t->n_gpu;
		break;
	case HT_SQL_LAUNCHES:
		take_list(w, t->launch_rows, t->n_launch_rows);
		w->is_natural = true;
		break;
	case HT_SQL_OPS: w->is_natural = false; break;
	case HT_SQL_ARGS: w->is_natural = false; return mark_args(w);
	default: break;
	}
	return SQLITE_OK;
}

static int take_correlated(struct ht_event_walk *w)
{
	const uint32_t *rows = NULL;
	size_t n = 0;
	int64_t value = equal_bound(w, HT_HOW_CORRELATION)->value;
	int code =
	        ht_sql_correlated(w->vtab->common.session, w->i_rank, value, &w->arena, &rows, &n);
	if (code == SQLITE_OK)
		take_list(w, rows, n);
	return code;
}

static int take_launched(struct ht_event_walk *w)
{
	const uint32_t *gpus;
	size_t n;
	uint32_t launch = ht_event_row(equal_bound(w, HT_HOW_LAUNCH)->value);
	ht_launch_gpus(w->trace, launch, &gpus, &n);
	uint32_t *rows = ht_arena_alloc(&w->arena, (n + 1) * sizeof *rows);
	if (!rows)
		return SQLITE_NOMEM;
	for (size_t i = 0; i < n; i++)
		rows[i] = w->trace->gpu[gpus[i]].row;
	take_list(w, rows, n);
	return SQLITE_OK;
}

static void take_children(struct ht_event_walk *w)
{
	uint32_t parent = ht_event_row(equal_bound(w, HT_HOW_PARENT)->value);
	if (parent < ht_n_events(w->trace))
		take_slice(w, w->trace->track[parent], w->trace->ts_ns[parent],
		        ht_end_ns(w->trace, parent));
}

static void take_row(struct ht_event_walk *w, int64_t row)
{
	bool exists = row >= 0 && row < ht_n_events(w->trace);
	w->walk = HT_WALK_ROWS;
	w->at = exists ? (size_t)row : 0;
	w->n = exists ? w->at + 1 : 0;
	w->is_natural = false;
}

/* The bound that the path goes by was refused for its value: look at all rows then. */
static bool is_path_bound(const struct ht_event_walk *w, enum ht_event_how how)
{
	return equal_bound(w, how) != NULL;
}

static int take_path(struct ht_event_walk *w)
{
	switch (w->plan.path) {
	case HT_PATH_ID:
		if (!is_path_bound(w, HT_HOW_ID))
			break;
		take_row(w, ht_event_row(equal_bound(w, HT_HOW_ID)->value));
		return SQLITE_OK;
	case HT_PATH_ROW:
		if (!is_path_bound(w, HT_HOW_ROW))
			break;
		take_row(w, equal_bound(w, HT_HOW_ROW)->value);
		return SQLITE_OK;
	case HT_PATH_CORRELATION:
		if (!is_path_bound(w, HT_HOW_CORRELATION))
			break;
		return take_correlated(w);
	case HT_PATH_LAUNCH:
		if (!is_path_bound(w, HT_HOW_LAUNCH))
			break;
		return take_launched(w);
	case HT_PATH_PARENT:
		if (!is_path_bound(w, HT_HOW_PARENT))
			break;
		take_children(w);
		return SQLITE_OK;
	case HT_PATH_OVERLAP:
		w->by_ranges = ht_sql_wants_ranges(w->vtab->common.session, w->i_rank);
		w->by_track = true;
		return SQLITE_OK;
	case HT_PATH_START: w->by_track = true; return SQLITE_OK;
	case HT_PATH_SCAN: break;
	}
	return take_scan(w);
}

static int begin_rank(struct ht_event_walk *w)
{
	struct ht_sql_session *s = w->vtab->common.session;
	bool possible = true;
	w->at = w->n = 0;
	w->by_track = w->by_ranges = false;
	w->i_track = 0;
	w->has_args = NULL;
	if (!is_rank_wanted(w, s->set->roster.ranks[w->i_rank].number))
		return SQLITE_OK;
	int code = ht_event_walk_take(w, w->i_rank);
	if (code == SQLITE_OK)
		code = find_texts(w, &possible);
	if (code != SQLITE_OK || !possible)
		return code;
	for (size_t i = 0; i < w->n_bounds && code == SQLITE_OK; i++)
		if (w->bounds[i].test.how == HT_HOW_TIME && !w->has_move) {
			code = ht_sql_move(s, w->i_rank, &w->move);
			w->has_move = true;
		}
	return code == SQLITE_OK ? take_path(w) : code;
}

/* ---- walking ---- */

/* Is a candidate of an index or a track a row of this table? */
static bool belongs(const struct ht_event_walk *w, uint32_t row)
{
	const struct ht_trace *t = w->trace;
	const uint32_t *gpus;
	size_t n;
	switch (w->vtab->table) {
	case HT_SQL_GPU: return ht_kind_is_gpu_work(t->kind[row]) && ht_gpu_of_row(t, row);
	case HT_SQL_OPS: return t->kind[row] == HT_KIND_CPU_OP;
	case HT_SQL_LAUNCHES: ht_launch_gpus(t, row, &gpus, &n); return n > 0;
	case HT_SQL_ARGS:
		if (w->has_args)
			return w->has_args[row / 8] >> row % 8 & 1;
		for (size_t c = 0; c < t->n_arg_columns; c++)
			if (!t->arg_columns[c].top_level &&
			        ht_arg_position(t, &t->arg_columns[c], row) != UINT64_MAX)
				return true;
		return false;
	default: return true;
	}
}

/* Rows that are passed over between two looks at the limits: SQLite sees none of them. */
#define ROWS_PER_LOOK ((size_t)1 << 16)

static int next_candidate(struct ht_event_walk *w, bool *ret_found)
{
	*ret_found = false;
	while (w->at < w->n) {
		size_t at = w->at++;
		if (at % ROWS_PER_LOOK == ROWS_PER_LOOK - 1) {
			int code = ht_sql_look(w->vtab->common.session);
			if (code != SQLITE_OK)
				return code;
		}
		w->row = w->walk == HT_WALK_ROWS  ? (uint32_t)at
		         : w->walk == HT_WALK_GPU ? w->trace->gpu[at].row
		                                  : w->list[at];
		*ret_found = passes(w) && (w->is_natural || belongs(w, w->row));
		if (*ret_found)
			break;
	}
	return SQLITE_OK;
}

static int walk_on(struct ht_event_walk *w)
{
	const struct ht_sql_session *s = w->vtab->common.session;
	bool more = false, found;
	for (;;) {
		int code = next_candidate(w, &found);
		if (code != SQLITE_OK || found)
			return code;
		if (w->by_track)
			code = take_track(w, &more);
		if (code == SQLITE_OK && w->by_track && more)
			continue;
		if (code == SQLITE_OK && ++w->i_rank < s->n_ranks)
			code = begin_rank(w);
		else
			w->is_end = true;
		if (code != SQLITE_OK || w->is_end)
			return code;
	}
}

int ht_event_walk_first(struct ht_event_walk *w)
{
	const struct ht_sql_session *s = w->vtab->common.session;
	w->i_rank = 0;
	w->is_end = w->is_empty || !s->n_ranks;
	if (w->is_end)
		return SQLITE_OK;
	int code = begin_rank(w);
	return code == SQLITE_OK ? walk_on(w) : code;
}

int ht_event_walk_next(struct ht_event_walk *w)
{
	return w->grouped ? ht_event_group_next(w) : walk_on(w);
}

int ht_event_walk_bind(struct ht_event_walk *w, sqlite3_value **values)
{
	w->n_bounds = 0;
	w->is_empty = false;
	for (size_t i = 0; i < w->plan.n_tests; i++) {
		struct ht_event_bound bound = { .test = w->plan.tests[i] };
		if (bind_bound(w, values[i], &bound))
			w->bounds[w->n_bounds++] = bound;
	}
	return SQLITE_OK;
}

#endif
