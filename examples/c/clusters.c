/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clusters.c - one question over several processes: clusters FOLDER
 *
 * Here one process plays two of them, one after the other; what travels between them is bytes.
 */
#include "example.h"

#define N_SHARES 2

/* What is said of traces and parts, on its way to the others. */
static struct bytes said[N_SHARES + 2];

static struct ht_sink sink_of(struct bytes *bytes)
{
	return (struct ht_sink){ keep_bytes, bytes };
}

/* Deal the files, open a share in each process, and describe it to the others. */
static void open_shares(ht_ctx *ctx, const char *folder, ht_set **own)
{
	ht_listing *listing;
	need(ctx, ht_listing_make(ctx, &folder, 1, NULL, &listing));
	size_t n = ht_listing_n(listing);
	uint64_t *sizes = (uint64_t *)calloc(n, sizeof(*sizes));
	size_t *shares = (size_t *)calloc(n, sizeof(*shares));
	const char **sources = (const char **)calloc(n, sizeof(*sources));
	if (sizes == NULL || shares == NULL || sources == NULL)
		exit(1);
	for (size_t i = 0; i < n; i++)
		sizes[i] = ht_listing_size_bytes(listing, i);
	need(ctx, ht_deal(ctx, sizes, n, N_SHARES, shares));
	for (size_t k = 0; k < N_SHARES; k++) {
		struct ht_sink sink = sink_of(&said[k]);
		size_t n_own = 0;
		for (size_t i = 0; i < n; i++)
			if (shares[i] == k)
				sources[n_own++] = ht_listing_source(listing, i);
		need(ctx, ht_open_listed(ctx, sources, n_own, NULL, &own[k]));
		need(ctx, ht_set_describe(ctx, own[k], false, &sink));
	}
	struct ht_sink found = sink_of(&said[N_SHARES]), missing = sink_of(&said[N_SHARES + 1]);
	const char *line = "rank9.json: the machine does not answer";
	need(ctx, ht_listing_describe(ctx, listing, &found));
	need(ctx, ht_missing_describe(ctx, &line, 1, &missing));
	ht_listing_free(listing);
	free(sizes);
	free(shares);
	free((void *)sources);
}

/* Each process makes the parts of its ranks, as bytes. */
static struct bytes make_parts(ht_ctx *ctx, ht_set *joined, const struct ht_query *query)
{
	struct bytes parts = { NULL, 0 };
	struct ht_sink sink = sink_of(&parts);
	ht_bundle *bundle;
	bool lacks;
	need(ctx, ht_bundle_lacks_facts(ctx, &joined, 1, query, &lacks));
	if (lacks)
		exit(1); /* describe the sets with facts, then */
	need(ctx, ht_bundle_make(ctx, &joined, 1, query, &bundle));
	need(ctx, ht_bundle_write(ctx, bundle, &sink));
	ht_bundle_free(bundle);
	return parts;
}

/* One of them brings all parts together. */
static ht_table *finish(ht_ctx *ctx, ht_set *joined, struct bytes *parts)
{
	ht_bundle *all, *other;
	ht_table *table;
	need(ctx, ht_bundle_read(ctx, parts[0].data, parts[0].n, &all));
	for (size_t k = 1; k < N_SHARES; k++) {
		need(ctx, ht_bundle_read(ctx, parts[k].data, parts[k].n, &other));
		need(ctx, ht_bundle_merge(ctx, all, other));
		ht_bundle_free(other);
	}
	printf("%s over all ranks\n", ht_bundle_name(all));
	need(ctx, ht_bundle_finish(ctx, all, &joined, 1, &table));
	ht_bundle_free(all);
	return table;
}

/* Ranks of one process alone, with a line about what is not there. */
static ht_table *run_alone(ht_ctx *ctx, ht_set *set, const struct ht_query *query)
{
	const char *line = "rank9.json: the machine does not answer";
	ht_bundle *bundle;
	ht_table *table;
	need(ctx, ht_bundle_make(ctx, &set, 1, query, &bundle));
	need(ctx, ht_bundle_add_missing(ctx, bundle, &line, 1));
	need(ctx, ht_bundle_table(ctx, bundle, &table));
	ht_bundle_free(bundle);
	return table;
}

int main(int argc, char **argv)
{
	struct ht_query query = { sizeof(query), "stragglers", NULL, 0, NULL };
	struct ht_sink out = { print_bytes, NULL };
	struct bytes parts[N_SHARES];
	ht_set *own[N_SHARES], *joined[N_SHARES];
	ht_ctx *ctx;
	if (argc < 2 || ht_ctx_new(&ctx) != HT_OK)
		return 2;
	open_shares(ctx, argv[1], own);
	struct ht_description all[N_SHARES + 2];
	for (size_t i = 0; i < N_SHARES + 2; i++)
		all[i] = (struct ht_description){ said[i].data, said[i].n };
	for (size_t k = 0; k < N_SHARES; k++) {
		need(ctx, ht_shares_join(ctx, own[k], k, all, N_SHARES + 2, &joined[k]));
		parts[k] = make_parts(ctx, joined[k], &query);
	}
	ht_table *tables[] = { finish(ctx, joined[0], parts), run_alone(ctx, own[0], &query) };
	for (size_t i = 0; i < 2; i++) {
		need(ctx, ht_render(ctx, tables[i], "text", NULL, &out));
		ht_table_free(tables[i]);
	}
	for (size_t k = 0; k < N_SHARES; k++) {
		free(parts[k].data);
		ht_close(joined[k]);
		ht_close(own[k]);
	}
	for (size_t i = 0; i < N_SHARES + 2; i++)
		free(said[i].data);
	ht_ctx_free(ctx);
	return 0;
}
