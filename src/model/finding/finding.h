/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finding.h - the one door for conclusions: a finding is a row of typed cells, and its sentence is made last.
 *
 *   struct ht_finding f = ht_finding("gpu-idle", HT_STATE_FOUND);      one line in templates.def:
 *   ht_finding_share(&f, 0.82, "of.gpu_span", 3);                      SAY("gpu-idle", FOUND, "", "", "idle {share} of {of}", "")
 *   ht_finding_next(&f, "idle-breakdown"); ht_finding_arg(&f, "by", "device");
 *   HT_TRY(ht_finding_note(run->scratch, &f, table));                  under a table: a note
 *   HT_TRY(ht_finding_row(run->scratch, &f, label, &at, table));       a row of a table of HT_FINDING_COLUMNS
 *
 * A finding is found, none (looked for, and not there) or unknown, whose variant is the reason. Templates (template.h) are
 * chosen by kind, state and variant, and see the cells as {subject}, {value}, {share}, {of}, {bound} (upper bound), {bound_share},
 * {items}, and whatever else is added by ht_finding_ns and its like. Nobody takes a sentence apart: who needs a number
 * takes the cell.
 */
#ifndef HT_MODEL_FINDING_H
#define HT_MODEL_FINDING_H

#include "base/arena.h"
#include "base/status.h"
#include "model/finding/state.h"
#include "table/table.h"

/* An event behind a finding; row INT64_MIN: none. */
struct ht_event_at {
	int64_t rank, row;
};

/* One of several things that a finding lists. */
struct ht_finding_item {
	const char *variant; /* of its template, "" where there is one for all */
	const char *name;
	int64_t ns, count;            /* INT64_MIN: none */
	double share, wait, transfer; /* of the finding's whole; NAN: none */
	struct ht_event_at at;
};

enum { HT_FINDING_EVENTS = 8, HT_FINDING_ARGS = 3, HT_FINDING_VALUES = 16, HT_FINDING_ITEMS = 8 };

struct ht_finding {
	const char *kind;
	enum ht_state state;
	enum ht_note_severity severity;
	const char *variant; /* "": the only one; of unknown, the reason */
	const char *
	        subject_kind; /* rank, device, kernel, operator, module, group, cause; NULL: none */
	const char *subject;  /* its name or number */
	double value;         /* NAN: none */
	const char *unit;     /* of value: ns, bytes, count, ratio ... */
	double share;         /* 0 to 1; NAN: none */
	const char *of;       /* what it is a share of, in words */
	int64_t of_rank;      /* of one rank; INT64_MIN: of all */
	int64_t upper_bound_ns;   /* what a step could be shorter by, at most; INT64_MIN: none */
	double upper_bound_share; /* that over step_ns; NAN: none */
	double confidence;        /* 0 to 1: how much of it is measured, not inferred; NAN: all */
	struct ht_event_at events[HT_FINDING_EVENTS];
	size_t n_events;
	const char *next; /* verb */
	struct ht_arg args[HT_FINDING_ARGS];
	size_t n_args;
	struct ht_note_value values[HT_FINDING_VALUES];
	size_t n_values;
	struct ht_finding_item items[HT_FINDING_ITEMS];
	size_t n_items;
	const char *advice; /* what could be done; NULL: nothing is said of it */
};

/* With nothing known but its kind and state. What goes beyond the lists above is left out. */
struct ht_finding ht_finding(const char *kind, enum ht_state state);
void ht_finding_subject(struct ht_finding *finding, const char *kind, const char *name);
/* of is a term of templates.def; rank INT64_MIN: of all. */
void ht_finding_share(struct ht_finding *finding, double share, const char *of, int64_t rank);
void ht_finding_value(struct ht_finding *finding, double value, const char *unit);
void ht_finding_event(struct ht_finding *finding, int64_t rank, int64_t row);
void ht_finding_next(struct ht_finding *finding, const char *verb);
void ht_finding_arg(struct ht_finding *finding, const char *name, const char *value);
/* Further values, for templates and for who reads the cells. */
void ht_finding_ns(struct ht_finding *finding, const char *name, int64_t ns);
void ht_finding_count(struct ht_finding *finding, const char *name, int64_t count);
void ht_finding_bytes(struct ht_finding *finding, const char *name, int64_t bytes);
void ht_finding_ratio(struct ht_finding *finding, const char *name, double share);
void ht_finding_number(struct ht_finding *finding, const char *name, double number);
void ht_finding_text(struct ht_finding *finding, const char *name, const char *text);
void ht_finding_item(struct ht_finding *finding, const struct ht_finding_item *item);
struct ht_finding_item ht_item(const char *variant, const char *name);

/* Words for a code, "of.step_time" is "step time"; the code itself where there are none. */
const char *ht_term(const char *code);
/* What could be done about a kind of finding, and what a rule needs; NULL: nothing is said. */
const char *ht_finding_advice(const char *kind, const char *variant);
const char *ht_finding_needs(const char *kind);

/* The sentences of a finding. In the arena. */
struct ht_sentence {
	const char *heading; /* stands alone */
	const char *text;    /* behind its label */
	const char *more;    /* "" or what follows, a sentence of its own */
	const char *whole;   /* text and more */
};
enum ht_status ht_finding_say(struct ht_arena *arena, const struct ht_finding *finding,
        struct ht_sentence *ret_sentence) HT_MUST_USE; /* HT_NOMEM, without a text in any context */
/* As a line under the table. */
enum ht_status ht_finding_note(
        struct ht_arena *arena, const struct ht_finding *finding, ht_table *table) HT_MUST_USE;

/* The cells of a finding as columns: behind a label and the sentence, of which the verbs have their own names. */
#define HT_FINDING_COLUMNS(COLUMN, OF)                                                             \
	COLUMN(OF##_EVIDENCE, "evidence", HT_STR, HT_MEASURE,                                      \
	        "events behind it, each as rank:event", "events")                                  \
	COLUMN(OF##_NEXT, "next", HT_STR, HT_MEASURE, "verb and options that show more", NULL)     \
	COLUMN(OF##_VALUE_NS, "value_ns", HT_DURATION, HT_MEASURE,                                 \
	        "value where its unit is ns: of a step; of lists, of the first in all", NULL)      \
	COLUMN(OF##_SHARE, "share", HT_RATIO, HT_MEASURE,                                          \
	        "share of the whole that denominator names", NULL)                                 \
	COLUMN(OF##_BOUND_NS, "upper_bound_ns", HT_DURATION, HT_MEASURE,                           \
	        "upper bound on savings per step", NULL)                                           \
	COLUMN(OF##_KIND, "kind", HT_STR, HT_DETAIL,                                               \
	        "what the finding is, the same in every language", NULL)                           \
	COLUMN(OF##_STATE, "state", HT_STR, HT_DETAIL, "found, none or unknown", NULL)             \
	COLUMN(OF##_REASON, "reason", HT_STR, HT_DETAIL,                                           \
	        "why it is unknown, or which form of it was found", NULL)                          \
	COLUMN(OF##_SUBJECT_KIND, "subject_kind", HT_STR, HT_DETAIL,                               \
	        "what the subject is: rank, device, kernel, operator, module, group or cause",     \
	        NULL)                                                                              \
	COLUMN(OF##_SUBJECT, "subject", HT_STR, HT_DETAIL, "what the finding is about", NULL)      \
	COLUMN(OF##_VALUE, "value", HT_F64, HT_DETAIL, "the number that it is about, in unit",     \
	        NULL)                                                                              \
	COLUMN(OF##_UNIT, "unit", HT_STR, HT_DETAIL, "of value: ns, bytes, count or ratio", NULL)  \
	COLUMN(OF##_OF, "denominator", HT_STR, HT_DETAIL, "what the share is of", NULL)            \
	COLUMN(OF##_OF_RANK, "denominator_rank", HT_I64, HT_DETAIL,                                \
	        "rank whose whole that is; null: all ranks", NULL)                                 \
	COLUMN(OF##_BOUND_SHARE, "upper_bound_share", HT_RATIO, HT_DETAIL,                         \
	        "upper bound on savings over the mean step time", NULL)                            \
	COLUMN(OF##_CONFIDENCE, "confidence", HT_RATIO, HT_DETAIL,                                 \
	        "how much of the evidence is measured, not inferred; null: all of it", NULL)       \
	COLUMN(OF##_AT_RANK, "evidence_rank", HT_I64, HT_DETAIL, "rank of the first event", NULL)  \
	COLUMN(OF##_AT_EVENT, "evidence_event", HT_I64, HT_DETAIL,                                 \
	        "the first event, a row of that rank", NULL)                                       \
	COLUMN(OF##_NEXT_VERB, "next_verb", HT_STR, HT_DETAIL, "verb of next", NULL)               \
	COLUMN(OF##_NEXT_ARGS, "next_args", HT_STR, HT_DETAIL, "options of next, a JSON object",   \
	        NULL)                                                                              \
	COLUMN(OF##_HEADING, "heading", HT_STR, HT_DETAIL, "the finding as a heading", NULL)       \
	COLUMN(OF##_DETAIL, "detail", HT_STR, HT_DETAIL,                                           \
	        "what the finding says beyond its heading", NULL)                                  \
	COLUMN(OF##_VALUES, "values", HT_STR, HT_DETAIL,                                           \
	        "further values and lists of it, a JSON object", NULL)
enum { HT_FINDING_COLUMNS(HT_COLUMN_NUMBER, HT_CELL) HT_N_FINDING_CELLS };
/* Where a table has these. */
struct ht_finding_places {
	size_t label, sentence;
	size_t advice; /* SIZE_MAX: nowhere */
	size_t cells;  /* the first of the columns above */
};
/* Begins a row and puts what there are places for; what the table has behind them is the caller's to put. */
enum ht_status ht_finding_row(struct ht_arena *arena, const struct ht_finding *finding,
        const char *label, const struct ht_finding_places *at, ht_table *table) HT_MUST_USE;

#endif
