/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle.h - kernel names as their authors wrote them.
 *
 *   _ZN2at6native6kernelILi4ENS0_3addIfEEEEvT0_    at::native::kernel<4, add<float>>
 *
 * What names a function is read: nested names, template arguments and packs, builtin types, literals, addresses of functions. References
 * to earlier parts (substitutions) become what they refer to; scopes that were named before are left out, and so are the function's
 * parameters and its return type. Whatever does not read so stays mangled.
 */
#ifndef HT_TABLE_DEMANGLE_H
#define HT_TABLE_DEMANGLE_H

#include <stddef.h>

/* Writes the name to dst, which holds cap bytes, and returns its length; 0 when text is no mangled name or the
 * result does not fit. text need not end with a NUL. */
size_t ht_demangle(const char *text, size_t n, char *dst, size_t cap);

#endif
