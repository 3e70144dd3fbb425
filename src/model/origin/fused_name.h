/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fused_name.h - what the name of a generated kernel says it was fused from.
 *
 *     triton_poi_fused_add_native_layer_norm_relu_17        aten.add, aten.native_layer_norm, aten.relu
 *     kind ─┘          └─ operators in alphabetical order   └─ number in its graph
 *
 * Names of operators have underscores themselves, so there may be several ways to cut: the one with the fewest operators is taken, of
 * those one in alphabetical order, of those one whose first operators are longest. Inductor cuts long lists. So a name tells less than the
 * generated code, and is asked last.
 */
#ifndef HT_MODEL_ORIGIN_FUSED_NAME_H
#define HT_MODEL_ORIGIN_FUSED_NAME_H

#include "base/arena.h"

/* NULL for another name, and without memory. */
const char *ht_fused_ops(struct ht_arena *arena, const char *name);

#endif
