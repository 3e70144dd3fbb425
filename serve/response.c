/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response.c - see response.h.
 */
#include "response.h"

#include <stdarg.h>
#include <stdio.h>

enum ht_status serve_refuse(
        struct serve_response *response, int status, const char *hint, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	vsnprintf(response->message, sizeof(response->message), format, list);
	va_end(list);
	snprintf(response->hint, sizeof(response->hint), "%s", hint != NULL ? hint : "");
	response->status = status;
	return HT_USAGE;
}
