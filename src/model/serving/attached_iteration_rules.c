/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attached_iteration_rules.c - rules for annotations of serving engines (iteration_rules.h) as a file that joins a trace.
 */
#include "attach/loaded_text.h"
#include "model/run.h"
#include "model/serving/iteration_rules.h"
#include "store/columns.h"

#include <string.h>

struct loaded {
	struct ht_loaded_text head;
	struct ht_iteration_rules rules;
};

/* The first line that is no comment begins with iteration or model. */
static bool sniff(const struct ht_attach_head *head)
{
	const char *at = head->text, *end = head->text + head->n;
	while (at < end) {
		while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n'))
			at++;
		if (at == end || *at != '#')
			break;
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		at = stop ? stop : end;
	}
	size_t n = (size_t)(end - at);
	return (n > 10 && !memcmp(at, "iteration ", 10)) || (n > 6 && !memcmp(at, "model ", 6));
}

static enum ht_status read_rules(ht_ctx *ctx, const char *path, char *text, void *to)
{
	struct loaded *loaded = to;
	return ht_iteration_rules_read(ctx, path, text, &loaded->head.arena, &loaded->rules);
}

static enum ht_status load(ht_ctx *ctx, const struct ht_attachment *attachment, void **ret_data)
{
	static const struct ht_text_reader how = { .read = read_rules };
	return ht_text_load(ctx, attachment, sizeof(struct loaded), &how, ret_data);
}

enum ht_status ht_iteration_rules_attached(
        struct ht_run *run, const struct ht_iteration_rules **ret_rules)
{
	size_t at = 0;
	const void *data = NULL;
	const struct ht_attachment *attachment =
	        ht_attached_next(run->attached, &ht_attach_kind_iteration_rules, run->rank, &at);
	*ret_rules = NULL;
	if (!attachment)
		return HT_OK;
	HT_TRY(ht_attachment_load(run->ctx, attachment, &data));
	*ret_rules = &((const struct loaded *)data)->rules;
	return HT_OK;
}

static enum ht_status judge(
        struct ht_run *run, const struct ht_attachment *attachment, struct ht_attach_use *ret_use)
{
	const struct ht_trace *t = run->trace;
	const void *data;
	struct ht_iteration_name name;
	uint64_t n = 0, matched = 0;
	HT_TRY(ht_attachment_load(run->ctx, attachment, &data));
	const struct ht_iteration_rules *rules = &((const struct loaded *)data)->rules;
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		if (t->kind[row] != HT_KIND_ANNOTATION)
			continue;
		n++;
		matched += ht_iteration_read(rules, ht_str(t, t->name[row]), &name);
	}
	*ret_use = (struct ht_attach_use){
		.text = ht_arena_printf(run->scratch, "%zu rule%s%s", rules->n,
		        rules->n == 1 ? "" : "s",
		        rules->kv_token_bytes >= 0 ? ", KV entries of the model" : ""),
		.matched = matched,
		.n = n,
		.things = "annotations",
	};
	return ret_use->text ? HT_OK : ht_fail_nomem(run->ctx);
}

const struct ht_attach_kind ht_attach_kind_iteration_rules = {
	.name = "iteration-rules",
	.what = "rules for annotations of serving engines",
	.use = "iterations knows the annotations that it describes",
	.sniff = sniff,
	.load = load,
	.free = ht_text_free,
	.judge = judge,
};
