/*
 * telling.c - see telling.h.
 */
#include "verdict/telling.h"

#include "table/brief.h"
#include "table/format.h"
#include "table/shorten.h"

#include <inttypes.h>
#include <string.h>

/* Names of a list. */
#define N_TOPS 3

const char *ht_tell_share(struct ht_telling *s, int64_t part, int64_t whole)
{
	double share = 100 * ht_ratio(part, whole);
	return share > 0 && share < 1 ? "<1 %" : HT_SAY(s, "%.0f %%", share);
}

const char *ht_tell_name(struct ht_telling *s, const char *name, size_t cells)
{
	static const char module[] = "nn.Module: ";
	size_t n = strlen(name), n_kept = 0;
	char *plain = ht_arena_alloc(s->run->scratch, n + 1);
	char *text = ht_arena_alloc(s->run->scratch, n + 5);
	if (!plain || !text)
		return ht_words_keep(&s->words, NULL);
	for (const char *at = name; *at;) {
		bool skips = !strncmp(at, module, sizeof module - 1);
		at += skips ? sizeof module - 1 : 0;
		if (!skips)
			plain[n_kept++] = *at++;
	}
	text[ht_shorten(plain, n_kept, cells, text)] = '\0';
	return text;
}

const char *ht_tell_brief(struct ht_telling *s, const char *name)
{
	return ht_tell_name(s, name, HT_TELL_CELLS);
}

const char *ht_tell_event(struct ht_telling *s, int64_t rank, int64_t row)
{
	return row == HT_NO_I64 ? NULL : HT_SAY(s, "%" PRId64 ":%" PRId64, rank, row);
}

const char *ht_tell_and(struct ht_telling *s, const char *before, const char *more)
{
	return *before ? HT_SAY(s, "%s, %s", before, more) : more;
}

void ht_tell_line(struct ht_telling *s, const struct ht_told_line *line)
{
	ht_table_row(s->table);
	ht_table_put_str(s->table, HT_TOLD_TOPIC, line->topic);
	ht_table_put_str(s->table, HT_TOLD_FINDING, line->finding);
	ht_table_put_str(s->table, HT_TOLD_EVIDENCE,
	        line->evidence && *line->evidence ? line->evidence : NULL);
	ht_table_put_str(s->table, HT_TOLD_NEXT, line->next);
	ht_table_put_known(s->table, HT_TOLD_VALUE_NS, line->value_ns, HT_NO_I64);
	if (line->whole_ns > 0)
		ht_table_put_f64(s->table, HT_TOLD_SHARE, ht_ratio(line->part_ns, line->whole_ns));
	else
		ht_table_put_null(s->table, HT_TOLD_SHARE);
	ht_table_put_known(s->table, HT_TOLD_SAVES_NS, line->saves_ns, HT_NO_I64);
}

/* ---- what takes most time ---- */

static bool has_equal(const char *const *names, size_t n)
{
	for (size_t i = 1; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(names[i], names[k]))
				return true;
	return false;
}

/* Each by where it differs from the others, as a table would show them. */
static enum ht_status tell_apart(
        struct ht_telling *s, const struct ht_tops *tops, const char **names)
{
	static const struct ht_column column = { "name", HT_STR, HT_KEY, "name", NULL };
	ht_ctx *ctx = s->run->ctx;
	struct ht_brief *briefs = NULL;
	ht_table *table;
	HT_TRY(ht_table_new(ctx, "", &column, 1, &table));
	for (size_t i = 0; i < tops->n && i < N_TOPS; i++) {
		ht_table_row(table);
		ht_table_put_str(table, 0, ht_tell_name(s, tops->list[i].name, SIZE_MAX));
	}
	enum ht_status status =
	        ht_brief_make(ctx, table, 0, HT_TELL_CELLS, s->run->scratch, &briefs);
	for (size_t i = 0; status == HT_OK && i < ht_table_n_rows(table); i++) {
		const struct ht_brief *brief = &briefs[ht_cells_at(table, 0)->str[i]];
		names[i] = HT_SAY(s, "%.*s", (int)brief->n, brief->text);
	}
	ht_table_free(table);
	return status;
}

/* Names that differ must not look the same. */
static void name_tops(struct ht_telling *s, const struct ht_tops *tops, const char **names)
{
	size_t n = tops->n < N_TOPS ? tops->n : N_TOPS;
	for (size_t i = 0; i < n; i++)
		names[i] = ht_tell_brief(s, tops->list[i].name);
	if (has_equal(names, n) && tell_apart(s, tops, names) != HT_OK)
		ht_words_keep(&s->words, NULL);
}

static void say_tops(struct ht_telling *s, const char *topic, const struct ht_tops *tops,
        const char *of, const char *none, const char *next)
{
	const char *text = "", *events = "";
	struct ht_told_line line = {
		.topic = topic, .next = next, .value_ns = HT_NO_I64, .saves_ns = HT_NO_I64
	};
	const char *names[N_TOPS];
	name_tops(s, tops, names);
	for (size_t i = 0; i < tops->n && i < N_TOPS; i++) {
		const struct ht_top *top = &tops->list[i];
		text = ht_tell_and(s, text,
		        HT_SAY(s, "%s %s in %" PRId64 " (%s)", names[i],
		                ht_words_time(&s->words, top->ns), top->count,
		                ht_tell_share(s, top->ns, tops->total_ns)));
		if (top->row != HT_NO_I64)
			events = ht_tell_and(s, events, ht_tell_event(s, top->rank, top->row));
	}
	line.finding = tops->n ? HT_SAY(s, "%s, %s", text, of) : none;
	line.evidence = events;
	if (tops->n) {
		line.value_ns = tops->list[0].ns;
		line.part_ns = tops->list[0].ns;
		line.whole_ns = tops->total_ns;
	}
	ht_tell_line(s, &line);
}

void ht_tell_tops(struct ht_telling *s)
{
	struct ht_tops *tops = s->f.tops;
	bool gpu = tops[HT_TOP_OPERATOR].n > 0;
	say_tops(s, "operators", &tops[gpu ? HT_TOP_OPERATOR : HT_TOP_OPERATOR_HOST],
	        gpu ? "of the GPU time that operators launched themselves"
	            : "of the operators' own time on the host",
	        "cannot tell: no operators were recorded", "operators");
	say_tops(s, "kernels", &tops[HT_TOP_KERNEL], "of the time of kernels that compute",
	        "cannot tell: no kernels were recorded", "kernels");
	bool host_modules = tops[HT_TOP_MODULE_HOST].n > 0;
	say_tops(s, "modules", &tops[host_modules ? HT_TOP_MODULE_HOST : HT_TOP_MODULE],
	        host_modules ? "of the host time inside modules and their backward pass"
	                     : "of the GPU time inside modules",
	        s->f.n_devices
	                ? "cannot tell: no GPU work inside modules was recorded (with_stack and with_modules)"
	                : "cannot tell: no modules were recorded (with_stack and with_modules)",
	        host_modules ? "modules --sort -host_total_ns" : "modules");
	say_tops(s, "collectives", &tops[HT_TOP_COMM],
	        s->f.n_devices ? "of the time of communication kernels, waiting included"
	                       : "of the time of communication calls, waiting included",
	        s->f.n_devices ? "none: no communication kernels were recorded"
	                       : "cannot tell: no GPU work was recorded",
	        s->f.compares ? "collectives" : "comm-overlap");
}
