/*
 * chart.c - horizontal bars, one per row, of the shares in a table.
 *
 * A table with a share per class of work (compute_share, communication_share, ...) gets stacked bars in
 * the colours of the classes. Any other table with a share gets plain bars of its first share column; a
 * bar whose row is named after a class has that class's colour.
 *
 *   label (key columns)   |######======....|  61.2 %
 */
#include "chart.h"
#include "cli.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define MAX_BARS   12
#define MAX_LABEL  42
#define LABEL_PX   340
#define BAR_PX     560
#define ROW_PX     20
#define FIGURES_PX 64

/* Classes of work: how columns or cells name them, and the style's variable. */
static const struct class_color {
	const char *name, *color;
} classes[] = {
	{ "compute", "compute" },
	{ "computation", "compute" },
	{ "communication", "communication" },
	{ "comm", "communication" },
	{ "memory", "memory" },
	{ "memcpy", "memory" },
	{ "memset", "memory" },
	{ "sync", "sync" },
	{ "idle", "idle" },
};

struct series {
	size_t columns[COUNT(classes)];
	const char *colors[COUNT(classes)], *names[COUNT(classes)];
	size_t n;
};

static size_t find_column(const ht_table *table, const char *name)
{
	for (size_t i = 0; i < ht_table_n_columns(table); i++) {
		if (strcmp(ht_table_column(table, i)->name, name) == 0)
			return i;
	}
	return SIZE_MAX;
}

/* The shares to draw: those of classes when there are several, else the first one. */
static void find_series(const ht_table *table, struct series *series)
{
	for (size_t i = 0; i < COUNT(classes); i++) {
		char name[64];
		snprintf(name, sizeof(name), "%s_share", classes[i].name);
		size_t column = find_column(table, name);
		if (column == SIZE_MAX)
			continue;
		series->columns[series->n] = column;
		series->colors[series->n] = classes[i].color;
		series->names[series->n++] = classes[i].name;
	}
	if (series->n > 1)
		return;
	series->n = 0;
	for (size_t i = 0; i < ht_table_n_columns(table) && series->n == 0; i++) {
		const struct ht_column *column = ht_table_column(table, i);
		if (column->type == HT_RATIO && column->role == HT_MEASURE) {
			series->columns[0] = i;
			series->colors[0] = NULL;
			series->names[series->n++] = column->name;
		}
	}
}

static const char *class_of(const char *text)
{
	for (size_t i = 0; i < COUNT(classes); i++) {
		if (strncasecmp(text, classes[i].name, strlen(classes[i].name)) == 0)
			return classes[i].color;
	}
	return NULL;
}

/* Key cells as one label; the class that one of them names, or NULL. */
static const char *make_label(const ht_table *table, size_t row, char *label, size_t size)
{
	const char *color = NULL;
	size_t n = 0;
	label[0] = '\0';
	for (size_t i = 0; i < ht_table_n_columns(table) && n + 1 < size; i++) {
		const struct ht_column *column = ht_table_column(table, i);
		const char *space = n > 0 ? ", " : "";
		if (column->role != HT_KEY || ht_table_is_null(table, row, i))
			continue;
		int length;
		if (column->type == HT_STR) {
			const char *text = ht_table_str(table, row, i);
			if (color == NULL)
				color = class_of(text);
			length = snprintf(label + n, size - n, "%s%s", space, text);
		} else {
			length = snprintf(label + n, size - n, "%s%s %" PRId64, space, column->name,
			        ht_table_i64(table, row, i));
		}
		n += (size_t)length;
	}
	return color;
}

/* The label, cut to fit; the whole is in the tooltip of the bar. */
static void write_label(struct output *output, const char *label, int y)
{
	char cut[MAX_LABEL * 4 + 1];
	size_t n = 0;
	for (int n_chars = 0; label[n] != '\0' && n + 4 < sizeof(cut); n++) {
		/* cut before the first byte of a character, never inside one */
		if (((unsigned char)label[n] & 0xc0) != 0x80 && n_chars++ == MAX_LABEL)
			break;
	}
	memcpy(cut, label, n);
	cut[n] = '\0';
	output_print(output, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LABEL_PX - 8, y + 14);
	output_escaped(output, cut, "html");
	output_text(output, label[n] != '\0' ? "…</text>" : "</text>");
}

static void write_bar(struct output *output, const ht_table *table, const struct series *series,
        size_t row, int y)
{
	char label[512];
	double x = 0, total = 0;
	const char *row_color = make_label(table, row, label, sizeof(label));
	write_label(output, label, y);
	for (size_t i = 0; i < series->n; i++) {
		size_t column = series->columns[i];
		double share = ht_table_f64(table, row, column);
		if (ht_table_is_null(table, row, column) || !isfinite(share) || share <= 0)
			continue;
		const char *color = series->colors[i] != NULL ? series->colors[i] : row_color;
		double width = fmin(share, 1 - x) * BAR_PX;
		output_print(output,
		        "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"14\" fill=\"var(--%s)\"><title>",
		        LABEL_PX + x * BAR_PX, y + 3, fmax(width, 0),
		        color != NULL ? color : "host");
		output_escaped(output, label, "html");
		output_print(output, ": %s %.4f %%</title></rect>", series->names[i], share * 100);
		x = fmin(x + share, 1);
		total = share;
	}
	if (series->n == 1)
		output_print(output, "<text x=\"%.1f\" y=\"%d\">%.1f %%</text>",
		        LABEL_PX + x * BAR_PX + 6, y + 14, total * 100);
	output_text(output, "\n");
}

void chart_write(struct output *output, const ht_table *table)
{
	struct series series = { .n = 0 };
	size_t n = ht_table_n_rows(table);
	find_series(table, &series);
	if (series.n == 0 || n == 0)
		return;
	n = n < MAX_BARS ? n : MAX_BARS;
	output_text(output, "<figure><figcaption>");
	for (size_t i = 0; i < series.n; i++) {
		if (series.colors[i] != NULL)
			output_print(
			        output, "<i style=\"background:var(--%s)\"></i>", series.colors[i]);
		output_escaped(output,
		        series.n > 1 ? series.names[i]
		                     : ht_table_column(table, series.columns[i])->name,
		        "html");
		output_text(output, " ");
		if (series.n == 1) {
			output_text(output, "· ");
			output_escaped(output, ht_table_column(table, series.columns[i])->sentence,
			        "html");
		}
	}
	if (n < ht_table_n_rows(table))
		output_print(output, " · first %zu rows", n);
	output_print(output, "</figcaption>\n<svg viewBox=\"0 0 %d %zu\" role=\"img\">\n",
	        LABEL_PX + BAR_PX + FIGURES_PX, n * ROW_PX);
	for (size_t row = 0; row < n; row++)
		write_bar(output, table, &series, row, (int)row * ROW_PX);
	output_text(output, "</svg></figure>\n");
}
