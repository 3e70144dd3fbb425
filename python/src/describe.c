/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe.c - the registry of analyses, and formats, as Python dicts, from which methods, docstrings and stubs come.
 */
#include "core.h"

PyObject *describe_column(const struct ht_column *column)
{
	return Py_BuildValue("{s:s,s:s,s:s,s:z,s:z}", "name", column->name, "type",
	        ht_type_name(column->type), "role", ht_role_name(column->role), "sentence",
	        column->sentence, "unit", ht_column_unit(column));
}

static PyObject *describe_param(const struct ht_param *param)
{
	return Py_BuildValue("{s:s,s:s,s:z,s:z,s:z}", "name", param->name, "type",
	        ht_type_name(param->type), "default", param->default_value, "help", param->help,
	        "choices", param->choices);
}

/* Append and give up the item; false when there is none or no memory. */
static bool append(PyObject *list, PyObject *item)
{
	int failed = !item || PyList_Append(list, item) < 0;
	Py_XDECREF(item);
	return !failed;
}

static PyObject *describe_columns(const struct ht_schema *schema)
{
	PyObject *list = PyList_New(0);
	for (size_t i = 0; list && i < schema->n_columns; i++) {
		if (!append(list, describe_column(&schema->columns[i])))
			Py_CLEAR(list);
	}
	return list;
}

/* {"summary": [columns], ...}: by the value of the parameter that chooses. */
static PyObject *describe_views(const struct ht_analysis_info *info)
{
	PyObject *views = PyDict_New();
	for (size_t i = 0; views && i < info->n_schemas; i++) {
		PyObject *columns = describe_columns(&info->schemas[i]);
		if (!columns || PyDict_SetItemString(views, info->schemas[i].name, columns) < 0)
			Py_CLEAR(views);
		Py_XDECREF(columns);
	}
	return views;
}

static PyObject *describe_params(const struct ht_analysis_info *info)
{
	PyObject *list = PyList_New(0);
	for (size_t i = 0; list && i < info->n_params; i++) {
		if (!append(list, describe_param(&info->params[i])))
			Py_CLEAR(list);
	}
	return list;
}

static PyObject *describe_analysis(const struct ht_analysis_info *info)
{
	PyObject *columns = describe_columns(info->schemas), *params = describe_params(info);
	PyObject *views = describe_views(info);
	if (!columns || !params || !views) {
		Py_XDECREF(columns);
		Py_XDECREF(params);
		Py_XDECREF(views);
		return NULL;
	}
	return Py_BuildValue("{s:s,s:z,s:z,s:z,s:z,s:z,s:N,s:N,s:z,s:N,s:n,s:(zz),s:N,s:N}", "name",
	        info->name, "group", info->group, "title", info->title, "question", info->question,
	        "method", info->method, "hta", info->hta, "columns", columns, "views", views,
	        "chosen_by", info->chosen_by, "params", params, "n_sets", (Py_ssize_t)info->n_sets,
	        "sides", info->sides[0], info->sides[1], "lists_events",
	        PyBool_FromLong(info->lists_events), "tells_losses",
	        PyBool_FromLong(info->tells_losses));
}

PyObject *describe_analyses(void)
{
	PyObject *list = PyList_New(0);
	for (size_t i = 0; list && i < ht_n_analyses(); i++) {
		if (!append(list, describe_analysis(ht_analysis_at(i))))
			Py_CLEAR(list);
	}
	return list;
}

PyObject *describe_common_params(void)
{
	PyObject *list = PyList_New(0);
	for (size_t i = 0; list && i < ht_n_common_params(); i++) {
		if (!append(list, describe_param(ht_common_param(i))))
			Py_CLEAR(list);
	}
	return list;
}

PyObject *describe_formats(void)
{
	PyObject *list = PyList_New(0);
	for (size_t i = 0; list && i < ht_n_formats(); i++) {
		const struct ht_format *format = ht_format_at(i);
		if (!append(list, Py_BuildValue("{s:s,s:s,s:s,s:N,s:N,s:N}", "name", format->name,
		                          "ending", format->ending, "type", format->type,
		                          "is_binary", PyBool_FromLong(format->is_binary),
		                          "is_stream", PyBool_FromLong(format->is_stream),
		                          "has_notes", PyBool_FromLong(format->has_notes))))
			Py_CLEAR(list);
	}
	return list;
}
