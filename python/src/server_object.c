/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_object.c - holotrace._core.Server: the page's server inside this process, on threads of its own.
 */
#include "core.h"

#include "serve.h"

struct server_object {
	PyObject_HEAD struct server *server; /* NULL when it has stopped */
};

static PyTypeObject *server_type;

/* Threads of the server never take the GIL, but stopping waits for them. */
static void stop(struct server_object *self)
{
	struct server *server = self->server;
	self->server = NULL;
	if (!server)
		return;
	Py_BEGIN_ALLOW_THREADS serve_stop(server);
	Py_END_ALLOW_THREADS
}

static void server_dealloc(PyObject *object)
{
	stop((struct server_object *)object);
	free_instance(object);
}

static PyObject *server_stop(PyObject *self, PyObject *unused)
{
	(void)unused;
	stop((struct server_object *)self);
	Py_RETURN_NONE;
}

static PyObject *server_url(PyObject *self, void *unused)
{
	const struct server *server = ((struct server_object *)self)->server;
	(void)unused;
	return text_to_python(server ? serve_url(server) : NULL);
}

static PyObject *server_port(PyObject *self, void *unused)
{
	const struct server *server = ((struct server_object *)self)->server;
	(void)unused;
	return PyLong_FromLong(server ? serve_port(server) : 0);
}

/* The list of sources as C strings, which the caller frees with PyMem_Free. */
static const char **source_texts(PyObject *keep, PyObject *sources, size_t *ret_n)
{
	Py_ssize_t n = PyList_Size(sources);
	const char **texts = n >= 0 ? PyMem_Calloc((size_t)n + 1, sizeof(*texts)) : NULL;
	if (n >= 0 && !texts)
		PyErr_NoMemory();
	for (Py_ssize_t i = 0; texts && i < n; i++) {
		texts[i] = text_of_path(keep, PyList_GetItem(sources, i));
		if (!texts[i]) {
			PyMem_Free((void *)texts);
			return NULL;
		}
	}
	*ret_n = (size_t)n;
	return texts;
}

static PyObject *wrap(struct server *server)
{
	struct server_object *self = PyObject_New(struct server_object, server_type);
	if (!self) {
		serve_stop(server);
		return NULL;
	}
	self->server = server;
	return (PyObject *)self;
}

static PyObject *start(const struct serve_options *options)
{
	char error[SERVE_ERROR_BYTES] = "";
	struct server *server = NULL;
	enum ht_status status;
	Py_BEGIN_ALLOW_THREADS status = serve_start(options, &server, error);
	Py_END_ALLOW_THREADS if (status == HT_OK) return wrap(server);
	PyErr_SetString(status == HT_USAGE ? PyExc_ValueError : PyExc_OSError, error);
	return NULL;
}

PyObject *server_start(PyObject *module, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "sources", "port", "or_next_port", "cache_dir", "jobs",
		"path_prefix", "rescan_ms", NULL };
	PyObject *sources, *cache_dir = Py_None, *prefix = Py_None, *result = NULL;
	/* a notebook shows the page in a frame, at whatever port it is */
	struct serve_options options = { .open = { .struct_size = sizeof(options.open) },
		.frames = "any" };
	int or_next_port = 0;
	(void)module;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|ipOiOI:serve", names, &PyList_Type,
	            &sources, &options.port, &or_next_port, &cache_dir, &options.n_jobs, &prefix,
	            &options.rescan_ms))
		return NULL;
	PyObject *keep = PyList_New(0);
	const char **texts = keep ? source_texts(keep, sources, &options.n_sources) : NULL;
	options.or_next_port = or_next_port;
	options.sources = texts;
	if (texts && cache_dir != Py_None) {
		options.open.cache_dir = text_of_path(keep, cache_dir);
		if (!options.open.cache_dir)
			goto done;
	}
	if (texts && text_optional(keep, prefix, "path_prefix", &options.path_prefix))
		result = start(&options);
done:
	PyMem_Free((void *)texts);
	Py_XDECREF(keep);
	return result;
}

bool server_type_init(PyObject *module)
{
	static PyMethodDef methods[] = {
		{ "stop", server_stop, METH_NOARGS,
		        "End it; answers under way are given or refused." },
		{ NULL, NULL, 0, NULL },
	};
	static PyGetSetDef getters[] = {
		{ "url", server_url, NULL, "What to open in a browser; None when it has stopped.",
		        NULL },
		{ "port", server_port, NULL, "Its port; 0 when it has stopped.", NULL },
		{ NULL, NULL, NULL, NULL, NULL },
	};
	static PyType_Slot slots[] = {
		{ Py_tp_doc, "The page's server. Use holotrace.serve()." },
		{ Py_tp_new, refuse_new },
		{ Py_tp_dealloc, server_dealloc },
		{ Py_tp_methods, methods },
		{ Py_tp_getset, getters },
		{ 0, NULL },
	};
	static PyType_Spec spec = { "holotrace._core.Server", sizeof(struct server_object), 0,
		Py_TPFLAGS_DEFAULT, slots };
	server_type = add_type(module, &spec, "Server");
	return server_type != NULL;
}
