/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holotrace.h - the public interface of the Holotrace library.
 *
 *     ht_ctx *ctx; ht_set *set; ht_table *table;
 *     ht_ctx_new(&ctx);
 *     ht_open(ctx, &path, 1, NULL, &set);               read one or many trace files
 *     struct ht_query query = { sizeof query, "temporal-breakdown" };
 *     ht_ask(ctx, &set, 1, &query, &table);
 *     ht_render(ctx, table, "csv", NULL, sink);         or walk the cells
 *     ht_table_free(table); ht_close(set); ht_ctx_free(ctx);
 *
 * Contract of every function:
 *   - Returns ht_status. Outputs are named ret_x, come last, and are written only on success.
 *   - On failure ht_error() tells message, file, byte offset and hint. The text lives in the
 *     context.
 *   - Nothing here prints, exits, aborts or reads the environment.
 *   - A context may be used by one thread at a time. Sets and tables are immutable once returned
 *     and may be shared by any number of threads; each thread brings its own context.
 *   - Times are int64 nanoseconds, ids are 64-bit, strings are UTF-8 and NUL-terminated.
 *   - Structs that start with struct_size grow at their end in later versions. Zero them, set
 *     struct_size to their sizeof and then what differs: fields that a caller does not know count
 *     as zero. A struct_size of 0 is the struct as first published, without any field added since.
 *     The same holds for structs that a call fills in (ret_x): set struct_size before the call, and
 *     no byte beyond it is written.
 *   - Structs that the library hands out as pointers to const grow, too: they are neither copied
 *     nor, where they are lists, walked by their sizeof, but asked for one by one.
 *
 * What there is: holotrace/core.h for contexts, sets, tables, analyses, SQL and writing;
 * holotrace/timeline.h for events by time; holotrace/cluster.h for one question over several
 * processes. This header includes them all.
 */
#ifndef HOLOTRACE_H
#define HOLOTRACE_H

#include "holotrace/core.h"
#include "holotrace/cluster.h"
#include "holotrace/timeline.h"

/* ---- old names ------------------------------------------------------------------------------ */

/* As these were called before 0.1.0; they go with the next release. */
#ifndef HT_NO_OLD_NAMES
#include <stdlib.h>

#define ht_table_says_no ht_table_check_failed
#define ht_bundle_miss   ht_bundle_add_missing
#define ht_asked         ht_query

static inline const char *ht_format_name(size_t i)
{
	const struct ht_format *format = ht_format_at(i);
	return format ? format->name : NULL;
}

static inline bool ht_format_is_binary(const char *name)
{
	const struct ht_format *format = ht_format_find(name);
	return format && format->is_binary;
}

static inline enum ht_status ht_run(ht_ctx *ctx, const char *name, ht_set *const *sets,
        size_t n_sets, const struct ht_arg *args, size_t n_args, const struct ht_view *view,
        ht_table **ret_table)
{
	struct ht_query query = { sizeof query, name, args, n_args, view };
	return ht_ask(ctx, sets, n_sets, &query, ret_table);
}

static inline enum ht_status ht_run_all(ht_ctx *ctx, ht_set *set, const char *const *names,
        size_t n, const struct ht_arg *args, size_t n_args, const struct ht_view *const *views,
        ht_answer_fn fn, void *user)
{
	struct ht_query *queries = (struct ht_query *)calloc(n + 1, sizeof *queries);
	if (!queries)
		return HT_NOMEM;
	for (size_t i = 0; i < n; i++) {
		struct ht_query query = { sizeof query, names[i], args, n_args,
			views ? views[i] : NULL };
		queries[i] = query;
	}
	enum ht_status status = ht_ask_all(ctx, set, queries, n, fn, user);
	free(queries);
	return status;
}
#endif

#endif
