/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_frames.c - see stack_frames.h.
 */
#include "model/origin/stack_frames.h"

#include "base/text_compare.h"

#include <string.h>

#define BETWEEN   " / "
#define N_BETWEEN 3
/* Deeper stacks end there. */
#define MAX_PARTS 64

static struct ht_piece until(const char *text, const char *stop)
{
	return (struct ht_piece){ text, (int)strcspn(text, stop) };
}

bool ht_is_library_file(struct ht_piece file)
{
	return memmem(file.text, (size_t)file.n, "-packages/", 10) ||
	       memmem(file.text, (size_t)file.n, "/torch/", 7);
}

bool ht_stack_frame_next(const char **at, struct ht_stack_frame *ret_frame)
{
	static const char file[] = "File \"", line[] = "\", line ", in[] = ", in ";
	for (const char *p; (p = strstr(*at, file)); *at = p) {
		struct ht_stack_frame f = { .file = until(p += sizeof file - 1, "\"\n") };
		p += f.file.n;
		if (!ht_text_starts(p, line))
			continue;
		f.line = until(p += sizeof line - 1, ",\n");
		p += f.line.n;
		if (!ht_text_starts(p, in))
			continue;
		f.function = until(p + sizeof in - 1, "\n");
		f.is_library = ht_is_library_file(f.file);
		*at = f.function.text + f.function.n;
		*ret_frame = f;
		return true;
	}
	return false;
}

const char *ht_stack_line(struct ht_arena *arena, const char *stack)
{
	struct ht_stack_frame frame, best = { 0 };
	while (ht_stack_frame_next(&stack, &frame))
		if (!best.file.text || best.is_library || !frame.is_library)
			best = frame;
	if (!best.file.text)
		return NULL;
	return ht_arena_printf(arena, "%.*s(%.*s): %.*s", best.file.n, best.file.text, best.line.n,
	        best.line.text, best.function.n, best.function.text);
}

static struct ht_piece without_folders(struct ht_piece file)
{
	int n = 0;
	while (n < file.n && file.text[file.n - n - 1] != '/')
		n++;
	return (struct ht_piece){ file.text + file.n - n, n };
}

const char *ht_stack_modules(struct ht_arena *arena, const char *stack)
{
	struct ht_stack_frame frame, before = { 0 };
	const char *text = "";
	int n = 0;
	while (text && n < MAX_PARTS && ht_stack_frame_next(&stack, &frame)) {
		if (frame.is_library || frame.function.n != 7 ||
		        memcmp(frame.function.text, "forward", 7) != 0)
			continue;
		struct ht_piece file =
		        before.file.text ? without_folders(before.file) : before.file;
		if (file.text)
			text = ht_arena_printf(arena, "%s%s%.*s(%.*s): forward", text,
			        n++ ? BETWEEN : "", file.n, file.text, before.line.n,
			        before.line.text);
		before = frame;
	}
	return text;
}

const char *ht_stack_common(struct ht_arena *arena, const char *a, const char *b)
{
	size_t n = 0, n_common = 0;
	for (;; n++) {
		bool ends_a = !a[n] || !strncmp(a + n, BETWEEN, N_BETWEEN);
		bool ends_b = !b[n] || !strncmp(b + n, BETWEEN, N_BETWEEN);
		if (ends_a && ends_b)
			n_common = n;
		if (a[n] != b[n] || !a[n])
			return ht_arena_strndup(arena, a, n_common);
	}
}
