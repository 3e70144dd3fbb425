/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - see check.h.
 *
 * One small function per section, asked of parts of it (sections.h). Loops over rows have no exit of their
 * own, so that they run at memory speed; the verdict follows after the loop.
 *
 *   begin     lengths, arg columns and shapes, which the checks of other sections rely on
 *   check_x   every element of x
 *   end       what can be said only when all strings are known to exist
 */
#include "store/check.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/search.h"
#include "json/json_text.h"
#include "store/check_facts.h"
#include "store/import_stats.h"
#include "store/shape.h"
#include "store/allocator_snapshot.h"
#include "store/flow.h"
#include "store/side_table.h"
#include "store/trace.h"
#include "store/trace_meta.h"

/* Rows that are looked at together for a parent that does not come before its child. */
#define WALK_ROWS 128

/* ---- building blocks ---- */

/* The n bytes of a narrow column; parts of it begin at multiples of its width. */
static bool are_narrow_below(const struct ht_check_facts *f, const uint8_t *bytes, size_t n,
        unsigned width, size_t limit)
{
	if (width == 1)
		return limit > UINT8_MAX || f->loops->all_bytes_below(bytes, n, (uint8_t)limit);
	if (width == 2)
		return f->loops->all_u16_below((const void *)bytes, n / width, limit);
	return ht_check_all_below(f, (const void *)bytes, n / width, limit, false);
}

/* Offsets into an array: the first of all is 0, none is below the one before, the last of all is total. */
static bool is_slicing(const uint32_t *offsets, size_t n_all, size_t first, size_t n, size_t total)
{
	uint32_t bad = !first && offsets[0];
	for (size_t i = first ? first : 1; i < first + n; i++)
		bad |= offsets[i] < offsets[i - 1];
	return !bad && (first + n < n_all || offsets[n_all - 1] == total);
}

static bool is_row(const struct ht_check_facts *f, uint32_t row)
{
	return row < f->n_rows;
}

static bool is_row_or_none(const struct ht_check_facts *f, uint32_t row)
{
	return row < f->n_rows || row == HT_NONE;
}

static bool is_string_or_none(const struct ht_check_facts *f, uint32_t id)
{
	return id < f->n_strings || id == HT_NO_STR;
}

/* ---- sections, in the order of sections.def ---- */

#define CHECK(section)                                                                             \
	static bool check_##section(const void *store, void *facts, size_t first, size_t n)

static bool is_time_or_none(int64_t ns)
{
	return ns == HT_NO_I64 ||
	       (ns >= -HT_MAX_TIME_NS && ns <= HT_MAX_TIME_NS + HT_MAX_DURATION_NS);
}

bool ht_step_is_sound(const struct ht_step *step)
{
	return step->ts_ns != HT_NO_I64 && is_time_or_none(step->ts_ns) &&
	       is_time_or_none(step->done_ns) && step->ts_ns <= step->end_ns &&
	       step->end_ns <= step->done_ns && step->ts_ns <= step->begin_ns &&
	       step->begin_ns <= step->done_ns;
}

#define check_description NULL /* has a hash of its own, and is checked by who reads it */

CHECK(meta_)
{
	KNOWN;
	const struct ht_trace_meta *meta = t->meta_;
	(void)first;
	(void)n;
	return meta->dialect < HT_N_DIALECTS && meta->n_documents <= UINT16_MAX + 1 &&
	       meta->compression <= 2 && is_time_or_none(meta->base_ns) &&
	       is_time_or_none(meta->min_ts_ns) && is_time_or_none(meta->max_end_ns) &&
	       (meta->min_ts_ns == HT_NO_I64) == (meta->max_end_ns == HT_NO_I64);
}

/* No time or duration beyond what reading lets through. */
CHECK(ts_ns)
{
	KNOWN;
	return f->loops->are_times(t->ts_ns + first, n);
}

CHECK(dur_ns)
{
	KNOWN;
	return f->loops->are_durations(t->dur_ns + first, n);
}

CHECK(name)
{
	KNOWN;
	return ht_check_all_below(f, t->name + first, n, f->n_strings, true);
}

CHECK(cat)
{
	KNOWN;
	return f->loops->all_u16_below(t->cat + first, n, t->n_categories);
}

#define check_ph NULL /* any byte is a letter */

CHECK(kind)
{
	KNOWN;
	return f->loops->all_bytes_below(t->kind + first, n, HT_N_KINDS);
}

CHECK(flags)
{
	KNOWN;
	const uint8_t all_flags =
	        HT_EV_SPAN | HT_EV_NO_TS | HT_EV_NO_DUR | HT_EV_BAD_TIME | HT_EV_CUT;
	return f->loops->all_bytes_below(t->flags + first, n, all_flags + 1);
}

CHECK(track)
{
	KNOWN;
	return ht_check_all_below(f, t->track + first, n, t->n_tracks, false);
}

CHECK(shape)
{
	KNOWN;
	unsigned width = ht_shape_width(f->n_shapes);
	uint8_t sound = 1;
	if (!are_narrow_below(f, t->shape + first, n, width, f->n_shapes))
		return false;
	for (size_t i = 0; i < n / width; i++)
		sound &= f->sound_shapes[ht_narrow_get(t->shape + first, width, i)];
	return sound;
}

/* Parents of rows, or of entries of python_rows; HT_NONE at the top. */
static uint32_t parent_of(const struct ht_trace *t, bool python, uint32_t i)
{
	if (!python)
		return t->parent[i];
	uint32_t row = t->python_parent[i];
	if (row == HT_NONE)
		return HT_NONE;
	size_t low = HT_LOWER_BOUND(at, t->n_python_rows, t->python_rows[at] < row);
	return low < t->n_python_rows && t->python_rows[low] == row ? (uint32_t)low : HT_NONE;
}

/* Walk up from an entry to the top, or to one that is known to lead there, and note the way; false when it leads
 * round, or out of the trace. Others walk meanwhile: what one has noted is true for all. */
static bool leads_up(
        const struct ht_trace *t, bool python, uint32_t i, size_t n, atomic_uchar *known)
{
	size_t n_steps = 0;
	for (uint32_t at = i; at != HT_NONE; at = parent_of(t, python, at), n_steps++) {
		if (at >= n || n_steps >= n)
			return false;
		if (atomic_load_explicit(&known[at / 8], memory_order_relaxed) >> at % 8 & 1)
			break;
	}
	/* a note that is lost to one made beside it at once costs a walk, a locked one more than that */
	for (uint32_t at = i; n_steps--; at = parent_of(t, python, at)) {
		unsigned char bits = atomic_load_explicit(&known[at / 8], memory_order_relaxed);
		atomic_store_explicit(
		        &known[at / 8], (unsigned char)(bits | 1 << at % 8), memory_order_relaxed);
	}
	return true;
}

/* A cycle has at least one entry whose parent does not come before it: walk up from those few. */
static bool lead_up(const struct ht_trace *t, const struct ht_check_facts *f, bool python,
        size_t first, size_t n)
{
	const uint32_t *parents = python ? t->python_parent : t->parent;
	size_t n_all = python ? t->n_python_rows : f->n_rows;
	for (size_t i = first, n_here; i < first + n; i += n_here) {
		n_here = first + n - i < WALK_ROWS ? first + n - i : WALK_ROWS;
		if (python ? f->loops->are_above(parents + i, t->python_rows + i, n_here)
		           : f->loops->are_above_from(parents + i, (uint32_t)i, n_here))
			continue;
		for (size_t k = i; k < i + n_here; k++)
			if (parents[k] + 1 > (python ? t->python_rows[k] : k) &&
			        !leads_up(t, python, (uint32_t)k, n_all,
			                python ? f->known_python : f->known))
				return false;
	}
	return true;
}

CHECK(parent)
{
	KNOWN;
	return ht_check_all_below(f, t->parent + first, n, f->n_rows, true) &&
	       lead_up(t, f, false, first, n);
}

CHECK(step)
{
	KNOWN;
	unsigned width = ht_step_width(t->n_steps);
	uint32_t none = HT_NONE >> (32 - 8 * width), bad = 0;
	for (size_t i = 0; i < n / width; i++) {
		uint32_t step = ht_narrow_get(t->step + first, width, i);
		bad |= step >= t->n_steps && step != none;
	}
	return !bad;
}

/* Strings stand one after the other, each with its NUL. */
CHECK(string_offsets)
{
	KNOWN;
	const uint64_t *offsets = t->string_offsets;
	uint64_t bad = !first && offsets[0];
	for (size_t i = first ? first : 1; i < first + n; i++)
		bad |= offsets[i] <= offsets[i - 1];
	if (bad || offsets[first + n - 1] > t->n_string_bytes ||
	        (first + n == t->n_string_offsets && offsets[first + n - 1] != t->n_string_bytes))
		return false;
	for (size_t i = first ? first : 1; i < first + n; i++)
		bad |= (uint64_t)t->string_bytes[offsets[i] - 1];
	return !bad;
}

#define check_string_bytes NULL

CHECK(string_index)
{
	KNOWN;
	return ht_check_all_below(f, t->string_index + first, n, f->n_strings, true);
}

/* of arguments, in check_arg_columns.c */
#define check_arg_columns   NULL /* in begin */
#define check_arg_rows      ht_check_arg_rows
#define check_arg_values    ht_check_arg_values
#define check_arg_blocks    ht_check_arg_blocks
#define check_arg_words     NULL /* any bits are values; ids are looked at with their block */
#define check_row_blocks    ht_check_row_blocks
#define check_row_words     NULL /* likewise */

#define check_shape_offsets NULL /* in begin */
#define check_shape_items   NULL

static bool is_id(const struct ht_check_facts *f, uint8_t type, int64_t value)
{
	return type <= HT_ID_STR &&
	       (type != HT_ID_STR || (value >= 0 && (uint64_t)value < f->n_strings));
}

CHECK(tracks)
{
	KNOWN;
	bool sound = true;
	for (size_t i = first; i < first + n; i++) {
		const struct ht_track *track = &t->tracks[i];
		sound &= is_id(f, track->pid_type, track->pid) &&
		         is_id(f, track->tid_type, track->tid) &&
		         (uint64_t)track->first + track->n <= t->n_track_rows &&
		         track->n_spans <= track->n && is_string_or_none(f, track->name) &&
		         is_string_or_none(f, track->process_name) && track->device >= -1;
	}
	return sound;
}

CHECK(track_rows)
{
	KNOWN;
	return ht_check_all_below(f, t->track_rows + first, n, f->n_rows, false);
}

CHECK(gpu)
{
	KNOWN;
	bool sound = true;
	for (size_t i = first; i < first + n; i++) {
		const struct ht_gpu *gpu = &t->gpu[i];
		sound &= is_row(f, gpu->row) && is_row_or_none(f, gpu->launch) &&
		         is_row_or_none(f, gpu->op) && gpu->class_ < HT_N_CLASSES &&
		         gpu->device >= -1 && (!i || gpu->row > t->gpu[i - 1].row);
	}
	return sound;
}

CHECK(launch_rows)
{
	KNOWN;
	return ht_check_are_rows(f, t->launch_rows, first, n);
}

CHECK(launch_offsets)
{
	KNOWN;
	return is_slicing(t->launch_offsets, t->n_launch_offsets, first, n, t->n_launch_gpu);
}

CHECK(launch_gpu)
{
	KNOWN;
	return ht_check_all_below(f, t->launch_gpu + first, n, t->n_gpu, false);
}

/* Python frames stand in the file in the order of their calls. */
CHECK(python_parent)
{
	KNOWN;
	return ht_check_all_below(f, t->python_parent + first, n, f->n_rows, true) &&
	       lead_up(t, f, true, first, n);
}

CHECK(python_rows)
{
	KNOWN;
	return ht_check_are_rows(f, t->python_rows, first, n);
}

CHECK(steps)
{
	KNOWN;
	bool sound = true;
	for (size_t i = first; i < first + n; i++)
		sound &= is_row(f, t->steps[i].row) && ht_step_is_sound(&t->steps[i]);
	return sound;
}

CHECK(flows)
{
	KNOWN;
	bool sound = true;
	for (size_t i = first; i < first + n; i++) {
		const struct ht_flow *flow = &t->more->flows[i];
		sound &= is_string_or_none(f, flow->cat) && is_row_or_none(f, flow->start_row) &&
		         is_row_or_none(f, flow->finish_row) && is_row_or_none(f, flow->from) &&
		         is_row_or_none(f, flow->to);
	}
	return sound;
}

CHECK(categories)
{
	KNOWN;
	bool sound = true;
	for (size_t i = first; i < first + n; i++)
		sound &= t->categories[i].kind < HT_N_KINDS &&
		         is_string_or_none(f, t->categories[i].name);
	return sound;
}

CHECK(devices)
{
	KNOWN;
	bool sound = true;
	for (size_t i = first; i < first + n; i++)
		sound &= is_string_or_none(f, t->more->devices[i].name) &&
		         is_string_or_none(f, t->more->devices[i].properties);
	return sound;
}

CHECK(process_groups)
{
	KNOWN;
	bool sound = true;
	for (size_t i = first; i < first + n; i++) {
		const struct ht_process_group *group = &t->more->process_groups[i];
		sound &= is_string_or_none(f, group->name) &&
		         is_string_or_none(f, group->description) &&
		         is_string_or_none(f, group->backend) && is_string_or_none(f, group->ranks);
	}
	return sound;
}

CHECK(headers)
{
	KNOWN;
	bool sound = true;
	for (size_t i = first; i < first + n; i++)
		sound &= ht_check_is_string(f, t->more->headers[i].key) &&
		         ht_check_is_string(f, t->more->headers[i].value) &&
		         t->more->headers[i].after_events <= 1;
	return sound;
}

CHECK(stats)
{
	KNOWN;
	bool sound = true;
	for (size_t i = first; i < first + n; i++)
		sound &= t->more->stats[i].code < HT_N_STATS;
	return sound;
}

CHECK(tables)
{
	KNOWN;
	bool sound = true;
	for (size_t i = first; i < first + n; i++) {
		const struct ht_side_table *table = &t->more->tables[i];
		sound &= ht_check_is_string(f, table->name) &&
		         table->first_column <= t->more->n_table_columns &&
		         table->n_columns <= t->more->n_table_columns - table->first_column;
	}
	return sound;
}

/* Accessors look at the length of the column, not at that of the table. */
CHECK(table_columns)
{
	KNOWN;
	for (size_t i = first; i < first + n; i++) {
		const struct ht_side_column *column = &t->more->table_columns[i];
		if (!ht_check_is_string(f, column->key) ||
		        column->first_cell > t->more->n_table_cells ||
		        column->n > t->more->n_table_cells - column->first_cell)
			return false;
		if (column->type == HT_ARG_I64 || column->type == HT_ARG_F64)
			continue;
		const int64_t *cells = t->more->table_cells + column->first_cell;
		for (uint64_t k = 0; k < column->n; k++)
			if (cells[k] != HT_NO_I64 && (uint64_t)cells[k] >= f->n_strings)
				return false;
	}
	return true;
}

#define check_table_cells NULL /* any number is one; texts are checked with their columns */

/* of memory snapshots, in allocator_snapshot.c */
#define check_mem_about         ht_check_mem_about
#define check_mem_events        ht_check_mem_events
#define check_mem_segments      ht_check_mem_segments
#define check_mem_blocks        ht_check_mem_blocks
#define check_mem_frames        ht_check_mem_frames
#define check_mem_stack_offsets ht_check_mem_stack_offsets
#define check_mem_stack_frames  ht_check_mem_stack_frames
#define check_mem_annotations   ht_check_mem_annotations

static const struct ht_section_info list[] = {
#define SECTION(name, type) HT_SECTION_INFO_AT(struct ht_whole_trace, trace.name, name, type),
#include "store/columns.def"
#undef SECTION
#define SECTION(name, type) HT_SECTION_INFO_AT(struct ht_whole_trace, more.name, name, type),
#include "store/sections.def"
#undef SECTION
};

/* ---- begin ---- */

static bool are_lengths(const struct ht_trace *t)
{
	size_t n = t->n_ts_ns;
	bool launches = t->n_launch_offsets ? t->n_launch_offsets == t->n_launch_rows + 1
	                                    : !t->n_launch_rows && !t->n_launch_gpu;
	size_t n_index = t->n_string_index;
	return t->n_dur_ns == n && t->n_name == n && t->n_cat == n && t->n_ph == n &&
	       t->n_kind == n && t->n_flags == n && t->n_track == n && t->n_parent == n &&
	       n < UINT32_MAX - 1 && t->n_meta_ == 1 && t->n_string_offsets &&
	       t->n_string_offsets < UINT32_MAX && t->n_shape_offsets &&
	       t->n_shape_offsets < UINT32_MAX && t->n_steps < UINT32_MAX &&
	       t->n_shape == n * ht_shape_width(t->n_shape_offsets - 1) &&
	       t->n_step == n * ht_step_width(t->n_steps) && t->n_tracks < UINT32_MAX &&
	       t->n_gpu < UINT32_MAX && t->n_python_rows == t->n_python_parent && launches &&
	       n_index && !(n_index & (n_index - 1)) &&
	       t->n_arg_columns < UINT32_MAX - HT_FIELD_COUNT;
}

/* Shapes that no row has may name columns that do not exist. */
static void judge_shapes(const struct ht_trace *t, struct ht_check_facts *f)
{
	for (size_t i = 0; i < f->n_shapes; i++)
		f->sound_shapes[i] = ht_check_all_below(f, t->shape_items + t->shape_offsets[i],
		        t->shape_offsets[i + 1] - t->shape_offsets[i],
		        HT_FIELD_COUNT + t->n_arg_columns, false);
}

/* Bytes for a bit each. */
static size_t n_known(size_t n)
{
	return n / 8 + 1;
}

static void facts_done(ht_ctx *ctx, const struct ht_trace *t, struct ht_check_facts *f)
{
	ht_mem_free(ctx->mem, f->known, n_known(f->n_rows));
	ht_mem_free(ctx->mem, f->known_python, n_known(t->n_python_rows));
	ht_mem_free(ctx->mem, f->sound_shapes, t->n_shape_offsets);
	ht_mem_free(ctx->mem, f, sizeof *f);
}

static enum ht_status begin(ht_ctx *ctx, const void *store, void **ret_facts)
{
	const struct ht_trace *t = store;
	if (!are_lengths(t) || !is_slicing(t->shape_offsets, t->n_shape_offsets, 0,
	                               t->n_shape_offsets, t->n_shape_items))
		return HT_OK;
	struct ht_check_facts *f = ht_mem_zalloc(ctx->mem, sizeof *f);
	if (!f)
		return ht_fail_nomem(ctx);
	f->loops = ht_check_loops();
	f->n_rows = (uint32_t)t->n_ts_ns;
	f->n_strings = (uint32_t)(t->n_string_offsets - 1);
	f->n_shapes = (uint32_t)(t->n_shape_offsets - 1);
	bool sound = ht_check_columns(t, f);
	if (sound) {
		f->sound_shapes = ht_mem_alloc(ctx->mem, t->n_shape_offsets);
		f->known = ht_mem_zalloc(ctx->mem, n_known(f->n_rows));
		f->known_python = ht_mem_zalloc(ctx->mem, n_known(t->n_python_rows));
	}
	if (!f->sound_shapes || !f->known || !f->known_python) {
		facts_done(ctx, t, f);
		return sound ? ht_fail_nomem(ctx) : HT_OK;
	}
	judge_shapes(t, f);
	*ret_facts = f;
	return HT_OK;
}

/* ---- end ---- */

/* A search in the index must meet a free slot. */
static bool has_free_slot(const struct ht_trace *t)
{
	for (size_t i = 0; i < t->n_string_index; i++)
		if (t->string_index[i] == HT_NO_STR)
			return true;
	return false;
}

/* Header values are parsed again by readers, who take them for valid. */
static bool is_json(const struct ht_trace *t, uint32_t id)
{
	return id == HT_NO_STR || ht_json_valid(ht_str(t, id), ht_str_len(t, id));
}

static bool are_json(const struct ht_trace *t)
{
	bool sound = true;
	for (size_t i = 0; sound && i < t->more->n_headers; i++)
		sound = is_json(t, t->more->headers[i].value);
	for (size_t i = 0; sound && i < t->more->n_devices; i++)
		sound = is_json(t, t->more->devices[i].properties);
	return sound;
}

/* No row is on two tracks, or twice on one: who walks all tracks has room for each row once. */
static enum ht_status are_tracks_apart(ht_ctx *ctx, const struct ht_trace *t, bool *ret_apart)
{
	size_t n_words = t->n_ts_ns / 64 + 1, next = 0;
	uint64_t *seen = ht_mem_zalloc(ctx->mem, n_words * sizeof *seen), twice = 0;
	if (!seen)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < t->n_track_rows; i++) {
		uint64_t *word = &seen[t->track_rows[i] / 64],
		         bit = (uint64_t)1 << t->track_rows[i] % 64;
		twice |= *word & bit;
		*word |= bit;
	}
	*ret_apart = !twice;
	for (size_t i = 0; i < t->n_tracks; i++) {
		*ret_apart &= !t->tracks[i].n || t->tracks[i].first >= next;
		next = t->tracks[i].n ? t->tracks[i].first + (size_t)t->tracks[i].n : next;
	}
	ht_mem_free(ctx->mem, seen, n_words * sizeof *seen);
	return HT_OK;
}

static enum ht_status end(ht_ctx *ctx, const void *store, void *facts, bool *sound)
{
	const struct ht_trace *t = store;
	enum ht_status status = HT_OK;
	*sound = *sound && has_free_slot(t) && are_json(t);
	if (*sound)
		status = are_tracks_apart(ctx, t, sound);
	facts_done(ctx, t, facts);
	return status;
}

/* Names of counters and categories, and the rules that classify: what the small numbers stand for. */
static uint64_t meaning(void)
{
	static const char *const texts[] = {
#define STAT(name, ...) #name,
#include "store/import_stats.def"
#undef STAT
#define CATEGORY(...) #__VA_ARGS__,
#include "store/kinds.def"
#undef CATEGORY
#define RULE(...) #__VA_ARGS__,
#include "store/kernel_rules.def"
#undef RULE
	};
	uint64_t hash = ht_hash_mix(HT_N_KINDS, HT_N_CLASSES);
	for (size_t i = 0; i < HT_COUNT(texts); i++)
		hash = ht_hash_mix(hash, ht_hash(texts[i], strlen(texts[i])));
	return hash;
}

const struct ht_sections ht_trace_sections = {
	.name = "trace",
	.version = 9,
	.list = list,
	.n = HT_COUNT(list),
	.meaning = meaning,
	.begin = begin,
	.end = end,
};
