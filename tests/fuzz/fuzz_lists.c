/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_lists.c - any bytes as a list of files: which are found, in what order, and as which ranks.
 *
 * The list lies in a folder with a few traces and a folder of them; lines name these, patterns fit them, and nothing else: an input that
 * could name a file outside is passed over. As "@LIST" and as a file that looks like a list it means the same. What is listed is
 * found again by its own names.
 */
#include "fuzz.h"
#include "holotrace/cluster.h"

#include <sys/stat.h>

static const char lists_trace[] =
        "{\"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"pid\": 1, \"tid\": 1,"
        " \"ts\": 1, \"dur\": 1}]}\n";
static const char *const lists_files[] = { "a.json", "b.pt.trace.json", "rank3.json",
	"sub/rank0.json", "sub/rank1.json" };
static char lists_paths[HT_COUNT(lists_files)][FUZZ_PATH], lists_sub[FUZZ_PATH];

static void lists_done(void)
{
	for (size_t i = 0; i < HT_COUNT(lists_files); i++)
		(void)unlink(lists_paths[i]);
	(void)rmdir(lists_sub);
}

static void lists_prepare(void)
{
	(void)fuzz_file("", 0, NULL, 0);
	snprintf(lists_sub, FUZZ_PATH, "%.31s/sub", fuzz_folder);
	FUZZ_REQUIRE(!mkdir(lists_sub, 0700));
	for (size_t i = 0; i < HT_COUNT(lists_files); i++) {
		snprintf(lists_paths[i], FUZZ_PATH, "%.31s/%s", fuzz_folder, lists_files[i]);
		FILE *file = fopen(lists_paths[i], "w");
		FUZZ_REQUIRE(file && fwrite(lists_trace, sizeof lists_trace - 1, 1, file) == 1);
		fclose(file);
	}
	atexit(lists_done);
}

/* Could a line lead out of the folder? Slashes stand behind "sub" only, and nothing goes up. */
static bool lists_lead_out(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (data[i] == '/' && (i < 3 || memcmp(data + i - 3, "sub", 3) ||
		                              (i > 3 && data[i - 4] > ' ' && data[i - 4] != '=')))
			return true;
		if (data[i] == '.' && i && data[i - 1] == '.')
			return true;
	}
	return false;
}

/* The files of a source, a line each; false with a reason. */
static bool lists_make(const char *source, struct fuzz_text *ret_text)
{
	ht_ctx *ctx = fuzz_common_ctx();
	ht_listing *listing;
	if (ht_listing_make(ctx, &source, 1, NULL, &listing) != HT_OK) {
		FUZZ_REQUIRE(*ht_error(ctx)->message);
		return false;
	}
	for (size_t i = 0; i < ht_listing_n(listing); i++) {
		const char *found = ht_listing_source(listing, i);
		FUZZ_REQUIRE(strchr(found, '='));
		fuzz_append(ret_text, found, strlen(found) + 1);
	}
	ht_listing_free(listing);
	return true;
}

/* What was listed can be opened as it stands. */
static void lists_open(const struct fuzz_text *found)
{
	const char *sources[64];
	size_t n = 0;
	for (const char *at = found->bytes; n < 64 && at < found->bytes + found->n;
	        at += strlen(at) + 1)
		if (!strchr(at, '-')) /* standard input */
			sources[n++] = at;
	ht_ctx *ctx = fuzz_ctx(1);
	struct ht_open_options options = { .struct_size = sizeof options, .no_cache = true };
	ht_set *set;
	if (n && ht_open_listed(ctx, sources, n, &options, &set) == HT_OK)
		ht_close(set);
	else if (n)
		FUZZ_REQUIRE(*ht_error(ctx)->message);
	fuzz_ctx_done(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char source[FUZZ_PATH + 1];
	struct fuzz_text found = { 0 }, again = { 0 };
	if (!*lists_sub)
		lists_prepare();
	if (lists_lead_out(data, size))
		return 0;
	const char *path = fuzz_file("", 0, data, size);
	snprintf(source, sizeof source, "@%s", path);
	bool is_found = lists_make(source, &found);
	if (fuzz_is_chosen(data, size, FUZZ_ONE_IN)) {
		FUZZ_REQUIRE(lists_make(source, &again) == is_found && fuzz_same(&found, &again));
		again.n = 0;
		(void)lists_make(path, &again);
		if (is_found)
			lists_open(&found);
	}
	free(found.bytes);
	free(again.bytes);
	return 0;
}
