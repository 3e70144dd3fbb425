/* SPDX-License-Identifier: Apache-2.0 */
/*
 * damage_test.c - one damaged byte costs at most the event it is in, and never in silence.
 *
 * A cut of every bundled trace (damage.h), in several forms, is damaged in one place at a time: a bit flipped or a byte
 * deleted. What must hold then:
 *
 *   - the file is read
 *   - stored + events_lost is at least the number of events there were, and no event is made up
 *   - all events but one are stored as before, in order
 *   - what is no valid JSON any more fails --strict: a repair or a loss is counted
 *   - threads and chunks do not matter (every 16th)
 *
 * HOLOTRACE_DAMAGE is the number of mutations per text (default 40, `make nightly` 2000), HOLOTRACE_SEED the seed. A failure
 * prints trace, form, place and mutation, and leaves the first text in /tmp/holotrace-damage.json.
 */
#include "damage.h"

static uint64_t n_lost_events;

/* ---- the property ---- */

/* How many events of a are in b at their place, counted from both ends. */
static uint32_t n_kept(const struct reading *a, const struct reading *b)
{
	uint32_t least = a->n < b->n ? a->n : b->n, head = 0, tail = 0;
	while (head < least && a->digests[head] == b->digests[head])
		head++;
	while (tail < least - head && a->digests[a->n - 1 - tail] == b->digests[b->n - 1 - tail])
		tail++;
	return head + tail;
}

/* What is broken, or NULL. */
static const char *judge(const struct reading *good, const struct reading *bad, bool valid)
{
	if (bad->status != HT_OK)
		return "the file is refused";
	if (bad->n + bad->lost < good->n)
		return "an event is lost and not counted";
	if (bad->n + 1 < good->n)
		return "more than one event is lost";
	if (bad->n > good->n)
		return "an event is made up";
	if (bad->lost > 1)
		return "more events are counted as lost than are";
	if (n_kept(good, bad) + 1 < good->n)
		return "another event is not as before";
	if (!valid && bad->worst < HT_REPAIR && !bad->harmless)
		return "text that is no JSON passes strict";
	if (bad->n < good->n && bad->worst < HT_DATA_LOSS)
		return "a loss is no loss";
	return NULL;
}

/* The first ten are printed. */
static void report(const char *what, const char *trace, const char *form, const struct text *bad,
        size_t at, unsigned how)
{
	if (!keep_broken("/tmp/holotrace-damage.json", bad))
		return;
	size_t from = at < 60 ? 0 : at - 60, n = bad->n - from < 120 ? bad->n - from : 120;
	print_error("%s: %s, %s, byte %zu, %s %u: ...%.*s...\n", what, trace, form, at,
	        how < 8 ? "bit" : "deleted", how, (int)n, bad->bytes + from);
}

/* A place: any byte, or one that carries structure. */
static size_t pick_place(const struct text *t)
{
	size_t at = next_random() % t->n;
	if (next_random() % 2)
		return at;
	while (at < t->n - 1 && !strchr("{}[]:,\"\\", t->bytes[at]))
		at++;
	return at;
}

static void mutate(const struct text *good_text, const struct reading *good, const char *trace,
        const char *form)
{
	struct text bad = new_text(good_text->n);
	size_t at = pick_place(good_text);
	unsigned how = next_random() % 3 ? next_random() % 8 : 8;
	put(&bad, good_text->bytes, good_text->n);
	if (how < 8)
		bad.bytes[at] = (char)(bad.bytes[at] ^ 1 << how);
	else
		memmove(bad.bytes + at, bad.bytes + at + 1, bad.n - at);
	bad.n -= how == 8;
	struct reading r = read_text(&bad, 0, 1, false);
	const char *what = judge(good, &r, ht_json_valid(bad.bytes, bad.n));
	if (!what && ++n_run % 16 == 0)
		what = judge_chunks(&bad);
	n_lost_events += r.status == HT_OK ? good->n - r.n : 0;
	if (what)
		report(what, trace, form, &bad, at, how);
	reading_done(&r);
	free(bad.bytes);
}

static void damage_form_once(
        const struct text *text, uint64_t n_events, const char *trace, const char *form)
{
	struct reading good = read_text(text, 0, 1, false);
	assert_int_equal(good.status, HT_OK);
	assert_int_equal(good.n, n_events);
	for (uint64_t i = 0; i < n_mutations; i++)
		mutate(text, &good, trace, form);
	reading_done(&good);
}

static void damage_costs_its_event(void **state)
{
	(void)state;
	damage_traces(damage_form_once);
	print_message("# %" PRIu64 " mutations, %" PRIu64 " events lost\n", n_run, n_lost_events);
	assert_int_equal(n_broken, 0);
	/* the mutations do damage */
	assert_true(n_lost_events > n_run / 20);
}

int main(void)
{
	const struct CMUnitTest test = cmocka_unit_test(damage_costs_its_event);
	return run_damage(&test, 40);
}
