/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history_calls.c - the store of many runs: adding to it, and the table of what it keeps.
 */
#include "set_object.h"

/* Where numbers to add come from; NULL: nowhere. */
struct addition {
	struct set_object *set;
	const char *label, *source, *file;
};

static enum ht_status ask(ht_ctx *ctx, const char *store, const struct addition *add,
        const struct ht_history_options *options, ht_table **ret_table)
{
	enum ht_status status = HT_OK;
	if (add->set)
		status = ht_history_add(ctx, store, add->set->set, add->label, add->source);
	if (status == HT_OK && add->file)
		status = ht_history_import(ctx, store, add->file);
	return status == HT_OK ? ht_history(ctx, store, options, ret_table) : status;
}

static PyObject *answer(const char *store, const struct addition *add,
        const struct ht_history_options *options, PyObject *progress)
{
	struct call call;
	ht_table *table = NULL;
	PyObject *result = NULL;
	int n_jobs = add->set ? add->set->n_jobs : 0;
	uint64_t memory_limit = add->set ? add->set->memory_limit : 0;
	if (add->set && !set_enter(add->set))
		return NULL;
	if (call_begin(&call, n_jobs, memory_limit, progress)) {
		enum ht_status status = ask(call.ctx, store, add, options, &table);
		if (call_end(&call, status))
			result = table_wrap(table);
		else if (status == HT_OK)
			ht_table_free(table);
	}
	if (add->set)
		set_leave(add->set);
	return result;
}

PyObject *history_ask(PyObject *module, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "store", "add", "label", "source", "file", "view", "path", "since",
		"columns", "where", "sort", "max_pvalue", "min_change", "window", "top", "progress",
		NULL };
	struct ht_view view = { .struct_size = sizeof view };
	struct ht_history_options options = { .struct_size = sizeof options, .shown = &view };
	struct addition add = { NULL, NULL, NULL, NULL };
	const char **texts[] = { &add.label, &add.source, &options.view, &options.path,
		&options.since, &view.columns, &view.where, &view.sort };
	static const char *const text_names[] = { "label", "source", "view", "path", "since",
		"columns", "where", "sort" };
	PyObject *store, *set = Py_None, *file = Py_None, *values[8], *progress = Py_None;
	PyObject *result = NULL;
	Py_ssize_t window = 0, top = 0;
	(void)module;
	for (size_t i = 0; i < 8; i++)
		values[i] = Py_None;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOOOOOOOOOddnnO:history", names, &store,
	            &set, &values[0], &values[1], &file, &values[2], &values[3], &values[4],
	            &values[5], &values[6], &values[7], &options.max_pvalue, &options.min_change,
	            &window, &top, &progress))
		return NULL;
	if (window < 0 || top < 0 || (set != Py_None && !set_is(set))) {
		PyErr_SetString(PyExc_ValueError,
		        "window and top must not be negative, and add must be a Set");
		return NULL;
	}
	options.window = (uint64_t)window;
	view.top = (uint64_t)top;
	add.set = set != Py_None ? (struct set_object *)set : NULL;
	PyObject *keep = PyList_New(0);
	const char *path = keep ? text_of_path(keep, store) : NULL;
	bool ok = path && (file == Py_None || (add.file = text_of_path(keep, file)));
	for (size_t i = 0; ok && i < 8; i++)
		ok = text_optional(keep, values[i], text_names[i], texts[i]);
	if (ok)
		result = answer(path, &add, &options, progress);
	Py_XDECREF(keep);
	return result;
}
