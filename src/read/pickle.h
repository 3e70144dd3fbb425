/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pickle.h - Python's pickles without Python: a stack machine over a closed list of opcodes that build plain data.
 *
 *   opcodes (pickle.c), or JSON (snapshot_json.c) ─► values (pickle_values.c) ─► folds of the caller
 *
 * Nothing is imported or called: an opcode that would is refused with its name, its offset and what it names. A
 * value is a handle of 64 bits; containers are objects, their items handles in one array, so that sharing and cycles
 * cost nothing and nothing is ever expanded.
 *
 * A fold turns a container into a record of the caller as soon as it is filled, whereupon its items are gone: a
 * snapshot of a gigabyte becomes columns while it is read. Without folds the machine is a plain reader of pickles.
 *
 * Memory grows with the bytes of the file at most; what a valid pickle does not need has limits: 2^24 values on the
 * stack, 256 marks, containers 64 deep, texts of 64 MiB.
 */
#ifndef HT_READ_PICKLE_H
#define HT_READ_PICKLE_H

#include "base/intern.h"
#include "base/status.h"

typedef uint64_t ht_pk; /* kind in the lowest four bits, the rest is its payload */

enum ht_pk_kind {
	HT_PK_NONE,
	HT_PK_BOOL,
	HT_PK_INT,   /* payload: the number, 60 bits with sign */
	HT_PK_WIDE,  /* payload: index of an int64_t */
	HT_PK_UWIDE, /* payload: index of a uint64_t beyond it */
	HT_PK_FLOAT, /* payload: index of a double's bits */
	HT_PK_STR,   /* payload: string id */
	HT_PK_LIST,  /* payload: object */
	HT_PK_DICT,
	HT_PK_TUPLE,
	HT_PK_RECORD, /* payload: of a fold; ht_pk_record */
	HT_PK_MARK,
	HT_PK_LOST, /* cut off by the end of the file */
	HT_PK_EMPTY /* a place of the memo that nothing was put to */
};

static inline enum ht_pk_kind ht_pk_kind(ht_pk value)
{
	return (enum ht_pk_kind)(value & 15);
}

static inline uint64_t ht_pk_payload(ht_pk value)
{
	return value >> 4;
}

static inline ht_pk ht_pk_make(enum ht_pk_kind kind, uint64_t payload)
{
	return payload << 4 | (ht_pk)kind;
}

/* A record: one of 256 types of the caller, and a number below 2^52. */
static inline ht_pk ht_pk_record(unsigned type, uint64_t index)
{
	return ht_pk_make(HT_PK_RECORD, index << 8 | type);
}

static inline unsigned ht_pk_record_type(ht_pk value)
{
	return (unsigned)(value >> 4 & 255);
}

static inline uint64_t ht_pk_record_index(ht_pk value)
{
	return value >> 12;
}

struct ht_pk_object {
	uint64_t first; /* of its items; keys and values take turns in a dict */
	uint32_t n, cap;
	uint32_t slot_1; /* 1 + place in the memo, 0: not there */
	uint32_t n_refs; /* handles besides the one on the stack and the one in the memo */
	ht_pk became;    /* folded while others refer to it; 0: not */
	uint8_t depth;   /* of containers in it */
};

struct ht_pickle;

/* What to make of filled containers; each may be NULL. Items are those that are added now: to an empty container, or
 * to a list that is a record already (*value). true: *value is the record. A fold that fails says so to its user. */
struct ht_pk_folds {
	bool (*dict)(void *user, const ht_pk *items, size_t n, ht_pk *value);
	bool (*list)(void *user, const ht_pk *items, size_t n, ht_pk *value);
	/* before: the value below the items, such as the key that the tuple is for */
	bool (*tuple)(void *user, const ht_pk *items, size_t n, ht_pk before, ht_pk *value);
};

struct ht_pickle {
	ht_ctx *ctx;
	const char *path;
	int64_t offset; /* of the opcode in hand */
	struct ht_intern strings;
	struct ht_vec stack;   /* ht_pk */
	struct ht_vec marks;   /* size_t: places of the marks in it */
	struct ht_vec memo;    /* ht_pk */
	struct ht_vec objects; /* struct ht_pk_object */
	struct ht_vec spare;   /* uint32_t: objects that nothing refers to */
	struct ht_vec items;   /* ht_pk */
	struct ht_vec wides;   /* uint64_t */
	uint64_t n_memoized;   /* values that were put to the memo */
	const struct ht_pk_folds *folds;
	void *user;
	bool is_cut; /* the bytes ended before the value did */
};

/* Texts go to the pool. */
void ht_pickle_init(struct ht_pickle *pickle, ht_ctx *ctx, const char *path, struct ht_pool *pool,
        const struct ht_pk_folds *folds, void *user);
void ht_pickle_done(struct ht_pickle *pickle);

/* ---- values (pickle_values.c) ---- */

enum ht_status ht_pk_refuse(struct ht_pickle *pickle, const char *what);
enum ht_status ht_pk_push_slow(struct ht_pickle *pickle, ht_pk value) HT_MUST_USE;
static inline enum ht_status ht_pk_push(struct ht_pickle *pickle, ht_pk value)
{
	struct ht_vec *stack = &pickle->stack;
	if (stack->n < stack->cap) {
		((ht_pk *)stack->data)[stack->n++] = value;
		return HT_OK;
	}
	return ht_pk_push_slow(pickle, value);
}
enum ht_status ht_pk_push_i64(struct ht_pickle *pickle, int64_t value) HT_MUST_USE;
enum ht_status ht_pk_push_u64(struct ht_pickle *pickle, uint64_t value) HT_MUST_USE;
enum ht_status ht_pk_push_f64(struct ht_pickle *pickle, double value) HT_MUST_USE;
enum ht_status ht_pk_push_str(struct ht_pickle *pickle, const char *text, size_t n) HT_MUST_USE;
enum ht_status ht_pk_push_new(struct ht_pickle *pickle, enum ht_pk_kind kind) HT_MUST_USE;
enum ht_status ht_pk_push_mark(struct ht_pickle *pickle) HT_MUST_USE;
/* Take the values above the last mark, or the last n, for a container: one that lies below them, or a new one. */
enum ht_status ht_pk_fill_from_mark(struct ht_pickle *pickle, enum ht_pk_kind kind) HT_MUST_USE;
enum ht_status ht_pk_fill(struct ht_pickle *pickle, enum ht_pk_kind kind, size_t n) HT_MUST_USE;
enum ht_status ht_pk_make_from_mark(struct ht_pickle *pickle, enum ht_pk_kind kind) HT_MUST_USE;
enum ht_status ht_pk_make_of(struct ht_pickle *pickle, enum ht_pk_kind kind, size_t n) HT_MUST_USE;
enum ht_status ht_pk_pop(struct ht_pickle *pickle) HT_MUST_USE;
enum ht_status ht_pk_pop_mark(struct ht_pickle *pickle) HT_MUST_USE;
enum ht_status ht_pk_dup(struct ht_pickle *pickle) HT_MUST_USE;
enum ht_status ht_pk_memoize(struct ht_pickle *pickle, uint64_t slot) HT_MUST_USE;
enum ht_status ht_pk_get(struct ht_pickle *pickle, uint64_t slot) HT_MUST_USE;
/* The one value at the end; of a file that was cut, what can be saved of it. */
enum ht_status ht_pk_root(struct ht_pickle *pickle, ht_pk *ret_root) HT_MUST_USE;

/* What an object was folded to, where it was while others refer to it. */
ht_pk ht_pk_resolve(const struct ht_pickle *pickle, ht_pk value);
/* Items of a list, tuple or dict; none of other values. They live until the next item is added anywhere. */
const ht_pk *ht_pk_items(const struct ht_pickle *pickle, ht_pk value, size_t *ret_n);
/* The value of a key, the last one; HT_PK_EMPTY when there is none. */
ht_pk ht_pk_find(const struct ht_pickle *pickle, ht_pk dict, const char *key);
const char *ht_pk_text(const struct ht_pickle *pickle, ht_pk value, size_t *ret_n);
bool ht_pk_i64(const struct ht_pickle *pickle, ht_pk value, int64_t *ret_value);
/* Also of numbers beyond int64_t: addresses. */
bool ht_pk_u64(const struct ht_pickle *pickle, ht_pk value, uint64_t *ret_value);
bool ht_pk_f64(const struct ht_pickle *pickle, ht_pk value, double *ret_value);

/* A value as JSON: no blanks, keys in the order of the pickle, floats so that they read back the same. HT_LIMIT for
 * what is deeper or longer than a caller wants, such as a list in itself: in values, and in bytes of texts. */
struct ht_emit;
enum ht_status ht_pk_print(struct ht_pickle *pickle, ht_pk value, struct ht_emit *emit,
        uint64_t max_values, uint64_t max_bytes) HT_MUST_USE;

/* ---- bytes (pickle.c) ---- */

/* Where bytes come from: fewer than cap at the end only. */
struct ht_pk_bytes {
	enum ht_status (*read)(void *user, void *buf, size_t cap, size_t *ret_n);
	void *user;
};

/* The part of the bytes that is looked at. Zero but for context and bytes at first. */
struct ht_pk_window {
	ht_ctx *ctx;
	const struct ht_pk_bytes *bytes;
	unsigned char *buffer, *at, *end;
	size_t cap;
	int64_t base; /* offset of the start of the buffer */
	bool at_end;
	enum ht_status status;
};

/* Are n bytes there? False when the bytes end before that, or with the failure in status. */
bool ht_pk_window_fill(struct ht_pk_window *window, size_t n);
void ht_pk_window_done(struct ht_pk_window *window);
static inline bool ht_pk_window_has(struct ht_pk_window *window, size_t n)
{
	return (size_t)(window->end - window->at) >= n || ht_pk_window_fill(window, n);
}
static inline int64_t ht_pk_window_offset(const struct ht_pk_window *window)
{
	return window->base + (window->at - window->buffer);
}

/* Run the opcodes up to STOP, or as far as the bytes go (is_cut). */
enum ht_status ht_pickle_run(struct ht_pickle *pickle, const struct ht_pk_bytes *bytes) HT_MUST_USE;
/* Whether bytes begin like a pickle of protocol 2 to 5. */
bool ht_pickle_sniff(const char *text, size_t n);

#endif
