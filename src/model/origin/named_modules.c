/* SPDX-License-Identifier: Apache-2.0 */
/*
 * named_modules.c - see named_modules.h.
 */
#include "model/origin/named_modules.h"

#include "base/text_compare.h"
#include "model/calls/row_owners.h"
#include "model/origin/compiled.h"
#include "model/origin/parameters.h"
#include "model/rows/name_traits.h"
#include "model/serving/grammar.h"

#include <string.h>

static const char arg_name[] = "Module Hierarchy";

/* ---- hierarchies ---- */

/* The next call of "top(Net)::forward.fc(Linear)::forward" as a name: of the instance, or of the class where that has none. */
static bool next_call(const char **at, const char **ret_name, size_t *ret_n)
{
	const char *name = *at;
	size_t n = strcspn(name, "(.:");
	if (!*name)
		return false;
	const char *end = name + n;
	size_t n_class = *end == '(' ? strcspn(end + 1, ")") : 0;
	bool is_nameless = (n == 4 && !memcmp(name, "SELF", 4)) ||
	                   (n == 3 && !memcmp(name, "top", 3)) ||
	                   ht_text_starts(name, "UNKNOWN_INSTANCE");
	*ret_name = is_nameless && n_class ? end + 1 : name;
	*ret_n = is_nameless && n_class ? n_class : n;
	/* the function behind it may have dots in no case, the class may */
	end += n_class ? n_class + 1 : 0;
	end += strcspn(end, ".");
	*at = *end ? end + 1 : end;
	return true;
}

static const char *spell_calls(struct ht_arena *arena, const char *text)
{
	char *fqn = ht_arena_room(arena, strlen(text) + 1);
	const char *name, *before = "";
	size_t n = 0, n_name, n_before = 0;
	while (fqn && next_call(&text, &name, &n_name)) {
		/* a method that calls another one of its own module */
		bool is_again = n && n_name == n_before && !memcmp(name, before, n_name);
		before = name;
		n_before = n_name;
		if (is_again || !n_name)
			continue;
		if (n)
			fqn[n++] = '.';
		memcpy(fqn + n, name, n_name);
		n += n_name;
	}
	if (fqn)
		fqn[n] = '\0';
	return fqn;
}

static enum ht_status spell_hierarchy(struct ht_run *run, const char *text, const char **ret_path)
{
	const char *fqn = strstr(text, "::") ? spell_calls(run->scratch, text) : text;
	*ret_path = fqn ? ht_fqn_path(run->scratch, fqn) : NULL;
	return *ret_path ? HT_OK : ht_fail_nomem(run->ctx);
}

enum ht_status ht_hierarchy_of(
        struct ht_run *run, const struct ht_trace *t, uint32_t op, const char **ret_path)
{
	const char *text = ht_arg_str(t, arg_name, op);
	*ret_path = NULL;
	return text && *text ? spell_hierarchy(run, text, ret_path) : HT_OK;
}

/* Of the operator, of one around it, or of its forward operator. */
static const char *find_arg(const struct ht_attribution *a, struct ht_arg_cursor *args, uint32_t op,
        uint8_t *ret_is_backward)
{
	const struct ht_trace *t = a->trace;
	uint32_t starts[] = { op, op == HT_NONE ? HT_NONE : ht_attribution_forward(a, op) };
	for (size_t i = 0; i < HT_COUNT(starts); i++)
		for (uint32_t row = starts[i]; row != HT_NONE; row = t->parent[row]) {
			const char *text = ht_arg_cursor_str(args, row);
			if (!text || !*text)
				continue;
			*ret_is_backward = i == 1;
			return text;
		}
	return NULL;
}

static enum ht_status read_hierarchies(struct ht_run *run, struct ht_named_modules *named)
{
	const struct ht_trace *t = run->trace;
	struct ht_arg_cursor args = ht_arg_cursor(t, arg_name);
	struct ht_attribution a;
	const char **texts = ht_arena_alloc(run->scratch, (t->n_gpu + 1) * sizeof *texts);
	const char **paths =
	        ht_arena_alloc(run->scratch, (t->n_string_offsets + 1) * sizeof *paths);
	uint8_t *is_backward = ht_arena_alloc(run->scratch, t->n_gpu + 1);
	if (!texts || !paths || !is_backward)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_attribution_make(run, t, HT_ATTRIBUTE_FORWARD, &a));
	for (size_t i = 0; i < t->n_gpu; i++) {
		const char *text = find_arg(&a, &args, t->gpu[i].op, &is_backward[i]);
		uint32_t id = text ? ht_str_find(t, text) : HT_NO_STR;
		if (id == HT_NO_STR)
			continue;
		/* each text once: operators repeat them */
		if (!paths[id])
			HT_TRY(spell_hierarchy(run, text, &paths[id]));
		texts[i] = paths[id];
	}
	*named = (struct ht_named_modules){ texts, is_backward, true };
	return HT_OK;
}

/* ---- annotations ---- */

static bool is_module_text(const char *name)
{
	static const unsigned others = HT_TRAIT_STEP | HT_TRAIT_LOADER | HT_TRAIT_COMM;
	struct ht_iteration_name iteration;
	int64_t size;
	return *name && !(ht_name_traits(name) & others) && !ht_text_starts(name, "## Call ") &&
	       !ht_text_starts(name, "## inductor_kernel:") &&
	       !ht_iteration_parse(name, &iteration) && !ht_capture_parse(name, &size);
}

/* By string id, as each name is read once though rows are asked about often. */
enum { NOT_READ, IS_MODULE, IS_OTHER };
struct read_names {
	uint8_t *of;
};

static bool names_module(const struct ht_trace *t, uint32_t row, const void *user)
{
	uint32_t id = t->name[row];
	if (t->kind[row] != HT_KIND_ANNOTATION || !ht_is_span(t, row) || id == HT_NO_STR)
		return false;
	uint8_t *read = &((const struct read_names *)user)->of[id];
	if (*read == NOT_READ)
		*read = is_module_text(ht_str(t, id)) ? IS_MODULE : IS_OTHER;
	return *read == IS_MODULE;
}

/* What works on parameters, whoever's they are: no module is called there. */
static bool names_frame_work(const struct ht_trace *t, uint32_t row, const void *user)
{
	(void)user;
	if (t->kind[row] != HT_KIND_ANNOTATION || !ht_is_span(t, row))
		return false;
	const char *name = ht_str(t, t->name[row]);
	return ht_text_starts(name, "Optimizer.") || ht_text_starts(name, "FSDP::");
}

static enum ht_status read_annotations(
        struct ht_run *run, ht_tree_match *match, struct ht_named_modules *named)
{
	const struct ht_trace *t = run->trace;
	struct ht_attribution a;
	struct read_names names = { ht_arena_alloc(run->scratch, t->n_string_offsets + 1) };
	if (!names.of)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_attribution_by(run, t, match, &names, &a));
	if (!a.modules)
		return HT_OK;
	const char **texts = ht_arena_alloc(run->scratch, (t->n_gpu + 1) * sizeof *texts);
	uint8_t *is_backward = ht_arena_alloc(run->scratch, t->n_gpu + 1);
	if (!texts || !is_backward)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < t->n_gpu; i++) {
		uint32_t row = a.modules[t->gpu[i].row];
		uint8_t link = a.module_links[t->gpu[i].row];
		is_backward[i] = link == HT_AUTOGRAD_LINK_FORWARD;
		/* that a thread waits for a backward pass, inside an annotation, says nothing of its modules */
		if (link == HT_AUTOGRAD_LINK_BACKWARD)
			continue;
		texts[i] = row == HT_NONE ? NULL : a.module_texts[row];
	}
	*named = (struct ht_named_modules){ texts, is_backward, false };
	return HT_OK;
}

enum ht_status ht_named_modules_make(
        struct ht_run *run, bool has_frames, struct ht_named_modules *ret_named)
{
	struct ht_arg_cursor args = ht_arg_cursor(run->trace, arg_name);
	*ret_named = (struct ht_named_modules){ 0 };
	if (ht_arg_cursor_n(&args))
		return read_hierarchies(run, ret_named);
	return read_annotations(run, has_frames ? names_frame_work : names_module, ret_named);
}
