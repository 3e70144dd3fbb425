/*
 * cp_model.c - see cp_model.h.
 */
#include "graph/cp_model.h"

#include "graph/cp_sync.h"

static enum ht_status make(struct ht_run *run, struct ht_cp_model *m)
{
	struct ht_cp_wait *waits = NULL;
	size_t n_waits = 0;
	HT_TRY(ht_cp_windows_find(run, m));
	if (!m->n_windows)
		return HT_OK;
	HT_TRY(ht_cp_waits_collect(run, m, &waits, &n_waits));
	HT_TRY(ht_cp_works_make(run, m, waits, n_waits));
	HT_TRY(ht_cp_threads_make(run, m));
	HT_TRY(ht_cp_held_make(run, m, waits, n_waits));
	ht_cp_windows_close(m);
	return HT_OK;
}

enum ht_status ht_cp_model_make(
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

void ht_cp_model_done(struct ht_cp_model *m)
{
	ht_cp_names_done(&m->names);
}
