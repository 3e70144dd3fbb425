/*
 * found_path.h - the critical path of the job, by what bounds it, and what each bound would save (findings.h).
 */
#ifndef HT_VERDICT_FOUND_PATH_H
#define HT_VERDICT_FOUND_PATH_H

#include "verdict/findings.h"

/* Fills in path, path_ns and slow_path_ns; devices and slow steps are known. */
enum ht_status ht_found_path(struct ht_findings *findings) HT_MUST_USE;

#endif
