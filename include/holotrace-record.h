/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holotrace-record.h - record what a C, C++ or CUDA program does, as an execution trace and as a
 * timeline that Holotrace and every other reader of PyTorch traces understands.
 *
 *     struct ht_record_options options = { .struct_size = sizeof options,
 *             .trace_path = "run.json", .flags = HT_RECORD_CUDA };
 *     if (ht_record_register("run.et.json", &options) || ht_record_start())
 *             puts(ht_record_error());
 *     uint64_t token = ht_record_push("load batch");    an annotation, until
 *     ht_record_end(token, NULL);
 *     if (ht_record_unregister())                       now the files are there
 *             puts(ht_record_error());
 *
 * unregistered ── register ──► registered ◄─ start / stop ─► running;  unregister ends either
 *
 * One recording at a time and process. While it runs, all threads are seen. Each thread writes into
 * memory of its own, without locks; ids and JSON are made by ht_record_unregister, or at exit.
 * Until then the recording is the file PATH.part, complete after every call: what a killed process
 * leaves behind, ht_record_recover turns into the same files.
 *
 * Functions that can fail answer a status, as those of holotrace.h do, and ht_record_error() says
 * more. Structs that start with struct_size follow its rules: zero them, set struct_size to their
 * sizeof and then what differs; 0 is the struct as first published, and fields that this version
 * does not know are HT_USAGE unless they are zero. What lies in lists, millions of times (values,
 * tensors, attributes), has no size and never grows: more is told under another kind. A child made
 * by fork records nothing until it registers itself. Names (ht_record_name) are good for the life
 * of the process. The library is never unloaded: calls after the end are cheap and do nothing. A
 * NULL for a name is no name: the call does nothing.
 *
 * A signal handler may call ht_record_is_running and ht_record_is_registered, which read one atomic
 * each, and nothing else of this header: a handler that interrupts a record would write into the
 * middle of it.
 */
#ifndef HOLOTRACE_RECORD_H
#define HOLOTRACE_RECORD_H

#include "holotrace/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HT_RECORD_API     __attribute__((visibility("default")))
#define HT_RECORD_UNNAMED __extension__ /* C has unnamed unions since C11 */
#else
#define HT_RECORD_API
#define HT_RECORD_UNNAMED
#endif

/* ---- life ----------------------------------------------------------------------------------- */

enum ht_record_flags {
	/* CUDA calls and GPU work, when CUPTI can be loaded; ht_record_error() tells when it
	 * cannot */
	HT_RECORD_CUDA = 1,
	HT_RECORD_NO_INPUTS = 2,     /* names only: no arguments */
	HT_RECORD_NO_OUTPUTS = 4,    /* no results */
	HT_RECORD_EXACT_DOUBLES = 8, /* shortest exact digits instead of six decimals */
	/* an address given to ht_record_freed gets a new id when it returns */
	HT_RECORD_NEW_IDS = 16,
	HT_RECORD_IN_MEMORY = 32, /* no PATH.part: nothing survives a kill */
	HT_RECORD_SYNC = 64,      /* force the files to the disk */
};

/* Counts of steps; a step lasts from one ht_record_step to the next. active 0: no schedule. */
struct ht_record_schedule {
	uint32_t skip_first, wait, warmup, active, repeat; /* repeat 0: for ever */
};

struct ht_record_options {
	size_t struct_size;     /* sizeof, see the top */
	uint32_t flags;         /* enum ht_record_flags */
	uint32_t max_elements;  /* of a list that is written, one more is; 0: 4096 */
	const char *trace_path; /* the timeline; NULL: none */
	uint64_t max_bytes;     /* of PATH.part; what comes later is counted as lost. 0: 64 GiB */
	int32_t rank, n_ranks;  /* n_ranks 0: no distributed job */
	struct ht_record_schedule schedule;
	/* After each cycle of the schedule, from ht_record_step or _stop; must not call these. */
	void (*on_cycle)(void *user);
	void *user;
	const char *cupti_path; /* library to load for HT_RECORD_CUDA; NULL: the usual places */
};

/* Begin a recording. path, the execution trace, may be NULL when options name a timeline; names
 * that end in .gz or .zst are compressed. HT_USAGE: there is one, and it stays as it is; HT_IO: no
 * file can be made. */
HT_RECORD_API enum ht_status ht_record_register(
        const char *path, const struct ht_record_options *options) HT_MUST_USE;
/* Record from now on; with a schedule, from its first active step on. HT_USAGE: not registered. */
HT_RECORD_API enum ht_status ht_record_start(void) HT_MUST_USE;
/* Pause. Calls still open are forgotten. */
HT_RECORD_API enum ht_status ht_record_stop(void) HT_MUST_USE;
/* Stop, write the files, forget the recording. When that fails PATH.part stays. */
HT_RECORD_API enum ht_status ht_record_unregister(void) HT_MUST_USE;
/* End of a step: "ProfilerStep#N" is annotated and the schedule moves on. Needs a schedule. */
HT_RECORD_API enum ht_status ht_record_step(void) HT_MUST_USE;
/* The path of the last registration, also when it has ended; NULL when there was none. */
HT_RECORD_API const char *ht_record_output_path(void);
HT_RECORD_API bool ht_record_is_registered(void);
HT_RECORD_API bool ht_record_is_running(void);
/* What this thread's last failed call says, never NULL. */
HT_RECORD_API const char *ht_record_error(void);

/* Make the files from what a killed process left. NULL for a path: beside the part, under the name
 * that was registered, and never over a file that is there (HT_IO; ht_record_error says it); "":
 * not that file. A path that is given is written to, whatever is there. The .part file stays. */
HT_RECORD_API enum ht_status ht_record_recover(
        const char *part, const char *path, const char *trace_path) HT_MUST_USE;

struct ht_record_stats {
	size_t struct_size; /* sizeof, see the top */
	uint64_t n_calls;   /* begun while running */
	uint64_t n_lost;    /* records refused: no memory, or max_bytes reached */
	uint64_t n_bytes;   /* of records so far, in this recording */
	uint32_t n_threads; /* that recorded */
};
/* Of the recording in progress, or of the last one. */
HT_RECORD_API void ht_record_get_stats(struct ht_record_stats *ret_stats);

/* ---- calls ---------------------------------------------------------------------------------- */

/* The number of a text: names, schemas, devices, types. 0: no text, or out of memory. */
HT_RECORD_API uint32_t ht_record_name(const char *text, size_t n);

enum ht_record_kind {
	HT_RECORD_NONE,      /* "<None>" */
	HT_RECORD_INT,       /* integer */
	HT_RECORD_BOOL,      /* integer, 0 or 1 */
	HT_RECORD_DOUBLE,    /* real */
	HT_RECORD_STRING,    /* text */
	HT_RECORD_DEVICE,    /* name: "cuda:0" */
	HT_RECORD_OTHER,     /* name of its kind: "Generator" is written as "<Generator>" */
	HT_RECORD_TENSOR,    /* tensor */
	HT_RECORD_UNDEFINED, /* a tensor that is none; tensor->object only */
	HT_RECORD_LIST,      /* list */
	HT_RECORD_TUPLE,     /* list */
};

struct ht_record_tensor {
	const void *object;         /* tells tensors apart */
	const void *storage;        /* tells memory apart; NULL: none */
	int64_t offset, n_elements; /* in elements */
	uint32_t item_bytes;
	uint32_t type, device; /* names: "float", "cuda:0" */
	uint32_t n_dims;       /* 0 for a scalar, and where sizes are not known; at most 64 */
	const int64_t *dims, *strides; /* strides NULL: contiguous */
};

struct ht_record_value {
	uint32_t kind; /* enum ht_record_kind */
	uint32_t name;
	HT_RECORD_UNNAMED union {
		int64_t integer;
		double real;
		struct {
			const char *bytes;
			size_t n;
		} text;
		const struct ht_record_tensor *tensor;
		struct {
			const struct ht_record_value *items;
			size_t n;
		} list;
	};
};

/* RecordFunction's scopes. */
enum ht_record_scope {
	HT_RECORD_FUNCTION = 0,
	HT_RECORD_BACKWARD = 1,
	HT_RECORD_ANNOTATION = 7,
};

/* What is known when a call begins. Zero everywhere but name and sequence is a plain function. */
struct ht_record_call {
	size_t struct_size;      /* sizeof, see the top */
	uint32_t name;           /* ht_record_name */
	uint32_t scope;          /* enum ht_record_scope, 0 to 9 */
	uint64_t record_id;      /* 0: a fresh one */
	int64_t sequence;        /* autograd's, -1: none */
	uint64_t thread;         /* logical number of this thread; 0: the next one */
	uint64_t forward_thread; /* of the forward call, for a backward one; else 0 */
	uint32_t schema;         /* names; 0: none */
	uint32_t kernel_backend;
	uint32_t kernel_file;
	uint32_t tensor_range;
	const struct ht_record_value *inputs;
	size_t n_inputs;
};

/* More attributes of a node: an integer or a text, under a name. */
struct ht_record_attribute {
	uint32_t name;
	uint32_t is_text; /* else integer, tagged uint64 */
	int64_t integer;
	const char *bytes; /* of the text; copied */
	size_t n;
};

/* What is known when it ends. */
struct ht_record_result {
	size_t struct_size; /* sizeof, see the top */
	const struct ht_record_value *outputs;
	size_t n_outputs;
	const struct ht_record_attribute *attributes;
	size_t n_attributes;
};

/* A call begins on this thread; everything is copied. Its token, 0 when nothing is recorded. */
HT_RECORD_API uint64_t ht_record_begin(const struct ht_record_call *call);
/* It ends, on any thread. result may be NULL, and one that cannot be taken counts as none; token 0
 * is fine. */
HT_RECORD_API void ht_record_end(uint64_t token, const struct ht_record_result *result);
/* An annotation begins; ht_record_end ends it. */
HT_RECORD_API uint64_t ht_record_push(const char *name);
/* Name this thread in the timeline; else the system's name for it is taken. */
HT_RECORD_API void ht_record_name_thread(const char *name);
/* The object or memory at this address is gone; see HT_RECORD_NEW_IDS. */
HT_RECORD_API void ht_record_freed(const void *address);

#ifdef __cplusplus
}

namespace holotrace
{

/* An annotation as long as its block. */
class record_range
{
      public:
	explicit record_range(const char *name) : token_(ht_record_push(name)) {}
	~record_range()
	{
		ht_record_end(token_, nullptr);
	}
	record_range(const record_range &) = delete;
	record_range &operator=(const record_range &) = delete;

      private:
	uint64_t token_;
};

} // namespace holotrace
#endif

#endif
