/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_tables.c - see npu_tables.h.
 */
#include "model/advice/npu_tables.h"

#include "json/json_text.h"
#include "model/communication/exporter.h"
#include "store/side_table.h"
#include "store/trace.h"
#include "store/trace_meta.h"
#include "table/optional.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
	struct ht_run *run;
	const struct ht_trace *t;
	ht_table *table;
};

static void put(struct reading *r, enum ht_metric metric, const struct ht_rule_sum *sum)
{
	ht_rule_fact_put(r->t, r->table, metric, HT_NO_I64, sum);
}

/* ---- steps ---- */

static enum ht_status read_steps(struct reading *r, bool is_empty)
{
	struct ht_exporter_step *steps = NULL;
	struct ht_rule_sum all = HT_RULE_SUM, free_time = HT_RULE_SUM;
	struct ht_rule_sum computing = HT_RULE_SUM, exposed = HT_RULE_SUM;
	size_t n = 0;
	HT_TRY(ht_exporter_steps(r->run, false, &steps, &n));
	for (size_t i = 0; i < n; i++) {
		ht_sum(&all.part, steps[i].step_ns);
		ht_sum(&free_time.part, steps[i].free_ns);
		ht_sum(&computing.part, steps[i].computing_ns);
		ht_sum(&exposed.part, steps[i].exposed_ns);
	}
	if (!n || all.part <= 0)
		return HT_OK;
	all.count = free_time.count = computing.count = exposed.count = (int64_t)n;
	free_time.whole = computing.whole = exposed.whole = all.part;
	put(r, HT_METRIC_FREE, &free_time);
	put(r, HT_METRIC_COMPUTING, &computing);
	put(r, HT_METRIC_EXPOSED, &exposed);
	if (is_empty) {
		put(r, HT_METRIC_STEPS, &all);
		put(r, HT_METRIC_COMM, &exposed);
	}
	return HT_OK;
}

/* ---- transports ---- */

enum {
	BANDWIDTH_TRANSPORT = 2,
	BANDWIDTH_BYTES,
	BANDWIDTH_NS,
	BANDWIDTH_PACKETS = 6,
	BANDWIDTH_SMALL
};

/* Packets and speed of one side: RDMA, or what SDMA is the sum of. */
static void read_transport(struct reading *r, const ht_table *rows, bool rdma)
{
	struct ht_rule_sum small = HT_RULE_SUM, rate = HT_RULE_SUM;
	small.whole = rate.whole = 0;
	for (size_t i = 0; i < ht_table_n_rows(rows); i++) {
		const char *transport = ht_table_str(rows, i, BANDWIDTH_TRANSPORT);
		if (!strcmp(transport, "SDMA") || !strcmp(transport, "RDMA") != rdma)
			continue;
		ht_sum(&small.part, ht_table_i64_or(rows, i, BANDWIDTH_SMALL, 0));
		ht_sum(&small.whole, ht_table_i64_or(rows, i, BANDWIDTH_PACKETS, 0));
		ht_sum(&rate.part, ht_table_i64_or(rows, i, BANDWIDTH_BYTES, 0));
		ht_sum(&rate.whole, ht_table_i64_or(rows, i, BANDWIDTH_NS, 0));
		small.count = rate.part;
	}
	if (small.whole > 0)
		put(r, rdma ? HT_METRIC_SMALL_RDMA : HT_METRIC_SMALL_SDMA, &small);
	if (rate.whole > 0)
		put(r, rdma ? HT_METRIC_RDMA_RATE : HT_METRIC_SDMA_RATE, &rate);
}

static enum ht_status read_transports(struct reading *r)
{
	ht_table *rows = NULL;
	HT_TRY(ht_table_new(r->run->ctx, "bandwidth", ht_exporter_bandwidth_columns,
	        HT_N_EXPORTER_BANDWIDTH_COLUMNS, &rows));
	enum ht_status status = ht_exporter_put(r->run, HT_EXPORTER_BANDWIDTH, true, rows);
	if (status == HT_OK)
		status = ht_table_finish(r->run->ctx, rows);
	if (status == HT_OK) {
		read_transport(r, rows, false);
		read_transport(r, rows, true);
	}
	ht_table_free(rows);
	return status;
}

/* The operation that took longest over RDMA. */
static void read_longest(struct reading *r)
{
	const struct ht_side_table *table = ht_side_table_find(r->t, "communication_bandwidth");
	const struct ht_side_column *op, *transport, *ns;
	struct ht_rule_sum longest = HT_RULE_SUM;
	if (!table)
		return;
	op = ht_side_column_find(r->t, table, "op");
	transport = ht_side_column_find(r->t, table, "transport");
	ns = ht_side_column_find(r->t, table, "transit_ns");
	for (uint64_t row = 0; row < table->n_rows; row++) {
		const char *name = ht_side_str(r->t, op, row);
		const char *over = ht_side_str(r->t, transport, row);
		int64_t time;
		if (!name || !over || strcmp(over, "RDMA") != 0 || !strcmp(name, "Total Op Info") ||
		        !ht_side_i64(r->t, ns, row, &time) || time <= longest.part)
			continue;
		longest.part = time;
		longest.name = name;
	}
	if (longest.part)
		put(r, HT_METRIC_RDMA_LONGEST, &longest);
}

/* ---- environment ---- */

/* A recorded setting as a text without quotes. */
static const char *setting(
        struct reading *r, const struct ht_json_value *settings, const char *name, bool *ret_known)
{
	struct ht_json_value value = ht_json_get(settings, name);
	*ret_known = value.type == HT_JSON_STRING || value.type == HT_JSON_NUMBER;
	if (!*ret_known)
		return "";
	bool quoted = value.type == HT_JSON_STRING;
	return ht_arena_strndup(r->run->scratch, value.text + quoted, value.n - 2 * quoted);
}

static bool is_odd(const char *name, const char *value)
{
	if (!strcmp(name, "ASCEND_GLOBAL_LOG_LEVEL"))
		return *value && strcmp(value, "3") != 0;
	if (!strcmp(name, "ACLNN_CACHE_LIMIT"))
		return strtoll(value, NULL, 10) < 10000;
	if (!strcmp(name, "HOST_CACHE_CAPACITY"))
		return strtoll(value, NULL, 10) <= 0;
	if (!strcmp(name, "PYTORCH_NPU_ALLOC_CONF"))
		return !strstr(value, "expandable_segments:True");
	if (!strcmp(name, "ASCEND_LAUNCH_BLOCKING"))
		return !strcmp(value, "1");
	return *value != 0; /* HCCL_*: chosen by the library unless set */
}

static enum ht_status read_settings(struct reading *r, const struct ht_json_value *settings)
{
	static const char *const names[] = { "ASCEND_GLOBAL_LOG_LEVEL", "ACLNN_CACHE_LIMIT",
		"HOST_CACHE_CAPACITY", "PYTORCH_NPU_ALLOC_CONF", "ASCEND_LAUNCH_BLOCKING",
		"HCCL_ALGO", "HCCL_RDMA_TC", "HCCL_RDMA_SL" };
	struct ht_rule_sum sum = HT_RULE_SUM;
	const char *list = "";
	for (size_t i = 0; i < HT_COUNT(names); i++) {
		bool known;
		const char *value = setting(r, settings, names[i], &known);
		if (!value)
			return ht_fail_nomem(r->run->ctx);
		sum.part += known;
		if (!known || !is_odd(names[i], value))
			continue;
		sum.count++;
		list = ht_arena_printf(r->run->scratch, "%s%s%s%s%s", list, *list ? ", " : "",
		        names[i], *value ? "=" : " unset", value);
		if (!list)
			return ht_fail_nomem(r->run->ctx);
	}
	sum.name = list;
	if (sum.part)
		put(r, HT_METRIC_ENVIRONMENT, &sum);
	return HT_OK;
}

static enum ht_status read_environment(struct reading *r)
{
	for (size_t i = 0; i < r->t->more->n_headers; i++) {
		struct ht_json reader = { ht_str(r->t, r->t->more->headers[i].value) };
		if (strcmp(ht_str(r->t, r->t->more->headers[i].key), "ENV_VARIABLES") != 0)
			continue;
		struct ht_json_value settings = ht_json_next(&reader);
		if (settings.type == HT_JSON_OBJECT)
			return read_settings(r, &settings);
	}
	return HT_OK;
}

enum ht_status ht_npu_tables_put(struct ht_run *run, bool is_empty, ht_table *table)
{
	struct reading r = { .run = run, .t = run->trace, .table = table };
	HT_TRY(read_steps(&r, is_empty));
	HT_TRY(read_transports(&r));
	read_longest(&r);
	return read_environment(&r);
}
