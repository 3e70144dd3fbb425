/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pickle_values.c - the values of a pickle: stack, memo, containers and their folds. See pickle.h.
 *
 * A container is memoized before it is filled, and filled while it lies on the stack, so that a fold can put its
 * record into both places and use the object again. Where a third handle is around (a list that holds itself), the
 * object stays and says what it became.
 */
#include "read/pickle.h"

#include <string.h>

#define MAX_STACK      ((size_t)1 << 24)
#define MAX_MARKS      256
#define MAX_DEPTH      64
#define MAX_MEMO       ((uint64_t)1 << 28)
#define MAX_MEMO_AHEAD ((uint64_t)1 << 16)
#define MAX_ITEMS      ((size_t)1 << 31)
#define INLINE_LIMIT   ((int64_t)1 << 59)

void ht_pickle_init(struct ht_pickle *p, ht_ctx *ctx, const char *path, struct ht_pool *pool,
        const struct ht_pk_folds *folds, void *user)
{
	static const struct ht_pk_folds none;
	*p = (struct ht_pickle){ .ctx = ctx,
		.path = path,
		.strings = { .pool = pool },
		.folds = folds ? folds : &none,
		.user = user };
}

void ht_pickle_done(struct ht_pickle *p)
{
	struct ht_mem *mem = p->ctx->mem;
	ht_intern_done(&p->strings);
	ht_vec_free(mem, &p->stack, sizeof(ht_pk));
	ht_vec_free(mem, &p->marks, sizeof(size_t));
	ht_vec_free(mem, &p->memo, sizeof(ht_pk));
	ht_vec_free(mem, &p->objects, sizeof(struct ht_pk_object));
	ht_vec_free(mem, &p->spare, sizeof(uint32_t));
	ht_vec_free(mem, &p->items, sizeof(ht_pk));
	ht_vec_free(mem, &p->wides, sizeof(uint64_t));
}

enum ht_status ht_pk_refuse(struct ht_pickle *p, const char *what)
{
	return ht_fail(p->ctx, HT_FORMAT, p->path, p->offset,
	        "give a file that torch.cuda.memory._dump_snapshot wrote", "%s", what);
}

static bool is_object(ht_pk value)
{
	enum ht_pk_kind kind = ht_pk_kind(value);
	return kind == HT_PK_LIST || kind == HT_PK_DICT || kind == HT_PK_TUPLE;
}

static struct ht_pk_object *object_of(const struct ht_pickle *p, ht_pk value)
{
	return (struct ht_pk_object *)p->objects.data + ht_pk_payload(value);
}

ht_pk ht_pk_resolve(const struct ht_pickle *p, ht_pk value)
{
	return is_object(value) && object_of(p, value)->became ? object_of(p, value)->became
	                                                       : value;
}

/* ---- the stack ---- */

enum ht_status ht_pk_push_slow(struct ht_pickle *p, ht_pk value)
{
	if (p->stack.n >= MAX_STACK)
		return ht_fail(p->ctx, HT_LIMIT, p->path, p->offset,
		        "no memory snapshot needs that; the file may be damaged",
		        "more than %zu values on the stack of the pickle", MAX_STACK);
	return HT_VEC_PUSH(p->ctx->mem, &p->stack, ht_pk, value) ? HT_OK : ht_fail_nomem(p->ctx);
}

static enum ht_status push_wide(struct ht_pickle *p, enum ht_pk_kind kind, uint64_t bits)
{
	if (!HT_VEC_PUSH(p->ctx->mem, &p->wides, uint64_t, bits))
		return ht_fail_nomem(p->ctx);
	return ht_pk_push(p, ht_pk_make(kind, p->wides.n - 1));
}

enum ht_status ht_pk_push_i64(struct ht_pickle *p, int64_t value)
{
	if (value >= -INLINE_LIMIT && value < INLINE_LIMIT)
		return ht_pk_push(p, ht_pk_make(HT_PK_INT, (uint64_t)value));
	return push_wide(p, HT_PK_WIDE, (uint64_t)value);
}

enum ht_status ht_pk_push_u64(struct ht_pickle *p, uint64_t value)
{
	return value <= INT64_MAX ? ht_pk_push_i64(p, (int64_t)value)
	                          : push_wide(p, HT_PK_UWIDE, value);
}

enum ht_status ht_pk_push_f64(struct ht_pickle *p, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return push_wide(p, HT_PK_FLOAT, bits);
}

enum ht_status ht_pk_push_str(struct ht_pickle *p, const char *text, size_t n)
{
	uint32_t id;
	if (!ht_intern(&p->strings, text, n, &id))
		return ht_fail_nomem(p->ctx);
	return ht_pk_push(p, ht_pk_make(HT_PK_STR, id));
}

enum ht_status ht_pk_push_new(struct ht_pickle *p, enum ht_pk_kind kind)
{
	uint32_t i;
	if (p->spare.n) {
		i = ((const uint32_t *)p->spare.data)[--p->spare.n];
		((struct ht_pk_object *)p->objects.data)[i] = (struct ht_pk_object){ 0 };
	} else {
		struct ht_pk_object object = { 0 };
		i = (uint32_t)p->objects.n;
		if (p->objects.n >= UINT32_MAX - 1)
			return ht_pk_refuse(p, "more than 4294967294 containers in the pickle");
		if (!HT_VEC_PUSH(p->ctx->mem, &p->objects, struct ht_pk_object, object))
			return ht_fail_nomem(p->ctx);
	}
	return ht_pk_push(p, ht_pk_make(kind, i));
}

enum ht_status ht_pk_push_mark(struct ht_pickle *p)
{
	if (p->marks.n >= MAX_MARKS)
		return ht_pk_refuse(p, "more than 256 containers of the pickle are open at once");
	if (!HT_VEC_PUSH(p->ctx->mem, &p->marks, size_t, p->stack.n))
		return ht_fail_nomem(p->ctx);
	return ht_pk_push(p, ht_pk_make(HT_PK_MARK, 0));
}

/* Values above the last mark; a value below it belongs to who put the mark. */
static size_t n_above_mark(const struct ht_pickle *p)
{
	return p->marks.n ? p->stack.n - ((const size_t *)p->marks.data)[p->marks.n - 1] - 1
	                  : p->stack.n;
}

enum ht_status ht_pk_pop(struct ht_pickle *p)
{
	/* as Python: without a value above it, the mark itself goes */
	if (!n_above_mark(p))
		return ht_pk_pop_mark(p);
	p->stack.n--;
	return HT_OK;
}

enum ht_status ht_pk_pop_mark(struct ht_pickle *p)
{
	if (!p->marks.n)
		return ht_pk_refuse(p, "the pickle takes from an empty stack");
	p->stack.n = ((const size_t *)p->marks.data)[--p->marks.n];
	return HT_OK;
}

static void refer(struct ht_pickle *p, ht_pk value)
{
	if (is_object(value))
		object_of(p, value)->n_refs++;
}

enum ht_status ht_pk_dup(struct ht_pickle *p)
{
	if (!n_above_mark(p))
		return ht_pk_refuse(p, "the pickle takes from an empty stack");
	ht_pk value = ((const ht_pk *)p->stack.data)[p->stack.n - 1];
	refer(p, value);
	return ht_pk_push(p, value);
}

/* ---- the memo ---- */

enum ht_status ht_pk_memoize(struct ht_pickle *p, uint64_t slot)
{
	if (!n_above_mark(p))
		return ht_pk_refuse(p, "the pickle memoizes a value that is not there");
	if (slot > MAX_MEMO || slot > p->n_memoized + MAX_MEMO_AHEAD)
		return ht_pk_refuse(p, "the pickle's memo has a place far beyond its values");
	while (p->memo.n <= slot)
		if (!HT_VEC_PUSH(p->ctx->mem, &p->memo, ht_pk, ht_pk_make(HT_PK_EMPTY, 0)))
			return ht_fail_nomem(p->ctx);
	ht_pk value = ((const ht_pk *)p->stack.data)[p->stack.n - 1];
	if (is_object(value)) {
		struct ht_pk_object *object = object_of(p, value);
		object->n_refs += object->slot_1 != 0;
		object->slot_1 = (uint32_t)slot + 1;
	}
	((ht_pk *)p->memo.data)[slot] = value;
	p->n_memoized++;
	return HT_OK;
}

enum ht_status ht_pk_get(struct ht_pickle *p, uint64_t slot)
{
	ht_pk value =
	        slot < p->memo.n ? ((const ht_pk *)p->memo.data)[slot] : ht_pk_make(HT_PK_EMPTY, 0);
	if (ht_pk_kind(value) == HT_PK_EMPTY)
		return ht_pk_refuse(p, "the pickle gets a value that its memo does not have");
	refer(p, value);
	return ht_pk_push(p, value);
}

/* ---- filling ---- */

static enum ht_status grow_object(struct ht_pickle *p, struct ht_pk_object *object, size_t n)
{
	size_t wanted = (size_t)object->n + n, cap = object->n ? wanted * 2 : wanted;
	if (wanted > MAX_ITEMS)
		return ht_pk_refuse(p, "a container of the pickle has too many items");
	if (wanted <= object->cap)
		return HT_OK;
	if (!ht_vec_reserve(p->ctx->mem, &p->items, sizeof(ht_pk), cap))
		return ht_fail_nomem(p->ctx);
	ht_pk *items = p->items.data;
	if (object->n)
		memcpy(items + p->items.n, items + object->first, object->n * sizeof *items);
	object->first = p->items.n;
	object->cap = (uint32_t)cap;
	p->items.n += cap;
	return HT_OK;
}

static enum ht_status check_items(
        struct ht_pickle *p, enum ht_pk_kind kind, const ht_pk *items, size_t n, uint8_t *depth)
{
	for (size_t i = 0; i < n; i++) {
		enum ht_pk_kind item = ht_pk_kind(items[i]);
		if (item == HT_PK_MARK)
			return ht_pk_refuse(p, "a mark stands among the values of the pickle");
		if (kind == HT_PK_DICT && i % 2 == 0 && (item == HT_PK_LIST || item == HT_PK_DICT))
			return ht_pk_refuse(p, "a list or dict is the key of a dict");
		if (is_object(items[i]) && object_of(p, items[i])->depth >= *depth)
			*depth = (uint8_t)(object_of(p, items[i])->depth + 1);
	}
	return *depth < MAX_DEPTH ? HT_OK
	                          : ht_pk_refuse(p, "containers are nested deeper than 64 levels");
}

static enum ht_status add_items(
        struct ht_pickle *p, ht_pk value, enum ht_pk_kind kind, const ht_pk *items, size_t n)
{
	uint8_t depth = object_of(p, value)->depth;
	HT_TRY(check_items(p, kind, items, n, &depth));
	HT_TRY(grow_object(p, object_of(p, value), n));
	struct ht_pk_object *object = object_of(p, value);
	if (n)
		memcpy((ht_pk *)p->items.data + object->first + object->n, items,
		        n * sizeof *items);
	object->n += (uint32_t)n;
	object->depth = depth;
	return HT_OK;
}

/* Put the record wherever the container is. */
static enum ht_status become(struct ht_pickle *p, ht_pk *place, ht_pk record)
{
	ht_pk value = *place;
	struct ht_pk_object *object = object_of(p, value);
	*place = record;
	/* another value may have taken its place since */
	ht_pk *slot = object->slot_1 ? (ht_pk *)p->memo.data + object->slot_1 - 1 : NULL;
	if (slot && *slot == value)
		*slot = record;
	if (object->n_refs) {
		object->became = record;
		return HT_OK;
	}
	uint32_t i = (uint32_t)ht_pk_payload(value);
	return HT_VEC_PUSH(p->ctx->mem, &p->spare, uint32_t, i) ? HT_OK : ht_fail_nomem(p->ctx);
}

static enum ht_status fill_at(
        struct ht_pickle *p, enum ht_pk_kind kind, ht_pk *place, const ht_pk *items, size_t n)
{
	ht_pk value = ht_pk_resolve(p, *place), record = value;
	bool (*fold)(void *, const ht_pk *, size_t, ht_pk *) =
	        kind == HT_PK_DICT ? p->folds->dict : p->folds->list;
	if (kind == HT_PK_DICT && n % 2)
		return ht_pk_refuse(p, "a key of the pickle has no value");
	if (!n)
		return HT_OK;
	if (ht_pk_kind(value) == HT_PK_RECORD)
		return kind == HT_PK_LIST && fold && fold(p->user, items, n, &record)
		               ? HT_OK
		               : ht_pk_refuse(p, "a filled record of the snapshot is filled again");
	if (ht_pk_kind(value) != kind)
		return ht_pk_refuse(p, "the pickle adds items to what takes none");
	if (fold && !object_of(p, value)->n && fold(p->user, items, n, &record))
		return become(p, place, record);
	return add_items(p, value, kind, items, n);
}

enum ht_status ht_pk_fill(struct ht_pickle *p, enum ht_pk_kind kind, size_t n)
{
	if (n_above_mark(p) < n + 1)
		return ht_pk_refuse(p, "the pickle takes from an empty stack");
	ht_pk *place = (ht_pk *)p->stack.data + p->stack.n - n - 1;
	HT_TRY(fill_at(p, kind, place, place + 1, n));
	p->stack.n -= n;
	return HT_OK;
}

enum ht_status ht_pk_fill_from_mark(struct ht_pickle *p, enum ht_pk_kind kind)
{
	size_t n = n_above_mark(p);
	if (!p->marks.n || p->stack.n - n < 2)
		return ht_pk_refuse(p, "the pickle fills a container that is not there");
	ht_pk *place = (ht_pk *)p->stack.data + p->stack.n - n - 2;
	if (ht_pk_kind(*place) == HT_PK_MARK)
		return ht_pk_refuse(p, "the pickle fills a container that is not there");
	HT_TRY(fill_at(p, kind, place, place + 2, n));
	p->stack.n -= n + 1;
	p->marks.n--;
	return HT_OK;
}

enum ht_status ht_pk_make_of(struct ht_pickle *p, enum ht_pk_kind kind, size_t n)
{
	ht_pk record;
	if (n_above_mark(p) < n)
		return ht_pk_refuse(p, "the pickle takes from an empty stack");
	const ht_pk *items = (const ht_pk *)p->stack.data + p->stack.n - n;
	ht_pk before = p->stack.n > n ? items[-1] : ht_pk_make(HT_PK_EMPTY, 0);
	if (kind == HT_PK_TUPLE && p->folds->tuple &&
	        p->folds->tuple(p->user, items, n, before, &record)) {
		p->stack.n -= n;
		return ht_pk_push(p, record);
	}
	HT_TRY(ht_pk_push_new(p, kind));
	ht_pk *place = (ht_pk *)p->stack.data + p->stack.n - 1;
	if (kind == HT_PK_TUPLE)
		HT_TRY(add_items(p, *place, kind, place - n, n));
	else
		HT_TRY(fill_at(p, kind, place, place - n, n));
	place[-(ptrdiff_t)n] = *place;
	p->stack.n -= n;
	return HT_OK;
}

enum ht_status ht_pk_make_from_mark(struct ht_pickle *p, enum ht_pk_kind kind)
{
	size_t n = n_above_mark(p);
	if (!p->marks.n)
		return ht_pk_refuse(p, "the pickle has no mark where it needs one");
	HT_TRY(ht_pk_make_of(p, kind, n));
	p->marks.n--;
	ht_pk *stack = p->stack.data;
	stack[p->stack.n - 2] = stack[p->stack.n - 1];
	p->stack.n--;
	return HT_OK;
}

/* ---- the end ---- */

/* What lies above an open container when the bytes end: items that are whole, and the one that was being made. */
static enum ht_status close_mark(struct ht_pickle *p)
{
	size_t at = ((const size_t *)p->marks.data)[--p->marks.n], n = p->stack.n - at - 1;
	if (!at)
		return ht_pk_refuse(p, "the pickle ends before it has begun");
	ht_pk *place = (ht_pk *)p->stack.data + at - 1, *items = place + 2;
	ht_pk value = ht_pk_resolve(p, *place);
	bool is_dict = ht_pk_kind(value) == HT_PK_DICT;
	size_t n_kept = 0;
	/* a dict that was just begun */
	if (n && ht_pk_kind(items[n - 1]) == HT_PK_DICT && !object_of(p, items[n - 1])->n)
		items[n - 1] = ht_pk_make(HT_PK_LOST, 0);
	for (size_t i = 0; i < n; i++) {
		bool is_key = is_dict && n_kept % 2 == 0;
		bool is_pending = is_key && n_kept && ht_pk_kind(items[i]) != HT_PK_STR;
		if (is_pending) {
			/* the only item of the list before it, which APPEND was to add */
			ht_pk *list = &items[n_kept - 1];
			if (ht_pk_kind(*list) == HT_PK_LIST && ht_pk_kind(items[i]) != HT_PK_LOST)
				HT_TRY(fill_at(p, HT_PK_LIST, list, &items[i], 1));
		} else if (ht_pk_kind(items[i]) != HT_PK_LOST) {
			items[n_kept++] = items[i];
		} else if (is_dict && !is_key) {
			n_kept--;
		}
	}
	/* a dict is whole or none, but for the outermost */
	p->stack.n = at;
	if (is_dict && at > 1) {
		*place = ht_pk_make(HT_PK_LOST, 0);
		return HT_OK;
	}
	bool is_list = ht_pk_kind(value) == HT_PK_LIST || ht_pk_kind(value) == HT_PK_RECORD;
	if (!is_dict && !is_list)
		return HT_OK;
	return fill_at(p, is_dict ? HT_PK_DICT : HT_PK_LIST, place, items,
	        is_dict ? n_kept / 2 * 2 : n_kept);
}

enum ht_status ht_pk_root(struct ht_pickle *p, ht_pk *ret_root)
{
	while (p->is_cut && p->marks.n)
		HT_TRY(close_mark(p));
	if (p->marks.n || !p->stack.n || (p->stack.n > 1 && !p->is_cut))
		return ht_pk_refuse(p, p->stack.n ? "the pickle ends with values left over"
		                                  : "the pickle ends without a value");
	*ret_root = ht_pk_resolve(p, ((const ht_pk *)p->stack.data)[0]);
	return HT_OK;
}

/* ---- looking at values ---- */

const ht_pk *ht_pk_items(const struct ht_pickle *p, ht_pk value, size_t *ret_n)
{
	value = ht_pk_resolve(p, value);
	*ret_n = is_object(value) ? object_of(p, value)->n : 0;
	return *ret_n ? (const ht_pk *)p->items.data + object_of(p, value)->first : NULL;
}

const char *ht_pk_text(const struct ht_pickle *p, ht_pk value, size_t *ret_n)
{
	if (ht_pk_kind(value) != HT_PK_STR)
		return NULL;
	const struct ht_text *text =
	        (const struct ht_text *)p->strings.pool->texts.data + ht_pk_payload(value);
	*ret_n = text->n;
	return text->bytes;
}

ht_pk ht_pk_find(const struct ht_pickle *p, ht_pk dict, const char *key)
{
	size_t n, n_text;
	const ht_pk *items = ht_pk_items(p, dict, &n);
	if (ht_pk_kind(ht_pk_resolve(p, dict)) != HT_PK_DICT)
		n = 0;
	for (size_t i = n / 2; i > 0; i--) {
		const char *text = ht_pk_text(p, items[2 * i - 2], &n_text);
		if (text && n_text == strlen(key) && !memcmp(text, key, n_text))
			return ht_pk_resolve(p, items[2 * i - 1]);
	}
	return ht_pk_make(HT_PK_EMPTY, 0);
}

static uint64_t wide_of(const struct ht_pickle *p, ht_pk value)
{
	return ((const uint64_t *)p->wides.data)[ht_pk_payload(value)];
}

bool ht_pk_i64(const struct ht_pickle *p, ht_pk value, int64_t *ret_value)
{
	if (ht_pk_kind(value) == HT_PK_INT)
		*ret_value = (int64_t)value >> 4;
	else if (ht_pk_kind(value) == HT_PK_WIDE)
		*ret_value = (int64_t)wide_of(p, value);
	else
		return false;
	return true;
}

bool ht_pk_u64(const struct ht_pickle *p, ht_pk value, uint64_t *ret_value)
{
	int64_t number;
	if (ht_pk_kind(value) == HT_PK_UWIDE)
		*ret_value = wide_of(p, value);
	else if (ht_pk_i64(p, value, &number))
		*ret_value = (uint64_t)number;
	else
		return false;
	return true;
}

bool ht_pk_f64(const struct ht_pickle *p, ht_pk value, double *ret_value)
{
	int64_t number;
	if (ht_pk_kind(value) == HT_PK_FLOAT) {
		uint64_t bits = wide_of(p, value);
		memcpy(ret_value, &bits, sizeof bits);
	} else if (ht_pk_i64(p, value, &number)) {
		*ret_value = (double)number;
	} else {
		return false;
	}
	return true;
}
