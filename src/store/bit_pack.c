/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_bytes.c - see table_bytes.h: blocks are written.
 */
#include "store/bit_pack.h"

#include "base/cpu.h"

/* 2^53: whole numbers up to here are doubles. */
#define MAX_EXACT ((int64_t)1 << 53)

const double ht_pack_powers[HT_PACK_MAX_SCALE + 1] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8,
	1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
const int64_t ht_pack_factors[HT_PACK_MAX_SCALE + 1] = { 1, 10, 100, 1000, 10000, 100000, 1000000,
	10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000, 10000000000000,
	100000000000000, 1000000000000000 };

#define ROOM(power) (MAX_EXACT / (power))
const int64_t ht_pack_rooms[HT_PACK_MAX_SCALE + 1] = { ROOM(1), ROOM(10), ROOM(100), ROOM(1000),
	ROOM(10000), ROOM(100000), ROOM(1000000), ROOM(10000000), ROOM(100000000), ROOM(1000000000),
	ROOM(10000000000), ROOM(100000000000), ROOM(1000000000000), ROOM(10000000000000),
	ROOM(100000000000000), ROOM(1000000000000000) };

/* ---- planning ---- */

/* Zeros at the end of all decimals are not needed. */
static uint8_t drop_zeros(int64_t *values, unsigned n, uint8_t scale)
{
	for (bool all = true; scale > 0 && scale <= HT_PACK_MAX_SCALE; scale--) {
		for (unsigned i = 0; all && i < n; i++)
			all = values[i] % 10 == 0;
		if (!all)
			break;
		for (unsigned i = 0; i < n; i++)
			values[i] /= 10;
	}
	return scale;
}

/* Values that compilers handle together, in whatever registers there are. */
typedef uint64_t lanes __attribute__((vector_size(32), aligned(8), may_alias));

static void measure(const uint64_t *values, uint64_t *ret_any, uint64_t *ret_all)
{
	const lanes *v = (const lanes *)(const void *)values;
	lanes any = v[0], all = v[0];
	for (unsigned i = 1; i < HT_PACK_VALUES / 4; i++) {
		any |= v[i];
		all &= v[i];
	}
	*ret_any = any[0] | any[1] | any[2] | any[3];
	*ret_all = all[0] & all[1] & all[2] & all[3];
}

static void mark(const uint64_t *v, uint64_t *ret_masks)
{
	for (unsigned first = 0; first < HT_PACK_VALUES; first += 64) {
		uint64_t mask = 0;
		for (unsigned i = 0; i < 64; i += 4)
			mask |= ((uint64_t)(v[first + i] != 0) |
			                (uint64_t)(v[first + i + 1] != 0) << 1 |
			                (uint64_t)(v[first + i + 2] != 0) << 2 |
			                (uint64_t)(v[first + i + 3] != 0) << 3)
			        << i;
		ret_masks[first / 64] = mask;
	}
}

const struct ht_pack_loops ht_pack_loops_any = { measure, mark };

const struct ht_pack_loops *ht_pack_loops(void)
{
#if defined(__x86_64__)
	if (ht_cpu_has_avx2())
		return &ht_pack_loops_avx2;
#endif
	return &ht_pack_loops_any;
}

/* The base and bits of a block: the base is the bits in front that all have. */
static void set_base(struct ht_pack_block *block, uint64_t any, uint64_t all)
{
	block->base = (int64_t)all;
	block->n_bits = 0;
	if (any == all)
		return;
	unsigned n_bits = 64 - (unsigned)__builtin_clzll(any ^ all);
	block->n_bits = n_bits & 0xff;
	block->base = n_bits < 64 ? (int64_t)(all >> n_bits << n_bits) : 0;
}

/* Which values are not zero; where the first ones are, all count so. Returns how many. */
static unsigned find_others(
        const struct ht_pack_loops *loops, const uint64_t *v, unsigned n, uint64_t *masks)
{
	unsigned n_others = 0, i = 0;
	while (i < n && i < 16 && v[i])
		i++;
	if (i == n || i == 16)
		return n;
	loops->mark(v, masks);
	for (i = 0; i < HT_PACK_MASKS; i++) {
		unsigned first = i * 64;
		if (n < first + 64)
			masks[i] &= n > first ? ~(uint64_t)0 >> (first + 64 - n) : 0;
		n_others += ht_pack_count(masks[i]);
	}
	return n_others;
}

void ht_pack_plan(int64_t *values, unsigned n, uint8_t scale, struct ht_pack_plan *ret)
{
	const struct ht_pack_loops *loops = ht_pack_loops();
	uint64_t *v = (uint64_t *)values, any, all;
	ret->block = (struct ht_pack_block){ .scale = drop_zeros(values, n, scale) };
	/* of a count that is known; the first value changes nothing */
	for (unsigned i = n; i < HT_PACK_VALUES; i++)
		values[i] = values[0];
	loops->measure(v, &any, &all);
	set_base(&ret->block, any, all);
	unsigned n_bits = ret->block.n_bits;
	ret->n_values = n;
	ret->n_others = n_bits > 1 ? find_others(loops, v, n, ret->others) : n;
	ret->n_words = ((size_t)n * n_bits + 63) / 64;
	/* worth it when an eighth is saved */
	ret->is_sparse = (n - ret->n_others) * n_bits >= 64 * (1 + HT_PACK_MASKS) + n * n_bits / 8;
	if (ret->is_sparse) {
		ret->n_words = ((size_t)ret->n_others * n_bits + 63) / 64 + 1 + HT_PACK_MASKS;
		ret->block.n_bits = (n_bits + HT_PACK_SPARSE) & 0xff;
	}
}

/* ---- writing ---- */

/* The values that are not zero move to the front; which these are is written. */
static void squeeze(const struct ht_pack_plan *plan, uint64_t *values, uint64_t *words)
{
	unsigned n_kept = 0;
	words[0] = 0;
	for (unsigned i = 0; i < HT_PACK_MASKS; i++) {
		words[0] |= (uint64_t)n_kept << i * 16;
		words[1 + i] = plan->others[i];
		for (uint64_t left = plan->others[i]; left; left &= left - 1)
			values[n_kept++] = values[i * 64 + (unsigned)__builtin_ctzll(left)];
	}
}

/* n values of n_bits each, one behind the other. Whether a word is full cannot be guessed, so nothing is asked. */
static void pack(const uint64_t *values, unsigned n, unsigned n_bits, uint64_t *out)
{
	uint64_t word = 0;
	unsigned used = 0;
	for (unsigned i = 0; i < n; i++) {
		uint64_t value = values[i], rest = value >> 1 >> (63 - used);
		word |= value << used;
		*out = word;
		used += n_bits;
		out += used / 64;
		word = used / 64 ? rest : word;
		used %= 64;
	}
	if (used)
		*out = word;
}

/* The same when each quarter of them fills whole words: quarters do not wait for each other. */
static void pack_quarters(const uint64_t *values, unsigned n, unsigned n_bits, uint64_t *out)
{
	const unsigned n_own = n / 4, n_words = n_own * n_bits / 64;
	const uint64_t *v[4] = { values, values + n_own, values + 2 * n_own, values + 3 * n_own };
	uint64_t *to[4] = { out, out + n_words, out + 2 * n_words, out + 3 * n_words };
	uint64_t word[4] = { 0 };
	unsigned used = 0, at = 0;
	for (unsigned i = 0; i < n_own; i++) {
		unsigned left = 63 - used, sum = used + n_bits;
		for (unsigned k = 0; k < 4; k++) {
			to[k][at] = word[k] |= v[k][i] << used;
			word[k] = sum / 64 ? v[k][i] >> 1 >> left : word[k];
		}
		at += sum / 64;
		used = sum % 64;
	}
}

void ht_pack_write(const struct ht_pack_plan *plan, int64_t *values, uint64_t *words)
{
	unsigned n_bits = plan->block.n_bits % HT_PACK_SPARSE, n = plan->n_values;
	uint64_t *v = (uint64_t *)values;
	if (plan->is_sparse) {
		squeeze(plan, v, words);
		n = plan->n_others;
		words += 1 + HT_PACK_MASKS;
	}
	for (unsigned i = 0; plan->block.base && i < n; i++)
		v[i] ^= (uint64_t)plan->block.base;
	/* two, four and more that fit a word are one value of as many bits */
	for (; n_bits <= 16 && n % 4 == 0; n /= 4, n_bits *= 4)
		for (unsigned i = 0; i < n / 4; i++)
			v[i] = (v[4 * i] | v[4 * i + 1] << n_bits) |
			       (v[4 * i + 2] | v[4 * i + 3] << n_bits) << 2 * n_bits;
	for (; n_bits <= 32 && n % 2 == 0; n /= 2, n_bits *= 2)
		for (unsigned i = 0; i < n / 2; i++)
			v[i] = v[2 * i] | v[2 * i + 1] << n_bits;
	if (n % 4 == 0 && n / 4 * n_bits % 64 == 0)
		pack_quarters(v, n, n_bits, words);
	else
		pack(v, n, n_bits, words);
}
