/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shares.c - sets whose ranks are in several processes: found, dealt, described, joined, computed apart.
 */
#include "set_object.h"

/* Bytes of Python as descriptions; the caller frees the array with PyMem_Free. NULL with an exception set. */
static struct ht_description *bytes_list(PyObject *keep, PyObject *list, size_t *ret_n)
{
	PyObject *tuple = PySequence_Tuple(list);
	if (!tuple)
		return NULL;
	size_t n = (size_t)PyTuple_Size(tuple);
	struct ht_description *texts = PyMem_Calloc(n + 1, sizeof(*texts));
	bool ok = PyList_Append(keep, tuple) == 0;
	Py_DECREF(tuple);
	if (!texts && ok)
		PyErr_NoMemory();
	for (size_t i = 0; texts && ok && i < n; i++) {
		char *bytes;
		Py_ssize_t n_bytes;
		ok = PyBytes_AsStringAndSize(
		             PyTuple_GetItem(tuple, (Py_ssize_t)i), &bytes, &n_bytes) == 0;
		if (ok)
			texts[i] = (struct ht_description){ bytes, (size_t)n_bytes };
	}
	if (!ok) {
		PyMem_Free(texts);
		return NULL;
	}
	*ret_n = n;
	return texts;
}

static PyObject *take_buffer(struct buffer *buffer)
{
	PyObject *bytes = PyBytes_FromStringAndSize(buffer->bytes, (Py_ssize_t)buffer->n);
	free(buffer->bytes);
	return bytes;
}

/* ---- finding and dealing ---- */

static PyObject *list_items(const ht_listing *listing)
{
	PyObject *list = PyList_New(0);
	for (size_t i = 0; list && i < ht_listing_n(listing); i++) {
		PyObject *item = Py_BuildValue("(NK)",
		        PyUnicode_DecodeFSDefault(ht_listing_source(listing, i)),
		        (unsigned long long)ht_listing_size_bytes(listing, i));
		if (!item || PyList_Append(list, item) < 0)
			Py_CLEAR(list);
		Py_XDECREF(item);
	}
	return list;
}

PyObject *share_list(PyObject *module, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "sources", "recursive", "partial", "prefer_db", NULL };
	PyObject *sources, *result = NULL;
	int recursive = 0, partial = 0, prefer_db = 0;
	(void)module;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|ppp:list_files", names, &sources,
	            &recursive, &partial, &prefer_db))
		return NULL;
	struct ht_open_options options = { .struct_size = sizeof options,
		.recursive = recursive,
		.partial = partial,
		.prefer_db = prefer_db };
	struct call call;
	struct buffer buffer = { 0 };
	struct ht_sink sink = { buffer_write, &buffer };
	ht_listing *listing = NULL;
	size_t n = 0;
	PyObject *keep = PyList_New(0);
	const char **texts = keep ? source_texts(keep, sources, &n) : NULL;
	if (texts && call_begin(&call, 0, 0, NULL)) {
		enum ht_status status = ht_listing_make(call.ctx, texts, n, &options, &listing);
		if (status == HT_OK)
			status = ht_listing_describe(call.ctx, listing, &sink);
		if (call_end(&call, status))
			result = Py_BuildValue("(NN)", take_buffer(&buffer), list_items(listing));
		else
			free(buffer.bytes);
	}
	ht_listing_free(listing);
	PyMem_Free(texts);
	Py_XDECREF(keep);
	return result;
}

static PyObject *list_of(const size_t *values, size_t n)
{
	PyObject *list = PyList_New(0);
	for (size_t i = 0; list && i < n; i++) {
		PyObject *value = PyLong_FromSize_t(values[i]);
		if (!value || PyList_Append(list, value) < 0)
			Py_CLEAR(list);
		Py_XDECREF(value);
	}
	return list;
}

PyObject *share_deal(PyObject *module, PyObject *args)
{
	PyObject *sizes, *result = NULL;
	Py_ssize_t n_shares;
	struct call call;
	(void)module;
	if (!PyArg_ParseTuple(args, "O!n:deal", &PyList_Type, &sizes, &n_shares))
		return NULL;
	size_t n = (size_t)PyList_Size(sizes);
	uint64_t *bytes = PyMem_Calloc(n + 1, sizeof(*bytes));
	size_t *shares = PyMem_Calloc(n + 1, sizeof(*shares));
	if (!bytes || !shares)
		PyErr_NoMemory();
	for (size_t i = 0; bytes && i < n && !PyErr_Occurred(); i++)
		bytes[i] = PyLong_AsUnsignedLongLong(PyList_GetItem(sizes, (Py_ssize_t)i));
	if (!PyErr_Occurred() && call_begin(&call, 0, 0, NULL) &&
	        call_end(&call,
	                ht_deal(call.ctx, bytes, n, n_shares > 0 ? (size_t)n_shares : 0, shares)))
		result = list_of(shares, n);
	PyMem_Free(bytes);
	PyMem_Free(shares);
	return result;
}

/* ---- describing and joining ---- */

PyObject *set_describe(PyObject *object, PyObject *args)
{
	struct set_object *self = (struct set_object *)object;
	struct call call;
	struct buffer buffer = { 0 };
	struct ht_sink sink = { buffer_write, &buffer };
	PyObject *result = NULL;
	int with_facts;
	if (!PyArg_ParseTuple(args, "p:describe", &with_facts) || !set_enter(self))
		return NULL;
	if (call_begin(&call, self->n_jobs, self->memory_limit, NULL)) {
		if (call_end(&call, ht_set_describe(call.ctx, self->set, with_facts, &sink)))
			result = take_buffer(&buffer);
		else
			free(buffer.bytes);
	}
	set_leave(self);
	return result;
}

PyObject *share_describe_missing(PyObject *module, PyObject *args)
{
	PyObject *lines, *result = NULL;
	struct call call;
	struct buffer buffer = { 0 };
	struct ht_sink sink = { buffer_write, &buffer };
	size_t n = 0;
	(void)module;
	if (!PyArg_ParseTuple(args, "O:describe_missing", &lines))
		return NULL;
	PyObject *keep = PyList_New(0);
	const char **texts = keep ? source_texts(keep, lines, &n) : NULL;
	if (texts && call_begin(&call, 0, 0, NULL)) {
		if (call_end(&call, ht_missing_describe(call.ctx, texts, n, &sink)))
			result = take_buffer(&buffer);
		else
			free(buffer.bytes);
	}
	PyMem_Free(texts);
	Py_XDECREF(keep);
	return result;
}

static PyObject *join_entered(
        struct set_object *own, Py_ssize_t i_own, const struct ht_description *told, size_t n)
{
	struct call call;
	ht_set *set = NULL;
	int n_jobs = own ? own->n_jobs : 0;
	uint64_t limit = own ? own->memory_limit : 0;
	if (!call_begin(&call, n_jobs, limit, NULL))
		return NULL;
	enum ht_status status =
	        ht_shares_join(call.ctx, own ? own->set : NULL, (size_t)i_own, told, n, &set);
	if (call_end(&call, status))
		return set_wrap(set, n_jobs, limit, (PyObject *)own);
	if (status == HT_OK)
		ht_close(set);
	return NULL;
}

PyObject *share_join(PyObject *module, PyObject *args)
{
	PyObject *own, *told, *result = NULL;
	Py_ssize_t i_own;
	size_t n = 0;
	(void)module;
	if (!PyArg_ParseTuple(args, "OnO:join", &own, &i_own, &told))
		return NULL;
	if (own != Py_None && !set_is(own)) {
		PyErr_SetString(PyExc_TypeError, "own must be a Set or None");
		return NULL;
	}
	struct set_object *set = own == Py_None ? NULL : (struct set_object *)own;
	PyObject *keep = PyList_New(0);
	struct ht_description *texts = keep ? bytes_list(keep, told, &n) : NULL;
	/* its traces are borrowed for as long as the answer lives, so this user leaves with it */
	if (texts && (!set || set_enter(set))) {
		result = join_entered(set, i_own, texts, n);
		if (!result && set)
			set_leave(set);
	}
	PyMem_Free(texts);
	Py_XDECREF(keep);
	return result;
}

/* ---- parts ---- */

static PyObject *make_entered(
        struct set_object *self, const struct request *request, ht_set *const *sets)
{
	struct call call;
	struct buffer buffer = { 0 };
	struct ht_sink sink = { buffer_write, &buffer };
	ht_bundle *bundle = NULL;
	if (!call_begin(&call, self->n_jobs, self->memory_limit, NULL))
		return NULL;
	enum ht_status status = ht_bundle_make(call.ctx, sets, request->n_sets,
	        &(struct ht_query){ sizeof(struct ht_query), request->name, request->args,
	                request->n_args, &request->view },
	        &bundle);
	if (status == HT_OK)
		status = ht_bundle_write(call.ctx, bundle, &sink);
	bool ok = call_end(&call, status);
	ht_bundle_free(bundle);
	if (ok)
		return take_buffer(&buffer);
	free(buffer.bytes);
	return NULL;
}

PyObject *set_make(PyObject *self, PyObject *args, PyObject *kwargs)
{
	return set_ask((struct set_object *)self, args, kwargs, make_entered);
}

static PyObject *lacks_entered(
        struct set_object *self, const struct request *request, ht_set *const *sets)
{
	struct call call;
	bool lacks = false;
	if (!call_begin(&call, self->n_jobs, self->memory_limit, NULL) ||
	        !call_end(&call, ht_bundle_lacks_facts(call.ctx, sets, request->n_sets,
	                                 &(struct ht_query){ sizeof(struct ht_query), request->name,
	                                         request->args, request->n_args, &request->view },
	                                 &lacks)))
		return NULL;
	return PyBool_FromLong(lacks);
}

PyObject *set_lacks_facts(PyObject *self, PyObject *args, PyObject *kwargs)
{
	return set_ask((struct set_object *)self, args, kwargs, lacks_entered);
}

static enum ht_status merge_and_finish(ht_ctx *ctx, const struct ht_description *parts, size_t n,
        ht_set *const *sets, size_t n_sets, ht_table **ret_table)
{
	ht_bundle *all = NULL;
	enum ht_status status = HT_OK;
	for (size_t i = 0; i < n && status == HT_OK; i++) {
		ht_bundle *bundle = NULL;
		status = ht_bundle_read(ctx, parts[i].data, parts[i].n, &bundle);
		if (status == HT_OK && all)
			status = ht_bundle_merge(ctx, all, bundle);
		if (all)
			ht_bundle_free(bundle);
		else
			all = bundle;
	}
	if (status == HT_OK)
		status = ht_bundle_finish(ctx, all, sets, n_sets, ret_table);
	ht_bundle_free(all);
	return status;
}

static PyObject *finish_entered(struct set_object *self, const struct request *request,
        const struct ht_description *parts, size_t n)
{
	struct call call;
	ht_set *sets[HT_MAX_SETS];
	ht_table *table = NULL;
	for (size_t i = 0; i < request->n_sets; i++)
		sets[i] = request->users[i]->set;
	if (!call_begin(&call, self->n_jobs, self->memory_limit, NULL))
		return NULL;
	enum ht_status status = merge_and_finish(call.ctx, parts, n, sets, request->n_sets, &table);
	if (call_end(&call, status))
		return table_wrap(table);
	if (status == HT_OK)
		ht_table_free(table);
	return NULL;
}

PyObject *set_finish(PyObject *object, PyObject *args)
{
	struct request request = { .users = { (struct set_object *)object }, .n_sets = 1 };
	PyObject *parts, *others = NULL, *table = NULL;
	size_t n_parts = 0, n = 0;
	if (!PyArg_ParseTuple(args, "O|O:finish", &parts, &others))
		return NULL;
	PyObject *keep = PyList_New(0);
	struct ht_description *texts = NULL;
	if (keep && set_add_others(&request, keep, others))
		texts = bytes_list(keep, parts, &n_parts);
	if (texts && n_parts == 0)
		PyErr_SetString(PyExc_ValueError, "there are no parts");
	while (texts && n_parts > 0 && n < request.n_sets && set_enter(request.users[n]))
		n++;
	if (texts && n_parts > 0 && n == request.n_sets)
		table = finish_entered((struct set_object *)object, &request, texts, n_parts);
	while (n > 0)
		set_leave(request.users[--n]);
	PyMem_Free(texts);
	Py_XDECREF(keep);
	return table;
}
