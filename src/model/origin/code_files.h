/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_files.h - what Inductor leaves on disk: the code that it generated, and where each call of it comes from.
 *
 *   a wrapper (output_code.py, or a file of Inductor's cache)     its calls with operators, as in the structured log (wrapper.h)
 *   inductor_provenance_tracking_kernel_stack_traces.json         {"triton_poi_fused_add_0:1": ["  File ...", ...]}: lines of calls
 *   kernel_information.json                                       {"triton_poi_fused_add_0:1": {"stack_traces": [...], ...}}: the same
 *   inductor_provenance_tracking_node_mappings.json               {"cppCodeToPost": {"triton_...": ["add", ...]}, "postToPre": ...}: nodes of calls
 *
 * What is said of calls is for the wrappers in the same folder; of a folder without any it is for the only one there is, or for nobody.
 * No file has the key that a trace has of a graph. So a graph of the trace is the wrapper whose generated kernels have the same names
 * in the same order, and, where the trace has their hashes, are the same files.
 */
#ifndef HT_MODEL_ORIGIN_CODE_FILES_H
#define HT_MODEL_ORIGIN_CODE_FILES_H

#include "model/origin/compile_log.h"
#include "model/run.h"

/* Whether the first bytes are those of such a file. */
bool ht_code_file_sniff(const char *text, size_t n);

/* The last call of each graph of the rank in hand. It begins as zeros, is found when code is first looked for, and lies in scratch. */
struct ht_last_calls {
	struct ht_last_call *list; /* ascending by key; NULL: not looked for yet */
	size_t n;
};

/* The wrapper of a graph that the trace calls by a key, in the files that join the rank; NULL: none, or several that differ. */
enum ht_status ht_code_graph(struct ht_run *run, struct ht_last_calls *calls, const char *key,
        const struct ht_compiled_graph **ret_graph) HT_MUST_USE;

#endif
