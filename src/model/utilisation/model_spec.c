/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_spec.c - see model_spec.h.
 */
#include "model/utilisation/model_spec.h"

#include "base/literal.h"

#include <string.h>

static enum ht_status refuse(struct ht_run *run, const char *what, const char *item, size_t n)
{
	return ht_fail(run->ctx, HT_USAGE, NULL, -1,
	        "--model takes n=parameters,layers=,heads=,head=size,seq=length and, where the trace does not "
	        "tell, tokens=per rank and step",
	        "--model: \"%.*s\" %s", (int)n, item, what);
}

static double *field(struct ht_model_spec *spec, const char *key, size_t n)
{
	struct {
		const char *key;
		double *at;
	} fields[] = { { "n", &spec->n }, { "layers", &spec->layers }, { "heads", &spec->heads },
		{ "head", &spec->head }, { "seq", &spec->seq }, { "tokens", &spec->tokens } };
	for (size_t i = 0; i < HT_COUNT(fields); i++)
		if (strlen(fields[i].key) == n && !memcmp(fields[i].key, key, n))
			return fields[i].at;
	return NULL;
}

static enum ht_status read_item(
        struct ht_run *run, const char *item, size_t n, struct ht_model_spec *spec)
{
	const char *equals = memchr(item, '=', n);
	double *at = equals ? field(spec, item, (size_t)(equals - item)) : NULL;
	if (!at)
		return refuse(run, "is no such item", item, n);
	size_t n_value = n - (size_t)(equals - item) - 1;
	const char *value = ht_arena_strndup(run->scratch, equals + 1, n_value);
	struct ht_literal number;
	if (!value)
		return ht_fail_nomem(run->ctx);
	if (!ht_literal_parse(value, &number) || number.kind != HT_UNIT_NONE || number.num <= 0)
		return refuse(run, "has no positive number", item, n);
	*at = ht_literal_f64(&number);
	return HT_OK;
}

enum ht_status ht_model_spec_read(struct ht_run *run, const char *text, struct ht_model_spec *ret)
{
	struct ht_model_spec spec = { .is_given = text != NULL };
	for (const char *item = text ? text : ""; *item;) {
		size_t n = strcspn(item, ",");
		HT_TRY(read_item(run, item, n, &spec));
		item += n + (item[n] == ',');
	}
	if (text && (!spec.n || !spec.layers || !spec.heads || !spec.head || !spec.seq))
		return refuse(run, "lacks n, layers, heads, head or seq", text, strlen(text));
	*ret = spec;
	return HT_OK;
}

double ht_model_flops_per_token(const struct ht_model_spec *spec)
{
	return 6 * spec->n + 12 * spec->layers * spec->heads * spec->head * spec->seq;
}
