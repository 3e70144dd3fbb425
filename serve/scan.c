/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.c - see scan.h.
 *
 * Files are known by their paths. One that is new or has changed waits to be read; one that is gone stays in the
 * list, with that as its error, until somebody asks for a rescan. What a link leads to out of a directory is refused by
 * whoever opens it (server_ctx); here it is a file with that as its error.
 */
#include "scan.h"

#include "index.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define SETTLED_NS ((int64_t)2000000000)

/* ---- merging ---- */

static const char *below_root(const struct server *server, const char *path)
{
	const char *root = server->runs.root;
	return strncmp(path, root, strlen(root)) == 0 ? path + strlen(root) : path;
}

/* A run of its own name: its directory below the root, or that of the root. */
static struct run *new_run(struct server *server, const char *dir)
{
	struct run *run = calloc(1, sizeof(*run));
	if (run == NULL)
		return NULL;
	run->dir = copy_text(dir);
	run->name = copy_text(below_root(server, dir));
	for (size_t n = run->name != NULL ? strlen(run->name) : 0; n > 0 && run->name[n - 1] == '/';
	        n--)
		run->name[n - 1] = '\0';
	run->id = run->name != NULL ? run_id(run->name) : NULL;
	if (run->name != NULL && run->name[0] == '\0') {
		char real[PATH_MAX];
		const char *slash = realpath(*dir != '\0' ? dir : ".", real) != NULL
		                            ? strrchr(real, '/')
		                            : NULL;
		free(run->name);
		run->name = copy_text(slash != NULL && slash[1] != '\0' ? slash + 1 : ".");
	}
	run->health = "unknown";
	if (run->dir == NULL || run->name == NULL || run->id == NULL) {
		run_free(run);
		return NULL;
	}
	return run;
}

static int compare_runs(const void *x, const void *y)
{
	return strcmp((*(struct run *const *)x)->name, (*(struct run *const *)y)->name);
}

/* Room doubles: n is a power of two whenever there is none. */
static bool append(void ***list, size_t *n, void *item)
{
	bool is_full = (*n & (*n - 1)) == 0;
	void **grown = item == NULL ? NULL
	               : is_full    ? realloc(*list, (*n > 0 ? 2 * *n : 1) * sizeof(*grown))
	                            : *list;
	if (grown == NULL)
		return false;
	grown[(*n)++] = item;
	*list = grown;
	return true;
}

/* What is known already, by the texts of the catalog. */
struct known {
	struct index runs, files;
};

static bool know_all(const struct runs *runs, struct known *known)
{
	for (size_t i = 0; i < runs->n; i++) {
		struct run *run = runs->list[i];
		if (!index_add(&known->runs, run->dir, 0, run))
			return false;
		for (size_t k = 0; k < run->n_files; k++)
			if (!index_add(&known->files, run->files[k]->path,
			            run->files[k]->given_rank, run->files[k]))
				return false;
	}
	return true;
}

static struct run *find_run(struct server *server, struct known *known, const char *dir)
{
	struct runs *runs = &server->runs;
	struct run *run = index_find(&known->runs, dir, 0);
	if (run != NULL)
		return run;
	run = new_run(server, dir);
	if (run == NULL || !index_add(&known->runs, run->dir, 0, run) ||
	        !append((void ***)&runs->list, &runs->n, run)) {
		run_free(run);
		return NULL;
	}
	return run;
}

static struct file *new_file(struct server *server, const struct ht_recording *found)
{
	struct file *file = calloc(1, sizeof(*file));
	if (file == NULL)
		return NULL;
	file->path = copy_text(found->path);
	file->shown = copy_text(below_root(server, found->path));
	file->worker = copy_text(found->worker);
	file->stamp = copy_text(found->stamp);
	file->given_rank = found->rank;
	file->is_npu = found->is_npu;
	file->rank = -1;
	if (file->path == NULL || file->shown == NULL || file->worker == NULL ||
	        file->stamp == NULL) {
		file_free(file);
		return NULL;
	}
	return file;
}

static void set_error(struct file *file, const char *why)
{
	char text[2048];
	snprintf(text, sizeof(text), "%s: %s", file->shown, why);
	free(file->error);
	file->error = copy_text(text);
	file->state = FILE_FAILED;
}

static bool same_stamp(const struct file_stamp *a, const struct file_stamp *b)
{
	return a->size_bytes == b->size_bytes && a->file_id == b->file_id &&
	       a->mtime_ns == b->mtime_ns;
}

static int64_t wall_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* What a look says about a file; true when something changed. */
static bool meet(struct file *file, const struct ht_recording *found)
{
	struct file_stamp stamp = { found->size_bytes, found->file_id, found->mtime_ns };
	bool was_gone = file->is_gone, was_new = file->is_new, is_to_read = false;
	bool changed = was_gone || !same_stamp(&stamp, &file->seen) || file->span != found->span;
	file->is_met = true;
	file->is_gone = false;
	file->span = found->span;
	if (!same_stamp(&stamp, &file->seen) || was_gone) {
		file->is_new = wall_ns() - found->mtime_ns < SETTLED_NS;
		file->seen = stamp;
	} else {
		file->is_new = false;
	}
	if (file->state == FILE_LOADING)
		return changed;
	if (found->why_not != NULL)
		set_error(file, found->why_not);
	else if (was_gone || !same_stamp(&file->read, &file->seen)) {
		/* one that was replaced while it was read has been seen before */
		is_to_read = file->state != FILE_WAITING;
		file->state = FILE_WAITING;
	}
	return changed || is_to_read || was_new != file->is_new;
}

static int compare_files(const void *x, const void *y)
{
	const struct file *a = *(struct file *const *)x, *b = *(struct file *const *)y;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* The file of a place, known or new; NULL when out of memory. A file belongs to the run of its folder for good. */
static struct file *find_file(
        struct server *server, struct known *known, const struct ht_recording *found)
{
	struct file *file = index_find(&known->files, found->path, found->rank);
	if (file != NULL)
		return file;
	struct run *run = find_run(server, known, found->dir);
	file = run != NULL ? new_file(server, found) : NULL;
	if (file == NULL || !index_add(&known->files, file->path, file->given_rank, file) ||
	        !append((void ***)&run->files, &run->n_files, file)) {
		file_free(file);
		return NULL;
	}
	file->is_gone = true; /* so that all of it counts as a change */
	return file;
}

/* True when something changed. */
static bool merge(struct server *server, const ht_catalog *catalog)
{
	struct runs *runs = &server->runs;
	struct known known = { 0 };
	bool changed = false, goes_on = know_all(runs, &known);
	for (size_t i = 0; goes_on && i < ht_catalog_n(catalog); i++) {
		const struct ht_recording *found = ht_catalog_at(catalog, i);
		if (found->is_history || (found->why_not != NULL && !found->is_known))
			continue;
		struct file *file = find_file(server, &known, found);
		goes_on = file != NULL;
		if (!goes_on)
			break;
		file->order = i;
		changed |= meet(file, found);
	}
	index_done(&known.runs);
	index_done(&known.files);
	for (size_t i = 0; changed && i < runs->n; i++)
		qsort(runs->list[i]->files, runs->list[i]->n_files, sizeof(struct file *),
		        compare_files);
	if (changed && runs->n > 0)
		qsort(runs->list, runs->n, sizeof(struct run *), compare_runs);
	return changed;
}

/* Files that were not met are gone; forgotten ones leave the list, unless somebody reads them. */
static bool drop_gone(struct run *run, bool forget)
{
	bool changed = false;
	size_t n = 0;
	for (size_t i = 0; i < run->n_files; i++) {
		struct file *file = run->files[i];
		if (!file->is_met && !file->is_gone && file->state != FILE_LOADING) {
			file->is_gone = true;
			set_error(file, "the file is gone");
			changed = true;
		}
		if (file->is_gone && forget && file->state != FILE_LOADING) {
			changed = true;
			run->is_stale |= file->is_shown;
			file_free(file);
			continue;
		}
		file->is_met = false;
		run->files[n++] = file;
	}
	run->n_files = n;
	return changed;
}

static bool drop_all_gone(struct runs *runs, bool forgets_gone)
{
	bool changed = false;
	size_t n = 0;
	for (size_t i = 0; i < runs->n; i++) {
		struct run *run = runs->list[i];
		changed |= drop_gone(run, forgets_gone);
		if (run->n_files == 0)
			run_free(run);
		else
			runs->list[n++] = run;
	}
	runs->n = n;
	return changed;
}

/* ---- stores of many runs ---- */

static struct history *new_history(struct server *server, const char *path)
{
	struct history *history = calloc(1, sizeof(*history));
	if (history == NULL)
		return NULL;
	history->path = copy_text(path);
	history->name = copy_text(below_root(server, path));
	history->id = history->name != NULL ? run_id(history->name) : NULL;
	if (history->path != NULL && history->id != NULL)
		return history;
	history_free(history);
	return NULL;
}

static int compare_histories(const void *x, const void *y)
{
	return strcmp((*(struct history *const *)x)->name, (*(struct history *const *)y)->name);
}

/* Those that are there now, known or new; true when something changed. */
static bool meet_histories(struct server *server, const ht_catalog *catalog)
{
	struct runs *runs = &server->runs;
	bool changed = false;
	for (size_t i = 0; i < ht_catalog_n(catalog); i++) {
		const struct ht_recording *found = ht_catalog_at(catalog, i);
		struct file_stamp stamp = { found->size_bytes, found->file_id, found->mtime_ns };
		struct history *history = NULL;
		if (!found->is_history)
			continue;
		for (size_t k = 0; k < runs->n_histories && history == NULL; k++)
			if (strcmp(runs->histories[k]->path, found->path) == 0)
				history = runs->histories[k];
		if (history == NULL) {
			history = new_history(server, found->path);
			if (!append((void ***)&runs->histories, &runs->n_histories, history)) {
				history_free(history);
				continue;
			}
		}
		history->is_met = true;
		if (same_stamp(&stamp, &history->seen))
			continue;
		history->seen = stamp;
		history->generation = runs->generation + 1;
		changed = true;
	}
	return changed;
}

static bool list_histories(struct server *server, const ht_catalog *catalog)
{
	struct runs *runs = &server->runs;
	bool changed = meet_histories(server, catalog);
	size_t n = 0;
	for (size_t i = 0; i < runs->n_histories; i++) {
		struct history *history = runs->histories[i];
		if (history->is_met) {
			history->is_met = false;
			runs->histories[n++] = history;
		} else {
			history_free(history);
			changed = true;
		}
	}
	runs->n_histories = n;
	if (changed && n > 0)
		qsort(runs->histories, n, sizeof(struct history *), compare_histories);
	return changed;
}

static bool go_on(void *user, const char *what, uint64_t done, uint64_t total)
{
	const struct server *server = user;
	(void)what;
	(void)done;
	(void)total;
	return !atomic_load(&server->is_stopping);
}

void scan(struct server *server, bool forgets_gone)
{
	struct runs *runs = &server->runs;
	ht_ctx *ctx;
	ht_catalog *catalog = NULL;
	bool changed = false;
	if (server_ctx(server, &ctx) != HT_OK)
		return;
	ht_ctx_set_progress(ctx, go_on, server);
	enum ht_status status =
	        ht_catalog_find(ctx, server->options.sources, server->options.n_sources, &catalog);
	pthread_mutex_lock(&runs->lock);
	if (status == HT_OK) {
		changed = merge(server, catalog);
		changed |= drop_all_gone(runs, forgets_gone);
		changed |= list_histories(server, catalog);
	}
	/* who asked for another look meanwhile waits for that one */
	changed |= runs->is_scanning && !runs->wants_rescan;
	runs->is_scanning = runs->is_scanning && runs->wants_rescan;
	runs->next_run = runs->next_file = 0;
	if (changed)
		runs_touch(runs);
	pthread_mutex_unlock(&runs->lock);
	if (changed)
		http_tell(server->http);
	ht_catalog_free(catalog);
	ht_ctx_free(ctx);
}
