/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_look.h - what loops over rows ask of the model and of names, row by row: it looks into the columns of the trace, which most
 * who have a model do not.
 */
#ifndef HT_GRAPH_CP_LOOK_H
#define HT_GRAPH_CP_LOOK_H

#include "graph/cp_model.h"
#include "store/columns.h"

/* The thread of a host row, as the track that has the thread's spans. */
static inline uint32_t ht_cp_thread(const struct ht_cp_model *m, uint32_t row)
{
	return m->thread_of_track[m->trace->track[row]];
}

/* Bits of a row's name; 0 without one. */
static inline uint8_t ht_cp_names_bits(struct ht_cp_names *names, uint32_t row)
{
	uint32_t id = names->trace->name[row];
	if (id == HT_NO_STR)
		return 0;
	if (!names->bits[id])
		ht_cp_names_look(names, id);
	return names->bits[id];
}

#endif
