/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.c - see runs.h.
 */
#include "runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run *runs_find(const struct runs *runs, const char *id)
{
	for (size_t i = 0; i < runs->n; i++)
		if (strcmp(runs->list[i]->id, id) == 0)
			return runs->list[i];
	return NULL;
}

struct history *runs_find_history(const struct runs *runs, const char *id)
{
	for (size_t i = 0; i < runs->n_histories; i++)
		if (strcmp(runs->histories[i]->id, id) == 0)
			return runs->histories[i];
	return NULL;
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-';
}

char *run_id(const char *name)
{
	char *id = malloc(3 * strlen(name) + 2), *to = id;
	if (id == NULL)
		return NULL;
	for (; *name != '\0'; name++) {
		if (is_plain(*name))
			*to++ = *name;
		else if (*name == '/')
			*to++ = '~';
		else
			to += snprintf(to, sizeof("!ff"), "!%02x", (unsigned char)*name);
	}
	if (to == id)
		*to++ = '~';
	*to = '\0';
	return id;
}

const char *file_state_name(enum file_state state)
{
	static const char *const names[] = { "waiting", "loading", "ready", "failed" };
	return names[state];
}

const char *run_state(const struct run *run)
{
	size_t n[4] = { 0 };
	bool is_behind = run->is_stale;
	for (size_t i = 0; i < run->n_files; i++) {
		const struct file *file = run->files[i];
		n[file->state]++;
		/* read, but not in the snapshot yet, is there for nobody */
		is_behind |= file->state == FILE_READY && (file->fresh != NULL || !file->is_shown);
	}
	if (n[FILE_LOADING] > 0 || is_behind || (n[FILE_WAITING] > 0 && n[FILE_READY] > 0))
		return "loading";
	if (n[FILE_WAITING] > 0)
		return "waiting";
	return n[FILE_READY] > 0 ? "ready" : "failed";
}

const char *run_error(const struct run *run)
{
	for (size_t i = 0; i < run->n_files; i++)
		if (run->files[i]->error != NULL)
			return run->files[i]->error;
	return "nothing of the run could be read";
}

void runs_touch(struct runs *runs)
{
	runs->generation++;
	pthread_cond_broadcast(&runs->changed);
}

void file_free(struct file *file)
{
	if (file == NULL)
		return;
	ht_close(file->fresh);
	free(file->path);
	free(file->shown);
	free(file->worker);
	free(file->stamp);
	free(file->error);
	free(file->device);
	free(file);
}

void history_free(struct history *history)
{
	if (history == NULL)
		return;
	free(history->id);
	free(history->name);
	free(history->path);
	free(history);
}

void run_free(struct run *run)
{
	if (run == NULL)
		return;
	for (size_t i = 0; i < run->n_files; i++)
		file_free(run->files[i]);
	for (size_t i = 0; i < run->n_notes; i++)
		free(run->notes[i]);
	snapshot_release(run->now);
	free(run->notes);
	free(run->files);
	free(run->id);
	free(run->name);
	free(run->dir);
	free(run);
}

size_t run_spans(const struct run *run, int64_t *ret_spans, size_t n)
{
	size_t n_spans = 0;
	for (size_t i = 0; i < run->n_files; i++) {
		int64_t span = run->files[i]->span;
		size_t at = 0;
		while (at < n_spans && ret_spans[at] < span)
			at++;
		if ((at < n_spans && ret_spans[at] == span) || n_spans == n)
			continue;
		memmove(ret_spans + at + 1, ret_spans + at, (n_spans - at) * sizeof(*ret_spans));
		ret_spans[at] = span;
		n_spans++;
	}
	return n_spans;
}
