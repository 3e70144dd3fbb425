/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_cells.h - the columns of HTA's table of a rank that no file has: hta.stream, hta.iteration, ...
 *
 * The drop-in Python package shows the events as HTA's users know them. It asks the events table for
 * HTA's rows (hta-rows) and for these columns by name; the call graph is made only when one of its
 * columns is asked for. As HTA defines them, with its defects fixed:
 * times share one zero, steps are the host's, sums over a subtree count GPU work and not waits.
 */
#ifndef HT_HTA_HTA_CELLS_H
#define HT_HTA_HTA_CELLS_H

#include "model/policy.h"

extern const struct ht_cell_source ht_hta_cells;

#endif
