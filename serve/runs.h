/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.h - what is below the log directory: runs, their workers' files, and what is read of them.
 *
 *   runs ─► run ─► file        where it is, how far reading is, what went wrong
 *   │          └─► snapshot    the ranks that are read, as sets: immutable, counted, replaced by the next one
 *   └─► history                stores of the numbers of many runs
 *
 * One thread, the keeper, adds and removes runs and files and makes snapshots; loaders fill in files. Everything
 * else looks, under the lock, or holds a snapshot, which needs no lock.
 */
#ifndef SERVE_RUNS_H
#define SERVE_RUNS_H

#include "buffer.h"
#include "run_snapshot.h"

#include <pthread.h>

enum file_state { FILE_WAITING, FILE_LOADING, FILE_READY, FILE_FAILED };

/* What tells that a file has changed. */
struct file_stamp {
	uint64_t size_bytes, file_id;
	int64_t mtime_ns;
};

struct file {
	char *path, *shown; /* to open; below the log directory */
	char *worker, *stamp;
	int64_t given_rank; /* -1: none */
	int64_t span;
	size_t order; /* of paths */
	bool is_npu;
	struct file_stamp seen, read; /* by the last look; of what is read or being read */
	enum file_state state;
	bool is_new;  /* seen once: it may still be written */
	bool is_met;  /* by the look under way */
	bool is_gone; /* not there any more */
	uint64_t done_bytes;
	char *error;
	ht_set *fresh; /* read, and not in a snapshot yet */
	bool is_shown; /* in the run's snapshot */
	int64_t rank;  /* -1: not read */
	uint64_t n_events;
	const char *vendor; /* static; NULL: unknown */
	char *device;
};

struct run {
	char *id, *name, *dir;
	struct file **files;
	size_t n_files;
	struct snapshot *now; /* NULL: nothing is read yet */
	bool is_stale;        /* the snapshot is not what the files are */
	uint64_t shown_ms;    /* when it was made */
	bool is_checked;      /* health is that of the snapshot */
	const char *health;   /* "good" ...; static */
	char **notes;
	size_t n_notes;
};

/* A store of many runs' numbers: nothing of it is kept, answers read it. */
struct history {
	char *id, *name, *path; /* in URLs; below the log directory; to open */
	struct file_stamp seen;
	bool is_met;         /* by the look under way */
	uint64_t generation; /* another one whenever the file is */
};

struct runs {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* for the keeper and the loaders */
	char *root; /* what names of runs and files are relative to; ends in a slash unless "" */
	struct run **list;
	size_t n;
	struct history **histories; /* by name */
	size_t n_histories;
	size_t next_run, next_file; /* no file before this one waits to be read */
	uint64_t generation;        /* grows with everything that a client may want to know */
	uint64_t n_snapshots;
	bool is_scanning, wants_rescan, forgets_gone;
	bool is_stopping;
};

/* The run of an id, or NULL; under the lock. */
struct run *runs_find(const struct runs *runs, const char *id);
/* What stands for a run in URLs: letters, digits, . _ - stay, a slash is ~, the rest is !hex; "~" for the root itself.
 * The caller frees it. */
char *run_id(const char *name);
/* "waiting", "loading", "ready", "failed"; under the lock. */
const char *run_state(const struct run *run);
const char *file_state_name(enum file_state state);
/* Why nothing of a run can be shown, for a refusal; under the lock. */
const char *run_error(const struct run *run);
/* News: tells the keeper, the loaders and whoever waits; under the lock. */
void runs_touch(struct runs *runs);
/* The store of an id, or NULL; under the lock. */
struct history *runs_find_history(const struct runs *runs, const char *id);
void history_free(struct history *history);
void file_free(struct file *file);
void run_free(struct run *run);
/* The spans of a run, each once, in order, as numbers; 0 stands for "default". At most n are written. */
size_t run_spans(const struct run *run, int64_t *ret_spans, size_t n);

#endif
