/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leader.c - the worker that runs the program: what it opens and asks is done by all processes; see team.h.
 *
 * Files are found once (or once per machine, with --local) and dealt by size. A process that dies is an error;
 * with --partial its files are named as missing, the sets are joined again without them, and the question is
 * asked again.
 */
#include "team.h"
#include "holotrace/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_EACH 4 /* per thread, from which on files are taken from each other */

struct file {
	const char *source; /* in the answers of the listing */
	uint64_t size_bytes, changed_ns;
	size_t node, id; /* where it lies, and who reads it */
	bool taken;      /* that is told */
};

/* One set of the program: who has which files, and what was told of them. */
struct dealt {
	ht_set *handle;    /* as the program knows it; the desk may have joined anew since */
	struct wire names; /* owns what the files point to */
	struct file *files;
	size_t n_files;
	struct wire *told; /* by process, then by machine what was found there */
	size_t n_told;
	bool partial;
};

struct leader {
	int fd;
	struct desk desk;
	uint32_t n_openings;
	char **why_dead; /* by process; NULL: it lives */
	struct dealt sets[HT_MAX_SETS];
	struct wire error_bytes; /* owns the texts of error */
	struct ht_error error;
	char text[512], hint[256];
	bool has_error;
};

static struct leader *leader_of(const struct cli *cli)
{
	return cli->engine->user;
}

/* ---- asking ---- */

static enum ht_status fail(
        struct leader *leader, enum ht_status status, const char *text, const char *hint)
{
	if (text != leader->text)
		snprintf(leader->text, sizeof(leader->text), "%s", text);
	leader->error = (struct ht_error){ status, leader->text, NULL, -1, hint };
	leader->has_error = true;
	return status;
}

static enum ht_status fail_nomem(struct leader *leader)
{
	return fail(leader, HT_NOMEM, "out of memory", NULL);
}

static enum ht_status fail_other_build(struct leader *leader)
{
	return fail(leader, HT_FORMAT, "an answer of another process does not hold what it should",
	        "install one build on all nodes");
}

/* A file that process 0 found and another machine cannot open is no mistake in a path. */
static const char *hint_for(struct leader *leader, size_t id, const struct ht_error *error)
{
	const struct seat *seat = &leader->desk.seat;
	bool is_elsewhere = id < seat->n && leader->desk.nodes[id] != seat->node;
	if (!is_elsewhere || seat->local || error->file == NULL || error->status != HT_IO)
		return error->hint;
	snprintf(leader->hint, sizeof(leader->hint),
	        "process %zu is on another machine than process 0, which found the file: use a folder that all of "
	        "them see, or --local where each has its own",
	        id);
	return leader->hint;
}

/* Of several errors that of the first file, as one process would have met it. */
static void keep_error(struct leader *leader, const struct item *item)
{
	struct ht_error error;
	struct wire bytes = { 0 };
	wire_put(&bytes, item->bytes, item->n);
	struct wire_in in = { bytes.bytes, bytes.n, false };
	bool known = !bytes.failed && error_get(&in, &error);
	bool first = !leader->has_error || leader->error.file == NULL ||
	             (known && error.file != NULL && strcmp(error.file, leader->error.file) < 0);
	if (!known || !first) {
		wire_free(&bytes);
		return;
	}
	wire_free(&leader->error_bytes);
	leader->error_bytes = bytes;
	leader->error = error;
	leader->error.hint = hint_for(leader, item->id, &error);
	leader->has_error = true;
}

static void bury(struct leader *leader, const struct item *item)
{
	if (item->id >= leader->desk.seat.n || leader->why_dead[item->id] != NULL)
		return;
	leader->why_dead[item->id] = strndup(item->bytes, item->n);
	if (leader->why_dead[item->id] == NULL)
		leader->why_dead[item->id] = strdup("ended");
}

/* What the death of a process means for a set: an error that names its files. */
static enum ht_status fail_dead(struct leader *leader, size_t id, const struct dealt *dealt)
{
	size_t n = 0;
	const char *first = "";
	for (size_t i = dealt->n_files; i-- > 0;) {
		if (dealt->files[i].id != id)
			continue;
		n++;
		first = strchr(dealt->files[i].source, '=') + 1;
	}
	snprintf(leader->text, sizeof(leader->text), "process %zu %s; it had %zu trace%s%s%s", id,
	        leader->why_dead[id], n, n == 1 ? "" : "s", n > 0 ? ", the first " : "", first);
	return fail(leader, HT_LIMIT, leader->text,
	        "a process that is killed often lacked memory: use more machines, or --partial to go "
	        "on without its traces");
}

/* Ask everybody, this process too. ret_answers holds an item of each, or fewer where parts were merged on the
 * way. An error of one of them is the leader's; the dead are buried, and ret_died tells. */
static enum ht_status ask(struct leader *leader, enum kind kind, const struct wire *request,
        struct wire *ret_answers, bool *ret_died)
{
	struct wire others = { 0 };
	uint64_t answer_kind;
	struct wire_in own = { request->bytes, request->n, false };
	struct timing *timing = &leader->desk.timing;
	struct moment since = timing_now();
	*ret_answers = (struct wire){ 0 };
	leader->has_error = false;
	if (request->failed || !frame_send(leader->fd, kind, request->bytes, request->n))
		return request->failed ? fail_nomem(leader)
		                       : fail(leader, HT_IO, "the other processes are gone", NULL);
	timing_add(timing, PHASE_SEND, since);
	desk_answer(&leader->desk, kind, own, ret_answers);
	since = timing_now();
	if (!frame_receive(leader->fd, &answer_kind, &others))
		return fail(leader, HT_IO, "the other processes are gone", NULL);
	timing_add(timing, PHASE_WAIT, since);
	wire_put(ret_answers, others.bytes, others.n);
	wire_free(&others);
	if (ret_answers->failed)
		return fail_nomem(leader);
	struct wire_in in = { ret_answers->bytes, ret_answers->n, false };
	struct item item;
	*ret_died = false;
	while (item_get(&in, &item)) {
		if (item.state == ITEM_ERROR)
			keep_error(leader, &item);
		if (item.state == ITEM_DEAD && item.id < leader->desk.seat.n) {
			*ret_died = *ret_died || leader->why_dead[item.id] == NULL;
			bury(leader, &item);
		}
	}
	return leader->has_error ? leader->error.status : HT_OK;
}

/* For requests whose answers do not matter beyond their success. */
static enum ht_status tell(
        struct leader *leader, enum kind kind, const struct wire *request, bool *ret_died)
{
	struct wire answers;
	enum ht_status status = ask(leader, kind, request, &answers, ret_died);
	wire_free(&answers);
	return status;
}

/* ---- finding and dealing ---- */

static bool add_file(struct dealt *dealt, size_t *cap, const struct file *file)
{
	if (dealt->n_files == *cap) {
		size_t more = *cap == 0 ? 64 : *cap * 2;
		struct file *files = realloc(dealt->files, more * sizeof(*files));
		if (files == NULL)
			return false;
		dealt->files = files;
		*cap = more;
	}
	dealt->files[dealt->n_files++] = *file;
	return true;
}

/* Of the answers to a listing: files, and what each machine said about finding them. */
static enum ht_status take_listings(struct leader *leader, struct dealt *dealt, size_t *nodes)
{
	struct wire_in in = { dealt->names.bytes, dealt->names.n, false };
	struct item item;
	size_t cap = 0;
	while (item_get(&in, &item)) {
		if (item.id < leader->desk.seat.n)
			nodes[item.id] = item.node;
		if (item.state != ITEM_OK || item.n == 0)
			continue;
		struct wire_in list = { item.bytes, item.n, false };
		size_t n;
		const void *told = wire_get_bytes(&list, &n);
		if (dealt->n_told == 2 * leader->desk.seat.n)
			return fail_other_build(leader);
		wire_put(&dealt->told[dealt->n_told++], told, n);
		while (list.n > 0) {
			struct file file = { .node = item.node };
			file.source = wire_get_str(&list);
			file.size_bytes = wire_get_u64(&list);
			file.changed_ns = wire_get_u64(&list);
			if (list.failed || file.source == NULL || strchr(file.source, '=') == NULL)
				return fail_other_build(leader);
			if (!add_file(dealt, &cap, &file))
				return fail_nomem(leader);
		}
	}
	return HT_OK;
}

static int compare_files(const void *x, const void *y)
{
	const struct file *a = x, *b = y;
	int order = strcmp(a->source, b->source);
	return order != 0 ? order : a->node < b->node ? -1 : a->node > b->node;
}

/* A file that two machines see is not local to either. */
static enum ht_status refuse_shared(struct leader *leader, const struct dealt *dealt)
{
	struct file *files = calloc(dealt->n_files + 1, sizeof(*files));
	enum ht_status status = files != NULL ? HT_OK : fail_nomem(leader);
	if (files != NULL)
		memcpy(files, dealt->files, dealt->n_files * sizeof(*files));
	if (files != NULL)
		qsort(files, dealt->n_files, sizeof(*files), compare_files);
	for (size_t i = 1; status == HT_OK && i < dealt->n_files; i++) {
		const struct file *a = &files[i - 1], *b = &files[i];
		if (a->node == b->node || strcmp(a->source, b->source) != 0 ||
		        a->size_bytes != b->size_bytes || a->changed_ns != b->changed_ns)
			continue;
		snprintf(leader->text, sizeof(leader->text), "%s is the same file on two machines",
		        strchr(a->source, '=') + 1);
		status = fail(leader, HT_USAGE, leader->text,
		        "leave --local out where all machines see the same files");
	}
	free(files);
	return status;
}

static bool is_input(const struct file *file)
{
	return strcmp(strchr(file->source, '=') + 1, "-") == 0;
}

/* Deal the files of one machine to its processes; nodes NULL: all to all. */
static enum ht_status deal_node(
        struct leader *leader, struct dealt *dealt, const size_t *nodes, size_t node)
{
	size_t n_ids = 0, n = 0;
	size_t *ids = calloc(leader->desk.seat.n, sizeof(*ids));
	size_t *shares = calloc(dealt->n_files + 1, sizeof(*shares));
	uint64_t *sizes = calloc(dealt->n_files + 1, sizeof(*sizes));
	enum ht_status status = ids != NULL && shares != NULL && sizes != NULL ? HT_OK : HT_NOMEM;
	for (size_t id = 0; status == HT_OK && id < leader->desk.seat.n; id++)
		if ((nodes == NULL || nodes[id] == node) && leader->why_dead[id] == NULL)
			ids[n_ids++] = id;
	for (size_t i = 0; status == HT_OK && i < dealt->n_files; i++)
		if (nodes == NULL || dealt->files[i].node == node)
			sizes[n++] = dealt->files[i].size_bytes;
	if (status == HT_OK && n > 0)
		status = ht_deal(leader->desk.ctx, sizes, n, n_ids, shares);
	for (size_t i = 0, k = 0; status == HT_OK && i < dealt->n_files; i++) {
		struct file *file = &dealt->files[i];
		if (nodes != NULL && file->node != node)
			continue;
		/* standard input is where the launcher puts it */
		file->id = is_input(file) ? 0 : ids[shares[k]];
		k++;
	}
	free(ids);
	free(shares);
	free(sizes);
	return status == HT_NOMEM ? fail_nomem(leader) : status;
}

/* Find the files and decide who reads which. */
static enum ht_status find_files(struct leader *leader, struct dealt *dealt,
        const char *const *sources, size_t n_sources, const struct ht_open_options *options)
{
	struct wire request = { 0 };
	size_t n = leader->desk.seat.n;
	size_t *nodes = calloc(n, sizeof(*nodes));
	bool died = false;
	options_put(&request, options);
	wire_put_u64(&request, n_sources);
	for (size_t i = 0; i < n_sources; i++)
		wire_put_str(&request, sources[i]);
	enum ht_status status = nodes != NULL && !request.failed ? HT_OK : fail_nomem(leader);
	if (status == HT_OK && leader->desk.seat.local)
		status = ask(leader, KIND_LIST, &request, &dealt->names, &died);
	else if (status == HT_OK)
		desk_answer(&leader->desk, KIND_LIST,
		        (struct wire_in){ request.bytes, request.n, false }, &dealt->names);
	if (status == HT_OK)
		status = take_listings(leader, dealt, nodes);
	if (status == HT_OK && leader->desk.seat.local)
		status = refuse_shared(leader, dealt);
	struct wire_in in = { dealt->names.bytes, dealt->names.n, false };
	struct item item;
	if (status == HT_OK && item_get(&in, &item) && item.state == ITEM_ERROR) {
		keep_error(leader, &item);
		status = leader->error.status;
	}
	if (!leader->desk.seat.local && status == HT_OK)
		status = deal_node(leader, dealt, NULL, 0);
	for (size_t id = 0; leader->desk.seat.local && status == HT_OK && id < n; id++) {
		bool is_new = true;
		for (size_t k = 0; k < id; k++)
			is_new = is_new && nodes[k] != nodes[id];
		if (is_new)
			status = deal_node(leader, dealt, nodes, nodes[id]);
	}
	free(nodes);
	wire_free(&request);
	return status;
}

/* ---- sets ---- */

/* What is told of a dead process: its files are missing. */
static enum ht_status tell_missing(struct leader *leader, struct dealt *dealt, size_t id)
{
	const char **lines = calloc(dealt->n_files + 1, sizeof(*lines));
	size_t n = 0;
	bool ok = lines != NULL;
	for (size_t i = 0; ok && i < dealt->n_files; i++) {
		char line[1024];
		if (dealt->files[i].id != id)
			continue;
		snprintf(line, sizeof(line), "%s: process %zu %s",
		        strchr(dealt->files[i].source, '=') + 1, id, leader->why_dead[id]);
		lines[n] = strdup(line);
		ok = lines[n++] != NULL;
	}
	struct wire told = { 0 };
	struct ht_sink sink = { wire_write, &told };
	enum ht_status status =
	        ok ? ht_missing_describe(leader->desk.ctx, lines, n, &sink) : fail_nomem(leader);
	wire_free(&dealt->told[id]);
	dealt->told[id] = told;
	for (size_t i = 0; lines != NULL && i < n; i++)
		free((char *)(uintptr_t)lines[i]);
	free(lines);
	return status;
}

static bool has_files(const struct dealt *dealt, size_t id)
{
	bool has = false;
	for (size_t i = 0; i < dealt->n_files; i++)
		has = has || dealt->files[i].id == id;
	return has;
}

/* Tell all of all, the dead as missing. */
static enum ht_status join_all(struct leader *leader, size_t i_set, bool *ret_died)
{
	struct dealt *dealt = &leader->sets[i_set];
	struct holding *held = &leader->desk.sets[i_set];
	struct wire request = { 0 };
	enum ht_status status = HT_OK;
	for (size_t id = 0; status == HT_OK && id < leader->desk.seat.n; id++) {
		if (leader->why_dead[id] == NULL)
			continue;
		/* who had nothing is not missed */
		status = dealt->partial || !has_files(dealt, id) ? tell_missing(leader, dealt, id)
		                                                 : fail_dead(leader, id, dealt);
	}
	if (status != HT_OK)
		return status;
	/* the program still has the first */
	if (held->joined == dealt->handle)
		held->joined = NULL;
	wire_put_u64(&request, i_set);
	wire_put_u64(&request, dealt->n_told);
	for (size_t i = 0; i < dealt->n_told; i++)
		wire_put_bytes(&request, dealt->told[i].bytes, dealt->told[i].n);
	status = tell(leader, KIND_JOIN, &request, ret_died);
	wire_free(&request);
	return status;
}

static enum ht_status join_until_quiet(struct leader *leader, size_t i_set)
{
	bool died = true;
	while (died) {
		enum ht_status status = join_all(leader, i_set, &died);
		if (status != HT_OK)
			return status;
	}
	return HT_OK;
}

static void take_told(struct leader *leader, struct dealt *dealt, const struct wire *answers)
{
	struct wire_in in = { answers->bytes, answers->n, false };
	struct item item;
	while (item_get(&in, &item)) {
		if (item.state != ITEM_OK || item.id >= leader->desk.seat.n)
			continue;
		wire_free(&dealt->told[item.id]);
		wire_put(&dealt->told[item.id], item.bytes, item.n);
	}
}

/* Whether files are taken from each other: where each process has several for each of its threads. */
static bool may_help(const struct leader *leader, const struct dealt *dealt, uint64_t n_jobs)
{
	const struct seat *seat = &leader->desk.seat;
	uint64_t n_threads = seat->n * (n_jobs > 0 ? n_jobs : (uint64_t)seat->n_jobs);
	bool has_input = false;
	for (size_t i = 0; i < dealt->n_files; i++)
		has_input = has_input || is_input(&dealt->files[i]);
	return seat->has_board && seat->n > 1 && !has_input && dealt->n_files <= BOARD_FILES &&
	       dealt->n_files >= FILES_EACH * n_threads;
}

/* In the order of processes, which take_opened() knows again. */
static void put_shares(const struct leader *leader, const struct dealt *dealt, struct wire *request)
{
	wire_put_u64(request, dealt->n_files);
	for (size_t id = 0; id < leader->desk.seat.n; id++) {
		size_t n = 0;
		for (size_t i = 0; i < dealt->n_files; i++)
			n += dealt->files[i].id == id;
		wire_put_u64(request, n);
		for (size_t i = 0; i < dealt->n_files; i++)
			if (dealt->files[i].id == id)
				wire_put_str(request, dealt->files[i].source);
	}
}

/* Files that nobody said to have were those of who died meanwhile, on the same machine. */
static void blame_dead(const struct leader *leader, struct file *file)
{
	const uint64_t *nodes = leader->desk.nodes;
	for (size_t id = 0; id < leader->desk.seat.n && leader->why_dead[file->id] == NULL; id++)
		if (leader->why_dead[id] != NULL && nodes[id] == nodes[file->id])
			file->id = id;
}

/* What was told of the shares, and who has which files now. */
static enum ht_status take_opened(
        struct leader *leader, struct dealt *dealt, const struct wire *answers)
{
	struct wire_in in = { answers->bytes, answers->n, false };
	struct item item;
	struct file **sent = calloc(dealt->n_files + 1, sizeof(struct file *));
	if (sent == NULL)
		return fail_nomem(leader);
	for (size_t id = 0, k = 0; id < leader->desk.seat.n; id++)
		for (size_t i = 0; i < dealt->n_files; i++)
			if (dealt->files[i].id == id)
				sent[k++] = &dealt->files[i];
	while (item_get(&in, &item)) {
		struct wire_in opened = { item.bytes, item.n, false };
		size_t n;
		if (item.state != ITEM_OK || item.id >= leader->desk.seat.n)
			continue;
		const void *told = wire_get_bytes(&opened, &n);
		wire_free(&dealt->told[item.id]);
		wire_put(&dealt->told[item.id], told, n);
		while (opened.n > 0 && !opened.failed) {
			uint64_t i = wire_get_u64(&opened);
			if (i >= dealt->n_files)
				break;
			sent[i]->id = item.id;
			sent[i]->taken = true;
		}
	}
	free(sent);
	for (size_t i = 0; i < dealt->n_files; i++)
		if (!dealt->files[i].taken)
			blame_dead(leader, &dealt->files[i]);
	return HT_OK;
}

/* Open the shares; deaths are dealt with when the sets are joined. */
static enum ht_status open_shares(struct cli *cli, size_t i_set,
        const struct ht_open_options *options, const struct question *question)
{
	struct leader *leader = leader_of(cli);
	struct dealt *dealt = &leader->sets[i_set];
	const char *jobs = opts_value(&cli->opts, "jobs");
	const char *memory = opts_value(&cli->opts, "memory-limit");
	uint64_t n_jobs = 0, limit = 0;
	struct wire request = { 0 }, answers;
	bool died;
	if (jobs != NULL)
		(void)parse_count(jobs, &n_jobs);
	if (memory != NULL)
		(void)ht_size_parse(memory, &limit);
	wire_put_u64(&request, i_set);
	wire_put_u64(&request, n_jobs);
	wire_put_u64(&request, limit);
	options_put(&request, options);
	question_put(&request, question);
	wire_put_u64(&request, may_help(leader, dealt, n_jobs) ? ++leader->n_openings : 0);
	put_shares(leader, dealt, &request);
	enum ht_status status = ask(leader, KIND_OPEN, &request, &answers, &died);
	if (status == HT_OK)
		status = take_opened(leader, dealt, &answers);
	wire_free(&request);
	wire_free(&answers);
	return status;
}

static void forget(struct leader *leader, size_t i_set)
{
	struct dealt *dealt = &leader->sets[i_set];
	if (leader->desk.sets[i_set].joined != dealt->handle)
		ht_close(dealt->handle);
	desk_close(&leader->desk, i_set);
	for (size_t i = 0; i < dealt->n_told; i++)
		wire_free(&dealt->told[i]);
	free(dealt->told);
	free(dealt->files);
	wire_free(&dealt->names);
	*dealt = (struct dealt){ 0 };
}

static enum ht_status engine_open(struct cli *cli, const char *const *sources, size_t n_sources,
        const struct ht_open_options *options, const struct question *question, ht_set **ret_set)
{
	struct leader *leader = leader_of(cli);
	size_t i_set = 0, n = leader->desk.seat.n;
	leader->desk.ctx = cli->ctx;
	while (i_set < HT_MAX_SETS && leader->sets[i_set].handle != NULL)
		i_set++;
	if (i_set == HT_MAX_SETS)
		return fail(leader, HT_LIMIT, "too many sets are open", NULL);
	struct dealt *dealt = &leader->sets[i_set];
	*dealt = (struct dealt){ .partial = options->partial };
	/* a description of each process, and of each machine at most as many */
	dealt->told = calloc(2 * n, sizeof(*dealt->told));
	dealt->n_told = n;
	enum ht_status status = dealt->told != NULL ? HT_OK : fail_nomem(leader);
	leader->has_error = false;
	if (status == HT_OK)
		status = find_files(leader, dealt, sources, n_sources, options);
	if (status == HT_OK)
		status = open_shares(cli, i_set, options, question);
	if (status == HT_OK)
		status = join_until_quiet(leader, i_set);
	if (status != HT_OK) {
		forget(leader, i_set);
		return status;
	}
	*ret_set = dealt->handle = leader->desk.sets[i_set].joined;
	return HT_OK;
}

static void engine_close(struct cli *cli, ht_set *set)
{
	struct leader *leader = leader_of(cli);
	struct wire request = { 0 };
	bool died;
	for (size_t i = 0; i < HT_MAX_SETS; i++) {
		if (leader->sets[i].handle != set)
			continue;
		wire_put_u64(&request, i);
		/* the leader's own traces are closed with the rest of what it knows */
		forget(leader, i);
		(void)tell(leader, KIND_CLOSE, &request, &died);
		break;
	}
	wire_free(&request);
}

/* ---- questions ---- */

/* The sets of the program as numbers of the desk's, and as they are joined now. */
static size_t find_set(const struct leader *leader, const ht_set *set)
{
	size_t i = 0;
	while (leader->sets[i].handle != set)
		i++;
	return i;
}

static void put_question(const struct leader *leader, ht_set *const *sets, size_t n_sets,
        const struct question *question, struct wire *request)
{
	wire_put_u64(request, n_sets);
	for (size_t i = 0; i < n_sets; i++)
		wire_put_u64(request, find_set(leader, sets[i]));
	question_put(request, question);
}

/* Have all ranks described with facts, and join again. */
static enum ht_status gather_facts(struct leader *leader, size_t i_set)
{
	struct wire request = { 0 }, answers;
	bool died;
	wire_put_u64(&request, i_set);
	enum ht_status status = ask(leader, KIND_DESCRIBE, &request, &answers, &died);
	if (status == HT_OK)
		take_told(leader, &leader->sets[i_set], &answers);
	wire_free(&request);
	wire_free(&answers);
	return status == HT_OK ? join_until_quiet(leader, i_set) : status;
}

static enum ht_status merge_answers(
        struct leader *leader, const struct wire *answers, ht_bundle **ret_bundle)
{
	ht_ctx *ctx = leader->desk.ctx;
	struct wire_in in = { answers->bytes, answers->n, false };
	struct item item;
	ht_bundle *all = NULL;
	enum ht_status status = HT_OK;
	while (status == HT_OK && item_get(&in, &item)) {
		ht_bundle *bundle = NULL;
		if (item.state != ITEM_OK)
			continue;
		status = ht_bundle_read(ctx, item.bytes, item.n, &bundle);
		if (status == HT_OK && all == NULL) {
			all = bundle;
			continue;
		}
		if (status == HT_OK)
			status = ht_bundle_merge(ctx, all, bundle);
		ht_bundle_free(bundle);
	}
	if (status != HT_OK) {
		ht_bundle_free(all);
		return status;
	}
	*ret_bundle = all;
	return HT_OK;
}

/* The sets as they are joined now. */
static void present_sets(
        const struct leader *leader, ht_set *const *sets, size_t n_sets, ht_set **ret_now)
{
	for (size_t i = 0; i < n_sets; i++)
		ret_now[i] = leader->desk.sets[find_set(leader, sets[i])].joined;
}

static enum ht_status finish(struct leader *leader, const struct wire *answers, ht_set *const *sets,
        size_t n_sets, ht_table **ret_table)
{
	ht_bundle *bundle = NULL;
	ht_set *now[HT_MAX_SETS];
	struct moment since = timing_now();
	present_sets(leader, sets, n_sets, now);
	enum ht_status status = merge_answers(leader, answers, &bundle);
	timing_add(&leader->desk.timing, PHASE_MERGE, since);
	since = timing_now();
	if (status == HT_OK)
		status = ht_bundle_finish(leader->desk.ctx, bundle, now, n_sets, ret_table);
	ht_bundle_free(bundle);
	timing_add(&leader->desk.timing, PHASE_FINISH, since);
	return status;
}

static enum ht_status engine_run(struct cli *cli, const char *name, ht_set *const *sets,
        size_t n_sets, const struct ht_arg *args, size_t n_args, const struct ht_view *view,
        ht_table **ret_table)
{
	struct leader *leader = leader_of(cli);
	struct wire request = { 0 }, answers = { 0 };
	ht_set *now[HT_MAX_SETS];
	bool lacks = false, died = true;
	leader->has_error = false;
	present_sets(leader, sets, n_sets, now);
	enum ht_status status = ht_bundle_lacks_facts(cli->ctx, now, n_sets,
	        &(struct ht_query){ sizeof(struct ht_query), name, args, n_args, view }, &lacks);
	for (size_t i = 0; status == HT_OK && lacks && i < n_sets; i++)
		status = gather_facts(leader, find_set(leader, sets[i]));
	put_question(
	        leader, sets, n_sets, &(struct question){ name, args, n_args, view }, &request);
	while (status == HT_OK && died) {
		wire_free(&answers);
		status = ask(leader, KIND_MAKE, &request, &answers, &died);
		for (size_t i = 0; status == HT_OK && died && i < n_sets; i++)
			status = join_until_quiet(leader, find_set(leader, sets[i]));
	}
	if (status == HT_OK)
		status = finish(leader, &answers, sets, n_sets, ret_table);
	wire_free(&request);
	wire_free(&answers);
	return status;
}

static const struct ht_error *engine_error(const struct cli *cli)
{
	const struct leader *leader = leader_of(cli);
	return leader->has_error ? &leader->error : NULL;
}

int leader_run(int fd, const struct desk *desk, bool timings, int argc, char **argv)
{
	struct leader leader = { .fd = fd, .desk = *desk };
	leader.why_dead = calloc(leader.desk.seat.n, sizeof(*leader.why_dead));
	if (leader.why_dead == NULL)
		return cli_fail_nomem();
	struct engine engine = { &leader, leader.desk.seat.n_jobs, engine_open, engine_run,
		engine_close, engine_error };
	int code = program_run(argc, argv, &engine);
	for (size_t i = 0; i < leader.desk.seat.n; i++)
		free(leader.why_dead[i]);
	free(leader.why_dead);
	wire_free(&leader.error_bytes);
	fflush(stdout);
	if (timings)
		timing_say(&leader.desk.timing, desk->seat.id, "leads");
	uint64_t quit = (uint64_t)code;
	(void)frame_send(fd, KIND_QUIT, &quit, sizeof(quit));
	return code;
}
