/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_names.c - see mem_names.h.
 */
#include "model/snapshot/mem_names.h"

#include "base/search.h"
#include "base/text_compare.h"
#include "model/memory/memory_samples.h"
#include "store/allocator_snapshot.h"
#include "store/trace.h"

#include <inttypes.h>
#include <string.h>

static const char none_text[] = "(no Python frame)";

/* ---- frames ---- */

static const struct ht_mem_frame *frames_of(
        const struct ht_trace *t, uint32_t stack, size_t *ret_n, const uint32_t **ret_ids)
{
	*ret_n = 0;
	if (stack == HT_MEM_NO_STACK)
		return t->more->mem_frames;
	*ret_n = t->more->mem_stack_offsets[stack + 1] - t->more->mem_stack_offsets[stack];
	*ret_ids = t->more->mem_stack_frames + t->more->mem_stack_offsets[stack];
	return t->more->mem_frames;
}

static bool is_in(const char *text, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}

/* Frames that torch's viewers leave out, too. */
static bool is_noise(const struct ht_trace *t, const struct ht_mem_frame *frame)
{
	static const char *const names[] = { "unwind::unwind", "CapturedTraceback::gather",
		"gather_with_cpp", "_start", "__libc_start_main", "PyEval_", "PyObject_",
		"PyFunction_" };
	static const char *const files[] = { "core/boxing", "/Register", "/Redispatch",
		"pythonrun.c", "Modules/main.c", "Objects/call.c", "Objects/methodobject.c",
		"pycore_ceval.h", "ceval.c", "cpython/abstract.h" };
	return is_in(ht_str(t, frame->name), names, HT_COUNT(names)) ||
	       is_in(ht_str(t, frame->file), files, HT_COUNT(files));
}

static bool is_user(const struct ht_trace *t, const struct ht_mem_frame *frame)
{
	static const char *const others[] = { "/torch/", "site-packages", "dist-packages",
		"<frozen", "/lib/python3" };
	const char *file = ht_str(t, frame->file);
	return ht_text_ends(file, ".py") && !is_in(file, others, HT_COUNT(others));
}

const char *ht_mem_frame_text(struct ht_run *run, const struct ht_mem_frame *frame)
{
	const char *file = ht_str(run->trace, frame->file), *name = ht_str(run->trace, frame->name);
	const char *slash = strrchr(file, '/');
	if (!*file || !strcmp(file, "??"))
		return name;
	return ht_arena_printf(
	        run->scratch, "%s:%" PRId32 " %s", slash ? slash + 1 : file, frame->line, name);
}

/* The most that its text can have, and more. */
static size_t frame_bytes(const struct ht_trace *t, const struct ht_mem_frame *frame)
{
	return strlen(ht_str(t, frame->file)) + strlen(ht_str(t, frame->name)) + 16;
}

uint32_t ht_mem_user_frame(const struct ht_trace *t, uint32_t stack)
{
	size_t n;
	const uint32_t *ids = NULL;
	const struct ht_mem_frame *frames = frames_of(t, stack, &n, &ids);
	for (size_t i = 0; i < n; i++)
		if (is_user(t, &frames[ids[i]]))
			return ids[i];
	return HT_NONE;
}

const char *ht_mem_user_text(struct ht_run *run, uint32_t stack)
{
	uint32_t frame = ht_mem_user_frame(run->trace, stack);
	return frame == HT_NONE ? none_text
	                        : ht_mem_frame_text(run, &run->trace->more->mem_frames[frame]);
}

const char *ht_mem_stack_text(struct ht_run *run, uint32_t stack)
{
	size_t n, n_bytes = 1;
	const uint32_t *ids = NULL;
	const struct ht_mem_frame *frames = frames_of(run->trace, stack, &n, &ids);
	const char **texts = ht_arena_room(run->scratch, (n + 1) * sizeof(*texts));
	size_t inner = 0;
	for (size_t i = n; texts && i > inner; i--) {
		const struct ht_mem_frame *frame = &frames[ids[i - 1]];
		bool fits = n_bytes + frame_bytes(run->trace, frame) <= HT_MEM_MAX_TEXT;
		texts[i - 1] = !fits                         ? "..."
		               : is_noise(run->trace, frame) ? ""
		                                             : ht_mem_frame_text(run, frame);
		if (!texts[i - 1])
			return NULL;
		n_bytes += strlen(texts[i - 1]) + 1;
		inner = fits ? 0 : i - 1;
	}
	char *text = texts ? ht_arena_room(run->scratch, n_bytes) : NULL;
	if (!text)
		return NULL;
	char *to = text;
	for (size_t i = n; i > inner; i--) {
		size_t length = strlen(texts[i - 1]);
		if (to > text && length)
			*to++ = ';';
		memcpy(to, texts[i - 1], length);
		to += length;
	}
	*to = '\0';
	return to > text ? text : "(no stack)";
}

/* ---- categories ---- */

enum frame_says {
	SAYS_NOTHING,
	SAYS_GRADIENT,
	SAYS_OPTIMIZER,
	SAYS_PARAMETER,
	SAYS_COMMUNICATION,
	SAYS_BACKWARD,
	SAYS_FORWARD
};

static bool is_optimizer_frame(const char *file, const char *name)
{
	static const char *const starts[] = { "_single_tensor_", "_multi_tensor_", "_fused_" };
	if (!strstr(file, "optim/"))
		return false;
	for (size_t i = 0; i < HT_COUNT(starts); i++)
		if (ht_text_starts(name, starts[i]))
			return true;
	return !strcmp(name, "step") || !strcmp(name, "_init_group");
}

static bool is_parameter_frame(const char *file, const char *name)
{
	static const char *const names[] = { "_apply", "load_state_dict", "reset_parameters",
		"_parameters" };
	if (strstr(file, "nn/parameter.py"))
		return true;
	for (size_t i = 0; i < HT_COUNT(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static enum frame_says what_says(const struct ht_trace *t, const struct ht_mem_frame *frame)
{
	const char *file = ht_str(t, frame->file), *name = ht_str(t, frame->name);
	bool is_python = ht_text_ends(file, ".py");
	if (strstr(name, "AccumulateGrad"))
		return SAYS_GRADIENT;
	if (is_optimizer_frame(file, name))
		return SAYS_OPTIMIZER;
	if (is_parameter_frame(file, name))
		return SAYS_PARAMETER;
	if (strstr(file, "distributed/fsdp") &&
	        (strstr(name, "unshard") || strstr(name, "all_gather")))
		return SAYS_COMMUNICATION;
	if (!is_python && (strstr(name, "Backward") || strstr(name, "evaluate_function")))
		return SAYS_BACKWARD;
	return is_python && !strcmp(name, "forward") ? SAYS_FORWARD : SAYS_NOTHING;
}

/* Does a life go on beyond the end of the first optimizer step after its start? */
static bool outlives_optimizer(const struct ht_mem_names *n, const struct ht_mem_life *life)
{
	size_t at = HT_LOWER_BOUND(i, n->n_optimizer_ends, n->optimizer_ends[i] < life->alloc);
	return life->free_requested == HT_MEM_NEVER ||
	       (at < n->n_optimizer_ends && life->free_requested > n->optimizer_ends[at]);
}

static bool dies_in_its_scope(const struct ht_mem_names *n, const struct ht_mem_life *life)
{
	if (life->alloc < 0 || life->free_requested == HT_MEM_NEVER)
		return false;
	uint32_t scope = n->scopes.of_event[life->alloc];
	return scope != HT_NONE && scope == n->scopes.of_event[life->free_requested];
}

/* The first frame, from the innermost out, that a rule knows: of the user, or a built-in one. */
static const struct ht_mem_said *said_of(struct ht_mem_names *n, uint32_t stack)
{
	const struct ht_trace *t = n->run->trace;
	struct ht_mem_said *said = stack == HT_MEM_NO_STACK ? &n->said_none : &n->said[stack];
	size_t n_frames;
	const uint32_t *ids = NULL;
	const struct ht_mem_frame *frames = frames_of(t, stack, &n_frames, &ids);
	bool has_rules = ht_mem_rules_any(&n->rules);
	for (size_t i = 0; !said->is_known && i < n_frames && !said->rule && !said->says; i++) {
		if (has_rules) {
			const char *text = ht_mem_frame_text(n->run, &frames[ids[i]]);
			if (!text)
				return NULL;
			said->rule = ht_mem_rules_say(&n->rules, text);
		}
		said->says = (uint8_t)what_says(t, &frames[ids[i]]);
	}
	said->is_known = true;
	return said;
}

/* What the trace says of a life; NULL: nothing. */
static const struct ht_mem_owner *owner_of(
        const struct ht_mem_names *n, const struct ht_mem_life *life)
{
	for (size_t i = 0; n->join && !n->join->is_refused && i < n->history->n_devices; i++) {
		const struct ht_mem_device *d = &n->history->devices[i];
		if (life >= d->lives && life < d->lives + d->n_lives)
			return &n->join->owners[i][life - d->lives];
	}
	return NULL;
}

/* What another file of the run shows a life to be; HT_MEMORY_UNKNOWN. */
static struct ht_mem_derived derived_of(
        const struct ht_mem_names *n, const struct ht_mem_life *life)
{
	const struct ht_mem_owner *owner = n->derived ? owner_of(n, life) : NULL;
	return owner && owner->is_matched ? n->derived[owner->row]
	                                  : (struct ht_mem_derived){ HT_MEMORY_UNKNOWN, false };
}

/* A category, and who says so; NULL for unknown. */
struct category {
	const char *name, *source;
};

static struct category estimate(
        const struct ht_mem_names *n, const struct ht_mem_life *life, enum frame_says says)
{
	static const char source[] = "estimated";
	switch (says) {
	case SAYS_GRADIENT: return (struct category){ "gradient", source };
	case SAYS_OPTIMIZER:
		return (struct category){ outlives_optimizer(n, life) ? "optimizer" : "temporary",
			source };
	case SAYS_PARAMETER: return (struct category){ "parameter", source };
	case SAYS_COMMUNICATION: return (struct category){ "communication", source };
	case SAYS_BACKWARD:
		return (struct category){ outlives_optimizer(n, life) ? "gradient" : "temporary",
			source };
	case SAYS_FORWARD:
		return (struct category){ dies_in_its_scope(n, life) ? "temporary" : "activation",
			source };
	default: return (struct category){ "unknown", NULL };
	}
}

/* The name is NULL when out of memory. */
static struct category category_of(struct ht_mem_names *n, const struct ht_mem_life *life)
{
	const struct ht_trace *t = n->run->trace;
	if (life->alloc >= 0 && t->more->mem_events[life->alloc].category != HT_NO_STR)
		return (struct category){ ht_str(t, t->more->mem_events[life->alloc].category),
			"recorded" };
	const struct ht_mem_said *said = said_of(n, life->stack);
	if (!said)
		return (struct category){ NULL, NULL };
	if (said->rule)
		return (struct category){ said->rule, "rules" };
	struct ht_mem_derived derived = derived_of(n, life);
	if (derived.category == HT_MEMORY_UNKNOWN)
		return estimate(n, life, (enum frame_says)said->says);
	return (struct category){ derived.category == HT_MEMORY_OPTIMIZER_STATE
		                          ? "optimizer"
		                          : ht_memory_category_name(derived.category),
		derived.by_timeline ? "timeline" : "execution-trace" };
}

const char *ht_mem_source_of(struct ht_mem_names *n, const struct ht_mem_life *life)
{
	return n->by == HT_MEM_BY_CATEGORY ? category_of(n, life).source : NULL;
}

/* ---- keys ---- */

/* The innermost forward of a module that is not torch's own. */
static const char *module_of(struct ht_run *run, uint32_t stack)
{
	size_t n;
	const uint32_t *ids = NULL;
	const struct ht_mem_frame *frames = frames_of(run->trace, stack, &n, &ids);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(ht_str(run->trace, frames[ids[i]].name), "forward") &&
		        is_user(run->trace, &frames[ids[i]]))
			return ht_mem_frame_text(run, &frames[ids[i]]);
	return "(no module)";
}

static const char *pool_of(const struct ht_mem_names *n, const struct ht_mem_life *life)
{
	uint32_t pool[2];
	ht_mem_pool_of_life(n->history, life, pool);
	const char *size = life->size > 1 << 20 ? "large" : "small";
	if (!pool[0] && !pool[1])
		return ht_arena_printf(n->run->scratch, "default, %s", size);
	return ht_arena_printf(
	        n->run->scratch, "private (%" PRIu32 ", %" PRIu32 "), %s", pool[0], pool[1], size);
}

/* "1 to 2 MiB": between powers of two. */
static const char *size_class(const struct ht_mem_names *n, int64_t size)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	unsigned log = 63u - (unsigned)__builtin_clzll((uint64_t)size | 1);
	unsigned unit = log / 10;
	return ht_arena_printf(
	        n->run->scratch, "%u to %u %s", 1u << log % 10, 2u << log % 10, units[unit]);
}

enum ht_mem_by ht_mem_by_parse(const char *word)
{
	static const char *const words[] = { "frame", "stack", "module", "annotation", "category",
		"pool", "size", "operator", "step" };
	for (size_t i = 0; word && i < HT_COUNT(words); i++)
		if (!strcmp(word, words[i]))
			return (enum ht_mem_by)i;
	return HT_MEM_BY_FRAME;
}

const char *ht_mem_names_stack(struct ht_mem_names *n, uint32_t stack)
{
	if (stack == HT_MEM_NO_STACK)
		return ht_mem_stack_text(n->run, stack);
	if (!n->stacks[stack])
		n->stacks[stack] = ht_mem_stack_text(n->run, stack);
	return n->stacks[stack];
}

static const char *stack_name(struct ht_mem_names *n, uint32_t stack)
{
	const char **place = stack == HT_MEM_NO_STACK ? &n->none : &n->of_stack[stack];
	if (!*place)
		*place = n->by == HT_MEM_BY_FRAME ? ht_mem_user_text(n->run, stack)
		                                  : ht_mem_stack_text(n->run, stack);
	return *place;
}

static const char *joined_name(const struct ht_mem_names *n, const struct ht_mem_life *life)
{
	const struct ht_mem_owner *owner = owner_of(n, life);
	if (n->by != HT_MEM_BY_MODULE && (!owner || !owner->is_matched))
		return "(not in the trace)";
	if (n->by == HT_MEM_BY_OPERATOR)
		return owner->op ? owner->op : "(no operator)";
	if (n->by == HT_MEM_BY_STEP)
		return owner->step != HT_NO_I64
		               ? ht_arena_printf(n->run->scratch, "step %" PRId64, owner->step)
		               : "(no step)";
	return owner && owner->module ? owner->module : module_of(n->run, life->stack);
}

const char *ht_mem_name_of(struct ht_mem_names *n, const struct ht_mem_life *life)
{
	switch (n->by) {
	case HT_MEM_BY_OPERATOR:
	case HT_MEM_BY_STEP:
	case HT_MEM_BY_MODULE: return joined_name(n, life);
	case HT_MEM_BY_ANNOTATION:
		return life->alloc < 0 ? "(before the history)"
		                       : ht_mem_scope_path(n->run, &n->scopes,
		                                 n->scopes.of_event[life->alloc]);
	case HT_MEM_BY_CATEGORY: return category_of(n, life).name;
	case HT_MEM_BY_POOL: return pool_of(n, life);
	case HT_MEM_BY_SIZE: return size_class(n, life->size);
	default: return stack_name(n, life->stack);
	}
}

/* Events after which a step of an optimizer has ended: the first that is no longer inside its scope. */
static enum ht_status find_optimizer_ends(struct ht_mem_names *n)
{
	const struct ht_trace *t = n->run->trace;
	n->optimizer_ends = ht_arena_room(n->run->scratch, (n->scopes.n + 1) * sizeof(int64_t));
	if (!n->optimizer_ends)
		return ht_fail_nomem(n->run->ctx);
	for (size_t i = 0; i < n->scopes.n; i++) {
		const struct ht_mem_scope *scope = &n->scopes.list[i];
		if (!ht_text_starts(ht_str(t, scope->name), "Optimizer.step#"))
			continue;
		size_t at = HT_LOWER_BOUND(
		        k, t->more->n_mem_events, t->more->mem_events[k].time_ns <= scope->end_ns);
		n->optimizer_ends[n->n_optimizer_ends++] = (int64_t)at;
	}
	return HT_OK;
}

enum ht_status ht_mem_names_init(struct ht_run *run, const struct ht_mem_history *history,
        enum ht_mem_by by, const char *rules, struct ht_mem_names *ret_names)
{
	size_t n_stacks = run->trace->more->n_mem_stack_offsets;
	*ret_names = (struct ht_mem_names){ .run = run, .history = history, .by = by };
	ret_names->of_stack =
	        ht_arena_alloc(run->scratch, (n_stacks + 1) * sizeof *ret_names->of_stack);
	ret_names->said = ht_arena_alloc(run->scratch, (n_stacks + 1) * sizeof *ret_names->said);
	ret_names->stacks =
	        ht_arena_alloc(run->scratch, (n_stacks + 1) * sizeof *ret_names->stacks);
	if (!ret_names->of_stack || !ret_names->said || !ret_names->stacks)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_mem_rules_make(run, rules, &ret_names->rules));
	for (size_t k = 0; k < run->trace->more->n_mem_events && !ret_names->has_recorded; k++)
		ret_names->has_recorded = run->trace->more->mem_events[k].category != HT_NO_STR;
	HT_TRY(ht_mem_scopes_find(run, &ret_names->scopes));
	return find_optimizer_ends(ret_names);
}
