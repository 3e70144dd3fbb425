/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql_shell.h - what `holotrace sql` and its prompt share: the open traces and how results are shown.
 */
#ifndef CLI_SQL_SHELL_H
#define CLI_SQL_SHELL_H

#include "cli.h"

struct sql_session {
	struct cli *cli;
	ht_set *set;  /* NULL: none was given */
	ht_set *base; /* of --base, NULL: likewise */
	struct ht_view view;
	struct ht_sql_options options;
	struct ht_arg params[64]; /* of --set; names are the session's own */
};

/* Run statements and commands (.tables ...) one after the other, up to the first that fails; an exit code. */
int sql_run_text(struct sql_session *session, const char *text);

#endif
