/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks_test.c - damage of more than one byte, or in several places at once, costs the events that it is in.
 *
 * A cut of every bundled trace (damage.h), in several forms, is damaged: bits flipped, bytes put in or taken out in up to
 * six places, or a block of bytes lost, set to zeros or spaces, filled with random ones, there twice, or without its line
 * ends. What must hold then:
 *
 *   - the file is read, unless every event is touched
 *   - events that no damage touches, themselves or what stands between them and their neighbours, are stored as before,
 *     in order
 *   - of flipped bits: stored + events_lost is at least the number of events there were
 *   - what is no valid JSON any more fails --strict: a repair or a loss is counted
 *   - threads and chunks do not matter (every 16th)
 *
 * HOLOTRACE_DAMAGE is the number of mutations per text (default 40, `make nightly` 2000), HOLOTRACE_SEED the seed. A failure prints trace,
 * form, kind and places, and leaves the first text in /tmp/holotrace-blocks.json.
 */
#include "damage.h"
#include "store/import_stats.h"

#define MAX_PLACES 6

enum kind {
	FLIPS,
	BYTES_IN,
	BYTES_OUT,
	BLOCK_LOST,
	BLOCK_ZEROS,
	BLOCK_SPACES,
	BLOCK_RANDOM,
	BLOCK_TWICE,
	LINE_ENDS_LOST,
	N_KINDS
};

static const char *const kind_names[N_KINDS] = { "flips", "bytes put in", "bytes taken out",
	"block lost", "zeros", "spaces", "random bytes", "block twice", "line ends lost" };

/* Bytes [from, end) of the good text are damaged. */
struct place {
	size_t from, end;
};

/* A good text, and where its events are. */
struct subject {
	const struct text *text;
	struct reading good;
	struct place *events;
	size_t n_events;
};

static uint64_t n_by_kind[N_KINDS], n_touched;

/* ---- damage ---- */

static char random_byte(void)
{
	static const char likely[] = "{}[]:,\"\\ \n0e-.tfn";
	return next_random() % 2 ? likely[next_random() % (sizeof likely - 1)]
	                         : (char)(next_random() % 256);
}

static int by_from(const void *a, const void *b)
{
	size_t x = ((const struct place *)a)->from, y = ((const struct place *)b)->from;
	return (x > y) - (x < y);
}

/* Ascending places that do not overlap; one for a block. */
static size_t pick_places(const struct text *t, enum kind kind, struct place *places)
{
	static const size_t sizes[] = { 2, 5, 20, 100, 600, 5000 };
	size_t n = 1, n_bytes = 1, n_kept = 0;
	if (kind < BLOCK_LOST)
		n = 2 + next_random() % (MAX_PLACES - 1);
	else
		n_bytes = 1 + next_random() % sizes[next_random() % HT_COUNT(sizes)];
	for (size_t i = 0; i < n; i++) {
		size_t from = next_random() % t->n;
		/* often close to the one before, in the same event or the next */
		if (i && next_random() % 2)
			from = (places[i - 1].from + next_random() % 200) % t->n;
		places[i] = (struct place){ from, from + n_bytes < t->n ? from + n_bytes : t->n };
	}
	qsort(places, n, sizeof *places, by_from);
	for (size_t i = 0; i < n; i++)
		if (!n_kept || places[i].from >= places[n_kept - 1].end)
			places[n_kept++] = places[i];
	return n_kept;
}

static void put_damaged(
        struct text *bad, const struct text *good, enum kind kind, const struct place *at)
{
	for (size_t i = at->from; i < at->end; i++) {
		char c = good->bytes[i];
		if (kind == FLIPS)
			c = (char)(c ^ 1 << next_random() % 8);
		else if (kind == BYTES_IN)
			put(bad, &(char){ random_byte() }, 1);
		else if (kind == BLOCK_ZEROS)
			c = '\0';
		else if (kind == BLOCK_SPACES)
			c = ' ';
		else if (kind == BLOCK_RANDOM)
			c = random_byte();
		bool is_lost = kind == BYTES_OUT || kind == BLOCK_LOST ||
		               (kind == LINE_ENDS_LOST && (c == '\n' || c == '\r'));
		put(bad, &c, !is_lost);
	}
	if (kind == BLOCK_TWICE)
		put(bad, good->bytes + at->from, at->end - at->from);
}

static struct text damage_text(
        const struct text *good, enum kind kind, const struct place *places, size_t n)
{
	struct text bad = new_text(good->n * 2 + MAX_PLACES);
	size_t at = 0;
	for (size_t i = 0; i < n; i++) {
		put(&bad, good->bytes + at, places[i].from - at);
		put_damaged(&bad, good, kind, &places[i]);
		at = places[i].end;
	}
	put(&bad, good->bytes + at, good->n - at);
	return bad;
}

/* ---- the property ---- */

/* From the end of the event before to the start of the next: what damage must not be in. */
static bool is_touched(const struct subject *s, size_t i, const struct place *places, size_t n)
{
	size_t from = i ? s->events[i - 1].end : 0;
	size_t end = i + 1 < s->n_events ? s->events[i + 1].from : s->text->n;
	for (size_t k = 0; k < n; k++)
		if (places[k].from < end && places[k].end > from)
			return true;
	return false;
}

/* Are all events that are not touched stored as before, in order? */
static bool has_untouched(
        const struct subject *s, const struct reading *bad, const struct place *places, size_t n)
{
	uint32_t at = 0;
	for (size_t i = 0; i < s->n_events; i++) {
		if (is_touched(s, i, places, n)) {
			n_touched++;
			continue;
		}
		while (at < bad->n && bad->digests[at] != s->good.digests[i])
			at++;
		if (at++ == bad->n)
			return false;
	}
	return true;
}

/* What is broken, or NULL. */
static const char *judge(const struct subject *s, const struct reading *bad, bool valid,
        enum kind kind, const struct place *places, size_t n)
{
	bool is_whole = has_untouched(s, bad, places, n);
	/* of a file that has no event left nobody can say what it was */
	if (bad->status != HT_OK)
		return is_whole ? NULL : "the file is refused";
	if (!is_whole)
		return "an event that was not damaged is not as before";
	if (kind == FLIPS && bad->n + bad->lost < s->good.n)
		return "an event is lost and not counted";
	if (!valid && bad->worst < HT_REPAIR && !bad->harmless)
		return "text that is no JSON passes strict";
	return NULL;
}

static void mutate(const struct subject *s, const char *trace, const char *form)
{
	struct place places[MAX_PLACES];
	enum kind kind = (enum kind)(next_random() % N_KINDS);
	size_t n = pick_places(s->text, kind, places);
	struct text bad = damage_text(s->text, kind, places, n);
	struct reading r = read_text(&bad, 0, 1, false);
	const char *what = judge(s, &r, ht_json_valid(bad.bytes, bad.n), kind, places, n);
	if (!what && ++n_run % 16 == 0)
		what = judge_chunks(&bad);
	n_by_kind[kind]++;
	if (what && keep_broken("/tmp/holotrace-blocks.json", &bad)) {
		print_error("%s: %s, %s, %s at", what, trace, form, kind_names[kind]);
		for (size_t i = 0; i < n; i++)
			print_error(" %zu-%zu", places[i].from, places[i].end);
		print_error("\n");
	}
	reading_done(&r);
	free(bad.bytes);
}

static void find_events(struct subject *s)
{
	struct ht_json reader = { s->text->bytes };
	struct ht_json_value whole = ht_json_next(&reader), list = whole, item;
	if (whole.type == HT_JSON_OBJECT)
		list = ht_json_get(&whole, "traceEvents");
	s->events = calloc(N_EVENTS, sizeof *s->events);
	for (reader = ht_json_enter(&list); ht_json_element(&reader, &item);) {
		size_t from = (size_t)(item.text - s->text->bytes);
		assert_true(s->n_events < N_EVENTS);
		s->events[s->n_events++] = (struct place){ from, from + item.n };
	}
}

static void damage_blocks(
        const struct text *text, uint64_t n_events, const char *trace, const char *form)
{
	struct subject s = { .text = text, .good = read_text(text, 0, 1, false) };
	find_events(&s);
	assert_int_equal(s.good.status, HT_OK);
	assert_int_equal(s.good.n, n_events);
	assert_int_equal(s.n_events, n_events);
	for (uint64_t i = 0; i < n_mutations; i++)
		mutate(&s, trace, form);
	reading_done(&s.good);
	free(s.events);
}

static void damage_costs_its_events(void **state)
{
	(void)state;
	damage_traces(damage_blocks);
	print_message("# %" PRIu64 " mutations, %" PRIu64 " events touched\n", n_run, n_touched);
	assert_int_equal(n_broken, 0);
	for (size_t kind = 0; kind < N_KINDS; kind++)
		assert_true(n_by_kind[kind] > 0);
}

int main(void)
{
	const struct CMUnitTest test = cmocka_unit_test(damage_costs_its_events);
	return run_damage(&test, 40);
}
