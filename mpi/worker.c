/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.c - a process that has a share of the traces and does what the leader asks; see team.h.
 */
#include "team.h"

#include <unistd.h>

/* Ends with the carrier: when it is gone, so is who would want the answer. */
static bool keep_going(void *user, const char *what, uint64_t done, uint64_t total)
{
	const pid_t *carrier = user;
	(void)what;
	(void)done;
	(void)total;
	return getppid() == *carrier;
}

static bool wait_request(
        int fd, struct timing *timing, uint64_t *ret_kind, struct wire *ret_request)
{
	struct moment since = timing_now();
	bool got = frame_receive(fd, ret_kind, ret_request);
	timing_add(timing, PHASE_WAIT, since);
	return got;
}

static bool send_answer(int fd, struct timing *timing, const struct wire *answer)
{
	struct moment since = timing_now();
	bool sent = !answer->failed && frame_send(fd, KIND_ANSWER, answer->bytes, answer->n);
	timing_add(timing, PHASE_SEND, since);
	return sent;
}

int worker_run(int fd, struct desk *desk, bool timings)
{
	uint64_t kind;
	struct wire request, answer;
	pid_t carrier = getppid();
	if (ht_ctx_new(&desk->ctx) != HT_OK)
		return EXIT_LIMIT;
	ht_ctx_set_progress(desk->ctx, keep_going, &carrier);
	while (wait_request(fd, &desk->timing, &kind, &request) && kind != KIND_QUIT) {
		answer = (struct wire){ 0 };
		desk_answer(desk, (enum kind)kind,
		        (struct wire_in){ request.bytes, request.n, false }, &answer);
		bool sent = send_answer(fd, &desk->timing, &answer);
		wire_free(&answer);
		wire_free(&request);
		if (!sent)
			break;
	}
	for (size_t i = 0; i < HT_MAX_SETS; i++)
		desk_close(desk, i);
	ht_ctx_free(desk->ctx);
	if (timings)
		timing_say(&desk->timing, desk->seat.id, "reads");
	return EXIT_DONE;
}
