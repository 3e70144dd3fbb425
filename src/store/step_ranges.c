/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_ranges.c - see step_ranges.h.
 *
 * Training loops under Nsight Systems have no ProfilerStep: people push NVTX ranges called "iteration 5", "step_5", "Train step" or "epoch
 * 2". A name is taken when it is nothing but one of these words, perhaps one more before it that says of what, and perhaps a number. Its ranges are
 * steps when there are three or more on one thread, one after the other, and their numbers rise by the same amount each time, or start
 * again with the first one (as in each epoch); then, and without numbers, they are counted.
 *
 * Of several names steps and iterations come before batches, and these before epochs; then the one whose ranges are longest together. An
 * optimizer's "step" is none: its name says more.
 */
#include "store/step_ranges.h"

#include "base/checked.h"
#include "base/sort.h"
#include "store/columns.h"

#include <string.h>

#define MIN_RANGES 3
#define MAX_WORD   12

/* What is repeated, the best first; those of one level are as good as each other. */
static const struct {
	const char *word;
	int level;
} words[] = { { "step", 0 }, { "iteration", 0 }, { "iter", 0 }, { "batch", 1 }, { "epoch", 2 } };
/* Of what; nothing else may stand before. */
static const char *const befores[] = { "", "train", "training", "global", "inference", "decode",
	"main", "loop" };
#define N_FAMILIES (HT_COUNT(words) * HT_COUNT(befores))
#define NO_FAMILY  UINT8_MAX
_Static_assert(N_FAMILIES < NO_FAMILY, "a family has a byte");

/* ---- names ---- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The next word in lower case; an empty one when there is none, or it is longer than any that is known. */
static const char *take_word(const char *at, char word[MAX_WORD])
{
	size_t n = 0;
	for (; is_letter(*at); at++)
		if (n < MAX_WORD)
			word[n++] = (char)(*at | 0x20);
	word[n < MAX_WORD ? n : 0] = '\0';
	return at;
}

static size_t place_of_before(const char *word)
{
	size_t i = 0;
	while (i < HT_COUNT(befores) && strcmp(befores[i], word) != 0)
		i++;
	return i;
}

static size_t place_of_word(const char *word)
{
	size_t i = 0;
	while (i < HT_COUNT(words) && strcmp(words[i].word, word) != 0)
		i++;
	return i;
}

/* "Train step #12": words, a number or none, and nothing else. *ret_number is HT_NO_I64 without one. */
static uint8_t family_of(const char *name, int64_t *ret_number)
{
	static const char between[] = " _-#:=([";
	char word[MAX_WORD], before[MAX_WORD] = "";
	const char *at = take_word(name, word);
	size_t i_word = place_of_word(word);
	*ret_number = HT_NO_I64;
	if (i_word == HT_COUNT(words)) {
		memcpy(before, word, sizeof before);
		at = take_word(at + strspn(at, between), word);
		i_word = place_of_word(word);
	}
	size_t i_before = place_of_before(before);
	if (i_word == HT_COUNT(words) || i_before == HT_COUNT(befores) || (!*before && at == name))
		return NO_FAMILY;
	at += strspn(at, between);
	size_t n = strspn(at, "0123456789");
	if (n > 18)
		return NO_FAMILY;
	for (size_t i = 0; i < n; i++)
		*ret_number = (i ? *ret_number * 10 : 0) + (at[i] - '0');
	at += n;
	at += strspn(at, ")]");
	return *at ? NO_FAMILY : (uint8_t)(i_word * HT_COUNT(befores) + i_before);
}

/* ---- ranges ---- */

struct candidate {
	int64_t ts_ns, end_ns, number;
	uint32_t row, track;
	uint8_t family;
};

static int compare_candidates(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static bool list_candidates(ht_ctx *ctx, const struct ht_trace *t, struct ht_arena *arena,
        struct ht_vec *candidates, bool *ret_ok)
{
	size_t n_names = t->n_string_offsets - 1;
	uint8_t *families = ht_arena_alloc(arena, n_names + 1);
	bool any = false;
	int64_t number;
	*ret_ok = families != NULL;
	for (uint32_t id = 0; families && id < n_names; id++) {
		families[id] = family_of(ht_str(t, id), &number);
		any |= families[id] != NO_FAMILY;
	}
	for (uint32_t row = 0; *ret_ok && any && row < ht_n_events(t); row++) {
		if (t->kind[row] != HT_KIND_ANNOTATION || t->name[row] == HT_NO_STR ||
		        families[t->name[row]] == NO_FAMILY || t->ph[row] != 'X')
			continue;
		struct candidate c = { .ts_ns = t->ts_ns[row],
			.end_ns = ht_end_ns(t, row),
			.row = row,
			.track = t->track[row] };
		c.family = family_of(ht_str(t, t->name[row]), &c.number);
		*ret_ok = HT_VEC_PUSH(ctx->mem, candidates, struct candidate, c);
	}
	return any;
}

/* Number those of one name on one thread; false when they are no steps. */
static bool number_regular(struct candidate *list, size_t n)
{
	int64_t first = list[0].number, pace = 0;
	bool counts = first == HT_NO_I64;
	if (n < MIN_RANGES)
		return false;
	for (size_t i = 1; i < n; i++) {
		int64_t before = list[i - 1].number, now = list[i].number;
		if (list[i].ts_ns < list[i - 1].end_ns ||
		        (now == HT_NO_I64) != (first == HT_NO_I64))
			return false;
		if (now == HT_NO_I64)
			continue;
		pace = i == 1 ? now - before : pace;
		counts |= now == first;
		if (now != first && (pace <= 0 || now - before != pace))
			return false;
	}
	for (size_t i = 0; counts && i < n; i++)
		list[i].number = (int64_t)i;
	return true;
}

static int64_t total_ns(const struct candidate *list, size_t n)
{
	int64_t total = 0;
	for (size_t i = 0; i < n; i++)
		total = ht_add_sat(total, ht_sub_sat(list[i].end_ns, list[i].ts_ns));
	return total;
}

/* The first and the number of those that are the steps; 0: none are. */
static size_t choose(struct candidate *list, size_t n, size_t *ret_first)
{
	size_t n_best = 0;
	int best_level = 0;
	int64_t best_ns = 0;
	for (size_t first = 0, end; first < n; first = end) {
		end = first + 1;
		while (end < n && list[end].family == list[first].family &&
		        list[end].track == list[first].track)
			end++;
		int level = words[list[first].family / HT_COUNT(befores)].level;
		int64_t ns = total_ns(list + first, end - first);
		bool is_better =
		        !n_best || level < best_level || (level == best_level && ns > best_ns);
		if (!is_better || !number_regular(list + first, end - first))
			continue;
		n_best = end - first;
		*ret_first = first;
		best_level = level;
		best_ns = ns;
	}
	return n_best;
}

enum ht_status ht_step_ranges_find(ht_ctx *ctx, const struct ht_trace *t, struct ht_arena *arena,
        struct ht_step_range **ret_ranges, size_t *ret_n)
{
	struct ht_vec candidates = { 0 };
	bool ok;
	size_t first = 0, n = 0;
	if (list_candidates(ctx, t, arena, &candidates, &ok) && ok && candidates.n) {
		ht_sort_items(ctx->mem, candidates.data, candidates.n, sizeof(struct candidate),
		        compare_candidates);
		n = choose(candidates.data, candidates.n, &first);
	}
	*ret_ranges = ok ? ht_arena_alloc(arena, (n + 1) * sizeof **ret_ranges) : NULL;
	*ret_n = n;
	const struct candidate *list = candidates.data;
	for (size_t i = 0; *ret_ranges && i < n; i++)
		(*ret_ranges)[i] =
		        (struct ht_step_range){ list[first + i].row, list[first + i].number };
	ht_vec_free(ctx->mem, &candidates, sizeof(struct candidate));
	return *ret_ranges ? HT_OK : ht_fail_nomem(ctx);
}
