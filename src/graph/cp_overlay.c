/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_overlay.c - see cp_overlay.h.
 */
#include "graph/cp_overlay.h"

#include "graph/cp_links.h"
#include "graph/cp_walk.h"
#include "model/policy.h"
#include "store/columns.h"

#include <string.h>

void ht_cp_mark(struct ht_cp_drawing *d, uint32_t row)
{
	if (row == HT_NONE)
		return;
	d->n_critical += !d->critical[row];
	d->critical[row] = 1;
}

/* A viewer binds an arrow to the slice around its time, and an end is outside of its slice. */
static int64_t inside(const struct ht_trace *t, uint32_t row, int64_t time_ns)
{
	int64_t last = ht_end_ns(t, row) - (t->dur_ns[row] > 0);
	return time_ns < t->ts_ns[row] ? t->ts_ns[row] : time_ns > last ? last : time_ns;
}

void ht_cp_draw(struct ht_cp_drawing *d, struct ht_arrow arrow)
{
	arrow.from_ns = inside(d->trace, arrow.from_row, arrow.from_ns);
	arrow.to_ns = inside(d->trace, arrow.to_row, arrow.to_ns);
	if (!HT_VEC_PUSH(d->run->ctx->mem, &d->arrows, struct ht_arrow, arrow))
		d->no_memory = true;
}

/* ---- the path ---- */

/* From one piece to the next where they stand on different tracks; a delay is the arrow itself. */
static void draw_path(struct ht_cp_drawing *d, const struct ht_cp_piece *pieces, size_t n)
{
	const struct ht_trace *t = d->trace;
	for (size_t i = 0; i < n; i++) {
		const struct ht_cp_piece *piece = &pieces[i];
		ht_cp_mark(d, piece->row);
		ht_cp_mark(d, piece->from_row);
		if (d->all)
			continue;
		struct ht_arrow arrow = { .from_ns = piece->start_ns,
			.to_ns = piece->end_ns,
			.weight_ns = piece->end_ns - piece->start_ns,
			.critical = true };
		if (piece->from_row != HT_NONE) {
			arrow.from_row = piece->from_row;
			arrow.to_row = piece->row;
			arrow.type = ht_cp_type_name(piece->type);
			ht_cp_draw(d, arrow);
			continue;
		}
		const struct ht_cp_piece *before = i ? &pieces[i - 1] : piece;
		if (before->row == HT_NONE || piece->row == HT_NONE ||
		        before->from_row != HT_NONE ||
		        t->track[before->row] == t->track[piece->row])
			continue;
		arrow.from_row = before->row;
		arrow.to_row = piece->row;
		arrow.to_ns = piece->start_ns;
		arrow.weight_ns = 0;
		bool from_gpu = ht_kind_is_device(t->kind[before->row]);
		arrow.type = ht_cp_type_name(from_gpu ? HT_CP_SYNC : HT_CP_DEPENDENCY);
		ht_cp_draw(d, arrow);
	}
}

static enum ht_status draw_links(struct ht_cp_drawing *d, struct ht_cp_clock *clock)
{
	struct ht_cp_link *links;
	size_t n;
	HT_TRY(ht_cp_links_make(clock, &links, &n));
	const struct ht_trace *t = d->trace;
	for (size_t i = 0; i < n; i++) {
		const struct ht_cp_link *link = &links[i];
		ht_cp_draw(d,
		        (struct ht_arrow){ .from_row = link->from,
		                .to_row = link->to,
		                .from_ns = link->from_end ? ht_end_ns(t, link->from)
		                                          : t->ts_ns[link->from],
		                .to_ns = link->to_end ? ht_end_ns(t, link->to) : t->ts_ns[link->to],
		                .weight_ns = link->weight_ns,
		                .type = ht_cp_type_name(link->type),
		                .critical = link->slack_ns == 0 });
	}
	return HT_OK;
}

static enum ht_status draw_windows(struct ht_cp_drawing *d, struct ht_cp_model *m)
{
	struct ht_cp_clock clock;
	HT_TRY(ht_cp_clock_make(d->run, m, HT_CP_BACKWARD, &clock));
	enum ht_status status = HT_OK;
	struct ht_vec path = { 0 };
	for (size_t k = 0; k < m->n_windows && status == HT_OK; k++) {
		status = ht_cp_walk(d->run, m, &m->windows[k], &path);
		if (status != HT_OK)
			break;
		draw_path(d, path.data, path.n);
		if (d->all)
			status = ht_cp_slack_find(&clock, &m->windows[k]);
		if (d->all && status == HT_OK)
			status = draw_links(d, &clock);
	}
	ht_vec_free(d->run->ctx->mem, &path, sizeof(struct ht_cp_piece));
	ht_cp_clock_done(&clock);
	return status;
}

static enum ht_status draw_model(struct ht_cp_drawing *d, const struct ht_cp_options *options)
{
	struct ht_cp_model m;
	HT_TRY(ht_cp_model_make(d->run, options, &m));
	enum ht_status status = m.n_windows ? draw_windows(d, &m) : HT_OK;
	ht_cp_model_done(&m);
	return status;
}

/* ---- the whole ---- */

static enum ht_status draw_all(struct ht_cp_drawing *d)
{
	struct ht_cp_options options;
	HT_TRY(ht_cp_options_read(d->run, &options));
	enum ht_status (*policy)(struct ht_cp_drawing *, const struct ht_cp_options *) =
	        d->run->policy->draw_path;
	HT_TRY((policy ? policy : draw_model)(d, &options));
	return d->no_memory ? ht_fail_nomem(d->run->ctx) : HT_OK;
}

static enum ht_status list_marks(const struct ht_cp_drawing *d, struct ht_drawing *drawing)
{
	struct ht_row_text *marks =
	        ht_arena_alloc(d->run->scratch, (d->n_critical + 1) * sizeof *marks);
	if (!marks)
		return ht_fail_nomem(d->run->ctx);
	for (uint32_t row = 0; row < d->trace->n_kind; row++)
		if (d->critical[row])
			marks[drawing->n_marks++] = (struct ht_row_text){ row, "1" };
	drawing->marks = marks;
	return HT_OK;
}

static enum ht_status copy_arrows(const struct ht_cp_drawing *d, struct ht_drawing *drawing)
{
	size_t n_bytes = d->arrows.n * sizeof(struct ht_arrow);
	struct ht_arrow *arrows = ht_arena_alloc(d->run->scratch, n_bytes + 1);
	if (!arrows)
		return ht_fail_nomem(d->run->ctx);
	if (n_bytes)
		memcpy(arrows, d->arrows.data, n_bytes);
	drawing->arrows = arrows;
	drawing->n_arrows = d->arrows.n;
	return HT_OK;
}

/* Spans off the path; annotations and Python frames stay. */
static enum ht_status hide(const struct ht_cp_drawing *d, struct ht_drawing *drawing)
{
	const struct ht_trace *t = d->trace;
	uint8_t *hidden = ht_arena_alloc(d->run->scratch, ht_n_events(t) + 1);
	if (!hidden)
		return ht_fail_nomem(d->run->ctx);
	for (uint32_t row = 0; row < t->n_kind; row++)
		hidden[row] = t->ph[row] == 'X' && !d->critical[row] &&
		              t->kind[row] != HT_KIND_ANNOTATION && t->kind[row] != HT_KIND_PYTHON;
	drawing->hidden = hidden;
	return HT_OK;
}

enum ht_status ht_cp_overlay_make(struct ht_run *run, struct ht_drawing *ret_drawing)
{
	bool only_critical = ht_run_bool(run, "only-critical");
	struct ht_cp_drawing d = { .run = run,
		.trace = run->trace,
		.all = ht_run_bool(run, "all-edges") && !only_critical };
	struct ht_drawing drawing = { .key = "critical", .arrow_name = "critical_path" };
	d.critical = ht_arena_alloc(run->scratch, d.trace->n_kind + 1);
	if (!d.critical)
		return ht_fail_nomem(run->ctx);
	enum ht_status status = draw_all(&d);
	if (status == HT_OK)
		status = copy_arrows(&d, &drawing);
	ht_vec_free(run->ctx->mem, &d.arrows, sizeof(struct ht_arrow));
	HT_TRY(status);
	HT_TRY(list_marks(&d, &drawing));
	if (only_critical)
		HT_TRY(hide(&d, &drawing));
	*ret_drawing = drawing;
	return HT_OK;
}
