/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.c - the extension module holotrace._core.
 */
#include "core.h"

PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	(void)args;
	(void)kwargs;
	PyErr_Format(PyExc_TypeError, "%R cannot be made directly; use holotrace.open()", type);
	return NULL;
}

PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, const char *name)
{
	PyObject *type = PyType_FromSpec(spec);
	if (!type)
		return NULL;
	/* One reference for the module, one for the C side, which lives as long as the process. */
	Py_INCREF(type);
	if (PyModule_AddObject(module, name, type) < 0) {
		Py_DECREF(type);
		Py_DECREF(type);
		return NULL;
	}
	return (PyTypeObject *)type;
}

void free_instance(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	PyObject_Free(self);
	Py_DECREF(type);
}

static PyObject *analyses(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	return describe_analyses();
}

static PyObject *common_params(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	return describe_common_params();
}

static PyObject *version(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	return text_to_python(ht_version());
}

static PyObject *formats(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	return describe_formats();
}

static PyMethodDef methods[] = {
	{ "open", (PyCFunction)(void (*)(void))set_open, METH_VARARGS | METH_KEYWORDS,
	        "open(sources, *, recursive=False, strict=False, no_cache=False, cache_dir=None,\n"
	        "     cache_max_bytes=0, jobs=0, memory_limit=0, kernel_rules=None, progress=None,\n"
	        "     verify_cache=False, prefer_db=False, partial=False, listed=False,\n"
	        "     attach=None) -> Set\n"
	        "\n"
	        "Open traces as one set. progress(what, done, total) may return False to cancel." },
	{ "run", (PyCFunction)(void (*)(void))run_files, METH_VARARGS | METH_KEYWORDS,
	        "run(name, args=None, columns=None, where=None, sort=None, top=0) -> Table\n"
	        "\n"
	        "Run an analysis over files that are no traces: its arguments name them." },
	{ "load_table", table_load, METH_O,
	        "load_table(bytes) -> Table, of what Table.save gave." },
	{ "history", (PyCFunction)(void (*)(void))history_ask, METH_VARARGS | METH_KEYWORDS,
	        "history(store, *, add=None, label=None, source=None, file=None, view=None, path=None,\n"
	        "        since=None, columns=None, where=None, sort=None, max_pvalue=0, min_change=0,\n"
	        "        window=0, top=0, progress=None) -> Table\n"
	        "\n"
	        "Add a Set, or the runs of a file, to a store of many runs; then ask it." },
	{ "serve", (PyCFunction)(void (*)(void))server_start, METH_VARARGS | METH_KEYWORDS,
	        "serve(sources, port=0, or_next_port=False, cache_dir=None, jobs=0, path_prefix=None,\n"
	        "      rescan_ms=0) -> Server\n"
	        "\n"
	        "Start the page's server on loopback." },
	{ "list_files", (PyCFunction)(void (*)(void))share_list, METH_VARARGS | METH_KEYWORDS,
	        "list_files(sources, recursive=False, partial=False, prefer_db=False) -> (bytes, [(source, size)])\n"
	        "\n"
	        "The files that open() would read, as sources for open(listed=True), and what finding them said." },
	{ "deal", share_deal, METH_VARARGS, "deal(sizes, n_shares) -> the share of each" },
	{ "describe_missing", share_describe_missing, METH_VARARGS,
	        "describe_missing(lines) -> bytes\n\nA description that only names what is missing." },
	{ "join", share_join, METH_VARARGS,
	        "join(own, i_own, descriptions) -> Set\n\nThe set of all ranks that are described." },
	{ "analyses", analyses, METH_NOARGS, "Every analysis with its columns and parameters." },
	{ "common_params", common_params, METH_NOARGS,
	        "The parameters that every analysis takes." },
	{ "formats", formats, METH_NOARGS, "The formats that Table.render() writes." },
	{ "version", version, METH_NOARGS, "The version of the library." },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "holotrace._core",
	.m_doc = "Holotrace's engine. Use the package holotrace.",
	.m_size = -1,
	.m_methods = methods,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
	PyObject *module = PyModule_Create(&definition);
	if (module && array_type_init(module) && table_type_init(module) && set_type_init(module) &&
	        server_type_init(module))
		return module;
	Py_XDECREF(module);
	return NULL;
}
