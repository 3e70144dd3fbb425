/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temp.h - a file that takes its name when it is complete.
 *
 *     int error = ht_temp_open(target, 0666, &temp);        write to temp.fd
 *     error = ht_temp_commit(&temp);                        or ht_temp_abort(&temp)
 *
 * Where the system can, the file has no name until then (O_TMPFILE), and nothing is left of a writer that
 * is killed. Elsewhere, and for the moment in which it replaces another file, it is called target with a
 * mark and a number.
 * A writer holds a lock on its file for as long as it lives: a name whose lock is free belongs to nobody,
 * and the next writer of the same target removes it.
 *
 * The folder is held open meanwhile, and the names are names in it: a link that is put into the path, or at one of the names,
 * does not lead the file to another place.
 *
 * Answers are errno values; 0 is success.
 */
#ifndef HT_BASE_TEMP_H
#define HT_BASE_TEMP_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#define HT_TEMP_MARK ".holotrace-tmp-"

struct ht_temp {
	int fd;     /* -1: none */
	int folder; /* where its names are */
	char target[NAME_MAX + 1];
	char name[NAME_MAX + 1]; /* "" while it has none */
};

/* Begin the file that will be target, and remove what dead writers of it left. The mode passes the umask. */
int ht_temp_open(const char *target, mode_t mode, struct ht_temp *ret_temp);
/* The same with the folder open already, which stays the caller's, and the name in it. */
int ht_temp_open_at(int folder, const char *target, mode_t mode, struct ht_temp *ret_temp);
/* ht_temp_open with a name from the start, as where files without a name do not exist. */
int ht_temp_open_named(const char *target, mode_t mode, struct ht_temp *ret_temp);
/* Give it its name in place of what has the name now. On failure nothing changes. The file is closed. */
int ht_temp_commit(struct ht_temp *temp);
/* Nothing is left of it. One that was committed or aborted is left alone. */
void ht_temp_abort(struct ht_temp *temp);

/* A file to write and read that never has a name, or loses it at once: it is gone with its descriptor, which the caller closes. */
int ht_temp_unnamed(const char *dir, int *ret_fd);

/* Remove a temporary file of anybody unless its writer lives; true when it is gone. */
bool ht_temp_remove_dead(int folder, const char *name);

#endif
