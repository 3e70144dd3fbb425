/*
 * json.h - traces as Chrome JSON: what was read is written back, key by key.
 *
 *   {"schemaVersion":1, ...          header keys of the document
 *   "traceEvents":[
 *   {"ph":"X","cat":"cpu_op",...},   one event per line, keys in their own order
 *   ...
 *   ],"traceName":"..."}             header keys that came after
 *
 * Times are microseconds with three decimals; ids, texts and nested values come out as they went in;
 * doubles as the shortest text that reads back the same. Several documents follow each other.
 *
 * Extras hook into writing: drop rows, add args to rows, add events. For example an overlay:
 *
 *   static void mark(void *user, size_t i_trace, uint32_t row, struct ht_args_out *args)
 *   {
 *           if (((const bool *)user)[row])
 *                   ht_args_i64(args, "critical", 1);
 *   }
 *   struct ht_write_extras extras = { .user = on_path, .row_args = mark };
 */
#ifndef HT_WRITE_JSON_H
#define HT_WRITE_JSON_H

#include "base/emit.h"
#include "model/clocks/clocks.h"
#include "write/filter.h"
#include "write/pids.h"

/* Where args of one event are added. */
struct ht_args_out;
/* Where events are added. */
struct ht_json_out;

/* Append a member to the args; the key must not be there yet. */
void ht_args_i64(struct ht_args_out *args, const char *key, int64_t value);
void ht_args_f64(struct ht_args_out *args, const char *key, double value);
void ht_args_str(struct ht_args_out *args, const char *key, const char *value);
/* Any value, as valid JSON text. */
void ht_args_json(struct ht_args_out *args, const char *key, const char *json);

/* Zero-initialise; every member may be NULL. i_trace is the position in the set. */
struct ht_write_extras {
	void *user;
	/* False leaves the row out. Asked after the filters; metadata is not asked about. */
	bool (*keep_row)(void *user, size_t i_trace, uint32_t row);
	/* Add args to a row that is being written. */
	void (*row_args)(void *user, size_t i_trace, uint32_t row, struct ht_args_out *args);
	/* Add events after those of the trace, with ht_write_event. */
	enum ht_status (*events)(void *user, size_t i_trace, struct ht_json_out *out);
};

/* An added event. Zero-initialise, then set what it has. */
struct ht_new_event {
	char ph;
	const char *name, *cat; /* NULL: none */
	const uint32_t *row;    /* take pid and tid of this row; NULL: use the next two */
	const int64_t *pid, *tid;
	int64_t ts_ns;         /* the trace's own clock */
	const int64_t *dur_ns; /* NULL: none */
	const int64_t *id; /* as the trace would write it: made distinct when ranks are merged */
	const char *bp;    /* "e" for flow ends that bind to the enclosing span */
	void (*args)(void *user, struct ht_args_out *args); /* NULL: none */
	void *args_user;
};
void ht_write_event(struct ht_json_out *out, const struct ht_new_event *event);

/* Writing one trace. */
struct ht_json_out {
	ht_ctx *ctx;
	struct ht_emit *emit;
	const struct ht_trace *trace;
	size_t i_trace;
	struct ht_time_move move;   /* of every time */
	const struct ht_pids *pids; /* NULL: as they are; else several traces share a file */
	const struct ht_row_filter *filter;
	const struct ht_write_extras *extras; /* NULL: none */
	const char *made_from;                /* a file to be named at the start; NULL: none */
	uint64_t n_events;                    /* of the list being written */
	struct ht_key_text *keys;             /* by arg column; set by ht_json_out_init */
	struct ht_arena arena;
	struct ht_row_walk *walk;
	uint32_t next_row;
	uint32_t process_name, process_labels, process_sort_index; /* string ids */
};

/* Prepare what is set up to extras; the caller ends with ht_json_out_done in any case. */
enum ht_status ht_json_out_init(struct ht_json_out *out) HT_MUST_USE;
void ht_json_out_done(struct ht_json_out *out);

/* The parts of a file, in this order. */
void ht_write_open(struct ht_json_out *out, uint16_t document, const char *more_header);
/* Events of one document, or of all when every_document. Call for ascending documents. */
enum ht_status ht_write_rows(
        struct ht_json_out *out, uint16_t document, bool every_document) HT_MUST_USE;
/* Events of the extras, and names of processes that had none when traces are merged. */
enum ht_status ht_write_more(struct ht_json_out *out) HT_MUST_USE;
void ht_write_close(struct ht_json_out *out, uint16_t document);

#endif
