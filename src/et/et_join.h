/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_join.h - which node of an execution trace is which event of the Kineto trace of the same window.
 *
 * The key is the record function id: rf_id of a node, "Record function id" of operators and annotations. Traces
 * from before 2024 have no such argument; their External id is the same number, but that of newer ones is
 * another counter whose values collide with rf_ids. Hence a join that most names contradict is refused: fewer than
 * HT_ET_MIN_AGREEMENT percent of the pairs having the same name.
 */
#ifndef HT_ET_ET_JOIN_H
#define HT_ET_ET_JOIN_H

#include "base/status.h"
#include "et/et.h"
#include "store/event.h"

struct ht_trace;

#define HT_ET_MIN_AGREEMENT 95

enum ht_et_join_key { HT_ET_BY_NOTHING, HT_ET_BY_RF_ID, HT_ET_BY_EXTERNAL_ID };

struct ht_et_join {
	enum ht_et_join_key key;
	uint32_t *event; /* by node: row of its event, HT_NONE when it has none */
	uint32_t *node;  /* by event: row of its node, HT_ET_NONE when it has none */
	bool is_refused; /* event and node hold nothing then */
	size_t n_pairs, n_same_name;
	size_t n_nodes, n_events;                 /* that have a key */
	size_t n_same_id_nodes, n_same_id_events; /* keys that another of the same file has too */
	uint64_t first_event, last_event;         /* least and greatest key of the events */
};

/* Memory is the arena's. */
enum ht_status ht_et_join_make(ht_ctx *ctx, const struct ht_et *et, const struct ht_trace *trace,
        struct ht_arena *arena, struct ht_et_join *ret_join) HT_MUST_USE;
/* Operators and annotations: what has a node. */
bool ht_et_is_cpu_event(const struct ht_trace *trace, uint32_t row);
/* Whether the profiler marks an event as open at the end of the window: it has no node. */
bool ht_et_is_unfinished(const struct ht_trace *trace, uint32_t row);
/* A step of the profiler. */
bool ht_et_is_step(const struct ht_trace *trace, uint32_t row);
/* Whether an event counts as a call; profiler steps do not for Chakra. */
bool ht_et_is_call(const struct ht_trace *trace, uint32_t row, bool as_chakra);
/* Kineto may add the overload behind a dot. */
bool ht_et_same_name(const char *node, const char *event);
/* "rf_id", "external_id", "none" */
const char *ht_et_join_key_name(enum ht_et_join_key key);

#endif
