/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_findings.c - the linter's findings, and the rules about the file as a whole (ET001 to ET004, ET070).
 */
#include "et/et_findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct ht_column ht_et_check_columns[HT_ET_N_CHECK_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_ET_CHECK_COLUMNS);

static const char *const severities[] = { "info", "warning", "error" };

static const struct {
	const char *name, *sentence;
} rules[] = {
#define RULE(id, sentence) { #id, sentence },
#include "et/et_rules.def"
#undef RULE
};

static void put(struct ht_et_check *c, enum ht_et_rule rule, enum ht_et_severity severity,
        uint32_t row, const char *message)
{
	ht_table_row(c->table);
	ht_table_put_i64(c->table, HT_ET_CHECK_RANK, c->rank);
	ht_table_put_str(c->table, HT_ET_CHECK_RULE, rules[rule].name);
	ht_table_put_str(c->table, HT_ET_CHECK_SEVERITY, severities[severity]);
	if (row != HT_ET_NONE && ht_et_nodes(c->et)[row].flags & HT_ET_ID)
		ht_table_put_i64(c->table, HT_ET_CHECK_NODE, (int64_t)ht_et_nodes(c->et)[row].id);
	else
		ht_table_put_null(c->table, HT_ET_CHECK_NODE);
	ht_table_put_str(c->table, HT_ET_CHECK_MESSAGE, message);
}

void ht_et_report(struct ht_et_check *c, enum ht_et_rule rule, enum ht_et_severity severity,
        uint32_t row, const char *format, ...)
{
	char message[512];
	va_list ap;
	if (++c->counts[rule][severity] > c->limit && c->limit)
		return;
	va_start(ap, format);
	vsnprintf(message, sizeof message, format, ap);
	va_end(ap);
	put(c, rule, severity, row, message);
}

/* ---- the file ---- */

/* Text that only the tolerant reader reads, with what it had to put up with. */
static void check_json(struct ht_et_check *c)
{
	const struct ht_et *et = c->et;
	bool valid = et->is_valid, told = false;
	for (int code = 0; code < HT_ET_N_STATS; code++) {
		const struct ht_et_stat *stat = &et->stats[code];
		/* a process node that is missing is another rule's, unless the file is cut */
		if (!stat->count || (valid && code == HT_ET_STAT_root_made))
			continue;
		ht_et_report(c, HT_ET001, valid ? HT_ET_WARNING : HT_ET_ERROR, HT_ET_NONE,
		        "%s (%llu times, first at byte %lld)",
		        ht_et_stat_info((enum ht_et_stat_code)code)->defect,
		        (unsigned long long)stat->count, (long long)stat->first_offset);
		told = true;
	}
	if (!valid && !told)
		ht_et_report(c, HT_ET001, HT_ET_ERROR, HT_ET_NONE,
		        "the text is not valid JSON, though every node could be read");
}

static void check_keys(struct ht_et_check *c)
{
	static const struct {
		enum ht_et_header flag;
		const char *name;
	} keys[] = { { HT_ET_HAS_SCHEMA, "schema" }, { HT_ET_HAS_PID, "pid" },
		{ HT_ET_HAS_TIME, "time" }, { HT_ET_HAS_START, "start_ts" },
		{ HT_ET_HAS_NODES, "nodes" }, { HT_ET_HAS_FINISH, "finish_ts" } };
	const unsigned both = HT_ET_HAS_START | HT_ET_HAS_FINISH;
	const struct ht_et *et = c->et;
	for (size_t i = 0; i < HT_COUNT(keys); i++)
		if (!(et->headers & keys[i].flag))
			ht_et_report(c, HT_ET002, HT_ET_ERROR, HT_ET_NONE, "%s is missing%s",
			        keys[i].name,
			        keys[i].flag == HT_ET_HAS_FINISH ? ": not finalised" : "");
	if ((et->headers & both) == both && et->finish_ts < et->start_ts)
		ht_et_report(c, HT_ET004, HT_ET_ERROR, HT_ET_NONE,
		        "finish_ts %lld is before start_ts %lld", (long long)et->finish_ts,
		        (long long)et->start_ts);
}

/* "1.0.3-chakra.0.0.4" is 10003. */
static int version_of(const char *schema)
{
	int a, b, c;
	return sscanf(schema, "%2d.%2d.%2d", &a, &b, &c) == 3 && a >= 0 && b >= 0 && c >= 0
	               ? a * 10000 + b * 100 + c
	               : 0;
}

static void check_version(struct ht_et_check *c)
{
	static const char *const known[] = { "1.0.1", "1.0.2-chakra.0.0.4", "1.0.3-chakra.0.0.4",
		"1.0.4-chakra.0.0.4", "1.1.0-chakra.0.0.4", "1.1.1-chakra.0.0.4",
		"1.1.1-chakra.1.0.0" };
	const char *schema = ht_et_str(c->et, c->et->schema);
	bool found = !(c->et->headers & HT_ET_HAS_SCHEMA);
	uint32_t other_layout = HT_ET_NONE, no_strides = HT_ET_NONE;
	for (size_t i = 0; i < HT_COUNT(known); i++)
		found |= !strcmp(schema, known[i]);
	if (!found)
		ht_et_report(c, HT_ET003, HT_ET_WARNING, HT_ET_NONE,
		        "schema %.64s is not a known version", schema);
	for (uint32_t row = ht_et_n(c->et); row > 0 && c->version; row--) {
		const struct ht_et_node *node = &ht_et_nodes(c->et)[row - 1];
		bool has_strides = node->in.strides != HT_ET_NO_STR;
		if (node->flags & HT_ET_MADE)
			continue;
		if (!(node->flags & HT_ET_FLAT) != (c->version > 10001))
			other_layout = row - 1;
		if (has_strides != (c->version >= 10101) && node->flags & HT_ET_INPUTS)
			no_strides = row - 1;
	}
	if (other_layout != HT_ET_NONE)
		ht_et_report(c, HT_ET003, HT_ET_WARNING, other_layout,
		        "the layout is %s, which is not that of schema %.64s",
		        c->version > 10001 ? "flat" : "nested", schema);
	if (no_strides != HT_ET_NONE)
		ht_et_report(c, HT_ET003, HT_ET_WARNING, no_strides,
		        "strides are %s, unlike schema %.64s",
		        c->version >= 10101 ? "missing" : "there", schema);
}

enum ht_status ht_et_check_file(struct ht_et_check *c)
{
	c->version = version_of(ht_et_str(c->et, c->et->schema));
	if (c->et->format == HT_ET_JSON)
		check_json(c);
	check_keys(c);
	if (c->et->format == HT_ET_JSON)
		check_version(c);
	HT_TRY(ht_et_check_graph(c));
	HT_TRY(ht_et_check_args(c));
	return ht_et_check_attrs(c);
}

/* ---- the end ---- */

/* A collective or a message; Chakra's files say so, sends, receives and collectives being types 5 to 7. */
static bool is_comm(const struct ht_et *et, uint32_t row)
{
	const struct ht_et_chakra *more = et->chakra.data;
	return more ? more[row].type >= 5 && more[row].type <= 7
	            : !strcmp(ht_et_str(et, ht_et_nodes(et)[row].name), "record_param_comms");
}

static void put_counts(struct ht_et_check *c)
{
	const struct ht_et *et = c->et;
	uint64_t n_ops = 0, n_user = 0, n_threads = 0, n_comms = 0, n_triton = 0, n_orphans = 0;
	for (uint32_t row = 0; row < ht_et_n(et); row++) {
		const struct ht_et_node *node = &ht_et_nodes(et)[row];
		enum ht_et_kind kind = ht_et_kind(et, row);
		n_threads += kind == HT_ET_THREAD;
		n_orphans += kind == HT_ET_OP && node->parent == HT_ET_NONE;
		if (kind != HT_ET_OP)
			continue;
		n_ops += node->scope != 7;
		n_user += node->scope == 7;
		n_comms += is_comm(et, row);
		n_triton += !strcmp(ht_et_str(et, node->kernel_backend), "triton");
	}
	ht_et_report(c, HT_ET070, HT_ET_INFO, HT_ET_NONE,
	        "%u nodes: %llu operators, %llu annotations, %llu threads, %llu collectives, "
	        "%llu Triton launches, %llu orphans; %llu bytes per node",
	        ht_et_n(et), (unsigned long long)n_ops, (unsigned long long)n_user,
	        (unsigned long long)n_threads, (unsigned long long)n_comms,
	        (unsigned long long)n_triton, (unsigned long long)n_orphans,
	        (unsigned long long)(ht_et_n(et) ? et->text_bytes / ht_et_n(et) : 0));
}

void ht_et_check_end(struct ht_et_check *c)
{
	char message[160];
	for (int rule = 0; rule < HT_ET_N_RULES && c->limit; rule++)
		for (int severity = HT_ET_ERROR; severity >= 0; severity--) {
			uint64_t n = c->counts[rule][severity];
			if (n <= c->limit)
				continue;
			snprintf(message, sizeof message, "and %llu more: %s",
			        (unsigned long long)(n - c->limit), rules[rule].sentence);
			put(c, (enum ht_et_rule)rule, (enum ht_et_severity)severity, HT_ET_NONE,
			        message);
		}
	put_counts(c);
}
