/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attached_op_rules.c - formulas of the user's own (op_rules.h) as a file that joins a trace.
 */
#include "attach/loaded_text.h"
#include "model/efficiency/op_rules.h"
#include "model/run.h"

#include <string.h>

struct loaded {
	struct ht_loaded_text head;
	struct ht_op_rules rules;
};

/* Lines are comments, or a name and a key with "=" behind it. */
static bool sniff(const struct ht_attach_head *head)
{
	static const char *const keys[] = { "flops", "vector", "bytes" };
	for (const char *line = head->text, *end = head->text + head->n; line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		size_t n = (size_t)((stop ? stop : end) - line), at = 0;
		while (at < n && (line[at] == ' ' || line[at] == '\t' || line[at] == '\r'))
			at++;
		if (at == n || line[at] == '#') {
			line += n + 1;
			continue;
		}
		while (at < n && line[at] != ' ' && line[at] != '\t')
			at++;
		while (at < n && (line[at] == ' ' || line[at] == '\t'))
			at++;
		for (size_t k = 0; k < HT_COUNT(keys); k++) {
			size_t length = strlen(keys[k]);
			if (at + length < n && !memcmp(line + at, keys[k], length) &&
			        strchr(" \t=", line[at + length]))
				return true;
		}
		return false;
	}
	return false;
}

static enum ht_status read_rules(ht_ctx *ctx, const char *path, char *text, void *to)
{
	struct loaded *loaded = to;
	return ht_op_rules_read(ctx, path, text, &loaded->head.arena, &loaded->rules);
}

static enum ht_status load(ht_ctx *ctx, const struct ht_attachment *attachment, void **ret_data)
{
	static const struct ht_text_reader how = { .read = read_rules };
	return ht_text_load(ctx, attachment, sizeof(struct loaded), &how, ret_data);
}

enum ht_status ht_op_rules_attached(struct ht_run *run, const struct ht_op_rules **ret_rules)
{
	size_t at = 0;
	const void *data = NULL;
	const struct ht_attachment *attachment =
	        ht_attached_next(run->attached, &ht_attach_kind_efficiency_rules, run->rank, &at);
	*ret_rules = NULL;
	if (!attachment)
		return HT_OK;
	HT_TRY(ht_attachment_load(run->ctx, attachment, &data));
	*ret_rules = &((const struct loaded *)data)->rules;
	return HT_OK;
}

const struct ht_attach_kind ht_attach_kind_efficiency_rules = {
	.name = "efficiency-rules",
	.what = "formulas for efficiency",
	.use = "efficiency counts the operators that it names",
	.sniff = sniff,
	.load = load,
	.free = ht_text_free,
};
