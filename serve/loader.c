/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader.c - threads that read the files that wait, one at a time each.
 *
 * A file becomes a set of one rank; the keeper brings it together with the others of its run. What goes wrong is
 * the file's error. How many threads read inside a file depends on how many files are read at once.
 *
 * Of a run of many files, what the page opens with is found out of each while it is at hand, and kept in the cache: the
 * verdict over those that are read so far brings parts together, and no file is opened twice. Of few files that would be for nothing: they are looked
 * at as soon as somebody asks.
 */
#include "holotrace/own.h"
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__) && !defined(HT_PORTABLE)
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#define TELL_MS       250
#define LOADER_NICE   5
#define MANY_FILES    48
#define MAX_QUESTIONS 8
#define FIRST_VIEW    "overview" /* of the page */

struct loading {
	struct server *server;
	struct file *file;
	uint64_t told_ms;
};

/* The next file that waits: the runs in order, and of each the first worker first; and whether it is one of many. */
static struct file *next_file(struct runs *runs, bool *ret_is_of_many)
{
	for (; runs->next_run < runs->n; runs->next_run++, runs->next_file = 0) {
		const struct run *run = runs->list[runs->next_run];
		for (; runs->next_file < run->n_files; runs->next_file++) {
			struct file *file = run->files[runs->next_file];
			if (file->state == FILE_WAITING && !file->is_new && !file->is_gone) {
				*ret_is_of_many = run->n_files >= MANY_FILES;
				return file;
			}
		}
	}
	return NULL;
}

static bool show_progress(void *user, const char *what, uint64_t done, uint64_t total)
{
	struct loading *loading = user;
	struct server *server = loading->server;
	uint64_t now = now_ms();
	(void)what;
	if (now - loading->told_ms >= TELL_MS) {
		struct file *file = loading->file;
		loading->told_ms = now;
		pthread_mutex_lock(&server->runs.lock);
		double share = total > 0 && done <= total ? (double)done / (double)total : 0;
		file->done_bytes = (uint64_t)(share * (double)file->read.size_bytes);
		runs_touch(&server->runs);
		pthread_mutex_unlock(&server->runs.lock);
		http_tell(server->http);
	}
	return !atomic_load(&server->is_stopping);
}

/* Message, place and hint as one line. */
static char *error_text(const struct ht_error *error, const struct file *file)
{
	char text[2048], place[64] = "";
	if (error->offset >= 0)
		snprintf(place, sizeof(place), " at byte %lld", (long long)error->offset);
	snprintf(text, sizeof(text), "%s: %s%s%s%s", file->shown, error->message, place,
	        error->hint != NULL ? "; " : "", error->hint != NULL ? error->hint : "");
	return copy_text(text);
}

/* Who made the device, and its name: from the facts that the trace tells about itself. */
static void describe(
        ht_ctx *ctx, ht_set *set, bool is_npu, const char **ret_vendor, char **ret_device)
{
	const struct ht_view view = { .struct_size = sizeof(view),
		.columns = "topic,item,value",
		.where = "topic = device or topic = \"gpu activity\" or item = dialect" };
	ht_table *table;
	bool has_work = false;
	char *device = NULL;
	if (ht_ask(ctx, &set, 1,
	            &(struct ht_query){
	                    sizeof(struct ht_query), serve_teller(true), NULL, 0, &view },
	            &table) != HT_OK)
		return;
	for (size_t row = 0; row < ht_table_n_rows(table); row++) {
		const char *topic = ht_table_str(table, row, 0),
		           *value = ht_table_str(table, row, 2);
		has_work |= strcmp(topic, "gpu activity") == 0;
		is_npu |= strcmp(topic, "file") == 0 && strcmp(value, "Ascend") == 0;
		if (strcmp(topic, "device") == 0 && device == NULL)
			device = copy_text(value);
	}
	ht_table_free(table);
	*ret_vendor = is_npu ? "npu" : has_work ? "gpu" : "cpu";
	*ret_device = device;
}

static enum ht_status read_file(
        ht_ctx *ctx, struct server *server, const struct file *file, ht_set **ret_set)
{
	char text[8192];
	const char *source = file->path;
	if (file->given_rank >= 0) {
		int n = snprintf(
		        text, sizeof(text), "%lld=%s", (long long)file->given_rank, file->path);
		if (n > 0 && (size_t)n < sizeof(text))
			source = text;
	}
	struct ht_open_options options = server->options.open;
	struct ht_open_own own =
	        options.own != NULL ? *options.own : (struct ht_open_own){ .chunk_bytes = 0 };
	own.describes = true;
	options.own = &own;
	options.attach_beside = true;
	return ht_open(ctx, &source, 1, &options, ret_set);
}

/* Whether files are whole, and what the page opens with. That it cannot be found out now is no failure: who asks for it hears why. */
static void prepare(ht_ctx *ctx, ht_set *set)
{
	struct ht_query queries[MAX_QUESTIONS];
	size_t n = 0;
	queries[n++] = serve_losses();
	for (size_t i = 0; i < ht_n_analyses() && n < MAX_QUESTIONS; i++) {
		const struct ht_analysis_info *info = ht_analysis_at(i);
		if (info->n_sets == 1 && info->page_view != NULL &&
		        strcmp(info->page_view, FIRST_VIEW) == 0)
			queries[n++] = (struct ht_query){ .struct_size = sizeof(*queries),
				.name = info->name };
	}
	(void)ht_prepare(ctx, set, queries, n);
}

/* Read one file; its path does not change meanwhile, and only this thread touches what it fills in. */
static void load(struct server *server, struct file *file, bool is_of_many)
{
	struct runs *runs = &server->runs;
	struct loading loading = { server, file, now_ms() };
	ht_ctx *ctx;
	ht_set *set = NULL;
	const char *vendor = NULL;
	char *device = NULL, *error = NULL;
	if (server_ctx(server, &ctx) != HT_OK) {
		error = copy_text("out of memory");
	} else {
		int n_loading = atomic_load(&server->n_loading);
		ht_ctx_set_jobs(ctx, n_loading < server->n_cpus ? server->n_cpus / n_loading : 1);
		ht_ctx_set_memory_limit(ctx, server->options.read_bytes);
		ht_ctx_set_progress(ctx, show_progress, &loading);
		if (read_file(ctx, server, file, &set) != HT_OK)
			error = error_text(ht_error(ctx), file);
		else
			describe(ctx, set, file->is_npu, &vendor, &device);
		if (set != NULL && is_of_many)
			prepare(ctx, set);
		ht_ctx_free(ctx);
	}
	pthread_mutex_lock(&runs->lock);
	free(file->device);
	free(file->error);
	file->vendor = vendor;
	file->device = device;
	file->error = error;
	file->state = set != NULL ? FILE_READY : FILE_FAILED;
	file->done_bytes = set != NULL ? file->read.size_bytes : file->done_bytes;
	file->n_events = set != NULL ? ht_set_n_events(set, 0) : 0;
	ht_close(file->fresh);
	file->fresh = set;
	runs_touch(runs);
	pthread_mutex_unlock(&runs->lock);
	http_tell(server->http);
}

/* Who looks at what is read goes before reading more. On Linux a thread has a priority of its own, which those that it starts inherit. */
static void step_back(void)
{
#if defined(__linux__) && !defined(HT_PORTABLE)
	(void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), LOADER_NICE);
#endif
}

void *loader_main(void *user)
{
	struct server *server = user;
	struct runs *runs = &server->runs;
	step_back();
	pthread_mutex_lock(&runs->lock);
	while (!runs->is_stopping) {
		bool is_of_many = false;
		struct file *file = next_file(runs, &is_of_many);
		if (file == NULL) {
			pthread_cond_wait(&runs->changed, &runs->lock);
			continue;
		}
		file->state = FILE_LOADING;
		file->done_bytes = 0;
		file->read = file->seen;
		atomic_fetch_add(&server->n_loading, 1);
		pthread_mutex_unlock(&runs->lock);
		load(server, file, is_of_many);
		pthread_mutex_lock(&runs->lock);
		atomic_fetch_sub(&server->n_loading, 1);
	}
	pthread_mutex_unlock(&runs->lock);
	return NULL;
}
