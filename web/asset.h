/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asset.h - the files of the page that are inside the program.
 *
 * tools/embed_assets writes the table from what web/build.mjs made; a build without Node has an empty one.
 */
#ifndef ASSET_H
#define ASSET_H

#include <stddef.h>

struct ht_asset {
	const char *name, *type; /* "app.js", "text/javascript; charset=utf-8" */
	const unsigned char *bytes;
	size_t n;
	const char *etag;   /* quoted, changes with the bytes */
	const char *sha256; /* base64, as in a Content-Security-Policy */
};

/* The asset of that name, or NULL when the build has none. */
const struct ht_asset *ht_asset_find(const char *name);

#endif
