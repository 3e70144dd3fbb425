/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found_path.h - the critical path of the job, by what bounds it, and what each bound would save (findings.h).
 */
#ifndef HT_VERDICT_FOUND_PATH_H
#define HT_VERDICT_FOUND_PATH_H

#include "verdict/findings.h"

/* Fills in path, path_ns and slow_path_ns; devices, slow steps and stragglers are known. */
enum ht_status ht_found_path(struct ht_findings *findings) HT_MUST_USE;
/* Where communication is calls of the host, they are on threads of their own, which others wait for in nothing that was
 * recorded: as much of the host's part of the path is theirs as of the steps is communication (step_roles.h) and no waiting
 * for ranks. When stragglers and tops are known. */
void ht_found_path_host_calls(struct ht_findings *findings);

#endif
