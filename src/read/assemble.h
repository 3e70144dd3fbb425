/*
 * assemble.h - join the chunks of a file into the arrays of a trace.
 */
#ifndef HT_READ_ASSEMBLE_H
#define HT_READ_ASSEMBLE_H

#include "read/load.h"

/* Fills all sections that come straight from the file; links are made later by ht_trace_link. Chunks
 * are emptied as they are copied, so that memory peaks at the result plus one column. */
enum ht_status ht_assemble(ht_ctx *ctx, struct ht_loaded *loaded, struct ht_trace *trace) HT_MUST_USE;

#endif
