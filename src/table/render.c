/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render.c - from a format's name to its renderer.
 */
#include "table/render.h"

#include "holotrace/own.h"

#include "base/mem.h"
#include "base/options.h"
#include "table/escape.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

enum { BINARY = 1, STREAM = 2, NOTES = 4 };

struct renderer {
	struct ht_format format;
	enum ht_status (*render)(
	        struct ht_out *out, const ht_table *table, const struct ht_render_options *options);
};

static const struct renderer renderers[] = {
#define RENDERER(x, ending, type, traits)                                                          \
	{ { #x, ending, type, ((traits)&BINARY) != 0, ((traits)&STREAM) != 0,                      \
		  ((traits)&NOTES) != 0 },                                                         \
		ht_render_##x },
#include "table/renderers.def"
#undef RENDERER
};

size_t ht_n_formats(void)
{
	return HT_COUNT(renderers);
}

const struct ht_format *ht_format_at(size_t i)
{
	return i < HT_COUNT(renderers) ? &renderers[i].format : NULL;
}

static const struct renderer *find(const char *name)
{
	for (size_t i = 0; name && i < HT_COUNT(renderers); i++)
		if (!strcmp(renderers[i].format.name, name))
			return &renderers[i];
	return NULL;
}

const struct ht_format *ht_format_find(const char *name)
{
	const struct renderer *renderer = find(name);
	return renderer ? &renderer->format : NULL;
}

static enum ht_status unknown_format(ht_ctx *ctx, const char *format)
{
	char names[128] = "";
	size_t used = 0;
	for (size_t i = 0; i < HT_COUNT(renderers) && used < sizeof names; i++)
		used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
		        renderers[i].format.name);
	return ht_fail(ctx, HT_USAGE, NULL, -1, NULL, "unknown format \"%s\"; formats are %s",
	        format ? format : "", names);
}

static enum ht_status render(ht_ctx *ctx, const ht_table *table, const char *format,
        const struct ht_render_options *options, const struct ht_sink *sink, bool for_page)
{
	struct ht_render_options taken;
	ht_error_clear(ctx);
	HT_TRY(HT_OPTIONS_TAKE(ctx, ht_render_options, safe_csv, options, &taken));
	const struct renderer *renderer = find(format);
	if (!renderer)
		return unknown_format(ctx, format);
	struct ht_out out;
	ht_out_init(&out, ctx, sink);
	out.for_page = for_page;
	HT_TRY(renderer->render(&out, table, &taken));
	return ht_out_finish(&out);
}

enum ht_status ht_render(ht_ctx *ctx, const ht_table *table, const char *format,
        const struct ht_render_options *options, const struct ht_sink *sink)
{
	return render(ctx, table, format, options, sink, false);
}

enum ht_status ht_render_for_page(ht_ctx *ctx, const ht_table *table, const char *format,
        const struct ht_render_options *options, const struct ht_sink *sink)
{
	return render(ctx, table, format, options, sink, true);
}

static enum ht_status write_text(struct ht_out *out, const char *text, const char *format)
{
	struct ht_vec clean = { 0 };
	if (!strcmp(format, "html")) {
		ht_out_html(out, text);
	} else if (!strcmp(format, "md")) {
		ht_out_md(out, text);
	} else if (!strcmp(format, "json")) {
		ht_out_json(out, text);
	} else if (!strcmp(format, "text")) {
		if (!ht_clean(out->ctx->mem, &clean, text, strlen(text)))
			return ht_fail_nomem(out->ctx);
		ht_out_bytes(out, clean.data, clean.n);
		ht_vec_free(out->ctx->mem, &clean, 1);
	} else {
		return ht_fail(out->ctx, HT_USAGE, NULL, -1, NULL,
		        "a text can be text, json, md or html, not \"%s\"", format);
	}
	return ht_out_finish(out);
}

enum ht_status ht_escape(
        ht_ctx *ctx, const char *text, const char *format, const struct ht_sink *sink)
{
	ht_error_clear(ctx);
	size_t n = strlen(text);
	char *repaired = NULL;
	if (!ht_utf8_valid(text, n)) {
		repaired = ht_mem_alloc(ctx->mem, 3 * n + 1);
		if (!repaired)
			return ht_fail_nomem(ctx);
		repaired[ht_utf8_repair(text, n, repaired)] = '\0';
		text = repaired;
	}
	struct ht_out out;
	ht_out_init(&out, ctx, sink);
	enum ht_status status = write_text(&out, text, format);
	ht_mem_free(ctx->mem, repaired, 3 * n + 1);
	return status;
}
