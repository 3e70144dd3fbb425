/*
 * telling.h - findings in words: lines of a topic, what was found, the events behind it and where to look next.
 */
#ifndef HT_VERDICT_TELLING_H
#define HT_VERDICT_TELLING_H

#include "verdict/findings.h"
#include "verdict/words.h"

/* A name in a sentence has so many cells. */
#define HT_TELL_CELLS 60

struct ht_telling {
	struct ht_findings f;
	struct ht_run *run;
	ht_table *table;
	struct ht_words words;
};

const char *ht_tell_share(struct ht_telling *tell, int64_t part, int64_t whole);
/* As much of a name as a list bears. */
const char *ht_tell_name(struct ht_telling *tell, const char *name, size_t cells);
const char *ht_tell_brief(struct ht_telling *tell, const char *name);
/* "rank:row"; NULL when there is no row. */
const char *ht_tell_event(struct ht_telling *tell, int64_t rank, int64_t row);
/* "a, b": what was said before may be empty. */
const char *ht_tell_and(struct ht_telling *tell, const char *before, const char *more);

struct ht_told_line {
	const char *topic, *finding, *evidence, *next;
	int64_t value_ns;          /* HT_NO_I64: none */
	int64_t part_ns, whole_ns; /* of the share; whole 0: none */
	int64_t saves_ns;          /* HT_NO_I64: none */
};

/* The columns of lines. */
#define HT_TOLD_COLUMNS(COLUMN)                                                                    \
	COLUMN(HT_TOLD_TOPIC, "topic", HT_STR, HT_KEY, "what the line is about", NULL)             \
	COLUMN(HT_TOLD_FINDING, "finding", HT_STR, HT_MEASURE, "what was found", NULL)             \
	COLUMN(HT_TOLD_EVIDENCE, "evidence", HT_STR, HT_MEASURE, "events behind it, as rank:row",  \
	        NULL)                                                                              \
	COLUMN(HT_TOLD_NEXT, "next", HT_STR, HT_MEASURE, "verb and options that show more", NULL)  \
	COLUMN(HT_TOLD_VALUE_NS, "value_ns", HT_DURATION, HT_MEASURE,                              \
	        "the time that it is about, of a step or, of lists, of the first in all", NULL)    \
	COLUMN(HT_TOLD_SHARE, "share", HT_RATIO, HT_MEASURE,                                       \
	        "of the whole that the sentence names", NULL)                                      \
	COLUMN(HT_TOLD_SAVES_NS, "saves_ns", HT_DURATION, HT_MEASURE,                              \
	        "what a step could be shorter by, at most", NULL)
HT_COLUMN_NUMBERS(HT_TOLD_COLUMNS, HT_N_TOLD_COLUMNS);

void ht_tell_line(struct ht_telling *tell, const struct ht_told_line *line);
/* The lines of what takes most time: operators, kernels, modules, collectives. */
void ht_tell_tops(struct ht_telling *tell);

#endif
