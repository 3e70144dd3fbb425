/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pft.h - a trace as packets of a Perfetto trace, private to the files pft*.c.
 *
 *   rows ─► bodies   names, categories, args, arrows of each row, in the order of rows (pft_bodies.c)
 *        ─► places   the track, or the lane beside it, where each span stands (pft_places.c)
 *        ─► packets  begins, ends, instants, counters by time (pftrace.c)
 *
 * Perfetto's end closes the latest begin of a track: spans that overlap without one being inside the other are put on lanes,
 * tracks of the same name below the one of the thread or stream.
 */
#ifndef HT_WRITE_PFT_H
#define HT_WRITE_PFT_H

#include "base/intern.h"
#include "wire/message.h"
#include "wire/perfetto_fields.h"
#include "write/trace_format.h"

/* Texts that numbers stand for, one table each. */
enum ht_pft_texts {
	HT_PFT_NAMES,
	HT_PFT_CATEGORIES,
	HT_PFT_KEYS,
	HT_PFT_VALUES, /* each with a letter before it: S a string, J a JSON text */
	HT_PFT_LAYOUTS,
	HT_PFT_COUNTERS,
	HT_PFT_N_TEXTS
};

/* A row: where its body is. */
struct ht_pft_item {
	uint64_t at; /* in bodies */
	uint32_t n, layout;
};

struct ht_pft_op {
	uint64_t track;
	uint32_t item; /* of a counter: of values */
	uint32_t type; /* enum ht_pf_event_type, 0: a row that is not drawn itself */
};

struct ht_pft_value {
	bool is_f64;
	int64_t i64;
	double f64;
};

/* What the memory of a device was last. */
struct ht_pft_memory {
	uint32_t column;
	int64_t id, value;
};

struct ht_pft_arrow {
	uint64_t row, id;
};

/* A row that is added: behind those of the trace. */
struct ht_pft_extra {
	struct ht_pft_item item;
	uint64_t track;
	int64_t ts_ns;
	bool has_ts;
};

struct ht_pft {
	struct ht_trace_out *out;
	ht_ctx *ctx;
	const struct ht_trace *t;
	uint32_t sequence;
	uint64_t n_kept; /* rows of the trace that are written */
	bool failed;     /* out of memory */
	struct ht_pool pools[HT_PFT_N_TEXTS];
	struct ht_intern texts[HT_PFT_N_TEXTS];
	struct ht_message packet, event, inner, bodies, text, tracks; /* tracks: whole packets */
	struct ht_vec items;    /* struct ht_pft_item, by number */
	struct ht_vec extras;   /* struct ht_pft_extra */
	struct ht_vec arrows;   /* struct ht_pft_arrow */
	struct ht_vec values;   /* struct ht_pft_value of counters */
	struct ht_vec ops;      /* struct ht_pft_op */
	struct ht_vec times;    /* uint64_t, of ops: ns from the zero of the file */
	struct ht_vec untimed;  /* struct ht_pft_op of rows without a time */
	struct ht_vec counters; /* uint64_t: uuids of tracks of HT_PFT_COUNTERS */
	struct ht_vec memory;   /* struct ht_pft_memory */
	uint64_t main_track;    /* the one of events that name none */
	uint32_t *item_of;      /* by row, HT_NONE: not written */
	uint64_t *track_of;     /* uuid by track, 0: none */
	uint64_t *process_of;   /* the same of its process */
	uint32_t *columns;      /* by arg column: number of its key, 0: not yet known */
	uint32_t *shapes;       /* by shape: layout of rows without added args, 0: not yet known */
	char *shape_phases;
	uint16_t *documents; /* by document: its number in the file */
	int64_t last_number;
	uint32_t last_layout[HT_PF_COUNTER + 1]; /* by type of the op, 0: none yet */
	uint64_t last_time;
};

/* The number of a text, from 1. */
uint32_t ht_pft_text(struct ht_pft *p, enum ht_pft_texts which, const char *text, size_t n);
/* The same of a value of an annotation. Lists and dictionaries are texts, too: they come again and again, and taken apart,
 * element by element, they would be a third of the file. */
uint32_t ht_pft_value_text(struct ht_pft *p, char kind, const char *text, size_t n);
void ht_pft_push_op(struct ht_pft *p, int64_t ts_ns, struct ht_pft_op op);

/* ---- bodies ---- */

/* Of rows and of extras; counters and arrows that they make, too. */
enum ht_status ht_pft_bodies(struct ht_pft *p) HT_MUST_USE;
void ht_pft_add_event(struct ht_trace_out *out, const struct ht_new_event *event);
enum ht_status ht_pft_find_arrows(struct ht_pft *p) HT_MUST_USE;
/* Is the row's time known, and is its duration a field? */
bool ht_pft_is_timed(const struct ht_trace *t, uint32_t row);
bool ht_pft_has_duration(const struct ht_trace *t, uint32_t row);

/* ---- tracks ---- */

/* Name the processes and threads of rows that are written. */
enum ht_status ht_pft_name_tracks(struct ht_pft *p) HT_MUST_USE;
/* The track of an added event; tid may be NULL. */
uint64_t ht_pft_extra_track(struct ht_pft *p, int64_t pid, const int64_t *tid);
/* A process of a number that the file has, 0: none. */
uint64_t ht_pft_process(struct ht_pft *p, int64_t pid);
uint64_t ht_pft_counter_track(
        struct ht_pft *p, uint64_t process, const char *name, const char *key, int64_t id);
/* Which spans stand where; all other rows are packets of their own. */
enum ht_status ht_pft_place_rows(struct ht_pft *p) HT_MUST_USE;

#endif
