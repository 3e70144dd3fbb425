/* SPDX-License-Identifier: Apache-2.0 */
/*
 * origin.h - whose kernel it is: operator, module and line of every GPU activity, with the way it was found.
 *
 *   op                A  an operator of the trace launched it
 *   triton-op         B  a generated kernel: what it was fused from
 *   graph-annotation  C  the node of its graph is annotated
 *   graph-capture     D  the launch at its place when the graph was captured, or where its node was made
 *   graph-eager       E  the kernel at its place in an eager run of the same code
 *   graph-inductor       the call at its place in the code that Inductor generated
 *   name-rule         G  its name says what it computes, not who asked for it
 *   none              H
 *
 * Kernels of a graph launch never take level A: the one call that launches hundreds says nothing about any of them. All
 * replays with the same names in the same order share one alignment. Confidence is 1 where names (or ids) prove the join;
 * of a join by position it is the share of positions whose kernel can be of the operator there, and positions that cannot
 * have no origin.
 *
 * What a generated kernel was fused from is known by provenance (stacks of its call), else by the comments of the generated code, else by its
 * name alone; via says which.
 *
 * Nothing here changes what is measured: every GPU activity has exactly one method.
 */
#ifndef HT_MODEL_ORIGIN_ORIGIN_H
#define HT_MODEL_ORIGIN_ORIGIN_H

#include "model/origin/compile_log.h"
#include "model/origin/named_modules.h"
#include "model/origin/own_line.h"
#include "model/run.h"

enum ht_origin_method {
	HT_ORIGIN_OP,
	HT_ORIGIN_TRITON,
	HT_ORIGIN_ANNOTATION,
	HT_ORIGIN_CAPTURE,
	HT_ORIGIN_EAGER,
	HT_ORIGIN_INDUCTOR,
	HT_ORIGIN_NAME,
	HT_ORIGIN_NONE,
	HT_N_ORIGIN_METHODS
};

/* Where modules are known from, best first. */
enum ht_module_via {
	HT_MODULE_VIA_NONE,
	HT_MODULE_VIA_FQN,        /* module_fqn of an annotated node */
	HT_MODULE_VIA_FRAMES,     /* calls of modules around the launch, here or in a recording */
	HT_MODULE_VIA_HIERARCHY,  /* arg "Module Hierarchy" of the operator */
	HT_MODULE_VIA_PARAMETERS, /* what generated code reads and writes (parameters.h) */
	HT_MODULE_VIA_NEIGHBOURS, /* what the calls before and after it have in common */
	HT_MODULE_VIA_STACK,      /* calls of forward() in the stacks of a compiled call */
	HT_MODULE_VIA_BACKWARD,   /* the module of the forward operator */
	HT_MODULE_VIA_ANNOTATION, /* names of annotations (named_modules.h) */
	HT_N_MODULE_VIAS
};

/* Texts are NULL where they are not known, and live as long as the origins or the traces. */
struct ht_origin {
	enum ht_origin_method method;
	double confidence; /* 0 to 1 */
	const char *op, *module, *source;
	enum ht_module_via module_via;
	double module_confidence; /* 0 to 1; of a fused kernel, a part of as many as it has lines */
	size_t n_lines;           /* of a compiled call: in its source (call_lines.h) */
	const int64_t *line_bytes; /* see ht_compiled_call */
	const char *shapes; /* dimensions of the operator's inputs, as in the trace that has them */
	/* of graphs read against a recording: that trace, and the row of the operator in it; NULL: none */
	const struct ht_trace *op_trace;
	uint32_t op_row;
	const char *nodes;     /* of generated kernels: nodes of the FX graph */
	enum ht_fused_via via; /* of generated kernels: where the operators are known from */
	const struct ht_compiled_call *call; /* of compiled graphs */
	bool starts_call; /* of a graph: the first activity of its operator in a launch */
	bool is_backward; /* of a graph: its module is that of the forward operator */
};

/* One way in which graphs were replayed. */
struct ht_graph_use {
	uint64_t signature;              /* of the names of its activities, in order */
	int64_t size;                    /* that the annotation around the launch says, -1: none */
	size_t n_launches, n_activities; /* activities of one launch */
	size_t n_matched;                /* of them */
	enum ht_origin_method method;
	double confidence;
	const char *from; /* the recording it was read against, NULL: none */
	const char *why;  /* why there is none, NULL: there is one */
	const char *note; /* what is doubtful about the choice of it, NULL: nothing */
	uint32_t launch;  /* row of the first one */
	int64_t gpu_ns;   /* of all launches */
};

struct ht_origins {
	const struct ht_trace *trace;
	const uint32_t *
	        site; /* by GPU activity: which of sites, HT_NONE: as the trace itself says; NULL: all so */
	const uint8_t *of_graph; /* by GPU activity: a graph launch started it; NULL: none does */
	const struct ht_origin *sites;
	size_t n_sites;
	const struct ht_graph_use *graphs;
	size_t n_graphs;
	uint64_t n_of_graphs;      /* activities of graph launches */
	const uint64_t *n_matched; /* by attachment: activities that it explains */
	const char *const
	        *why; /* by attachment: why it explains nothing; NULL: it does, or was not needed */
	const uint32_t
	        *modules; /* by row, as row_owners.h has them; NULL: none, or not asked for */
	const uint8_t *module_links;
	const char *const *module_texts;
	struct ht_own_lines own;
	const uint32_t *lines; /* by row: ht_lines_make */
	/* by GPU activity: the call of a compiled graph that launched it; NULL: none is known */
	const struct ht_compiled_call *const *calls;
	const char *const
	        *fused; /* by string id: operators that a name was fused from; NULL: none */
	const char *const
	        *families; /* by string id: what kernels compute that are known by name alone */
	const char *const
	        *inside; /* by GPU activity: modules with those of compiled graphs; NULL: none */
	struct ht_named_modules named;
};

/* Of the i-th GPU activity. */
void ht_origin_get(const struct ht_origins *origins, size_t i_gpu, struct ht_origin *ret_origin);
/* The same where a graph launch started it and its operator or module is known; NULL otherwise. It may be compared: replays of one
 * kind share it. */
const struct ht_origin *ht_origin_in_graph(const struct ht_origins *origins, size_t i_gpu);
/* Modules inside the compiled region that launched it; text NULL: unknown. */
struct ht_below {
	const char *text;
	enum ht_module_via via;
	double confidence;
	bool is_backward; /* of modules that are named otherwise: see ht_named_modules */
};
struct ht_below ht_origin_below(const struct ht_origins *origins, size_t i_gpu);
/* What the wrapper of a compiled graph says of one of its calls. */
struct ht_origin ht_origin_of_call(const struct ht_compiled_call *call);
const char *ht_origin_method_name(enum ht_origin_method method);
/* "provenance", "code", "name"; NULL for none. */
const char *ht_fused_via_name(enum ht_fused_via via);
/* "module_fqn", "frames", "hierarchy", ...; NULL for none. */
const char *ht_module_via_name(enum ht_module_via via);
/* By row of a trace: the frame of the user's own code around it; NULL: it has no Python functions. */
enum ht_status ht_lines_make(struct ht_run *run, const struct ht_trace *trace,
        const struct ht_own_lines *own, const uint32_t **ret_lines) HT_MUST_USE;
/* The line of the user's own code around a host row: "file.py(30): forward"; NULL: none is recorded. */
const char *ht_line_around(const struct ht_trace *trace, const uint32_t *lines, uint32_t row);
struct ht_attribution;
/* The line around the forward operator whose gradient a row computes (HT_ATTRIBUTE_FORWARD); NULL: none is known. */
const char *ht_forward_line(
        const struct ht_attribution *attribution, const uint32_t *lines, uint32_t row);

#endif
