/*
 * number_list.h - lists such as "3-5,7" that users give for steps and streams.
 */
#ifndef HT_ANALYSIS_COMMON_NUMBER_LIST_H
#define HT_ANALYSIS_COMMON_NUMBER_LIST_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers and ranges with commas between; an empty text is a valid list of nothing. */
bool ht_number_list_is_valid(const char *text);
/* Whether a valid list has the number. */
bool ht_number_list_has(const char *text, int64_t number);

#endif
