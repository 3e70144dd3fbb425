/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sessions_test.c - a bounded number of sessions, in the order of use; time ends them, and their end cancels.
 */
#include "sessions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#define HELLO                                                                                      \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"                     \
	"\"protocolVersion\":\"2025-06-18\"}}"
#define PING "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}"

static const struct session_limits limits = { .max = 3, .idle_ms = 100 };

static int setup(void **state)
{
	*state = sessions_new(&limits);
	return *state == NULL;
}

static int teardown(void **state)
{
	sessions_free(*state);
	return 0;
}

static void begin(struct sessions *sessions, uint64_t now_ms, char id[SESSION_ID_BYTES])
{
	assert_true(sessions_begin(sessions, HELLO, strlen(HELLO), now_ms, id));
	assert_int_equal(strlen(id), SESSION_ID_BYTES - 1);
	assert_int_equal(strspn(id, "0123456789abcdef"), SESSION_ID_BYTES - 1);
}

/* A request of a session, which is under way; NULL: there is no such session. */
static ht_mcp_request *ask(struct sessions *sessions, const char *id, uint64_t now_ms)
{
	ht_mcp_request *request = NULL;
	enum session_found found =
	        sessions_take(sessions, id, PING, strlen(PING), now_ms, &request);
	assert_int_equal(found, request != NULL ? SESSION_TAKEN : SESSION_UNKNOWN);
	return request;
}

static bool is_there(struct sessions *sessions, const char *id, uint64_t now_ms)
{
	ht_mcp_request *request = ask(sessions, id, now_ms);
	ht_mcp_request_end(request);
	return request != NULL;
}

static bool put_text(void *user, const void *bytes, size_t n)
{
	(void)bytes;
	*(size_t *)user += n;
	return true;
}

/* The bytes that a request is answered with: none when it was cancelled. */
static size_t answer(const ht_mcp_request *request)
{
	ht_ctx *ctx;
	size_t n = 0;
	const struct ht_mcp_host host = { .struct_size = sizeof(host), .request = request };
	struct ht_sink sink = { put_text, &n };
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	assert_int_equal(ht_mcp_answer(ctx, &host, PING, strlen(PING), &sink), HT_OK);
	ht_ctx_free(ctx);
	return n;
}

static void test_only_initialize_begins_one(void **state)
{
	static const char *const others[] = {
		PING, "{", "",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"x\"}}"
	};
	char id[SESSION_ID_BYTES], other[SESSION_ID_BYTES];
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_true(sessions_begin(*state, others[i], strlen(others[i]), 0, id));
		assert_string_equal(id, "");
	}
	begin(*state, 0, id);
	begin(*state, 0, other);
	assert_string_not_equal(id, other);
	assert_false(is_there(*state, "", 0));
	assert_false(is_there(*state, "0", 0));
	assert_true(is_there(*state, id, 0));
}

static void test_the_longest_idle_one_goes(void **state)
{
	char id[5][SESSION_ID_BYTES];
	for (int i = 0; i < 3; i++)
		begin(*state, 0, id[i]);
	/* the first was used since, and the second has a request under way */
	assert_true(is_there(*state, id[0], 1));
	ht_mcp_request *request = ask(*state, id[1], 1);
	assert_true(is_there(*state, id[0], 1));
	assert_true(is_there(*state, id[2], 1));
	begin(*state, 2, id[3]);
	assert_false(is_there(*state, id[0], 2));
	ht_mcp_request_end(request);
	begin(*state, 2, id[4]);
	assert_false(is_there(*state, id[1], 2));
	for (int i = 2; i < 5; i++)
		assert_true(is_there(*state, id[i], 2));
}

static void test_all_are_busy(void **state)
{
	char id[4][SESSION_ID_BYTES];
	ht_mcp_request *request[3];
	for (int i = 0; i < 3; i++) {
		begin(*state, 0, id[i]);
		request[i] = ask(*state, id[i], 0);
	}
	begin(*state, 0, id[3]);
	assert_false(is_there(*state, id[0], 0));
	/* its request was cancelled, the others are answered */
	assert_int_equal(answer(request[0]), 0);
	assert_true(answer(request[1]) > 0);
	for (int i = 0; i < 3; i++)
		ht_mcp_request_end(request[i]);
}

static void test_time(void **state)
{
	char id[2][SESSION_ID_BYTES];
	begin(*state, 0, id[0]);
	begin(*state, 0, id[1]);
	ht_mcp_request *request = ask(*state, id[1], 0);
	assert_true(is_there(*state, id[0], 99));
	assert_true(is_there(*state, id[0], 198));
	assert_false(is_there(*state, id[0], 298));
	/* what has a request under way is not idle */
	assert_true(is_there(*state, id[1], 298));
	ht_mcp_request_end(request);
	assert_false(is_there(*state, id[1], 398));
}

static void test_the_end_cancels(void **state)
{
	char id[SESSION_ID_BYTES];
	begin(*state, 0, id);
	ht_mcp_request *request = ask(*state, id, 0);
	assert_true(answer(request) > 0);
	assert_true(sessions_end(*state, id, 0));
	assert_int_equal(answer(request), 0);
	assert_false(sessions_end(*state, id, 0));
	assert_false(is_there(*state, id, 0));
	/* the client goes with it */
	ht_mcp_request_end(request);
}

static void test_cancelling_is_by_id_and_session(void **state)
{
	char id[2][SESSION_ID_BYTES], message[128];
	ht_mcp_request *request[2], *none;
	for (int i = 0; i < 2; i++) {
		begin(*state, 0, id[i]);
		request[i] = ask(*state, id[i], 0);
	}
	for (int number = 6; number <= 7; number++) {
		int n = snprintf(message, sizeof(message),
		        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
		        "\"params\":{\"requestId\":%d}}",
		        number);
		assert_int_equal(
		        sessions_take(*state, id[1], message, (size_t)n, 0, &none), SESSION_TAKEN);
		assert_null(none);
		assert_true(answer(request[0]) > 0);
		assert_int_equal(answer(request[1]) > 0, number == 6);
	}
	ht_mcp_request_end(request[0]);
	ht_mcp_request_end(request[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_only_initialize_begins_one, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_longest_idle_one_goes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_all_are_busy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_end_cancels, setup, teardown),
		cmocka_unit_test_setup_teardown(
		        test_cancelling_is_by_id_and_session, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
