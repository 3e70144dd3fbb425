/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_parser.h - call-tree as profile_parser was called: its spelling of the options, its file of seven columns.
 */
#ifndef CLI_PROFILE_PARSER_H
#define CLI_PROFILE_PARSER_H

#include "cli.h"

extern const struct opt call_tree_opts[];
extern const size_t n_call_tree_opts;

/* Give the words -hc, -dc and -mc their long names. */
void call_tree_respell(const char **argv, size_t n);
/* With --src and --dst write the file, else run the analysis like any other; an exit code. */
int run_call_tree(struct cli *cli);

#endif
