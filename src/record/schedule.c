/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.c - which steps of a program are recorded.
 *
 *   skip_first │ wait warm-up active │ wait warm-up active │ ... repeat times, 0: for ever
 *
 * A step lasts until ht_record_step. In a warm-up step nothing is recorded, but the recorder is made
 * ready, so that the first active step does not pay for it. Each active step is annotated as
 * "ProfilerStep#N", counted from the start; each cycle is a window of its own, all in one file.
 * Example: skip_first 3, wait 1, warm-up 1, active 2, repeat 1 over 10 steps: steps 5 and 6.
 */
#include "record/recorder.h"

#include <errno.h>
#include <stdio.h>

static enum ht_schedule_action action_at(const struct ht_record_schedule *schedule, uint64_t i_step)
{
	if (i_step < schedule->skip_first)
		return HT_SCHEDULE_OFF;
	i_step -= schedule->skip_first;
	uint64_t idle = (uint64_t)schedule->wait + schedule->warmup,
	         cycle = idle + schedule->active;
	if (!schedule->active || (schedule->repeat && i_step / cycle >= schedule->repeat))
		return HT_SCHEDULE_OFF;
	i_step %= cycle;
	if (i_step < schedule->wait)
		return HT_SCHEDULE_OFF;
	if (i_step < idle)
		return HT_SCHEDULE_WARM_UP;
	return i_step + 1 < cycle ? HT_SCHEDULE_RECORD : HT_SCHEDULE_LAST;
}

static void enter_step(void)
{
	struct ht_recorder *r = &ht_recorder;
	char name[40];
	switch (action_at(&r->options.schedule, r->i_step)) {
	case HT_SCHEDULE_OFF: return;
	case HT_SCHEDULE_WARM_UP: (void)ht_thread_get(); return;
	case HT_SCHEDULE_RECORD:
	case HT_SCHEDULE_LAST:
		ht_recorder_run();
		snprintf(name, sizeof name, "ProfilerStep#%llu", (unsigned long long)r->i_step);
		r->step_token = ht_record_push(name);
		return;
	}
}

static void leave_step(void)
{
	struct ht_recorder *r = &ht_recorder;
	ht_record_end(r->step_token, NULL);
	r->step_token = 0;
	if (action_at(&r->options.schedule, r->i_step) != HT_SCHEDULE_LAST)
		return;
	ht_recorder_pause();
	if (r->options.on_cycle)
		r->options.on_cycle(r->options.user);
}

void ht_schedule_start(void)
{
	struct ht_recorder *r = &ht_recorder;
	if (r->scheduled)
		return;
	r->scheduled = true;
	r->i_step = 0;
	enter_step();
}

/* A cycle that is cut short counts as one. */
void ht_schedule_stop(void)
{
	struct ht_recorder *r = &ht_recorder;
	bool in_cycle = atomic_load(&r->running);
	ht_record_end(r->step_token, NULL);
	r->step_token = 0;
	r->scheduled = false;
	ht_recorder_pause();
	if (in_cycle && r->options.on_cycle)
		r->options.on_cycle(r->options.user);
}

enum ht_status ht_record_step(void)
{
	struct ht_recorder *r = &ht_recorder;
	pthread_mutex_lock(&r->lock);
	enum ht_status status =
	        r->scheduled ? HT_OK : ht_recorder_fail(HT_USAGE, "no schedule is running");
	if (status == HT_OK) {
		leave_step();
		r->i_step++;
		enter_step();
	}
	pthread_mutex_unlock(&r->lock);
	return status;
}
