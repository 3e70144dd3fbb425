/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peers_test.c - who only waits is closed, strangers first and by address, and nobody else.
 */
#include "peers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 40 };

struct fixture {
	struct peers *peers;
	int listener, n;
	int ours[MOST], theirs[MOST];
	struct peer *peer[MOST];
};

static const struct peer_limits limits = {
	.strangers = 6, .of_address = 4, .known = 3, .grace_ms = 1, .ask_ms = 10, .idle_ms = 100
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct sockaddr_in at = { .sin_family = AF_INET };
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	f->peers = peers_new(&limits);
	f->listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(f->listener, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(f->listener, MOST), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < f->n; i++) {
		peer_gone(f->peers, f->peer[i]);
		close(f->ours[i]);
		close(f->theirs[i]);
	}
	close(f->listener);
	peers_free(f->peers);
	free(f);
	return 0;
}

/* One who connects from 127.0.0.HOST. */
static int come(struct fixture *f, unsigned host, uint64_t now_ms)
{
	struct sockaddr_in from = { .sin_family = AF_INET }, to;
	socklen_t n_to = sizeof(to);
	int i = f->n++;
	from.sin_addr.s_addr = htonl((127u << 24) + host);
	f->theirs[i] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(f->theirs[i], (struct sockaddr *)&from, sizeof(from)), 0);
	assert_int_equal(getsockname(f->listener, (struct sockaddr *)&to, &n_to), 0);
	assert_int_equal(connect(f->theirs[i], (struct sockaddr *)&to, n_to), 0);
	f->ours[i] = accept(f->listener, NULL, NULL);
	assert_true(f->ours[i] >= 0);
	f->peer[i] = peer_come(f->peers, f->ours[i], now_ms);
	assert_non_null(f->peer[i]);
	return i;
}

/* The end of the stream is there at once, and nothing else ever is. */
static bool is_closed(const struct fixture *f, int i)
{
	char byte;
	return recv(f->ours[i], &byte, 1, MSG_DONTWAIT) == 0;
}

static void test_address(void **state)
{
	struct fixture *f = *state;
	int other = come(f, 9, 0), first = come(f, 1, 0);
	for (int i = 0; i < 3; i++)
		come(f, 1, 0);
	assert_false(is_closed(f, first));
	int last = come(f, 1, 0); /* the fifth of its address, all at once */
	assert_false(is_closed(f, first));
	int later = come(f, 1, 1);
	assert_true(is_closed(f, first));
	assert_false(is_closed(f, other));
	assert_false(is_closed(f, last));
	assert_false(is_closed(f, later));
}

/* Who has asked is not closed because the web server has not come to read it. */
static void test_head_is_there(void **state)
{
	struct fixture *f = *state;
	static const char head[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
	int whole = come(f, 1, 0), part = come(f, 1, 0);
	assert_true(send(f->theirs[whole], head, sizeof(head) - 1, 0) > 0);
	assert_true(send(f->theirs[part], head, sizeof(head) - 2, 0) > 0);
	for (uint64_t i = 0; i < 8; i++)
		come(f, 1, i);
	assert_int_equal(recv(f->ours[whole], (char[64]){ 0 }, 64, MSG_DONTWAIT), sizeof(head) - 1);
	assert_int_equal(recv(f->ours[whole], (char[64]){ 0 }, 64, MSG_DONTWAIT), -1);
	assert_int_equal(recv(f->ours[part], (char[64]){ 0 }, 64, MSG_DONTWAIT), sizeof(head) - 2);
	assert_true(is_closed(f, part));
}

static void test_strangers_and_known(void **state)
{
	struct fixture *f = *state;
	int known = come(f, 1, 0), body = come(f, 1, 0);
	peer_admit(f->peers, f->peer[known]);
	peer_busy(f->peers, f->peer[known], 0);
	peer_idle(f->peers, f->peer[known], 0);
	peer_admit(f->peers, f->peer[body]); /* its body is on the way */
	int first = come(f, 2, 0);
	for (unsigned i = 3; i < 8; i++)
		come(f, i, 0);
	assert_false(is_closed(f, first));
	come(f, 8, 1); /* the seventh stranger */
	assert_true(is_closed(f, first));
	for (unsigned i = 9; i < 29; i++)
		come(f, i, 2);
	assert_false(is_closed(f, known));
	assert_false(is_closed(f, body));
	/* those who are known crowd out each other */
	for (unsigned i = 30; i < 32; i++)
		peer_admit(f->peers, f->peer[come(f, i, 2)]);
	peers_expire(f->peers, 3);
	assert_true(is_closed(f, known));
	assert_false(is_closed(f, body));
}

static void test_time(void **state)
{
	struct fixture *f = *state;
	int slow = come(f, 1, 0), known = come(f, 1, 0), busy = come(f, 1, 0),
	    later = come(f, 1, 5);
	peer_ask(f->peers, f->peer[slow], 9); /* a line of the head is not all of it */
	peer_admit(f->peers, f->peer[known]);
	peer_busy(f->peers, f->peer[known], 1);
	peer_idle(f->peers, f->peer[known], 1);
	peer_busy(f->peers, f->peer[busy], 1);
	peers_expire(f->peers, 10);
	assert_true(is_closed(f, slow));
	assert_false(is_closed(f, known));
	assert_false(is_closed(f, busy));
	assert_false(is_closed(f, later));
	/* a further request has its time from its first line on */
	peer_ask(f->peers, f->peer[known], 50);
	peers_expire(f->peers, 59);
	assert_false(is_closed(f, known));
	peers_expire(f->peers, 60);
	assert_true(is_closed(f, known));
	assert_false(is_closed(f, busy));
	/* who was refused is a stranger still */
	peer_idle(f->peers, f->peer[busy], 100);
	peers_expire(f->peers, 110);
	assert_true(is_closed(f, busy));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_address, setup, teardown),
		cmocka_unit_test_setup_teardown(test_head_is_there, setup, teardown),
		cmocka_unit_test_setup_teardown(test_strangers_and_known, setup, teardown),
		cmocka_unit_test_setup_teardown(test_time, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
