/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_model.c - see cp_model.h.
 */
#include "graph/cp_model.h"

#include "base/text_compare.h"
#include "model/run_memo.h"
#include "store/columns.h"

static enum ht_status make(struct ht_run *run, struct ht_cp_model *m)
{
	struct ht_cp_wait *waits = NULL;
	size_t n_waits = 0;
	HT_TRY(ht_cp_windows_find(run, m));
	if (!m->n_windows)
		return HT_OK;
	HT_TRY(ht_cp_tracks_join(run, m));
	HT_TRY(ht_cp_waits_collect(run, m, &waits, &n_waits));
	HT_TRY(ht_cp_works_make(run, m, waits, n_waits));
	HT_TRY(ht_cp_threads_make(run, m));
	HT_TRY(ht_cp_held_make(run, m, waits, n_waits));
	ht_cp_windows_close(m);
	return HT_OK;
}

static enum ht_status make_own(
        struct ht_run *run, const struct ht_cp_options *options, struct ht_cp_model *ret_model)
{
	struct ht_cp_model m = { .trace = run->trace, .options = *options };
	HT_TRY(ht_cp_names_make(run, m.trace, options->data_load, NULL, &m.names));
	enum ht_status status = make(run, &m);
	if (status != HT_OK)
		ht_cp_names_done(&m.names);
	else
		*ret_model = m;
	return status;
}

/* ---- sharing ---- */

/* What is usual is the same for all runs of one selection. */
static bool is_usual(const struct ht_run *run, const struct ht_cp_options *options)
{
	struct ht_cp_options usual = ht_cp_options_default(run);
	return ht_text_same(options->annotation, usual.annotation) &&
	       ht_text_same(options->step, usual.step) &&
	       ht_text_same(options->instance, usual.instance) &&
	       ht_text_same(options->data_load, usual.data_load) &&
	       options->tolerance_ns == usual.tolerance_ns;
}

static enum ht_status make_shared(struct ht_run *run, const void *of, void *ret_value)
{
	struct ht_cp_model *m = ret_value;
	HT_TRY(make_own(run, of, m));
	ht_cp_names_done(&m->names);
	return HT_OK;
}

/* What is remembered while a model is asked is each run's own. */
static enum ht_status begin_asking(struct ht_run *run, struct ht_cp_model *m)
{
	m->bound_of_row = ht_arena_alloc(run->scratch, ht_n_events(m->trace) + (size_t)1);
	if (!m->bound_of_row)
		return ht_fail_nomem(run->ctx);
	return ht_cp_names_make(run, m->trace, m->options.data_load, NULL, &m->names);
}

enum ht_status ht_cp_model_make(
        struct ht_run *run, const struct ht_cp_options *options, struct ht_cp_model *ret_model)
{
	static const char kind;
	const struct ht_memoized how = { &kind, run->selection, make_shared, sizeof *ret_model };
	struct ht_cp_model m;
	if (!run->shares_rank || !is_usual(run, options))
		return make_own(run, options, ret_model);
	HT_TRY(ht_run_memoize(run, &how, options, &m));
	m.options = *options;
	HT_TRY(begin_asking(run, &m));
	*ret_model = m;
	return HT_OK;
}

void ht_cp_model_done(struct ht_cp_model *m)
{
	ht_cp_names_done(&m->names);
}
