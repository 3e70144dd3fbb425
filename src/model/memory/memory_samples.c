/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_samples.c - see memory_samples.h.
 */
#include "model/memory/memory_samples.h"

#include "base/checked.h"
#include "store/args.h"

static const char *const names[HT_N_MEMORY_CATEGORIES] = { "parameter", "optimizer_state", "input",
	"temporary", "activation", "gradient", "autograd_detail", "unknown" };

const char *ht_memory_category_name(size_t category)
{
	return category < HT_N_MEMORY_CATEGORIES ? names[category] : "unknown";
}

int64_t ht_memory_sample_total(const struct ht_memory_sample *sample)
{
	int64_t sum = 0;
	for (size_t c = 0; c < HT_N_MEMORY_CATEGORIES; c++)
		ht_sum(&sum, sample->bytes[c]);
	return sum;
}

/* The category of a row's name; what is none of them is unknown. */
static size_t category_of(const uint32_t *ids, uint32_t name)
{
	for (size_t c = 0; c + 1 < HT_N_MEMORY_CATEGORIES; c++)
		if (ids[c] == name)
			return c;
	return HT_N_MEMORY_CATEGORIES - 1;
}

/* What rows are brought together by, and the rows so far. */
struct sampling {
	const struct ht_trace *t;
	struct ht_memory_sample *list;
	size_t n;
	uint32_t ids[HT_N_MEMORY_CATEGORIES];
	const struct ht_arg_column *marked;
	struct ht_arg_cursor bytes, row;
	bool has_rows, was_before;
	int64_t last_row;
};

static enum ht_status begin(
        ht_ctx *ctx, const struct ht_trace *t, struct ht_arena *arena, struct sampling *ret)
{
	size_t n_rows = 0;
	*ret = (struct sampling){ .t = t, .last_row = HT_NO_I64 };
	for (size_t row = 0; row < t->n_kind; row++)
		n_rows += t->kind[row] == HT_KIND_MEMORY_TIMELINE;
	if (!n_rows)
		return HT_OK;
	ret->list = ht_arena_alloc(arena, (n_rows + 1) * sizeof *ret->list);
	if (!ret->list)
		return ht_fail_nomem(ctx);
	for (size_t c = 0; c < HT_N_MEMORY_CATEGORIES; c++)
		ret->ids[c] = ht_str_find(t, names[c]);
	ret->marked = ht_arg_find(t, "Preexisting", HT_ARG_BOOL);
	ret->has_rows = ht_arg_find(t, "Row", HT_ARG_I64) != NULL;
	ret->bytes = ht_arg_cursor(t, "Bytes");
	ret->row = ht_arg_cursor(t, "Row");
	return HT_OK;
}

/* One more event: of the last sample, or of a new one at that time. */
static void add(struct sampling *s, uint32_t row, int64_t time, bool by_rows)
{
	bool before = s->marked && ht_arg_position(s->t, s->marked, row) != UINT64_MAX;
	int64_t of_file = s->has_rows ? ht_arg_cursor_i64(&s->row, row, HT_NO_I64) : HT_NO_I64;
	bool is_new = by_rows && s->has_rows ? of_file != s->last_row
	                                     : s->list[s->n ? s->n - 1 : 0].ts_ns != time ||
	                                               before != s->was_before;
	if (!s->n || is_new) {
		s->list[s->n] = s->n ? s->list[s->n - 1] : (struct ht_memory_sample){ 0 };
		s->list[s->n++].ts_ns = time;
	}
	s->was_before = before;
	s->last_row = of_file;
	ht_sum(&s->list[s->n - 1].bytes[category_of(s->ids, s->t->name[row])],
	        ht_arg_cursor_i64(&s->bytes, row, 0));
}

enum ht_status ht_memory_samples_find(ht_ctx *ctx, const struct ht_trace *t, struct ht_arena *arena,
        const struct ht_memory_sample **ret_samples, size_t *ret_n)
{
	struct sampling s;
	HT_TRY(begin(ctx, t, arena, &s));
	for (uint32_t row = 0; s.list && row < t->n_kind; row++)
		if (t->kind[row] == HT_KIND_MEMORY_TIMELINE)
			add(&s, row, t->ts_ns[row], false);
	*ret_samples = s.list;
	*ret_n = s.n;
	return HT_OK;
}

/* int(t / 1000) of Python: the quotient is rounded to a double, to the even one of two as near, and then cut. */
static int64_t python_us(int64_t ns)
{
	if (ns < 1000)
		return 0;
	int log = 63 - __builtin_clzll((uint64_t)ns / 1000), bits = log < 52 ? 52 - log : 0;
	unsigned __int128 scaled = (unsigned __int128)(uint64_t)ns << bits,
	                  quotient = scaled / 1000;
	uint64_t rest = (uint64_t)(scaled % 1000);
	quotient += rest > 500 || (rest == 500 && (quotient & 1));
	return (int64_t)(quotient >> bits);
}

enum ht_status ht_memory_rows_find(ht_ctx *ctx, const struct ht_trace *t, struct ht_arena *arena,
        const struct ht_memory_sample **ret_samples, size_t *ret_n)
{
	struct sampling s;
	HT_TRY(begin(ctx, t, arena, &s));
	for (uint32_t row = 0; s.list && row < t->n_kind; row++)
		if (t->kind[row] == HT_KIND_MEMORY_TIMELINE)
			add(&s, row, s.has_rows ? t->ts_ns[row] / 1000 : python_us(t->ts_ns[row]),
			        true);
	*ret_samples = s.list;
	*ret_n = s.n;
	return HT_OK;
}
