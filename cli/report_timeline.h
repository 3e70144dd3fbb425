/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_timeline.h - the timeline of the busiest step, as JSON for the page.
 *
 *   {"rank":2,"step":4,"from_ns":0,"length_ns":150000000,"busy_ns":140000000,
 *    "ranks":[{"rank":0,"names":["..."],"tracks":[{"name":"GPU 0 · stream 7","device":0,
 *      "spans":[[lane,start,length,name,n,wait,"compute"]]}]}]}
 *
 * Starts are from from_ns; a span may begin before it. step is -1 when the whole recording is shown.
 */
#ifndef CLI_REPORT_TIMELINE_H
#define CLI_REPORT_TIMELINE_H

#include "report.h"
#include "script_json.h"

/* Writes null when there is nothing to draw. */
void report_write_timeline(ht_ctx *ctx, struct script_json *json, const struct report *report);

#endif
