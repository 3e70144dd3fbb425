/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compiled_graph.h - a compiled graph as its generated wrapper has it: calls, and what they come from.
 */
#ifndef HT_MODEL_ORIGIN_COMPILED_GRAPH_H
#define HT_MODEL_ORIGIN_COMPILED_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the operators of a generated kernel are known from, best first. */
enum ht_fused_via { HT_VIA_NONE, HT_VIA_PROVENANCE, HT_VIA_CODE, HT_VIA_NAME };

/* A call of a wrapper, in its order. Texts are NULL where the log does not say. */
struct ht_compiled_call {
	const char *name;   /* triton_poi_fused_add_0, extern_kernels.mm */
	const char *ops;    /* "aten.embedding, aten.add" */
	const char *nodes;  /* of the FX graph: "embedding, x" */
	const char *source; /* "model.py(18): forward", several with " + " between */
	size_t n_sources;
	/* where the modules are called that all its lines are in, below the compiled region, " / " between; "": in the region itself */
	const char *modules;
	/* the modules whose parameters it reads, or whose gradients it writes, below the compiled region (parameters.h); NULL: unknown */
	const char *owner;
	bool is_between; /* the owner is that of the calls before and after it */
	const int64_t
	        *line_bytes; /* by line: size of what its nodes compute; NULL: not all are known */
	const char *code;    /* behind its comment, as long as the wrapper is read */
	int64_t handle;      /* -1: none */
};

struct ht_compiled_graph {
	const char *key;        /* "" when the log does not say */
	const char *compile_id; /* "0/1" */
	const char *file;       /* of the wrapper */
	const char *
	        kernels; /* names of its kernels' files, without folders, a line each; NULL: not asked for */
	struct ht_compiled_call *calls;
	size_t n;
};

#endif
