/* SPDX-License-Identifier: Apache-2.0 */
/*
 * examples.c - see examples.h; tools/gen_examples writes the rows.
 */
#include "examples.h"
#include "cli.h"

#include <string.h>

static const struct example examples[] = {
#include "examples.inc"
};

const struct example *example_of(const char *verb)
{
	for (size_t i = 0; i < COUNT(examples); i++) {
		if (strcmp(examples[i].verb, verb) == 0)
			return &examples[i];
	}
	return NULL;
}
