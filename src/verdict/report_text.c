/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_text.c - see report_text.h.
 */
#include "verdict/report_text.h"

#include "table/brief.h"
#include "table/format.h"
#include "table/shorten.h"

#include <string.h>

/* Names of a list. */
#define N_TOPS 3

const char *ht_report_name(struct ht_report *s, const char *name, size_t cells)
{
	static const char module[] = "nn.Module: ";
	size_t n = strlen(name), n_kept = 0;
	char *plain = ht_arena_alloc(s->run->scratch, n + 1);
	char *text = ht_arena_alloc(s->run->scratch, n + 5);
	if (!plain || !text)
		return ht_words_keep(&s->words, NULL);
	for (const char *at = name; *at;) {
		bool skips = !strncmp(at, module, sizeof module - 1);
		at += skips ? sizeof module - 1 : 0;
		if (!skips)
			plain[n_kept++] = *at++;
	}
	text[ht_shorten(plain, n_kept, cells, text)] = '\0';
	return text;
}

const char *ht_report_brief(struct ht_report *s, const char *name)
{
	return ht_report_name(s, name, HT_REPORT_NAME_CELLS);
}

void ht_report_line(struct ht_report *s, const char *label, const struct ht_finding *f)
{
	static const struct ht_finding_places at = { .label = HT_REPORT_TOPIC,
		.sentence = HT_REPORT_FINDING,
		.advice = SIZE_MAX,
		.cells = HT_REPORT_EVIDENCE };
	if (ht_finding_row(s->words.arena, f, label, &at, s->table) != HT_OK)
		ht_words_keep(&s->words, NULL);
	ht_table_put_known(s->table, HT_REPORT_SAVES_NS, f->upper_bound_ns, HT_NO_I64);
}

/* ---- what takes most time ---- */

static bool has_equal(const char *const *names, size_t n)
{
	for (size_t i = 1; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(names[i], names[k]))
				return true;
	return false;
}

/* Each by where it differs from the others, as a table would show them. */
static enum ht_status tell_apart(
        struct ht_report *s, const struct ht_tops *tops, const char **names)
{
	static const struct ht_column column = { "name", HT_STR, HT_KEY, "name", NULL };
	ht_ctx *ctx = s->run->ctx;
	struct ht_brief *briefs = NULL;
	ht_table *table;
	HT_TRY(ht_table_new(ctx, "", &column, 1, &table));
	for (size_t i = 0; i < tops->n && i < N_TOPS; i++) {
		ht_table_row(table);
		ht_table_put_str(table, 0, ht_report_name(s, tops->list[i].name, SIZE_MAX));
	}
	enum ht_status status =
	        ht_brief_make(ctx, table, 0, HT_REPORT_NAME_CELLS, s->run->scratch, &briefs);
	for (size_t i = 0; status == HT_OK && i < ht_table_n_rows(table); i++) {
		const struct ht_brief *brief = &briefs[ht_cells_at(table, 0)->str[i]];
		names[i] = HT_SAY(s, "%.*s", (int)brief->n, brief->text);
	}
	ht_table_free(table);
	return status;
}

/* Names that differ must not look the same. */
static void name_tops(struct ht_report *s, const struct ht_tops *tops, const char **names)
{
	size_t n = tops->n < N_TOPS ? tops->n : N_TOPS;
	for (size_t i = 0; i < n; i++)
		names[i] = ht_report_brief(s, tops->list[i].name);
	if (has_equal(names, n) && tell_apart(s, tops, names) != HT_OK)
		ht_words_keep(&s->words, NULL);
}

/* What a list is about. */
struct topic {
	const char *kind;
	const char *subject;  /* kind of what is listed */
	const char *of;       /* term of their whole */
	enum ht_state absent; /* state of an empty list */
	const char *why;      /* and its variant */
	const char *next, *sort;
};

static void say_tops(struct ht_report *s, const struct ht_tops *tops, const struct topic *topic)
{
	const char *names[N_TOPS];
	struct ht_finding f = ht_finding(topic->kind, tops->n ? HT_STATE_FOUND : topic->absent);
	name_tops(s, tops, names);
	for (size_t i = 0; i < tops->n && i < N_TOPS; i++) {
		const struct ht_top *top = &tops->list[i];
		struct ht_finding_item item = ht_item("", names[i]);
		item.ns = top->ns;
		item.count = top->count;
		item.share = ht_ratio(top->ns, tops->total_ns);
		item.at = (struct ht_event_at){ top->rank, top->row };
		ht_finding_item(&f, &item);
		ht_finding_event(&f, top->rank, top->row);
	}
	f.variant = tops->n ? "" : topic->why;
	if (tops->n) {
		ht_finding_subject(&f, topic->subject, tops->list[0].name);
		ht_finding_text(&f, "name", names[0]);
		ht_finding_value(&f, (double)tops->list[0].ns, "ns");
		ht_finding_share(
		        &f, ht_ratio(tops->list[0].ns, tops->total_ns), topic->of, HT_NO_I64);
	}
	ht_finding_next(&f, topic->next);
	if (topic->sort)
		ht_finding_arg(&f, "sort", topic->sort);
	ht_report_line(s, topic->kind, &f);
}

void ht_report_tops(struct ht_report *s)
{
	struct ht_tops *tops = s->f.tops;
	bool gpu = tops[HT_TOP_OPERATOR].n > 0, host_modules = tops[HT_TOP_MODULE_HOST].n > 0;
	const struct topic operators = { "operators", "operator",
		gpu ? "of.operator_gpu" : "of.operator_cpu", HT_STATE_UNKNOWN, "", "operators",
		NULL };
	const struct topic kernels = { "kernels", "kernel", "of.compute_kernels", HT_STATE_UNKNOWN,
		"", "kernels", NULL };
	const struct topic modules = { "modules", "module",
		host_modules ? "of.module_cpu" : "of.module_gpu", HT_STATE_UNKNOWN,
		s->f.n_devices ? "no_gpu_modules" : "no_modules", "modules",
		host_modules ? "-host_total_ns" : NULL };
	const struct topic collectives = { "collectives", "collective",
		s->f.n_devices && !s->f.calls_host ? "of.comm_kernels" : "of.comm_calls",
		s->f.n_devices ? HT_STATE_NONE : HT_STATE_UNKNOWN, "",
		s->f.compares || s->f.calls_host ? "collectives" : "comm-overlap", NULL };
	say_tops(s, &tops[gpu ? HT_TOP_OPERATOR : HT_TOP_OPERATOR_HOST], &operators);
	say_tops(s, &tops[HT_TOP_KERNEL], &kernels);
	say_tops(s, &tops[host_modules ? HT_TOP_MODULE_HOST : HT_TOP_MODULE], &modules);
	say_tops(s, &tops[HT_TOP_COMM], &collectives);
}

enum ht_status ht_report_memory(struct ht_report *s)
{
	static const char *const labels[HT_MEM_N_TOPICS] = { [HT_MEM_TOPIC_PEAK] = "memory peak",
		[HT_MEM_TOPIC_OOM] = "out of memory",
		[HT_MEM_TOPIC_LEAK] = "memory growth",
		[HT_MEM_TOPIC_FRAGMENTATION] = "fragmentation",
		[HT_MEM_TOPIC_POOLS] = "idle pools" };
	const struct ht_parts *parts = s->f.parts;
	struct ht_finding f;
	size_t i_part;
	if (!ht_mem_findings_any(parts, HT_FOUND_MEMORY))
		return HT_OK;
	for (int topic = 0; topic < HT_MEM_N_TOPICS; topic++) {
		f = ht_mem_finding_worst(parts, HT_FOUND_MEMORY, (enum ht_mem_topic)topic, &i_part);
		if (f.state == HT_STATE_FOUND)
			ht_report_line(s, labels[topic], &f);
	}
	HT_TRY(ht_mem_finding_ranks(s->run, parts, HT_FOUND_MEMORY, &f));
	if (f.state == HT_STATE_FOUND)
		ht_report_line(s, "memory of ranks", &f);
	return HT_OK;
}
