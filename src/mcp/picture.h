/* SPDX-License-Identifier: Apache-2.0 */
/*
 * picture.h - spans of a range as a picture: pixels as PNG, or shapes with names as SVG.
 */
#ifndef HT_MCP_PICTURE_H
#define HT_MCP_PICTURE_H

#include "mcp/mcp_message.h"

#define PICTURE_WIDTH 1000

/* What is drawn: one line of the picture per lane of a track. */
struct picture_span {
	uint32_t line;
	double from, to; /* 0 to 1 of the range */
	uint8_t color;   /* 1 to PICTURE_COLORS - 1 */
	const char *name;
};

struct picture {
	struct picture_span *spans;
	size_t n, cap;
	uint32_t n_lines;
};

/* Colours by what a span is: compute, communication, copy, fill, wait, operators, runtime, other. */
#define PICTURE_COLORS 9

/* Base64 of a PNG; NULL when out of memory. Both in the arena. */
const char *picture_png(struct mcp_call *call, const struct picture *picture);
/* The most visible spans with their names, in at most so many bytes. */
const char *picture_svg(struct mcp_call *call, const struct picture *picture, size_t max_bytes);

#endif
