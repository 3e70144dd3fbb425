/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - the folder that is written in: found once, and held open from then on.
 *
 * Who may write where a path leads may put a link into it at any moment, so that two looks at one path end in two places. So
 * a path is walked once, and all that is made, replaced or removed then is named below the descriptor.
 * On the way links are followed, but one in a folder that everybody can write to ends the walk with ELOOP, whoever made it.
 */
#ifndef HT_BASE_FOLDER_H
#define HT_BASE_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

/* A descriptor of the folder, to name files below, that the caller closes; -1 with errno. What is missing of it is made
 * with the mode, unless that is 0. "" is the working directory. */
int ht_folder_open(const char *path, mode_t make);
/* A folder below another, where no link is followed. */
int ht_folder_below(int folder, const char *path, mode_t make);
/* The folder that a file is in, or will be; and the name of the file, which is the end of path. */
int ht_folder_of(const char *path, const char **ret_name);
/* Can everybody put something into it? */
bool ht_folder_is_shared(int folder);

#endif
