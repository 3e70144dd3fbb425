/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mhd.h - libmicrohttpd's calls, in a table that is complete once mhd_load succeeded.
 *
 * Of all verbs serve alone needs the library, and with it come a dozen others, for TLS: two fifths of the time in
 * which a program starts. So a build with shared libraries names it (SERVE_MHD, SERVE_MHD_PATH) and loads it when a
 * server starts; other builds link it as usual.
 */
#ifndef SERVE_MHD_H
#define SERVE_MHD_H

#include <microhttpd.h>

#define MHD_CALLS(CALL)                                                                            \
	CALL(add_response_header)                                                                  \
	CALL(create_response_from_buffer)                                                          \
	CALL(create_response_from_buffer_with_free_callback_cls)                                   \
	CALL(create_response_from_callback)                                                        \
	CALL(destroy_response)                                                                     \
	CALL(get_connection_info)                                                                  \
	CALL(get_connection_values)                                                                \
	CALL(get_version)                                                                          \
	CALL(lookup_connection_value)                                                              \
	CALL(queue_response)                                                                       \
	CALL(resume_connection)                                                                    \
	CALL(start_daemon)                                                                         \
	CALL(stop_daemon)                                                                          \
	CALL(suspend_connection)

struct mhd_calls {
#define CALL(name) __typeof__(MHD_##name) *name;
	MHD_CALLS(CALL)
#undef CALL
};

extern struct mhd_calls mhd;

/* NULL, or why the library cannot be used; the same each time. */
const char *mhd_load(void);

#endif
