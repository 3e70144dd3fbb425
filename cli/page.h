/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - a self-contained HTML page around tables.
 */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include "output.h"

/* Head with inline style, up to the start of the body. */
void page_begin(struct output *output, const char *title);
void page_end(struct output *output);

#endif
