/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pickle.c - the opcodes of pickles, protocols 0 to 5, as far as they build plain data. See pickle.h.
 *
 * Two writers matter: Python's (SHORT_BINUNICODE, MEMOIZE and FRAME from protocol 4 on) and torch's own in C++
 * (protocol 2: BINUNICODE, BINPUT, LONG1 of eight bytes). The same loop reads both. FRAME is skipped, its length is
 * not trusted.
 */
#include "read/pickle.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES ((size_t)1 << 20)
#define MAX_TEXT     ((uint64_t)64 << 20)

enum opcode {
	OP_MARK = '(',
	OP_STOP = '.',
	OP_POP = '0',
	OP_POP_MARK = '1',
	OP_DUP = '2',
	OP_BINFLOAT = 'G',
	OP_BININT = 'J',
	OP_BININT1 = 'K',
	OP_BININT2 = 'M',
	OP_NONE = 'N',
	OP_BINUNICODE = 'X',
	OP_EMPTY_LIST = ']',
	OP_APPEND = 'a',
	OP_GLOBAL = 'c',
	OP_DICT = 'd',
	OP_APPENDS = 'e',
	OP_BINGET = 'h',
	OP_LONG_BINGET = 'j',
	OP_LIST = 'l',
	OP_BINPUT = 'q',
	OP_LONG_BINPUT = 'r',
	OP_SETITEM = 's',
	OP_TUPLE = 't',
	OP_EMPTY_TUPLE = ')',
	OP_SETITEMS = 'u',
	OP_EMPTY_DICT = '}',
	OP_PROTO = 0x80,
	OP_TUPLE1 = 0x85,
	OP_TUPLE2 = 0x86,
	OP_TUPLE3 = 0x87,
	OP_NEWTRUE = 0x88,
	OP_NEWFALSE = 0x89,
	OP_LONG1 = 0x8a,
	OP_LONG4 = 0x8b,
	OP_SHORT_BINUNICODE = 0x8c,
	OP_BINUNICODE8 = 0x8d,
	OP_STACK_GLOBAL = 0x93,
	OP_MEMOIZE = 0x94,
	OP_FRAME = 0x95,
};

/* What else there is in pickles. Those that run code say so. */
static const struct {
	unsigned char op;
	bool runs_code;
	const char *name;
} others[] = { { 'c', true, "GLOBAL" }, { 0x93, true, "STACK_GLOBAL" }, { 'R', true, "REDUCE" },
	{ 'b', true, "BUILD" }, { 'i', true, "INST" }, { 'o', true, "OBJ" },
	{ 0x81, true, "NEWOBJ" }, { 0x92, true, "NEWOBJ_EX" }, { 0x82, true, "EXT1" },
	{ 0x83, true, "EXT2" }, { 0x84, true, "EXT4" }, { 'P', true, "PERSID" },
	{ 'Q', true, "BINPERSID" }, { 0x97, true, "NEXT_BUFFER" },
	{ 0x98, true, "READONLY_BUFFER" }, { 0x96, false, "BYTEARRAY8" },
	{ 'B', false, "BINBYTES" }, { 'C', false, "SHORT_BINBYTES" }, { 0x8e, false, "BINBYTES8" },
	{ 0x8f, false, "EMPTY_SET" }, { 0x90, false, "ADDITEMS" }, { 0x91, false, "FROZENSET" },
	{ 'I', false, "INT" }, { 'L', false, "LONG" }, { 'F', false, "FLOAT" },
	{ 'S', false, "STRING" }, { 'T', false, "BINSTRING" }, { 'U', false, "SHORT_BINSTRING" },
	{ 'V', false, "UNICODE" }, { 'p', false, "PUT" }, { 'g', false, "GET" } };

struct run {
	struct ht_pickle *p;
	struct ht_pk_window w;
};

bool ht_pk_window_fill(struct ht_pk_window *w, size_t n)
{
	size_t n_left = (size_t)(w->end - w->at), n_read = 0;
	struct ht_mem *mem = w->ctx->mem;
	unsigned char *buffer = w->buffer;
	if (n > w->cap || !buffer) {
		buffer = ht_mem_alloc(mem, n + BUFFER_BYTES);
		if (!buffer) {
			w->status = ht_fail_nomem(w->ctx);
			return false;
		}
	}
	if (n_left)
		memmove(buffer, w->at, n_left);
	w->base += w->at - w->buffer;
	if (buffer != w->buffer) {
		ht_mem_free(mem, w->buffer, w->cap);
		w->buffer = buffer;
		w->cap = n + BUFFER_BYTES;
	}
	w->at = buffer;
	w->end = buffer + n_left;
	if (!w->at_end && w->status == HT_OK)
		w->status = w->bytes->read(w->bytes->user, w->end, w->cap - n_left, &n_read);
	if (w->status != HT_OK)
		return false;
	w->at_end |= n_read < w->cap - n_left;
	w->end += n_read;
	return (size_t)(w->end - w->at) >= n;
}

void ht_pk_window_done(struct ht_pk_window *w)
{
	if (w->buffer)
		ht_mem_free(w->ctx->mem, w->buffer, w->cap);
}

static uint64_t little_endian(const unsigned char *at, size_t n)
{
	uint64_t value = 0;
	for (size_t i = n; i > 0; i--)
		value = value << 8 | at[i - 1];
	return value;
}

/* ---- refusals ---- */

static enum ht_status refuse_name(
        struct run *r, const char *op, const char *module, int n_module, const char *name, int n)
{
	return ht_fail(r->p->ctx, HT_FORMAT, r->p->path, r->p->offset,
	        "a memory snapshot holds plain data only; do not open this file with Python",
	        "the pickle names %.*s.%.*s (%s): loading it would run code", n_module, module, n,
	        name, op);
}

static enum ht_status refuse_opcode(struct run *r, unsigned char op)
{
	for (size_t i = 0; i < HT_COUNT(others); i++)
		if (others[i].op == op)
			return ht_fail(r->p->ctx, HT_FORMAT, r->p->path, r->p->offset,
			        others[i].runs_code
			                ? "a memory snapshot holds plain data only; do not open this file with Python"
			                : "give a file that torch.cuda.memory._dump_snapshot wrote",
			        others[i].runs_code
			                ? "the pickle has the opcode %s (0x%02x): loading it would run code"
			                : "the pickle has the opcode %s (0x%02x), which memory snapshots do not use",
			        others[i].name, op);
	return ht_fail(r->p->ctx, HT_FORMAT, r->p->path, r->p->offset, "the file may be damaged",
	        "0x%02x is no opcode of a pickle", op);
}

/* module newline name newline */
static enum ht_status global(struct run *r, bool *is_cut)
{
	size_t n = 0, ends[2] = { 0 };
	for (int i = 0; i < 2; i++) {
		do {
			if (n > 1024)
				return ht_pk_refuse(r->p, "a name of the pickle is too long");
			if (!ht_pk_window_has(&r->w, n + 1)) {
				*is_cut = true;
				return r->w.status;
			}
		} while (r->w.at[n++] != '\n');
		ends[i] = n - 1;
	}
	const char *module = (const char *)r->w.at, *name = module + ends[0] + 1;
	size_t n_name = ends[1] - ends[0] - 1;
	return refuse_name(r, "GLOBAL", module, (int)ends[0], name, (int)n_name);
}

static enum ht_status stack_global(struct run *r)
{
	struct ht_pickle *p = r->p;
	const ht_pk *stack = p->stack.data;
	size_t n = p->stack.n, n_module, n_name;
	const char *module = n >= 2 ? ht_pk_text(p, stack[n - 2], &n_module) : NULL;
	const char *name = n >= 2 ? ht_pk_text(p, stack[n - 1], &n_name) : NULL;
	if (!module || !name)
		return refuse_opcode(r, OP_STACK_GLOBAL);
	return refuse_name(r, "STACK_GLOBAL", module, (int)(n_module < 200 ? n_module : 200), name,
	        (int)(n_name < 200 ? n_name : 200));
}

/* ---- arguments ---- */

static enum ht_status push_long(struct run *r, const unsigned char *at, uint64_t n)
{
	if (n > 9 || (n == 9 && at[8]))
		return ht_pk_refuse(r->p, "a number of the pickle has more than 64 bits");
	uint64_t value = little_endian(at, n < 8 ? n : 8);
	if (n == 9)
		return ht_pk_push_u64(r->p, value);
	if (n && n < 8 && at[n - 1] & 0x80)
		value |= ~(uint64_t)0 << 8 * n;
	return ht_pk_push_i64(r->p, (int64_t)value);
}

static enum ht_status push_float(struct run *r)
{
	uint64_t bits = 0;
	double value;
	for (size_t i = 0; i < 8; i++)
		bits = bits << 8 | r->w.at[i];
	r->w.at += 8;
	memcpy(&value, &bits, sizeof value);
	return ht_pk_push_f64(r->p, value);
}

/* A text behind its length of n_length bytes. */
static enum ht_status push_text(struct run *r, size_t n_length, bool *is_cut)
{
	uint64_t n = little_endian(r->w.at, n_length);
	if (n > MAX_TEXT)
		return ht_fail(r->p->ctx, HT_LIMIT, r->p->path, r->p->offset,
		        "the file may be damaged", "a text of the pickle has %llu bytes",
		        (unsigned long long)n);
	if (!ht_pk_window_has(&r->w, n_length + n)) {
		*is_cut = true;
		return r->w.status;
	}
	const char *text = (const char *)r->w.at + n_length;
	r->w.at += n_length + n;
	return ht_pk_push_str(r->p, text, n);
}

static enum ht_status push_long_of(struct run *r, size_t n_length, bool *is_cut)
{
	uint64_t n = little_endian(r->w.at, n_length);
	if (n > 9)
		return ht_pk_refuse(r->p, "a number of the pickle has more than 64 bits");
	if (!ht_pk_window_has(&r->w, n_length + n)) {
		*is_cut = true;
		return r->w.status;
	}
	r->w.at += n_length + n;
	return push_long(r, r->w.at - n, n);
}

/* ---- the loop ---- */

/* Bytes of the argument that always follows an opcode. */
static size_t argument_bytes(unsigned char op)
{
	switch (op) {
	case OP_BINGET:
	case OP_BINPUT:
	case OP_BININT1:
	case OP_PROTO:
	case OP_LONG1:
	case OP_SHORT_BINUNICODE: return 1;
	case OP_BININT2: return 2;
	case OP_LONG_BINGET:
	case OP_LONG_BINPUT:
	case OP_BININT:
	case OP_LONG4:
	case OP_BINUNICODE: return 4;
	case OP_BINFLOAT:
	case OP_FRAME:
	case OP_BINUNICODE8: return 8;
	default: return 0;
	}
}

/* Opcodes that put a value on the stack. */
static enum ht_status step_value(struct run *r, unsigned char op, bool *is_cut)
{
	struct ht_pickle *p = r->p;
	const unsigned char *at = r->w.at;
	switch (op) {
	case OP_BININT1: r->w.at += 1; return ht_pk_push_i64(p, at[0]);
	case OP_BININT2: r->w.at += 2; return ht_pk_push_i64(p, (int64_t)little_endian(at, 2));
	case OP_BININT: r->w.at += 4; return ht_pk_push_i64(p, (int32_t)little_endian(at, 4));
	case OP_LONG1: return push_long_of(r, 1, is_cut);
	case OP_LONG4: return push_long_of(r, 4, is_cut);
	case OP_BINFLOAT: return push_float(r);
	case OP_SHORT_BINUNICODE: return push_text(r, 1, is_cut);
	case OP_BINUNICODE: return push_text(r, 4, is_cut);
	case OP_BINUNICODE8: return push_text(r, 8, is_cut);
	case OP_NONE: return ht_pk_push(p, ht_pk_make(HT_PK_NONE, 0));
	case OP_NEWTRUE: return ht_pk_push(p, ht_pk_make(HT_PK_BOOL, 1));
	case OP_NEWFALSE: return ht_pk_push(p, ht_pk_make(HT_PK_BOOL, 0));
	case OP_EMPTY_DICT: return ht_pk_push_new(p, HT_PK_DICT);
	case OP_EMPTY_LIST: return ht_pk_push_new(p, HT_PK_LIST);
	case OP_EMPTY_TUPLE: return ht_pk_push_new(p, HT_PK_TUPLE);
	case OP_GLOBAL: return global(r, is_cut);
	case OP_STACK_GLOBAL: return stack_global(r);
	default: return refuse_opcode(r, op);
	}
}

static enum ht_status step(struct run *r, unsigned char op, bool *is_cut)
{
	struct ht_pickle *p = r->p;
	const unsigned char *at = r->w.at;
	switch (op) {
	case OP_BINGET: r->w.at += 1; return ht_pk_get(p, at[0]);
	case OP_LONG_BINGET: r->w.at += 4; return ht_pk_get(p, little_endian(at, 4));
	case OP_BINPUT: r->w.at += 1; return ht_pk_memoize(p, at[0]);
	case OP_LONG_BINPUT: r->w.at += 4; return ht_pk_memoize(p, little_endian(at, 4));
	case OP_MEMOIZE: return ht_pk_memoize(p, p->n_memoized);
	case OP_MARK: return ht_pk_push_mark(p);
	case OP_SETITEMS: return ht_pk_fill_from_mark(p, HT_PK_DICT);
	case OP_SETITEM: return ht_pk_fill(p, HT_PK_DICT, 2);
	case OP_APPENDS: return ht_pk_fill_from_mark(p, HT_PK_LIST);
	case OP_APPEND: return ht_pk_fill(p, HT_PK_LIST, 1);
	case OP_TUPLE: return ht_pk_make_from_mark(p, HT_PK_TUPLE);
	case OP_TUPLE1:
	case OP_TUPLE2:
	case OP_TUPLE3: return ht_pk_make_of(p, HT_PK_TUPLE, op - OP_TUPLE1 + 1u);
	case OP_LIST: return ht_pk_make_from_mark(p, HT_PK_LIST);
	case OP_DICT: return ht_pk_make_from_mark(p, HT_PK_DICT);
	case OP_POP: return ht_pk_pop(p);
	case OP_POP_MARK: return ht_pk_pop_mark(p);
	case OP_DUP: return ht_pk_dup(p);
	case OP_FRAME: r->w.at += 8; return HT_OK;
	case OP_PROTO:
		r->w.at += 1;
		return at[0] <= 5 ? HT_OK : ht_pk_refuse(p, "a pickle of a protocol beyond 5");
	default: return step_value(r, op, is_cut);
	}
}

enum ht_status ht_pickle_run(struct ht_pickle *p, const struct ht_pk_bytes *bytes)
{
	struct run r = { .p = p, .w = { .ctx = p->ctx, .bytes = bytes } };
	enum ht_status status = HT_OK;
	bool is_cut = false, is_done = false;
	while (status == HT_OK && !is_cut && !is_done) {
		if (!ht_pk_window_has(&r.w, 1))
			break;
		unsigned char op = *r.w.at;
		size_t n = argument_bytes(op);
		p->offset = ht_pk_window_offset(&r.w);
		if (!ht_pk_window_has(&r.w, 1 + n))
			break;
		r.w.at++;
		is_done = op == OP_STOP;
		if (!is_done)
			status = step(&r, op, &is_cut);
	}
	if (status == HT_OK)
		status = r.w.status;
	p->is_cut = !is_done;
	ht_pk_window_done(&r.w);
	return status;
}

bool ht_pickle_sniff(const char *text, size_t n)
{
	return n >= 2 && (unsigned char)text[0] == OP_PROTO && text[1] >= 2 && text[1] <= 5;
}
