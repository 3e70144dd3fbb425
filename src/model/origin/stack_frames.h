/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_frames.h - the frames of a Python stack as text, outermost first:
 *
 *     "  File \"/home/me/model.py\", line 34, in forward\n    for b in self.blocks: x = b(x)\n  File ..."
 */
#ifndef HT_MODEL_ORIGIN_STACK_FRAMES_H
#define HT_MODEL_ORIGIN_STACK_FRAMES_H

#include "base/arena.h"

/* A piece of a text. */
struct ht_piece {
	const char *text;
	int n;
};

struct ht_stack_frame {
	struct ht_piece file, line, function;
	bool is_library; /* of PyTorch or an installed package */
};

bool ht_is_library_file(struct ht_piece file);
/* The next frame from *at on, which moves past it; false: no more. */
bool ht_stack_frame_next(const char **at, struct ht_stack_frame *ret_frame);
/* "file(line): function" of the innermost frame that is no library's, else of the innermost; NULL: there is none, or no memory. */
const char *ht_stack_line(struct ht_arena *arena, const char *stack);
/* Where the modules around that line are called: "model.py(34): forward / ...", a part for each function forward of the user's that calls
 * another one; files without folders. "": in no such call. NULL without memory. */
const char *ht_stack_modules(struct ht_arena *arena, const char *stack);
/* The parts that two of these have in common, from the outermost on. */
const char *ht_stack_common(struct ht_arena *arena, const char *a, const char *b);

#endif
