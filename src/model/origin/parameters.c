/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parameters.c - see parameters.h.
 */
#include "model/origin/parameters.h"

#include "base/search.h"
#include "base/sort.h"
#include "base/text_compare.h"
#include "model/origin/compiled_graph.h"
#include "model/origin/stack_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

/* No model has longer names. */
#define MAX_SOURCE 4096
/* Of modules: a base, and names with " / " instead of each dot. */
#define MAX_PATH (4 * MAX_SOURCE)
/* Bytes of a list of sizes: tensors have 64 of them at most. */
#define MAX_SIZES 2048
/* Captured between a graph and its code: a backward graph is compiled when it is first called. */
#define MAX_GRAPHS_BETWEEN 4096

/* What an input of a graph is. */
struct source {
	const char *name;   /* in the graph */
	const char *base;   /* the object that has the modules */
	const char *module; /* below it; "": the object itself */
};

struct input {
	const char *base, *module; /* NULL: no parameter */
	struct ht_piece sizes;     /* "64, 64" */
};

struct graph {
	const char *compile_id;
	size_t first, n; /* of the inputs */
	bool has_bases;  /* several objects have modules: paths begin with them */
};

/* ---- names ---- */

const char *ht_fqn_path(struct ht_arena *arena, const char *fqn)
{
	size_t n = 0;
	char *text = ht_arena_room(arena, 3 * strlen(fqn) + 1);
	for (const char *at = fqn; text && *at; at++) {
		/* the place in a list belongs to its name */
		bool is_level = *at == '.' && (at[1] < '0' || at[1] > '9');
		memcpy(text + n, is_level ? " / " : at, is_level ? 3 : 1);
		n += is_level ? 3 : 1;
	}
	if (text)
		text[n] = '\0';
	return text;
}

/* Wrappers that are no part of the model's own names. */
static bool is_wrapper(const char *name, size_t n)
{
	static const char *const wrappers[] = { "_orig_mod", "_checkpoint_wrapped_module",
		"_fsdp_wrapped_module" };
	for (size_t i = 0; i < HT_COUNT(wrappers); i++)
		if (n == strlen(wrappers[i]) && !memcmp(name, wrappers[i], n))
			return true;
	return false;
}

/* The path of "._modules['blocks']._modules['0']._parameters['weight']"; NULL when it is none, or without memory. */
static const char *read_modules(struct ht_arena *arena, const char *at)
{
	static const char module[] = "._modules['";
	char *fqn = ht_arena_room(arena, strlen(at) + 1);
	size_t n = 0;
	while (fqn && ht_text_starts(at, module)) {
		const char *name = at + sizeof module - 1;
		const char *end = strstr(name, "']");
		if (!end)
			return NULL;
		size_t n_name = (size_t)(end - name);
		at = end + 2;
		if (is_wrapper(name, n_name))
			continue;
		if (n)
			fqn[n++] = '.';
		memcpy(fqn + n, name, n_name);
		n += n_name;
	}
	if (!fqn || (!ht_text_starts(at, "._parameters['") && !ht_text_starts(at, "._buffers['")))
		return NULL;
	fqn[n] = '\0';
	return ht_fqn_path(arena, fqn);
}

/* A source as Dynamo names an input by it: what is no letter or digit is an underscore. */
static const char *spell_input(struct ht_arena *arena, const char *source)
{
	size_t n = 0;
	char *name = ht_arena_room(arena, strlen(source) + 1);
	for (const char *at = source; name && *at; at++) {
		bool is_plain = *at != '_' && strchr(WORD, *at);
		if (is_plain || !n || name[n - 1] != '_')
			name[n++] = is_plain ? *at : '_';
	}
	if (name)
		name[n] = '\0';
	return name;
}

enum ht_status ht_parameters_add_source(ht_ctx *ctx, struct ht_arena *arena,
        struct ht_parameters *p, const char *compile_id, const char *source)
{
	const char *modules = strstr(source, "._modules['");
	modules = modules ? modules : strstr(source, "._parameters['");
	modules = modules ? modules : strstr(source, "._buffers['");
	if (!ht_text_same(p->compile_id, compile_id))
		p->sources.n = p->n_sorted = 0;
	p->compile_id = compile_id;
	if (!modules || strlen(source) > MAX_SOURCE)
		return HT_OK;
	/* L['self'] is the variable self */
	const char *quote = memchr(source, '\'', (size_t)(modules - source));
	const char *base = quote ? quote + 1 : source;
	size_t n_base = quote ? strcspn(base, "'") : (size_t)(modules - source);
	struct source found = { spell_input(arena, source), ht_arena_strndup(arena, base, n_base),
		read_modules(arena, modules) };
	if (found.name && found.base && !found.module)
		return HT_OK; /* an attribute of another kind */
	if (!found.name || !found.base || !HT_VEC_PUSH(ctx->mem, &p->sources, struct source, found))
		return ht_fail_nomem(ctx);
	return HT_OK;
}

/* ---- inputs ---- */

static int compare_sources(const void *left, const void *right)
{
	const struct source *a = left, *b = right;
	return strcmp(a->name, b->name);
}

static const struct source *find_source(const struct ht_parameters *p, struct ht_piece name)
{
	const struct source *list = p->sources.data;
	size_t n = (size_t)name.n;
	size_t i = HT_LOWER_BOUND(at, p->sources.n, strncmp(list[at].name, name.text, n) < 0);
	bool is_it = i < p->sources.n && !strncmp(list[i].name, name.text, n) && !list[i].name[n];
	return is_it ? &list[i] : NULL;
}

/* The sizes of a type "bf16[512, 64][64, 1]cuda:0". */
static struct ht_piece sizes_of(const char *type, size_t n)
{
	const char *from = memchr(type, '[', n);
	const char *to = from ? memchr(from, ']', n - (size_t)(from - type)) : NULL;
	if (!to || to - from > MAX_SIZES)
		return (struct ht_piece){ 0 };
	return (struct ht_piece){ from + 1, (int)(to - from - 1) };
}

/* NAME: "TYPE" from *at on, which moves past it; false: no more. */
static bool next_input(const char **at, struct ht_piece *ret_name, struct ht_piece *ret_sizes)
{
	const char *p = *at + strspn(*at, ", \n");
	size_t n = strspn(p, WORD);
	if (!n)
		return false;
	*ret_name = (struct ht_piece){ p, (int)n };
	*ret_sizes = (struct ht_piece){ 0 };
	p += n;
	if (ht_text_starts(p, ": \"")) {
		size_t n_type = strcspn(p += 3, "\"\n");
		*ret_sizes = sizes_of(p, n_type);
		p += n_type;
	}
	*at = p + strcspn(p, ",)\n");
	return true;
}

enum ht_status ht_parameters_read_graph(ht_ctx *ctx, struct ht_arena *arena,
        struct ht_parameters *p, const char *compile_id, const char *graph)
{
	static const char head[] = "def forward(self";
	const char *at = strstr(graph, head), *base = NULL;
	struct graph found = { .compile_id = compile_id, .first = p->inputs.n };
	struct ht_piece name, sizes;
	if (!at || !ht_text_same(p->compile_id, compile_id))
		return HT_OK;
	if (p->n_sorted != p->sources.n)
		ht_sort_items(ctx->mem, p->sources.data, p->sources.n, sizeof(struct source),
		        compare_sources);
	p->n_sorted = p->sources.n;
	at += sizeof head - 1;
	while (next_input(&at, &name, &sizes)) {
		const struct source *source = find_source(p, name);
		/* the text of the graph is gone when the code comes */
		char *kept = ht_arena_strndup(arena, sizes.n ? sizes.text : "", (size_t)sizes.n);
		struct input input = { .sizes = { kept, sizes.n } };
		if (source) {
			input.base = source->base;
			input.module = source->module;
			found.has_bases |= base && strcmp(base, source->base) != 0;
			base = source->base;
		}
		if (!kept || !HT_VEC_PUSH(ctx->mem, &p->inputs, struct input, input))
			return ht_fail_nomem(ctx);
		found.n++;
	}
	return HT_VEC_PUSH(ctx->mem, &p->graphs, struct graph, found) ? HT_OK : ht_fail_nomem(ctx);
}

/* ---- wrappers ---- */

struct gradient {
	struct ht_piece name; /* of the buffer */
	size_t input;
};

struct applying {
	ht_ctx *ctx;
	struct ht_arena *arena;
	const struct input *inputs;
	size_t n;
	bool has_bases;
	struct ht_vec gradients; /* struct gradient, by name */
};

/* primals_1 is the first, arg0_1 too; SIZE_MAX for another word. */
static size_t input_of(struct ht_piece word)
{
	static const char primals[] = "primals_", arg[] = "arg";
	bool is_primal = (size_t)word.n > sizeof primals - 1 && ht_text_starts(word.text, primals);
	bool is_arg = (size_t)word.n > sizeof arg - 1 && ht_text_starts(word.text, arg);
	const char *digits = word.text + (is_primal ? sizeof primals - 1 : sizeof arg - 1);
	char *end;
	if ((!is_primal && !is_arg) || *digits < '0' || *digits > '9')
		return SIZE_MAX;
	unsigned long number = strtoul(digits, &end, 10);
	bool is_whole = is_primal ? end == word.text + word.n
	                          : ht_text_starts(end, "_1") && end + 2 == word.text + word.n;
	return !is_whole || number > INT32_MAX || (is_primal && !number) ? SIZE_MAX
	                                                                 : number - is_primal;
}

/* Whether two lists of sizes are not the same; those with names in them are not known. */
static bool contradict(struct ht_piece a, struct ht_piece b)
{
	static const char known[] = "0123456789, ";
	const char *end_a = a.text + a.n, *end_b = b.text + b.n;
	if (a.n > (int)strspn(a.text, known) || b.n > (int)strspn(b.text, known))
		return false;
	for (;;) {
		a.text += strspn(a.text, ", ");
		b.text += strspn(b.text, ", ");
		if (a.text >= end_a || b.text >= end_b)
			return a.text < end_a || b.text < end_b;
		size_t n = strspn(a.text, "0123456789");
		if (n != strspn(b.text, "0123456789") || memcmp(a.text, b.text, n) != 0)
			return true;
		a.text += n;
		b.text += n;
	}
}

/* assert_size_stride(primals_4, (512, ), (1, )) for every input that is used. */
static bool has_same_order(const struct applying *a, const char *code)
{
	static const char mark[] = "assert_size_stride(";
	for (const char *at = code; (at = strstr(at, mark));) {
		at += sizeof mark - 1;
		struct ht_piece word = { at, (int)strspn(at, WORD) };
		size_t i = input_of(word);
		const char *sizes = at + word.n;
		if (i == SIZE_MAX || !ht_text_starts(sizes, ", ("))
			continue;
		sizes += 3;
		/* sizes have no brackets: of one line with many of these each is looked at once */
		struct ht_piece asserted = { sizes, (int)strcspn(sizes, "()\n") };
		if (i >= a->n || contradict(asserted, a->inputs[i].sizes))
			return false;
	}
	return true;
}

static int compare_gradients(const void *left, const void *right)
{
	const struct gradient *a = left, *b = right;
	int n = a->name.n < b->name.n ? a->name.n : b->name.n;
	int order = memcmp(a->name.text, b->name.text, (size_t)n);
	return order ? order : (a->name.n > b->name.n) - (a->name.n < b->name.n);
}

/* The buffers that a backward graph returns: return (buf7, None, reinterpret_tensor(buf9, (64, ), (1, ), 0), ) */
static enum ht_status read_gradients(struct applying *a, const char *code)
{
	static const char mark[] = "    return (";
	const char *at = NULL;
	size_t input = 0;
	int depth = 0;
	const char *title = strstr(code, "_backward']");
	if (!title || (size_t)(title - code) > strcspn(code, "\n"))
		return HT_OK;
	for (const char *next = code; (next = strstr(next, mark)); next += sizeof mark - 1)
		at = next + sizeof mark - 1;
	while (at && *at && *at != '\n' && depth >= 0) {
		struct gradient g = { { at, (int)strspn(at, WORD) }, input };
		if (ht_text_starts(at, "buf") &&
		        !HT_VEC_PUSH(a->ctx->mem, &a->gradients, struct gradient, g))
			return ht_fail_nomem(a->ctx);
		at += g.name.n;
		if (g.name.n)
			continue;
		depth += (*at == '(') - (*at == ')');
		input += *at == ',' && !depth;
		at++;
	}
	/* a gradient for every input, and none behind the last comma, or the order is another one */
	const struct gradient *list = a->gradients.data;
	bool is_behind = a->gradients.n && list[a->gradients.n - 1].input >= a->n;
	if ((input != a->n && input + 1 != a->n) || is_behind)
		a->gradients.n = 0;
	ht_sort_items(a->ctx->mem, a->gradients.data, a->gradients.n, sizeof(struct gradient),
	        compare_gradients);
	return HT_OK;
}

/* The input that a word of a call is, or is the gradient of; SIZE_MAX: none. */
static size_t find_input(const struct applying *a, struct ht_piece word)
{
	const struct gradient *list = a->gradients.data, wanted = { word, 0 };
	size_t i = input_of(word);
	if (i != SIZE_MAX || !ht_text_starts(word.text, "buf"))
		return i < a->n ? i : SIZE_MAX;
	i = HT_LOWER_BOUND(at, a->gradients.n, compare_gradients(&list[at], &wanted) < 0);
	return i < a->gradients.n && !compare_gradients(&list[i], &wanted) ? list[i].input
	                                                                   : SIZE_MAX;
}

/* The line that calls, of what follows its comment up to the next one's. */
static struct ht_piece find_call(const char *at, const char *end)
{
	while (*at && (!end || at < end)) {
		at += strspn(at, " \t\n");
		size_t n = strcspn(at, "\n");
		if (end && at >= end)
			break;
		if (*at != '#' && memchr(at, '(', n) && !memmem(at, n, "get_raw_stream(", 15) &&
		        !memmem(at, n, "empty_strided", 13))
			return (struct ht_piece){ at, (int)n };
		at += n;
	}
	return (struct ht_piece){ "", 0 };
}

static enum ht_status add_module(
        struct applying *a, const struct input *input, struct ht_compiled_call *call)
{
	char text[MAX_PATH];
	const char *path = input->module;
	if (a->has_bases) {
		snprintf(text, sizeof text, "%s%s%s", input->base, *path ? " / " : "", path);
		path = text;
	}
	if (call->owner) {
		size_t n = strlen(call->owner);
		if (!n || (!strncmp(path, call->owner, n) && (!path[n] || path[n] == ' ')))
			return HT_OK; /* it is inside already */
		call->owner = ht_stack_common(a->arena, call->owner, path);
	} else {
		call->owner = a->has_bases ? ht_arena_printf(a->arena, "%s", path) : path;
	}
	return call->owner ? HT_OK : ht_fail_nomem(a->ctx);
}

static enum ht_status apply(struct applying *a, const char *code, struct ht_vec *calls)
{
	struct ht_compiled_call *list = calls->data;
	if (!has_same_order(a, code))
		return HT_OK;
	HT_TRY(read_gradients(a, code));
	for (size_t i = 0; i < calls->n; i++) {
		struct ht_piece line =
		        find_call(list[i].code, i + 1 < calls->n ? list[i + 1].code : NULL);
		for (const char *at = line.text, *end = at + line.n; at < end;) {
			struct ht_piece word = { at, (int)strspn(at, WORD) };
			size_t input = word.n ? find_input(a, word) : SIZE_MAX;
			if (input != SIZE_MAX && a->inputs[input].module)
				HT_TRY(add_module(a, &a->inputs[input], &list[i]));
			at += word.n + !word.n;
		}
	}
	return HT_OK;
}

enum ht_status ht_parameters_apply(ht_ctx *ctx, struct ht_arena *arena,
        const struct ht_parameters *p, const char *compile_id, const char *code,
        struct ht_vec *calls)
{
	const struct graph *graphs = p->graphs.data;
	const struct input *inputs = p->inputs.data;
	size_t i = p->graphs.n, last = i > MAX_GRAPHS_BETWEEN ? i - MAX_GRAPHS_BETWEEN : 0;
	while (i > last && !ht_text_same(graphs[i - 1].compile_id, compile_id))
		i--;
	if (i == last || !graphs[i - 1].n)
		return HT_OK;
	struct applying a = { .ctx = ctx,
		.arena = arena,
		.inputs = inputs + graphs[i - 1].first,
		.n = graphs[i - 1].n,
		.has_bases = graphs[i - 1].has_bases };
	enum ht_status status = apply(&a, code, calls);
	ht_vec_free(ctx->mem, &a.gradients, sizeof(struct gradient));
	return status;
}

enum ht_status ht_parameters_fill(ht_ctx *ctx, struct ht_arena *arena, struct ht_vec *calls)
{
	struct ht_compiled_call *list = calls->data;
	const struct ht_compiled_call *before = NULL;
	for (size_t i = 0, next = 0; i < calls->n; i++) {
		if (list[i].owner) {
			before = &list[i];
			continue;
		}
		for (next = next > i ? next : i; next < calls->n && !list[next].owner;)
			next++;
		const struct ht_compiled_call *after = next < calls->n ? &list[next] : NULL;
		if (!list[i].modules || !before || !after ||
		        !ht_text_same(before->modules, list[i].modules) ||
		        !ht_text_same(after->modules, list[i].modules))
			continue;
		const char *owner = ht_stack_common(arena, before->owner, after->owner);
		if (!owner)
			return ht_fail_nomem(ctx);
		list[i].is_between = *owner != '\0';
		list[i].owner = list[i].is_between ? owner : NULL;
	}
	return HT_OK;
}

void ht_parameters_done(ht_ctx *ctx, struct ht_parameters *p)
{
	ht_vec_free(ctx->mem, &p->sources, sizeof(struct source));
	ht_vec_free(ctx->mem, &p->inputs, sizeof(struct input));
	ht_vec_free(ctx->mem, &p->graphs, sizeof(struct graph));
}
