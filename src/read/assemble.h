/*
 * assemble.h - make the arrays of a trace from the rows of a file.
 */
#ifndef HT_READ_ASSEMBLE_H
#define HT_READ_ASSEMBLE_H

#include "read/load.h"

/* Fills all sections that come straight from the file; links are made later by ht_trace_link. Rows
 * change hands, columns are emptied as they are copied, so that memory peaks at the result plus a column. */
enum ht_status ht_assemble(
        ht_ctx *ctx, struct ht_loaded *loaded, struct ht_trace *trace) HT_MUST_USE;

#endif
