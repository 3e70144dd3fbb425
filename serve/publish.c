/* SPDX-License-Identifier: Apache-2.0 */
/*
 * publish.c - see publish.h.
 *
 * Sets are joined without the lock: what goes into them belongs to this thread by then, and the ranks that were
 * shown before come from the snapshot that is held meanwhile.
 */
#include "publish.h"

#include "holotrace/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OFTEN_MS  500
#define MAX_SPANS 1024
#define MAX_NOTES 50

/* A snapshot in the making. */
struct draft {
	struct run *run;
	struct snapshot *old;
	struct file **files; /* whose ranks it has */
	struct ht_member *members;
	ht_set **fresh; /* parallel; NULL: from the old one */
	size_t n;
	int64_t spans[MAX_SPANS];
	size_t n_spans;
};

static size_t find_path(const ht_set *set, const char *path, size_t *hint)
{
	size_t n = ht_set_n_ranks(set);
	for (size_t k = 0; k < n; k++) {
		size_t i = (*hint + k) % n;
		if (strcmp(ht_set_path(set, i), path) == 0) {
			*hint = i + 1;
			return i;
		}
	}
	return n;
}

/* Is there something to show, other than what is shown? Under the lock. */
static bool is_due(const struct run *run)
{
	bool due = run->is_stale;
	for (size_t i = 0; i < run->n_files && !due; i++) {
		const struct file *file = run->files[i];
		due = file->fresh != NULL || (file->is_shown && file->state == FILE_FAILED);
	}
	return due;
}

static bool is_being_read(const struct run *run)
{
	for (size_t i = 0; i < run->n_files; i++) {
		const struct file *file = run->files[i];
		if (file->state == FILE_LOADING || (file->state == FILE_WAITING && !file->is_new))
			return true;
	}
	return false;
}

/* Take what is read of the run; under the lock. False when out of memory. */
static bool begin(struct run *run, struct draft *draft)
{
	size_t hint = 0;
	*draft = (struct draft){ .run = run };
	draft->files = calloc(run->n_files + 1, sizeof(struct file *));
	draft->members = calloc(run->n_files + 1, sizeof(*draft->members));
	draft->fresh = calloc(run->n_files + 1, sizeof(*draft->fresh));
	if (draft->files == NULL || draft->members == NULL || draft->fresh == NULL)
		return false;
	draft->old = run->now != NULL ? snapshot_hold(run->now) : NULL;
	for (size_t i = 0; i < run->n_files; i++) {
		struct file *file = run->files[i];
		struct ht_member *member = &draft->members[draft->n];
		if (file->is_gone)
			continue;
		if (file->fresh != NULL) {
			*member = (struct ht_member){ file->fresh, 0 };
			draft->fresh[draft->n] = file->fresh;
			file->fresh = NULL;
		} else if (file->is_shown && draft->old != NULL && file->state != FILE_FAILED) {
			ht_set *set = draft->old->all.set;
			*member = (struct ht_member){ set, find_path(set, file->path, &hint) };
		} else {
			continue;
		}
		draft->files[draft->n++] = file;
	}
	draft->n_spans = run_spans(run, draft->spans, MAX_SPANS);
	run->is_stale = false;
	return true;
}

static void end(struct draft *draft)
{
	for (size_t i = 0; draft->fresh != NULL && i < draft->n; i++)
		ht_close(draft->fresh[i]);
	snapshot_release(draft->old);
	free(draft->files);
	free(draft->members);
	free(draft->fresh);
}

/* The ranks of one span. */
static enum ht_status join_span(
        ht_ctx *ctx, const struct draft *draft, int64_t span, ht_set **ret_set)
{
	struct ht_member *some = calloc(draft->n, sizeof(*some));
	size_t n = 0;
	for (size_t i = 0; some != NULL && i < draft->n; i++)
		if (draft->files[i]->span == span)
			some[n++] = draft->members[i];
	*ret_set = NULL;
	enum ht_status status = some == NULL ? HT_NOMEM
	                        : n == 0     ? HT_OK
	                                     : ht_set_join(ctx, some, n, ret_set);
	free(some);
	return status;
}

/* The sets, outside the lock; NULL with the context's error. */
static struct snapshot *join(
        struct timelines *timelines, ht_ctx *ctx, const struct draft *draft, uint64_t generation)
{
	ht_set *all;
	size_t n = 0;
	if (ht_set_join(ctx, draft->members, draft->n, &all) != HT_OK)
		return NULL;
	struct span_set *spans = calloc(draft->n_spans + 1, sizeof(*spans));
	bool is_made = spans != NULL;
	for (size_t i = 0; is_made && draft->n_spans > 1 && i < draft->n_spans; i++) {
		spans[n].span = draft->spans[i];
		is_made = join_span(ctx, draft, draft->spans[i], &spans[n].set) == HT_OK;
		n += spans[n].set != NULL;
	}
	if (!is_made) {
		ht_close(all);
		for (size_t i = 0; i < n; i++)
			ht_close(spans[i].set);
		free(spans);
		return NULL;
	}
	return snapshot_new(timelines, generation, all, spans, n);
}

/* Under which number a file is known, in its span. */
static int64_t rank_of(struct snapshot *snapshot, const struct file *file, size_t *hint)
{
	const ht_set *set = snapshot->all.set;
	for (size_t i = 0; i < snapshot->n_spans; i++)
		if (snapshot->spans[i].span == file->span)
			set = snapshot->spans[i].set;
	size_t at = find_path(set, file->path, hint);
	return at < ht_set_n_ranks(set) ? ht_set_rank(set, at) : -1;
}

/* Put the snapshot into its place; under the lock. */
static void show(struct server *server, struct draft *draft, struct snapshot *snapshot)
{
	struct run *run = draft->run;
	size_t hint = 0;
	for (size_t i = 0; i < run->n_files; i++)
		run->files[i]->is_shown = false;
	for (size_t i = 0; i < draft->n && snapshot != NULL; i++) {
		draft->files[i]->is_shown = true;
		draft->files[i]->rank = rank_of(snapshot, draft->files[i], &hint);
	}
	snapshot_release(run->now);
	run->now = snapshot;
	run->shown_ms = now_ms();
	run->is_checked = false;
	run->health = snapshot != NULL && ht_set_loss_note(snapshot->all.set) != NULL ? "lost"
	                                                                              : "unknown";
	runs_touch(&server->runs);
}

static void fail(struct draft *draft, const char *message)
{
	for (size_t i = 0; i < draft->n; i++) {
		free(draft->files[i]->error);
		draft->files[i]->error = copy_text(message);
		draft->files[i]->state = FILE_FAILED;
	}
}

/* Under the lock, which is given up meanwhile. */
static void publish_run(struct server *server, struct run *run)
{
	struct runs *runs = &server->runs;
	struct draft draft;
	struct snapshot *snapshot = NULL;
	ht_ctx *ctx = NULL;
	uint64_t generation = ++runs->n_snapshots;
	bool is_begun = begin(run, &draft);
	pthread_mutex_unlock(&runs->lock);
	bool is_made = is_begun && draft.n == 0;
	if (is_begun && draft.n > 0 && server_ctx(server, &ctx) == HT_OK) {
		snapshot = join(server->timelines, ctx, &draft, generation);
		is_made = snapshot != NULL;
	}
	pthread_mutex_lock(&runs->lock);
	if (!is_made)
		fail(&draft, ctx != NULL && ht_error(ctx)->message != NULL ? ht_error(ctx)->message
		                                                           : "out of memory");
	show(server, &draft, snapshot);
	pthread_mutex_unlock(&runs->lock);
	end(&draft);
	/* only this thread replaces it */
	if (snapshot != NULL)
		ht_set_settle(snapshot->all.set);
	if (ctx != NULL)
		ht_ctx_free(ctx);
	http_tell(server->http);
	pthread_mutex_lock(&runs->lock);
}

/* ---- health ---- */

struct findings {
	const char *level;
	char *notes[MAX_NOTES];
	size_t n;
};

static void add_note(struct findings *findings, const char *text)
{
	for (size_t i = 0; i < findings->n; i++)
		if (strcmp(findings->notes[i], text) == 0)
			return;
	char *copy = findings->n < MAX_NOTES ? copy_text(text) : NULL;
	if (copy != NULL)
		findings->notes[findings->n++] = copy;
}

static void weigh(struct findings *findings, const char *severity, const char *sentence)
{
	bool is_loss = strcmp(severity, "data loss") == 0 || strcmp(severity, "severe") == 0;
	if (!is_loss && strcmp(severity, "notice") != 0 && strcmp(severity, "repair") != 0)
		return;
	if (is_loss)
		findings->level = "lost";
	else if (strcmp(findings->level, "good") == 0)
		findings->level = "notes";
	add_note(findings, sentence);
}

static void check_set(ht_ctx *ctx, ht_set *set, struct findings *findings)
{
	const struct ht_query losses = serve_losses();
	ht_table *table;
	findings->level = "good";
	for (size_t i = 0; i < ht_set_n_notes(set); i++)
		weigh(findings, "notice", ht_set_note(set, i));
	if (ht_ask(ctx, &set, 1, &losses, &table) != HT_OK) {
		findings->level = "unknown";
		return;
	}
	for (size_t row = 0; row < ht_table_n_rows(table); row++)
		weigh(findings, ht_table_str(table, row, 0), ht_table_str(table, row, 1));
	for (size_t i = 0; i < ht_table_n_notes(table); i++)
		add_note(findings, ht_table_note(table, i));
	ht_table_free(table);
}

static bool go_on(void *user, const char *what, uint64_t done, uint64_t total)
{
	const struct server *server = user;
	(void)what;
	(void)done;
	(void)total;
	return !atomic_load(&server->is_stopping);
}

/* Under the lock, which is given up meanwhile. */
static void check_run(struct server *server, struct run *run)
{
	struct runs *runs = &server->runs;
	struct snapshot *snapshot = snapshot_hold(run->now);
	struct findings findings = { .level = "unknown" };
	ht_ctx *ctx;
	run->is_checked = true;
	pthread_mutex_unlock(&runs->lock);
	if (server_ctx(server, &ctx) == HT_OK) {
		ht_ctx_set_progress(ctx, go_on, server);
		check_set(ctx, snapshot->all.set, &findings);
		ht_ctx_free(ctx);
	}
	pthread_mutex_lock(&runs->lock);
	char **notes = malloc((findings.n + 1) * sizeof(*notes));
	if (notes != NULL) {
		memcpy(notes, findings.notes, findings.n * sizeof(*notes));
		for (size_t i = 0; i < run->n_notes; i++)
			free(run->notes[i]);
		free(run->notes);
		run->notes = notes;
		run->n_notes = findings.n;
		run->health = findings.level;
	}
	for (size_t i = 0; notes == NULL && i < findings.n; i++)
		free(findings.notes[i]);
	runs_touch(runs);
	pthread_mutex_unlock(&runs->lock);
	snapshot_release(snapshot);
	http_tell(server->http);
	pthread_mutex_lock(&runs->lock);
}

uint64_t publish(struct server *server)
{
	struct runs *runs = &server->runs;
	uint64_t wait_ms = UINT64_MAX;
	pthread_mutex_lock(&runs->lock);
	/* only this thread changes the list, so that it stays as it is without the lock, too */
	for (size_t i = 0; i < runs->n && !runs->is_stopping; i++) {
		struct run *run = runs->list[i];
		uint64_t age_ms = now_ms() - run->shown_ms;
		bool is_busy = is_being_read(run);
		if (is_due(run) && is_busy && run->now != NULL && age_ms < OFTEN_MS)
			wait_ms = wait_ms < OFTEN_MS - age_ms ? wait_ms : OFTEN_MS - age_ms;
		else if (is_due(run))
			publish_run(server, run);
		if (!is_busy && run->now != NULL && !run->is_checked && !is_due(run))
			check_run(server, run);
	}
	pthread_mutex_unlock(&runs->lock);
	return wait_ms;
}
