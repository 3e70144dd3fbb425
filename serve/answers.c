/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answers.c - see answers.h. A hash table of chains, and a list in the order of use.
 */
#include "answers.h"

#include "use.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define N_BUCKETS 4096

struct entry {
	struct use use; /* of those that are known */
	struct entry *chain;
	char *question;
	struct answer *answer;  /* NULL: being computed */
	struct waiter *waiters; /* in reverse order */
	size_t n_bytes;
};

struct answers {
	pthread_mutex_t lock;
	struct entry *buckets[N_BUCKETS];
	struct use_list known;
	size_t n_bytes, max_bytes;
};

static size_t bucket_of(const char *text)
{
	uint64_t hash = 14695981039346656037u;
	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211u;
	return (size_t)(hash >> 20) % N_BUCKETS;
}

static struct entry *find(struct answers *answers, const char *question)
{
	struct entry *entry = answers->buckets[bucket_of(question)];
	while (entry != NULL && strcmp(entry->question, question) != 0)
		entry = entry->chain;
	return entry;
}

/* Out of the table; not out of the list of use. */
static void remove_entry(struct answers *answers, struct entry *entry)
{
	struct entry **at = &answers->buckets[bucket_of(entry->question)];
	while (*at != entry)
		at = &(*at)->chain;
	*at = entry->chain;
	answer_release(entry->answer);
	free(entry->question);
	free(entry);
}

static struct entry *add_entry(struct answers *answers, const char *question)
{
	struct entry *entry = calloc(1, sizeof(*entry));
	char *copy = strdup(question);
	if (entry == NULL || copy == NULL) {
		free(entry);
		free(copy);
		return NULL;
	}
	struct entry **bucket = &answers->buckets[bucket_of(question)];
	entry->question = copy;
	entry->chain = *bucket;
	*bucket = entry;
	return entry;
}

struct answers *answers_new(size_t max_bytes)
{
	struct answers *answers = calloc(1, sizeof(*answers));
	if (answers != NULL) {
		pthread_mutex_init(&answers->lock, NULL);
		answers->max_bytes = max_bytes;
	}
	return answers;
}

void answers_free(struct answers *answers)
{
	if (answers == NULL)
		return;
	for (size_t i = 0; i < N_BUCKETS; i++)
		while (answers->buckets[i] != NULL)
			remove_entry(answers, answers->buckets[i]);
	pthread_mutex_destroy(&answers->lock);
	free(answers);
}

static struct answer *take_known(struct answers *answers, struct entry *entry)
{
	use_touch(&answers->known, &entry->use);
	return answer_hold(entry->answer);
}

enum asked answers_ask(struct answers *answers, const char *question, struct waiter *waiter,
        struct answer **ret_answer)
{
	enum asked asked = ASKED_NOMEM;
	pthread_mutex_lock(&answers->lock);
	struct entry *entry = find(answers, question);
	if (entry != NULL && entry->answer != NULL) {
		*ret_answer = take_known(answers, entry);
		asked = ASKED_KNOWN;
	} else if (entry != NULL) {
		waiter->next = entry->waiters;
		entry->waiters = waiter;
		asked = ASKED_WAIT;
	} else if (add_entry(answers, question) != NULL) {
		asked = ASKED_FIRST;
	}
	pthread_mutex_unlock(&answers->lock);
	return asked;
}

struct waiter *answers_give(
        struct answers *answers, const char *question, struct answer *answer, bool keep)
{
	pthread_mutex_lock(&answers->lock);
	struct entry *entry = find(answers, question);
	struct waiter *waiters = entry->waiters;
	entry->waiters = NULL;
	if (answer != NULL && keep && answer->n <= answers->max_bytes / 4) {
		entry->answer = answer_hold(answer);
		entry->n_bytes = answer->n + sizeof(*entry) + sizeof(*answer) + strlen(question);
		answers->n_bytes += entry->n_bytes;
		use_add(&answers->known, &entry->use);
	} else {
		remove_entry(answers, entry);
	}
	while (answers->n_bytes > answers->max_bytes) {
		struct entry *oldest = (struct entry *)answers->known.oldest;
		answers->n_bytes -= oldest->n_bytes;
		use_remove(&answers->known, &oldest->use);
		remove_entry(answers, oldest);
	}
	pthread_mutex_unlock(&answers->lock);
	return waiters;
}
