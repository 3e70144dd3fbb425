/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_names.h - what blocks of a memory snapshot are called: frames, stacks, annotations, categories, pools, sizes.
 *
 * The user's own line is the innermost Python frame outside of torch and of installed packages. Frames that only say
 * how Python or the dispatcher got there are left out of stacks, as torch's own viewers do.
 *
 * Categories are recorded where the file has them; else those that a memory timeline of the same run has (mem_timeline.h), or an execution
 * trace of it shows, joined by the Kineto trace; else they are estimated by rules over the frames, from the innermost out, the first that fits: what the user's rules name; AccumulateGrad: gradient; the step of an optimizer: optimizer;
 * parameters being made, moved or loaded: parameter; unsharding of FSDP: communication; backward: gradient where it lives beyond the
 * next step of an optimizer, else temporary; forward: activation, or temporary where it is freed inside the annotation
 * that it was made in. Unknown otherwise.
 */
#ifndef HT_MODEL_SNAPSHOT_MEM_NAMES_H
#define HT_MODEL_SNAPSHOT_MEM_NAMES_H

#include "model/snapshot/mem_join.h"
#include "model/snapshot/mem_rules.h"
#include "model/snapshot/mem_timeline.h"

struct ht_mem_frame;

/* Bytes of a text that is put together from names of the file, which can have any length and be there many times: what does not fit is left
 * out. */
#define HT_MEM_MAX_TEXT ((size_t)256 << 10)

/* A record_function scope. */
struct ht_mem_scope {
	uint32_t name, parent;    /* string id; scope around it, HT_NONE */
	int64_t start_ns, end_ns; /* INT64_MAX: not ended */
};

struct ht_mem_scopes {
	struct ht_mem_scope *list; /* by start */
	size_t n;
	uint32_t *of_event; /* innermost scope around each event, HT_NONE */
	const char **paths; /* "a > b" by scope, made when asked for */
};

/* Memory in scratch. */
enum ht_status ht_mem_scopes_find(struct ht_run *run, struct ht_mem_scopes *ret_scopes) HT_MUST_USE;
/* "ProfilerStep#1 > forward"; NULL when out of memory. */
const char *ht_mem_scope_path(struct ht_run *run, struct ht_mem_scopes *scopes, uint32_t scope);

/* "train.py:62 step" of a frame; NULL when out of memory. */
const char *ht_mem_frame_text(struct ht_run *run, const struct ht_mem_frame *frame);
/* The user's own frame of a stack, HT_NONE when it has none. */
uint32_t ht_mem_user_frame(const struct ht_trace *trace, uint32_t stack);
/* Its text, or "(no Python frame)". */
const char *ht_mem_user_text(struct ht_run *run, uint32_t stack);
/* Frames from the outermost in, ";" between, and "..." for those that do not fit; NULL when out of memory. */
const char *ht_mem_stack_text(struct ht_run *run, uint32_t stack);

enum ht_mem_by {
	HT_MEM_BY_FRAME,
	HT_MEM_BY_STACK,
	HT_MEM_BY_MODULE,
	HT_MEM_BY_ANNOTATION,
	HT_MEM_BY_CATEGORY,
	HT_MEM_BY_POOL,
	HT_MEM_BY_SIZE,
	HT_MEM_BY_OPERATOR, /* of the Kineto trace of the same run, as module and step */
	HT_MEM_BY_STEP,
};

/* What the frames of a stack say of the category of its blocks. */
struct ht_mem_said {
	const char *rule; /* category of a rule of the user; NULL: none fits */
	uint8_t says;     /* what the built-in rules say */
	bool is_known;    /* was looked at */
};

/* Names of the lives of a rank. */
struct ht_mem_names {
	struct ht_run *run;
	const struct ht_mem_history *history;
	struct ht_mem_scopes scopes;
	enum ht_mem_by by;
	struct ht_mem_rules rules; /* of the user */
	struct ht_mem_said
	        *said; /* what the frames of each stack say of its category, found when asked for */
	struct ht_mem_said said_none;
	const char **of_stack;   /* by stack id, made when asked for */
	const char *none;        /* of lives without a stack */
	const char **stacks;     /* texts of whole stacks by id, made when asked for */
	int64_t *optimizer_ends; /* events after which an optimizer's step has ended, ascending */
	size_t n_optimizer_ends;
	const struct ht_mem_join *join; /* with the Kineto trace of the same run; NULL: none */
	const struct ht_mem_derived *derived; /* by row of the Kineto trace; NULL: none */
	bool has_recorded;                    /* some category is in the file */
};

enum ht_status ht_mem_names_init(struct ht_run *run, const struct ht_mem_history *history,
        enum ht_mem_by by, const char *rules, struct ht_mem_names *ret_names) HT_MUST_USE;
/* The key of a life; NULL when out of memory. */
const char *ht_mem_name_of(struct ht_mem_names *names, const struct ht_mem_life *life);
/* The text of a whole stack, made once; NULL when out of memory. */
const char *ht_mem_names_stack(struct ht_mem_names *names, uint32_t stack);
/* Who says its category: "recorded", "timeline", "execution-trace", "rules" of the user, "estimated", or NULL where none is known. NULL unless blocks are
 * called by category. */
const char *ht_mem_source_of(struct ht_mem_names *names, const struct ht_mem_life *life);
enum ht_mem_by ht_mem_by_parse(const char *word);

#endif
