/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_test.c - the corpora of all fuzz targets as ordinary tests, without clang.
 *
 * The targets are compiled in under names of their own. Those of the recorder, of processes and of requests are fed by tests beside theirs.
 */
#include <stddef.h>
#include <stdint.h>

int target_attach(const uint8_t *data, size_t size);
int target_bundle(const uint8_t *data, size_t size);
int target_cache(const uint8_t *data, size_t size);
int target_chakra(const uint8_t *data, size_t size);
int target_convert(const uint8_t *data, size_t size);
int target_csv(const uint8_t *data, size_t size);
int target_db(const uint8_t *data, size_t size);
int target_et(const uint8_t *data, size_t size);
int target_events(const uint8_t *data, size_t size);
int target_gzip(const uint8_t *data, size_t size);
int target_history(const uint8_t *data, size_t size);
int target_iterations(const uint8_t *data, size_t size);
int target_lists(const uint8_t *data, size_t size);
int target_mcp(const uint8_t *data, size_t size);
int target_perfetto(const uint8_t *data, size_t size);
int target_read(const uint8_t *data, size_t size);
int target_rows(const uint8_t *data, size_t size);
int target_scan(const uint8_t *data, size_t size);
int target_share(const uint8_t *data, size_t size);
int target_snapshot(const uint8_t *data, size_t size);
int target_sql(const uint8_t *data, size_t size);
int target_tables(const uint8_t *data, size_t size);
int target_where(const uint8_t *data, size_t size);
int target_zstd(const uint8_t *data, size_t size);

#define LLVMFuzzerTestOneInput target_attach
#include "fuzz_attach.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_bundle
#include "fuzz_bundle.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_cache
#include "fuzz_cache.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_chakra
#include "fuzz_chakra.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_convert
#include "fuzz_convert.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_csv
#include "fuzz_csv.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_db
#include "fuzz_db.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_et
#include "fuzz_et.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_events
#include "fuzz_events.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_gzip
#include "fuzz_gzip.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_history
#include "fuzz_history.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_iterations
#include "fuzz_iterations.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_lists
#include "fuzz_lists.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_mcp
#include "fuzz_mcp.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_perfetto
#include "fuzz_perfetto.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_read
#include "fuzz_read.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_rows
#include "fuzz_rows.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_scan
#include "fuzz_scan.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_share
#include "fuzz_share.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_snapshot
#include "fuzz_snapshot.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_sql
#include "fuzz_sql.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_tables
#include "fuzz_tables.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_where
#include "fuzz_where.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_zstd
#include "fuzz_zstd.c"
#undef LLVMFuzzerTestOneInput

#include "replay.h"

#define REPLAY(name)                                                                               \
	static void replay_##name(void **state)                                                    \
	{                                                                                          \
		(void)state;                                                                       \
		replay(#name, target_##name);                                                      \
	}
/* Of those that read traces some seed is one: else the target, or its seeds, are not of today, and nothing is tried. */
#define REPLAY_READER(name)                                                                        \
	static void replay_##name(void **state)                                                    \
	{                                                                                          \
		(void)state;                                                                       \
		fuzz_n_read = 0;                                                                   \
		replay(#name, target_##name);                                                      \
		assert_true(fuzz_n_read > 0);                                                      \
	}
REPLAY(attach)
REPLAY(bundle)
REPLAY_READER(cache)
REPLAY(chakra)
REPLAY_READER(convert)
REPLAY(csv)
REPLAY_READER(db)
REPLAY(et)
REPLAY_READER(events)
REPLAY_READER(gzip)
REPLAY(history)
REPLAY(iterations)
REPLAY(lists)
REPLAY(mcp)
REPLAY_READER(perfetto)
REPLAY_READER(read)
REPLAY_READER(rows)
REPLAY(scan)
REPLAY(share)
REPLAY_READER(snapshot)
REPLAY(sql)
REPLAY_READER(tables)
REPLAY(where)
REPLAY_READER(zstd)

int main(void)
{
	replay_looks_closely = &fuzz_spares_nothing;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replay_attach),
		cmocka_unit_test(replay_bundle),
		cmocka_unit_test(replay_cache),
		cmocka_unit_test(replay_chakra),
		cmocka_unit_test(replay_convert),
		cmocka_unit_test(replay_csv),
		cmocka_unit_test(replay_db),
		cmocka_unit_test(replay_et),
		cmocka_unit_test(replay_events),
		cmocka_unit_test(replay_gzip),
		cmocka_unit_test(replay_history),
		cmocka_unit_test(replay_iterations),
		cmocka_unit_test(replay_lists),
		cmocka_unit_test(replay_mcp),
		cmocka_unit_test(replay_perfetto),
		cmocka_unit_test(replay_read),
		cmocka_unit_test(replay_rows),
		cmocka_unit_test(replay_scan),
		cmocka_unit_test(replay_share),
		cmocka_unit_test(replay_snapshot),
		cmocka_unit_test(replay_sql),
		cmocka_unit_test(replay_tables),
		cmocka_unit_test(replay_where),
		cmocka_unit_test(replay_zstd),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
