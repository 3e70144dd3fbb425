/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.h - contexts, sets of traces, tables, analyses, SQL and writing; include holotrace.h, which
 * has the contract.
 */
#ifndef HOLOTRACE_CORE_H
#define HOLOTRACE_CORE_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HT_API __attribute__((visibility("default")))
#else
#define HT_API
#endif

#define HT_VERSION_MAJOR 0
#define HT_VERSION_MINOR 1
#define HT_VERSION_PATCH 0

typedef struct ht_ctx ht_ctx;     /* errors, limits, threads, progress */
typedef struct ht_set ht_set;     /* one trace per rank, aligned and immutable */
typedef struct ht_table ht_table; /* a result: typed columns with names, units, sentences */

/* ---- context -------------------------------------------------------------------------------- */

/* The last error of a context. Strings are owned by the context and live until its next call. */
struct ht_error {
	enum ht_status status;
	const char *message; /* short fact, then detail; no newline */
	const char *file;    /* NULL when no file is involved */
	int64_t offset;      /* byte offset in the decompressed file, -1 when unknown */
	const char *hint;    /* what to do next, NULL when nothing helps */
};

/* Called from the thread that called the library, at most some 20 times a second. total is 0 when
 * unknown. Return false to cancel: the call then answers HT_CANCELLED. */
typedef bool (*ht_progress_fn)(void *user, const char *what, uint64_t done, uint64_t total);

HT_API enum ht_status ht_ctx_new(ht_ctx **ret_ctx) HT_MUST_USE;

/* How a context is made. */
struct ht_ctx_options {
	size_t struct_size; /* sizeof, see the top */
	/* What sets, tables and all work of the context are allocated with; both, or NULL for the
	 * system's memory. Blocks are aligned as malloc aligns them; release is told their size.
	 * Called from any thread, until the context and all that was made with it are gone. */
	void *(*allocate)(void *user, size_t n_bytes);
	void (*release)(void *user, void *block, size_t n_bytes);
	void *user;
};
/* HT_USAGE, without a text, when one of the two is missing. */
HT_API enum ht_status ht_ctx_new_with(
        const struct ht_ctx_options *options, ht_ctx **ret_ctx) HT_MUST_USE;
HT_API void ht_ctx_free(ht_ctx *ctx);
HT_API const struct ht_error *ht_error(const ht_ctx *ctx);
HT_API void ht_ctx_set_progress(ht_ctx *ctx, ht_progress_fn fn, void *user);
/* Threads to use; 0 means one per online CPU. Results do not depend on it. */
HT_API void ht_ctx_set_jobs(ht_ctx *ctx, int n_jobs);
/* Upper bound on what this context may allocate; 0 means none. Beyond it calls answer HT_LIMIT. */
HT_API void ht_ctx_set_memory_limit(ht_ctx *ctx, uint64_t bytes);
/* Confine what this context reads: a path that begins with one of the folders is opened below that
 * folder and nowhere else, whatever links others put there or swap in meanwhile; one that leads out
 * is HT_IO. Other paths are opened as they stand. The texts are copied; no folders lift it. */
HT_API enum ht_status ht_ctx_confine(
        ht_ctx *ctx, const char *const *folders, size_t n_folders) HT_MUST_USE;
/* Bytes allocated through this context and its sets and tables: now, and at most so far. */
HT_API void ht_ctx_memory(const ht_ctx *ctx, uint64_t *ret_now, uint64_t *ret_peak);
HT_API const char *ht_version(void);
/* What this build of the library uses: "gzip by ISA-L 2.30.0, zstd 1.5.4". */
HT_API const char *ht_build_info(void);
HT_API const char *ht_status_name(enum ht_status status);

/* ---- opening traces ------------------------------------------------------------------------- */

/* How to read. */
struct ht_open_options {
	size_t struct_size;       /* sizeof, see the top */
	bool recursive;           /* descend into directories */
	bool strict;              /* what is not stored as written is an error */
	bool no_cache;            /* neither read nor write the cache */
	const char *cache_dir;    /* NULL: no cache either; the front end decides the place */
	uint64_t cache_max_bytes; /* size cap of the cache directory, 0: 8 GiB */
	const char *kernel_rules; /* file with extra kernel-class rules, NULL: built in only */
	bool verify_cache;        /* believe the cache only after hashing the whole trace file */
	/* what the files are, NULL: told by their first bytes. "kineto" (any JSON list of events),
	 * "memory-timeline" */
	const char *reader;
	bool prefer_db; /* of a rank that is there as text and as database, read the database */
	bool partial;   /* do without files that cannot be read; every result names them */
	/* What joins the traces from other files, a source per line: a file, a folder or
	 * "rank=path". What each is, is told by its first bytes. It enriches results, each with its
	 * method, and never changes totals. NULL: nothing */
	const char *attach;
	/* also what lies beside the trace under a name that profilers give it */
	bool attach_beside;
	const struct ht_open_own *own; /* of the programs that come with the library; NULL */
};

/* Open traces as one set. A source is a file, a directory, a glob, "rank=path", "-" for standard
 * input, or a text file that lists such sources line by line. The caller closes the set. */
HT_API enum ht_status ht_open(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        const struct ht_open_options *options, ht_set **ret_set) HT_MUST_USE;
/* The same for one source, as it is: no options, no cache. */
HT_API enum ht_status ht_open_path(ht_ctx *ctx, const char *path, ht_set **ret_set) HT_MUST_USE;
HT_API void ht_close(ht_set *set);

/* The i-th rank of a set. */
struct ht_member {
	ht_set *set;
	size_t i;
};

/* Ranks of other sets as a set of its own, numbered and aligned as if their files had been opened
 * together. The traces are shared; the other sets may be closed afterwards. The caller closes the
 * set. */
HT_API enum ht_status ht_set_join(ht_ctx *ctx, const struct ht_member *members, size_t n_members,
        ht_set **ret_set) HT_MUST_USE;
HT_API size_t ht_set_n_ranks(const ht_set *set);
/* The i-th trace of the set, in ascending rank. Strings are owned by the set. */
HT_API int64_t ht_set_rank(const ht_set *set, size_t i);
HT_API const char *ht_set_path(const ht_set *set, size_t i);
HT_API uint64_t ht_set_n_events(const ht_set *set, size_t i);
/* True when path, links followed, is a file that the set was read from: not one to write to. */
HT_API bool ht_set_reads(const ht_set *set, const char *path);
/* One line when data was lost while reading ("12 events lost ..."), else NULL. */
HT_API const char *ht_set_loss_note(const ht_set *set);
/* What else opening has to say, a line each: files that were skipped, ranks that two files
 * claim. */
HT_API size_t ht_set_n_notes(const ht_set *set);
HT_API const char *ht_set_note(const ht_set *set, size_t i);
/* A text that determines the whole store (events, args, links), the same for any thread count,
 * chunking, compression and cache state. For tests and bug reports. */
struct ht_sink;
HT_API enum ht_status ht_dump(
        ht_ctx *ctx, const ht_set *set, const struct ht_sink *sink) HT_MUST_USE;

/* What there is to open in some places, without reading it: the runs of a log directory, their
 * workers and the recordings of each. */
typedef struct ht_catalog ht_catalog;

struct ht_recording {
	const char *path;
	int64_t rank;        /* as given with rank=path, else -1 */
	const char *dir;     /* of the run, as the path has it */
	const char *worker;  /* process that was recorded, by the name of the file or directory */
	const char *stamp;   /* of time in the name, "" when there is none */
	int64_t span;        /* recording of that worker: 1, 2, ...; 0: the name does not say */
	bool is_npu;         /* of Ascend's profiler */
	bool is_known;       /* the name has the form that profilers give it */
	const char *why_not; /* NULL for a trace; why another file of such a name is none */
	uint64_t size_bytes; /* as stored; of a directory, of the files in it that are read */
	int64_t mtime_ns;    /* when it was written last, since 1970 */
	uint64_t file_id;    /* another one when a new file has taken the place of the old */
	bool is_history;     /* no trace but a store of ht_history */
};

/* Look at sources as in ht_open, at any depth, while others may write there: what cannot be looked
 * at is passed over, and that nothing is there is an answer. */
HT_API enum ht_status ht_catalog_find(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        ht_catalog **ret_catalog) HT_MUST_USE;
HT_API void ht_catalog_free(ht_catalog *catalog);
HT_API size_t ht_catalog_n(const ht_catalog *catalog);
/* In the order of ht_open; what is no trace comes last. NULL beyond the end. */
HT_API const struct ht_recording *ht_catalog_at(const ht_catalog *catalog, size_t i);

/* ---- tables --------------------------------------------------------------------------------- */

enum ht_type {
	HT_I64,          /* int64 */
	HT_U64,          /* uint64, for ids beyond int64 */
	HT_F64,          /* double */
	HT_STR,          /* UTF-8 text */
	HT_BOOL,         /* int64 0 or 1 */
	HT_TIME,         /* int64 ns, an instant */
	HT_DURATION,     /* int64 ns */
	HT_DURATION_F64, /* double ns: means and deviations */
	HT_BYTES,        /* int64 bytes */
	HT_RATIO,        /* double, 0 to 1; text shows percent */
	HT_EVENT,        /* int64, an event: ht_event_id of rank and row; written as rank:row */
};

/* One event of a set, the same in every table, on the page and in the cache. Ranks from 0 to 2^31 -
 * 1. */
static inline int64_t ht_event_id(int64_t rank, uint32_t row)
{
	return (int64_t)((uint64_t)rank << 32 | row);
}
static inline int64_t ht_event_rank(int64_t id)
{
	return id >> 32;
}
static inline uint32_t ht_event_row(int64_t id)
{
	return (uint32_t)id;
}

enum ht_role {
	HT_KEY,     /* identifies the row */
	HT_MEASURE, /* a computed value */
	HT_DETAIL,  /* left out of narrow text output first */
};

/* One column's meaning. Strings are static or owned by the table. */
struct ht_column {
	const char *name; /* lower snake case, unit as suffix: dur_ns */
	enum ht_type type;
	enum ht_role role;
	const char *sentence; /* what the number is, and of what */
	const char *unit;     /* NULL: derived from the type (ns, bytes, ratio) or none */
};

/* Destination of bytes. write returns false to stop, which surfaces as HT_IO. */
struct ht_sink {
	bool (*write)(void *user, const void *bytes, size_t n);
	void *user;
};

/* Affects "text" only unless said otherwise. */
struct ht_render_options {
	size_t struct_size; /* sizeof, see the top */
	bool color;         /* ANSI colour */
	bool bars;          /* draw share bars, for terminals */
	bool wide;          /* do not shorten names, do not drop columns */
	int width;          /* columns available, 0: 100 */
	bool no_title;      /* leave out title and method line (also md, html) */
	bool safe_csv;      /* csv: an apostrophe before texts that a spreadsheet would compute */
};

HT_API void ht_table_free(ht_table *table);
HT_API const char *ht_table_title(const ht_table *table);
HT_API size_t ht_table_n_rows(const ht_table *table);
HT_API size_t ht_table_n_columns(const ht_table *table);
HT_API const struct ht_column *ht_table_column(const ht_table *table, size_t column);
/* What every front end shows above a column: its name, without the unit that its cells have ("dur"
 * for dur_ns), the two sides of a comparison in the words of texts ("baseline_count" for
 * control_count). Queries take it, too, where it is of one column alone. NULL beyond the end. */
HT_API const char *ht_table_column_label(const ht_table *table, size_t column);
/* SIZE_MAX when there is none of that name. */
HT_API size_t ht_table_find_column(const ht_table *table, const char *name);
/* Cells. A cell of the wrong type or out of range reads as 0 or ""; strings live with the table. */
HT_API bool ht_table_is_null(const ht_table *table, size_t row, size_t column);
HT_API int64_t ht_table_i64(const ht_table *table, size_t row, size_t column);
HT_API uint64_t ht_table_u64(const ht_table *table, size_t row, size_t column);
HT_API double ht_table_f64(const ht_table *table, size_t row, size_t column);
HT_API const char *ht_table_str(const ht_table *table, size_t row, size_t column);

/* A walk over the rows, with cells by the names of their columns:
 *
 *     struct ht_row row = ht_table_rows(table);
 *     while (ht_row_next(&row))
 *             printf("%s %lld\n", ht_row_str(&row, "name"), (long long)ht_row_i64(&row, "sum_ns"));
 */
struct ht_row {
	const ht_table *table;
	size_t i; /* of the row in hand; before the first: SIZE_MAX */
};
static inline struct ht_row ht_table_rows(const ht_table *table)
{
	struct ht_row row = { table, SIZE_MAX };
	return row;
}
static inline bool ht_row_next(struct ht_row *row)
{
	return ++row->i < ht_table_n_rows(row->table);
}
static inline bool ht_row_is_null(const struct ht_row *row, const char *column)
{
	return ht_table_is_null(row->table, row->i, ht_table_find_column(row->table, column));
}
static inline int64_t ht_row_i64(const struct ht_row *row, const char *column)
{
	return ht_table_i64(row->table, row->i, ht_table_find_column(row->table, column));
}
static inline double ht_row_f64(const struct ht_row *row, const char *column)
{
	return ht_table_f64(row->table, row->i, ht_table_find_column(row->table, column));
}
static inline const char *ht_row_str(const struct ht_row *row, const char *column)
{
	return ht_table_str(row->table, row->i, ht_table_find_column(row->table, column));
}

HT_API size_t ht_table_n_notes(const ht_table *table);
HT_API const char *ht_table_note(const ht_table *table, size_t i);

/* A parameter's value as text, as on a command line. */
struct ht_arg {
	const char *name, *value;
};

/* How much a note matters. */
enum ht_note_severity {
	HT_NOTE_INFO,    /* what the rows say together, or how they were made */
	HT_NOTE_WARNING, /* part of the answer is missing, or not to be relied on */
};

/* A value that a note is made of: i64 for whole numbers, times and bytes, f64 for the other
 * numbers, str for texts. */
struct ht_note_value {
	const char *name;
	enum ht_type type;
	int64_t i64;
	double f64;
	const char *str;
};

/* A note as data; its sentence is made from the rest of it. Strings live with the table. */
struct ht_note {
	enum ht_note_severity severity;
	const char *kind;  /* "note" for a plain sentence */
	const char *state; /* "found", "none", "unknown"; NULL: the note concludes nothing */
	const char *text;  /* the sentence alone */
	const char *line;  /* as shown: "warning: " before it, what to run next behind it */
	const char *next;  /* verb that shows more, NULL: none */
	const struct ht_arg *next_args;
	size_t n_next_args;
	const struct ht_note_value *values; /* see ht_note_value */
	size_t n_values;
};

/* The same note as data; NULL beyond the end. */
HT_API const struct ht_note *ht_table_note_at(const ht_table *table, size_t i);
/* The i-th value of a note; NULL beyond the end. Elements of lists may grow in later versions, so
 * that a program that was compiled earlier would step over the list in strides that are too short:
 * ask for each. */
HT_API const struct ht_note_value *ht_note_value(const struct ht_note *note, size_t i);
/* The one-line method, "" when there is none; rows that top removed; the share column to draw as
 * bars, SIZE_MAX when there is none. */
HT_API const char *ht_table_method(const ht_table *table);
HT_API size_t ht_table_n_hidden(const ht_table *table);
HT_API size_t ht_table_bar(const ht_table *table);
/* Whether the table is the answer of a check that failed, whatever of it is shown. */
HT_API bool ht_table_check_failed(const ht_table *table);
/* "int64", "duration" ...; "key" ...; the column's unit or that of its type, NULL for none. */
HT_API const char *ht_type_name(enum ht_type type);
HT_API const char *ht_role_name(enum ht_role role);
HT_API const char *ht_column_unit(const struct ht_column *column);

/* Whole columns without a copy, alive with the table: n_rows values of int64_t, uint64_t or double,
 * or of uint32_t ids of texts for HT_STR. NULL for a column out of range or a table without
 * rows. */
HT_API const void *ht_table_cells(const ht_table *table, size_t column);
/* One byte per row, 0 where the cell is null; NULL when none is. */
HT_API const uint8_t *ht_table_valid(const ht_table *table, size_t column);
/* The texts of all string columns, each once, by id. */
HT_API size_t ht_table_n_texts(const ht_table *table);
HT_API const char *ht_table_text(const ht_table *table, uint32_t id);

/* What to show of a table; all NULL or 0 means everything in the analysis's own order. */
struct ht_view {
	size_t struct_size;  /* sizeof, see the top */
	const char *columns; /* "a,b,c" */
	const char *where;   /* "dur_ns > 1ms and name ~ nccl" */
	const char *sort;    /* "-sum_ns,name"; minus is descending */
	uint64_t top;        /* first N rows after sorting, 0: all */
	uint64_t offset;     /* leave out so many rows before those */
};

/* A view of a finished table as a table of its own; the caller frees it. */
HT_API enum ht_status ht_table_view(ht_ctx *ctx, const ht_table *table, const struct ht_view *view,
        ht_table **ret_table) HT_MUST_USE;

/* A way to write a table; everything static. */
struct ht_format {
	const char *name, *ending; /* the name, and the ending of its files with the dot */
	const char *type;          /* the MIME type, as in Content-Type */
	bool is_binary;            /* bytes for programs; a terminal cannot show them */
	bool is_stream; /* what is written of the first rows can be read before the last are */
	bool has_notes; /* title, notes and warnings are part of what is written */
};
HT_API size_t ht_n_formats(void);
/* NULL beyond the last. */
HT_API const struct ht_format *ht_format_at(size_t i);
/* NULL when there is none of that name. */
HT_API const struct ht_format *ht_format_find(const char *name);

/* Write the table in one of them, by its name. */
HT_API enum ht_status ht_render(ht_ctx *ctx, const ht_table *table, const char *format,
        const struct ht_render_options *options, const struct ht_sink *sink) HT_MUST_USE;
/* A table as bytes, for another process or another day, and back: the caller frees it. Read by the
 * version that wrote it; HT_FORMAT when they are something else or damaged. What was asked is not
 * among them: JSON of a table that was loaded has neither parameters nor inputs. */
HT_API enum ht_status ht_table_save(
        ht_ctx *ctx, const ht_table *table, const struct ht_sink *sink) HT_MUST_USE;
HT_API enum ht_status ht_table_load(
        ht_ctx *ctx, const void *bytes, size_t n, ht_table **ret_table) HT_MUST_USE;
/* Arrow C data interface, https://arrow.apache.org/docs/format/CDataInterface.html. The structs are
 * the standard's own; the includer may have them already. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4
struct ArrowSchema {
	const char *format, *name, *metadata;
	int64_t flags, n_children;
	struct ArrowSchema **children, *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};
struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children, *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};
#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};
#endif

/* Export as a stream of one struct batch. Numeric columns are not copied: the stream keeps a
 * reference on the table, which ht_table_free by the caller does not end. */
HT_API enum ht_status ht_table_arrow(
        ht_ctx *ctx, ht_table *table, struct ArrowArrayStream *ret_stream) HT_MUST_USE;

/* ---- analyses ------------------------------------------------------------------------------- */

struct ht_param {
	const char *name; /* as in --name */
	enum ht_type type;
	const char *default_value; /* text, NULL: none */
	const char *help;
	const char *choices; /* "a|b|c" or NULL */
};

/* The columns of one view of an analysis. */
struct ht_schema {
	const char *name; /* value of the parameter that chooses it; "" when there is one only */
	const struct ht_column *columns; /* see ht_schema_column */
	size_t n_columns;
};

/* A view whose rows are drawn over time: curves of a value, or spans. */
struct ht_over_time {
	const char *view; /* value of the parameter that chooses the view */
	/* "time,key,key,value"; of spans "start,duration,class,name,row" */
	const char *columns;
	size_t n_keys; /* columns behind the time that tell the curves of a rank apart; 0: spans */
	const char *points; /* parameter: at most so many points per curve, 0 for all; NULL: none */
	/* column of the first view, which has a row per curve then, with the most of it; NULL: it
	 * has none */
	const char *peak;
};

/* Read-only description of an analysis; everything static. Its lists are walked by
 * ht_analysis_schema, ht_analysis_param and ht_analysis_further. */
struct ht_analysis_info {
	const char *name, *group, *title;
	const char *question;            /* the question it answers, one sentence */
	const char *method;              /* formula and definitions, a paragraph */
	const char *hta;                 /* the HTA method it replaces, or NULL */
	const struct ht_schema *schemas; /* the first one is the default */
	size_t n_schemas;
	const char *chosen_by; /* parameter that chooses the schema, NULL: there is one */
	const struct ht_param *params;
	size_t n_params;
	size_t n_sets; /* 1, or 2 for comparisons; 0 when it is over files that are no traces */
	/* Of comparisons of several runs: what the two sides are called, as in --base. The sets of
	 * the first side come before those of the second; the parameter "n-" and the first name
	 * tells how many they are. NULL: it takes n_sets sets exactly. */
	const char *sides[2];
	bool draws;              /* its result can be drawn into a trace: ht_convert's overlay */
	bool lists_events;       /* its rows are single events, too many for an overview */
	bool more_columns;       /* further columns come on request or from the data */
	const char *input_param; /* parameter whose value replaces the traces, or NULL */
	/* columns that come on request; args.KEY and what else the data has come besides */
	const struct ht_column *further;
	size_t n_further;
	/* Of an analysis over files that are no traces: the parameter that names them, a path per
	 * line, for which a command line gives them as arguments; and the option by which it gives
	 * a set of traces besides, NULL when none is taken. */
	const char *files, *traces_option;
	/* which rows an overview of all analyses needs, as a filter; NULL: all */
	const char *overview;
	bool tells_losses; /* it says what could not be read, with a severity and a sentence */
	bool tells_facts;  /* it says what the files hold, by topic, item and value */
	const struct ht_over_time *over_time; /* NULL: nothing of it is */
	/* views that a report draws, beside the rows of its section, "a|b"; NULL: none */
	const char *charts;
	/* the view with a row for each thing, which a table of SQL has; NULL: the first */
	const char *details;
	/* the view of the page that shows it best; NULL: it has its own page and no more */
	const char *page_view;
	/* a program whose options the command line takes for it, too; NULL: none */
	const char *replaces;
};

HT_API size_t ht_n_analyses(void);
HT_API const struct ht_analysis_info *ht_analysis_at(size_t i);
/* NULL when there is none of that name. */
HT_API const struct ht_analysis_info *ht_analysis_find(const char *name);
/* The i-th of the lists of an analysis, and the i-th column of a schema; NULL beyond the end.
 * Elements may grow, as for ht_note_value. */
HT_API const struct ht_schema *ht_analysis_schema(const struct ht_analysis_info *info, size_t i);
HT_API const struct ht_param *ht_analysis_param(const struct ht_analysis_info *info, size_t i);
HT_API const struct ht_column *ht_analysis_further(const struct ht_analysis_info *info, size_t i);
HT_API const struct ht_column *ht_schema_column(const struct ht_schema *schema, size_t i);
/* Options that every analysis takes. */
HT_API size_t ht_n_common_params(void);
HT_API const struct ht_param *ht_common_param(size_t i);

/* The most sets that a comparison of several runs takes. */
#define HT_MAX_SETS 64

/* A question: an analysis by its name, its parameters, and what to show of its table. */
struct ht_query {
	size_t struct_size; /* sizeof, see the top; the same for all of a list */
	const char *name;
	const struct ht_arg *args;
	size_t n_args;
	const struct ht_view *view; /* may be NULL */
};

/* Run one analysis over n_sets sets (1, or 2 for comparisons, more for those of several runs; 0
 * when the parameter that replaces them is given). An analysis without data answers HT_OK with an
 * empty table and a note. The caller frees the table. */
HT_API enum ht_status ht_ask(ht_ctx *ctx, ht_set *const *sets, size_t n_sets,
        const struct ht_query *query, ht_table **ret_table) HT_MUST_USE;

/* ht_open, for somebody who will ask this of the set: each rank is looked at while its trace is at
 * hand, so that a set that is larger than memory is read once. The answer is that of ht_ask after
 * ht_open, and other questions may be asked too. Arguments that are wrong are told of by ht_ask. */
HT_API enum ht_status ht_open_for(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        const struct ht_open_options *options, const struct ht_query *query,
        ht_set **ret_set) HT_MUST_USE;

/* An answer of ht_ask_all: the i-th question, its status and its table, which the callee frees;
 * NULL unless HT_OK. On failure ht_error tells of that question. false: no further answers are
 * wanted. */
typedef bool (*ht_answer_fn)(void *user, size_t i, enum ht_status status, ht_table *table);

/* Ask several questions of one set. Every answer is that of ht_ask, but each rank is opened once,
 * and what several of them have to find out about it is found once. Answers come in the order of
 * the questions, on the calling thread, when all are known. */
HT_API enum ht_status ht_ask_all(ht_ctx *ctx, ht_set *set, const struct ht_query *queries, size_t n,
        ht_answer_fn fn, void *user) HT_MUST_USE;

/* ---- SQL ------------------------------------------------------------------------------------ */

struct ht_sql_options {
	size_t struct_size;  /* sizeof, see the top */
	uint64_t timeout_ms; /* stop with HT_LIMIT after so long, 0: never */
	uint64_t max_rows;   /* stop after so many rows and say so in a note, 0: never */
	/* values of :name in the query; numbers where they look like one */
	const struct ht_arg *params;
	size_t n_params;
	ht_set *base; /* what diff and gate compare the set with; NULL: nothing */
};

/* Run one statement of SQLite's language over the ranks of a set. Tables are the columns of the
 * traces (events, gpu, ops, launches, collectives, steps, ranks, tracks, args, strings, health ...)
 * and, with its arguments as a text, every analysis over one set, and over two where options have a
 * base: kernel_breakdown('by=all'). sql_tables and sql_columns list them; the set may be NULL when
 * only these are asked. It reads: everything else is HT_USAGE. Beyond the context's memory limit
 * and the timeout it answers HT_LIMIT, and the progress function may cancel it. HT_USAGE in a build
 * without SQLite. Each call has a connection of its own: any number of threads may query one set,
 * with a context each. */
HT_API enum ht_status ht_sql(ht_ctx *ctx, ht_set *set, const char *query,
        const struct ht_sql_options *options, ht_table **ret_table) HT_MUST_USE;

struct ht_export_options {
	size_t struct_size; /* sizeof, see the top */
	/* "events,gpu,kernel_breakdown": tables of SQL; NULL: those of the columns */
	const char *tables;
	uint64_t rows_a_file; /* of one rank, then the next file begins; 0: a million */
};

/* Write tables of SQL as a dataset: Arrow IPC files, those with a column rank in a folder per rank
 * (events/rank=0/part-0.arrow), and manifest.json with columns, sentences, sources and versions,
 * which comes last. The folder is made; one that has a manifest is refused with HT_USAGE. */
HT_API enum ht_status ht_export(ht_ctx *ctx, ht_set *set, const char *folder,
        const struct ht_export_options *options) HT_MUST_USE;

/* ---- many runs ------------------------------------------------------------------------------ */

struct ht_history_options {
	size_t struct_size;          /* sizeof, see the top */
	const char *view;            /* "changes", "series" or "latest"; NULL: changes */
	const char *path;            /* only this one and what is below it; NULL: all */
	const char *since;           /* label of the first run whose changes count; NULL: all */
	double max_pvalue;           /* of a change; 0: 0.001 */
	double min_change;           /* smallest change that counts, as a share */
	uint64_t window;             /* runs that are looked at together; 0: 50 */
	const struct ht_view *shown; /* rows and columns; NULL: all */
};

/* Keep the numbers of a run (step time, phases, kernels, collectives, efficiency) in a store, an
 * SQLite file that is made when it is not there. source says where the run came from, or is
 * NULL. */
HT_API enum ht_status ht_history_add(ht_ctx *ctx, const char *store, ht_set *set, const char *label,
        const char *source) HT_MUST_USE;
/* Keep numbers of other programs: CSV with a run per line, a label and then a value per column,
 * empty where there is none. */
HT_API enum ht_status ht_history_import(
        ht_ctx *ctx, const char *store, const char *file) HT_MUST_USE;
/* The runs of a store: where their numbers changed, or the numbers. The check of the table fails
 * when there is a regression. The file is only read, and may be anybody's: what ht_ctx_confine says
 * holds for it. */
HT_API enum ht_status ht_history(ht_ctx *ctx, const char *store,
        const struct ht_history_options *options, ht_table **ret_table) HT_MUST_USE;

/* ---- writing files -------------------------------------------------------------------------- */

typedef struct ht_writer ht_writer; /* a file that appears whole or not at all */

/* Start a file: gzip when path ends in .gz, zstd when in .zst, else plain; "-" is standard output,
 * plain. A file has no name, or a temporary one, until it is committed, and a process that is
 * killed leaves what was there before; devices and pipes are written in place. The context must
 * outlive the writer. */
HT_API enum ht_status ht_writer_open(
        ht_ctx *ctx, const char *path, ht_writer **ret_writer) HT_MUST_USE;
/* Append bytes. After a failure the partial file is gone and every later call fails too. */
HT_API enum ht_status ht_writer_write(ht_writer *writer, const void *bytes, size_t n) HT_MUST_USE;
/* Finish, put into place and free the writer, whatever the answer. */
HT_API enum ht_status ht_writer_commit(ht_writer *writer) HT_MUST_USE;
/* Remove what was written and free the writer. NULL is fine. */
HT_API void ht_writer_abort(ht_writer *writer);

/* ---- writing traces ------------------------------------------------------------------------- */

/* Filters are lists as on the command line. */
struct ht_convert_options {
	size_t struct_size;                               /* sizeof, see the top */
	const char *ranks, *steps, *categories, *threads; /* "0,2-3", "kernel,cpu_op", "pid/tid" */
	const char *from_ns, *to_ns; /* time window in ns of the trace's own clock */
	const char *document;        /* one of several concatenated documents, from 0 */
	bool merge;                  /* all ranks into one file, pids made distinct */
	bool with_counters;          /* add queue length and memory bandwidth counters */
	const char *overlay;         /* add "critical-path" or "kernel-sequences" overlays */
	const struct ht_arg *overlay_args;
	size_t n_overlay_args;
	/* also write traces of which reading lost something; else that is HT_FORMAT */
	bool partial;
};

/* Write the set as Chrome JSON, gzip or zstd by the ending of path ("-" writes plain JSON to
 * standard output). One rank or merge: path is the file; several ranks: path must hold "{rank}". A
 * file that the set was read from is not written over: HT_USAGE. */
HT_API enum ht_status ht_convert(ht_ctx *ctx, ht_set *set, const char *path,
        const struct ht_convert_options *options) HT_MUST_USE;

/* ---- writing execution traces --------------------------------------------------------------- */

struct ht_et_convert_options {
	size_t struct_size; /* sizeof, see the top */
	/* "chakra", "json", "linked", "dot", "timeline"; NULL: by the ending of the path */
	const char *to;
	bool as_chakra; /* only what Chakra's own linker and converter do */
	/* also write traces of which reading lost something; else that is HT_FORMAT */
	bool partial;
};

/* Write execution traces (a line each: a file, a directory, RANK=FILE) in another form. kineto has
 * the Kineto traces of the same windows, or is NULL; "linked" needs it. Several traces need
 * "{rank}" in the path. */
HT_API enum ht_status ht_et_convert(ht_ctx *ctx, const char *et, ht_set *kineto, const char *path,
        const struct ht_et_convert_options *options) HT_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
