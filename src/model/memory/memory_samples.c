/*
 * memory_samples.c - see memory_samples.h.
 */
#include "model/memory/memory_samples.h"

#include "base/checked.h"

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

enum ht_status ht_memory_samples_find(ht_ctx *ctx, const struct ht_trace *t, struct ht_arena *arena,
        const struct ht_memory_sample **ret_samples, size_t *ret_n)
{
	size_t n_rows = 0, n = 0;
	uint32_t ids[HT_N_MEMORY_CATEGORIES];
	*ret_n = 0;
	for (size_t row = 0; row < t->n_kind; row++)
		n_rows += t->kind[row] == HT_KIND_MEMORY_TIMELINE;
	if (!n_rows)
		return HT_OK;
	struct ht_memory_sample *samples = ht_arena_alloc(arena, (n_rows + 1) * sizeof *samples);
	if (!samples)
		return ht_fail_nomem(ctx);
	for (size_t c = 0; c < HT_N_MEMORY_CATEGORIES; c++)
		ids[c] = ht_str_find(t, names[c]);
	const struct ht_arg_column *marked = ht_arg_find(t, "Preexisting", HT_ARG_BOOL);
	struct ht_arg_cursor bytes = ht_arg_cursor(t, "Bytes");
	bool was_before = false;
	for (uint32_t row = 0; row < t->n_kind; row++) {
		if (t->kind[row] != HT_KIND_MEMORY_TIMELINE)
			continue;
		bool before = marked && ht_arg_position(t, marked, row) != UINT64_MAX;
		if (!n || samples[n - 1].ts_ns != t->ts_ns[row] || before != was_before) {
			samples[n] = n ? samples[n - 1] : (struct ht_memory_sample){ 0 };
			samples[n++].ts_ns = t->ts_ns[row];
		}
		was_before = before;
		ht_sum(&samples[n - 1].bytes[category_of(ids, t->name[row])],
		        ht_arg_cursor_i64(&bytes, row, 0));
	}
	*ret_samples = samples;
	*ret_n = n;
	return HT_OK;
}
