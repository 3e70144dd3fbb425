/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parameters.h - the modules that calls of generated code are of, by the parameters that they read and the gradients that they write.
 *
 *   describe_source       "L['self']._modules['blocks']._modules['0']._modules['fc']._parameters['weight']": what an input of a graph is
 *   dynamo_output_graph   def forward(self, L_self_modules_blocks_modules_0_modules_fc_parameters_weight_: "f32[64, 64]...", L_x_: ...): their order
 *   wrapper               primals_1, primals_2, ... (arg0_1, arg1_1, ... without gradients) in that order; a backward graph
 *                         returns its gradients in that order, too
 *
 *     extern_kernels.addmm(primals_2, buf0, reinterpret_tensor(primals_1, ...), out=buf1)        blocks.0 / fc
 *
 * A call of several modules is of what they have in common; so is one without parameters, such as attention, of the calls around it. Where the sizes that the wrapper asserts are not those of the inputs, the order is
 * another one and nothing is said. A parameter that modules share has the name of one of them.
 */
#ifndef HT_MODEL_ORIGIN_PARAMETERS_H
#define HT_MODEL_ORIGIN_PARAMETERS_H

#include "base/status.h"

struct ht_parameters {
	struct ht_vec sources; /* of the compilation at hand */
	size_t n_sorted;       /* all of them, or they are not sorted */
	struct ht_vec inputs;  /* of all graphs, one after the other */
	struct ht_vec graphs;
	const char *compile_id; /* of the sources */
};

/* The modules of "blocks.0.fc" as a path: "blocks.0 / fc"; NULL without memory. */
const char *ht_fqn_path(struct ht_arena *arena, const char *fqn);

/* Texts must live as long as the parameters; what is kept of them is in the arena. */
enum ht_status ht_parameters_add_source(ht_ctx *ctx, struct ht_arena *arena,
        struct ht_parameters *parameters, const char *compile_id, const char *source) HT_MUST_USE;
/* The inputs of a graph as Dynamo printed it. */
enum ht_status ht_parameters_read_graph(ht_ctx *ctx, struct ht_arena *arena,
        struct ht_parameters *parameters, const char *compile_id, const char *graph) HT_MUST_USE;
/* Give calls (struct ht_compiled_call) of a wrapper their modules. */
enum ht_status ht_parameters_apply(ht_ctx *ctx, struct ht_arena *arena,
        const struct ht_parameters *parameters, const char *compile_id, const char *code,
        struct ht_vec *calls) HT_MUST_USE;
/* Give calls without parameters the modules that the nearest calls before and after them have in common, where the same forward() called all three. */
enum ht_status ht_parameters_fill(
        ht_ctx *ctx, struct ht_arena *arena, struct ht_vec *calls) HT_MUST_USE;
void ht_parameters_done(ht_ctx *ctx, struct ht_parameters *parameters);

#endif
