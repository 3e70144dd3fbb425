/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_repeat.h - a job in which some events happen several times, or wait for more than they did.
 *
 * All nodes of an event, on threads and streams, are copied in place: the next time begins on each thread and stream where the time before
 * ended there, is launched by its own launches, and has collectives of its own. What comes after an event waits for its last time.
 */
#ifndef HT_JOB_EVENT_REPEAT_H
#define HT_JOB_EVENT_REPEAT_H

#include "job/event_edit.h"

/* As ht_event_job_replay, with editor->copies. Unknown where ranks of one collective repeat it differently, or would wait for each other. */
enum ht_status ht_event_job_replay_repeated(struct ht_event_editor *editor,
        const struct ht_event_edit *edit, double *ret_steps_ns,
        struct ht_event_unknown *ret_unknown) HT_MUST_USE;

#endif
