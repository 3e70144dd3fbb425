/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recover.h - where reading can go on behind damage: the forms of events, of keys and of the list's end.
 *
 * Forms are told by what stands at a place and in the HT_LOOK_AHEAD bytes behind it. Whoever decides by a
 * form must have those bytes, or the end of the file: then the decision does not depend on where the text
 * was cut into pieces.
 */
#ifndef HT_READ_RECOVER_H
#define HT_READ_RECOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HT_LOOK_AHEAD ((ptrdiff_t)4096)

/* The end of what may be looked at from p on. */
static inline const char *ht_look_limit(const char *p, const char *limit)
{
	return limit - p > HT_LOOK_AHEAD ? p + HT_LOOK_AHEAD : limit;
}

const char *ht_skip_blanks(const char *p, const char *limit);
/* The closing quote of the string that opens at p; NULL when it is not before limit. */
const char *ht_quote_end(const char *p, const char *limit);

/* Whose key may it be? The fields are those that Chrome's format names, the core is what Kineto writes. */
enum ht_key_kind { HT_ANY_KEY, HT_EVENT_FIELD, HT_CORE_FIELD, HT_HEADER_KEY };
/* True when "key": of that kind starts at p. */
bool ht_key_form(const char *p, const char *limit, enum ht_key_kind kind);

/* True when a key of the object around the list of events starts at p: one that is known, or one that neither is an event's nor
 * has an event's keys behind it. */
bool ht_outer_key_form(const char *p, const char *limit);

/* True when a key starts at p that events have, and practically nothing else. */
bool ht_mark_form(const char *p, const char *limit);

/* True when the brace at p opens an event: its own keys, as far as they are in sight, tell. */
bool ht_event_form(const char *p, const char *limit);
/* True when an object with a phase is at p: surely an event, wherever it stands. */
bool ht_phase_form(const char *p, const char *limit);
/* Is there the key that every event has? */
bool ht_has_phase(const char *p, size_t n);

/* What separates a place from what stands before it: the last two bytes that are no blanks, last first. */
struct ht_before {
	unsigned char last, next_to_last;
};
/* True when the bracket at p, behind these, closes the list of events. */
bool ht_list_end_form(const char *p, const char *limit, struct ht_before before);

/* Places to resume at. */
enum ht_resume_at {
	HT_RESUME_NONE,     /* not in this text */
	HT_RESUME_EVENT,    /* the brace of an event */
	HT_RESUME_LIST_END, /* the bracket that closes the list of events */
	HT_RESUME_KEY,      /* a key of the top-level object */
	HT_RESUME_DOCUMENT, /* the brace of another document */
};

#define HT_RESUME_BIT(place) (uint8_t)(1u << (place))

#define HT_N_MARKS           6

/* A search that may stop at the end of a text and go on with the next. */
struct ht_search {
	struct ht_before before;
	uint8_t wanted; /* bit per enum ht_resume_at */
	bool in_header; /* keys count by depth, and events may follow anything but a colon */
	bool saw_event; /* what belongs to an event was passed: then keys are an event's */
	int32_t depth;  /* brackets opened less closed since the search began */
	/* an event has each of these keys of its own once: as often as one was passed, so many events were */
	uint32_t n_marks[HT_N_MARKS];
	uint32_t n_lost; /* events that were counted as lost */
};

/* From p on, the first place wanted; *ret_p is it, or how far the search came. final: the file ends at
 * limit, else the search stops HT_LOOK_AHEAD before it. */
enum ht_resume_at ht_search_resume(
        struct ht_search *search, const char *p, const char *limit, bool final, const char **ret_p);

/* Events that the search passed, as far as their keys are there. */
uint32_t ht_search_events(const struct ht_search *search);

/* The last place in [p, limit) where an event seems to start, for cutting; NULL when there is none. */
const char *ht_last_event(const char *p, const char *limit);

#endif
