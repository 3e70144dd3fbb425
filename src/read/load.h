/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - one text of events into rows: read or inflate, cut into pieces, scan on all threads, check in
 * order.
 */
#ifndef HT_READ_LOAD_H
#define HT_READ_LOAD_H

#include "base/io.h"
#include "read/document.h"

/* Add a whole source to the builder; the state is that behind the last byte. */
enum ht_status ht_load_text(struct ht_builder *builder, struct ht_source *source,
        size_t chunk_bytes, struct ht_doc_state *ret_state) HT_MUST_USE;

#endif
