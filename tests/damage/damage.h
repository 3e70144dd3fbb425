/* SPDX-License-Identifier: Apache-2.0 */
/*
 * damage.h - texts to be damaged, and what is read of them; for the tests beside it.
 *
 * Texts are cuts of every bundled trace, and of those of HOLOTRACE_EXTRA_DATA: header, some events, tail. Each in the form it
 * is written in, with lines that end as on other systems, on one line, and with one key per line.
 */
#ifndef HT_TESTS_DAMAGE_H
#define HT_TESTS_DAMAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../test_file.h"
#include "base/hash.h"
#include "base/io.h"
#include "json/block.h"
#include "json/json_text.h"
#include "read/discover.h"
#include "store/args.h"
#include "store/import_stats.h"
#include "store/set.h"
#include "store/trace_refs.h"
#include "holotrace/own.h"
#include "store/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#define N_EVENTS       24
#define MAX_TEXT_BYTES ((size_t)1 << 30)

static ht_ctx *ctx;
static uint64_t seed, n_mutations, n_run, n_broken, n_damaged;

static uint64_t next_random(void)
{
	/* splitmix64 */
	uint64_t z = seed += 0x9E3779B97F4A7C15u;
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z ^ z >> 31;
}

static uint64_t number_from_env(const char *name, uint64_t fallback)
{
	const char *text = getenv(name);
	return text && *text ? strtoull(text, NULL, 10) : fallback;
}

/* ---- texts ---- */

struct text {
	char *bytes;
	size_t n;
};

static void put(struct text *t, const char *bytes, size_t n)
{
	memcpy(t->bytes + t->n, bytes, n);
	t->n += n;
	memset(t->bytes + t->n, 0, HT_PADDING);
}

static struct text new_text(size_t room)
{
	struct text t = { calloc(1, room + HT_PADDING), 0 };
	assert_non_null(t.bytes);
	return t;
}

/* Header, some events and tail of a whole trace. */
static struct text cut(const char *bytes, size_t n, uint64_t *ret_events)
{
	struct ht_json reader = { bytes };
	struct ht_json_value whole = ht_json_next(&reader), item, first = { 0 }, last = { 0 };
	struct ht_json_value list = whole;
	if (whole.type == HT_JSON_OBJECT)
		list = ht_json_get(&whole, "traceEvents");
	uint64_t n_all = 0, i = 0;
	assert_int_equal(list.type, HT_JSON_ARRAY);
	for (reader = ht_json_enter(&list); ht_json_element(&reader, &item);)
		n_all++;
	uint64_t from = n_all > N_EVENTS ? next_random() % (n_all - N_EVENTS) : 0;
	*ret_events = n_all < N_EVENTS ? n_all : N_EVENTS;
	for (reader = ht_json_enter(&list); ht_json_element(&reader, &item); i++) {
		if (i == from)
			first = item;
		if (i == from + *ret_events - 1)
			last = item;
	}
	struct text t = new_text(n);
	const char *end = list.text + list.n - 1;
	put(&t, bytes, (size_t)(list.text + 1 - bytes));
	put(&t, first.text, (size_t)(last.text + last.n - first.text));
	put(&t, end, (size_t)(bytes + n - end));
	return t;
}

static void new_line(struct text *out, size_t depth, bool pretty)
{
	if (!pretty)
		return;
	put(out, "\n", 1);
	for (size_t i = 0; i < depth; i++)
		put(out, "  ", 2);
}

/* The same JSON on one line, or with one key or element per line. */
static struct text lay_out(const struct text *in, bool pretty)
{
	struct text out = new_text(in->n * (pretty ? 24 : 1) + 1024);
	size_t depth = 0;
	for (const char *p = in->bytes, *end = p + in->n; p < end; p++) {
		if (strchr(" \n\r\t", *p))
			continue;
		if (*p == '"') {
			const char *start = p;
			for (p++; *p != '"'; p++)
				p += *p == '\\';
			put(&out, start, (size_t)(p + 1 - start));
			continue;
		}
		if (*p == '}' || *p == ']')
			new_line(&out, --depth, pretty);
		put(&out, p, 1);
		if (*p == '{' || *p == '[')
			new_line(&out, ++depth, pretty);
		if (*p == ',')
			new_line(&out, depth, pretty);
		if (*p == ':' && pretty)
			put(&out, " ", 1);
	}
	return out;
}

/* Each line ends with a carriage return, too. */
static struct text with_returns(const struct text *in)
{
	struct text out = new_text(in->n * 2);
	for (size_t i = 0; i < in->n; i++) {
		if (in->bytes[i] == '\n')
			put(&out, "\r", 1);
		put(&out, in->bytes + i, 1);
	}
	return out;
}

/* ---- reading ---- */

struct reading {
	enum ht_status status;
	uint32_t n;
	uint64_t *digests; /* of each event, everything that was stored */
	uint64_t lost;
	enum ht_severity worst; /* of what tells that the text is no valid JSON */
	bool harmless;          /* control bytes or stray commas were met */
	struct text dump;
};

static uint64_t hash_text(const struct ht_trace *t, uint32_t id)
{
	return id == HT_NO_STR ? 1 : ht_hash(ht_str(t, id), strlen(ht_str(t, id)));
}

static uint64_t hash_id(const struct ht_trace *t, int64_t id, uint8_t type)
{
	return type == HT_ID_STR ? hash_text(t, (uint32_t)id) : ht_hash_mix((uint64_t)id, type);
}

static void digest(const struct ht_trace *t, struct reading *r)
{
	r->n = ht_n_events(t);
	r->digests = calloc(r->n + 1, sizeof *r->digests);
	for (uint32_t row = 0; row < r->n; row++) {
		const struct ht_track *track = &t->tracks[t->track[row]];
		uint64_t h = ht_hash_mix((uint64_t)t->ts_ns[row], (uint64_t)t->dur_ns[row]);
		h = ht_hash_mix(h, hash_text(t, t->name[row]));
		h = ht_hash_mix(h, hash_text(t, t->categories[t->cat[row]].name));
		h = ht_hash_mix(h, hash_id(t, track->pid, track->pid_type));
		h = ht_hash_mix(h, hash_id(t, track->tid, track->tid_type));
		r->digests[row] = ht_hash_mix(h, (uint64_t)t->ph[row]);
	}
	for (size_t i = 0; i < t->n_arg_columns; i++) {
		const struct ht_arg_column *c = &t->arg_columns[i];
		bool text = c->type == HT_ARG_STR || c->type == HT_ARG_JSON;
		uint64_t key = ht_hash_mix(hash_text(t, c->key), c->type);
		for (uint64_t k = 0; k < c->n; k++) {
			int64_t value = c->width ? ht_arg_i64_at(t, c, k) : 0;
			r->digests[ht_arg_row(t, c, k)] += ht_hash_mix(
			        key, text ? hash_text(t, (uint32_t)value) : (uint64_t)value);
		}
	}
}

static void read_stats(const struct ht_trace *t, struct reading *r)
{
	for (size_t i = 0; i < t->more->n_stats; i++) {
		enum ht_stat_code code = (enum ht_stat_code)t->more->stats[i].code;
		enum ht_severity severity = ht_stat_info(code)->severity;
		if (code == HT_STAT_events_lost)
			r->lost = t->more->stats[i].count;
		r->worst = severity > r->worst ? severity : r->worst;
		r->harmless |= code == HT_STAT_control_bytes || code == HT_STAT_stray_comma;
	}
}

static bool to_text(void *user, const void *bytes, size_t n)
{
	struct text *t = user;
	t->bytes = realloc(t->bytes, t->n + n);
	memcpy(t->bytes + t->n, bytes, n);
	t->n += n;
	return true;
}

static struct reading read_text(
        const struct text *text, size_t chunk_bytes, int n_jobs, bool with_dump)
{
	char path[TEST_FILE_PATH];
	const char *source = path;
	const struct ht_open_own own = { .chunk_bytes = chunk_bytes };
	struct ht_open_options options = { .no_cache = true, .own = &own };
	struct reading r = { 0 };
	ht_set *set;
	int fd = test_file_open(path);
	assert_int_equal(write(fd, text->bytes, text->n), text->n);
	ht_ctx_set_jobs(ctx, n_jobs);
	r.status = ht_open(ctx, &source, 1, &options, &set);
	test_file_close(fd, path);
	if (r.status != HT_OK)
		return r;
	const struct ht_trace *trace;
	assert_int_equal(ht_set_acquire(ctx, set, 0, &trace), HT_OK);
	digest(trace, &r);
	read_stats(trace, &r);
	ht_trace_release(trace);
	struct ht_sink sink = { to_text, &r.dump };
	if (with_dump)
		assert_int_equal(ht_dump(ctx, set, &sink), HT_OK);
	ht_close(set);
	return r;
}

static void reading_done(struct reading *r)
{
	free(r->digests);
	free(r->dump.bytes);
}

/* Read it again with threads and in small chunks. */
static const char *judge_chunks(const struct text *text)
{
	struct reading whole = read_text(text, 0, 1, true);
	struct reading cut_up = read_text(text, 1 + next_random() % 300, 3, true);
	bool same = whole.status == cut_up.status && whole.dump.n == cut_up.dump.n &&
	            (!whole.dump.n || !memcmp(whole.dump.bytes, cut_up.dump.bytes, whole.dump.n));
	reading_done(&whole);
	reading_done(&cut_up);
	return same ? NULL : "threads or chunks matter";
}

/* ---- all of them ---- */

typedef void damage_form(
        const struct text *text, uint64_t n_events, const char *trace, const char *form);

/* The first broken text is kept; true for the first ten, which are to be printed. */
static bool keep_broken(const char *path, const struct text *bad)
{
	FILE *out = n_broken++ ? NULL : fopen(path, "wb");
	if (out) {
		(void)!fwrite(bad->bytes, 1, bad->n, out);
		fclose(out);
	}
	return n_broken <= 10;
}

static uint64_t n_phases(const struct text *t)
{
	uint64_t n = 0;
	for (const char *p = t->bytes; (p = strstr(p, "\"ph\"")); p++)
		n++;
	return n;
}

static void damage_trace(const char *path, damage_form *damage)
{
	struct ht_vec whole;
	uint64_t n_events;
	struct stat info;
	/* traces of NPUs may be folders of many files */
	if (!stat(path, &info) && S_ISDIR(info.st_mode))
		return;
	assert_int_equal(ht_read_all(ctx, path, MAX_TEXT_BYTES, &whole), HT_OK);
	struct text original = cut(whole.data, whole.n, &n_events);
	ht_vec_free(ctx->mem, &whole, 1);
	/* what is damaged already is for other tests; events without a phase are known by too little */
	struct reading good = read_text(&original, 0, 1, false);
	bool is_good = good.worst < HT_REPAIR && n_phases(&original) >= n_events;
	reading_done(&good);
	if (!is_good) {
		free(original.bytes);
		return;
	}
	n_damaged++;
	struct text forms[] = { original, with_returns(&original), lay_out(&original, false),
		lay_out(&original, true) };
	static const char *const names[] = { "as written", "with returns", "on one line",
		"one key per line" };
	for (size_t i = 0; i < HT_COUNT(forms); i++) {
		damage(&forms[i], n_events, path, names[i]);
		free(forms[i].bytes);
	}
}

static void damage_traces(damage_form *damage)
{
	char examples[1024], data[1024];
	const char *sources[] = { examples, data, getenv("HOLOTRACE_EXTRA_DATA") };
	struct ht_discovery found;
	snprintf(examples, sizeof examples, "%s/examples", getenv("HT_SOURCE_ROOT"));
	snprintf(data, sizeof data, "%s/tests/data", getenv("HT_SOURCE_ROOT"));
	assert_int_equal(ht_discover(ctx, sources, sources[2] ? 3 : 2, true, false, &found), HT_OK);
	for (size_t i = 0; i < found.n_found; i++)
		damage_trace(found.found[i].path, damage);
	assert_true(n_damaged >= 10);
	ht_discovery_done(&found);
}

static int run_damage(const struct CMUnitTest *test, uint64_t n_default)
{
	seed = number_from_env("HOLOTRACE_SEED", 1);
	n_mutations = number_from_env("HOLOTRACE_DAMAGE", n_default);
	if (ht_ctx_new(&ctx) != HT_OK)
		return 1;
	int failed = _cmocka_run_group_tests("damage", test, 1, NULL, NULL);
	ht_ctx_free(ctx);
	return failed;
}

#endif
