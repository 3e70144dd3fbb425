/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_folder.h - the runs below a log directory, opened when they are asked for, and kept while they are in use.
 */
#ifndef HT_MCP_LOG_FOLDER_H
#define HT_MCP_LOG_FOLDER_H

#include "mcp/mcp_message.h"

struct mcp_folder;

/* What options say about sources and reading; texts are copied. */
enum ht_status mcp_folder_new(ht_ctx *ctx, const struct ht_mcp_options *options,
        struct mcp_folder **ret_folder) HT_MUST_USE;
void mcp_folder_free(struct mcp_folder *folder);
/* The calls of a host over it; user is the folder. */
void mcp_folder_host(struct mcp_folder *folder, struct ht_mcp_host *host);
/* Confine a context to the sources. */
enum ht_status mcp_folder_confine(struct mcp_folder *folder, ht_ctx *ctx) HT_MUST_USE;

/* Milliseconds of a clock that only goes forward. */
uint64_t mcp_now_ms(void);

#endif
