/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sections_test.c - a kind of store that is no trace is allocated, freed, checked, cached and dumped by the
 * same code: a graph of nodes with names and edges.
 */
#include "store/sections.h"

#include "base/mem.h"
#include "store/cache.h"
#include "store/cache_file.h"
#include "store/check.h"
#include "base/emit.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct node {
	uint64_t id;
	uint16_t name, pad[3]; /* place in names */
};

struct graph {
	const struct node *nodes;
	size_t n_nodes;
	const uint32_t *edges; /* pairs of nodes, from lower to higher */
	size_t n_edges;
	const char *names;
	size_t n_names;
};

static bool check_nodes(const void *store, void *facts, size_t first, size_t n)
{
	const struct graph *g = store;
	bool sound = true;
	(void)facts;
	for (size_t i = first; i < first + n; i++)
		sound &= g->nodes[i].name < g->n_names;
	return sound;
}

static bool check_edges(const void *store, void *facts, size_t first, size_t n)
{
	const struct graph *g = store;
	bool sound = true;
	(*(atomic_int *)facts)++;
	for (size_t i = first; i < first + n; i++)
		sound &= g->edges[i] < g->n_nodes;
	return sound;
}

#define check_names NULL

static enum ht_status begin(ht_ctx *ctx, const void *store, void **ret_facts)
{
	const struct graph *g = store;
	if (g->n_edges % 2 || !g->n_names)
		return HT_OK;
	*ret_facts = ht_mem_zalloc(ctx->mem, sizeof(atomic_int));
	return *ret_facts ? HT_OK : ht_fail_nomem(ctx);
}

static enum ht_status end(ht_ctx *ctx, const void *store, void *facts, bool *sound)
{
	const struct graph *g = store;
	*sound = *sound && !g->names[g->n_names - 1];
	for (size_t i = 0; *sound && i < g->n_edges; i += 2)
		*sound = g->edges[i] < g->edges[i + 1];
	ht_mem_free(ctx->mem, facts, sizeof(atomic_int));
	return HT_OK;
}

static const struct ht_section_info list[] = {
	HT_SECTION_INFO(struct graph, nodes, struct node),
	HT_SECTION_INFO(struct graph, edges, uint32_t),
	HT_SECTION_INFO(struct graph, names, char),
};

static const struct ht_sections graph_sections = {
	.name = "graph", .version = 1, .list = list, .n = HT_COUNT(list), .begin = begin, .end = end
};

struct fixture {
	ht_ctx *ctx;
	char dir[64], source[96], file[PATH_MAX];
	struct graph graph;
	struct ht_cache_key key;
};

#define N_NODES 100000

static void make_graph(struct fixture *f)
{
	struct node *nodes = ht_mem_zalloc(f->ctx->mem, N_NODES * sizeof *nodes);
	uint32_t *edges = ht_mem_zalloc(f->ctx->mem, 2 * N_NODES * sizeof *edges);
	char *names = ht_mem_zalloc(f->ctx->mem, 6);
	assert_true(nodes && edges && names);
	memcpy(names, "ab\0cd", 6);
	for (uint32_t i = 0; i < N_NODES; i++) {
		nodes[i] = (struct node){ .id = i * UINT64_C(7), .name = i % 2 ? 3 : 0 };
		edges[2 * i] = i / 2;
		edges[2 * i + 1] = i ? i : 1;
	}
	f->graph = (struct graph){ nodes, N_NODES, edges, 2 * N_NODES, names, 6 };
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	assert_non_null(f);
	assert_int_equal(ht_ctx_new(&f->ctx), HT_OK);
	ht_ctx_set_jobs(f->ctx, 3);
	snprintf(f->dir, sizeof f->dir, "/tmp/holotrace-sections-test-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->source, sizeof f->source, "%s/source", f->dir);
	int fd = open(f->source, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "graph", 5), 5);
	close(fd);
	make_graph(f);
	assert_int_equal(ht_cache_key_make(f->ctx, f->source, 0, false, &f->key), HT_OK);
	assert_true(ht_cache_path(f->dir, &f->key, &graph_sections, f->file, sizeof f->file));
	*state = f;
	return 0;
}

/* Freeing is tested here: nothing may be left. */
static int teardown(void **state)
{
	struct fixture *f = *state;
	uint64_t now, peak;
	ht_sections_free(&graph_sections, &f->graph, f->ctx->mem);
	ht_ctx_memory(f->ctx, &now, &peak);
	assert_int_equal(now, 0);
	ht_ctx_free(f->ctx);
	unlink(f->source);
	unlink(f->file);
	assert_int_equal(rmdir(f->dir), 0);
	free(f);
	return 0;
}

static bool is_sound(struct fixture *f)
{
	bool sound;
	assert_int_equal(
	        ht_sections_check(f->ctx, &graph_sections, &f->graph, NULL, NULL, &sound), HT_OK);
	return sound;
}

static bool store(struct fixture *f)
{
	bool stored;
	assert_int_equal(ht_cache_store(f->ctx, f->dir, &f->key, &graph_sections, &f->graph,
	                         1 << 30, &stored),
	        HT_OK);
	return stored;
}

static bool load(struct fixture *f, const struct ht_sections *kind, struct graph *ret_graph,
        struct ht_map *ret_map)
{
	bool hit;
	*ret_graph = (struct graph){ 0 };
	assert_int_equal(
	        ht_cache_load(f->ctx, f->dir, &f->key, kind, ret_graph, ret_map, &hit), HT_OK);
	return hit;
}

static void parts_cover_everything_once(void **state)
{
	struct fixture *f = *state;
	size_t n = ht_sections_n_parts(&graph_sections, &f->graph), n_bytes = 0;
	const char *next = NULL;
	const struct ht_section_info *info = NULL;
	for (size_t i = 0; i < n; i++) {
		struct ht_section_part part = ht_sections_part(&graph_sections, &f->graph, i);
		if (part.info == info)
			assert_ptr_equal(part.bytes, next);
		else
			assert_int_equal(part.first, 0);
		assert_true(part.n && part.n * part.info->elem_bytes <= HT_PART_BYTES);
		info = part.info;
		next = part.bytes + part.n * part.info->elem_bytes;
		n_bytes += part.n * part.info->elem_bytes;
	}
	assert_int_equal(n_bytes, N_NODES * (sizeof(struct node) + 2 * sizeof(uint32_t)) + 6);
}

static void checks_see_every_element(void **state)
{
	struct fixture *f = *state;
	uint32_t *edges = (uint32_t *)(uintptr_t)f->graph.edges;
	struct node *nodes = (struct node *)(uintptr_t)f->graph.nodes;
	assert_true(is_sound(f));
	for (size_t i = 1; i < 2 * N_NODES; i += 9973) {
		uint32_t before = edges[i];
		edges[i] = N_NODES;
		assert_false(is_sound(f));
		edges[i] = before;
	}
	for (size_t i = 0; i < N_NODES; i += 9973) {
		nodes[i].name += 6;
		assert_false(is_sound(f));
		nodes[i].name -= 6;
	}
	f->graph.n_edges--;
	assert_false(is_sound(f));
	f->graph.n_edges++;
	edges[2] = edges[3]; /* all exist; only the whole tells */
	assert_false(is_sound(f));
}

static void is_cached(void **state)
{
	struct fixture *f = *state;
	struct graph graph;
	struct ht_map map;
	assert_false(load(f, &graph_sections, &graph, &map));
	assert_true(store(f));
	assert_true(load(f, &graph_sections, &graph, &map));
	assert_int_equal(graph.n_nodes, N_NODES);
	assert_memory_equal(graph.nodes, f->graph.nodes, N_NODES * sizeof *graph.nodes);
	assert_memory_equal(graph.edges, f->graph.edges, 2 * N_NODES * sizeof *graph.edges);
	assert_memory_equal(graph.names, "ab\0cd", 6);
	/* cut from outside while it is in use */
	assert_int_equal(truncate(f->file, 0), 0);
	assert_memory_equal(graph.edges, f->graph.edges, 2 * N_NODES * sizeof *graph.edges);
	ht_map_close(&map);
	assert_false(load(f, &graph_sections, &graph, &map));
	assert_null(graph.nodes);
}

/* Another kind, another version or another layout is another store. */
static void kinds_are_kept_apart(void **state)
{
	struct fixture *f = *state;
	struct graph graph;
	struct ht_map map;
	char path[PATH_MAX], other[PATH_MAX];
	assert_true(store(f));
	struct ht_sections kind = graph_sections;
	kind.version = 2;
	assert_false(load(f, &kind, &graph, &map));
	struct ht_section_info changed[HT_COUNT(list)];
	memcpy(changed, list, sizeof list);
	changed[1].name = "arcs";
	kind = graph_sections;
	kind.list = changed;
	assert_false(load(f, &kind, &graph, &map));
	/* a file of one kind under the name of another */
	kind = graph_sections;
	kind.name = "tree";
	assert_true(ht_cache_path(f->dir, &f->key, &graph_sections, path, sizeof path));
	assert_true(ht_cache_path(f->dir, &f->key, &kind, other, sizeof other));
	assert_string_not_equal(path, other);
	assert_int_equal(rename(path, other), 0);
	assert_false(load(f, &kind, &graph, &map));
	assert_int_equal(rename(other, path), 0);
	assert_true(load(f, &graph_sections, &graph, &map));
	ht_map_close(&map);
	assert_true(ht_sections_layout(&graph_sections) != ht_sections_layout(&ht_trace_sections));
}

static enum ht_status collect(void *user, const void *bytes, size_t n)
{
	char *text = user;
	strncat(text, bytes, n);
	return HT_OK;
}

static void is_dumped(void **state)
{
	struct fixture *f = *state;
	const struct node node = { 1, 3, { 0 } };
	const uint32_t edges[] = { 0, 258 };
	const struct graph small = { &node, 1, edges, 2, "", 0 };
	char text[512] = "";
	struct ht_emit emit;
	assert_int_equal(ht_emit_init(&emit, f->ctx, collect, text), HT_OK);
	ht_sections_dump(&graph_sections, &small, &emit);
	assert_int_equal(ht_emit_done(&emit), HT_OK);
	assert_string_equal(text, "section nodes 1\n01000000000000000300000000000000\n"
	                          "section edges 2\n00000000 02010000\nsection names 0\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(parts_cover_everything_once),
		TEST(checks_see_every_element),
		TEST(is_cached),
		TEST(kinds_are_kept_apart),
		TEST(is_dumped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
