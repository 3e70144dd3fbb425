/* SPDX-License-Identifier: Apache-2.0 */
/*
 * desk.c - what a process does with its share of the traces: list, open, describe, join, make parts.
 *
 * The leader uses it for its own share, workers for what they are asked. A request that does not hold what it should comes from a process
 * that is built otherwise: it is answered by an error, and nothing of it is done.
 */
#include "team.h"
#include "holotrace/own.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- plain data ---- */

void item_put(struct wire *out, const struct item *item)
{
	wire_put_u64(out, item->id);
	wire_put_u64(out, item->node);
	wire_put_u64(out, item->state);
	wire_put_bytes(out, item->bytes, item->n);
}

bool item_get(struct wire_in *in, struct item *ret_item)
{
	if (in->n == 0)
		return false;
	ret_item->id = (size_t)wire_get_u64(in);
	ret_item->node = (size_t)wire_get_u64(in);
	ret_item->state = (enum item_state)wire_get_u64(in);
	ret_item->bytes = wire_get_bytes(in, &ret_item->n);
	return !in->failed;
}

void error_put(struct wire *out, const struct ht_error *error)
{
	wire_put_u64(out, error->status);
	wire_put_str(out, error->message);
	wire_put_str(out, error->file);
	wire_put_u64(out, (uint64_t)error->offset);
	wire_put_str(out, error->hint);
}

bool error_get(struct wire_in *in, struct ht_error *ret_error)
{
	ret_error->status = (enum ht_status)wire_get_u64(in);
	ret_error->message = wire_get_str(in);
	ret_error->file = wire_get_str(in);
	ret_error->offset = (int64_t)wire_get_u64(in);
	ret_error->hint = wire_get_str(in);
	return !in->failed && ret_error->message != NULL;
}

void options_put(struct wire *out, const struct ht_open_options *options)
{
	wire_put_u64(out, options->recursive | options->strict << 1 | options->no_cache << 2 |
	                          options->verify_cache << 3 | options->prefer_db << 4 |
	                          options->partial << 5);
	wire_put_str(out, options->cache_dir);
	wire_put_u64(out, options->cache_max_bytes);
	wire_put_str(out, options->kernel_rules);
	wire_put_u64(out, options->own != NULL ? options->own->chunk_bytes : 0);
	wire_put_str(out, options->attach);
}

static void get_options(
        struct wire_in *in, struct ht_open_options *ret_options, struct ht_open_own *ret_own)
{
	uint64_t flags = wire_get_u64(in);
	*ret_options = (struct ht_open_options){
		.struct_size = sizeof(*ret_options),
		.recursive = flags & 1,
		.strict = flags >> 1 & 1,
		.no_cache = flags >> 2 & 1,
		.verify_cache = flags >> 3 & 1,
		.prefer_db = flags >> 4 & 1,
		.partial = flags >> 5 & 1,
	};
	ret_options->cache_dir = wire_get_str(in);
	ret_options->cache_max_bytes = wire_get_u64(in);
	ret_options->kernel_rules = wire_get_str(in);
	ret_own->chunk_bytes = (size_t)wire_get_u64(in);
	ret_options->own = ret_own;
	ret_options->attach = wire_get_str(in);
}

void question_put(struct wire *out, const struct question *question)
{
	static const struct ht_view all;
	wire_put_u64(out, question != NULL);
	if (question == NULL)
		return;
	const struct ht_view *view = question->view != NULL ? question->view : &all;
	wire_put_str(out, question->name);
	wire_put_u64(out, question->n_args);
	for (size_t i = 0; i < question->n_args; i++) {
		wire_put_str(out, question->args[i].name);
		wire_put_str(out, question->args[i].value);
	}
	wire_put_str(out, view->columns);
	wire_put_str(out, view->where);
	wire_put_str(out, view->sort);
	wire_put_u64(out, view->top);
	wire_put_u64(out, view->offset);
}

/* A text that has to be there. */
static const char *get_text(struct wire_in *in)
{
	const char *text = wire_get_str(in);
	in->failed = in->failed || text == NULL;
	return text;
}

static bool get_question(struct wire_in *in, struct ht_arg *args, struct ht_view *view,
        struct question *ret_question)
{
	if (wire_get_u64(in) == 0)
		return false;
	*ret_question = (struct question){ .name = get_text(in), .args = args, .view = view };
	ret_question->n_args = (size_t)wire_get_u64(in);
	in->failed = in->failed || ret_question->n_args > OPTS_MAX;
	for (size_t i = 0; !in->failed && i < ret_question->n_args; i++) {
		args[i].name = get_text(in);
		args[i].value = get_text(in);
	}
	*view = (struct ht_view){ .struct_size = sizeof(*view) };
	view->columns = wire_get_str(in);
	view->where = wire_get_str(in);
	view->sort = wire_get_str(in);
	view->top = wire_get_u64(in);
	view->offset = wire_get_u64(in);
	return !in->failed;
}

/* ---- requests; each puts what it answers and returns a status with the context's error, unless the request failed ---- */

/* A set of the leader's by its number; NULL, and the request has failed, when there is no such number. */
static struct holding *get_set(struct desk *desk, struct wire_in *in)
{
	uint64_t i = wire_get_u64(in);
	in->failed = in->failed || i >= HT_MAX_SETS;
	return in->failed ? NULL : &desk->sets[i];
}

/* n texts in place, for the caller to free; NULL when there are none, or too few. */
static const char **get_texts(struct wire_in *in, size_t *ret_n)
{
	uint64_t n = wire_get_u64(in);
	in->failed = in->failed || n > in->n;
	const char **texts = n > 0 && !in->failed ? calloc(n, sizeof(*texts)) : NULL;
	*ret_n = texts != NULL ? (size_t)n : 0;
	for (size_t i = 0; i < *ret_n; i++)
		texts[i] = get_text(in);
	return texts;
}

/* When the file was changed last: with path and size it tells that two machines see one file. */
static uint64_t changed_ns(const char *source)
{
	const char *equals = strchr(source, '=');
	struct stat st;
	if (equals == NULL || stat(equals + 1, &st) != 0)
		return 0;
	return (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
}

/* One process of each machine looks: options, sources -> description, files with their sizes. */
static enum ht_status list_files(struct desk *desk, struct wire_in *in, struct wire *out)
{
	struct ht_open_options options;
	struct ht_open_own own = { 0 };
	size_t n;
	get_options(in, &options, &own);
	const char **sources = get_texts(in, &n);
	ht_listing *listing = NULL;
	enum ht_status status = HT_OK;
	if (desk->seat.i_local == 0 && !in->failed)
		status = ht_listing_make(desk->ctx, sources, n, &options, &listing);
	if (status == HT_OK && listing != NULL) {
		struct wire told = { 0 };
		struct ht_sink sink = { wire_write, &told };
		status = ht_listing_describe(desk->ctx, listing, &sink);
		wire_put_bytes(out, told.bytes, told.n);
		wire_free(&told);
	}
	for (size_t i = 0; status == HT_OK && listing != NULL && i < ht_listing_n(listing); i++) {
		const char *source = ht_listing_source(listing, i);
		wire_put_str(out, source);
		wire_put_u64(out, ht_listing_size_bytes(listing, i));
		wire_put_u64(out, changed_ns(source));
	}
	ht_listing_free(listing);
	free(sources);
	return status;
}

static void holding_close(struct holding *held)
{
	ht_close(held->joined);
	ht_close(held->own);
	*held = (struct holding){ NULL, NULL };
}

static enum ht_status describe(
        struct desk *desk, const struct holding *held, bool with_facts, struct wire *out)
{
	struct ht_sink sink = { wire_write, out };
	return held->own != NULL ? ht_set_describe(desk->ctx, held->own, with_facts, &sink)
	                         : ht_missing_describe(desk->ctx, NULL, 0, &sink);
}

/* What this process may read. */
struct share {
	const char **sources; /* in place */
	size_t n;
	struct claims claims;
};

static void share_free(struct share *share)
{
	free(share->sources);
	free(share->claims.files);
	free(share->claims.taken);
}

static void share_add(struct share *share, const char *source, size_t i_file)
{
	share->claims.files[share->n] = i_file;
	share->claims.taken[share->n] = true; /* unless there are claims, which say so */
	share->sources[share->n++] = source;
}

/* Number of the opening, number of files, and of every process how many are dealt to it, and which. With a number
 * other than 0 those of the same machine help each other out: after its own files a process goes through those of the
 * next ones, from their ends, where they come last. */
static bool share_get(struct desk *desk, struct wire_in *in, struct share *ret_share)
{
	const struct seat *seat = &desk->seat;
	uint64_t number = wire_get_u64(in), n_files = wire_get_u64(in), k = 0;
	in->failed = in->failed || n_files > in->n ||
	             (number != 0 && (desk->marks == NULL || n_files > BOARD_FILES));
	bool ok = !in->failed;
	const char **all = ok ? calloc(n_files + 1, sizeof(*all)) : NULL;
	size_t *firsts = calloc(seat->n + 1, sizeof(*firsts));
	struct share share = { .claims = { .marks = desk->marks, .number = (uint32_t)number } };
	share.sources = ok ? calloc(n_files + 1, sizeof(*share.sources)) : NULL;
	share.claims.files = ok ? calloc(n_files + 1, sizeof(*share.claims.files)) : NULL;
	share.claims.taken = ok ? calloc(n_files + 1, sizeof(*share.claims.taken)) : NULL;
	ok = ok && all != NULL && firsts != NULL && share.sources != NULL &&
	     share.claims.files != NULL && share.claims.taken != NULL;
	for (size_t id = 0; ok && id < seat->n; id++) {
		uint64_t n = wire_get_u64(in);
		in->failed = in->failed || n > n_files - k;
		for (uint64_t i = 0; !in->failed && i < n; i++)
			all[k++] = get_text(in);
		ok = !in->failed;
		firsts[id + 1] = k;
	}
	for (size_t i = ok ? firsts[seat->id] : k; i < k && i < firsts[seat->id + 1]; i++)
		share_add(&share, all[i], i);
	for (size_t step = 1; ok && number != 0 && step < seat->n; step++) {
		size_t id = (seat->id + step) % seat->n;
		for (size_t i = firsts[id + 1]; desk->nodes[id] == seat->node && i > firsts[id];)
			i--, share_add(&share, all[i], i);
	}
	free(all);
	free(firsts);
	*ret_share = share;
	return ok;
}

/* Description, and which files it is of. */
static enum ht_status tell_share(
        struct desk *desk, const struct holding *held, const struct share *share, struct wire *out)
{
	struct wire told = { 0 };
	enum ht_status status = describe(desk, held, false, &told);
	wire_put_bytes(out, told.bytes, told.n);
	for (size_t i = 0; i < share->n; i++)
		if (share->claims.taken[i])
			wire_put_u64(out, share->claims.files[i]);
	wire_free(&told);
	return status;
}

/* set, limits, options, what will be asked, then the files of every process in turn -> description, files */
static enum ht_status open_share(struct desk *desk, struct wire_in *in, struct wire *out)
{
	struct ht_arg args[OPTS_MAX];
	struct ht_view view;
	struct question question;
	struct holding *held = get_set(desk, in);
	int n_jobs = (int)wire_get_u64(in);
	uint64_t limit = wire_get_u64(in);
	struct ht_open_options options;
	struct ht_open_own own = { .claim = ht_claim_all };
	get_options(in, &options, &own);
	bool is_asked = get_question(in, args, &view, &question);
	struct share share;
	bool ok = share_get(desk, in, &share);
	if (in->failed) {
		share_free(&share);
		return HT_OK;
	}
	if (ok && share.claims.number != 0) {
		own.claim = board_claim;
		own.claim_user = &share.claims;
	}
	holding_close(held);
	if (desk->seat.id != 0) {
		ht_ctx_set_jobs(desk->ctx, n_jobs > 0 ? n_jobs : desk->seat.n_jobs);
		ht_ctx_set_memory_limit(desk->ctx, limit);
	}
	enum ht_status status = HT_OK;
	/* without memory for the share the library says what no source cannot be */
	if (share.n > 0 || !ok)
		status = question_open(desk->ctx, share.sources, ok ? share.n : 0, &options,
		        is_asked ? &question : NULL, &held->own);
	if (status == HT_OK)
		status = tell_share(desk, held, &share, out);
	share_free(&share);
	return status;
}

/* set, which description is whose, descriptions */
static enum ht_status join(struct desk *desk, struct wire_in *in)
{
	struct holding *held = get_set(desk, in);
	uint64_t n = wire_get_u64(in);
	/* each has its length before it; this process is one of those that are told of */
	in->failed =
	        in->failed || n > in->n / sizeof(n) || (held->own != NULL && n <= desk->seat.id);
	struct ht_description *told = in->failed ? NULL : calloc(n + 1, sizeof(*told));
	for (size_t i = 0; told != NULL && i < n; i++)
		told[i].data = wire_get_bytes(in, &told[i].n);
	ht_set *joined = NULL;
	enum ht_status status = HT_OK;
	/* without memory for the list the library says what an empty one cannot be */
	if (!in->failed)
		status = ht_shares_join(desk->ctx, held->own, desk->seat.id, told,
		        told != NULL ? (size_t)n : 0, &joined);
	if (joined != NULL) {
		ht_close(held->joined);
		held->joined = joined;
	}
	free(told);
	return status;
}

/* sets, question -> bundle */
static enum ht_status make_parts(struct desk *desk, struct wire_in *in, struct wire *out)
{
	ht_set *sets[HT_MAX_SETS];
	struct ht_arg args[OPTS_MAX];
	struct ht_view view;
	struct question q;
	ht_bundle *bundle;
	uint64_t n_sets = wire_get_u64(in);
	in->failed = in->failed || n_sets > HT_MAX_SETS;
	for (size_t i = 0; !in->failed && i < n_sets; i++) {
		const struct holding *held = get_set(desk, in);
		sets[i] = held != NULL ? held->joined : NULL;
		in->failed = in->failed || sets[i] == NULL;
	}
	in->failed = !get_question(in, args, &view, &q) || in->failed;
	if (in->failed)
		return HT_OK;
	enum ht_status status = ht_bundle_make(desk->ctx, sets, n_sets,
	        &(struct ht_query){ sizeof(struct ht_query), q.name, q.args, q.n_args, q.view },
	        &bundle);
	if (status != HT_OK)
		return status;
	struct ht_sink sink = { wire_write, out };
	status = ht_bundle_write(desk->ctx, bundle, &sink);
	ht_bundle_free(bundle);
	return status;
}

void desk_close(struct desk *desk, size_t i_set)
{
	holding_close(&desk->sets[i_set]);
}

static enum ht_status describe_again(struct desk *desk, struct wire_in *in, struct wire *out)
{
	const struct holding *held = get_set(desk, in);
	return held != NULL ? describe(desk, held, true, out) : HT_OK;
}

static enum ht_status close_set(struct desk *desk, struct wire_in *in)
{
	struct holding *held = get_set(desk, in);
	if (held != NULL)
		holding_close(held);
	return HT_OK;
}

static enum ht_status obey(struct desk *desk, enum kind kind, struct wire_in *in, struct wire *out)
{
	switch (kind) {
	case KIND_LIST: return list_files(desk, in, out);
	case KIND_OPEN: return open_share(desk, in, out);
	case KIND_DESCRIBE: return describe_again(desk, in, out);
	case KIND_JOIN: return join(desk, in);
	case KIND_MAKE: return make_parts(desk, in, out);
	case KIND_CLOSE: return close_set(desk, in);
	default: break;
	}
	return HT_OK;
}

static enum phase phase_of(enum kind kind)
{
	switch (kind) {
	case KIND_LIST: return PHASE_LIST;
	case KIND_OPEN: return PHASE_OPEN;
	case KIND_DESCRIBE: return PHASE_DESCRIBE;
	case KIND_JOIN: return PHASE_JOIN;
	case KIND_MAKE: return PHASE_MAKE;
	default: return PHASE_END;
	}
}

void desk_answer(struct desk *desk, enum kind kind, struct wire_in request, struct wire *answer)
{
	struct moment since = timing_now();
	struct wire out = { 0 };
	struct item item = { .id = desk->seat.id, .node = desk->seat.node, .state = ITEM_OK };
	static const struct ht_error malformed = { HT_FORMAT,
		"a request of another process does not hold what it should", NULL, -1,
		"install one build on all nodes" };
	enum ht_status status = obey(desk, kind, &request, &out);
	if (status != HT_OK || request.failed) {
		item.state = ITEM_ERROR;
		out.n = 0;
		error_put(&out, request.failed ? &malformed : ht_error(desk->ctx));
	}
	item.bytes = out.bytes;
	item.n = out.n;
	item_put(answer, &item);
	wire_free(&out);
	timing_add(&desk->timing, phase_of(kind), since);
}
