/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <sys/random.h>

uint64_t ht_hash_salt;

/* Before any table is made, and so before any thread. Without a source of random bytes, where the library lies is another for each process. */
__attribute__((constructor)) static void draw_salt(void)
{
	if (getentropy(&ht_hash_salt, sizeof ht_hash_salt))
		ht_hash_salt = ht_hash_u64((uintptr_t)&ht_hash_salt);
}
