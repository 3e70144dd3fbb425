/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.h - what the files of the extension module holotrace._core share.
 *
 *   module.c         the module: open, analyses, version    call.c           one library call: GIL, signals, errors
 *   set_object.c     Set, an open set of traces             value_text.c     Python values as C strings
 *   table_object.c   Table, a result                        array.c          Array, memory of a table for numpy
 *   describe.c       what the registry says, as dicts       server_object.c  Server, the page inside this process
 *   history_calls.c  many runs in one store                 shares.c         sets whose ranks are in several processes
 *
 * CPython's limited API of 3.9, so that one binary serves every later version. That API lacks the buffer
 * protocol, hence Array speaks numpy's __array_interface__; and it lacks UTF-8 views of str, hence texts
 * are bytes objects kept in a list. Only holotrace.h is seen of the library.
 */
#ifndef PYTHON_CORE_H
#define PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "holotrace.h"

/* One library call. The GIL is held outside begin..end and released inside, except while progress
 * calls back. */
struct call {
	ht_ctx *ctx;
	PyObject *progress; /* borrowed; NULL: only look for signals */
	PyThreadState *thread;
	int64_t asked_ns; /* when progress last called back */
};

/* Make a context and let go of the GIL; false with an exception set. */
bool call_begin(struct call *call, int n_jobs, uint64_t memory_limit, PyObject *progress);
/* Take the GIL back and free the context; false with an exception set when the call failed, or when
 * progress or a signal handler raised. Then the caller frees what a status of HT_OK gave. */
bool call_end(struct call *call, enum ht_status status);

/* The value as UTF-8 without NUL, alive as long as the list keep; NULL with an exception set. */
const char *text_of(PyObject *keep, PyObject *value);
/* The same for a path: str, bytes or os.PathLike. */
const char *text_of_path(PyObject *keep, PyObject *value);
/* None or a str: false with an exception set for anything else. */
bool text_optional(PyObject *keep, PyObject *value, const char *what, const char **ret_text);
/* A dict of names and values (str, int, float, bool; None is left out) as arguments. The caller frees
 * the array with PyMem_Free. */
bool text_args(PyObject *keep, PyObject *dict, struct ht_arg **ret_args, size_t *ret_n);
/* A str of UTF-8 that may be damaged; None for NULL. */
PyObject *text_to_python(const char *text);

/* Bytes gathered without the GIL; zero-initialise, free bytes with free(). */
struct buffer {
	char *bytes;
	size_t n, cap;
};
/* For struct ht_sink, user is the buffer. */
bool buffer_write(void *user, const void *bytes, size_t n);

/* Dicts that describe a column and a parameter. */
PyObject *describe_column(const struct ht_column *column);
PyObject *describe_analyses(void);
PyObject *describe_common_params(void);
PyObject *describe_formats(void);

enum array_kind { ARRAY_I64, ARRAY_U64, ARRAY_F64, ARRAY_U8, ARRAY_I32 };

/* Memory that lives with owner; owned is freed with the array and may be NULL. On failure nothing was
 * taken. */
PyObject *array_new(PyObject *owner, enum array_kind kind, const void *data, size_t n, void *owned);
/* Takes the table over, also on failure. */
PyObject *table_wrap(ht_table *table);
/* A table of the bytes that its save gave. */
PyObject *table_load(PyObject *module, PyObject *bytes);
PyObject *set_open(PyObject *self, PyObject *args, PyObject *kwargs);
/* Run an analysis over files that are no traces. */
PyObject *run_files(PyObject *module, PyObject *args, PyObject *kwargs);

/* Add to a store of many runs, and ask it; history_calls.c. */
PyObject *history_ask(PyObject *module, PyObject *args, PyObject *kwargs);
/* Start the page's server. */
PyObject *server_start(PyObject *module, PyObject *args, PyObject *kwargs);
/* Functions of the module for sets whose ranks are in several processes; shares.c. */
PyObject *share_list(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *share_deal(PyObject *module, PyObject *args);
PyObject *share_describe_missing(PyObject *module, PyObject *args);
PyObject *share_join(PyObject *module, PyObject *args);

/* Create the types; false with an exception set. */
bool array_type_init(PyObject *module);
bool table_type_init(PyObject *module);
bool set_type_init(PyObject *module);
bool server_type_init(PyObject *module);
/* For tp_new of types that only this module makes. */
PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
/* Make a heap type of the spec and add it to the module; NULL with an exception set. */
PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, const char *name);
/* Free an instance of a heap type. */
void free_instance(PyObject *self);

#endif
