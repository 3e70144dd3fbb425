/*
 * layout.h - whole events by guess: the layouts seen so far, as a trie of the text between values.
 *
 * A writer lays its events out in a few ways that differ only in the values:
 *
 *   {"ph": "X", "name": "a", "ts": 1, "args": {"id": 7}}
 *   └─────┘   └─────────┘  └───────┘ └──────────────┘ └┘     texts; each leads to a value, the last to the end
 *
 * The scanner walks down the trie as long as the texts match and the values have the types that were met
 * there. At an end the shape is known without looking at a single key. Whatever does not match is read
 * key by key, and learned.
 */
#ifndef HT_READ_LAYOUT_H
#define HT_READ_LAYOUT_H

#include "base/mem.h"

/* Longer texts are not learned: they are compared within the padding behind every text. */
#define HT_MAX_LAYOUT_TEXT 64

/* Types of nodes beyond those of args: fields, from the first on, and the end. */
enum { HT_LAYOUT_FIELD = 64, HT_LAYOUT_END = 128 };

/* The last text value of a place, quotes or brackets included: values repeat. It points into the text being
 * scanned, and is void in another epoch. */
struct ht_text_memo {
	const char *text;
	uint32_t n, id;
	uint64_t epoch;
};

struct ht_layout_node {
	char text[HT_MAX_LAYOUT_TEXT]; /* what precedes the value, zeros behind it */
	uint32_t n;                    /* of its bytes, at least 1 */
	uint32_t item;                 /* as in shapes; of an end: the shape */
	uint32_t child;                /* first node after the value; 0: none */
	uint32_t next;                 /* another node at this place; 0: none */
	uint8_t type; /* enum ht_arg_type, HT_LAYOUT_FIELD + enum ht_field, or HT_LAYOUT_END */
	struct ht_text_memo memo;
};

/* A value of an event that was read key by key. */
struct ht_mark {
	const char *start, *end;
	uint32_t item, key;
	uint8_t type;
};

struct ht_layouts {
	struct ht_mem *mem;
	struct ht_vec nodes; /* struct ht_layout_node; 0 is the place before every event */
};

void ht_layouts_init(struct ht_layouts *layouts, struct ht_mem *mem);
void ht_layouts_done(struct ht_layouts *layouts);
/* Add the layout of an event in [start, end) by its values; nothing happens when it cannot be kept. */
void ht_layouts_learn(struct ht_layouts *layouts, const char *start, const char *end,
        const struct ht_mark *marks, size_t n_marks, uint32_t shape);

#endif
