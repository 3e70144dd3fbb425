/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_runs.c - the runs and the stores of many (Runs in web/src/model.ts), and looking for new ones.
 */
#include "route.h"
#include "server.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_SPANS 1024

static void put(struct serve_json *json, const char *key, const char *text)
{
	serve_json_key(json, key);
	serve_json_str(json, text);
}

static void put_count(struct serve_json *json, const char *key, uint64_t value)
{
	serve_json_key(json, key);
	serve_json_u64(json, value);
}

static const char *span_name(int64_t span, char name[24])
{
	if (span > 0)
		snprintf(name, 24, "%" PRId64, span);
	else
		snprintf(name, 24, "default");
	return name;
}

/* One file is one worker's recording; it is listed with it. */
static void put_worker(struct serve_json *json, const struct file *file, bool has_spans)
{
	char span[24];
	serve_json_open(json, '{');
	put(json, "name", file->worker);
	put(json, "span", has_spans ? span_name(file->span, span) : "");
	serve_json_key(json, "rank");
	if (file->is_shown && file->rank >= 0)
		serve_json_i64(json, file->rank);
	else
		serve_json_null(json);
	put(json, "vendor", file->vendor);
	put(json, "device", file->device);
	serve_json_key(json, "events");
	if (file->state == FILE_READY)
		serve_json_u64(json, file->n_events);
	else
		serve_json_null(json);
	serve_json_key(json, "files");
	serve_json_open(json, '[');
	serve_json_open(json, '{');
	put(json, "path", file->shown);
	put_count(json, "bytes", file->seen.size_bytes);
	put_count(json, "done", file->done_bytes);
	put(json, "state", file_state_name(file->state));
	put(json, "error", file->error);
	serve_json_close(json, '}');
	serve_json_close(json, ']');
	serve_json_close(json, '}');
}

static void put_run(struct serve_json *json, const struct run *run)
{
	int64_t spans[MAX_SPANS];
	size_t n_spans = run_spans(run, spans, MAX_SPANS);
	char name[24];
	serve_json_open(json, '{');
	put(json, "id", run->id);
	put(json, "name", run->name);
	put(json, "state", run_state(run));
	serve_json_key(json, "spans");
	serve_json_open(json, '[');
	for (size_t i = 0; n_spans > 1 && i < n_spans; i++)
		serve_json_str(json, span_name(spans[i], name));
	serve_json_close(json, ']');
	serve_json_key(json, "workers");
	serve_json_open(json, '[');
	for (size_t i = 0; i < run->n_files; i++)
		put_worker(json, run->files[i], n_spans > 1);
	serve_json_close(json, ']');
	serve_json_key(json, "health");
	serve_json_open(json, '{');
	put(json, "level", run->health);
	serve_json_key(json, "notes");
	serve_json_open(json, '[');
	for (size_t i = 0; i < run->n_notes; i++)
		serve_json_str(json, run->notes[i]);
	serve_json_close(json, ']');
	serve_json_close(json, '}');
	put_count(json, "generation", run->now != NULL ? run->now->generation : 0);
	serve_json_close(json, '}');
}

static void put_history(struct serve_json *json, const struct history *history)
{
	serve_json_open(json, '{');
	put(json, "id", history->id);
	put(json, "name", history->name);
	put_count(json, "generation", history->generation);
	serve_json_close(json, '}');
}

enum ht_status serve_runs(struct serve_request *request, struct serve_response *response)
{
	struct server *server = request->server;
	struct runs *runs = &server->runs;
	struct serve_json json = { .ctx = request->ctx, .out = &response->body };
	pthread_mutex_lock(&runs->lock);
	serve_json_open(&json, '{');
	put(&json, "logdir", server->options.sources[0]);
	put_count(&json, "generation", runs->generation);
	serve_json_key(&json, "scanning");
	serve_json_bool(&json, runs->is_scanning);
	serve_json_key(&json, "runs");
	serve_json_open(&json, '[');
	for (size_t i = 0; i < runs->n; i++)
		put_run(&json, runs->list[i]);
	serve_json_close(&json, ']');
	serve_json_key(&json, "histories");
	serve_json_open(&json, '[');
	for (size_t i = 0; i < runs->n_histories; i++)
		put_history(&json, runs->histories[i]);
	serve_json_close(&json, ']');
	serve_json_close(&json, '}');
	pthread_mutex_unlock(&runs->lock);
	serve_puts(&response->body, "\n");
	return HT_OK;
}

enum ht_status serve_rescan(struct serve_request *request, struct serve_response *response)
{
	struct runs *runs = &request->server->runs;
	pthread_mutex_lock(&runs->lock);
	runs->wants_rescan = runs->forgets_gone = runs->is_scanning = true;
	runs_touch(runs);
	uint64_t generation = runs->generation;
	pthread_mutex_unlock(&runs->lock);
	serve_printf(&response->body, "{\"generation\":%" PRIu64 "}\n", generation);
	response->status = 202;
	return HT_OK;
}
