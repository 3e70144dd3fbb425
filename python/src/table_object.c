/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_object.c - holotrace._core.Table: a result. Numbers leave without a copy, as arrays or through Arrow.
 */
#include "core.h"

struct table_object {
	PyObject_HEAD ht_table *table;
};

static PyTypeObject *table_type;

PyObject *table_wrap(ht_table *table)
{
	struct table_object *self = PyObject_New(struct table_object, table_type);
	if (!self) {
		ht_table_free(table);
		return NULL;
	}
	self->table = table;
	return (PyObject *)self;
}

static ht_table *table_of(PyObject *self)
{
	return ((struct table_object *)self)->table;
}

static void table_dealloc(PyObject *self)
{
	ht_table_free(table_of(self));
	free_instance(self);
}

/* A column by number (from the end when negative) or name; false with an exception set. */
static bool find_column(const ht_table *table, PyObject *key, size_t *ret_column)
{
	Py_ssize_t n = (Py_ssize_t)ht_table_n_columns(table);
	if (PyUnicode_Check(key)) {
		for (Py_ssize_t i = 0; i < n; i++) {
			const char *name = ht_table_column(table, (size_t)i)->name;
			if (PyUnicode_CompareWithASCIIString(key, name) == 0) {
				*ret_column = (size_t)i;
				return true;
			}
		}
		PyErr_SetObject(PyExc_KeyError, key);
		return false;
	}
	if (!PyLong_Check(key)) {
		PyErr_SetString(PyExc_TypeError, "a column is a name or a number");
		return false;
	}
	Py_ssize_t i = PyLong_AsSsize_t(key);
	if (i == -1 && PyErr_Occurred())
		return false;
	i += i < 0 ? n : 0;
	if (i < 0 || i >= n) {
		PyErr_SetString(PyExc_IndexError, "no such column");
		return false;
	}
	*ret_column = (size_t)i;
	return true;
}

static enum array_kind kind_of(enum ht_type type)
{
	switch (type) {
	case HT_U64: return ARRAY_U64;
	case HT_F64:
	case HT_DURATION_F64:
	case HT_RATIO: return ARRAY_F64;
	default: return ARRAY_I64;
	}
}

static PyObject *table_column(PyObject *self, PyObject *key)
{
	const ht_table *table = table_of(self);
	size_t column;
	if (!find_column(table, key, &column))
		return NULL;
	enum ht_type type = ht_table_column(table, column)->type;
	if (type == HT_STR) {
		PyErr_SetString(PyExc_TypeError, "the column holds text: use strings()");
		return NULL;
	}
	return array_new(
	        self, kind_of(type), ht_table_cells(table, column), ht_table_n_rows(table), NULL);
}

static PyObject *table_validity(PyObject *self, PyObject *key)
{
	const ht_table *table = table_of(self);
	size_t column;
	if (!find_column(table, key, &column))
		return NULL;
	const uint8_t *valid = ht_table_valid(table, column);
	if (!valid)
		Py_RETURN_NONE;
	return array_new(self, ARRAY_U8, valid, ht_table_n_rows(table), NULL);
}

/* Codes in the order in which texts first occur; texts are appended to list. */
static bool number_texts(const ht_table *table, size_t column, int32_t *codes, PyObject *list)
{
	const uint32_t *ids = ht_table_cells(table, column);
	const uint8_t *valid = ht_table_valid(table, column);
	int32_t *code_of_id = PyMem_Calloc(ht_table_n_texts(table) + 1, sizeof(*code_of_id));
	int32_t n = 0;
	bool ok = code_of_id != NULL;
	if (!ok)
		PyErr_NoMemory();
	for (size_t row = 0; ok && row < ht_table_n_rows(table); row++) {
		codes[row] = -1;
		if (valid && !valid[row])
			continue;
		/* 0 is a text not seen yet, so codes are stored plus one. */
		if (code_of_id[ids[row]] == 0) {
			PyObject *text = text_to_python(ht_table_text(table, ids[row]));
			ok = text && PyList_Append(list, text) == 0;
			Py_XDECREF(text);
			code_of_id[ids[row]] = ++n;
		}
		codes[row] = code_of_id[ids[row]] - 1;
	}
	PyMem_Free(code_of_id);
	return ok;
}

static PyObject *table_strings(PyObject *self, PyObject *key)
{
	const ht_table *table = table_of(self);
	size_t column, n_rows = ht_table_n_rows(table);
	if (!find_column(table, key, &column))
		return NULL;
	if (ht_table_column(table, column)->type != HT_STR) {
		PyErr_SetString(PyExc_TypeError, "the column holds numbers: use column()");
		return NULL;
	}
	int32_t *codes = PyMem_Calloc(n_rows + 1, sizeof(*codes));
	PyObject *texts = PyList_New(0), *array = NULL;
	if (!codes)
		PyErr_NoMemory();
	if (codes && texts && number_texts(table, column, codes, texts))
		array = array_new(self, ARRAY_I32, codes, n_rows, codes);
	if (!array) {
		PyMem_Free(codes);
		Py_XDECREF(texts);
		return NULL;
	}
	return Py_BuildValue("(NN)", array, texts);
}

static PyObject *cell(const ht_table *table, size_t row, size_t column)
{
	if (ht_table_is_null(table, row, column))
		Py_RETURN_NONE;
	switch (ht_table_column(table, column)->type) {
	case HT_STR: return text_to_python(ht_table_str(table, row, column));
	case HT_BOOL: return PyBool_FromLong(ht_table_i64(table, row, column) != 0);
	case HT_U64: return PyLong_FromUnsignedLongLong((uint64_t)ht_table_i64(table, row, column));
	case HT_F64:
	case HT_DURATION_F64:
	case HT_RATIO: return PyFloat_FromDouble(ht_table_f64(table, row, column));
	default: return PyLong_FromLongLong(ht_table_i64(table, row, column));
	}
}

static PyObject *table_values(PyObject *self, PyObject *args)
{
	const ht_table *table = table_of(self);
	PyObject *key;
	Py_ssize_t start = 0, stop = PY_SSIZE_T_MAX, n_rows = (Py_ssize_t)ht_table_n_rows(table);
	size_t column;
	if (!PyArg_ParseTuple(args, "O|nn:values", &key, &start, &stop) ||
	        !find_column(table, key, &column))
		return NULL;
	start = start < 0 ? 0 : start;
	stop = stop > n_rows ? n_rows : stop;
	PyObject *list = PyList_New(0);
	for (Py_ssize_t row = start; list && row < stop; row++) {
		PyObject *value = cell(table, (size_t)row, column);
		if (!value || PyList_Append(list, value) < 0)
			Py_CLEAR(list);
		Py_XDECREF(value);
	}
	return list;
}

/* Puts a new reference, and lets it go; false when there is none. */
static bool put_item(PyObject *dict, const char *key, PyObject *value)
{
	bool ok = value && PyDict_SetItemString(dict, key, value) == 0;
	Py_XDECREF(value);
	return ok;
}

static PyObject *table_column_info(PyObject *self, PyObject *key)
{
	size_t column;
	if (!find_column(table_of(self), key, &column))
		return NULL;
	PyObject *info = describe_column(ht_table_column(table_of(self), column));
	if (info && !put_item(info, "label",
	                    text_to_python(ht_table_column_label(table_of(self), column))))
		Py_CLEAR(info);
	return info;
}

static PyObject *table_render(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "format", "color", "bars", "wide", "width", "no_title", "safe_csv",
		NULL };
	PyObject *format, *result = NULL;
	int color = 0, bars = 0, wide = 0, no_title = 0, safe_csv = 0;
	struct ht_render_options options = { .struct_size = sizeof options };
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "U|$pppipp:render", names, &format, &color,
	            &bars, &wide, &options.width, &no_title, &safe_csv))
		return NULL;
	options.color = color;
	options.bars = bars;
	options.wide = wide;
	options.no_title = no_title;
	options.safe_csv = safe_csv;
	PyObject *keep = PyList_New(0);
	const char *format_text = keep ? text_of(keep, format) : NULL;
	struct call call;
	struct buffer buffer = { 0 };
	struct ht_sink sink = { buffer_write, &buffer };
	if (format_text && call_begin(&call, 0, 0, NULL) &&
	        call_end(&call, ht_render(call.ctx, table_of(self), format_text, &options, &sink)))
		result = PyBytes_FromStringAndSize(buffer.bytes, (Py_ssize_t)buffer.n);
	free(buffer.bytes);
	Py_XDECREF(keep);
	return result;
}

static PyObject *table_save(PyObject *self, PyObject *unused)
{
	(void)unused;
	PyObject *result = NULL;
	struct call call;
	struct buffer buffer = { 0 };
	struct ht_sink sink = { buffer_write, &buffer };
	if (call_begin(&call, 0, 0, NULL) &&
	        call_end(&call, ht_table_save(call.ctx, table_of(self), &sink)))
		result = PyBytes_FromStringAndSize(buffer.bytes, (Py_ssize_t)buffer.n);
	free(buffer.bytes);
	return result;
}

PyObject *table_load(PyObject *module, PyObject *bytes)
{
	(void)module;
	char *text;
	Py_ssize_t n;
	struct call call;
	ht_table *table;
	if (PyBytes_AsStringAndSize(bytes, &text, &n) || !call_begin(&call, 0, 0, NULL) ||
	        !call_end(&call, ht_table_load(call.ctx, text, (size_t)n, &table)))
		return NULL;
	return table_wrap(table);
}

static void release_stream(PyObject *capsule)
{
	struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
	if (stream && stream->release)
		stream->release(stream);
	PyMem_Free(stream);
}

static void release_schema(PyObject *capsule)
{
	struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
	if (schema && schema->release)
		schema->release(schema);
	PyMem_Free(schema);
}

static bool make_stream(PyObject *self, struct ArrowArrayStream *stream)
{
	struct call call;
	if (!call_begin(&call, 0, 0, NULL))
		return false;
	return call_end(&call, ht_table_arrow(call.ctx, table_of(self), stream));
}

static PyObject *table_arrow_stream(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "requested_schema", NULL };
	/* The standard lets a producer ignore the schema asked for when it cannot convert. */
	PyObject *requested = NULL;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:__arrow_c_stream__", names, &requested))
		return NULL;
	struct ArrowArrayStream *stream = PyMem_Calloc(1, sizeof(*stream));
	if (!stream)
		return PyErr_NoMemory();
	PyObject *capsule = NULL;
	if (make_stream(self, stream))
		capsule = PyCapsule_New(stream, "arrow_array_stream", release_stream);
	if (!capsule) {
		if (stream->release)
			stream->release(stream);
		PyMem_Free(stream);
	}
	return capsule;
}

static PyObject *table_arrow_schema(PyObject *self, PyObject *unused)
{
	struct ArrowArrayStream stream = { 0 };
	(void)unused;
	struct ArrowSchema *schema = PyMem_Calloc(1, sizeof(*schema));
	if (!schema)
		return PyErr_NoMemory();
	PyObject *capsule = NULL;
	if (make_stream(self, &stream)) {
		if (stream.get_schema(&stream, schema) == 0)
			capsule = PyCapsule_New(schema, "arrow_schema", release_schema);
		else
			PyErr_NoMemory();
		stream.release(&stream);
	}
	if (!capsule) {
		if (schema->release)
			schema->release(schema);
		PyMem_Free(schema);
	}
	return capsule;
}

static PyObject *get_title(PyObject *self, void *closure)
{
	(void)closure;
	return text_to_python(ht_table_title(table_of(self)));
}

static PyObject *get_method(PyObject *self, void *closure)
{
	(void)closure;
	return text_to_python(ht_table_method(table_of(self)));
}

static PyObject *get_notes(PyObject *self, void *closure)
{
	PyObject *list = PyList_New(0);
	(void)closure;
	for (size_t i = 0; list && i < ht_table_n_notes(table_of(self)); i++) {
		PyObject *note = text_to_python(ht_table_note(table_of(self), i));
		if (!note || PyList_Append(list, note) < 0)
			Py_CLEAR(list);
		Py_XDECREF(note);
	}
	return list;
}

static PyObject *note_value(const struct ht_note_value *value)
{
	switch (value->type) {
	case HT_STR: return text_to_python(value->str);
	case HT_F64:
	case HT_DURATION_F64:
	case HT_RATIO: return PyFloat_FromDouble(value->f64);
	case HT_BOOL: return PyBool_FromLong(value->i64 != 0);
	default: return PyLong_FromLongLong(value->i64);
	}
}

static PyObject *note_values(const struct ht_note *note)
{
	PyObject *dict = PyDict_New();
	for (size_t i = 0; dict && i < note->n_values; i++)
		if (!put_item(dict, note->values[i].name, note_value(&note->values[i])))
			Py_CLEAR(dict);
	return dict;
}

static PyObject *note_args(const struct ht_note *note)
{
	PyObject *dict = PyDict_New();
	for (size_t i = 0; dict && i < note->n_next_args; i++)
		if (!put_item(dict, note->next_args[i].name,
		            text_to_python(note->next_args[i].value)))
			Py_CLEAR(dict);
	return dict;
}

static PyObject *note_dict(const struct ht_note *note)
{
	PyObject *dict = PyDict_New();
	const char *severity = note->severity == HT_NOTE_WARNING ? "warning" : "info";
	if (dict && put_item(dict, "severity", text_to_python(severity)) &&
	        put_item(dict, "kind", text_to_python(note->kind)) &&
	        put_item(dict, "state", text_to_python(note->state)) &&
	        put_item(dict, "sentence", text_to_python(note->text)) &&
	        put_item(dict, "values", note_values(note)) &&
	        put_item(dict, "next", text_to_python(note->next)) &&
	        put_item(dict, "args", note_args(note)))
		return dict;
	Py_XDECREF(dict);
	return NULL;
}

static PyObject *get_findings(PyObject *self, void *closure)
{
	PyObject *list = PyList_New(0);
	(void)closure;
	for (size_t i = 0; list && i < ht_table_n_notes(table_of(self)); i++) {
		PyObject *note = note_dict(ht_table_note_at(table_of(self), i));
		if (!note || PyList_Append(list, note) < 0)
			Py_CLEAR(list);
		Py_XDECREF(note);
	}
	return list;
}

static PyObject *get_column_names(PyObject *self, void *closure)
{
	PyObject *list = PyList_New(0);
	(void)closure;
	for (size_t i = 0; list && i < ht_table_n_columns(table_of(self)); i++) {
		PyObject *name = text_to_python(ht_table_column(table_of(self), i)->name);
		if (!name || PyList_Append(list, name) < 0)
			Py_CLEAR(list);
		Py_XDECREF(name);
	}
	return list;
}

static PyObject *get_n_rows(PyObject *self, void *closure)
{
	(void)closure;
	return PyLong_FromSize_t(ht_table_n_rows(table_of(self)));
}

static PyObject *get_n_columns(PyObject *self, void *closure)
{
	(void)closure;
	return PyLong_FromSize_t(ht_table_n_columns(table_of(self)));
}

static PyObject *get_n_hidden(PyObject *self, void *closure)
{
	(void)closure;
	return PyLong_FromSize_t(ht_table_n_hidden(table_of(self)));
}

static PyObject *get_bar(PyObject *self, void *closure)
{
	const ht_table *table = table_of(self);
	size_t bar = ht_table_bar(table);
	(void)closure;
	return text_to_python(bar == SIZE_MAX ? NULL : ht_table_column(table, bar)->name);
}

static PyObject *get_check_failed(PyObject *self, void *closure)
{
	(void)closure;
	return PyBool_FromLong(ht_table_check_failed(table_of(self)));
}

static PyMethodDef methods[] = {
	{ "column", table_column, METH_O, "A column of numbers as Array, without a copy." },
	{ "validity", table_validity, METH_O, "Array with 0 where a cell is null; None: none is." },
	{ "strings", table_strings, METH_O,
	        "(codes, texts) of a column of text; code -1 is null." },
	{ "values", table_values, METH_VARARGS,
	        "values(column, start=0, stop=all): a list of cells." },
	{ "column_info", table_column_info, METH_O, "Name, label, type, role, sentence and unit." },
	{ "render", (PyCFunction)(void (*)(void))table_render, METH_VARARGS | METH_KEYWORDS,
	        "render(format, *, color=False, bars=False, wide=False, width=0, no_title=False,\n"
	        "       safe_csv=False) -> bytes" },
	{ "save", table_save, METH_NOARGS, "The table as bytes, for load_table." },
	{ "__arrow_c_stream__", (PyCFunction)(void (*)(void))table_arrow_stream,
	        METH_VARARGS | METH_KEYWORDS, "The table as a capsule of an Arrow stream." },
	{ "__arrow_c_schema__", table_arrow_schema, METH_NOARGS,
	        "Its schema as an Arrow capsule." },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef getset[] = {
	{ "title", get_title, NULL, "title", NULL },
	{ "method", get_method, NULL, "how the numbers are made, in a line", NULL },
	{ "notes", get_notes, NULL, "lines to show under the table", NULL },
	{ "findings", get_findings, NULL,
	        "the same as data: severity, kind, state, sentence, values, next, args", NULL },
	{ "n_rows", get_n_rows, NULL, "number of rows", NULL },
	{ "n_columns", get_n_columns, NULL, "number of columns", NULL },
	{ "n_hidden", get_n_hidden, NULL, "rows that top removed", NULL },
	{ "bar", get_bar, NULL, "name of the share column to draw, or None", NULL },
	{ "check_failed", get_check_failed, NULL, "whether a check failed", NULL },
	{ "column_names", get_column_names, NULL, "names of the columns", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

bool table_type_init(PyObject *module)
{
	static PyType_Slot slots[] = {
		{ Py_tp_new, refuse_new },
		{ Py_tp_dealloc, table_dealloc },
		{ Py_tp_methods, methods },
		{ Py_tp_getset, getset },
		{ Py_tp_doc, "A result: typed columns with names, units and sentences." },
		{ 0, NULL },
	};
	static PyType_Spec spec = {
		.name = "holotrace._core.Table",
		.basicsize = sizeof(struct table_object),
		.flags = Py_TPFLAGS_DEFAULT,
		.slots = slots,
	};
	table_type = add_type(module, &spec, "Table");
	return table_type != NULL;
}
