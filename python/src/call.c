/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.c - one call into the library: the GIL is free meanwhile, Ctrl-C cancels, failures are raised.
 *
 *   begin ─► GIL released ─► library ─┬─► progress: GIL taken, signals, callback, GIL released ─┐
 *                                     └─◄───────────────────────────────────────────────────────┘
 *   end ◄─── GIL taken, status and context's error turned into an exception
 */
#include "core.h"

#include <time.h>

/* Taking the GIL may mean to wait for other threads, so not at every piece of a file. */
#define ASK_EVERY_NS INT64_C(40000000)

/* Classes of holotrace._errors by status. */
static const char *class_name(enum ht_status status)
{
	switch (status) {
	case HT_IO:
	case HT_FORMAT: return "InputError";
	case HT_NOMEM:
	case HT_LIMIT: return "LimitError";
	case HT_USAGE: return "UsageError";
	case HT_MISSING: return "MissingError";
	case HT_CANCELLED: return "CancelledError";
	default: return "Error";
	}
}

static void raise_error(const struct ht_error *error)
{
	PyObject *module = PyImport_ImportModule("holotrace._errors");
	PyObject *type = module ? PyObject_GetAttrString(module, class_name(error->status)) : NULL;
	PyObject *message = text_to_python(error->message ? error->message : "");
	PyObject *file =
	        error->file ? PyUnicode_DecodeFSDefault(error->file) : text_to_python(NULL);
	PyObject *hint = text_to_python(error->hint);
	PyObject *value = NULL;
	if (type && message && file && hint && error->offset >= 0)
		value = PyObject_CallFunction(
		        type, "OOLO", message, file, (long long)error->offset, hint);
	else if (type && message && file && hint)
		value = PyObject_CallFunction(type, "OOOO", message, file, Py_None, hint);
	if (value)
		PyErr_SetObject(type, value);
	Py_XDECREF(value);
	Py_XDECREF(hint);
	Py_XDECREF(file);
	Py_XDECREF(message);
	Py_XDECREF(type);
	Py_XDECREF(module);
}

/* With the GIL: false with an exception set when the call shall stop; true or a quiet false else. */
static bool ask(const struct call *call, const char *what, uint64_t done, uint64_t total)
{
	if (PyErr_CheckSignals())
		return false;
	if (!call->progress)
		return true;
	PyObject *answer = PyObject_CallFunction(call->progress, "sKK", what ? what : "",
	        (unsigned long long)done, (unsigned long long)total);
	if (!answer)
		return false;
	/* A callback that returns nothing wants to go on. */
	int keep_going = answer == Py_None ? 1 : PyObject_IsTrue(answer);
	Py_DECREF(answer);
	return keep_going > 0;
}

static bool on_progress(void *user, const char *what, uint64_t done, uint64_t total)
{
	struct call *call = user;
	struct timespec clock = { 0 };
	clock_gettime(CLOCK_MONOTONIC, &clock);
	int64_t now = (int64_t)clock.tv_sec * 1000000000 + clock.tv_nsec;
	if (call->asked_ns && now - call->asked_ns < ASK_EVERY_NS && done < total)
		return true;
	call->asked_ns = now;
	PyEval_RestoreThread(call->thread);
	bool keep_going = !PyErr_Occurred() && ask(call, what, done, total);
	call->thread = PyEval_SaveThread();
	return keep_going;
}

bool call_begin(struct call *call, int n_jobs, uint64_t memory_limit, PyObject *progress)
{
	*call = (struct call){ .progress = progress == Py_None ? NULL : progress };
	if (ht_ctx_new(&call->ctx) != HT_OK) {
		PyErr_NoMemory();
		return false;
	}
	ht_ctx_set_jobs(call->ctx, n_jobs);
	ht_ctx_set_memory_limit(call->ctx, memory_limit);
	ht_ctx_set_progress(call->ctx, on_progress, call);
	call->thread = PyEval_SaveThread();
	return true;
}

bool call_end(struct call *call, enum ht_status status)
{
	PyEval_RestoreThread(call->thread);
	if (status != HT_OK && !PyErr_Occurred())
		raise_error(ht_error(call->ctx));
	ht_ctx_free(call->ctx);
	return !PyErr_Occurred();
}
