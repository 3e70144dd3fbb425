/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto.h - reading Perfetto traces, private to the files perfetto*.c.
 *
 *   bytes ─► packets ─► events, tracks, clocks        perfetto.c, perfetto_packet.c, perfetto_args.c
 *         events of Chrome, times by differences      perfetto_legacy.c
 *         GPU work and counters                       perfetto_gpu.c
 *         names of processes and threads              perfetto_tree.c
 *         times on one clock                          perfetto_clock.c
 *         begins and ends as spans, rows              perfetto_rows.c
 */
#ifndef HT_READ_PERFETTO_H
#define HT_READ_PERFETTO_H

#include "read/rows.h"
#include "wire/perfetto_fields.h"
#include "wire/message.h"

/* Numbers by numbers. Zero-initialise; ht_map64_done frees. */
struct ht_map64 {
	uint64_t *keys;
	uint32_t *values; /* + 1; 0: free */
	size_t cap, n;
};
void ht_map64_done(struct ht_mem *mem, struct ht_map64 *map);
/* The value of a key, HT_NONE when it has none. */
uint32_t ht_map64_find(const struct ht_map64 *map, uint64_t key);
/* False when out of memory. */
bool ht_map64_put(struct ht_mem *mem, struct ht_map64 *map, uint64_t key, uint32_t value);
void ht_map64_clear(struct ht_map64 *map);

struct ht_pf_arg {
	uint32_t column; /* UINT32_MAX: left out */
	uint32_t key;    /* string id */
	uint8_t type;
	bool is_top; /* a key of the event itself */
	uint64_t value;
};

/* A BEGIN, END, INSTANT or COUNTER, a render stage, or a row of ours that is none of these (type 0). */
struct ht_pf_record {
	uint64_t time;
	int64_t dur_ns; /* of render stages and rows of ours; -1: none */
	int64_t number; /* row of ours, -1: not one */
	uint64_t first_arg, first_flow;
	uint32_t n_args, n_flows;
	uint32_t clock; /* index into clocks, HT_NONE: the packet has no time */
	uint32_t track; /* index into tracks, HT_NONE: none */
	uint32_t name, cat, layout;
	uint32_t end; /* of a BEGIN: its END, HT_NONE: none found */
	uint8_t type;
	bool is_stage;
	char phase; /* of a row that is written as Chrome's JSON has it; 0: the type says it */
};
_Static_assert(sizeof(struct ht_pf_record) <= 96, "two for each span");

struct ht_pf_line {
	uint64_t uuid, parent;
	int64_t pid, tid;
	uint32_t pid_text, tid_text; /* string ids: names where there are no numbers */
	uint32_t name;
	uint32_t process_name;
	uint16_t document;
	bool has_pid, has_tid, has_own, is_process, is_thread, is_counter, is_incremental;
	bool is_known; /* a descriptor came */
	int64_t multiplier;
	double sum;      /* of an incremental counter */
	uint32_t writer; /* of its last event */
};

struct ht_pf_clock_ref {
	uint64_t key;  /* id; of those that belong to a sequence with it above */
	uint32_t next; /* towards the root, HT_NONE: no way */
	uint32_t first_point, n_points;
};

/* What a clock said in a snapshot. */
struct ht_pf_moment {
	uint32_t snapshot, clock;
	uint64_t time;
};

/* The same moment on a clock and on the next one on the way to the root. */
struct ht_pf_link {
	uint32_t clock;
	uint64_t time, next_time;
};

struct ht_pf_layout {
	char phase;
	uint32_t first_key, n_keys;
};

/* Kinds of texts with numbers. */
enum ht_pf_text_kind {
	HT_PF_KIND_CATEGORY,
	HT_PF_KIND_NAME,
	HT_PF_KIND_KEY,
	HT_PF_KIND_VALUE,
	HT_PF_KIND_GPU,
	HT_PF_KIND_FUNCTION,
	HT_PF_KIND_FRAME,
	HT_PF_KIND_STACK,
	HT_PF_KIND_KERNEL,
	HT_PF_KIND_LAUNCH_ARG,
	HT_PF_N_KINDS
};

/* One writer's state. */
struct ht_pf_writer {
	uint64_t id;
	bool is_valid;
	uint64_t default_clock, default_track;
	/* what its numbers stand for, until its state is cleared */
	struct ht_map64 texts[HT_PF_N_KINDS]; /* by iid: string id */
	struct ht_map64 jsons;                /* by iid of a value: 1 when its text is JSON */
	struct ht_map64 gpus;   /* by iid of a descriptor of counters: the GPU that it is of */
	struct ht_map64 clocks; /* incremental ones: index into increments */
	int64_t last_number;
	uint64_t last_layout[HT_PF_COUNTER + 1]; /* of rows of ours, by type */
	uint64_t last_time;
	bool is_unsorted; /* events are not in the order of time */
	/* of old producers: the thread whose events the sequence has, and the time of its last event */
	bool has_thread;
	int64_t pid, tid;
	uint64_t last_us;
};

struct ht_pf_increment {
	uint64_t last;
	uint64_t multiplier;
	bool is_incremental;
};

struct ht_pf {
	ht_ctx *ctx;
	struct ht_builder *builder;
	struct ht_rows rows;
	int64_t offset; /* of the packet in hand */
	int64_t base;   /* where the packets being walked begin */
	bool is_own;
	char version[64]; /* of the program that wrote it, when that is ours */
	int64_t zero_ns;  /* of ours */
	uint16_t n_documents;
	size_t first_header; /* of the file, among those of the trace */
	bool has_root;       /* times are on the clock of the world */
	struct ht_map64 writer_of, track_of, clock_of, column_of, layout_of;
	struct ht_map64 tree_names; /* of processes and threads, by pid and tid */
	struct ht_map64 started_by; /* correlation of the call that started GPU work, by event id */
	struct ht_vec writers;      /* struct ht_pf_writer */
	struct ht_vec tracks;       /* struct ht_pf_line */
	struct ht_vec clocks;       /* struct ht_pf_clock_ref */
	struct ht_vec moments;      /* struct ht_pf_moment, by snapshot */
	struct ht_vec increments;   /* struct ht_pf_increment */
	struct ht_vec records;      /* struct ht_pf_record */
	struct ht_vec args;         /* struct ht_pf_arg */
	struct ht_vec flows;        /* uint64_t */
	struct ht_vec layouts;      /* struct ht_pf_layout */
	struct ht_vec keys;         /* uint32_t: enum ht_field, or HT_FIELD_COUNT + string id */
	struct ht_vec text;         /* scratch */
	struct ht_vec links;        /* struct ht_pf_link, by clock and time */
	uint32_t n_snapshots;
	uint64_t n_inflated, n_file;
	uint64_t n_repeated; /* bytes of texts with numbers that are parts of others */
	bool failed;         /* out of memory */
};

void ht_pf_count(struct ht_pf *pf, enum ht_stat_code code);

/* The fields of a packet that matter, whatever their order. */
struct ht_pf_head {
	uint64_t time, clock, sequence, flags, dropped;
	bool has_time, has_clock, is_cleared, has_row;
	int64_t row;     /* difference */
	uint64_t layout; /* 0: not said */
	struct ht_wire_field interned, defaults;
};
/* A record in hand; its time; done. */
struct ht_pf_record ht_pf_record_begin(struct ht_pf *pf);
void ht_pf_record_time(struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_pf_head *packet,
        struct ht_pf_record *record);
void ht_pf_record_end(struct ht_pf *pf, struct ht_pf_record *record);

/* ---- packets ---- */

/* One packet; is_inner: it was compressed. */
enum ht_status ht_pf_packet(
        struct ht_pf *pf, const unsigned char *bytes, size_t n, bool is_inner) HT_MUST_USE;
/* The packets of a list of them; returns how many bytes were whole packets, and whether what follows is damaged. */
enum ht_status ht_pf_packets(struct ht_pf *pf, const unsigned char *bytes, size_t n, bool is_inner,
        size_t *ret_used) HT_MUST_USE;

/* Those of a compressed packet. */
enum ht_status ht_pf_inflate(
        struct ht_pf *pf, const unsigned char *bytes, size_t n, bool is_zstd) HT_MUST_USE;

/* The text is what the number stands for, until the state of the writer is cleared. */
void ht_pf_text_put(struct ht_pf *pf, struct ht_pf_writer *w, enum ht_pf_text_kind kind,
        uint64_t iid, uint32_t text);
uint32_t ht_pf_text(
        struct ht_pf *pf, struct ht_pf_writer *w, enum ht_pf_text_kind kind, uint64_t iid);
/* The same as a part of a larger text, whose other parts have n_repeated bytes: a few bytes of a file may stand for much. The number where that
 * would be more than a text, or the texts of the file, may have. */
const char *ht_pf_text_in(struct ht_pf *pf, struct ht_pf_writer *w, enum ht_pf_text_kind kind,
        uint64_t iid, uint64_t *n_repeated, size_t *ret_n);
/* The track of a uuid, added when it is new; HT_NONE when out of memory. */
uint32_t ht_pf_track(struct ht_pf *pf, uint64_t uuid);
struct ht_pf_line *ht_pf_line(struct ht_pf *pf, uint32_t track);

/* The track of a thread of which no descriptor is needed. */
uint32_t ht_pf_thread_track(struct ht_pf *pf, int64_t pid, int64_t tid);

/* ---- GPU ---- */

void ht_pf_gpu_stage(struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_pf_head *packet,
        const struct ht_wire_field *stage);
void ht_pf_gpu_counters(struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_pf_head *packet,
        const struct ht_wire_field *counters);
/* What has a number: a kernel, and what GPU counters are. */
void ht_pf_gpu_kernel(struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_wire_field *kernel);
void ht_pf_gpu_descriptor(
        struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_wire_field *descriptor);
/* Which GPU work the event in hand started, from its first argument on: both get one correlation. */
void ht_pf_gpu_started(
        struct ht_pf *pf, uint64_t first_arg, const struct ht_wire_field *correlation);

/* ---- processes of the machine ---- */

void ht_pf_tree(struct ht_pf *pf, const struct ht_wire_field *tree);
/* Names of tracks that nobody else named. */
void ht_pf_tree_apply(struct ht_pf *pf);

/* ---- what old producers write, and what is rare ---- */

#define HT_PF_MAX_EXTRA 16

/* Fields of an event beside those that all have. */
struct ht_pf_more {
	bool has_delta, has_absolute, has_legacy, has_unread;
	int64_t us;
	struct ht_wire_field legacy, started;
	uint64_t tracks[2][HT_PF_MAX_EXTRA]; /* of further counters: integers, and doubles */
	uint64_t values[2][HT_PF_MAX_EXTRA];
	uint32_t n_tracks[2], n_values[2];
};
void ht_pf_more_take(struct ht_pf *pf, struct ht_pf_writer *w, struct ht_pf_more *more,
        const struct ht_wire_field *field);
/* When all fields are known: time, phase, id, name, track. False: it is no event that can be read. */
bool ht_pf_more_apply(struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_pf_more *more,
        struct ht_pf_record *record);
/* Further counters of the time of the record. */
void ht_pf_more_counters(
        struct ht_pf *pf, const struct ht_pf_more *more, const struct ht_pf_record *record);
/* The thread of a sequence, and its process. */
void ht_pf_legacy_thread(
        struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_wire_field *thread);
void ht_pf_legacy_process(struct ht_pf *pf, const struct ht_wire_field *process);
/* Frames and call stacks that have numbers. */
void ht_pf_frame(struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_wire_field *frame);
void ht_pf_stack(struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_wire_field *stack);
/* A call stack that is in the event. */
void ht_pf_inline_stack(struct ht_pf *pf, const struct ht_wire_field *stack);
/* A counter's value, as an arg that its row has. */
void ht_pf_counter_value(struct ht_pf *pf, uint32_t track, bool is_f64, uint64_t value);

/* Add the arg that an annotation is. */
void ht_pf_annotation(
        struct ht_pf *pf, struct ht_pf_writer *w, const unsigned char *bytes, size_t n);
void ht_pf_put_arg(struct ht_pf *pf, uint32_t key, enum ht_arg_type type, uint64_t value);

/* Where a header of ours stood. */
struct ht_pf_header {
	bool is_json; /* the value is JSON text, else any text */
	uint16_t document;
	uint8_t after_events;
};
void ht_pf_header(struct ht_pf *pf, const struct ht_wire_field *key,
        const struct ht_wire_field *value, struct ht_pf_header place);
/* When all packets are read: a document of the file as one of the trace; the last one for those that the file has not. */
uint16_t ht_pf_document(const struct ht_pf *pf, uint16_t document);
void ht_pf_place_headers(struct ht_pf *pf);

/* ---- clocks ---- */

uint32_t ht_pf_clock(struct ht_pf *pf, uint64_t sequence, uint64_t id);
void ht_pf_snapshot(struct ht_pf *pf, struct ht_pf_writer *w, const unsigned char *bytes, size_t n);
/* Find the ways to the clock of the world, or that of the machine where there is none. */
enum ht_status ht_pf_join_clocks(struct ht_pf *pf) HT_MUST_USE;
/* A time on that clock; as it is when there is no way. */
int64_t ht_pf_time(const struct ht_pf *pf, uint32_t clock, uint64_t time);

/* ---- rows ---- */

enum ht_status ht_pf_make_rows(struct ht_pf *pf) HT_MUST_USE;

#endif
