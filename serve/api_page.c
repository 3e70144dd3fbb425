/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_page.c - the page itself, from what is embedded in the program, and the description of the interface.
 */
#include "route.h"

#include "asset.h"
#include "openapi.inc"

static enum ht_status put_asset(struct serve_response *response, const char *name)
{
	const struct ht_asset *asset = ht_asset_find(name);
	if (asset == NULL)
		return serve_refuse(response, 404,
		        ht_asset_find("index.html") == NULL
		                ? "this build has no page: Node was missing; the interface works, see "
		                  "/api/v1/openapi.json"
		                : NULL,
		        "there is no file %.100s", name);
	serve_put(&response->body, asset->bytes, asset->n);
	response->type = asset->type;
	return HT_OK;
}

enum ht_status serve_index(struct serve_request *request, struct serve_response *response)
{
	(void)request;
	return put_asset(response, "index.html");
}

enum ht_status serve_asset(struct serve_request *request, struct serve_response *response)
{
	return put_asset(response, request->names[0]);
}

enum ht_status serve_openapi(struct serve_request *request, struct serve_response *response)
{
	(void)request;
	serve_put(&response->body, openapi_json, sizeof(openapi_json));
	return HT_OK;
}
