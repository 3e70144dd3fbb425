/* SPDX-License-Identifier: Apache-2.0 */
/*
 * board.h - which files are taken, in memory that the processes of one machine share.
 *
 * Files are dealt by size, but processors are not equally fast: two of them may be one core, or somebody else's. So a
 * process that is through with its own files takes from its neighbours what they have not begun. A file has a mark
 * here; who puts the number of the opening there first has the file.
 *
 * Every carrier makes a board, they tell each other the names, and all processes of a machine use that of the
 * first of them. It has no name any more when all have it open, so nothing stays behind whoever is killed.
 */
#ifndef MPI_BOARD_H
#define MPI_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOARD_FILES  16384 /* with more, nobody has to be helped out */
#define BOARD_LETTER 48    /* of a name */

/* Make one; a file descriptor, or -1 where that cannot be: then nothing is taken from others. */
int board_make(char *ret_name);
int board_open(const char *name);
void board_forget(const char *name);

/* The marks, for the rest of the process; NULL when there are none. Closes the descriptor. */
_Atomic uint32_t *board_map(int fd);

/* What one opening may take. */
struct claims {
	_Atomic uint32_t *marks;
	uint32_t number; /* of the opening, not 0 */
	size_t *files;   /* the mark of each source */
	bool *taken;     /* by source */
};
/* For struct ht_open_options; user is struct claims. */
bool board_claim(void *user, size_t i_source);

#endif
