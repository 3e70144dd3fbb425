/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array.c - holotrace._core.Array: a run of numbers in a table's memory, read-only.
 *
 * numpy.asarray(array) makes an array of it without a copy and keeps it, and through it the table,
 * alive. Without numpy it is a sequence.
 */
#include "core.h"

struct array_object {
	PyObject_HEAD PyObject *owner;
	enum array_kind kind;
	const void *data;
	size_t n;
	void *owned; /* NULL, or memory that goes with the array */
};

static const char *const typestrs[] = { "<i8", "<u8", "<f8", "|u1", "<i4" };
static PyTypeObject *array_type;

PyObject *array_new(PyObject *owner, enum array_kind kind, const void *data, size_t n, void *owned)
{
	/* numpy wants an address even when there is nothing at it. */
	static const double nothing;
	struct array_object *array = PyObject_New(struct array_object, array_type);
	if (!array)
		return NULL;
	Py_INCREF(owner);
	array->owner = owner;
	array->kind = kind;
	array->data = data ? data : &nothing;
	array->n = n;
	array->owned = owned;
	return (PyObject *)array;
}

static void array_dealloc(PyObject *self)
{
	struct array_object *array = (struct array_object *)self;
	PyMem_Free(array->owned);
	Py_DECREF(array->owner);
	free_instance(self);
}

static Py_ssize_t array_length(PyObject *self)
{
	return (Py_ssize_t)((struct array_object *)self)->n;
}

static PyObject *array_item(PyObject *self, Py_ssize_t i)
{
	const struct array_object *array = (struct array_object *)self;
	if (i < 0 || (size_t)i >= array->n) {
		PyErr_SetString(PyExc_IndexError, "index is outside the array");
		return NULL;
	}
	switch (array->kind) {
	case ARRAY_I64: return PyLong_FromLongLong(((const int64_t *)array->data)[i]);
	case ARRAY_U64: return PyLong_FromUnsignedLongLong(((const uint64_t *)array->data)[i]);
	case ARRAY_F64: return PyFloat_FromDouble(((const double *)array->data)[i]);
	case ARRAY_U8: return PyLong_FromLong(((const uint8_t *)array->data)[i]);
	case ARRAY_I32: return PyLong_FromLong(((const int32_t *)array->data)[i]);
	}
	Py_RETURN_NONE;
}

static PyObject *array_interface(PyObject *self, void *closure)
{
	const struct array_object *array = (struct array_object *)self;
	(void)closure;
	PyObject *address = PyLong_FromVoidPtr((void *)array->data);
	if (!address)
		return NULL;
	return Py_BuildValue("{s:i,s:s,s:(n),s:(NO)}", "version", 3, "typestr",
	        typestrs[array->kind], "shape", (Py_ssize_t)array->n, "data", address, Py_True);
}

bool array_type_init(PyObject *module)
{
	static PyGetSetDef getset[] = {
		{ "__array_interface__", array_interface, NULL,
		        "numpy's array interface, version 3", NULL },
		{ NULL, NULL, NULL, NULL, NULL },
	};
	static PyType_Slot slots[] = {
		{ Py_tp_new, refuse_new },
		{ Py_tp_dealloc, array_dealloc },
		{ Py_tp_getset, getset },
		{ Py_sq_length, array_length },
		{ Py_sq_item, array_item },
		{ Py_tp_doc, "Numbers in a table's memory; numpy.asarray() does not copy them." },
		{ 0, NULL },
	};
	static PyType_Spec spec = {
		.name = "holotrace._core.Array",
		.basicsize = sizeof(struct array_object),
		.flags = Py_TPFLAGS_DEFAULT,
		.slots = slots,
	};
	array_type = add_type(module, &spec, "Array");
	return array_type != NULL;
}
