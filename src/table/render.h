/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render.h - what a renderer is. Add one: write src/table/x.c with ht_render_x, add its line to renderers.def.
 *
 * A renderer writes to out without checks and returns HT_OK, or an error that is not about writing;
 * the caller flushes and reports refused writes.
 */
#ifndef HT_TABLE_RENDER_H
#define HT_TABLE_RENDER_H

#include "table/out.h"
#include "table/storage.h"

#define RENDERER(x, ending, type, traits)                                                          \
	enum ht_status ht_render_##x(struct ht_out *out, const ht_table *table,                    \
	        const struct ht_render_options *options) HT_MUST_USE;
#include "table/renderers.def"
#undef RENDERER

#endif
