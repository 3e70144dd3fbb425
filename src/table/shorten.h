/*
 * shorten.h - long names in few cells, keeping what tells them apart.
 *
 *   void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, ...>(int, ...)
 *   at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<…>, …>(…)
 *
 * In this order, until it fits: the return type void goes; template arguments become … from the
 * innermost out; function arguments become …; the middle is cut. Names that are not C++ or whose
 * brackets do not pair are cut in the middle at once.
 */
#ifndef HT_TABLE_SHORTEN_H
#define HT_TABLE_SHORTEN_H

#include <stddef.h>

/* Writes at most width code points of text to dst, which holds n + 4 bytes, and returns the length in
 * bytes. text is valid UTF-8; width is at least 1. */
size_t ht_shorten(const char *text, size_t n, size_t width, char *dst);

#endif
