/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <stdbool.h>
#include <string.h>
#ifdef HT_PORTABLE
#include <sys/random.h>
#else
#include <sys/auxv.h>
#endif

uint64_t ht_hash_salt;

/* Linux draws bytes for every process and leaves them beside its arguments: they need no device, and no C library that is younger than
 * those that wheels are for, as getentropy would. */
static bool draw(uint64_t *ret_words)
{
#ifdef HT_PORTABLE
	return !getentropy(ret_words, 2 * sizeof *ret_words);
#else
	const void *bytes = (const void *)(uintptr_t)getauxval(AT_RANDOM);
	if (bytes)
		memcpy(ret_words, bytes, 2 * sizeof *ret_words);
	return bytes != NULL;
#endif
}

/* Before any table is made, and so before any thread. Without a source of random bytes, where the library lies is another for each process. */
__attribute__((constructor)) static void draw_salt(void)
{
	uint64_t words[2] = { (uintptr_t)&ht_hash_salt, 0 };
	ht_hash_salt = draw(words) ? ht_hash_u64(words[0]) ^ words[1] : ht_hash_u64(words[0]);
}
