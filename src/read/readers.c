/*
 * readers.c - the list of readers; see reader.h.
 */
#include "read/reader.h"

static const struct ht_reader *const readers[] = {
#define READER(x) &ht_reader_##x,
#include "read/readers.def"
#undef READER
};

const struct ht_reader *ht_reader_find(const struct ht_head *head)
{
	for (size_t i = 0; i < HT_COUNT(readers); i++)
		if (readers[i]->sniff(head))
			return readers[i];
	return NULL;
}

const struct ht_reader *ht_reader_named(const char *name)
{
	for (size_t i = 0; i < HT_COUNT(readers); i++)
		if (!strcmp(readers[i]->name, name))
			return readers[i];
	return NULL;
}
