/*
 * number_list.h - lists of numbers as on a command line: "3-5,7".
 */
#ifndef HT_ANALYSIS_COMMON_NUMBER_LIST_H
#define HT_ANALYSIS_COMMON_NUMBER_LIST_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers and ranges of numbers that are not negative, separated by commas; at least one. */
bool ht_number_list_is_valid(const char *list);
/* Whether a valid list has the number. O(length of the list). */
bool ht_number_list_has(const char *list, int64_t number);

#endif
