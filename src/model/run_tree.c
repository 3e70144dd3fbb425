/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_tree.c - see run_tree.h.
 */
#include "model/run_tree.h"

#include <stdlib.h>
#include <string.h>

#define OUTPUT "ASCEND_PROFILER_OUTPUT"

/* A piece of a path. */
struct piece {
	const char *text;
	size_t n;
};

static bool ends_with(struct piece piece, const char *end)
{
	size_t n = strlen(end);
	return piece.n > n && !memcmp(piece.text + piece.n - n, end, n);
}

/* The last part of a path, and what stands before it. */
static struct piece last_part(struct piece *path)
{
	while (path->n > 1 && path->text[path->n - 1] == '/')
		path->n--;
	size_t start = path->n;
	while (start && path->text[start - 1] != '/')
		start--;
	struct piece part = { path->text + start, path->n - start };
	path->n = start;
	return part;
}

/* Cut the digits behind the last sep off; a point among them belongs to them when dots are allowed. */
static struct piece cut_stamp(struct piece *name, char sep, bool dots)
{
	size_t i = name->n, n_points = 0;
	while (i && ((name->text[i - 1] >= '0' && name->text[i - 1] <= '9') ||
	                    (dots && name->text[i - 1] == '.' && i < name->n && !n_points++)))
		i--;
	if (i < 2 || i == name->n || name->text[i - 1] != sep)
		return (struct piece){ "", 0 };
	struct piece stamp = { name->text + i, name->n - i };
	name->n = i - 1;
	return stamp;
}

static bool is_file_name(struct piece name)
{
	static const char *const ends[] = { ".json", ".jsonl", ".gz", ".zst", ".csv", ".db",
		".sqlite", ".pickle", ".pkl", ".html", ".pftrace", ".perfetto-trace" };
	for (size_t i = 0; i < HT_COUNT(ends); i++)
		if (ends_with(name, ends[i]))
			return true;
	/* a part of a file: "x.sqlite#17" */
	size_t n = name.n;
	while (n && name.text[n - 1] >= '0' && name.text[n - 1] <= '9')
		n--;
	if (n && n < name.n && name.text[n - 1] == '#')
		return is_file_name((struct piece){ name.text, n - 1 });
	return name.n == 1 && name.text[0] == '-'; /* standard input */
}

struct found {
	struct piece dir, worker, stamp;
	bool is_npu, is_known;
};

static struct found look_at(const char *path)
{
	static const char *const npu_ends[] = { "_ascend_pt", "_ascend_ms" };
	static const char *const gpu_ends[] = { ".pt.trace.json.gz", ".pt.trace.json.zst",
		".pt.trace.json" };
	struct found found = { .dir = { path, strlen(path) } };
	found.worker = last_part(&found.dir);
	struct piece around = found.dir, part = last_part(&around);
	bool inside = part.n == strlen(OUTPUT) && !memcmp(part.text, OUTPUT, part.n);
	bool is_output = found.worker.n == strlen(OUTPUT) &&
	                 !memcmp(found.worker.text, OUTPUT, found.worker.n);
	if (inside || is_output) {
		found.dir = inside ? around : found.dir;
		found.worker = last_part(&found.dir);
		found.is_npu = true;
	}
	for (size_t i = 0; i < HT_COUNT(npu_ends); i++)
		if (ends_with(found.worker, npu_ends[i])) {
			found.worker.n -= strlen(npu_ends[i]);
			found.is_npu = true;
			break;
		}
	/* a rank that is no file is a directory, and only Ascend's are */
	found.is_npu |= found.worker.n && !is_file_name(found.worker);
	found.is_known = found.is_npu;
	if (found.is_npu)
		found.stamp = cut_stamp(&found.worker, '_', true);
	for (size_t i = 0; !found.is_npu && i < HT_COUNT(gpu_ends); i++)
		if (ends_with(found.worker, gpu_ends[i])) {
			found.worker.n -= strlen(gpu_ends[i]);
			found.stamp = cut_stamp(&found.worker, '.', false);
			found.is_known = true;
			break;
		}
	return found;
}

static const char *text_of(struct ht_arena *arena, struct piece piece)
{
	return ht_arena_strndup(arena, piece.text, piece.n);
}

/* Length of what all directories have in common, up to a slash. */
static size_t common_start(const struct found *all, size_t n)
{
	size_t common = n ? all[0].dir.n : 0;
	for (size_t i = 1; i < n; i++) {
		size_t k = 0;
		while (k < common && k < all[i].dir.n && all[i].dir.text[k] == all[0].dir.text[k])
			k++;
		common = k;
	}
	while (common && all[0].dir.text[common - 1] != '/')
		common--;
	return common;
}

/* The directory behind what all have in common; its own name when that is nothing. */
static const char *run_name(struct ht_arena *arena, struct piece dir, size_t common)
{
	struct piece rest = { dir.text + common, dir.n - common };
	while (rest.n && rest.text[rest.n - 1] == '/')
		rest.n--;
	if (rest.n)
		return text_of(arena, rest);
	struct piece part = last_part(&dir);
	return part.n ? text_of(arena, part) : ".";
}

/* host_12 is process 12 of host. */
static bool split_worker(struct ht_arena *arena, struct ht_run_place *place)
{
	struct piece node = { place->worker, strlen(place->worker) };
	struct piece number = cut_stamp(&node, '_', false);
	place->process = number.n && number.n < 10 ? strtol(number.text, NULL, 10) : HT_NO_I64;
	place->node = place->process == HT_NO_I64 ? place->worker : text_of(arena, node);
	return place->node != NULL;
}

static int compare_places(const void *x, const void *y)
{
	const struct ht_run_place *a = *(struct ht_run_place *const *)x,
	                          *b = *(struct ht_run_place *const *)y;
	int by = strcmp(a->run, b->run);
	by = by ? by : strcmp(a->worker, b->worker);
	return by ? by : strcmp(a->stamp, b->stamp);
}

static bool number_spans(struct ht_run_place *places, size_t n, struct ht_arena *arena)
{
	struct ht_run_place **order = ht_arena_alloc(arena, (n + 1) * sizeof *order);
	if (!order)
		return false;
	for (size_t i = 0; i < n; i++)
		order[i] = &places[i];
	qsort(order, n, sizeof *order, compare_places);
	int64_t span = 0;
	for (size_t i = 0; i < n; i++) {
		bool same = i && !strcmp(order[i]->run, order[i - 1]->run) &&
		            !strcmp(order[i]->worker, order[i - 1]->worker);
		span = same ? span : 0;
		if (order[i]->stamp[0])
			order[i]->span = ++span;
	}
	return true;
}

enum ht_status ht_run_tree_place(const char *const *paths, size_t n, struct ht_arena *arena,
        const struct ht_run_place **ret_places)
{
	struct ht_run_place *places = ht_arena_alloc(arena, (n + 1) * sizeof *places);
	struct found *found = ht_arena_alloc(arena, (n + 1) * sizeof *found);
	if (!places || !found)
		return HT_NOMEM;
	for (size_t i = 0; i < n; i++)
		found[i] = look_at(paths[i]);
	size_t common = common_start(found, n);
	for (size_t i = 0; i < n; i++) {
		places[i] = (struct ht_run_place){ .dir = text_of(arena, found[i].dir),
			.run = run_name(arena, found[i].dir, common),
			.worker = text_of(arena, found[i].worker),
			.stamp = text_of(arena, found[i].stamp),
			.target = found[i].is_npu ? "npu" : "gpu",
			.is_known = found[i].is_known };
		if (!places[i].dir || !places[i].run || !places[i].worker || !places[i].stamp ||
		        !split_worker(arena, &places[i]))
			return HT_NOMEM;
	}
	if (!number_spans(places, n, arena))
		return HT_NOMEM;
	*ret_places = places;
	return HT_OK;
}

enum ht_status ht_run_tree_find(const struct ht_roster *roster, struct ht_arena *arena,
        const struct ht_run_place **ret_places)
{
	const char **paths = ht_arena_alloc(arena, (roster->n + 1) * sizeof *paths);
	if (!paths)
		return HT_NOMEM;
	for (size_t i = 0; i < roster->n; i++)
		paths[i] = roster->ranks[i].path;
	return ht_run_tree_place(paths, roster->n, arena, ret_places);
}
