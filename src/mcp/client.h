/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h - what is remembered of one client between its messages, whatever they travel by: see holotrace/mcp.h.
 */
#ifndef HT_MCP_CLIENT_H
#define HT_MCP_CLIENT_H

#include "mcp/mcp_message.h"

/* What a message that was read says of its client; a request is under way from now on. ret_request is NULL for what cannot
 * be cancelled: notifications, responses, initialize. */
enum ht_status mcp_client_note(
        ht_mcp_client *client, struct mcp_call *call, ht_mcp_request **ret_request) HT_MUST_USE;
int mcp_client_level(ht_mcp_client *client);
/* It speaks 2024-11-05. */
bool mcp_client_is_old(ht_mcp_client *client);

ht_mcp_client *mcp_request_client(const ht_mcp_request *request);
/* False for NULL. */
bool mcp_request_is_cancelled(const ht_mcp_request *request);
/* As it stands in the message. */
const char *mcp_request_id(const ht_mcp_request *request, size_t *ret_n);

#endif
