/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_layout.h - whole events by guess: the layouts seen so far, as a trie of the text between values.
 *
 * A writer lays its events out in a few ways that differ only in the values:
 *
 *   {"ph": "X", "name": "a", "ts": 1, "args": {"id": 7}}
 *   └─────┘   └─────────┘  └───────┘ └──────────────┘ └┘     texts; each leads to a value, the last to the end
 *
 * The scanner walks down the trie as long as the texts match and the values have the types that were met
 * there. At an end the shape is known without looking at a single key. Whatever does not match is read
 * key by key, and learned.
 *
 * Phases and categories are few, and tell how an event goes on: where they are short they are part of the text.
 */
#ifndef HT_READ_EVENT_LAYOUT_H
#define HT_READ_EVENT_LAYOUT_H

#include "base/arena.h"
#include "store/event.h"

/* Longer texts are not learned: they are compared within the padding behind every text. */
#define HT_MAX_LAYOUT_TEXT 64

/* Types of nodes beyond those of args: fields, from the first on, and the end. */
enum { HT_LAYOUT_FIELD = 64, HT_LAYOUT_END = 128 };

/* The last text value of a place, quotes or brackets included: values repeat. At a pid what stood from it to the byte
 * behind the tid that follows. It points into the text being scanned, and is void in another epoch. */
struct ht_text_memo {
	const char *text;
	uint64_t epoch;
	int64_t value; /* the id of a text; the number */
	uint32_t n;
};

/* What is known at the end of a layout. */
struct ht_layout_end {
	uint32_t shape, cat;
	char ph;
	bool fixes_ph, fixes_cat; /* they are part of its texts */
};

struct ht_layout_node {
	char text[HT_MAX_LAYOUT_TEXT];       /* what precedes the value, zeros behind it */
	struct ht_layout_node *child, *next; /* first node after the value; another at this place */
	uint32_t n;                          /* bytes of the text, at least 1 */
	uint32_t item;                       /* as in shapes */
	uint8_t type; /* enum ht_arg_type, HT_LAYOUT_FIELD + enum ht_field, or HT_LAYOUT_END */
	union {
		struct ht_text_memo memo; /* of a value */
		struct ht_layout_end end;
	};
	/* of an end: with which the next event began, last time; of a pid with a memo: the place of its tid */
	struct ht_layout_node *then;
};

/* A value of an event that was read key by key. */
struct ht_mark {
	const char *start, *end;
	uint32_t item, key;
	uint8_t type;
};

struct ht_layouts {
	struct ht_arena arena;
	struct ht_layout_node *first; /* before every event; NULL: nothing is known */
	struct ht_layout_node *last;  /* the end of the last event with a known layout, or NULL */
	uint32_t n_nodes;
};

void ht_layouts_init(struct ht_layouts *layouts, struct ht_mem *mem);
void ht_layouts_done(struct ht_layouts *layouts);
/* Add the layout of an event in [start, end) by its values, with its shape, phase and category; nothing happens when it
 * cannot be kept. */
void ht_layouts_learn(struct ht_layouts *layouts, const char *start, const char *end,
        const struct ht_mark *marks, size_t n_marks, const struct ht_layout_end *known);

#endif
