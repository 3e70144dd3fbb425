/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_findings.h - the linter of execution traces: rules over one store, findings as rows of a table.
 *
 * Each check_ file looks at one side of a trace; all append to the same table. Only the first findings of a rule
 * are told one by one, a last row says how many more there are.
 */
#ifndef HT_ET_ET_FINDINGS_H
#define HT_ET_ET_FINDINGS_H

#include "et/et.h"
#include "model/run.h"
#include "table/table.h"

enum ht_et_rule {
#define RULE(id, sentence) HT_##id,
#include "et/et_rules.def"
#undef RULE
	HT_ET_N_RULES
};

enum ht_et_severity { HT_ET_INFO, HT_ET_WARNING, HT_ET_ERROR };

struct ht_et_check {
	ht_ctx *ctx;
	struct ht_arena *scratch;
	const struct ht_et *et;
	ht_table *table; /* columns of ht_et_check_columns */
	int64_t rank;
	uint64_t limit; /* findings told per rule and severity; 0: all */
	uint64_t counts[HT_ET_N_RULES][HT_ET_ERROR + 1];
	int version; /* 10101 for 1.1.1; 0 when unknown */
};

#define HT_ET_CHECK_COLUMNS(COLUMN)                                                                \
	COLUMN(HT_ET_CHECK_RANK, "rank", HT_I64, HT_KEY, "rank of the execution trace", NULL)      \
	COLUMN(HT_ET_CHECK_RULE, "rule", HT_STR, HT_KEY, "rule that is broken", NULL)              \
	COLUMN(HT_ET_CHECK_SEVERITY, "severity", HT_STR, HT_MEASURE, "error, warning or info",     \
	        NULL)                                                                              \
	COLUMN(HT_ET_CHECK_NODE, "node", HT_U64, HT_KEY,                                           \
	        "id of the node, absent when it is about the file", NULL)                          \
	COLUMN(HT_ET_CHECK_MESSAGE, "message", HT_STR, HT_MEASURE, "what was found", NULL)
HT_COLUMN_NUMBERS(HT_ET_CHECK_COLUMNS, HT_ET_N_CHECK_COLUMNS);
extern const struct ht_column ht_et_check_columns[HT_ET_N_CHECK_COLUMNS];

/* A finding about a node's row, or HT_ET_NONE for the file. */
void ht_et_report(struct ht_et_check *c, enum ht_et_rule rule, enum ht_et_severity severity,
        uint32_t row, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Everything that one file tells; then, with the Kineto trace of the same window, what the two tell together. */
enum ht_status ht_et_check_file(struct ht_et_check *c) HT_MUST_USE;
enum ht_status ht_et_check_pair(struct ht_et_check *c, const struct ht_trace *trace) HT_MUST_USE;
/* Rows that say how many findings were not told, and the counts. */
void ht_et_check_end(struct ht_et_check *c);

/* The parts of ht_et_check_file. */
enum ht_status ht_et_check_graph(struct ht_et_check *c) HT_MUST_USE;
enum ht_status ht_et_check_args(struct ht_et_check *c) HT_MUST_USE;
enum ht_status ht_et_check_attrs(struct ht_et_check *c) HT_MUST_USE;

#endif
