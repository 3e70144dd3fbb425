/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set_object.c - holotrace._core.Set: traces opened together, and what can be asked of them.
 *
 * Calls run without the GIL, so close() may come while another thread still computes. Each call counts
 * as a user; close() forbids new ones, and the last user to leave closes the set.
 */
#include "set_object.h"
#include "holotrace/own.h"

static PyTypeObject *set_type;

bool set_enter(struct set_object *self)
{
	if (self->closed) {
		PyErr_SetString(PyExc_ValueError, "the traces have been closed");
		return false;
	}
	self->n_users++;
	return true;
}

/* Closing unmaps files and frees memory, which is quick. */
void set_leave(struct set_object *self)
{
	self->n_users--;
	if (!self->closed || self->n_users > 0)
		return;
	ht_set *set = self->set;
	self->set = NULL;
	ht_close(set);
}

static void set_dealloc(PyObject *object)
{
	struct set_object *self = (struct set_object *)object;
	ht_close(self->set);
	if (self->own) {
		set_leave((struct set_object *)self->own);
		Py_DECREF(self->own);
	}
	free_instance(object);
}

PyObject *set_wrap(ht_set *set, int n_jobs, uint64_t memory_limit, PyObject *own)
{
	struct set_object *self = PyObject_New(struct set_object, set_type);
	if (!self) {
		ht_close(set);
		return NULL;
	}
	self->set = set;
	self->n_users = 0;
	self->closed = 0;
	self->n_jobs = n_jobs;
	self->memory_limit = memory_limit;
	Py_XINCREF(own);
	self->own = own;
	return (PyObject *)self;
}

const char **source_texts(PyObject *keep, PyObject *sources, size_t *ret_n)
{
	/* A copy, because converting a path may run Python code. */
	PyObject *tuple = NULL;
	if (PyList_Check(sources) || PyTuple_Check(sources))
		tuple = PySequence_Tuple(sources);
	else
		PyErr_SetString(PyExc_TypeError, "sources must be a list of paths");
	if (!tuple)
		return NULL;
	size_t n = (size_t)PyTuple_Size(tuple);
	const char **texts = PyMem_Calloc(n + 1, sizeof(*texts));
	if (!texts)
		PyErr_NoMemory();
	for (size_t i = 0; texts && i < n; i++) {
		texts[i] = text_of_path(keep, PyTuple_GetItem(tuple, (Py_ssize_t)i));
		if (!texts[i]) {
			PyMem_Free(texts);
			texts = NULL;
		}
	}
	Py_DECREF(tuple);
	*ret_n = n;
	return texts;
}

/* An optional path; false with an exception set. */
static bool optional_path(PyObject *keep, PyObject *value, const char **ret_path)
{
	*ret_path = NULL;
	if (!value || value == Py_None)
		return true;
	*ret_path = text_of_path(keep, value);
	return *ret_path != NULL;
}

static PyObject *open_sources(PyObject *keep, PyObject *sources,
        const struct ht_open_options *options, bool listed, int n_jobs, uint64_t memory_limit,
        PyObject *progress)
{
	size_t n = 0;
	const char **texts = source_texts(keep, sources, &n);
	struct call call;
	ht_set *set = NULL;
	if (!texts || !call_begin(&call, n_jobs, memory_limit, progress)) {
		PyMem_Free(texts);
		return NULL;
	}
	enum ht_status status = listed ? ht_open_listed(call.ctx, texts, n, options, &set)
	                               : ht_open(call.ctx, texts, n, options, &set);
	bool ok = call_end(&call, status);
	PyMem_Free(texts);
	if (ok)
		return set_wrap(set, n_jobs, memory_limit, NULL);
	if (status == HT_OK)
		ht_close(set);
	return NULL;
}

PyObject *set_open(PyObject *module, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "sources", "recursive", "strict", "no_cache", "cache_dir",
		"cache_max_bytes", "jobs", "memory_limit", "kernel_rules", "progress",
		"verify_cache", "prefer_db", "partial", "listed", "attach", NULL };
	PyObject *sources, *cache_dir = NULL, *rules = NULL, *progress = NULL, *set = NULL,
	                   *attach = NULL;
	int recursive = 0, strict = 0, no_cache = 0, n_jobs = 0, verify_cache = 0, prefer_db = 0;
	int partial = 0, listed = 0;
	Py_ssize_t cache_max = 0, memory_limit = 0;
	(void)module;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$pppOninOOppppO:open", names, &sources,
	            &recursive, &strict, &no_cache, &cache_dir, &cache_max, &n_jobs, &memory_limit,
	            &rules, &progress, &verify_cache, &prefer_db, &partial, &listed, &attach))
		return NULL;
	if (n_jobs < 0 || n_jobs > 4096 || cache_max < 0 || memory_limit < 0) {
		PyErr_SetString(PyExc_ValueError,
		        "jobs must be 0 to 4096, cache_max_bytes and memory_limit not negative");
		return NULL;
	}
	if (progress && progress != Py_None && !PyCallable_Check(progress)) {
		PyErr_SetString(PyExc_TypeError, "progress must be callable or None");
		return NULL;
	}
	PyObject *keep = PyList_New(0);
	struct ht_open_options options = { .struct_size = sizeof options,
		.recursive = recursive,
		.strict = strict,
		.no_cache = no_cache,
		.cache_max_bytes = (uint64_t)cache_max,
		.verify_cache = verify_cache,
		.prefer_db = prefer_db,
		.partial = partial };
	if (keep && optional_path(keep, cache_dir, &options.cache_dir) &&
	        optional_path(keep, rules, &options.kernel_rules) &&
	        optional_path(keep, attach, &options.attach))
		set = open_sources(
		        keep, sources, &options, listed, n_jobs, (uint64_t)memory_limit, progress);
	Py_XDECREF(keep);
	return set;
}

static PyObject *run_entered(
        struct set_object *self, const struct request *request, ht_set *const *sets)
{
	struct call call;
	ht_table *table = NULL;
	if (!call_begin(&call, self ? self->n_jobs : 0, self ? self->memory_limit : 0, NULL))
		return NULL;
	enum ht_status status = ht_ask(call.ctx, sets, request->n_sets,
	        &(struct ht_query){ sizeof(struct ht_query), request->name, request->args,
	                request->n_args, &request->view },
	        &table);
	if (call_end(&call, status))
		return table_wrap(table);
	if (status == HT_OK)
		ht_table_free(table);
	return NULL;
}

static PyObject *answer_request(
        struct set_object *self, const struct request *request, request_fn answer)
{
	PyObject *table = NULL;
	ht_set *sets[HT_MAX_SETS];
	size_t n = 0;
	while (n < request->n_sets && set_enter(request->users[n]))
		n++;
	for (size_t i = 0; i < n; i++)
		sets[i] = request->users[i]->set;
	if (n == request->n_sets)
		table = answer(self, request, sets);
	while (n > 0)
		set_leave(request->users[--n]);
	return table;
}

bool set_is(PyObject *object)
{
	return Py_TYPE(object) == set_type;
}

bool set_add_others(struct request *request, PyObject *keep, PyObject *others)
{
	if (!others || others == Py_None)
		return true;
	PyObject *tuple = set_is(others) ? PyTuple_Pack(1, others) : PySequence_Tuple(others);
	if (!tuple)
		return false;
	Py_ssize_t n = PyTuple_Size(tuple);
	bool ok = PyList_Append(keep, tuple) == 0;
	Py_DECREF(tuple);
	if (ok && (size_t)n > HT_MAX_SETS - request->n_sets) {
		PyErr_Format(PyExc_ValueError, "at most %d runs can be compared", HT_MAX_SETS);
		ok = false;
	}
	for (Py_ssize_t i = 0; ok && i < n; i++) {
		PyObject *other = PyTuple_GetItem(tuple, i);
		ok = set_is(other);
		if (ok)
			request->users[request->n_sets++] = (struct set_object *)other;
		else
			PyErr_SetString(
			        PyExc_TypeError, "other must be a Set, a list of Sets, or None");
	}
	return ok;
}

PyObject *set_ask(struct set_object *self, PyObject *args, PyObject *kwargs, request_fn answer)
{
	static char *names[] = { "name", "args", "columns", "where", "sort", "top", "other", NULL };
	PyObject *name, *dict = NULL, *columns = NULL, *where = NULL, *sort = NULL, *others = NULL;
	PyObject *table = NULL;
	Py_ssize_t top = 0;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "U|OOOOnO:run", names, &name, &dict,
	            &columns, &where, &sort, &top, &others))
		return NULL;
	if (top < 0) {
		PyErr_SetString(PyExc_ValueError, "top must not be negative");
		return NULL;
	}
	PyObject *keep = PyList_New(0);
	struct request request = { .view.struct_size = sizeof(struct ht_view),
		.view.top = (uint64_t)top,
		.users = { self },
		.n_sets = self ? 1 : 0 };
	bool ok = keep && set_add_others(&request, keep, others) &&
	          text_args(keep, dict, &request.args, &request.n_args);
	request.name = ok ? text_of(keep, name) : NULL;
	ok = request.name && text_optional(keep, columns, "columns", &request.view.columns) &&
	     text_optional(keep, where, "where", &request.view.where) &&
	     text_optional(keep, sort, "sort", &request.view.sort);
	if (ok)
		table = answer_request(self, &request, answer);
	PyMem_Free(request.args);
	Py_XDECREF(keep);
	return table;
}

static PyObject *set_run(PyObject *object, PyObject *args, PyObject *kwargs)
{
	return set_ask((struct set_object *)object, args, kwargs, run_entered);
}

PyObject *run_files(PyObject *module, PyObject *args, PyObject *kwargs)
{
	(void)module;
	return set_ask(NULL, args, kwargs, run_entered);
}

static PyObject *sql_entered(
        struct set_object *self, const char *query, const struct ht_sql_options *options)
{
	struct call call;
	ht_table *table = NULL;
	PyObject *result = NULL;
	if (call_begin(&call, self->n_jobs, self->memory_limit, NULL)) {
		enum ht_status status = ht_sql(call.ctx, self->set, query, options, &table);
		if (call_end(&call, status))
			result = table_wrap(table);
		else if (status == HT_OK)
			ht_table_free(table);
	}
	return result;
}

/* base may be NULL. */
static PyObject *sql_with(struct set_object *self, struct set_object *base, const char *query,
        struct ht_sql_options *options)
{
	PyObject *result = NULL;
	if (!set_enter(self))
		return NULL;
	if (!base || set_enter(base)) {
		options->base = base ? base->set : NULL;
		result = sql_entered(self, query, options);
		if (base)
			set_leave(base);
	}
	set_leave(self);
	return result;
}

static PyObject *set_sql(PyObject *object, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "query", "params", "timeout_ms", "max_rows", "base", NULL };
	struct ht_sql_options options = { .struct_size = sizeof options };
	struct ht_arg *params = NULL;
	PyObject *query, *dict = NULL, *base = NULL, *result = NULL;
	Py_ssize_t timeout_ms = 0, max_rows = 0;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "U|OnnO:sql", names, &query, &dict,
	            &timeout_ms, &max_rows, &base))
		return NULL;
	if (base && base != Py_None && !set_is(base)) {
		PyErr_SetString(PyExc_TypeError, "base must be a Set, or None");
		return NULL;
	}
	if (timeout_ms < 0 || max_rows < 0) {
		PyErr_SetString(PyExc_ValueError, "timeout and max_rows must not be negative");
		return NULL;
	}
	options.timeout_ms = (uint64_t)timeout_ms;
	options.max_rows = (uint64_t)max_rows;
	PyObject *keep = PyList_New(0);
	const char *text = keep ? text_of(keep, query) : NULL;
	if (text && text_args(keep, dict, &params, &options.n_params)) {
		options.params = params;
		result = sql_with((struct set_object *)object,
		        base && base != Py_None ? (struct set_object *)base : NULL, text, &options);
	}
	PyMem_Free(params);
	Py_XDECREF(keep);
	return result;
}

static PyObject *set_export(PyObject *object, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "folder", "tables", "rows_a_file", NULL };
	struct set_object *self = (struct set_object *)object;
	struct ht_export_options options = { .struct_size = sizeof options };
	struct call call;
	PyObject *folder, *tables = NULL;
	Py_ssize_t rows = 0;
	bool ok = false;
	if (!PyArg_ParseTupleAndKeywords(
	            args, kwargs, "O|On:export", names, &folder, &tables, &rows))
		return NULL;
	if (rows < 0) {
		PyErr_SetString(PyExc_ValueError, "rows_a_file must not be negative");
		return NULL;
	}
	options.rows_a_file = (uint64_t)rows;
	PyObject *keep = PyList_New(0);
	const char *path = keep ? text_of_path(keep, folder) : NULL;
	if (path && text_optional(keep, tables, "tables", &options.tables) && set_enter(self)) {
		if (call_begin(&call, self->n_jobs, self->memory_limit, NULL))
			ok = call_end(&call, ht_export(call.ctx, self->set, path, &options));
		set_leave(self);
	}
	Py_XDECREF(keep);
	if (!ok)
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *set_dump(PyObject *object, PyObject *unused)
{
	struct set_object *self = (struct set_object *)object;
	struct call call;
	struct buffer buffer = { 0 };
	PyObject *result = NULL;
	(void)unused;
	if (!set_enter(self))
		return NULL;
	if (call_begin(&call, self->n_jobs, 0, NULL)) {
		struct ht_sink sink = { buffer_write, &buffer };
		if (call_end(&call, ht_dump(call.ctx, self->set, &sink)))
			result = PyBytes_FromStringAndSize(buffer.bytes, (Py_ssize_t)buffer.n);
	}
	set_leave(self);
	free(buffer.bytes);
	return result;
}

static PyObject *convert_with(
        struct set_object *self, const char *path, const struct ht_convert_options *options)
{
	struct call call;
	bool ok = false;
	if (!set_enter(self))
		return NULL;
	if (call_begin(&call, self->n_jobs, self->memory_limit, NULL))
		ok = call_end(&call, ht_convert(call.ctx, self->set, path, options));
	set_leave(self);
	if (!ok)
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *set_convert(PyObject *object, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "path", "ranks", "steps", "categories", "threads", "from_ns",
		"to_ns", "document", "merge", "with_counters", "overlay", "overlay_args", "partial",
		NULL };
	struct ht_convert_options options = { .struct_size = sizeof options };
	const char **texts[] = { &options.ranks, &options.steps, &options.categories,
		&options.threads, &options.from_ns, &options.to_ns, &options.document,
		&options.overlay };
	PyObject *path, *values[8] = { NULL }, *overlay_args = NULL, *result = NULL;
	int merge = 0, with_counters = 0, partial = 0;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOOOOOOppOOp:convert", names, &path,
	            &values[0], &values[1], &values[2], &values[3], &values[4], &values[5],
	            &values[6], &merge, &with_counters, &values[7], &overlay_args, &partial))
		return NULL;
	options.merge = merge;
	options.with_counters = with_counters;
	options.partial = partial;
	PyObject *keep = PyList_New(0);
	const char *path_text = keep ? text_of_path(keep, path) : NULL;
	bool ok = path_text != NULL;
	for (size_t i = 0; ok && i < 8; i++)
		ok = text_optional(keep, values[i], names[i < 7 ? i + 1 : 10], texts[i]);
	struct ht_arg *overlay = NULL;
	ok = ok && text_args(keep, overlay_args, &overlay, &options.n_overlay_args);
	options.overlay_args = overlay;
	if (ok)
		result = convert_with((struct set_object *)object, path_text, &options);
	PyMem_Free(overlay);
	Py_XDECREF(keep);
	return result;
}

static PyObject *set_close(PyObject *object, PyObject *unused)
{
	struct set_object *self = (struct set_object *)object;
	(void)unused;
	if (!self->closed && set_enter(self)) {
		self->closed = 1;
		set_leave(self);
	}
	Py_RETURN_NONE;
}

/* A list with one item per trace, made by item; NULL with an exception set. */
static PyObject *per_trace(PyObject *object, PyObject *(*item)(const ht_set *, size_t))
{
	struct set_object *self = (struct set_object *)object;
	if (!set_enter(self))
		return NULL;
	PyObject *list = PyList_New(0);
	for (size_t i = 0; list && i < ht_set_n_ranks(self->set); i++) {
		PyObject *value = item(self->set, i);
		if (!value || PyList_Append(list, value) < 0)
			Py_CLEAR(list);
		Py_XDECREF(value);
	}
	set_leave(self);
	return list;
}

static PyObject *rank_of(const ht_set *set, size_t i)
{
	return PyLong_FromLongLong(ht_set_rank(set, i));
}

static PyObject *path_of(const ht_set *set, size_t i)
{
	const char *path = ht_set_path(set, i);
	return path ? PyUnicode_DecodeFSDefault(path) : text_to_python(NULL);
}

static PyObject *n_events_of(const ht_set *set, size_t i)
{
	return PyLong_FromUnsignedLongLong(ht_set_n_events(set, i));
}

static PyObject *set_ranks(PyObject *self, void *closure)
{
	(void)closure;
	return per_trace(self, rank_of);
}

static PyObject *set_paths(PyObject *self, void *closure)
{
	(void)closure;
	return per_trace(self, path_of);
}

static PyObject *set_n_events(PyObject *self, void *closure)
{
	(void)closure;
	return per_trace(self, n_events_of);
}

static PyObject *set_loss_note(PyObject *object, void *closure)
{
	struct set_object *self = (struct set_object *)object;
	(void)closure;
	if (!set_enter(self))
		return NULL;
	PyObject *note = text_to_python(ht_set_loss_note(self->set));
	set_leave(self);
	return note;
}

static PyObject *set_closed(PyObject *object, void *closure)
{
	(void)closure;
	return PyBool_FromLong(((struct set_object *)object)->closed);
}

static PyMethodDef methods[] = {
	{ "run", (PyCFunction)(void (*)(void))set_run, METH_VARARGS | METH_KEYWORDS,
	        "run(name, args=None, columns=None, where=None, sort=None, top=0, other=None) -> Table" },
	{ "sql", (PyCFunction)(void (*)(void))set_sql, METH_VARARGS | METH_KEYWORDS,
	        "sql(query, params=None, timeout_ms=0, max_rows=0, base=None) -> Table" },
	{ "export", (PyCFunction)(void (*)(void))set_export, METH_VARARGS | METH_KEYWORDS,
	        "export(folder, tables=None, rows_a_file=0)\n\nWrite a dataset of Arrow files." },
	{ "convert", (PyCFunction)(void (*)(void))set_convert, METH_VARARGS | METH_KEYWORDS,
	        "convert(path, *, ranks=None, steps=None, categories=None, threads=None, from_ns=None,\n"
	        "        to_ns=None, document=None, merge=False, with_counters=False, overlay=None,\n"
	        "        overlay_args=None, partial=False)\n\nWrite the traces as Chrome JSON." },
	{ "dump", set_dump, METH_NOARGS, "A text that determines the whole store." },
	{ "describe", set_describe, METH_VARARGS,
	        "describe(with_facts) -> bytes\n\nWhat other processes have to know of these ranks." },
	{ "make", (PyCFunction)(void (*)(void))set_make, METH_VARARGS | METH_KEYWORDS,
	        "make(...) as run(...) -> bytes\n\nThe parts of the ranks that are here." },
	{ "lacks_facts", (PyCFunction)(void (*)(void))set_lacks_facts, METH_VARARGS | METH_KEYWORDS,
	        "lacks_facts(...) as run(...) -> bool\n\nWhether parts need descriptions with facts." },
	{ "finish", set_finish, METH_VARARGS,
	        "finish(parts, other=None) -> Table\n\nThe table of the parts of all ranks." },
	{ "close", set_close, METH_NOARGS, "Let go of the traces; calls under way finish first." },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef getset[] = {
	{ "ranks", set_ranks, NULL, "rank of each trace, ascending", NULL },
	{ "paths", set_paths, NULL, "file of each trace", NULL },
	{ "n_events", set_n_events, NULL, "events of each trace", NULL },
	{ "loss_note", set_loss_note, NULL, "what was lost while reading, or None", NULL },
	{ "closed", set_closed, NULL, "whether close() was called", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

bool set_type_init(PyObject *module)
{
	static PyType_Slot slots[] = {
		{ Py_tp_new, refuse_new },
		{ Py_tp_dealloc, set_dealloc },
		{ Py_tp_methods, methods },
		{ Py_tp_getset, getset },
		{ Py_tp_doc,
		        "Traces opened together; immutable, and free to use from any thread." },
		{ 0, NULL },
	};
	static PyType_Spec spec = {
		.name = "holotrace._core.Set",
		.basicsize = sizeof(struct set_object),
		.flags = Py_TPFLAGS_DEFAULT,
		.slots = slots,
	};
	set_type = add_type(module, &spec, "Set");
	return set_type != NULL;
}
