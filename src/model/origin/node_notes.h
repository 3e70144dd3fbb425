/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_notes.h - annotations of the nodes of CUDA graphs, by the ids that newer profilers record with every kernel.
 *
 *     {"4294967298": [{"name": "attention", "module_fqn": "layers.3.attn"}], ...}        kernel_annotations_rank0_*.json
 *
 * The dictionaries of a node are merged in order, the later ones win; of a node that is there twice the last one is taken, as readers of
 * JSON do. A kernel with arg "graph node id" belongs to its node; one with arg
 * "module_fqn" has been annotated by its exporter. An annotation proves the module and a name; the operator comes from a recording of the
 * graph where there is one.
 */
#ifndef HT_MODEL_ORIGIN_NODE_NOTES_H
#define HT_MODEL_ORIGIN_NODE_NOTES_H

#include "model/origin/origin.h"

struct ht_node_note {
	uint64_t id;
	const char *name, *module; /* NULL: not annotated */
	size_t place;              /* in the file */
};

struct ht_node_notes {
	struct ht_mem *mem;
	struct ht_arena arena;
	struct ht_vec list; /* struct ht_node_note, by id and place */
};

/* Whether the first bytes are those of such a file. */
bool ht_node_notes_sniff(const char *text, size_t n);
/* Read a text that ends in NUL; HT_FORMAT when it is no JSON. The caller frees the notes. */
enum ht_status ht_node_notes_read(ht_ctx *ctx, const char *path, const char *text, size_t n,
        struct ht_node_notes **ret) HT_MUST_USE;
void ht_node_notes_free(struct ht_node_notes *notes);
/* The last note of a node, NULL: none. */
const struct ht_node_note *ht_node_notes_find(const struct ht_node_notes *notes, uint64_t id);

/* Put annotations over what is known of GPU activities: site[] and sites (struct ht_origin) may grow. n_matched is by attachment. */
enum ht_status ht_node_notes_apply(struct ht_run *run, uint32_t *site, uint8_t *of_graph,
        struct ht_vec *sites, uint64_t *n_matched) HT_MUST_USE;
/* Whether the trace, or what joins it, has any. */
bool ht_node_notes_any(struct ht_run *run);

#endif
