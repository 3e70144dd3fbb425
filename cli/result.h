/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result.h - what verbs that write a table or a page have in common: the format and the rows.
 */
#ifndef CLI_RESULT_H
#define CLI_RESULT_H

#include "cli.h"

/* The format: --format, else by the ending of -o FILE, else text. */
const char *result_format(const struct opts *opts);
/* An exit code and a message when the ending of -o FILE asks for a format that is not written. */
int result_refuse_ending(const struct opts *opts);
/* Rows from --top, where "all" is 0; by_default when it is absent. An exit code. */
int result_top(const struct opts *opts, uint64_t by_default, uint64_t *ret_top);
/* How text is to look, from the terminal and the options. */
struct ht_render_options result_look(const struct cli *cli);

#endif
