/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prompt.h - the prompt of `holotrace sql`.
 */
#ifndef CLI_PROMPT_H
#define CLI_PROMPT_H

#include "sql_shell.h"

/* Statements from a terminal until its end or .quit; an exit code. */
int prompt_run(struct sql_session *session);

#endif
