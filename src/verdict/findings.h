/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings.h - what is known of a run as a whole, from the facts that the single verbs show.
 *
 *   steps      their time on the host (the annotation) and up to their last GPU work (step_roles.h)
 *   device     what its time is made of (breakdown.h), what it waited for while idle (idle.h)
 *   path       what the critical path of the job is bound by (cp_across.h; of one rank its own), what each kind of bound
 *              would save at no cost (cp_retime.h; of several ranks: nothing is known beyond its time on the path)
 *   straggler  who keeps the others waiting (straggler.h)
 *   tops       time by operator, kernel, module, collective
 *   memory     what a memory snapshot of the rank tells, its own or attached (mem_findings.h)
 *
 * Nothing is measured anew here, so that no conclusion contradicts the verb that shows its facts. All of it is over the
 * steps that selection.h chooses.
 */
#ifndef HT_VERDICT_FINDINGS_H
#define HT_VERDICT_FINDINGS_H

#include "graph/cp_across.h"
#include "model/communication/breakdown.h"
#include "model/device/idle.h"
#include "model/utilisation/use_sum.h"
#include "model/steps/step_roles.h"
#include "model/steps/timed_steps.h"
#include "model/snapshot/mem_columns.h"
#include "model/snapshot/mem_findings.h"
#include "model/stragglers/straggler.h"
#include "verdict/found_runtime.h"

/* The tables of a part. */
enum {
	HT_FOUND_BREAKDOWN,                   /* breakdown.h */
	HT_FOUND_PIECES = HT_CP_FACTS_PIECES, /* cp_across.h */
	HT_FOUND_CHAINS = HT_CP_FACTS_CHAINS,
	HT_FOUND_WHAT_IF,
	HT_FOUND_EXPOSED, /* exposed.h */
	HT_FOUND_GAPS,
	HT_FOUND_IDLE,
	HT_FOUND_CALLS, /* straggler.h */
	HT_FOUND_PROFILES,
	HT_FOUND_STEP_WORK,
	HT_FOUND_STEPS,
	HT_FOUND_TOPS,
	HT_FOUND_GPUS,
	HT_FOUND_MEMORY,  /* mem_findings.h */
	HT_FOUND_USE,     /* use_sum.h */
	HT_FOUND_SERVING, /* found_runtime.h */
	HT_FOUND_COMPILE,
	HT_N_FOUND
};

#define HT_FOUND_IDLE_COLUMNS(COLUMN)                                                              \
	COLUMN(HT_FOUND_IDLE_CATEGORY, "category", HT_I64, HT_KEY, "what the device waited for",   \
	        NULL)                                                                              \
	COLUMN(HT_FOUND_IDLE_NS, "ns", HT_DURATION, HT_MEASURE, "how long", NULL)                  \
	COLUMN(HT_FOUND_IDLE_ROW, "row", HT_I64, HT_MEASURE,                                       \
	        "row of the work that ended the longest", NULL)                                    \
	COLUMN(HT_FOUND_IDLE_ROW_NS, "row_ns", HT_DURATION, HT_MEASURE, "how long that was", NULL)
HT_COLUMN_NUMBERS(HT_FOUND_IDLE_COLUMNS, HT_N_FOUND_IDLE_COLUMNS);
#define HT_FOUND_GPU_COLUMNS(COLUMN)                                                               \
	COLUMN(HT_FOUND_GPU_DEVICE, "device", HT_I64, HT_KEY, "index of the device", NULL)         \
	COLUMN(HT_FOUND_GPU_WINDOW_NS, "window_ns", HT_DURATION, HT_MEASURE,                       \
	        "first step's start to last step's end", NULL)                                     \
	COLUMN(HT_FOUND_GPU_BUSY_NS, "busy_ns", HT_DURATION, HT_MEASURE,                           \
	        "time in it with a kernel running", NULL)                                          \
	COLUMN(HT_FOUND_GPU_KERNEL_NS, "kernel_ns", HT_DURATION, HT_MEASURE,                       \
	        "sum of the durations of kernels", NULL)                                           \
	COLUMN(HT_FOUND_GPU_TC_NS, "tc_ns", HT_DURATION, HT_MEASURE, "of that, on tensor cores",   \
	        NULL)                                                                              \
	COLUMN(HT_FOUND_GPU_UNCLEAR_NS, "unclear_ns", HT_DURATION, HT_MEASURE,                     \
	        "products of which nothing says what they ran on", NULL)                           \
	COLUMN(HT_FOUND_GPU_MAJOR, "major", HT_I64, HT_MEASURE,                                    \
	        "first number of its compute capability", NULL)
HT_COLUMN_NUMBERS(HT_FOUND_GPU_COLUMNS, HT_N_FOUND_GPU_COLUMNS);
#define HT_FOUND_STEP_COLUMNS(COLUMN)                                                              \
	COLUMN(HT_FOUND_STEP_NUMBER, "number", HT_I64, HT_KEY,                                     \
	        "of the step; null: the whole recording", NULL)                                    \
	COLUMN(HT_FOUND_STEP_HOST_NS, "host_ns", HT_DURATION, HT_MEASURE,                          \
	        "duration on the host; null: not recorded", NULL)                                  \
	COLUMN(HT_FOUND_STEP_TIME_NS, "time_ns", HT_DURATION, HT_MEASURE,                          \
	        "step time, or how long the recording is; of a first step only what is in it",     \
	        NULL)                                                                              \
	COLUMN(HT_FOUND_STEP_ROW, "row", HT_I64, HT_MEASURE, "row of the step", NULL)              \
	COLUMN(HT_FOUND_STEP_BEHIND, "is_behind", HT_BOOL, HT_MEASURE,                             \
	        "the first, beside which work of before it runs", NULL)                            \
	COLUMN(HT_FOUND_STEP_COMPUTING_NS, "computing_ns", HT_DURATION, HT_MEASURE,                \
	        "as the exporter says", NULL)                                                      \
	COLUMN(HT_FOUND_STEP_EXPOSED_NS, "exposed_ns", HT_DURATION, HT_MEASURE,                    \
	        "communication alone, as the exporter says", NULL)                                 \
	COLUMN(HT_FOUND_STEP_FREE_NS, "free_ns", HT_DURATION, HT_MEASURE,                          \
	        "neither, as the exporter says", NULL)                                             \
	COLUMN(HT_FOUND_STEP_COMMUNICATION_NS, "communication_ns", HT_DURATION, HT_MEASURE,        \
	        "in communication; null: there is GPU activity", NULL)                             \
	COLUMN(HT_FOUND_STEP_DATALOADER_NS, "dataloader_ns", HT_DURATION, HT_MEASURE,              \
	        "in a data loader alone", NULL)                                                    \
	COLUMN(HT_FOUND_STEP_CPU_EXEC_NS, "cpu_exec_ns", HT_DURATION, HT_MEASURE,                  \
	        "in other operators and annotations alone", NULL)                                  \
	COLUMN(HT_FOUND_STEP_OTHER_NS, "other_ns", HT_DURATION, HT_MEASURE, "unattributed", NULL)
HT_COLUMN_NUMBERS(HT_FOUND_STEP_COLUMNS, HT_N_FOUND_STEP_COLUMNS);
#define HT_FOUND_TOP_COLUMNS(COLUMN)                                                               \
	COLUMN(HT_TOP_KIND, "kind", HT_I64, HT_KEY, "kind of what takes time", NULL)               \
	COLUMN(HT_TOP_NAME, "name", HT_STR, HT_KEY, "its name", NULL)                              \
	COLUMN(HT_TOP_NS, "ns", HT_DURATION, HT_MEASURE, "its time", NULL)                         \
	COLUMN(HT_TOP_COUNT, "count", HT_I64, HT_MEASURE, "how often", NULL)                       \
	COLUMN(HT_TOP_ROW, "row", HT_I64, HT_MEASURE, "row of the longest", NULL)                  \
	COLUMN(HT_TOP_ROW_NS, "row_ns", HT_DURATION, HT_MEASURE, "its time", NULL)
HT_COLUMN_NUMBERS(HT_FOUND_TOP_COLUMNS, HT_N_FOUND_TOP_COLUMNS);
extern const struct ht_column ht_found_idle_columns[], ht_found_step_columns[],
        ht_found_top_columns[], ht_found_gpu_columns[];
/* As the facts of an analysis; more may follow from HT_N_FOUND on. */
#define HT_FINDINGS_FACTS                                                                          \
	[HT_FOUND_BREAKDOWN] = { "breakdown", ht_breakdown_columns, HT_N_BREAKDOWN_COLUMNS },      \
	[HT_FOUND_PIECES] = { "pieces", ht_cp_piece_columns, HT_CP_N_NAMED_COLUMNS },              \
	[HT_FOUND_CHAINS] = { "chains", ht_cp_chain_columns, HT_CP_N_CHAIN_COLUMNS },              \
	[HT_FOUND_WHAT_IF] = { "what-if", ht_cp_what_if_columns, HT_CP_N_WHAT_IF_COLUMNS },        \
	[HT_FOUND_EXPOSED] = { "exposed", ht_exposed_call_columns, HT_N_EXPOSED_CALL_COLUMNS },    \
	[HT_FOUND_GAPS] = { "gaps", ht_exposed_gap_columns, HT_N_EXPOSED_GAP_COLUMNS },            \
	[HT_FOUND_IDLE] = { "idle", ht_found_idle_columns, HT_N_FOUND_IDLE_COLUMNS },              \
	[HT_FOUND_CALLS] = { "calls", ht_chosen_call_columns, HT_N_CHOSEN_CALL_COLUMNS },          \
	[HT_FOUND_PROFILES] = { "profiles", ht_excess_columns, HT_N_EXCESS_COLUMNS },              \
	[HT_FOUND_STEP_WORK] = { "step-work", ht_step_work_columns, HT_N_STEP_WORK_COLUMNS },      \
	[HT_FOUND_STEPS] = { "steps", ht_found_step_columns, HT_N_FOUND_STEP_COLUMNS },            \
	[HT_FOUND_TOPS] = { "tops", ht_found_top_columns, HT_N_FOUND_TOP_COLUMNS },                \
	[HT_FOUND_GPUS] = { "gpus", ht_found_gpu_columns, HT_N_FOUND_GPU_COLUMNS },                \
	[HT_FOUND_MEMORY] = { "memory", ht_mem_summary_columns, N_SUMMARY_COLUMNS },               \
	[HT_FOUND_USE] = { "use", ht_use_columns, HT_N_USE_COLUMNS },                              \
	[HT_FOUND_SERVING] = { "serving", ht_found_serving_columns, HT_N_FOUND_SERVING_COLUMNS },  \
	[HT_FOUND_COMPILE] = { "compile", ht_found_compile_columns, HT_N_FOUND_COMPILE_COLUMNS }

/* Whether the rank in hand is all there is: nothing is compared with others, and what comes first here does so at all. */
bool ht_findings_is_alone(const struct ht_run *run);
/* The steps of the rank in hand that count. */
enum ht_status ht_findings_bounds(struct ht_run *run, struct ht_bounds *ret_bounds) HT_MUST_USE;
/* What takes time on the rank in hand, as the table says that holds it (tops.c). */
enum ht_status ht_tops_put(
        struct ht_run *run, const struct ht_frame *frame, ht_table *table) HT_MUST_USE;

/* Kinds of what takes time. */
enum ht_top_kind {
	HT_TOP_OPERATOR,      /* by time of the GPU work that it launched itself */
	HT_TOP_OPERATOR_HOST, /* by its own time on the host */
	HT_TOP_KERNEL,        /* that computes */
	HT_TOP_COPY,          /* copies and sets */
	HT_TOP_MODULE,        /* innermost module, by GPU time */
	HT_TOP_MODULE_HOST,   /* that, by host time, when no GPU work was recorded */
	HT_TOP_COMM, /* communication by its short name: kernels, or the host's calls (comm_calls.h) */
	HT_N_TOP_KINDS
};

struct ht_top {
	const char *name; /* of a part */
	int64_t ns, count;
	int64_t rank, row, row_ns; /* the longest of them */
};

struct ht_tops {
	struct ht_top *list; /* most time first, then by name */
	size_t n;
	int64_t total_ns;
};

/* What has most of something. */
struct ht_path_name {
	const char *name; /* NULL: nothing that has a name */
	int64_t ns;
	int64_t rank, row; /* its longest piece; row HT_NO_I64: none */
};

/* What of the path is bound by one thing. */
struct ht_path_bound {
	int64_t ns, inferred_ns;
	int64_t slow_ns;                /* of that, in slow steps */
	int64_t apart_ns;               /* of that, in steps that are looked at apart */
	struct ht_path_name most, slow; /* in the steps that bounds are said of, and in slow ones */
	int64_t saved_ns;               /* what the path would be shorter by without it, at most */
};

/* Idle time of devices by what they waited for. */
struct ht_idle_time {
	int64_t ns;                /* sum over devices */
	int64_t rank, row, row_ns; /* the work that ended the longest; row HT_NO_I64: none */
};

/* How well devices were used from the first step's start to the last one's end (gpu_summary.h): sums over devices. */
struct ht_gpu_use {
	int64_t window_ns, busy_ns; /* time with a kernel running */
	int64_t kernel_ns, tc_ns;   /* sums of durations; on tensor cores */
	int64_t unclear_ns;         /* of products of which nothing says what they ran on */
	int64_t least_rank;         /* of the device with the smallest share of busy time */
	int64_t least_device;       /* its index, where the rank has several; else HT_NO_I64 */
	double least;               /* that share */
	int64_t major; /* of compute capability, the least; HT_NO_I64: not all are known */
};

struct ht_step_times {
	size_t n; /* that the median is of; 0: nothing was recorded */
	int64_t median_ns, least_ns, most_ns;
	size_t n_mean;             /* with the first step, as far as it is recorded */
	int64_t sum_ns;            /* of those */
	int64_t rank, row, number; /* of the longest; HT_NO_I64: none such */
};

/* Steps that take much longer than the others of their rank (model/advice/slow_step.h). */
struct ht_found_slow {
	int64_t *numbers; /* ascending */
	size_t n;
	int64_t ns;    /* of them, over all ranks: */
	size_t n_rows; /* so many */
	size_t n_echoes; /* of the numbers: what a rank did at the end of a step, the others waited for in this one */
	int64_t most_ns, rank, row, number; /* the longest */
	bool recurs; /* at a period, or as every third or more: the run is made of them, too */
	/* those that what bounds the run is said without: all, or of those that recur a first one that is slow for another reason */
	size_t n_apart, n_apart_rows;
	int64_t apart_ns;
};

/* Steps of ranks without events, as their exporter has them: sums. */
struct ht_exported_times {
	int64_t ns, computing_ns, exposed_ns, free_ns;
};

struct ht_findings {
	struct ht_run *run;
	const struct ht_parts *parts;
	bool has_steps;
	size_t n_steps; /* different numbers; 1 without steps */
	struct ht_job_steps job;
	/* host spans of steps; step times of the job, or how long a recording without steps is */
	struct ht_step_times host, device;
	struct ht_found_slow slow;
	size_t n_devices;                          /* that worked */
	int64_t breakdown[HT_N_BREAKDOWN_COLUMNS]; /* sums over devices of what is a duration */
	int64_t roles
	        [HT_N_BUSY]; /* of the steps, when no GPU work was recorded or ranks communicate on the host (step_roles.h) */
	bool knows_waits;  /* exposed communication is split */
	bool calls_host;   /* ranks communicate by calls of the host */
	int64_t *waits_ns; /* by part: waiting for ranks that nothing hides; HT_NO_I64: not known */
	struct ht_exported_times exported;
	struct ht_gpu_use gpu;
	struct ht_idle_time idle[HT_IDLE_N];
	int64_t path_ns;                      /* sum of the windows */
	int64_t slow_path_ns, apart_path_ns;  /* of slow steps, and of those apart */
	int64_t between_ns, apart_between_ns; /* of step time, in no window; of steps apart */
	struct ht_path_bound path[HT_CP_N_BOUNDS];
	int64_t idle_saved_ns; /* what it would be shorter by without all that keeps devices from running kernels, at most */
	bool compares;                     /* ranks could be compared */
	struct ht_stragglers stragglers;   /* when it does */
	const struct ht_late_rank *latest; /* the candidate with most delay; NULL: none */
	struct ht_tops tops[HT_N_TOP_KINDS];
};

/* Of all ranks, as far as known; 0: no steps. */
int64_t ht_findings_mean_step(const struct ht_findings *findings);
/* The same where the median step time does not stand for it; HT_NO_I64: it does. */
int64_t ht_findings_mean_apart(const struct ht_findings *findings);
/* A column of the breakdown, over the devices of a rank by its part, and how many have it; HT_NO_I64: none. */
int64_t ht_findings_of_rank(
        const struct ht_findings *findings, size_t i_part, size_t column, int64_t *ret_n_devices);
/* What a step is longer by because a rank, by its part, is late by late_ns of a step, at most. Ranks of a group have as long
 * a step, so what the others communicate alone above what it does is what it has more to do; what they compute meanwhile
 * loses nothing. */
int64_t ht_findings_late_cost(const struct ht_findings *findings, size_t i_part, int64_t late_ns);
/* What is odd about the traces themselves, as notes: the first, and how many more. */
enum ht_status ht_findings_note(struct ht_run *run, ht_table *table) HT_MUST_USE;
/* Time that all ranks recompile in the window. */
int64_t ht_found_compile_ns(const struct ht_findings *findings);
/* A time of the path as time of a step: its share of the path, and of what is between steps, times the mean step. */
int64_t ht_findings_per_step(const struct ht_findings *findings, int64_t path_ns);

#endif
