/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set_object.h - what set_object.c and shares.c share: the Set, and a question to one or several of them.
 */
#ifndef PYTHON_SET_OBJECT_H
#define PYTHON_SET_OBJECT_H

#include "core.h"

struct set_object {
	PyObject_HEAD ht_set *set; /* NULL after the last user left a closed set */
	size_t n_users;
	int closed;
	int n_jobs;
	uint64_t memory_limit;
	PyObject *own; /* the Set that a joined one borrows its traces from; NULL: none */
};

/* Count a user; false with an exception set when the set is closed. */
bool set_enter(struct set_object *self);
/* With the GIL. */
void set_leave(struct set_object *self);
/* Takes the set over, also on failure; own is kept alive and may be NULL. */
PyObject *set_wrap(ht_set *set, int n_jobs, uint64_t memory_limit, PyObject *own);
bool set_is(PyObject *object);
/* A list or tuple of paths as strings; the caller frees the array with PyMem_Free. */
const char **source_texts(PyObject *keep, PyObject *sources, size_t *ret_n);

struct request {
	const char *name;
	struct ht_view view;
	struct ht_arg *args;
	size_t n_args;
	struct set_object *users[HT_MAX_SETS]; /* the sets to run over */
	size_t n_sets;
};

/* The sets of a comparison after the first: a Set, or a list of them. False with an exception set; the sets are
 * kept alive by keep. */
bool set_add_others(struct request *request, PyObject *keep, PyObject *others);

typedef PyObject *(*request_fn)(
        struct set_object *self, const struct request *request, ht_set *const *sets);
/* Answer a question over a set and others, or over none when self is NULL: the arguments are those of run(). */
PyObject *set_ask(struct set_object *self, PyObject *args, PyObject *kwargs, request_fn answer);

/* Methods of Set for sets whose ranks are in several processes; shares.c. */
PyObject *set_describe(PyObject *self, PyObject *args);
PyObject *set_make(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *set_lacks_facts(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *set_finish(PyObject *self, PyObject *args);

#endif
