/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sessions.c - see sessions.h.
 */
#include "sessions.h"

#include "random.h"
#include "use.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct session {
	struct use use; /* first: a use is a session */
	char id[SESSION_ID_BYTES];
	ht_mcp_client *client;
	uint64_t used_ms;
};

struct sessions {
	struct session_limits limits;
	ht_ctx *ctx;
	pthread_mutex_t lock; /* guards all of it */
	struct use_list list;
	size_t n;
};

struct sessions *sessions_new(const struct session_limits *limits)
{
	struct sessions *sessions = calloc(1, sizeof(*sessions));
	if (sessions == NULL)
		return NULL;
	sessions->limits = *limits;
	if (ht_ctx_new(&sessions->ctx) != HT_OK) {
		free(sessions);
		return NULL;
	}
	pthread_mutex_init(&sessions->lock, NULL);
	return sessions;
}

static void drop(struct sessions *sessions, struct session *session)
{
	use_remove(&sessions->list, &session->use);
	sessions->n--;
	ht_mcp_client_free(session->client);
	free(session);
}

void sessions_free(struct sessions *sessions)
{
	if (sessions == NULL)
		return;
	while (sessions->list.oldest != NULL)
		drop(sessions, (struct session *)sessions->list.oldest);
	pthread_mutex_destroy(&sessions->lock);
	ht_ctx_free(sessions->ctx);
	free(sessions);
}

/* Those that nobody has used for too long; they stand at the end. */
static void expire(struct sessions *sessions, uint64_t now_ms)
{
	struct use *next;
	for (struct use *use = sessions->list.oldest; use != NULL; use = next) {
		struct session *session = (struct session *)use;
		next = use->newer;
		if (now_ms - session->used_ms < sessions->limits.idle_ms)
			break;
		if (!ht_mcp_client_is_busy(session->client))
			drop(sessions, session);
	}
}

/* Room for one more: the one that was idle for longest goes, or, when all are busy, the one that came first. */
static void make_room(struct sessions *sessions)
{
	if (sessions->n < sessions->limits.max)
		return;
	struct use *use = sessions->list.oldest;
	while (use != NULL && ht_mcp_client_is_busy(((struct session *)use)->client))
		use = use->newer;
	drop(sessions, (struct session *)(use != NULL ? use : sessions->list.oldest));
}

bool sessions_begin(struct sessions *sessions, const char *message, size_t n, uint64_t now_ms,
        char ret_id[SESSION_ID_BYTES])
{
	ht_mcp_client *client = NULL;
	struct session *session = NULL;
	ret_id[0] = '\0';
	pthread_mutex_lock(&sessions->lock);
	expire(sessions, now_ms);
	bool is_ok = ht_mcp_client_new(sessions->ctx, message, n, &client) == HT_OK;
	if (client != NULL)
		session = calloc(1, sizeof(*session));
	if (session != NULL && random_hex(session->id, sizeof(session->id))) {
		make_room(sessions);
		session->client = client;
		session->used_ms = now_ms;
		use_add(&sessions->list, &session->use);
		sessions->n++;
		memcpy(ret_id, session->id, sizeof(session->id));
	} else if (client != NULL) {
		ht_mcp_client_free(client);
		free(session);
		is_ok = false;
	}
	pthread_mutex_unlock(&sessions->lock);
	return is_ok;
}

/* Under the lock; what is too old is not found. */
static struct session *find(struct sessions *sessions, const char *id, uint64_t now_ms)
{
	expire(sessions, now_ms);
	for (struct use *use = sessions->list.newest; use != NULL; use = use->older)
		if (strcmp(((struct session *)use)->id, id) == 0)
			return (struct session *)use;
	return NULL;
}

enum session_found sessions_take(struct sessions *sessions, const char *id, const char *message,
        size_t n, uint64_t now_ms, ht_mcp_request **ret_request)
{
	enum session_found found = SESSION_UNKNOWN;
	pthread_mutex_lock(&sessions->lock);
	struct session *session = find(sessions, id, now_ms);
	if (session != NULL) {
		session->used_ms = now_ms;
		use_touch(&sessions->list, &session->use);
		found = ht_mcp_client_take(session->client, message, n, ret_request) == HT_OK
		                ? SESSION_TAKEN
		                : SESSION_NOMEM;
	}
	pthread_mutex_unlock(&sessions->lock);
	return found;
}

bool sessions_end(struct sessions *sessions, const char *id, uint64_t now_ms)
{
	pthread_mutex_lock(&sessions->lock);
	struct session *session = find(sessions, id, now_ms);
	if (session != NULL)
		drop(sessions, session);
	pthread_mutex_unlock(&sessions->lock);
	return session != NULL;
}
