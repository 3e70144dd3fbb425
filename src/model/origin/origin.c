/* SPDX-License-Identifier: Apache-2.0 */
/*
 * origin.c - see origin.h.
 */
#include "model/origin/origin.h"

#include "base/text_compare.h"
#include "model/calls/row_owners.h"
#include "model/origin/compiled.h"
#include "model/origin/fused_name.h"
#include "model/device/launch.h"
#include "model/origin/fit.h"
#include "model/run_memo.h"
#include "store/args.h"
#include "store/tree.h"

#include <string.h>

const char *ht_origin_method_name(enum ht_origin_method method)
{
	static const char *const names[] = { "op", "triton-op", "graph-annotation", "graph-capture",
		"graph-eager", "graph-inductor", "name-rule", "none" };
	return names[method];
}

const char *ht_fused_via_name(enum ht_fused_via via)
{
	static const char *const names[] = { NULL, "provenance", "code", "name" };
	return names[via];
}

const char *ht_module_via_name(enum ht_module_via via)
{
	static const char *const names[HT_N_MODULE_VIAS] = { NULL, "module_fqn", "frames",
		"hierarchy", "parameters", "neighbours", "stack", "backward", "annotation" };
	return names[via];
}

static bool is_own_line(const struct ht_trace *t, uint32_t row, const void *own)
{
	return ht_own_lines_has(own, t, row);
}

enum ht_status ht_lines_make(struct ht_run *run, const struct ht_trace *t,
        const struct ht_own_lines *own, const uint32_t **ret_lines)
{
	uint32_t *lines = NULL;
	if (own->is_own)
		HT_TRY(ht_tree_nearest(run->ctx, t, is_own_line, own, run->scratch, &lines));
	*ret_lines = lines;
	return HT_OK;
}

const char *ht_line_around(const struct ht_trace *t, const uint32_t *lines, uint32_t row)
{
	return !lines || lines[row] == HT_NONE ? NULL : ht_str(t, t->name[lines[row]]);
}

const char *ht_forward_line(
        const struct ht_attribution *attribution, const uint32_t *lines, uint32_t row)
{
	uint32_t forward = lines ? ht_attribution_forward(attribution, row) : HT_NONE;
	return forward == HT_NONE ? NULL : ht_line_around(attribution->trace, lines, forward);
}

static enum ht_fused_via via_of(const struct ht_compiled_call *call)
{
	if (!ht_text_starts(call->name, "triton_"))
		return HT_VIA_NONE;
	return call->source ? HT_VIA_PROVENANCE : call->ops ? HT_VIA_CODE : HT_VIA_NONE;
}

struct ht_origin ht_origin_of_call(const struct ht_compiled_call *call)
{
	return (struct ht_origin){ .op = call->ops ? call->ops : call->name,
		.source = call->source,
		.nodes = call->nodes,
		.via = via_of(call),
		.n_lines = call->n_sources,
		.line_bytes = call->line_bytes,
		.call = call };
}

const struct ht_origin *ht_origin_in_graph(const struct ht_origins *o, size_t i_gpu)
{
	uint32_t site = o->site ? o->site[i_gpu] : HT_NONE;
	return site == HT_NONE || o->sites[site].method == HT_ORIGIN_NONE ? NULL : &o->sites[site];
}

/* Of a call that neither reads parameters nor writes gradients: two of its neighbours agree, and nothing else says so. */
#define NEIGHBOURS_CONFIDENCE 0.5

struct ht_below ht_origin_below(const struct ht_origins *o, size_t i_gpu)
{
	const struct ht_origin *site = ht_origin_in_graph(o, i_gpu);
	const struct ht_compiled_call *call = site ? site->call : o->calls ? o->calls[i_gpu] : NULL;
	double confidence = site ? site->confidence : 1;
	if (!call || (!call->owner && !call->modules))
		return (struct ht_below){ 0 };
	if (!call->owner)
		return (struct ht_below){ call->modules, HT_MODULE_VIA_STACK, confidence, false };
	if (call->is_between)
		return (struct ht_below){ call->owner, HT_MODULE_VIA_NEIGHBOURS,
			confidence * NEIGHBOURS_CONFIDENCE, false };
	/* of one that was fused from several lines, its parameters say where one of them is */
	bool is_fused = via_of(call) != HT_VIA_NONE && call->n_sources > 1;
	return (struct ht_below){ call->owner, HT_MODULE_VIA_PARAMETERS,
		is_fused ? confidence / (double)call->n_sources : confidence, false };
}

static void take_fused(const char *ops, struct ht_origin *origin)
{
	origin->op = ops;
	origin->via = HT_VIA_NAME;
}

/* An operator of the trace launched it. */
static void take_op(const struct ht_origins *o, size_t i_gpu, struct ht_origin *origin)
{
	const struct ht_trace *t = o->trace;
	const struct ht_gpu *gpu = &t->gpu[i_gpu];
	const struct ht_compiled_call *call = o->calls ? o->calls[i_gpu] : NULL;
	const char *op = ht_str(t, t->name[gpu->op]);
	uint32_t place = ht_host_place(t, gpu);
	*origin = (struct ht_origin){
		.method = ht_text_starts(op, "triton_") ? HT_ORIGIN_TRITON : HT_ORIGIN_OP,
		.confidence = 1,
		.op = op,
		.source = ht_line_around(t, o->lines, place == HT_NONE ? gpu->op : place),
		.shapes = ht_arg_str(t, "Input Dims", gpu->op),
	};
	origin->via = call ? via_of(call) : HT_VIA_NONE;
	origin->nodes = call ? call->nodes : NULL;
	if (call && call->source) {
		origin->source = call->source;
		origin->n_lines = call->n_sources;
		origin->line_bytes = call->line_bytes;
	}
	if (origin->method != HT_ORIGIN_TRITON)
		return;
	if (call && call->ops)
		origin->op = call->ops;
	else if (o->fused && o->fused[t->name[gpu->op]])
		take_fused(o->fused[t->name[gpu->op]], origin);
}

/* Nothing but the name is known of it. */
static void take_name(
        const struct ht_origins *o, const struct ht_gpu *gpu, struct ht_origin *origin)
{
	uint32_t id = o->trace->name[gpu->row];
	uint8_t kind = o->trace->kind[gpu->row];
	const char *ops = o->fused && id != HT_NO_STR ? o->fused[id] : NULL;
	const char *family = kind == HT_KIND_MEMCPY           ? "memcpy"
	                     : kind == HT_KIND_MEMSET         ? "memset"
	                     : o->families && id != HT_NO_STR ? o->families[id]
	                                                      : NULL;
	*origin = (struct ht_origin){
		.method = family || ops ? HT_ORIGIN_NAME : HT_ORIGIN_NONE,
		.op = family,
	};
	if (ops)
		take_fused(ops, origin);
}

/* Nothing names a module of its own: calls of modules around its launch, or what else names them. */
static void take_around(const struct ht_origins *o, size_t i_gpu, struct ht_origin *origin)
{
	uint32_t row = o->trace->gpu[i_gpu].row, module = o->modules ? o->modules[row] : HT_NONE;
	if (module != HT_NONE) {
		origin->module = o->module_texts[module];
		origin->module_confidence = 1;
		origin->module_via = o->module_links[row] == HT_AUTOGRAD_LINK_FORWARD
		                             ? HT_MODULE_VIA_BACKWARD
		                             : HT_MODULE_VIA_FRAMES;
		return;
	}
	origin->module = ht_named_module(&o->named, i_gpu);
	if (!origin->module)
		return;
	origin->module_via =
	        o->named.is_hierarchy ? HT_MODULE_VIA_HIERARCHY : HT_MODULE_VIA_ANNOTATION;
	origin->module_confidence = 1;
}

void ht_origin_get(const struct ht_origins *o, size_t i_gpu, struct ht_origin *ret_origin)
{
	const struct ht_gpu *gpu = &o->trace->gpu[i_gpu];
	const struct ht_origin *site = ht_origin_in_graph(o, i_gpu);
	bool of_graph = o->of_graph && o->of_graph[i_gpu];
	if (site) {
		*ret_origin = *site;
		ret_origin->module_confidence = site->module ? site->confidence : 0;
	} else if (!of_graph && gpu->op != HT_NONE) {
		take_op(o, i_gpu, ret_origin);
	} else {
		uint32_t place = of_graph ? HT_NONE : ht_host_place(o->trace, gpu);
		take_name(o, gpu, ret_origin);
		if (place != HT_NONE)
			ret_origin->source = ht_line_around(o->trace, o->lines, place);
	}
	if (o->inside && o->inside[i_gpu]) {
		struct ht_below below = ht_origin_below(o, i_gpu);
		ret_origin->module = o->inside[i_gpu];
		ret_origin->module_via = below.via;
		ret_origin->module_confidence = below.confidence;
	}
	if (!ret_origin->module)
		take_around(o, i_gpu, ret_origin);
}
