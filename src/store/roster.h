/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roster.h - what is known of ranks without their columns: small, plain data, so it can travel with results where the
 * traces cannot. One clock for all.
 *
 * Every rank gets an offset that turns its own time into the set's time:
 *     set time = trace time + offset_ns
 * and set time 0 is the earliest event of all ranks. With baseTimeNanoseconds in every file, or absolute
 * times (before 2024), all ranks are on one clock. When clocks cannot be compared each trace starts at
 * its own first event, and `aligned` is false.
 */
#ifndef HT_STORE_ROSTER_H
#define HT_STORE_ROSTER_H

#include "base/status.h"
#include "store/event.h"
#include "store/job.h"

struct ht_stat;
struct ht_step;
struct ht_trace;

struct ht_rank {
	int64_t number;
	int64_t given;     /* the number that the user says, HT_NO_I64 when he does not */
	int64_t claimed;   /* that the file says, likewise */
	int64_t named;     /* that its name says, likewise */
	const char *path;  /* as given by the user */
	int64_t offset_ns; /* add to a trace's ts to get set time */
	uint64_t n_events, json_bytes;
	int64_t base_ns;               /* HT_NO_I64: the file has none */
	int64_t min_ts_ns, max_end_ns; /* HT_NO_I64: no event has a time */
	const struct ht_step *steps;
	size_t n_steps;
	const struct ht_stat *stats;
	size_t n_stats;
	struct ht_job job;
};

/* The number that it wants: given, else in the file, else in its name; HT_NO_I64 when nobody says. */
static inline int64_t ht_rank_claim(const struct ht_rank *rank)
{
	if (rank->given != HT_NO_I64)
		return rank->given;
	return rank->claimed != HT_NO_I64 ? rank->claimed : rank->named;
}

struct ht_bytes_out;
struct ht_bytes_in;

struct ht_roster {
	struct ht_rank *ranks; /* ascending by number */
	size_t n;
	bool aligned;
	int64_t zero_unix_ns; /* unix time of set time 0, HT_NO_I64 when unknown */
	const char **notes;   /* skipped files, rank collisions: one line each */
	size_t n_notes;
	uint64_t n_repeated; /* other names of the same files, left out */
	const char **
	        missing; /* what could not be read and is done without: "name: why", one line each */
	size_t n_missing;
	const char *missing_note; /* the same as one sentence, NULL: nothing is missing */
	const char *clock_note;   /* NULL: the ranks have one clock */
	const char *loss_note;    /* NULL: nothing was lost */
	const char *job_note;     /* NULL: nothing speaks against one job */
	bool has_two_steps;       /* two different numbers of steps that the profiler marked */
	int64_t last_step;        /* the largest number of a step, HT_NO_I64: there is none */
};

/* What is known of a trace that is read from there; lists are copied to the arena. HT_NOMEM without a text. */
enum ht_status ht_rank_describe(const struct ht_trace *trace, const char *path,
        struct ht_arena *arena, struct ht_rank *ret_rank) HT_MUST_USE;
/* The same without the path as bytes that tell when they are damaged, and back. Failure is in the bytes; false when
 * they are damaged, or memory ran out. */
void ht_rank_pack(const struct ht_rank *rank, struct ht_bytes_out *out);
bool ht_rank_unpack(const char *bytes, size_t n, const char *path, struct ht_arena *arena,
        struct ht_rank *ret_rank);
/* The same of another set; lists are copied. False when out of memory. */
bool ht_rank_copy(struct ht_arena *arena, const struct ht_rank *rank, struct ht_rank *ret_rank);
/* Choose the clock and say what was lost; when all ranks are in. Texts go to the arena. HT_NOMEM without a
 * text. */
enum ht_status ht_roster_complete(struct ht_roster *roster, struct ht_arena *arena) HT_MUST_USE;
/* Index of a rank by its number, SIZE_MAX when there is none. */
size_t ht_roster_find(const struct ht_roster *roster, int64_t number);
/* What is known of the steps of all ranks: has_two_steps, last_step. */
void ht_roster_find_steps(struct ht_roster *roster);

struct ht_sealed_kind;
/* The ranks and lines of a roster as bytes; what ht_roster_complete finds out is left out. */
void ht_roster_put(const struct ht_roster *roster, struct ht_bytes_out *out);
/* False when the bytes are none, or memory ran out. Texts and lists go to the arena. */
bool ht_roster_get(struct ht_bytes_in *in, struct ht_arena *arena, struct ht_roster *ret_roster);
/* What descriptions of ranks stand in: frame | roster | facts per rank, or none. */
extern const struct ht_sealed_kind ht_roster_kind;
/* A description without facts. */
enum ht_status ht_roster_write(
        ht_ctx *ctx, const struct ht_roster *roster, const struct ht_sink *sink) HT_MUST_USE;

#endif
