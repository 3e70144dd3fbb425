/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pickle_print.c - a value of a pickle as JSON. See pickle.h.
 */
#include "read/pickle.h"

#include "base/emit.h"
#include "base/mem.h"
#include "base/sort.h"

#define MAX_PRINT_DEPTH 128

struct print {
	struct ht_pickle *pickle;
	struct ht_emit *emit;
	uint64_t n_left, n_bytes_left;
	unsigned depth;
};

static enum ht_status print(struct print *p, ht_pk value);

static void print_number(struct print *p, ht_pk value)
{
	int64_t number;
	uint64_t wide;
	double real;
	if (ht_pk_i64(p->pickle, value, &number))
		ht_emit_i64(p->emit, number);
	else if (ht_pk_u64(p->pickle, value, &wide))
		ht_emit_u64(p->emit, wide);
	else if (ht_pk_f64(p->pickle, value, &real))
		ht_emit_f64(p->emit, real);
	else
		HT_EMIT(p->emit, "null");
}

static enum ht_status fail_too_long(struct print *p)
{
	return ht_fail(p->pickle->ctx, HT_LIMIT, p->pickle->path, -1,
	        "it may hold itself, or the same thing many times over",
	        "a value of the pickle is too long to be written down");
}

/* Which entry has the value of each: Python keeps the first place and the last value of a key. */
#define REPEATED UINT32_MAX

static enum ht_status find_values(
        struct print *p, const ht_pk *items, uint32_t n, uint32_t **ret_value_of)
{
	struct ht_mem *mem = p->pickle->ctx->mem;
	uint64_t *keys = ht_mem_alloc(mem, n * sizeof *keys);
	uint32_t *order = ht_mem_alloc(mem, n * sizeof *order);
	uint32_t *value_of = ht_mem_alloc(mem, n * sizeof *value_of);
	for (uint32_t i = 0; keys && order && i < n; i++) {
		keys[i] = items[2 * i];
		order[i] = i;
	}
	bool ok = keys && order && value_of && ht_sort_keys(mem, keys, order, n);
	for (uint32_t i = 0, first = 0; ok && i < n; i++) {
		if (keys[i] != keys[first])
			first = i;
		value_of[order[i]] = REPEATED;
		value_of[order[first]] = order[i];
	}
	ht_mem_free(mem, keys, n * sizeof *keys);
	ht_mem_free(mem, order, n * sizeof *order);
	if (!ok)
		ht_mem_free(mem, value_of, n * sizeof *value_of);
	*ret_value_of = value_of;
	return ok ? HT_OK : ht_fail_nomem(p->pickle->ctx);
}

static enum ht_status print_entry(struct print *p, ht_pk key, ht_pk value)
{
	bool is_text = ht_pk_kind(key) == HT_PK_STR;
	if (!is_text)
		ht_emit_char(p->emit, '"');
	HT_TRY(print(p, key));
	if (!is_text)
		ht_emit_char(p->emit, '"');
	ht_emit_char(p->emit, ':');
	return print(p, value);
}

static enum ht_status print_dict(struct print *p, ht_pk value)
{
	size_t n, n_printed = 0;
	const ht_pk *items = ht_pk_items(p->pickle, value, &n);
	enum ht_status status = HT_OK;
	uint32_t *value_of = NULL;
	n /= 2;
	if (n > p->n_left)
		return fail_too_long(p);
	if (n)
		HT_TRY(find_values(p, items, (uint32_t)n, &value_of));
	ht_emit_char(p->emit, '{');
	for (size_t i = 0; status == HT_OK && i < n; i++) {
		if (value_of[i] == REPEATED) {
			/* looking at it counts, too */
			p->n_left -= p->n_left > 0;
			continue;
		}
		if (n_printed++)
			ht_emit_char(p->emit, ',');
		status = print_entry(p, items[2 * i], items[2 * (size_t)value_of[i] + 1]);
	}
	ht_emit_char(p->emit, '}');
	ht_mem_free(p->pickle->ctx->mem, value_of, n * sizeof *value_of);
	return status;
}

static enum ht_status print_list(struct print *p, ht_pk value)
{
	size_t n;
	const ht_pk *items = ht_pk_items(p->pickle, value, &n);
	ht_emit_char(p->emit, '[');
	for (size_t i = 0; i < n; i++) {
		if (i)
			ht_emit_char(p->emit, ',');
		HT_TRY(print(p, items[i]));
	}
	ht_emit_char(p->emit, ']');
	return HT_OK;
}

static enum ht_status print(struct print *p, ht_pk value)
{
	enum ht_status status = HT_OK;
	size_t n;
	value = ht_pk_resolve(p->pickle, value);
	if (!p->n_left || p->depth >= MAX_PRINT_DEPTH)
		return fail_too_long(p);
	p->n_left--;
	p->depth++;
	switch (ht_pk_kind(value)) {
	case HT_PK_BOOL:
		if (ht_pk_payload(value))
			HT_EMIT(p->emit, "true");
		else
			HT_EMIT(p->emit, "false");
		break;
	case HT_PK_STR: {
		const char *text = ht_pk_text(p->pickle, value, &n);
		if (n > p->n_bytes_left)
			return fail_too_long(p);
		p->n_bytes_left -= n;
		ht_emit_string(p->emit, text, n);
		break;
	}
	case HT_PK_LIST:
	case HT_PK_TUPLE: status = print_list(p, value); break;
	case HT_PK_DICT: status = print_dict(p, value); break;
	default: print_number(p, value);
	}
	p->depth--;
	return status;
}

enum ht_status ht_pk_print(struct ht_pickle *pickle, ht_pk value, struct ht_emit *emit,
        uint64_t max_values, uint64_t max_bytes)
{
	struct print p = { pickle, emit, max_values, max_bytes, 0 };
	return print(&p, value);
}
