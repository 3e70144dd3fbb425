/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shorten.h - long names in few cells, keeping what tells them apart.
 *
 *   void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, ...>(int, ...)
 *   vectorized_elementwise_kernel<4, CUDAFunctor_add<…>, …>
 *   vectorized_e…CUDAFunctor_add
 *
 * In this order, until it fits: the return type void goes; function arguments become …; namespaces and then
 * arguments go; template arguments become … from the innermost out; of the outermost the functor is kept;
 * the middle is cut. Names that are not C++ or whose brackets do not pair are cut in the middle at once.
 * Of a stack, names with ";" between, the innermost are kept: the last ones, or the first of a column that says so.
 * Which of two names that became equal is which: brief.h.
 */
#ifndef HT_TABLE_SHORTEN_H
#define HT_TABLE_SHORTEN_H

#include <stddef.h>

/* Writes at most width code points of text to dst, which holds n + 4 bytes, and returns the length in
 * bytes. text is valid UTF-8; width is at least 1. */
size_t ht_shorten(const char *text, size_t n, size_t width, char *dst);
/* The same for a cell of a column of this unit, which may be NULL. */
size_t ht_shorten_cell(const char *unit, const char *text, size_t n, size_t width, char *dst);
/* The unit of stacks that begin with the innermost name. */
#define HT_UNIT_INNERMOST_FIRST "frames, innermost first"

#endif
