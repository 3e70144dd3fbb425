/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_number.c - see et_number.h.
 */
#include "et/et_number.h"

#include "base/number.h"

#include "base/checked.h"

bool ht_et_parse_u64(const char *p, size_t n, uint64_t *ret_value)
{
	uint64_t value = 0;
	if (!n || n > 20)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!ht_is_digit(p[i]) || __builtin_mul_overflow(value, 10, &value) ||
		        __builtin_add_overflow(value, (uint64_t)(p[i] - '0'), &value))
			return false;
	}
	*ret_value = value;
	return true;
}

bool ht_et_parse_i64(const char *p, size_t n, int64_t *ret_value)
{
	uint64_t value;
	bool negative = n && *p == '-';
	if (!ht_et_parse_u64(p + negative, n - negative, &value) ||
	        value > (uint64_t)INT64_MAX + negative)
		return false;
	*ret_value = (int64_t)(negative ? 0 - value : value);
	return true;
}
