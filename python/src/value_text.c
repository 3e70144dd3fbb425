/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_text.c - Python values as C strings and back.
 */
#include "core.h"

/* Append to keep, which then owns the only reference; the bytes' text or NULL with an exception set. */
static const char *keep_bytes(PyObject *keep, PyObject *bytes)
{
	char *text = NULL;
	if (!bytes)
		return NULL;
	int failed =
	        PyBytes_AsStringAndSize(bytes, &text, NULL) < 0 || PyList_Append(keep, bytes) < 0;
	Py_DECREF(bytes);
	return failed ? NULL : text;
}

const char *text_of(PyObject *keep, PyObject *value)
{
	if (!PyUnicode_Check(value)) {
		PyErr_SetString(PyExc_TypeError, "text must be a str");
		return NULL;
	}
	return keep_bytes(keep, PyUnicode_AsUTF8String(value));
}

const char *text_of_path(PyObject *keep, PyObject *value)
{
	PyObject *bytes = NULL;
	if (!PyUnicode_FSConverter(value, &bytes))
		return NULL;
	return keep_bytes(keep, bytes);
}

bool text_optional(PyObject *keep, PyObject *value, const char *what, const char **ret_text)
{
	*ret_text = NULL;
	if (!value || value == Py_None)
		return true;
	if (!PyUnicode_Check(value)) {
		PyErr_Format(PyExc_TypeError, "%s must be a str or None", what);
		return false;
	}
	*ret_text = text_of(keep, value);
	return *ret_text != NULL;
}

/* The value of an argument as the command line would have it. */
static const char *text_of_value(PyObject *keep, PyObject *name, PyObject *value)
{
	if (PyBool_Check(value))
		return value == Py_True ? "true" : "false";
	if (PyUnicode_Check(value))
		return text_of(keep, value);
	if (!PyLong_Check(value) && !PyFloat_Check(value)) {
		PyErr_Format(
		        PyExc_TypeError, "argument %R must be str, int, float, bool or None", name);
		return NULL;
	}
	PyObject *text = PyFloat_Check(value) ? PyObject_Repr(value) : PyObject_Str(value);
	const char *result = text ? text_of(keep, text) : NULL;
	Py_XDECREF(text);
	return result;
}

bool text_args(PyObject *keep, PyObject *dict, struct ht_arg **ret_args, size_t *ret_n)
{
	*ret_args = NULL;
	*ret_n = 0;
	if (!dict || dict == Py_None)
		return true;
	if (!PyDict_Check(dict)) {
		PyErr_SetString(PyExc_TypeError, "arguments must be a dict");
		return false;
	}
	struct ht_arg *args = PyMem_Calloc((size_t)PyDict_Size(dict) + 1, sizeof(*args));
	if (!args) {
		PyErr_NoMemory();
		return false;
	}
	PyObject *name, *value;
	size_t n = 0;
	/* Conversion can run Python code only for subclasses of str, int and float; such a value
	 * could change the dict, so the count is checked too. */
	size_t n_max = (size_t)PyDict_Size(dict);
	for (Py_ssize_t at = 0; n < n_max && PyDict_Next(dict, &at, &name, &value);) {
		if (value == Py_None)
			continue;
		Py_INCREF(name);
		Py_INCREF(value);
		args[n].name = text_of(keep, name);
		args[n].value = args[n].name ? text_of_value(keep, name, value) : NULL;
		Py_DECREF(name);
		Py_DECREF(value);
		if (!args[n++].value) {
			PyMem_Free(args);
			return false;
		}
	}
	*ret_args = args;
	*ret_n = n;
	return true;
}

PyObject *text_to_python(const char *text)
{
	if (!text)
		Py_RETURN_NONE;
	return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

bool buffer_write(void *user, const void *bytes, size_t n)
{
	struct buffer *buffer = user;
	if (n > buffer->cap - buffer->n) {
		size_t cap = (buffer->n + n) * 2;
		char *grown = realloc(buffer->bytes, cap);
		if (!grown)
			return false;
		buffer->bytes = grown;
		buffer->cap = cap;
	}
	memcpy(buffer->bytes + buffer->n, bytes, n);
	buffer->n += n;
	return true;
}
