/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et.h - an execution trace as columns: the graph of recorded functions that PyTorch's observer writes.
 *
 *   nodes     one per recorded function, in file order; parents and tensors are indexes, texts are string ids
 *   attrs     attributes and keys that have no field of their own, in file order
 *   tensors   every tensor that a node takes or gives, in the order of its arguments
 *   deps      data dependencies, which only Chakra's files have
 *
 * Arguments are JSON texts, as in the file (made of Python's repr in Chakra's), which ht_et_arg_* walk together
 * with their types. Reading decides by the keys that are there, not by the schema version. A finished store is
 * immutable. Ids are as in the file: they may repeat, and parents may be absent; rows never are.
 */
#ifndef HT_ET_ET_H
#define HT_ET_ET_H

#include "base/intern.h"
#include "base/status.h"

#define HT_ET_NONE   UINT32_MAX /* no row */
#define HT_ET_NO_STR UINT32_MAX /* no text */

/* What a node has in the file. The first ten are the attributes of every node, in the order of the file. */
enum ht_et_flag {
	HT_ET_RF_ID = 1,
	HT_ET_FW_PARENT = 2,
	HT_ET_SEQ_ID = 4,
	HT_ET_SCOPE = 8,
	HT_ET_TID = 16,
	HT_ET_FW_TID = 32,
	HT_ET_OP_SCHEMA = 64,
	HT_ET_KERNEL_BACKEND = 128,
	HT_ET_KERNEL_FILE = 256,
	HT_ET_TENSOR_RANGE = 512,
	HT_ET_ID = 1 << 10,
	HT_ET_NAME = 1 << 11,
	HT_ET_PARENT = 1 << 12,
	HT_ET_INPUTS = 1 << 13,
	HT_ET_OUTPUTS = 1 << 14,
	HT_ET_ATTRS = 1 << 15,
	HT_ET_FLAT = 1 << 16,     /* the layout of 1.0.1 */
	HT_ET_MADE = 1 << 17,     /* not in the file: made by the reader */
	HT_ET_BAD_ATTR = 1 << 18, /* an attribute without name, type or value, or not of its type */
};
#define HT_ET_N_BASE_ATTRS 10

/* JSON texts of parallel arrays, one entry per argument. */
struct ht_et_io {
	uint32_t values, shapes, types, strides;
};

struct ht_et_node {
	uint64_t id, parent_id;
	uint64_t rf_id, fw_parent;
	int64_t seq_id;
	uint64_t scope, tid, fw_tid;
	uint32_t name, op_schema, kernel_backend, kernel_file, tensor_range;
	uint32_t flags; /* enum ht_et_flag */
	struct ht_et_io in, out;
	uint32_t parent; /* row, HT_ET_NONE when it is absent; the process node is its own parent */
	uint32_t first_attr, n_attrs;
	uint32_t first_tensor, n_in, n_out; /* tensors of inputs, then of outputs */
	int64_t offset;                     /* in the decompressed file */
};

/* An attribute beyond the ten, or a key of the node itself (type HT_ET_NO_STR). */
struct ht_et_attr {
	uint32_t name, type;
	uint32_t value; /* JSON text */
};

struct ht_et_tensor {
	uint64_t id, storage, offset, numel, itemsize;
	uint32_t device; /* HT_ET_NO_STR in old files */
	uint32_t node;
};

/* What a node of Chakra's files has besides. */
struct ht_et_chakra {
	uint32_t type;               /* NodeType */
	uint32_t first_dep, n_deps;  /* data dependencies */
	uint32_t first_ctrl, n_ctrl; /* further control dependencies */
	uint64_t start_us, dur_us;
};

enum ht_et_stat_code {
#define STAT(name, severity, sentence, defect) HT_ET_STAT_##name,
#include "et/et_stats.def"
#undef STAT
	HT_ET_N_STATS
};

struct ht_et_stat {
	uint64_t count;
	int64_t first_offset;
};

enum ht_et_header { /* top-level keys of the file that are there */
	HT_ET_HAS_SCHEMA = 1,
	HT_ET_HAS_PID = 2,
	HT_ET_HAS_TIME = 4,
	HT_ET_HAS_START = 8,
	HT_ET_HAS_NODES = 16,
	HT_ET_HAS_FINISH = 32,
};

enum ht_et_format { HT_ET_JSON, HT_ET_CHAKRA };

struct ht_et {
	struct ht_mem *mem;
	char *path;
	enum ht_et_format format;
	unsigned headers; /* enum ht_et_header */
	uint32_t schema, time;
	int64_t pid, start_ts, finish_ts;
	struct ht_vec nodes;      /* struct ht_et_node */
	struct ht_vec attrs;      /* struct ht_et_attr */
	struct ht_vec tensors;    /* struct ht_et_tensor */
	struct ht_vec chakra;     /* struct ht_et_chakra by row; empty for JSON */
	struct ht_vec deps;       /* uint64_t ids */
	struct ht_vec more_heads; /* struct ht_et_attr: further top-level keys */
	struct ht_pool pool;
	struct ht_et_stat stats[HT_ET_N_STATS];
	uint64_t text_bytes, file_bytes;
	bool is_valid; /* JSON to the letter; known of files that were read strictly */
	/* indexes, made at the end */
	uint32_t *by_id;       /* rows ascending by id, then row */
	uint32_t *first_child; /* n + 1: slice of children, which ascend by id */
	uint32_t *children;
	uint32_t root; /* row of the process node, or HT_ET_NONE */
};

static inline const struct ht_et_node *ht_et_nodes(const struct ht_et *et)
{
	return et->nodes.data;
}

static inline uint32_t ht_et_n(const struct ht_et *et)
{
	return (uint32_t)et->nodes.n;
}

/* The attributes and the tensors of a node; NULL when the file has none at all. */
static inline const struct ht_et_attr *ht_et_attrs_of(
        const struct ht_et *et, const struct ht_et_node *node)
{
	const struct ht_et_attr *attrs = et->attrs.data;
	return attrs ? attrs + node->first_attr : NULL;
}

static inline const struct ht_et_tensor *ht_et_tensors_of(
        const struct ht_et *et, const struct ht_et_node *node)
{
	const struct ht_et_tensor *tensors = et->tensors.data;
	return tensors ? tensors + node->first_tensor : NULL;
}

/* Text of a string id, "" for none; it ends in NUL. */
static inline const char *ht_et_str(const struct ht_et *et, uint32_t id)
{
	return id == HT_ET_NO_STR ? "" : ((const struct ht_text *)et->pool.texts.data)[id].bytes;
}

static inline size_t ht_et_str_len(const struct ht_et *et, uint32_t id)
{
	return id == HT_ET_NO_STR ? 0 : ((const struct ht_text *)et->pool.texts.data)[id].n;
}

/* Whether the first bytes of a file are those of an execution trace: JSON, or Chakra's messages. */
bool ht_et_sniff(const char *bytes, size_t n, bool is_all, enum ht_et_format *ret_format);

/* Read a file, compressed or not; "-" is standard input. HT_FORMAT when it is something else. Strictly: whether the
 * text is valid JSON is found out, too. The caller frees the store. */
enum ht_status ht_et_read(
        ht_ctx *ctx, const char *path, bool is_strict, struct ht_et **ret_et) HT_MUST_USE;
void ht_et_free(struct ht_et *et);
/* Make the indexes over a complete list of nodes; for readers. */
enum ht_status ht_et_index(ht_ctx *ctx, struct ht_et *et) HT_MUST_USE;

struct ht_et_stat_info {
	const char *name, *sentence, *defect;
	bool is_loss;
};
const struct ht_et_stat_info *ht_et_stat_info(enum ht_et_stat_code code);

/* Row of an id, the first one when it repeats; HT_ET_NONE when there is none. O(log n). */
uint32_t ht_et_find(const struct ht_et *et, uint64_t id);
/* An attribute beyond the ten as JSON text, the last one of that name; NULL when absent. */
const char *ht_et_attr(const struct ht_et *et, uint32_t row, const char *name);
/* The same as text without its quotes (*ret_n bytes), and as number. */
const char *ht_et_attr_text(const struct ht_et *et, uint32_t row, const char *name, size_t *ret_n);
bool ht_et_attr_i64(const struct ht_et *et, uint32_t row, const char *name, int64_t *ret_value);

enum ht_et_kind { HT_ET_OP, HT_ET_PROCESS, HT_ET_THREAD };
/* What a node is, by its name: a recorded function or one of the two that the observer adds. */
enum ht_et_kind ht_et_kind(const struct ht_et *et, uint32_t row);

#endif
