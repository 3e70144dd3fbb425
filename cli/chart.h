/*
 * chart.h - a bar chart of a table's shares, as inline SVG for HTML pages.
 */
#ifndef CLI_CHART_H
#define CLI_CHART_H

#include "output.h"

/* Write a chart when the table has shares to draw, else nothing. */
void chart_write(struct output *output, const ht_table *table);

#endif
